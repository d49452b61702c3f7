"""Two small systems for controllers and references: an arm of two hinges and a cart on a rail."""

import kinemorph
from kinemorph import Body, RobotBuilder, System

QUICK = {"method": "rk4", "step": 0.01}  # where accuracy is no matter: soon compiled
JOINTS = ("q1", "q2")


def arm(*elements):
    return System(kinemorph.library.double_pendulum(), elements)


def cart(*elements, damping=0.0):
    builder = RobotBuilder("cart", gravity=(0.0, 0.0, 0.0)).add(Body.sphere("cart", 1.0, 0.1))
    joint = {"axis": (1, 0, 0), "damping": damping}
    return System(builder.joint("x", "prismatic", "world", "cart", **joint).build(), elements)
