"""The nine-module organism of the MODUROB paper crawls over the ground, with a rhythmic gait and with coupled maps.

python examples/20_organism_crawls.py [folder]
"""

import sys
from pathlib import Path

import numpy as np

import kinemorph
from kinemorph.display.canvas import save
from kinemorph.display.charts.crawl_pictures import center_of_mass_path, draw_crawl
from kinemorph.display.painting.draw import write_still
from kinemorph.elements import CoupledMaps, Rhythmic
from kinemorph.modules import ground_contacts, hinge_drives, hinges, put_down

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")

# ── nine Backbone modules, given by their docked sides (Table III of the paper), placed on the plane z = 0 ────────────

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
floor = ground_contacts(organism)  # corners that can touch the ground; corners between docked modules cannot
print(f"{organism}, {len(floor)} corners may touch the ground")

# ── two gaits: sinusoids, and chaotic logistic maps whose coupling makes them oscillate in two opposite groups ────────

rhythm = Rhythmic(
    "gait",
    hinges(organism),
    amplitude=np.radians([14, 0, 21, 8, 28, 21, 30, 2, 15]),
    offset=np.radians([5, -1, -7, 0, 0, 0, 13, 1, -10]),
    phases=np.radians([300, 330, 215, 315, 345, 125, 355, 85, 345]),
    frequency=0.4,
    ramp=2.0,
    initial=0.0,  # the organism lies flat
)
maps = CoupledMaps(
    "gait",
    hinges(organism),
    amplitude=np.radians([45, -16, 30, -36, -8, 34, -60, 6, -29]),
    offset=np.radians([-5, 3, -2, 25, -6, -16, 30, -11, -2]),
    every=0.5,  # r = 3.9, each with 0.3 of the mean of all
    ramp=2.0,
    initial=0.0,  # the organism lies flat
)
for name, gait in (("rhythm", rhythm), ("maps", maps)):
    system = organism.system([gait, *hinge_drives(organism, gait), *floor])  # springs and dampers, 7 N m at most
    ways = {}
    for step in (1e-3, 5e-4):
        run = kinemorph.simulate(system, 60.0, step=step, output_step=0.02)
        path = center_of_mass_path(system.robot, run.q)
        ways[step] = path[-1, :2] - path[0, :2]
        if step == 1e-3:
            kept = run
    way, finer = ways.values()
    torques = np.abs([kept[f"drive.{joint}"] for joint in hinges(organism)])
    print(f"{name}: {np.hypot(*way):.3f} m in 60 s, {np.hypot(*way) / 0.525:.1f} times its length;", end=" ")
    change = 100 * np.hypot(*(finer - way)) / np.hypot(*way)
    print(f"half the step size moves the end by {change:.2f} % of that distance")
    full = 100 * (torques > 6.9999).any(axis=0).mean()
    print(f"  torques up to {torques.max():.2f} N m; one or more at the limit of 7 N m {full:.0f} % of the time")
    print(f"  {kept.statistics.accepted} steps of 1 ms in {kept.statistics.seconds:.1f} s")
    print("wrote", save(draw_crawl(kept, title=f"nine modules: {name}"), folder / f"20_{name}.png"))
    if name == "rhythm":
        print(
            "wrote", write_still(kept, folder / "20_organism.png", 21.2, camera=(30, -35), title="nine modules crawl")
        )
        page = folder / "20_organism_crawls.html"  # plays in any browser
        kinemorph.replay(kept, page, trace="m0_rear", follow="m0_rear")
        print("wrote", page)
