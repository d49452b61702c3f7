"""Tires: EasyDyn's wheel with camber and slip, and a bike that coasts over a bump.

python examples/24_tires.py [folder]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import kinemorph
from kinemorph import elements, library
from kinemorph.notation import Tdisp, Trotx, Troty, Trotz

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
folder.mkdir(parents=True, exist_ok=True)

# ── EasyDyn's tire run: a wheel with a camber of 0.3 rad and a slip angle of 0.1 rad is dropped while it turns ────────

builder = kinemorph.PositionBuilder("tire run")
x, y, z = builder.coordinates("x y z", "m")
spin = builder.coordinate("spin")
inertia = 1.1 * 0.5**2 / 2.0
builder.body("wheel", 1.1, (inertia,) * 3, T0G=Tdisp(x, y, z) * Trotz(0.1) * Trotx(0.3) * Troty(spin))
tire = elements.Tire(
    "tire", "wheel", radius=0.5, crown=0.1, stiffness=1e4, damping=10.0,
    load=2500.0, longitudinal=2e4, lateral=2e4, camber=2e3, static=1.0, kinetic=0.8,
)  # fmt: skip
wheel = builder.system((tire,))
start = {"q": {"z": 0.5}, "v": {"spin": 1.0}}
run = kinemorph.simulate(wheel, 2.0, **start, rtol=1e-10, atol=1e-12, output_step=0.002)
end = ", ".join(f"{name} {run[f'q.{name}'][-1]:.6f}" for name in ("x", "y", "z", "spin"))
print(f"after 2 s: {end}")

# ── a bike over a bump of 8 cm, at three speeds ───────────────────────────────────────────────────────────────────────

bikes = {speed: kinemorph.simulate(library.planar_bike(speed), 3.0, output_step=0.005) for speed in (2.0, 3.5, 5.0)}
for speed, bike in bikes.items():
    flight = 0.005 * (bike["front_tire.load"] == 0.0).sum()
    pitch = np.degrees(np.abs(bike["q.body.theta"]).max())
    print(f"{speed} m/s: pitch within {pitch:.1f} degrees, front wheel in the air for {flight:.2f} s")

# ── a picture ─────────────────────────────────────────────────────────────────────────────────────────────────────────

figure, rows = plt.subplots(4, 1, figsize=(8.0, 10.0), layout="constrained")
rows[0].plot(run.t, run["tire.load"], lw=0.8, label="load")
rows[0].plot(run.t, run["tire.longitudinal"], lw=0.8, label="longitudinal")
rows[0].plot(run.t, run["tire.lateral"], lw=0.8, label="lateral")
rows[0].set_ylabel("force [N]")
rows[0].set_title("EasyDyn's tire: it bounces, its spin pulls it on, its camber pushes it aside")
rows[1].plot(run.t, run["v.x"], label="forward [m/s]")
rows[1].plot(run.t, 0.5 * run["v.spin"], label="rim [m/s]")
for speed, bike in bikes.items():
    rows[2].plot(bike["q.body.x"], bike["q.body.y"], label=f"rear axle, {speed:g} m/s")
    rows[3].plot(bike["q.body.x"], bike["front_tire.load"], lw=0.9, label=f"front, {speed:g} m/s")
ground = np.linspace(-2.0, 4.0, 300)
rows[2].plot(ground, 0.08 * np.exp(-0.5 * (ground / 0.15) ** 2), color="0.4", label="ground")
rows[2].set_ylabel("height [m]")
rows[2].set_title("a bike over a bump of 8 cm")
rows[3].set_ylabel("load [N]")
for axes in rows[2:]:
    axes.set_xlim(-2.0, 4.0)
    axes.set_xlabel("rear axle [m]")
for axes in rows[:2]:
    axes.set_xlabel("time [s]")
for axes in rows:
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small", ncols=4)
figure.savefig(folder / "24_tires.png", dpi=120)
print("wrote", folder / "24_tires.png")
