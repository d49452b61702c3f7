"""A cockroach runs: tripods at 21 cm/s, the forces of the ground on every leg, and figures beside those of animals.

    python examples/38_cockroach_runs.py [folder]

The feet follow given paths, angles follow from the feet in closed form, and a PD controller in every joint follows the
angles; nothing else acts on the animal but its weight and the ground. Speed, frequency and duty factor are measured
ones, the rest of the gait is assumed and was tuned. Nelson & Quinn report the same roles of the legs: front legs brake,
hind legs drive, middle legs do both.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import kinemorph
from kinemorph import legs, library
from kinemorph.display.canvas import save
from kinemorph.model.library.animals.cockroach_data import MEASURED, PAIRS, number

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
folder.mkdir(parents=True, exist_ok=True)

# ── twelve strides; the first two do not count ────────────────────────────────────────────────────────────────────────

frequency = number("gait_frequency")
settled = 2.0 / frequency  # s
system = legs.with_measures(library.running_cockroach())
run = kinemorph.simulate(system, rtol=1e-9, atol=1e-11)  # fixed steps of 0.1 ms run sooner, less accurately
print(run)
found = legs.stances(run, after=settled, shortest=0.003)
print(found)
figures = legs.stride_figures(run, frequency, after=settled)
print(f"{figures.strides} strides at {100 * figures.speed:.1f} cm/s,", end=" ")
print("largest roll, pitch, yaw:", ", ".join(f"{angle:.1f}" for angle in np.degrees(figures.rotations)), "degrees")
print("wrote", save(found.plot(title="ground forces over a stance"), folder / "38_stances.png"))

# ── beside the paper and measurements of animals ──────────────────────────────────────────────────────────────────────

measured = {row.name: row for row in MEASURED}
means = found.means()
roll, pitch, yaw = figures.rotational
pairs = {pair: [means[f"{pair}_{side}"].impulse[0] for side in ("left", "right")] for pair in PAIRS}
values = {f"{pair}_impulse": 1e5 * np.mean(both) for pair, both in pairs.items()}
values |= {"cost_of_transport": figures.cost_of_transport, "limb_energy": 1e6 * figures.limbs}
values |= {"pitch_energy": 1e6 * pitch, "yaw_energy": 1e6 * yaw, "roll_energy": 1e6 * roll}
for name, value in values.items():
    row = measured[name]
    print(
        f"{name:18} {value:8.2f}, measured {row.value:6.2f} {row.unit:7} ratio {value / row.value:5.2f}  {row.source}"
    )

# ── the motion of the body and the sum of all forces over two strides ─────────────────────────────────────────────────

shown = (run.t >= settled) & (run.t <= 2.0 * settled)
strides = run.t[shown] * frequency
figure, (above, below) = plt.subplots(2, 1, figsize=(8.0, 5.0), sharex=True, layout="constrained")
for axis in "xyz":
    force = sum(run[f"{leg}_ground.force_{axis}"] for leg in found.legs)[shown]
    below.plot(strides, force / figures.weight, label=f"$F_{axis}$")
above.plot(strides, 1e3 * run["q.body_root.z"][shown], color="0.3")
above.set_ylabel("height of the body [mm]")
below.set_ylabel("force of the ground / weight")
below.set_xlabel("strides")
below.legend(ncols=3, frameon=False)
for axes in (above, below):
    axes.grid(alpha=0.3)
figure.savefig(folder / "38_body.png", dpi=120)
print("wrote", folder / "38_body.png")

middle = run.q[run.t.searchsorted(settled + 0.25 / frequency)]
print("wrote", save(kinemorph.draw(system.robot, middle, title="a cockroach runs"), folder / "38_cockroach.png"))
kinemorph.replay(run, folder / "38_cockroach.html", follow="body", fps=400)
print("wrote", folder / "38_cockroach.html")
