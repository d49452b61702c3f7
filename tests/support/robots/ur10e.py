"""The UR10e, from the facts that its maker states: geometry, masses, centers of mass and moments of inertia."""

from __future__ import annotations

from math import pi

from kinemorph.algebra.groups import rpy_to_rotation
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.robot import Robot

JOINTS = (
    *("shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint"),
    *("wrist_1_joint", "wrist_2_joint", "wrist_3_joint"),
)
Y, Z = (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
# body, mass [kg], center of mass [m], moments about it [kg m^2]; translation [m], pitch [rad] and axis of its joint
LINKS = (
    ("shoulder", 7.778, (0.0, 0.0, 0.0), (0.0315, 0.0315, 0.0219), (0.0, 0.0, 0.181), 0.0, Z),
    ("upper_arm", 12.93, (0.0, 0.0, 0.3065), (0.4231, 0.4231, 0.0364), (0.0, 0.176, 0.0), 0.5 * pi, Y),
    ("forearm", 3.87, (0.0, 0.0, 0.2855), (0.1106, 0.1106, 0.0109), (0.0, -0.137, 0.613), 0.0, Y),
    ("wrist_1", 1.96, (0.0, 0.135, 0.0), (0.0051, 0.0051, 0.0055), (0.0, 0.0, 0.571), 0.5 * pi, Y),
    ("wrist_2", 1.96, (0.0, 0.0, 0.12), (0.0051, 0.0051, 0.0055), (0.0, 0.135, 0.0), 0.0, Z),
    ("wrist_3", 0.202, (0.0, 0.092, 0.0), (0.00014, 0.00014, 0.0002), (0.0, 0.0, 0.12), 0.0, Y),
)


def ur10e() -> Robot:
    """The arm with six hinges, fixed to the world."""
    builder, parent = RobotBuilder("ur10e", gravity=(0.0, 0.0, -9.81)), "world"
    for joint, (body, mass, center, moments, place, pitch, axis) in zip(JOINTS, LINKS, strict=True):
        inertia = [[moments[i] if i == k else 0.0 for k in range(3)] for i in range(3)]
        builder.add(Body(body, mass, center, inertia))
        rotation = rpy_to_rotation(0.0, pitch, 0.0)
        builder.joint(joint, "revolute", parent, body, translation=place, rotation=rotation, axis=axis)
        parent = body
    return builder.build()
