"""AMRU5 walks: a hexapod of 49 bodies from position matrices, with motors, controllers and contacts.

python examples/27_amru5.py [folder]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import kinemorph
from kinemorph.display.canvas import save

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
folder.mkdir(parents=True, exist_ok=True)

walker = kinemorph.library.amru5_walk()
robot = walker.robot
massive = [body for body in robot.bodies if body.mass]
print(f"{len(massive)} bodies in {robot.nq} coordinates, {robot.total_mass:.1f} kg")
run = kinemorph.simulate(walker, 26.0)  # 1 s to settle, then 25 s of walking along +y
print(run)
t, later = run.t, run.t >= 1.0

# ── what the paper says about the walk ────────────────────────────────────────────────────────────────────────────────

y = run["q.q1"]
print(f"{y[-1] - y[t.searchsorted(1.0)]:.3f} m along y in 25 s,", end=" ")
print(f"{1e3 * np.abs(run['q.q0']).max():.1f} mm aside, yaw {np.degrees(np.abs(run['q.q5']).max()):.2f} degrees")
cycle = (t > 9.0 + 1e-6) & (t < 13.0 + 1e-6)
load = sum(run[f"foot{leg}.force_z"] for leg in range(1, 7))
print(
    f"the feet bear {load[cycle].mean():.2f} N on average over a cycle; the weight is {9.81 * robot.total_mass:.2f} N"
)
stance = (t > 9.15) & (t < 10.9)
rear, front = run["foot1.force_z"][stance], run["foot4.force_z"][np.roll(stance, 200)]
print(f"in a stance, leg 1 at the rear carries {rear[0]:.0f} N, then {rear[-1]:.0f} N;", end=" ")
print(f"leg 4 in front {front[0]:.0f} N, then {front[-1]:.0f} N")
drives = ("rotation", "vertical", "horizontal")
highest = {drive: max(np.abs(run[f"motor{leg}_{drive}.voltage"]).max() for leg in range(1, 7)) for drive in drives}
print("highest voltages:", ", ".join(f"{drive} {volts:.1f} V" for drive, volts in highest.items()))

# ── figures 12 and 13 of the paper: position and velocity of the central body ─────────────────────────────────────────


def panels(rows: int, title: str) -> tuple[plt.Figure, np.ndarray]:
    """A figure with two columns of plots over time."""
    figure, axes = plt.subplots(rows, 2, figsize=(10.0, 2.3 * rows), layout="constrained", sharex=True)
    figure.suptitle(title)
    for one in axes.flat:
        one.grid(alpha=0.3)
    for one in axes[-1]:
        one.set_xlabel("time [s]")
    return figure, axes


def written(figure: plt.Figure, name: str) -> None:
    """Saves a figure in the folder."""
    figure.savefig(folder / name, dpi=120)
    print("wrote", folder / name)


figure, axes = panels(3, "AMRU5: position and velocity of the central body")
for row, (letter, name) in enumerate(zip("xyz", ("q0", "q1", "q2"), strict=True)):
    axes[row, 0].plot(t, 1e3 * run[f"q.{name}"], lw=1.0)
    axes[row, 0].set_ylabel(f"{letter} [mm]")
    axes[row, 1].plot(t[later], 1e3 * run[f"v.{name}"][later], lw=0.7)
    axes[row, 1].set_ylabel(f"velocity along {letter} [mm/s]")
written(figure, "27_body.png")

# ── figures 14 and 15: contact forces of leg 1 (rear) and leg 4 (front); figures 16 and 17: their voltages ────────────

figure, axes = panels(3, "AMRU5: contact forces of leg 1 (rear right) and leg 4 (front left)")
for row, letter in enumerate("xyz"):
    for column, leg in enumerate((1, 4)):
        axes[row, column].plot(t, run[f"foot{leg}.force_{letter}"], lw=0.8)
        axes[row, column].set_ylabel(f"leg {leg}, F{letter} [N]")
written(figure, "27_forces.png")
figure, axes = panels(3, "AMRU5: voltages of leg 1 and leg 4")
for row, drive in enumerate(drives):
    for column, leg in enumerate((1, 4)):
        axes[row, column].plot(t, run[f"motor{leg}_{drive}.voltage"], lw=0.8, color="tab:red")
        axes[row, column].set_ylabel(f"leg {leg}, u{row + 1} ({drive}) [V]")
written(figure, "27_voltages.png")

# ── both motors, both controllers, exact and polynomial trigonometry ──────────────────────────────────────────────────

others = {
    "motor with inductance": {"motor": "second"},
    "continuous PID": {"controller": "continuous"},
    "exact trigonometry": {"trigonometry": "exact"},
}
figure, axes = panels(3, "AMRU5: differences from the walk with first-order motors, sampled PIDs and polynomials")
for row, (name, choices) in enumerate(others.items()):
    other = kinemorph.simulate(kinemorph.library.amru5_walk(**choices), 26.0)
    along = 1e6 * (other["q.q1"] - y)
    side = other["foot1.force_x"] - run["foot1.force_x"]
    axes[row, 0].plot(t, along, lw=1.0, color="tab:green")
    axes[row, 0].set_ylabel(f"{name}\ny [µm]")
    axes[row, 1].plot(t, side, lw=0.7, color="tab:purple")
    axes[row, 1].set_ylabel("lateral force, leg 1 [N]")
    print(f"{name}: y differs by {1e-3 * np.abs(along).max():.3f} mm, Fx of leg 1 by {np.abs(side).max():.1f} N")
written(figure, "27_compared.png")

still = kinemorph.draw(robot, run.q[t.searchsorted(10.0)], camera=(22, -50), title="AMRU5")
print("wrote", save(still, folder / "27_amru5.png"))
kinemorph.replay(run, folder / "27_amru5.html", follow="central")  # plays in any browser
print("wrote", folder / "27_amru5.html")
