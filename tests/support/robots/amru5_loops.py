"""AMRU5 by joints: the pantographs are closed chains, and couplings turn the rotors.

Written independently of the position matrices of `library.amru5`, except for the data.
"""

from __future__ import annotations

import math

import numpy as np

from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.library import amru as data
from kinemorph.model.robot import Robot

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
TURNED = ((-1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, 1.0))


def amru5_by_joints(legs: int = 6) -> Robot:
    """AMRU5 with its first `legs` legs, joints q0 to q23 as in the library, and closed chains in the pantographs."""
    builder = RobotBuilder("amru5_by_joints")
    parent = "world"
    for k, (kind, axis) in enumerate((("prismatic", X), ("prismatic", Y), ("prismatic", Z), *_three_hinges())):
        body = f"carrier{k}" if k < 5 else "central"
        if k < 5:
            builder.body(body)
        else:
            builder.body(body, data.BODY_MASS, inertia=data.BODY_INERTIA)
        builder.joint(f"q{k}", kind, parent, body, axis=axis)
        parent = body
    for leg in range(1, legs + 1):
        _add_leg(builder, leg)
    return builder.build()


def _three_hinges():
    return (("revolute", X), ("revolute", Y), ("revolute", Z))


def _rod(builder, name, mass, length):
    thin, across = 0.5 * mass * 0.008**2, mass * length**2 / 12.0
    builder.body(name, mass, com=(0.5 * length, 0.0, 0.0), inertia=(thin, across, across))


def _add_leg(builder: RobotBuilder, leg: int) -> None:
    rotation, vertical, horizontal = data.leg_coordinates(leg)
    x, y = data.HIPS[leg - 1]
    at = {"translation": (x, y, 0.0), "rotation": np.eye(3) if x > 0 else TURNED}

    def name(part: str) -> str:
        return f"leg{leg}_{part}"

    builder.body(name("support"), data.SUPPORT_MASS, inertia=data.SUPPORT_INERTIA)
    builder.joint(rotation, "revolute", "central", name("support"), axis=Z, **at)
    builder.body(name("A"))
    builder.joint(vertical, "prismatic", name("support"), name("A"), translation=(data.OUTWARD, 0.0, 0.0), axis=Z)
    builder.body(name("C"))
    builder.joint(horizontal, "prismatic", name("support"), name("C"), translation=(data.OUTWARD, 0.0, 0.0), axis=X)
    _rod(builder, name("thigh"), data.THIGH_MASS, data.AD)
    _rod(builder, name("shank"), data.SHANK_MASS, data.AD)
    _rod(builder, name("short"), data.SHORT_MASS, data.AB)  # from C to B
    _rod(builder, name("long"), data.LONG_MASS, data.BD)  # from C to E
    builder.joint(name("at_A"), "revolute", name("A"), name("thigh"), axis=Y)
    builder.joint(name("at_D"), "revolute", name("thigh"), name("shank"), translation=(data.AD, 0.0, 0.0), axis=Y)
    builder.joint(name("at_C"), "revolute", name("C"), name("short"), axis=Y)
    builder.joint(name("at_C2"), "revolute", name("C"), name("long"), axis=Y)
    for point, rod, end, other, along in (
        ("B", "short", data.AB, "thigh", data.AB),
        ("E", "long", data.BD, "shank", data.AB),
    ):
        builder.joint(
            name(f"at_{point}"), "revolute", name(rod), name(other), translation=(end, 0.0, 0.0),
            child_placement=((1.0, 0.0, 0.0, along), (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), (0.0, 0.0, 0.0, 1.0)),
            axis=Y, cut=True,
        )  # fmt: skip
    across, along = data.ROTOR_ACROSS, data.ROTOR_INERTIA
    hip = np.array(at["rotation"])
    motors = (
        ("central", (x, y, 0.05), hip, Z, (across, across, along), rotation, data.GEAR),
        (name("support"), (data.OUTWARD, 0.0, 0.15), np.eye(3), Z, (across, across, along), vertical, data.SCREW),
        (name("support"), (0.02, 0.0, 0.0), np.eye(3), X, (along, across, across), horizontal, data.SCREW),
    )
    for k, (parent, place, turned, axis, inertia, leader, ratio) in enumerate(motors, 1):
        builder.body(name(f"rotor{k}"), data.ROTOR_MASS, inertia=inertia)
        builder.joint(
            name(f"turn{k}"), "revolute", parent, name(f"rotor{k}"), translation=place, rotation=turned, axis=axis
        )
        builder.couple(name(f"turn{k}"), leader, ratio)
    builder.frame(f"foot{leg}", name("shank"), translation=(data.AD, 0.0, 0.0))


def closed_state(robot: Robot, q, v) -> tuple[np.ndarray, np.ndarray]:
    """The state of the robot by joints with the values q (24,) and v (24,) of the coordinates of the library."""
    count = sum(name.startswith("leg") and name.endswith("at_A") for name in robot.q_names)
    found = np.zeros((2, robot.nq))
    at = {name: k for k, name in enumerate(robot.q_names)}
    for k in range(6 + 3 * count):
        found[:, at[f"q{k}"]] = q[k], v[k]
    for leg in range(1, count + 1):
        q6, q7, q8 = q[3 * leg + 3 : 3 * leg + 6]
        w6, w7, w8 = v[3 * leg + 3 : 3 * leg + 6]
        square = q7**2 + q8**2
        half, alpha = math.acos(math.sqrt(square) / (2 * data.AB)), math.atan2(q7, q8)
        alpha_rate = (q8 * w7 - q7 * w8) / square
        half_rate = -(q7 * w7 + q8 * w8) / math.sqrt(square) / math.sqrt(4 * data.AB**2 - square)
        upper, lower = (alpha - half, alpha_rate - half_rate), (alpha + half, alpha_rate + half_rate)
        for part, value, rate in (
            ("at_A", *upper),
            ("at_D", lower[0] - upper[0], lower[1] - upper[1]),
            ("at_C", lower[0] + math.pi, lower[1]),
            ("at_C2", *upper),
            ("turn1", data.GEAR * q6, data.GEAR * w6),
            ("turn2", data.SCREW * q7, data.SCREW * w7),
            ("turn3", data.SCREW * q8, data.SCREW * w8),
        ):
            found[:, at[f"leg{leg}_{part}"]] = value, rate
    return found[0], found[1]
