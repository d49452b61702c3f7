"""Closed loops and coupled joints as constraints on the open tree.

    phi(q) = 0,      J(q) v = d phi/dt,      J a = gamma(q, v) = -(dJ/dt) v

phi says how far every closure is open: one number per condition of the joint that closes the loop
(`joint.CLOSURE_ROWS`), then one per coupled joint. J and gamma are its first and second derivatives along the motion,
by dual numbers, so they are exact wherever the robot stands, closed or not. With the multipliers lambda

    M a + h = tau + J^T lambda,      J a = gamma

the accelerations follow from  (J M^-1 J^T) lambda = gamma - J M^-1 (tau - h).  The matrix is singular where constraints
repeat each other, as they do in every planar mechanism of hinges; least squares of least norm then shares their forces,
and the accelerations are the same whichever way they are shared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from kinemorph.algebra.dual import Dual
from kinemorph.algebra.groups import Pose, compose, inverse
from kinemorph.algebra.linear import least_squares, solve
from kinemorph.algebra.scalar import S, absolute, atan2, div, is_zero, less, maximum, plus, sqrt, times, where
from kinemorph.algebra.vectors import dot, matvec
from kinemorph.blocks import RANK_TOLERANCE
from kinemorph.mechanics.kinematics import configuration_rate, pose_of_move, tangent_of
from kinemorph.mechanics.motions import Move
from kinemorph.mechanics.tree import WORLD, Attachment, Closure, Tree
from kinemorph.model.joint import CLOSURE_ROWS
from kinemorph.model.robot import Robot

FIRST, SECOND = 1, 2  # levels of the two derivatives along the motion
DUST = RANK_TOLERANCE**0.5  # of what a row of J could be, see `constraint_weights`; in J M^-1 J^T it is squared
LENGTHS = frozenset({"point", "line", "height", "pitch"})  # conditions in meters


# ── conditions ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _angle(T: Pose, closure: Closure) -> list[S]:
    """The cosine between the first axis and the second, less that at rest."""
    return [matvec(T.R, closure.second)[2] - closure.second[2]]


def _orientation(T: Pose, closure: Closure) -> list[S]:
    """Half the skew part of R: the turn as a vector, where it is small."""
    R = T.R
    return [0.5 * (R[2][1] - R[1][2]), 0.5 * (R[0][2] - R[2][0]), 0.5 * (R[1][0] - R[0][1])]


def _pitch(T: Pose, closure: Closure) -> list[S]:
    return [T.p[2] - closure.pitch * atan2(T.R[1][0], T.R[0][0])]


# how far a closure is open, by condition: rows of the pose T of the child's side in the parent's side [m or rad]
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
    """Names of the rows of phi, (nc,): `closure.point.x`, or `closure.pitch` where a condition has one row only.

    Those of loops have the joint's name, the condition and the axis of the joint frame on the parent whose z is the
    joint's axis; a coupled joint's is `joint.coupling`.
    """
    return tuple(f"{owner}.{row}" for owner, rows in _named_rows(robot) for row in rows)


def constraint_owners(robot: Robot) -> tuple[str, ...]:
    """The joint that each row of phi belongs to, (nc,): one that closes a loop, or one that follows another."""
    return tuple(owner for owner, rows in _named_rows(robot) for _ in rows)


def _named_rows(robot: Robot) -> list[tuple[str, list[str]]]:
    """For each loop, then for each coupled joint: its name and those of its rows."""
    named = [(joint.name, [row for part in joint.table.closure for row in _rows_of(part)]) for joint in robot.loops]
    return named + [(coupling.joint, ["coupling"]) for coupling in robot.couplings]


def _rows_of(condition: str) -> list[str]:
    count = CLOSURE_ROWS[condition]
    return [condition] if count == 1 else [f"{condition}.{axis}" for axis in "xyz"[:count]]


def constraint_error(tree: Tree, q: Sequence[S]) -> list[S]:
    """phi(q), shape (nc,) [m or rad]: how far the closures are open and the coupled joints off."""
    moves = tree.moves(q)
    rows: list[S] = []
    for closure in tree.closures:
        T = _seen_from(tree, moves, closure.parent, closure.child)
        for condition in closure.conditions:
            rows += CONDITIONS[condition](T, closure)
    rows += [q[f.joint] - (f.multiplier * q[f.leader] + f.offset) for f in tree.follows]
    return rows


def constraint_rate(tree: Tree, q: Sequence[S], v: Sequence[S], level: int = FIRST) -> list[S]:
    """d phi/dt = J v, shape (nc,)."""
    moving = [
        x if is_zero(dx) else Dual(x, dx, level=level) for x, dx in zip(q, configuration_rate(tree, q, v), strict=True)
    ]
    return [tangent_of(x, level) for x in constraint_error(tree, moving)]


def constraint_jacobian(tree: Tree, q: Sequence[S]) -> list[list[S]]:
    """J(q), shape (nc, nv)."""
    columns = [constraint_rate(tree, q, [float(j == k) for j in range(tree.nv)]) for k in range(tree.nv)]
    return [list(row) for row in zip(*columns, strict=True)]


def constraint_bias(tree: Tree, q: Sequence[S], v: Sequence[S]) -> list[S]:
    """gamma(q, v) = -(dJ/dt) v, shape (nc,): what J a has to be for the constraints to hold on."""
    moving = [Dual(x, dx, level=FIRST) for x, dx in zip(q, configuration_rate(tree, q, v), strict=True)]
    return [-tangent_of(x, FIRST) for x in constraint_rate(tree, moving, v, SECOND)]


def _seen_from(tree: Tree, moves: Sequence[Move], a: Attachment, b: Attachment) -> Pose:
    """T_AB by the path between two attachments; what carries both does not enter."""
    above_a, above_b = _sides(tree, a, b)
    T_A, T_B = a.pose, b.pose
    for index in above_a:
        T_A = compose(pose_of_move(moves[index]), T_A)
    for index in above_b:
        T_B = compose(pose_of_move(moves[index]), T_B)
    return compose(inverse(T_A), T_B)


def _sides(tree: Tree, a: Attachment, b: Attachment) -> tuple[list[int], list[int]]:
    """The links between two attachments and what carries both."""
    above_a, above_b = _path(tree, a.link), _path(tree, b.link)
    while above_a and above_b and above_a[-1] == above_b[-1]:
        above_a.pop()
        above_b.pop()
    return above_a, above_b


def _path(tree: Tree, index: int) -> list[int]:
    """A link and all that carry it, up to the world."""
    path = []
    while index != WORLD:
        path.append(index)
        index = tree.links[index].parent
    return path


def constraint_weights(tree: Tree, q: Sequence[S], J: Sequence[Sequence[S]]) -> list[S]:
    """1 for each row of J (nc, nv) that says something, 0 for one that is rounding, shape (nc,).

    A planar loop that lies askew in space has rows that would be zero if numbers were exact. A turn [rad/s] moves a
    point by no more than the way round the loop [m], and turns by 1; a slide [m/s] moves it by 1. A row that is less
    than `DUST` of these all along is not a constraint.
    """
    moves = tree.moves(q)
    turning = [any(component >= 3 for component, _ in axis) for link in tree.links for axis in link.axes]
    places = [link.v + k for link in tree.links for k in range(len(link.axes))]
    turns = [place for place, turns in zip(places, turning, strict=True) if turns]
    slides = [place for place, turns in zip(places, turning, strict=True) if not turns]
    weights: list[S] = []
    for closure in tree.closures:
        above_a, above_b = _sides(tree, closure.parent, closure.child)
        origins = [closure.parent.pose.p, closure.child.pose.p]
        origins += [pose_of_move(moves[index]).p for index in (*above_a, *above_b)]
        around: S = absolute(closure.pitch)
        for length in (x for p in origins for x in p if not is_zero(x)):
            around = plus(around, absolute(length))
        for condition in closure.conditions:
            most = around if condition in LENGTHS else 1.0
            for row in J[len(weights) : len(weights) + CLOSURE_ROWS[condition]]:
                turned, slid = (_square([row[k] for k in columns]) for columns in (turns, slides))
                weights.append(maximum(less(DUST**2 * most * most, turned), less(DUST**2, slid)))
    return weights + [1.0] * len(tree.follows)


def _square(x: Sequence[S]) -> S:
    return dot(x, x)


# ── dynamics ──────────────────────────────────────────────────────────────────────────────────────────────────────────


class Constrained(NamedTuple):
    """Accelerations (nv,), multipliers (nc,) [N or N m] and the number of independent constraints."""

    a: list[S]
    multipliers: list[S]
    rank: S


def constrained_dynamics(
    M: Sequence[Sequence[S]], rest: Sequence[S], J: Sequence[Sequence[S]], gamma: Sequence[S], weights: Sequence[S]
) -> Constrained:
    """Solves  M a - J^T lambda = rest,  J a = gamma  for M (nv, nv), rest = tau - h (nv,), J (nc, nv), gamma (nc,).

    Rows are scaled to unit diagonal before the rank is judged, so meters and radians weigh alike. Rows that are zero
    (a hinge closes a planar loop in its plane only) are left out: by structure, or where their weight (nc,) is zero.
    """
    real = [i for i, row in enumerate(J) if not all(map(is_zero, row))]
    if len(real) < len(J):
        kept = ([rows[i] for i in real] for rows in (J, gamma, weights))
        a, shares, rank = constrained_dynamics(M, rest, *kept)
        multipliers: list[S] = [0.0] * len(J)
        for i, share in zip(real, shares, strict=True):
            multipliers[i] = share
        return Constrained(a, multipliers, rank)
    nv, nc = len(M), len(J)
    if not nc:
        return Constrained([row[0] for row in solve(M, [[x] for x in rest])], [], 0.0)
    solved = solve(M, [[rest[i], *(J[c][i] for c in range(nc))] for i in range(nv)])
    free = [row[0] for row in solved]
    Y = [row[1:] for row in solved]  # M^-1 J^T
    A = [[dot(J[i], [Y[r][j] for r in range(nv)]) for j in range(nc)] for i in range(nc)]
    scale = [where(weights[i], div(1.0, sqrt(A[i][i])), 0.0) for i in range(nc)]
    missing = [[times(scale[i], gamma[i] - dot(J[i], free))] for i in range(nc)]
    scaled = [[times(times(scale[i], A[i][j]), scale[j]) for j in range(nc)] for i in range(nc)]
    shared, rank = least_squares(scaled, missing)
    multipliers = [times(scale[i], shared[i][0]) for i in range(nc)]
    a = [plus(free[i], dot(Y[i], multipliers)) for i in range(nv)]
    return Constrained(a, multipliers, rank)
