"""Stiff forces at the end of a step, inside the articulated-body algorithm.

One step of size h from (q, v):  v+ = v + h a,  q+ = q moved by h v+.  A force that is stiff is taken where the step
ends, on its tangent there. A point of a link has, seen in the link's axes, the velocity u and at zero joint acceleration
the acceleration c; J a is what the joint accelerations add to that:

    guess      u_p = u + h c (+ h J a of the pass before),  x_p = x + h u_p
    law        f = force(x_p, u_p),  D = -(h df/du + h^2 df/dx), symmetric and positive semi-definite
    force      f + D (J a of the pass before) - D J a

f is an outside wrench, D an inertia that the link has at this point and that weighs nothing, so the equations stay those
of the algorithm: O(n), no contact matrix. A joint's force does the same with a pivot for D. One pass is a linearly
implicit step; each further pass is one of Newton's on v+, with D in place of the slope. What passes have in common is
computed once.

Gravity is an upward acceleration of the world in the recursion: c is that of the point with the weight taken out again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

from kinemorph.algebra.dual import Dual
from kinemorph.algebra.inertia_blocks import Blocks, joined_blocks, shifted_blocks
from kinemorph.algebra.scalar import S, absolute, less, maximum, minimum, plus, sqrt, times, where
from kinemorph.algebra.turns import Sym3, Vec3
from kinemorph.algebra.vectors import add, cross, dot, neg, scale
from kinemorph.errors import ModelError
from kinemorph.mechanics.articulated_bodies import Responses, responses
from kinemorph.mechanics.kinematics import tangent_of
from kinemorph.mechanics.motions import ELEMENTARY, ZERO3, Move
from kinemorph.mechanics.newton_euler import (
    Flow,
    Wrench,
    added,
    carried_point,
    inertial_wrench,
    joint_twist,
    negative,
    outward,
)
from kinemorph.mechanics.tree import WORLD, Tree

LEVEL = 5  # of the dual numbers in this file
UNITS: tuple[Vec3, ...] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


# ── what laws see ─────────────────────────────────────────────────────────────────────────────────────────────────────


class Sight:
    """The world as links see it: its axes in theirs, and where their origins are. Made when somebody asks."""

    def __init__(self, tree: Tree, moves: Sequence[Move]) -> None:
        self.tree, self.moves = tree, moves
        self._rows: dict[tuple[int, int], tuple[Vec3, S]] = {(WORLD, k): (unit, 0.0) for k, unit in enumerate(UNITS)}

    def row(self, link: int, k: int) -> tuple[Vec3, S]:
        """The world's axis k in a link's axes, and the coordinate k [m] of the link's origin."""
        path = []
        while (link, k) not in self._rows:
            path.append(link)
            link = self.tree.links[link].parent
        axis, coordinate = self._rows[link, k]
        for one in reversed(path):
            move = self.moves[one]
            coordinate = coordinate + dot(axis, move.p)
            axis = move.into(axis)
            coordinate = coordinate + axis[2] * move.slide
            self._rows[one, k] = axis, coordinate
        return axis, coordinate

    def into(self, link: int, vector: Sequence[S]) -> Vec3:
        """A free vector, world to link."""
        seen: Vec3 = ZERO3
        for k, part in enumerate(vector):
            if not (part.__class__ is float and part == 0.0):
                seen = add(seen, scale(part, self.row(link, k)[0]))
        return seen


@dataclass(frozen=True, eq=False)
class PointState:
    """A point of a link as its law sees it: all vectors in the link's axes, places in the world's.

    `velocity` [m/s] is that at the end of the step, as far as it is known; the point is then at start + step velocity.
    """

    link: int
    point: Vec3  # in the link's frame [m]
    velocity: Vec3
    step: S  # [s]
    sight: Sight

    def into(self, vector: Sequence[S]) -> Vec3:
        """A free vector, world to link."""
        return self.sight.into(self.link, vector)

    def coordinate(self, k: int) -> S:
        """Where the point is along the world's axis k [m]."""
        axis, origin = self.sight.row(self.link, k)
        return origin + dot(axis, self.point) + self.step * dot(axis, self.velocity)

    def along(self, vector: Sequence[S]) -> S:
        """Where the point is along a vector of the world."""
        total: S = 0.0
        for k, part in enumerate(vector):
            if not (part.__class__ is float and part == 0.0):
                total = plus(total, times(part, self.coordinate(k)))
        return total

    @property
    def position(self) -> Vec3:
        """Where the point is [m]."""
        return (self.coordinate(0), self.coordinate(1), self.coordinate(2))


@dataclass(frozen=True)
class JointState:
    """A velocity of a joint and its coordinate, at the end of the step as far as that is known."""

    position: S | None  # none where a joint's coordinates are not the integrals of its velocities
    velocity: S


class PointLaw(Protocol):
    """A force on a point, in the axes of its link [N]."""

    def force(self, point: PointState) -> Vec3: ...

    def linear(self, point: PointState, h: S) -> tuple[Vec3, Sym3]:
        """(force, D); see `tangent` for what D is where nobody knows better."""
        ...


class JointLaw(Protocol):
    """A generalized force along one velocity of a joint [N m or N]."""

    @property
    def affine(self) -> bool:
        """Whether its slopes are the same everywhere, so that one pass says all."""
        ...

    def force(self, joint: JointState) -> S: ...

    def linear(self, joint: JointState, h: S) -> tuple[S, S]:
        """(force, pivot), the pivot h k_v + h^2 k_p not below 0."""
        ...


class PointForce(NamedTuple):
    """A law at a point of a link."""

    link: int
    point: Vec3  # in the link's frame [m]
    law: PointLaw


class JointForce(NamedTuple):
    """A law along a velocity, by its place in v."""

    velocity: int
    law: JointLaw


class Ends(NamedTuple):
    """What a step finds: accelerations (nv,), and the forces with which it ends, in the order of the laws."""

    a: list[S]
    points: list[Vec3]
    joints: list[S]


# ── the step ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def implicit_accelerations(
    tree: Tree,
    q: Sequence[S],
    v: Sequence[S],
    tau: Sequence[S],
    h: S,
    points: Sequence[PointForce] = (),
    joints: Sequence[JointForce] = (),
    *,
    passes: int = 1,
    wrenches: Mapping[int, Wrench] | None = None,
    locked: Collection[int] = (),
) -> Ends:
    """Accelerations over a step of size h [s], shape (nv,), under `tau`, `wrenches` and forces at the end of the step.

    (M + sum J^T D J + pivots) a = tau - bias + sum J^T (f + D J a_before) + joints' forces, all D, f of the last pass.
    """
    moves = tree.moves(q)
    flows = outward(tree, moves, v, [0.0] * tree.nv)
    loads = [inertial_wrench(link, flow) for link, flow in zip(tree.links, flows, strict=True)]
    for index, (force, moment) in (wrenches or {}).items():
        loads[index] = added(loads[index], (negative(force), negative(moment)))
    sight = Sight(tree, moves)
    starts = guesses(tree, sight, flows, v, h, points)
    coordinates = _coordinates(tree)

    felt: list[tuple[Vec3, Sym3]] = []
    held: list[tuple[S, S]] = []
    answer: Responses | None = None
    for _ in range(passes):
        reached = [_reach(force, answer) for force in points]
        felt = [
            _at_point(force, start, reach, sight, h) for force, start, reach in zip(points, starts, reached, strict=True)
        ]
        if answer is None:
            held = [_at_joint(joint, coordinates, q, v, h, 0.0) for joint in joints]
        else:
            held = [
                known if joint.law.affine else _at_joint(joint, coordinates, q, v, h, answer.a[joint.velocity])
                for joint, known in zip(joints, held, strict=True)
            ]
        answer = _answer(tree, moves, tau, loads, points, felt, joints, held, locked)
    assert answer is not None
    return Ends(
        answer.a,
        [
            _less(f, _times(D, _reach(force, answer)))
            for force, (f, D) in zip(points, felt, strict=True)
        ],
        [f - pivot * answer.a[joint.velocity] for joint, (f, pivot) in zip(joints, held, strict=True)],
    )


def guesses(
    tree: Tree, sight: Sight, flows: Sequence[Flow], v: Sequence[S], h: S, points: Sequence[PointForce]
) -> list[Vec3]:
    """The velocity of each point at the end of a step without joint acceleration, in its link's axes."""
    origins = origin_velocities(tree, sight.moves, flows, v, {force.link for force in points})
    found = []
    for link, point, _ in points:
        flow = flows[link]
        u = add(origins[link], cross(flow.w, point))
        c = add(carried_point(flow.a, flow.U, point), sight.into(link, tree.gravity))
        found.append(add(u, scale(h, c)))
    return found


def origin_velocities(
    tree: Tree, moves: Sequence[Move], flows: Sequence[Flow], v: Sequence[S], links: Collection[int]
) -> dict[int, Vec3]:
    """Velocities of the origins of links, in their own axes, for these links and those that carry them."""
    wanted: set[int] = set()
    for index in links:
        while index != WORLD and index not in wanted:
            wanted.add(index)
            index = tree.links[index].parent
    found: dict[int, Vec3] = {}
    for index in sorted(wanted):
        link, move = tree.links[index], moves[index]
        u, _ = joint_twist(link, v)
        if link.parent != WORLD:
            parent = flows[link.parent]
            x, y, z = move.into(add(found[link.parent], cross(parent.w, move.p)))
            wx, wy, _ = move.into(parent.w)
            u = add(u, (x + wy * move.slide, y - wx * move.slide, z))
        found[index] = u
    return found


def _at_point(force: PointForce, start: Vec3, reach: Vec3, sight: Sight, h: S) -> tuple[Vec3, Sym3]:
    """(f + D reach, D) at the end of the step as the last pass has left it, `reach` being its J a."""
    velocity = add(start, scale(h, reach))
    f, D = force.law.linear(PointState(force.link, force.point, velocity, h, sight), h)
    return add(f, _times(D, reach)), D


def _at_joint(
    joint: JointForce, coordinates: Mapping[int, int], q: Sequence[S], v: Sequence[S], h: S, a: S
) -> tuple[S, S]:
    """(force + pivot a, pivot), `a` being the acceleration of the last pass."""
    j = joint.velocity
    rate = v[j] + h * a
    place = q[coordinates[j]] + h * rate if j in coordinates else None
    f, pivot = joint.law.linear(JointState(place, rate), h)
    return f + pivot * a, pivot


def _answer(
    tree: Tree,
    moves: Sequence[Move],
    tau: Sequence[S],
    loads: Sequence[Wrench],
    points: Sequence[PointForce],
    felt: Sequence[tuple[Vec3, Sym3]],
    joints: Sequence[JointForce],
    held: Sequence[tuple[S, S]],
    locked: Collection[int],
) -> Responses:
    """One pass of the algorithm with these forces and slopes."""
    loads, tau = list(loads), list(tau)
    inertias: dict[int, Blocks] = {}
    for (link, point, _), (f, D) in zip(points, felt, strict=True):
        loads[link] = added(loads[link], (neg(f), neg(cross(point, f))))
        blocks = shifted_blocks((D, (0.0,) * 9, (0.0,) * 6), point)
        inertias[link] = joined_blocks(inertias[link], blocks) if link in inertias else blocks
    pivots: dict[int, S] = {}
    for (j, _), (f, pivot) in zip(joints, held, strict=True):
        tau[j] = tau[j] + f
        pivots[j] = plus(pivots.get(j, 0.0), pivot)
    return responses(tree, moves, tau, loads, inertias, pivots, locked)


def _reach(force: PointForce, answer: Responses | None) -> Vec3:
    """J a at a point: what the joint accelerations add to its acceleration; nothing before the first pass."""
    if answer is None:
        return ZERO3
    linear, angular = answer.links[force.link]
    return add(linear, cross(angular, force.point))


def _coordinates(tree: Tree) -> dict[int, int]:
    """The coordinate of each velocity that has one: those of joints with one axis."""
    return {link.v: link.q for link in tree.links if (row := ELEMENTARY[link.kind]).nq == row.nv == 1}


def _times(D: Sym3, x: Vec3) -> Vec3:
    xx, xy, xz, yy, yz, zz = D
    return (dot((xx, xy, xz), x), dot((xy, yy, yz), x), dot((xz, yz, zz), x))


def _less(a: Vec3, b: Vec3) -> Vec3:
    return add(a, neg(b))


# ── slopes where nobody knows better ──────────────────────────────────────────────────────────────────────────────────


def tangent(force: Callable[[PointState], Vec3], point: PointState, h: S) -> tuple[Vec3, Sym3]:
    """(force, D) of any law by dual numbers; the symmetric part of the slope, kept positive semi-definite.

    A diagonal entry below 0 counts as 0, and one beside the diagonal is at most half the mean of its two (which alone is
    enough). A law that knows its own slope gives a better one: contact has its friction by the secant.
    """
    f, rows = force(point), []
    for unit in UNITS:
        moving = tuple(Dual(u, one, level=LEVEL) for u, one in zip(point.velocity, unit, strict=True))
        rows.append([times(-h, tangent_of(entry, LEVEL)) for entry in force(replace(point, velocity=moving))])
    d = [maximum(rows[k][k], 0.0) for k in range(3)]
    xy, xz, yz = (_bounded(0.5 * plus(rows[i][j], rows[j][i]), d[i], d[j]) for i, j in ((0, 1), (0, 2), (1, 2)))
    return f, (d[0], xy, xz, d[1], yz, d[2])


def joint_tangent(force: Callable[[JointState], S], joint: JointState, h: S) -> tuple[S, S]:
    """(force, pivot) of any law by dual numbers; a slope that drives counts as 0."""
    rate = Dual(joint.velocity, 1.0, level=LEVEL)
    place = None if joint.position is None else Dual(joint.position, h, level=LEVEL)
    return force(joint), maximum(times(-h, tangent_of(force(JointState(place, rate)), LEVEL)), 0.0)


def _bounded(x: S, one: S, other: S) -> S:
    """x, at most half the geometric mean of two numbers that are not below 0."""
    product = one * other
    there = less(0.0, product)
    most = where(there, 0.5 * sqrt(where(there, product, 1.0)), 0.0)
    return where(less(absolute(x), most), x, minimum(maximum(x, -most), most))


def coordinate_of(joint: JointState, name: str) -> S:
    """The coordinate that a law of positions needs. Raises ModelError where the joint has none of its own."""
    if joint.position is None:
        raise ModelError(
            f"force '{name}': the joint's velocities have no coordinates of their own (it is no joint of one axis); "
            "expected a revolute, prismatic or helical joint. Use a law of velocities alone, or such a joint."
        )
    return joint.position
