"""The position matrices of a robot that is made of joints: each body relative to the body that carries it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kinemorph.algebra.groups import IDENTITY, Pose, inverse
from kinemorph.algebra.notation import AXES, Factor
from kinemorph.algebra.roll_pitch_yaw import angles_of_rotation
from kinemorph.algebra.vectors import cross, norm, transpose
from kinemorph.errors import UnsupportedError
from kinemorph.model.joint import PLAIN, POSE, Axis, Joint
from kinemorph.model.parameter import Coordinate, Value
from kinemorph.model.robot import Position, Robot
from kinemorph.model.topology import WORLD

NAMED = {axis: letter for letter, axis in AXES.items()}


def joint_positions(robot: Robot) -> tuple[Position, ...]:
    """The positions of the centers of mass of all bodies, in the order of the bodies.

    Raises UnsupportedError for loops, couplings, and joints that have other coordinates than angles and travels.
    """
    if not robot.is_open:
        name = robot.loops[0].name if robot.loops else robot.couplings[0].joint
        raise UnsupportedError(
            f"joint '{name}' closes a loop or follows another joint, which position matrices cannot express. "
            "Use a robot without loops and couplings."
        )
    found = []
    for body in robot.bodies:
        joint = robot.parent_joint[body.name]
        held = (0.0, 0.0, 0.0) if joint.parent == WORLD else robot.body(joint.parent).com
        factors = [
            *_shift(tuple(-x for x in held)),
            *constant_factors(joint.placement),
            *_motion(joint),
            *constant_factors(inverse(joint.child_placement)),
            *_shift(body.com),
        ]
        found.append(Position(body.name, tuple(factors), "" if joint.parent == WORLD else joint.parent))
    return tuple(found)


def constant_factors(pose: Pose) -> list[Factor]:
    """A constant pose as a displacement and rotations about z, y and x. Raises UnsupportedError for parameters in R."""
    if any(not isinstance(x, float) for row in pose.R for x in row):
        raise UnsupportedError("a rotation depends on parameters; expected numbers. Use plain numbers in rotations.")
    turns = angles_of_rotation(pose.R) if pose.R != IDENTITY.R else (0.0, 0.0, 0.0)
    rolled = zip("zyx", reversed(turns), strict=True)
    return [*_shift(pose.p), *(Factor(letter, (angle,)) for letter, angle in rolled if angle)]


def _shift(by: Sequence[Value]) -> list[Factor]:
    """A displacement; no factor for one by zero."""
    return [] if all(isinstance(x, float) and x == 0.0 for x in by) else [Factor("disp", tuple(by))]


def _motion(joint: Joint) -> Iterator[Factor]:
    """The factors of a joint's motion."""
    row = joint.motion
    if row is POSE:
        yield Factor("matrix", joint.driven)
        return
    if any(step.kind not in PLAIN for step in row.primitives):
        raise UnsupportedError(
            f"joint '{joint.name}' is {joint.kind}; expected joints whose coordinates are angles and travels. Replace "
            "it by revolute and prismatic joints."
        )
    names = zip(joint.motion_names("q"), row.q_units, strict=True)
    values = joint.driven or tuple(Coordinate(name, 0.0, unit) for name, unit in names)
    for step in row.primitives:
        value, axis = values[step.q[0]], joint.axes[step.axis or 0]
        if step.kind != "prismatic":
            yield from _turn(axis, value)
        if step.kind != "revolute":
            travel = joint.pitch * value if step.kind == "helical" else value
            yield Factor("disp", tuple(x * travel for x in axis))


def _turn(axis: Axis, angle: Value) -> Iterator[Factor]:
    """A rotation about an axis, by rotations about x, y and z."""
    x, y, z = axis
    opposite = (0.0 - x, 0.0 - y, 0.0 - z)
    if axis in NAMED or opposite in NAMED:
        yield Factor(NAMED[axis], (angle,)) if axis in NAMED else Factor(NAMED[opposite], (-angle,))
        return
    other = (1.0, 0.0, 0.0) if abs(x) < 0.9 else (0.0, 1.0, 0.0)
    side = cross(axis, other)
    side = tuple(part / norm(side) for part in side)
    R = transpose((side, cross(axis, side), axis))  # its z axis is the axis
    yield from constant_factors(Pose(R, (0.0, 0.0, 0.0)))
    yield Factor("z", (angle,))
    yield from constant_factors(Pose(transpose(R), (0.0, 0.0, 0.0)))
