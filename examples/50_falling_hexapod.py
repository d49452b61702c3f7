"""How likely does a hexapod fall? Monte Carlo over the friction of the floor and over pushes, with intervals.

    python examples/50_falling_hexapod.py [folder]

A tall stance on a floor whose friction is known roughly, and a push of 0.2 s from any side. On a slippery floor the
robot slides away from the push; on a rough one it tips over. A run ends when the trunk has tilted by 45 degrees.
"""

import sys
from pathlib import Path

import numpy as np

import kinemorph
from kinemorph import Guard, Parameter, elements
from kinemorph.display.canvas import LINES, blank, plain_axes, save
from kinemorph.studies import Normal, monte_carlo

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")

# ── the robot on its floor, held by servos, and pushed a little above its center ──────────────────────────────────────

robot = kinemorph.library.hexapod24()
joints = tuple(joint.name for joint in robot.joints if joint.kind == "revolute")
stance = (0.0, 0.9, 0.65) * 6  # hip, thigh and shank of every leg [rad]
friction = elements.Regularized(Parameter("friction", 0.6), 1e-2)
feet = [
    elements.Contact(f"foot {k}", f"foot{k}", normal=elements.EasyDynNormal(5e4, 5e5), friction=friction)
    for k in range(1, 7)
]
hold = elements.PD("hold", joints, kp=100.0, kd=3.0, reference=stance)
pushes = [
    elements.AppliedWrench("ahead", "trunk", lambda t: (1.0 * (t < 0.2), 0.0, 0.0), point=(0, 0, 0.05), scaled=True),
    elements.AppliedWrench("aside", "trunk", lambda t: (0.0, 1.0 * (t < 0.2), 0.0), point=(0, 0, 0.05), scaled=True),
]
system = kinemorph.System(robot, (*feet, hold, *pushes))
start = np.array([0.0, 0.0, 0.2774, 1.0, 0.0, 0.0, 0.0, *stance])

# ── the study: until the probability of a fall is known to 3 percent ──────────────────────────────────────────────────

UPRIGHT = np.cos(np.pi / 4.0)


def upright(q):
    """How upright the trunk is: the vertical part of its upward axis, from its quaternion."""
    return 1.0 - 2.0 * (q[4] ** 2 + q[5] ** 2)


fall = Guard("fall", lambda q: upright(q) - UPRIGHT, "falling", stop=True)
space = {
    "friction": Normal(0.6, 0.2, low=0.2),
    "u.ahead": Normal(0.0, 150.0),  # [N]
    "u.aside": Normal(0.0, 150.0),
}
measures = {"fell": lambda q: 1.0 * (upright(q) < UPRIGHT + 1e-3), "way": lambda q: (q[0] ** 2 + q[1] ** 2) ** 0.5}
found = monte_carlo(system, space, measures, error={"fell": 0.04}, until=1.2, q=start, events=fall, workers=0)
print(found)

# ── a picture: who falls, and how the estimate settled ────────────────────────────────────────────────────────────────

study = found.study
fell, push = study["fell"] == 1.0, np.hypot(study["u.ahead"], study["u.aside"])
rough = study["friction"] > 0.6
for name, some in (("slippery", ~rough), ("rough", rough)):
    print(
        f"{name} floors: {fell[some].sum()} of {some.sum()} fell, by a push of {push[some & fell].min():.0f} N or more"
    )
figure = blank(10.0, 4.2)
left, right = figure.subplots(1, 2)
for axes in (left, right):
    plain_axes(axes)
for some, color, label in ((~fell, LINES[4], "stands or slides"), (fell, LINES[1], "fell")):
    left.plot(study["friction"][some], push[some], ".", color=color, label=label)
left.set_xlabel("friction of the floor")
left.set_ylabel("push [N]")
left.legend(fontsize="small", loc="upper left")
curve = found.convergence("fell")
right.fill_between(curve.counts, 100 * curve.low, 100 * curve.high, color=LINES[4], alpha=0.4, label="95 % interval")
right.plot(curve.counts, 100 * curve.value, color=LINES[0], label="probability of a fall [%]")
right.set_xscale("log")
right.set_xlabel("items")
right.set_ylim(0.0, 50.0)
right.legend(fontsize="small")
figure.tight_layout()
print("wrote", save(figure, folder / "50_falling_hexapod.png"))
