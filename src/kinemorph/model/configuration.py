"""The configuration manifold: how a velocity v changes the configuration q, and the pose and twist across a joint.

Quaternions and planar coordinates do not form a vector space: q + v dt leaves the manifold. `integrate` is exact: it
uses the exponential map of each joint's group at constant body velocity (SE(3) for free, SE(2) for planar, SO(3) for
spherical joints, plain addition for all others); `difference` is its inverse. Both work for any type of number: NumPy
arrays of shape (..., n) give an array, sequences of scalars give a tuple.

A joint's motion is a product of primitives (see `model.joint`); the table `MANIFOLDS` has one row per primitive.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import IDENTITY, Pose, compose, exp_se3, inverse, move_twist_back
from kinemorph.algebra.quaternions import (
    direction_to_rotation,
    quat_conjugate,
    quat_exp,
    quat_log,
    quat_multiply,
    quat_normalize,
)
from kinemorph.algebra.rotations import left_jacobian_so3_inverse, rotation
from kinemorph.algebra.scalar import S, absolute, div, floor, less_equal, plus, sincos, times, where
from kinemorph.algebra.series import rotation_coefficients
from kinemorph.algebra.vectors import Vec, add, matvec, matvec_transposed, scale, sub, zeros
from kinemorph.errors import ShapeError
from kinemorph.model.couplings import coupled_limits, followers
from kinemorph.model.driven import coordinate_places, with_driven
from kinemorph.model.joint import Axis, Joint
from kinemorph.model.parameter import Lookup, coordinates_of, evaluate, evaluate_all
from kinemorph.model.robot import Robot, check_robot

UNBOUNDED = 1e6  # [rad] or [m]: a larger limit means "no limit"
NEARER = (1.0, 0.3, 0.1, 0.03, 0.01, 0.001)  # shares of the distance from initial values that are tried in turn

# ── one row per primitive ─────────────────────────────────────────────────────────────────────────────────────────────


class Manifold(NamedTuple):
    """The functions of one primitive, a factor of a joint's motion: pose at q, body twist for v, q after unit time at
    v, and v from q0 to q1.
    """

    motion: Callable[[Axis, S, Sequence[S]], Pose]  # (axis, pitch, q)
    twist: Callable[[Axis, S, Sequence[S]], Vec]  # (axis, pitch, v)
    integrate: Callable[[Sequence[S], Sequence[S]], Vec]  # (q, v)
    difference: Callable[[Sequence[S], Sequence[S]], Vec]  # (q0, q1)


def _planar_motion(axis: Axis, pitch: S, q: Sequence[S]) -> Pose:
    return Pose(rotation((0.0, 0.0, 1.0), q[2]), (q[0], q[1], 0.0))


def _planar_integrate(q: Sequence[S], v: Sequence[S]) -> Vec:
    a, b, _, _ = rotation_coefficients(v[2] * v[2])
    forward, sideways = a * v[0] - b * v[2] * v[1], b * v[2] * v[0] + a * v[1]
    sine, cosine = sincos(q[2])
    return (q[0] + cosine * forward - sine * sideways, q[1] + sine * forward + cosine * sideways, q[2] + v[2])


def _planar_difference(q0: Sequence[S], q1: Sequence[S]) -> Vec:
    x, y, angle = sub(q1, q0)
    turns = floor(angle / (2.0 * math.pi) + 0.5)
    angle = where(less_equal(absolute(angle), math.pi), angle, angle - 2.0 * math.pi * turns)  # within one half turn
    sine, cosine = sincos(q0[2])
    forward, sideways = cosine * x + sine * y, cosine * y - sine * x
    a, b, _, _ = rotation_coefficients(angle * angle)
    b = b * angle
    size = a * a + b * b
    return (div(a * forward + b * sideways, size), div(a * sideways - b * forward, size), angle)


def _turned(q: Sequence[S], w: Sequence[S]) -> Vec:
    """The unit quaternion after unit time at body rate w [rad/s], from a quaternion q of any length."""
    return quat_normalize(quat_multiply(q, quat_exp(w)))


def _free_integrate(q: Sequence[S], v: Sequence[S]) -> Vec:
    shift = exp_se3(v).p
    return (*add(q[:3], matvec(direction_to_rotation(q[3:]), shift)), *_turned(q[3:], v[3:]))


def _free_difference(q0: Sequence[S], q1: Sequence[S]) -> Vec:
    w = _quaternion_difference(q0[3:], q1[3:])
    shift = matvec_transposed(direction_to_rotation(q0[3:]), sub(q1[:3], q0[:3]))
    return (*matvec(left_jacobian_so3_inverse(w), shift), *w)


def _quaternion_difference(q0: Sequence[S], q1: Sequence[S]) -> Vec:
    return quat_log(quat_normalize(quat_multiply(quat_conjugate(q0), q1)))


def _no_coordinates(*given: Sequence[S]) -> Vec:
    raise ShapeError(
        "the pose of a driven joint is given by formulas, so that it has no coordinates in q. Integrate the "
        "coordinates that its formulas name."
    )


_NOWHERE = zeros(3)
MANIFOLDS: dict[str, Manifold] = {
    "revolute": Manifold(
        lambda axis, pitch, q: Pose(rotation(axis, q[0]), _NOWHERE),
        lambda axis, pitch, v: (*_NOWHERE, *scale(v[0], axis)),
        add,
        lambda q0, q1: sub(q1, q0),
    ),
    "prismatic": Manifold(
        lambda axis, pitch, q: Pose(IDENTITY.R, scale(q[0], axis)),
        lambda axis, pitch, v: (*scale(v[0], axis), *_NOWHERE),
        add,
        lambda q0, q1: sub(q1, q0),
    ),
    "helical": Manifold(
        lambda axis, pitch, q: Pose(rotation(axis, q[0]), scale(times(pitch, q[0]), axis)),
        lambda axis, pitch, v: (*scale(times(pitch, v[0]), axis), *scale(v[0], axis)),
        add,
        lambda q0, q1: sub(q1, q0),
    ),
    "spherical": Manifold(
        lambda axis, pitch, q: Pose(direction_to_rotation(q), _NOWHERE),
        lambda axis, pitch, v: (*_NOWHERE, *v),
        _turned,
        _quaternion_difference,
    ),
    "planar": Manifold(
        _planar_motion,
        lambda axis, pitch, v: (v[0], v[1], 0.0, 0.0, 0.0, v[2]),
        _planar_integrate,
        _planar_difference,
    ),
    "free": Manifold(
        lambda axis, pitch, q: Pose(direction_to_rotation(q[3:]), tuple(q[:3])),
        lambda axis, pitch, v: tuple(v),
        _free_integrate,
        _free_difference,
    ),
    "pose": Manifold(  # of driven joints only, whose coordinates are no part of q
        lambda axis, pitch, q: Pose((tuple(q[0:3]), tuple(q[3:6]), tuple(q[6:9])), tuple(q[9:12])),
        lambda axis, pitch, v: tuple(v),
        _no_coordinates,
        _no_coordinates,
    ),
}

# ── one joint ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def joint_motion(joint: Joint, q: Sequence[S], lookup: Lookup | None = None) -> Pose:
    """The pose of the joint frame on the child in the joint frame on the parent, at coordinates q, shape (nq,)."""
    motion = IDENTITY
    for step in joint.motion.primitives:
        axis = joint.axes[step.axis or 0]
        moved = MANIFOLDS[step.kind].motion(axis, evaluate(joint.pitch, lookup), q[slice(*step.q)])
        motion = moved if motion is IDENTITY else compose(motion, moved)
    return motion


def joint_pose(joint: Joint, q: Sequence[S], lookup: Lookup | None = None) -> Pose:
    """T_parent_child, the pose of the child in the parent, at the joint's coordinates q, shape (nq,)."""
    before, after = evaluate_all(joint.placement, lookup), evaluate_all(joint.child_placement, lookup)
    return compose(before, joint_motion(joint, q, lookup), inverse(after))


def joint_twist(joint: Joint, q: Sequence[S], v: Sequence[S], lookup: Lookup | None = None) -> Vec:
    """The twist of the child relative to the parent, shape (6,), linear part first, in the joint frame on the child."""
    total: Vec | None = None
    for step in joint.motion.primitives:
        axis, pitch = joint.axes[step.axis or 0], evaluate(joint.pitch, lookup)
        own = MANIFOLDS[step.kind].twist(axis, pitch, v[slice(*step.v)])
        if total is None:
            total = own
        else:
            moved = MANIFOLDS[step.kind].motion(axis, pitch, q[slice(*step.q)])
            total = add(move_twist_back(moved, total), own)
    return zeros(6) if total is None else total


# ── the whole robot ───────────────────────────────────────────────────────────────────────────────────────────────────


def neutral(robot: Robot) -> Array:
    """The configuration with all coordinates zero and all quaternions (1, 0, 0, 0), shape (nq,)."""
    check_robot(robot)
    return np.array([value for joint in robot.joints for value in joint.table.neutral], dtype=float)


def initial_configuration(robot: Robot) -> Array:
    """The configuration, shape (nq,), in which a run starts by default: neutral, or that of position matrices.

    Coordinates in formulas and position matrices have the values that were declared for them: formulas may have no
    value at 0.
    """
    q = neutral(robot)
    for i, value in _declared(robot).items():
        q[i] = value
    return q


def _declared(robot: Robot) -> dict[int, float]:
    """The declared values of the coordinates in formulas and position matrices, by index in q."""
    if not robot.driven and not robot.positions:
        return {}
    places = coordinate_places(robot)
    named = coordinates_of((robot.positions, tuple(joint.driven for joint in robot.driven)))
    return {places[one.name][0]: one.value for one in named if one.name in places}


class Dice(random.Random):
    """A random number generator that imports faster than NumPy's, for a few numbers."""

    def normal(self, size: int) -> Array:
        """Normally distributed numbers, shape (size,)."""
        return np.array([self.gauss(0.0, 1.0) for _ in range(size)])


def random_configuration(robot: Robot, rng: np.random.Generator | Dice) -> Array:
    """A random configuration, shape (nq,).

    Coordinates are uniform within their limits; without limits, angles are in [-pi, pi] and lengths in [-1, 1] m. If a
    range is wider than 1e6, its limits beyond 1e6 are ignored. Quaternions are uniform over all rotations. Coupled
    joints follow their leaders, and a leader stays within the limits of its followers too. Coordinates that drive
    joints are brought nearer to their initial values where a formula has no finite value, such as acos above 1.
    """
    q = neutral(robot)
    lower, upper = (limits.tolist() for limits in coupled_limits(robot))
    reach = {"rad": np.pi, "m": 1.0}
    for joint in robot.joints:
        at = robot.q_slice(joint.name)
        part, units = q[at], joint.table.q_units  # `part` is a view of q
        for i, (unit, low, high) in enumerate(zip(units, lower[at], upper[at], strict=True)):
            if unit:
                low, high = _bounded(low, high, reach[unit])
                part[i] = low + (high - low) * rng.random()
        turning = [i for i, unit in enumerate(units) if not unit] if "" in units else ()
        if turning:
            quaternion = rng.normal(size=4)
            part[turning] = quaternion / np.linalg.norm(quaternion)
    for follower, (leader, multiplier, offset) in followers(robot.couplings).items():
        q[robot.q_slice(follower)] = multiplier * q[robot.q_slice(leader)] + offset
    return _in_domains(robot, q) if robot.driven else q


def _in_domains(robot: Robot, q: Array) -> Array:
    """q, brought nearer to the initial values of coordinates until the formulas of driven joints are finite."""
    for share in NEARER:
        near = q.copy()
        for i, value in _declared(robot).items():
            near[i] = value + share * (q[i] - value)
        with np.errstate(all="ignore"), suppress(ValueError, ArithmeticError):
            if np.isfinite(np.array(with_driven(robot, near.tolist()), dtype=float)).all():
                return near
    return q


def _bounded(low: float, high: float, reach: float) -> tuple[float, float]:
    """The range (low, high) to draw from. A missing limit, or one beyond 1e6, is replaced by -`reach` or `reach`."""
    if high - low > UNBOUNDED:
        low, high = low if low >= -UNBOUNDED else -math.inf, high if high <= UNBOUNDED else math.inf
    low = low if math.isfinite(low) else min(-reach, high - reach)
    return low, high if math.isfinite(high) else max(reach, low + reach)


def integrate(robot: Robot, q: Any, v: Any) -> Any:
    """The configuration, shape (nq,), after unit time at constant body velocity v, shape (nv,), starting from q.

    For a step of size h pass h * v. Quaternions in q may have any length except 0; those returned have length 1. Raises
    ShapeError if q or v is not finite or a quaternion is zero.
    """
    check_robot(robot)
    return _by_primitive(robot, "integrate", (q, robot.nq, "q"), (v, robot.nv, "v"))


def difference(robot: Robot, q0: Any, q1: Any) -> Any:
    """The constant body velocity, shape (nv,), that moves q0 to q1 in unit time: the inverse of `integrate`.

    Planar, spherical and free joints take the shortest rotation, at most pi [rad]: `integrate(robot, q0,
    difference(robot, q0, q1))` is q1 up to whole turns of a planar joint and the sign of a quaternion. The angles of
    all other joints are subtracted as they are, whole turns included.
    """
    check_robot(robot)
    return _by_primitive(robot, "difference", (q0, robot.nq, "q0"), (q1, robot.nq, "q1"))


def _by_primitive(robot: Robot, what: str, first: tuple[Any, int, str], second: tuple[Any, int, str]) -> Any:
    """The result of `what`, "integrate" or "difference", computed primitive by primitive with `MANIFOLDS`.

    `first` and `second` are the two arguments of that function, each given as (values, length, name in messages).
    """
    a, b = _columns(*first), _columns(*second)
    result: list[S] = []
    for joint in robot.joints:
        q, v = robot.q_slice(joint.name).start, robot.v_slice(joint.name).start
        for step in joint.table.primitives:
            at_q, at_v = slice(q + step.q[0], q + step.q[1]), slice(v + step.v[0], v + step.v[1])
            rule = getattr(MANIFOLDS[step.kind], what)
            result += rule(a[at_q], b[at_v] if what == "integrate" else b[at_q])
    if isinstance(first[0], np.ndarray) or isinstance(second[0], np.ndarray):
        stacked = np.stack(np.broadcast_arrays(*result), axis=-1) if result else np.zeros(np.shape(first[0]))
        if not np.all(np.isfinite(stacked)):
            raise ShapeError(
                f"{what} for robot '{robot.name}': {first[2]} or {second[2]} has a value that is not finite, or a "
                "quaternion of length 0. Check its values; a free joint has the coordinates [x y z qw qx qy qz]."
            )
        return stacked
    return tuple(result)


def _columns(values: Any, length: int, name: str) -> list[S]:
    """The items of a sequence, or the columns of an array, shape (..., length). Raises ShapeError for other lengths."""
    found = values.shape[-1] if isinstance(values, np.ndarray) and values.ndim else len(values)
    if found != length:
        raise ShapeError(f"{name} has {found} entries, expected {length}. Give the numbers of all joints, in order.")
    if isinstance(values, np.ndarray):
        return [plus(values[..., i], 0.0) for i in range(length)]
    return list(values)
