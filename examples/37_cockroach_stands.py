"""A cockroach stands: efforts of its legs and forces of the ground, from stiff to soft joints.

    python examples/37_cockroach_stands.py [folder]

Stiff joints leave the forces of the ground vertical. Softer joints let the body sink; the feet, which cannot slide,
then push the body up along lines that lead to it, and torques in the joints decrease. Nelson & Quinn found this for
their cockroach (Table 1). Their posture, ground and gains are not known: those here are assumptions.
"""

import sys
from dataclasses import replace
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import kinemorph
from kinemorph import elements, legs, library
from kinemorph.model.library.animals.cockroach_data import STANDING

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
folder.mkdir(parents=True, exist_ok=True)
SHOWN = ("front_left", "middle_left", "hind_left")

# ── the animal: 19 bodies, 36 degrees of freedom, in SI units ─────────────────────────────────────────────────────────

animal = library.cockroach()
rest = kinemorph.equilibrium(animal)
print(f"{len(animal.robot.bodies)} bodies, {animal.robot.nv} dof, {1e3 * animal.robot.total_mass:.2f} g")
print(rest.message)
kinemorph.draw(animal.robot, rest.q, title="a cockroach").savefig(folder / "37_cockroach.png", dpi=120)
print("wrote", folder / "37_cockroach.png")

# ── from stiff to soft joints, on the ground of the table and on ground ten times stiffer along itself ────────────────

gains = np.geomspace(1.0, 3e-4, 29)  # N m/rad
curve = legs.standing_curve(animal, gains)


def stiffer(element: elements.Contact) -> elements.Contact:
    """The contact of a foot with ground that is ten times stiffer along itself."""
    return replace(element, friction=replace(element.friction, stiffness=10.0 * element.friction.stiffness))


ground = [stiffer(one) if isinstance(one, elements.Contact) else one for one in animal.elements]
firm = legs.standing_curve(replace(animal, elements=tuple(ground)), gains)
for name, one in (("ground of the table", curve), ("ten times stiffer along itself", firm)):
    k = one.least("front_left")
    error = np.degrees(one.errors[k, one.column("front_left")])
    effort = one.relative_effort("front_left")
    rise = 100.0 * (effort[-1] / effort[k] - 1.0)
    print(f"{name}: effort of a front leg falls to {effort[k]:.2f} at {error:.2f} deg, then rises by {rise:.0f} %")
    print(f"    feet slip below {one.slip_gain:.3g} N m/rad")
curve.plot(
    legs=SHOWN,
    compare={"stiffer ground": firm},
    beside={"Nelson & Quinn, Table 1 (front)": STANDING},
    path=folder / "37_standing.png",
)
print("wrote", folder / "37_standing.png")

# ── the forces on the left feet, seen from the right ──────────────────────────────────────────────────────────────────

dynamics = kinemorph.derive(animal.robot)
rows = [0, 19, curve.least("front_left")]
figure, panels = plt.subplots(3, 1, figsize=(7.5, 6.6), sharex=True, layout="constrained")
for axes, row in zip(panels, rows, strict=True):
    q = curve.q[row]
    for leg in SHOWN:
        joints = [f"{leg}_coxa", f"{leg}_femur", f"{leg}_tibia", f"{leg}_foot"]
        points = 1e3 * np.array([dynamics.pose(joint)(q)[:3, 3] for joint in joints])  # mm
        axes.plot(points[:, 0], points[:, 2], "o-", color="0.45", markersize=4)
        force = 1e3 * curve.reactions[row, curve.column(leg)]  # mN
        foot, tip = points[3, [0, 2]], points[3, [0, 2]] + 1.6 * force[[0, 2]]
        axes.annotate("", tip, foot, arrowprops={"arrowstyle": "->", "color": "tab:red"})
    x, _, z = 1e3 * q[:3]
    axes.plot([x - 19.5, x + 19.5], [z, z], color="saddlebrown", linewidth=9, solid_capstyle="round", alpha=0.5)
    axes.axhline(0.0, color="0.6", linewidth=1.0)
    axes.set_title(f"stiffness of joints {curve.gains[row]:.3g} N m/rad", fontsize=10)
    axes.set_aspect("equal")
    axes.set_ylabel("z [mm]")
panels[-1].set_xlabel("x [mm]")
figure.savefig(folder / "37_reactions.png", dpi=120)
print("wrote", folder / "37_reactions.png")
