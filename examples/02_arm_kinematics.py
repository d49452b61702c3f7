"""The Puma 560: pose and Jacobian of its flange, inverse kinematics, and the torques that hold the arm still.

python examples/02_arm_kinematics.py [folder]
"""

import sys
from pathlib import Path

import numpy as np

import kinemorph
from kinemorph.display.canvas import save

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
robot = kinemorph.library.puma()
dynamics = kinemorph.derive(robot)
np.set_printoptions(precision=4, suppress=True)

# forward kinematics: T_WF, the pose of the flange in the world
q = np.array([0.2, 1.0, -1.9, 0.0, 0.6, 0.0])  # rad
T = dynamics.pose("flange")(q)
print("flange at", T[:3, 3], "m")

# its Jacobian: the twist [linear; angular] of the flange for joint rates v, at its origin, in world axes
J = dynamics.jacobian("flange", "local_world_aligned")(q)
v = np.array([0.1, -0.2, 0.3, 0.0, 0.1, 0.0])  # rad/s
print("velocity", (J @ v)[:3], "m/s, angular velocity", (J @ v)[3:], "rad/s")
print("condition number of the Jacobian:", np.linalg.cond(J).round(1))

# inverse kinematics: 0.3 m to the left, 0.2 m down, same orientation
target = T.copy()
target[:3, 3] += [0.0, 0.3, -0.2]
reached = kinemorph.inverse_kinematics(dynamics, {"flange": target}, q)
print(reached.message)
print("q =", reached.q, "rad; largest error", np.abs(dynamics.pose("flange")(reached.q) - target).max())

# torques that hold the arm still there
print("gravity torques", dynamics.gravity_forces(reached.q), "N m")

title = "Puma 560: before (pale) and at the target"
picture = kinemorph.draw(robot, reached.q, ghosts=[q], frames=["flange"], title=title)
print("wrote", save(picture, folder / "02_arm_kinematics.png"))
