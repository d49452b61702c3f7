"""Closed chains and coupled joints as constraints on the open tree.

    phi(q) = 0,      J(q) v = d phi/dt,      J a = gamma(q, v) = -(dJ/dt) v

phi is how far every loop is open: the rows of each condition of the joint that closes it (`joint.CLOSURE_ROWS`), then
one row per coupled joint, then the rows of constraints that a tree holds besides (`tree.HeldRows`). J and gamma come
from its first and second derivatives along the motion, by dual numbers, so they are exact at every configuration,
closed or not. With the multipliers lambda

    M a + h = tau + J^T lambda,      J a = gamma

`constrained` solves for the accelerations.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from kinemorph.algebra.dual import Direction
from kinemorph.algebra.groups import Pose, compose, inverse
from kinemorph.algebra.scalar import S, absolute, div, is_zero, less, maximum, plus, sincos
from kinemorph.algebra.vectors import dot, matvec
from kinemorph.mechanics.constraints.constrained import REPEATED, ConstraintRows, least_share
from kinemorph.mechanics.recursions.kinematics import configuration_rate, pose_of_move
from kinemorph.mechanics.trees.motions import ELEMENTARY, Move
from kinemorph.mechanics.trees.tree import WORLD, Attachment, Closure, Tree
from kinemorph.model.joint import CLOSURE_ROWS
from kinemorph.model.robot import Robot

LENGTHS = frozenset({"point", "line", "height", "pitch"})  # conditions in meters


# ── conditions ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _angle(T: Pose, closure: Closure) -> list[S]:
    """The cosine of the angle between a universal joint's two axes, minus its value at coordinates 0.

    T is the pose of the joint frame on the child in that on the parent.
    """
    return [matvec(T.R, closure.second)[2] - closure.second[2]]


def _orientation(T: Pose, closure: Closure) -> list[S]:
    """The vector of the skew part of R, which is the rotation vector where the rotation is small [rad].

    R is the rotation of the joint frame on the child relative to that on the parent.
    """
    R = T.R
    return [0.5 * (R[2][1] - R[1][2]), 0.5 * (R[0][2] - R[2][0]), 0.5 * (R[1][0] - R[0][1])]


def _pitch(T: Pose, closure: Closure) -> list[S]:
    """pitch sin(travel / pitch - angle) [m]: near 0 it is travel - pitch angle, and it does not jump at half a turn."""
    if is_zero(closure.pitch):
        return [T.p[2]]
    s, c = sincos(div(T.p[2], closure.pitch))
    return [closure.pitch * (s * T.R[0][0] - c * T.R[1][0])]


# how far a closure is open, by condition: its rows [m or rad] at the pose T of the child frame in the parent frame
CONDITIONS: dict[str, Callable[[Pose, Closure], list[S]]] = {
    "point": lambda T, closure: list(T.p),
    "line": lambda T, closure: [T.p[0], T.p[1]],
    "height": lambda T, closure: [T.p[2]],
    "parallel": lambda T, closure: [T.R[0][2], T.R[1][2]],
    "angle": _angle,
    "orientation": _orientation,
    "pitch": _pitch,
}


def constraint_names(robot: Robot) -> tuple[str, ...]:
    """The names of the rows of phi, (nc,): `closure.point.x`, or `closure.pitch` where a condition has one row only.

    The name of a loop's row contains the name of the joint that closes it, the condition, and the axis of the joint
    frame on the parent, whose z axis is the joint's axis; the row of a coupled joint is `joint.coupling`.
    """
    return tuple(f"{owner}.{row}" for owner, rows in _named_rows(robot) for row in rows)


def constraint_owners(robot: Robot) -> tuple[str, ...]:
    """For each row of phi, (nc,), the name of its joint, which closes a loop or follows another joint."""
    return tuple(owner for owner, rows in _named_rows(robot) for _ in rows)


def constraint_units(robot: Robot) -> tuple[str, ...]:
    """The units of the rows of phi, (nc,): "m" or "rad"."""
    parts = [part for joint in robot.loops for part in joint.table.closure for _ in range(CLOSURE_ROWS[part])]
    units = ["m" if part in LENGTHS else "rad" for part in parts]
    return (*units, *(robot.joint(coupling.joint).table.q_units[0] for coupling in robot.couplings))


def _named_rows(robot: Robot) -> list[tuple[str, list[str]]]:
    """(joint name, names of its rows) for each joint that closes a loop, then for each coupled joint."""
    named = [(joint.name, [row for part in joint.table.closure for row in _rows_of(part)]) for joint in robot.loops]
    return named + [(coupling.joint, ["coupling"]) for coupling in robot.couplings]


def _rows_of(condition: str) -> list[str]:
    count = CLOSURE_ROWS[condition]
    return [condition] if count == 1 else [f"{condition}.{axis}" for axis in "xyz"[:count]]


def constraint_error(tree: Tree, q: Sequence[S]) -> list[S]:
    """phi(q), shape (nc,) [m or rad]: how far loops are open, and how far coupled joints are from their couplings."""
    moves = tree.moves(q)
    rows = [row for closure in tree.closures for row in _opening(tree, moves, closure)]
    rows += [q[f.joint] - (f.multiplier * q[f.leader] + f.offset) for f in tree.follows]
    return rows + tree.held.values(tree, q)


def _opening(tree: Tree, moves: Sequence[Move] | Mapping[int, Move], closure: Closure) -> list[S]:
    """How far a closure (a joint that closes a loop) is open at the poses `moves` of the links, per row [m or rad]."""
    return closure_opening(closure, closure_pose(tree, moves, closure))


def closure_pose(tree: Tree, moves: Sequence[Move] | Mapping[int, Move], closure: Closure) -> Pose:
    """The pose of the child frame of a closure, a joint that closes a loop, seen from its parent frame.

    `moves` are the poses of the links in their parents.
    """
    return _seen_from(tree, moves, closure.parent, closure.child)


def closure_opening(closure: Closure, T: Pose) -> list[S]:
    """How far a closure, a joint that closes a loop, is open, one number per row [m or rad].

    T is the pose of its child frame in its parent frame.
    """
    return [row for condition in closure.conditions for row in CONDITIONS[condition](T, closure)]


def constraint_rate(tree: Tree, q: Sequence[S], v: Sequence[S]) -> list[S]:
    """The rate of the constraint error, d phi/dt = J v, shape (nc,), by dual numbers."""
    along = Direction()
    return along.tangents(constraint_error(tree, moved_along(tree, q, v, along)))


def moved_along(tree: Tree, q: Sequence[S], v: Sequence[S], along: Direction) -> list[S]:
    """The configuration q, which changes along this direction at the rate dq/dt of the velocity v."""
    return along.all_moved(q, configuration_rate(tree, q, v))


def constraint_jacobian(tree: Tree, q: Sequence[S]) -> list[list[S]]:
    """The constraint Jacobian J(q), shape (nc, nv). A row has nonzeros only at the links of its loop."""
    moves, along = tree.moves(q), Direction()
    rows: list[list[S]] = []
    for closure in tree.closures:
        around = {index for side in ways_apart(tree, closure.parent.link, closure.child.link) for index in side}
        block: list[list[S]] = [[0.0] * tree.nv for _ in range(closure_rows(closure))]
        for index in around:
            for k in range(len(tree.links[index].axes)):
                turned = {i: moves[i] for i in around} | {index: _moving(tree, q, index, k, along)}
                for row, x in zip(block, _opening(tree, turned, closure), strict=True):
                    row[tree.links[index].v + k] = along.tangent(x)
        rows += block
    places = {link.q: link.v for link in tree.links}  # coupled joints have one coordinate
    for f in tree.follows:
        row = [0.0] * tree.nv
        row[places[f.joint]], row[places[f.leader]] = 1.0, -f.multiplier
        rows.append(row)
    units = ([float(j == k) for j in range(tree.nv)] for k in range(tree.nv)) if tree.held.names else ()
    held = [along.tangents(tree.held.values(tree, moved_along(tree, q, unit, along))) for unit in units]
    return rows + [[column[k] for column in held] for k in range(len(tree.held.names))]


def _moving(tree: Tree, q: Sequence[S], index: int, k: int, along: Direction) -> Move:
    """The pose of link `index` in its parent, as dual numbers: the tangent is its motion at unit velocity k."""
    link, row = tree.links[index], ELEMENTARY[tree.links[index].kind]
    here = q[link.q : link.q + row.nq]
    rates = row.rate(here, [float(j == k) for j in range(row.nv)])
    return link.move([*[0.0] * link.q, *along.all_moved(here, rates)])


def closure_rows(closure: Closure) -> int:
    """The number of constraint rows of a closure, a joint that closes a loop."""
    return sum(CLOSURE_ROWS[condition] for condition in closure.conditions)


def constraint_bias(tree: Tree, q: Sequence[S], v: Sequence[S]) -> list[S]:
    """gamma(q, v) = -(dJ/dt) v, shape (nc,): the value of J a with which the constraints stay satisfied."""
    along = Direction()
    return [-x for x in along.tangents(constraint_rate(tree, moved_along(tree, q, v, along), v))]


def openings(tree: Tree, q: Sequence[float]) -> list[tuple[float, float]]:
    """How far each closure (a joint that closes a loop) is open: (distance [m], angle [rad]), in plain numbers.

    A quantity that the joint does not constrain is 0. The angle is the full angle: for antiparallel axes it is pi,
    although the rows of phi are zero there.
    """
    moves = tree.moves(q)
    found = []
    for closure in tree.closures:
        T = _seen_from(tree, moves, closure.parent, closure.child)
        length, angle = 0.0, 0.0
        for condition in closure.conditions:
            size = math.hypot(*CONDITIONS[condition](T, closure))
            if condition in LENGTHS:
                length = math.hypot(length, size)
            else:
                sine = condition in HALF_TURNED
                angle = math.hypot(angle, math.atan2(size, HALF_TURNED[condition](T)) if sine else size)
        found.append((length, angle))
    return found


# conditions whose rows are sines of an angle, which is zero at half a turn too: the cosine of that angle
HALF_TURNED: dict[str, Callable[[Pose], float]] = {
    "parallel": lambda T: T.R[2][2],
    "orientation": lambda T: 0.5 * (T.R[0][0] + T.R[1][1] + T.R[2][2] - 1.0),
}


def _seen_from(tree: Tree, moves: Sequence[Move] | Mapping[int, Move], a: Attachment, b: Attachment) -> Pose:
    """The pose T_AB of attachment b seen from attachment a, along the path between them.

    Links that carry both do not enter.
    """
    above_a, above_b = ways_apart(tree, a.link, b.link)
    T_A, T_B = a.pose, b.pose
    for index in above_a:
        T_A = compose(pose_of_move(moves[index]), T_A)
    for index in above_b:
        T_B = compose(pose_of_move(moves[index]), T_B)
    return compose(inverse(T_A), T_B)


def ways_apart(tree: Tree, a: int, b: int) -> tuple[list[int], list[int]]:
    """The indices of the links from each of two links up to the nearest link that carries both, which is left out."""
    above_a, above_b = _path(tree, a), _path(tree, b)
    while above_a and above_b and above_a[-1] == above_b[-1]:
        above_a.pop()
        above_b.pop()
    return above_a, above_b


def _path(tree: Tree, index: int) -> list[int]:
    """The indices of a link and of all links that carry it, the root last."""
    path = []
    while index != WORLD:
        path.append(index)
        index = tree.links[index].parent
    return path


def constraint_sizes(tree: Tree, q: Sequence[S]) -> list[S]:
    """The size of each row, shape (nc,) [m or rad]: how far a turn by 1 rad could open it at most.

    It is the length of the loop for a row in meters, and 1 for a row in radians.
    """
    moves = tree.moves(q)
    sizes: list[S] = []
    for closure in tree.closures:
        above_a, above_b = ways_apart(tree, closure.parent.link, closure.child.link)
        origins = [closure.parent.pose.p, closure.child.pose.p]
        origins += [pose_of_move(moves[index]).p for index in (*above_a, *above_b)]
        around: S = absolute(closure.pitch)
        for length in (x for p in origins for x in p if not is_zero(x)):
            around = plus(around, absolute(length))
        for condition in closure.conditions:
            sizes += [around if condition in LENGTHS else 1.0] * CLOSURE_ROWS[condition]
    return sizes + [1.0] * (len(tree.follows) + len(tree.held.names))


def constraint_weights(
    tree: Tree, J: Sequence[Sequence[S]], sizes: Sequence[S], off: S = 0.0, least: float = REPEATED
) -> list[S]:
    """The weights of the rows of J (nc, nv), shape (nc,): 1 for a constraint, 0 for a row that is only rounding errors.

    A planar loop that is tilted in space has rows that would be zero if numbers were exact. A turn [rad/s] changes a
    row by no more than its size, a slide [m/s] by 1. A row whose entries are far below these bounds is not a
    constraint: below the share of `constrained.least_share`, which depends on `least` and on the opening `off`.
    """
    slides = sliding_velocities(tree)
    turns = [place for place in range(tree.nv) if place not in slides]
    dust = least_share(off, least**2)
    weights: list[S] = []
    held = len(J) - len(tree.held.names)
    for row, size in zip(J[: held - len(tree.follows)], sizes, strict=False):
        turned, slid = (_square([row[k] for k in columns]) for columns in (turns, slides))
        said = less(dust * size * size, turned)
        weights.append(said if is_zero(slid) else maximum(said, less(dust, slid)))
    return weights + [1.0] * len(tree.follows) + [less(0.0, _square(row)) for row in J[held:]]


def sliding_velocities(tree: Tree) -> frozenset[int]:
    """The indices in v of the velocities in m/s, whose axes do not rotate anything."""
    axes = ((link.v + k, axis) for link in tree.links for k, axis in enumerate(link.axes))
    return frozenset(place for place, axis in axes if not any(component >= 3 for component, _ in axis))


def velocity_reaches(tree: Tree, sizes: Sequence[S]) -> list[S]:
    """Factors that make velocities comparable, shape (nv,): 1 for a rotation, the length of the longest loop for a
    slide. `sizes` (nc,) are the sizes of the rows, see `constraint_sizes`.
    """
    parts = [part for closure in tree.closures for part in closure.conditions for _ in range(CLOSURE_ROWS[part])]
    longest: S = 0.0
    for part, size in zip(parts, sizes, strict=False):
        longest = maximum(longest, size) if part in LENGTHS else longest
    slides = sliding_velocities(tree)
    return [longest if place in slides and not is_zero(longest) else 1.0 for place in range(tree.nv)]


def rows_of(tree: Tree, q: Sequence[S], v: Sequence[S]) -> ConstraintRows:
    """The constraint rows on accelerations with which all loops stay closed and coupled joints stay coupled."""
    J, sizes = constraint_jacobian(tree, q), constraint_sizes(tree, q)
    off = opening(constraint_error(tree, q), sizes)
    return ConstraintRows(J, constraint_bias(tree, q, v), constraint_weights(tree, J, sizes, off), off)


def opening(phi: Sequence[S], sizes: Sequence[S]) -> S:
    """The opening (see `constrained.ConstraintRows`): the sum of squares of phi (nc,), each relative to the size of its
    row.
    """
    return _square([div(x, size) for x, size in zip(phi, sizes, strict=True) if not is_zero(x)])


def _square(x: Sequence[S]) -> S:
    return dot(x, x)
