"""Tolerances of a four-bar: how far lengths and loose pins move its rocker, by Monte Carlo and against the closed form.

    python examples/49_tolerance_of_a_four_bar.py [folder]

Four lengths are made with a tolerance, and the pin of each hinge touches the wall of its hole anywhere: it is off its
place by the clearance, in a direction that nobody knows. The crank is held, and the loop closes on its rocker. A closed
form says the same: pins add vectors to the links, and two circles intersect.
"""

import sys
from pathlib import Path

import numpy as np

from kinemorph import Body, Parameter, RobotBuilder
from kinemorph.algebra.groups import translation
from kinemorph.algebra.scalar import cos, sin
from kinemorph.display.canvas import LINES, blank, plain_axes, save
from kinemorph.studies import Normal, Range, monte_carlo, sensitivity

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
CRANK = 0.6  # angle [rad]
LENGTHS = {"ground": 1.0, "crank": 0.3, "coupler": 0.9, "rocker": 0.7}  # [m]
DEVIATION, CLEARANCE, ALLOWED = 4e-4, 5e-4, 4e-3  # of lengths [m], of pins [m], of the rocker's angle [rad]

# ── the linkage: lengths and directions of pins are parameters ────────────────────────────────────────────────────────

length = {name: Parameter(name, value, "m") for name, value in LENGTHS.items()}
pin = {name: Parameter(f"pin {name}", 0.0, "rad") for name in "ABCD"}


def place(along, name):
    """The place of a hinge [m], at a distance along a link and off by the clearance of its pin."""
    return along + CLEARANCE * cos(pin[name]), 0.0, CLEARANCE * sin(pin[name])


hinge = {"axis": (0, -1, 0)}  # turns +x toward +z
builder = RobotBuilder("four_bar")
for name, mass in (("crank", 0.5), ("coupler", 1.0), ("rocker", 0.8)):
    builder.add(Body.rod(name, mass, length[name], (0.5 * length[name], 0, 0), axis="x", radius=0.015))
builder.connect("world", "crank", name="A", translation=place(0.0, "A"), **hinge)
builder.connect("world", "rocker", name="D", translation=place(length["ground"], "D"), **hinge)
builder.connect("crank", "coupler", name="B", translation=place(length["crank"], "B"), **hinge)
end = translation((length["rocker"], 0, 0))
builder.connect("coupler", "rocker", name="C", translation=place(length["coupler"], "C"), child_placement=end, **hinge)
robot = builder.build()


def rocker_angle(values, loose="ABCD"):
    """The closed form: the angle of the rocker [rad] from lengths and loose pins, as complex numbers in the plane."""
    off = {name: CLEARANCE * np.exp(1j * values[f"pin {name}"]) if name in loose else 0.0 for name in "ABCD"}
    elbow = off["A"] + (values["crank"] + off["B"]) * np.exp(1j * CRANK)
    across = elbow - (values["ground"] + off["D"])
    coupler, rocker = abs(values["coupler"] + off["C"]), values["rocker"]
    cosine = (abs(across) ** 2 + rocker**2 - coupler**2) / (2.0 * abs(across) * rocker)
    return np.angle(across) - np.arccos(cosine)


# ── Monte Carlo: is the rocker where it should be? ────────────────────────────────────────────────────────────────────

space = {name: Normal(value, DEVIATION) for name, value in LENGTHS.items()}
space |= {f"pin {name}": Range(0.0, 2.0 * np.pi) for name in "ABCD"}
where = robot.q_names.index("D")
nominal = rocker_angle(LENGTHS, loose="")
measures = {"angle": "q.D", "rejected": lambda q: 1.0 * (abs(q[where] - nominal) > ALLOWED)}
options = {"until": 1e-6, "q": {"A": CRANK}, "locked": "A", "workers": 0}
found = monte_carlo(robot, space, measures, error={"rejected": 0.02}, **options)
print(found)

angle = found.study["angle"]
exact = rocker_angle({name: found.study[name] for name in space})
print(f"the closed form differs by at most {abs(angle - exact).max():.1e} rad in {len(angle)} items")

# ── which tolerance matters? by Sobol indices, and by derivatives of the closed form ──────────────────────────────────

shares = sensitivity(robot, space, {"angle": "q.D"}, **options)
print(shares)
variance = {}
for name in shares.parts:
    if name in LENGTHS:
        ahead, back = (rocker_angle(LENGTHS | {name: LENGTHS[name] + step}, loose="") for step in (1e-6, -1e-6))
        variance[name] = ((ahead - back) / 2e-6 * DEVIATION) ** 2
    else:
        around = np.linspace(0.0, 2.0 * np.pi, 64, endpoint=False)
        variance[name] = np.var(rocker_angle(LENGTHS | {name: around}, loose=name[-1]))
deviation = sum(variance.values()) ** 0.5
print(f"deviation {found.finished('angle').std():.3e} rad; by derivatives of the closed form {deviation:.3e} rad")

# ── a picture ─────────────────────────────────────────────────────────────────────────────────────────────────────────

figure = blank(10.0, 4.2)
left, right = figure.subplots(1, 2)
for axes in (left, right):
    plain_axes(axes)
off = 1e3 * (found.finished("angle") - nominal)
left.hist(off, bins=40, density=True, color=LINES[4], label=f"{len(off)} linkages")
at = np.linspace(-4e3 * deviation, 4e3 * deviation, 200)
bell = np.exp(-0.5 * (at / (1e3 * deviation)) ** 2) / (1e3 * deviation * (2.0 * np.pi) ** 0.5)
left.plot(at, bell, color=LINES[1], label="closed form, linearized")
rejected = found["rejected"]
for side in (-1e3 * ALLOWED, 1e3 * ALLOWED):
    left.axvline(side, color="0.4", linewidth=0.8, linestyle="--")
left.set_title(f"rejected: {100 * rejected.low:.1f} to {100 * rejected.high:.1f} %", fontsize="medium")
left.set_xlabel("rocker, off its nominal angle [mrad]")
left.set_ylim(0.0, 1.5 * bell.max())
left.legend(fontsize="small", loc="upper left")
total, rows = shares["angle"]["total"], np.arange(len(shares.parts))
reach = np.abs(np.stack([total.low, total.high]) - total.value)
right.barh(rows, total.value, xerr=reach, color=LINES[4], ecolor="0.3", label="total Sobol index")
linear = [variance[name] / deviation**2 for name in shares.parts]
right.plot(linear, rows, "D", color=LINES[1], label="closed form, linearized")
right.set_yticks(rows, shares.parts)
right.set_ylim(-0.6, len(rows) + 1.2)
right.set_xlabel("share of the variance of the rocker's angle")
right.legend(fontsize="small", loc="upper right")
figure.tight_layout()
print("wrote", save(figure, folder / "49_tolerance_of_a_four_bar.png"))
