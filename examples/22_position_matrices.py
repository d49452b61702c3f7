"""The leg of the hexapod AMRU5 from position matrices alone: a pantograph whose foot draws a step.

    python examples/22_position_matrices.py [folder]

Where each body is, is written as a product of elementary transforms (EasyDyn paper, section 5, equations 14 to 17). The
dependent angles close the pantograph, so that its two coordinates are the positions of the two nuts. Four formulations
give the same equations of motion.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from kinemorph import PositionBuilder, derive
from kinemorph.display.canvas import save
from kinemorph.notation import Tdisp, Troty, acos, atan2, sqrt, tiner

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
AB = BC = 0.1  # m
AD = DF = 0.4
BD = CE = 0.3

leg = PositionBuilder("AMRU5 leg")
q7, q8 = leg.coordinate("q7", "m", value=0.08), leg.coordinate("q8", "m", value=0.10)
AC = leg.dependent("AC", sqrt(q7**2 + q8**2), "m")
alpha = leg.dependent("alpha", atan2(q7, q8))
gamma = leg.dependent("gamma", acos((AB**2 + AC**2 - BC**2) / (2 * AB * AC)))
delta = leg.dependent("delta", acos((AC**2 + BC**2 - AB**2) / (2 * AC * BC)))
thigh, bar = Tdisp(0, 0, q7) * Troty(alpha - gamma), Tdisp(q8, 0, 0)
leg.body("AD", 0.4, tiner(1e-4, 5.3e-3, 5.3e-3), T0G=thigh * Tdisp(AD / 2, 0, 0))
leg.body(
    "DF", 0.4, tiner(1e-4, 5.3e-3, 5.3e-3), T0G=thigh * Tdisp(AD, 0, 0) * Troty(gamma + delta) * Tdisp(DF / 2, 0, 0)
)
leg.body("BC", 0.1, tiner(1e-5, 8.3e-5, 8.3e-5), T0G=bar * Troty(alpha + delta) * Tdisp(-BC / 2, 0, 0))
leg.body("CE", 0.3, tiner(1e-4, 2.3e-3, 2.3e-3), T0G=bar * Troty(alpha - gamma) * Tdisp(CE / 2, 0, 0))
points = {  # the pins, each on one body
    "A": ("AD", Tdisp(-AD / 2, 0, 0)),
    "B": ("AD", Tdisp(AB - AD / 2, 0, 0)),
    "C": ("CE", Tdisp(-CE / 2, 0, 0)),
    "D": ("AD", Tdisp(AD / 2, 0, 0)),
    "E": ("CE", Tdisp(CE / 2, 0, 0)),
    "F": ("DF", Tdisp(DF / 2, 0, 0)),
}
for name, (body, at) in points.items():
    leg.frame(name, body, at)
robot = leg.build()
print(f"{robot.nv} coordinates: {', '.join(robot.q_names)}; driven joints: {', '.join(j.name for j in robot.driven)}")

at, v, tau = [0.08, 0.10], [0.02, -0.03], [1.0, 2.0]
for formulation in ("newton_euler", "closed_form", "lagrange", "dalembert"):
    print(f"{formulation:13}", derive(robot, formulation).forward_dynamics(at, v, tau), "m/s^2")

# the foot follows each nut alone: x by 4 dq8, z by -3 dq7
dynamics = derive(robot)
poses = {name: dynamics.pose(name) for name in points}
foot = [poses["F"](q)[[0, 2], 3] for q in ([0.08, 0.10], [0.08, 0.11], [0.09, 0.10])]
print("foot per nut:", np.round((foot[1] - foot[0]) / 0.01, 9), np.round((foot[2] - foot[0]) / 0.01, 9))

# one step of the foot, with the leg at six moments
phase = np.linspace(0.0, 2.0 * np.pi, 121)
path = np.column_stack([0.09 - 0.02 * np.maximum(np.sin(phase), 0.0), 0.10 - 0.02 * np.cos(phase)])
figure, axes = plt.subplots(figsize=(7.0, 4.6), layout="constrained")
for number, q in enumerate(path[:61:12]):
    place = {name: pose(q)[[0, 2], 3] for name, pose in poses.items()}
    for rod in ("AD", "DF", "BC", "CE"):
        axes.plot(*np.transpose([place[end] for end in rod]), color="#2b5a8c", alpha=0.25 + 0.15 * number, lw=2.5)
drawn = poses["F"](path)[:, [0, 2], 3]
axes.plot(*drawn.T, color="#c8553d", lw=1.8, label="foot F")
for name in "ABCDEF":
    axes.annotate(name, place[name], textcoords="offset points", xytext=(5, 5))
axes.set(
    xlabel="x [m]", ylabel="z [m]", title="AMRU5 leg: nut A lifts the foot, nut C moves it along x", aspect="equal"
)
axes.legend(loc="lower left", frameon=False)
print("wrote", save(figure, folder / "22_position_matrices.png"))
