"""The `PositionBuilder` that a robot was made by, from the robot alone."""

from __future__ import annotations

import math
from typing import Any

from kinemorph.algebra.notation import mth, trot, vec
from kinemorph.model.joint import Joint
from kinemorph.model.positions.position_builder import JOINTS, PositionBuilder
from kinemorph.model.robot import Robot

UNLIMITED = {"lower": -math.inf, "upper": math.inf, "velocity": math.inf, "effort": math.inf}
DATA = (*UNLIMITED, "damping", "friction", "armature")  # of a joint that are those of its coordinate


def rebuilt(robot: Robot) -> PositionBuilder | None:
    """A builder that makes the same robot; None if the robot has joints that position matrices do not explain.

    That is a robot that was made of joints, or one that was changed after it was made of matrices.
    """
    if not robot.positions:
        return None
    builder = PositionBuilder(robot.name, robot.gravity)
    for joint in coordinate_joints(robot):
        builder.coordinate(joint.name, unit_of(joint), **coordinate_data(joint))
    for one in robot.dependents:
        builder.dependent(one.name, one.formula, one.unit)
    known = {body.name: body for body in robot.bodies}
    for position in robot.positions:
        body = known.get(position.body)
        if body is None:
            return None
        key = "TrefG" if position.reference else "T0G"
        matrix: dict[str, Any] = {key: mth(factors=position.factors)}
        builder.body(
            *(body.name, body.mass, body.inertia),
            reference=position.reference,
            shapes=body.shapes,
            collisions=body.collisions,
            **matrix,
        )
    for frame in robot.frames:
        builder.frame(frame.name, frame.body, mth(trot(frame.placement.R), vec(*frame.placement.p)))
    return builder if builder.judged().robot == robot else None


def coordinate_joints(robot: Robot) -> tuple[Joint, ...]:
    """The joints that coordinates belong to, in the order of q."""
    return tuple(joint for joint in robot.joints if joint.kind in JOINTS.values() and not joint.driven)


def unit_of(joint: Joint) -> str:
    """The unit of the coordinate of a hinge or slide: "rad" or "m"."""
    return next(unit for unit, kind in JOINTS.items() if kind == joint.kind)


def coordinate_data(joint: Joint) -> dict[str, Any]:
    """The limits, damping and the like of a coordinate, without those that have their defaults."""
    data = {key: getattr(joint, key)[0] for key in DATA}
    return {key: value for key, value in data.items() if value != UNLIMITED.get(key, 0.0)}
