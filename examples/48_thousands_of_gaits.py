"""Which gait carries the nine-module organism farthest? 2,000 of them are tried, and the best one is shown.

python examples/48_thousands_of_gaits.py [folder]

A study that is ended, by Ctrl-C or a power cut, goes on where it was when it is started again.
"""

import sys
from pathlib import Path

import numpy as np

import kinemorph
from kinemorph.display.canvas import save
from kinemorph.display.painting.draw import write_still
from kinemorph.elements import Integral, Rhythmic
from kinemorph.modules import ground_contacts, hinge_drives, hinges, put_down
from kinemorph.studies import BestRuns, Range, Space, sweep

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")

# ── the organism of example 20, whose gait has Parameters: an amplitude and a phase for each of its nine hinges ───────

docked = [
    (0, 1, 3, 2),
    (1, 2, 5, 3),
    (0, 3, 5, 2),
    (3, 4, 4, 3),
    (4, 5, 5, 2),
    (0, 6, 2, 5),
    (6, 7, 4, 2),
    (7, 8, 4, 5),
]
organism = put_down(kinemorph.modules.assemble(docked, name="nine modules"))
amplitudes = tuple(kinemorph.Parameter(f"amplitude{k}", 0.3, unit="rad") for k in range(9))
phases = tuple(kinemorph.Parameter(f"phase{k}", 0.0, unit="rad") for k in range(9))
gait = Rhythmic(
    "gait", hinges(organism), amplitude=amplitudes, phases=phases, frequency=0.4, ramp=2.0, initial=0.0
)  # the organism lies flat at the beginning
joints = hinges(organism)
work = Integral("work", [f"drive.{joint}" for joint in joints], "magnitude", times=[f"v.{joint}" for joint in joints])
system = organism.system([gait, *hinge_drives(organism, gait), *ground_contacts(organism), work])

# ── the study: gaits spread evenly over the space of 18 numbers, each run for 10 s ────────────────────────────────────

space = Space(
    {
        **{parameter.name: Range(0.0, 0.5) for parameter in amplitudes},
        **{parameter.name: Range(0.0, 2.0 * np.pi) for parameter in phases},
    },
    design="sobol",
    count=2048,
)
study = sweep(
    system,
    space,
    {"distance": "sqrt(q.m0_root.x**2 + q.m0_root.y**2)", "work": "work"},
    until=10.0,
    step=1e-3,
    store=folder / "48_gaits.study",
    keep=BestRuns(3, "distance", largest=True),
)
best = study.best("distance", 3, largest=True)
print(study)
for item in best:
    print(f"gait {item.number}: {item.measures['distance']:.3f} m in 10 s, {item.measures['work']:.1f} J of work")
print(f"a gait in the middle gets {np.median(study['distance']):.3f} m far")

# ── what they have in common, and the best one in motion ──────────────────────────────────────────────────────────────

print("wrote", save(study.plot("parallel", "distance", largest=True), folder / "48_gaits.png"))
run = best[0].run()
print("wrote", write_still(run, folder / "48_best_gait.png", 10.0, camera=(30, -35), title="the best of 2,048 gaits"))
page = folder / "48_best_gait.html"  # plays in any browser
kinemorph.replay(run, page, trace="m0_rear", follow="m0_rear")
print("wrote", page)
