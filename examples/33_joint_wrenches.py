"""A hand pinches: its kinematic graph, and the whole wrench in every joint, split into drives and bearings.

    python examples/33_joint_wrenches.py [folder]

The fingers of a hand with 20 hinges close in half a second; then thumb and index finger press on an object with up to
5 N. The equations are those of the kinematic graph (Escalera et al.); the recursion gives the same wrenches.
"""

import sys
from pathlib import Path

import numpy as np

import kinemorph
from kinemorph.display.canvas import LINES, blank, save
from kinemorph.display.charts.figures import draw_topology
from kinemorph.display.equations.graph_equations import graph_equations

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")

# ── the graph: bodies are vertices, joints are arcs from the child to the parent ──────────────────────────────────────

hand = kinemorph.library.hand()
print("wrote", save(draw_topology(hand, directed=True), folder / "33_graph.png"))
print(f"{hand.incidence.shape[0]} vertices, {hand.incidence.shape[1]} arcs, {hand.nv} hinges")
print(graph_equations(kinemorph.library.pendulum(), ("t_B", "w_K"), order="wv"))  # in the order of the paper

# ── the motion: fingers close by a polynomial without jerk at its ends, then forces grow ──────────────────────────────

grip = {"thumb_spread": -0.28, "thumb_cmc": 0.5, "thumb_mcp": 0.45, "thumb_ip": 0.3}
grip |= {"index_spread": -0.05, "index_mcp": 0.75, "index_pip": 0.9, "index_dip": 0.5}
grip |= {f"{finger}_{hinge}": 0.7 for finger in ("middle", "ring", "little") for hinge in ("mcp", "pip", "dip")}
closed = np.array([grip.get(name, 0.0) for name in hand.q_names])  # rad
t = np.linspace(0.0, 1.0, 401)
x = np.clip(t / 0.5, 0.0, 1.0)
s, ds, dds = 10 * x**3 - 15 * x**4 + 6 * x**5, 30 * x**2 * (1 - x) ** 2 / 0.5, 60 * x * (1 - x) * (1 - 2 * x) / 0.25
q, v, a = (np.outer(shape, closed) for shape in (s, ds, dds))

tips = ["thumb_tip", "index_tip"]
dynamics = kinemorph.derive(hand, wrenches=tips)
thumb, index = (dynamics.pose(q, tip) for tip in tips)
along = index[-1, :3, 3] - thumb[-1, :3, 3]
along /= np.linalg.norm(along)
press = 5.0 * np.clip((t - 0.6) / 0.3, 0.0, 1.0)  # N
outside = np.zeros((len(t), 2, 6))  # in the axes of the tips
outside[:, 0, :3] = -press[:, None] * (along @ thumb[:, :3, :3])  # the object pushes the tips apart
outside[:, 1, :3] = press[:, None] * (along @ index[:, :3, :3])

# ── the wrenches: whole, drives, bearings, in four references ─────────────────────────────────────────────────────────

state = (q, v, a, outside)
drives = dynamics.joint_wrenches(*state, part="actuation")
bearings = dynamics.joint_wrenches(*state, part="constraint")
whole = dynamics.joint_wrenches(*state)
print("drives + bearings = whole, to", np.abs(drives + bearings - whole).max())

root = dynamics.joint_wrenches(*state, reference="world")[:, 0, :3]  # what holds the palm
print("at rest it holds the weight:", (root[-1] / hand.total_mass).round(6), "N/kg; the forces at the tips cancel")

joint = hand.joint_names.index("index_mcp")
rate = v[:, hand.v_slice("index_mcp")][:, 0]
torque = dynamics.inverse_dynamics(*state)[:, hand.v_slice("index_mcp")][:, 0]
rotor = hand.joint("index_mcp").armature[0] * a[:, hand.v_slice("index_mcp")][:, 0]
about = drives[:, joint, 3:] @ hand.joint("index_mcp").axis
print(
    "power of the hinge index_mcp by its drive and by inverse dynamics:", np.abs((about + rotor - torque) * rate).max()
)
graph = kinemorph.derive(hand, "incidence", wrenches=tips, backend="interpreter")
error = np.abs(graph.inverse_dynamics(*(part[-1] for part in state)) - dynamics.inverse_dynamics(*state)[-1]).max()
print(f"the graph and the recursion differ by {error:.1e} N m")

# ── pictures ──────────────────────────────────────────────────────────────────────────────────────────────────────────

figure = blank(9.0, 6.4)
upper, lower = figure.subplots(2, 1, sharex=True)
for k, name in enumerate(("thumb_cmc", "thumb_mcp", "index_mcp", "index_pip", "index_dip")):
    place = hand.joint_names.index(name)
    upper.plot(t, 1e3 * drives[:, place, 3:] @ hand.joint(name).axis, color=LINES[k], label=name.replace("_", " "))
    lower.plot(t, np.linalg.norm(bearings[:, place, :3], axis=1), color=LINES[k])
upper.set_ylabel("torque of the drive [N mm]")
lower.set_ylabel("force in the bearing [N]")
lower.set_xlabel("time [s]")
upper.set_title("a hand closes (until 0.5 s), then thumb and index finger press with 5 N (from 0.6 s)", fontsize=11)
upper.legend(frameon=False, fontsize=9, ncols=2)
for axes in (upper, lower):
    axes.axhline(0.0, color="0.8", linewidth=0.8, zorder=0)
    axes.spines[["top", "right"]].set_visible(False)
figure.tight_layout()
print("wrote", save(figure, folder / "33_joint_wrenches.png"))
kinemorph.draw(hand, closed, camera=(15, 35), path=folder / "33_hand.png")
print("wrote", folder / "33_hand.png")
