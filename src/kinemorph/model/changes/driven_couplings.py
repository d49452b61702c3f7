"""Coupled joints as driven joints, and back: two forms of q[joint] = multiplier * q[leader] + offset.

A coupling keeps both coordinates in q and adds a constraint. A driven joint has no coordinate in q: there is nothing to
keep, the equations are fewer, and a run cannot drift. Files such as URDF know couplings only.
"""

from __future__ import annotations

import math
from dataclasses import replace

from kinemorph.errors import ModelError
from kinemorph.model.driven import all_joints_free, coordinate_places
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import Coordinate, Formula, Value, coordinates_of
from kinemorph.model.robot import Coupling, Robot


def driven_couplings(robot: Robot) -> Robot:
    """The robot with all coupled joints as driven joints: q and v have the other joints only.

    A joint that follows a follower follows the first leader. The limits of followers are not kept.
    """
    led = {coupling.joint: coupling for coupling in robot.couplings}
    places = coordinate_places(robot)

    def formula(name: str) -> Value:
        coupling = led.get(name)
        if coupling is None:
            if name not in places:
                raise ModelError(
                    f"driven_couplings: joint '{name}' leads coupled joints and is not a hinge or slide, so that "
                    "they cannot be driven by it. Keep the couplings of this robot."
                )
            return Coordinate(name, 0.0, robot.joint(name).table.q_units[0])
        return coupling.multiplier * formula(coupling.leader) + coupling.offset

    def changed(joint: Joint) -> Joint:
        if joint.name not in led:
            return joint
        return replace(joint, driven=(formula(joint.name),), lower=(), upper=(), velocity=(), effort=())

    return replace(robot, joints=tuple(map(changed, robot.joints)), couplings=())


def coupled_drives(robot: Robot) -> Robot:
    """The robot with driven joints as coupled joints; raises ModelError if a formula is not multiplier * q + offset.

    The coordinates of these joints follow those of all others in q.
    """
    couplings = []
    for joint in robot.driven:
        found = _linear(joint.driven[0]) if len(joint.driven) == 1 else None
        if found is None:
            raise ModelError(
                f"joint '{joint.name}' is driven by a formula that is not a multiple of one coordinate, and a coupling "
                "cannot express it. Save the robot as TOML, which keeps formulas."
            )
        couplings.append(Coupling(joint.name, *found))
    return replace(all_joints_free(robot), couplings=(*robot.couplings, *couplings))


def _linear(value: Value) -> tuple[str, Value, Value] | None:
    """(name, multiplier, offset) where a value is multiplier * coordinate + offset with constants; else None."""
    if isinstance(value, Coordinate):
        return None if value.name == "t" else (value.name, 1.0, 0.0)
    if not isinstance(value, Formula):
        return None
    parts = [(_linear(arg), arg) for arg in value.args]
    if value.op == "neg" and parts[0][0] is not None:
        name, multiplier, offset = parts[0][0]
        return name, -multiplier, -offset
    if len(parts) != 2:
        return None
    (left, a), (right, b) = parts
    if value.op == "mul" and left is None and right is not None and not coordinates_of(a):
        return right[0], a * right[1], a * right[2]
    if value.op == "mul" and right is None and left is not None and not coordinates_of(b):
        return left[0], left[1] * b, left[2] * b
    if value.op == "div" and left is not None and not coordinates_of(b):
        return left[0], left[1] / b, left[2] / b
    sign = {"add": 1.0, "sub": -1.0}.get(value.op, math.nan)
    if left is not None and sign == sign and not coordinates_of(b):
        return left[0], left[1], left[2] + sign * b
    if right is not None and sign == sign and not coordinates_of(a):
        return right[0], sign * right[1], a + sign * right[2]
    return None
