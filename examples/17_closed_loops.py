"""Closed loops: a four-bar linkage built with `connect`, its closed configurations, and five methods to keep it closed.

    python examples/17_closed_loops.py [folder]

docs/closed_loops.md continues from here.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import kinemorph
from kinemorph import Body, RobotBuilder
from kinemorph.algebra.groups import translation
from kinemorph.algebra.scalar import sin
from kinemorph.display.canvas import save
from kinemorph.plants.loop_methods import LOOP_METHODS

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
folder.mkdir(parents=True, exist_ok=True)

# ── three bars, four hinges: the builder finds that the last hinge closes a loop ──────────────────────────────────────

hinge = {"axis": (0, -1, 0)}  # turns +x toward +z
builder = RobotBuilder("four_bar")
for name, mass, length in (("crank", 0.5, 0.3), ("coupler", 1.0, 0.9), ("rocker", 0.8, 0.7)):
    builder.add(Body.rod(name, mass, length, (0.5 * length, 0, 0), axis="x", radius=0.015))
builder.connect("world", "crank", name="crank", **hinge)
builder.connect("world", "rocker", name="rocker", translation=(1.0, 0, 0), **hinge)
builder.connect("crank", "coupler", name="knee", translation=(0.3, 0, 0), **hinge)
builder.connect(
    "coupler", "rocker", name="pin", translation=(0.9, 0, 0), child_placement=translation((0.7, 0, 0)), **hinge
)
robot = builder.build()
print("coordinates", robot.q_names, "cut", [loop.name for loop in robot.loops])
print(kinemorph.loops.mobility(robot).message)

# ── all closed configurations with the crank at 0.6 rad ───────────────────────────────────────────────────────────────

modes = kinemorph.loops.closed_configurations(robot, q=[0.6, 0.0, 0.0], held="crank")
print(modes.message)
for mode in modes:
    print(f"  branch {mode.branch!r}: q = {mode.q.round(6)}")

# ── two seconds under a torque, by every method; the reference is a run at a tight tolerance ──────────────────────────


def torque(t, q, v):
    """Joint torques [N m]: a sinusoid at the crank."""
    return [0.5 * sin(2.0 * t), 0.0, 0.0]


best = modes[0].q
runs = {
    name: kinemorph.simulate(robot, 2.0, q=best, forces=torque, loops=name, rtol=1e-9, output_step=0.005)
    for name in LOOP_METHODS
}
exact = kinemorph.simulate(robot, 2.0, q=best, forces=torque, rtol=1e-13, atol=1e-13, output_step=0.005)
print(f"{'loops=':14}{'open by [m]':>12}{'crank [rad]':>15}{'error':>10}{'steps':>7}{'ms':>7}")
for name, run in runs.items():
    off = abs(run.q[-1, 0] - exact.q[-1, 0])
    spent = run.statistics
    opened = f"{run['loop_error'].max():12.1e}"
    print(f"{name:14}{opened}{run.q[-1, 0]:15.8f}{off:10.1e}{spent.accepted:7d}{1e3 * spent.seconds:7.1f}")

# ── the force in the pin that closes the loop, from the constraint multipliers ────────────────────────────────────────

borne = exact.reactions("pin")
print("the force in the pin is at most", np.linalg.norm(borne[:, [0, 2]], axis=1).max().round(1), "N")

# ── pictures ──────────────────────────────────────────────────────────────────────────────────────────────────────────

figure, (top, middle, bottom) = plt.subplots(3, 1, figsize=(8.0, 8.5), sharex=True, layout="constrained")
top.plot(exact.t, exact.q)
top.legend(robot.q_names, fontsize="small")
top.set_ylabel("angle [rad]")
top.set_title("a four-bar linkage for two seconds, kept closed by five methods")
for name, run in runs.items():
    middle.semilogy(run.t, np.maximum(run["loop_error"], 1e-17), label=name)
middle.set_ylabel("loop is open by [m]")
middle.legend(fontsize="small", ncols=5, loc="upper center", bbox_to_anchor=(0.5, 1.16))
bottom.plot(exact.t, np.linalg.norm(borne[:, [0, 2]], axis=1), color="tab:red")
bottom.set_ylabel("force in the pin [N]")
bottom.set_xlabel("time [s]")
for axes in (top, middle, bottom):
    axes.grid(alpha=0.3)
figure.savefig(folder / "17_closed_loops.png", dpi=120)
print("wrote", folder / "17_closed_loops.png")
both = kinemorph.draw(
    robot, modes[0].q, ghosts=[mode.q for mode in modes[1:]], camera=(8, -80), title="two closed configurations"
)
print("wrote", save(both, folder / "17_assembly_modes.png"))
