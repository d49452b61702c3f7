"""A bicycle that balances without a rider's help between two speeds: eigenvalues over speed, and runs after a push.

python examples/23_bicycle.py [folder]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import kinemorph
from kinemorph import library
from kinemorph.display.canvas import save

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
folder.mkdir(parents=True, exist_ok=True)

# ── small motions: the rates of lean, steer and their velocities, at any speed ────────────────────────────────────────

bicycle = library.whipple_bicycle(form="matrices")  # every body by its position matrix, wheels that roll
plant = kinemorph.plants.plant(bicycle)
names = ["w.lean", "w.steer", "v.lean", "v.steer"]


def eigenvalues(speed: float) -> np.ndarray:
    """The eigenvalues [1/s] of lean and steer at a speed [m/s]."""
    linear = kinemorph.linearize(plant, v=library.whipple_bicycle(speed, form="matrices").settings.v, outputs=())
    rows = [linear.state_names.index(name) for name in names]
    return np.linalg.eigvals(linear.A[rows] @ linear.basis @ np.linalg.pinv(linear.basis[rows]))


speeds = np.linspace(0.0, 10.0, 201)
values = np.array([eigenvalues(speed) for speed in speeds])
stable = speeds[values.real.max(axis=1) < 0.0]
print(f"{plant.nv} velocities, {len(plant.constraint_names)} constraint rows")
print(f"without help it balances from about {stable[0]:.2f} to {stable[-1]:.2f} m/s")

# ── runs: after a push to the right it weaves, recovers, or topples slowly ────────────────────────────────────────────

runs = {}
for speed, push in ((4.0, 0.05), (4.6, 0.5), (8.0, 0.05)):
    start = library.whipple_bicycle(speed, push, form="matrices").settings
    runs[speed] = run = kinemorph.simulate(plant, 5.0, q=start.q, v=start.v, rtol=1e-11, atol=1e-12)
    energy = run["energy.kinetic"] + run["energy.potential"]
    drift = np.abs(energy / energy[0] - 1.0).max()
    print(f"{speed} m/s: energy to {drift:.0e}, rolling to {max(run.loop_error.max(), run.loop_rate.max()):.0e}")

# ── on tires, which sink in, slip and have camber ─────────────────────────────────────────────────────────────────────

soft = kinemorph.simulate(library.whipple_bicycle(4.0, 0.05, form="matrices", wheels="tires"), 5.0)
print(f"on tires at 4 m/s: steer up to {np.degrees(np.abs(soft['q.steer']).max()):.1f} degrees in 5 s")

# ── pictures ──────────────────────────────────────────────────────────────────────────────────────────────────────────

figure, (top, bottom) = plt.subplots(2, 1, figsize=(8.0, 8.0), layout="constrained", height_ratios=(1.4, 1.0))
top.axvspan(stable[0], stable[-1], color="tab:green", alpha=0.15, label="balances")
for k in range(4):
    real = values[:, k]
    top.plot(speeds, real.real, ".", color="tab:blue", ms=3, label="real part" if k == 0 else None)
    wave = np.abs(real.imag) > 1e-9
    top.plot(speeds[wave], real.imag[wave], ".", color="tab:orange", ms=2, label="imaginary part" if k == 0 else None)
top.axhline(0.0, color="k", lw=0.8)
top.set_ylim(-10.0, 10.0)
top.set_xlabel("speed [m/s]")
top.set_ylabel("eigenvalues [1/s]")
top.legend(loc="upper left")
top.set_title("Whipple's bicycle: weave, capsize and castering")
for speed, run in runs.items():
    bottom.plot(run.t, np.degrees(run["q.lean"]), label=f"{speed:g} m/s")
bottom.plot(soft.t, np.degrees(soft["q.lean"]), "--", color="tab:blue", lw=1.0, label="4 m/s, on tires")
bottom.set_xlabel("time [s]")
bottom.set_ylabel("lean to the right [degrees]")
bottom.legend(ncols=4)
for axes in (top, bottom):
    axes.grid(alpha=0.3)
figure.savefig(folder / "23_bicycle.png", dpi=120)
print("wrote", folder / "23_bicycle.png")
upright = library.whipple_bicycle().robot  # the same bicycle by joints
still = kinemorph.draw(upright, {"steer": -0.3}, camera=(12, -62), title="Whipple's bicycle")
print("wrote", save(still, folder / "23_whipple.png"))
