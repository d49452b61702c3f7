"""An arm of your own: built from rods and hinges with named parameters, its mass matrix, and inverse kinematics.

    python examples/04_own_robot.py [folder]

A column turns about z; the upper arm and the forearm lift about -y. The frame of each body is at its
parent joint.
"""

import sys
from pathlib import Path

import numpy as np

import kinemorph
from kinemorph import Body, Parameter, RobotBuilder
from kinemorph.display.canvas import save

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
np.set_printoptions(precision=4, suppress=True)

# named parameters; any number of a robot may be a parameter or a formula of parameters
m1, l1 = Parameter("m1", 3.0, "kg"), Parameter("l1", 0.5, "m")  # upper arm
m2, l2 = Parameter("m2", 2.0, "kg"), Parameter("l2", 0.4, "m")  # forearm with its load

builder = RobotBuilder("own_robot")
builder.add(
    Body.cylinder("column", 4.0, 0.06, 0.3, center=(0, 0, 0.15)),
    Body.rod("upper", m1, l1, center=(l1 / 2, 0, 0), axis="x"),
    Body.rod("fore", m2, l2, center=(l2 / 2, 0, 0), axis="x", radius=0.022),
)
builder.joint("turn", "revolute", "world", "column", lower=-3.0, upper=3.0)
builder.joint("shoulder", "revolute", "column", "upper", translation=(0, 0, 0.3), axis=(0, -1, 0), lower=0.0, upper=2.6)
builder.joint("elbow", "revolute", "upper", "fore", translation=(l1, 0, 0), axis=(0, -1, 0), lower=-2.6, upper=0.0)
builder.frame("tool", "fore", translation=(l2, 0, 0))
robot = builder.build()  # checks the whole robot and reports all errors at once

# the joints, and the mass matrix with the parameters as symbols: M(q) a + h(q, v) = tau
print(robot.joint_names)
print(kinemorph.equations_of_motion(robot, "matrices").text.partition("h1 =")[0])

# two parameter sets in one call: the forearm as given, and with twice the mass
family = kinemorph.derive(robot, parameters=["m2"])
q = np.array([0.0, 0.6, -0.4])  # rad
print("gravity torques [N m], 2 kg and 4 kg:", *family.gravity_forces(q, [[2.0], [4.0]]))

# inverse kinematics of the tool; without `parameters` the numbers are constants of the compiled code, which is fastest
dynamics = kinemorph.derive(robot)
reached = kinemorph.inverse_kinematics(dynamics, {"tool": (0.35, 0.4, 0.25)}, q)
print(reached.message)
print("q =", reached.q, "rad; tool at", dynamics.pose("tool")(reached.q)[:3, 3], "m")

picture = kinemorph.draw(robot, reached.q, ghosts=[q], frames=["tool"], title="before (pale) and at the target")
print("wrote", save(picture, folder / "04_own_robot.png"))
