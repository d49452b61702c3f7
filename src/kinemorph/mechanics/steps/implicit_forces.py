"""Stiff forces at the end of a step, inside the articulated-body algorithm.

One step of size h from (q, v):  v+ = v + h a,  q+ = q moved by h v+.  A stiff force is linearized near the end of the
step and taken there. A point of a link has, seen in the link's axes, the velocity u and at zero joint acceleration the
acceleration c; J a is the acceleration that the joint accelerations add to it:

    guess      u_p = u + h c (+ h J a of the pass before),  x_p = x + h u_p
    law        f = force(x_p, u_p),  D = -(h df/du + h^2 df/dx), symmetric and positive semi-definite
    force      f + D (J a of the pass before) - D J a

f acts as an external wrench, and D as an inertia without weight at this point of the link. So the equations stay those
of the algorithm: O(n), without a contact matrix. A joint's force is treated in the same manner, with a pivot in place
of D. For a robot with loops, D and the pivots are added to the mass matrix instead, and `a` satisfies the constraints.
One pass is a linearly implicit step; each further pass is a Newton step on v+, with D in place of the exact derivative.
Values that do not change between passes are computed once. The first pass may start from known accelerations, those of
the step before: where a foot rests they are a far better guess than zero, and cost a tenth of a pass.

A centered step is described from its middle: q is moved by h v / 2 before and by h v+ / 2 after. Positions then move on
for the time h / 2, so x_p = x + h u_p / 2 and D = -(h df/du + h^2/2 df/dx). Affine joint forces, as of springs and
gains, are then those at the middle, v + h a / 2 and q + h^2 a / 4: the implicit midpoint rule, with the pivot
-(h/2 df/dv + h^2/4 df/dq). It is stable for any gain, and adds no numerical damping.

Gravity is an upward acceleration of the world in the recursion, so it has to be removed from c.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from kinemorph.algebra.inertia_blocks import Blocks, joined_blocks, shifted_blocks
from kinemorph.algebra.scalar import S, is_zero, minus, plus, times
from kinemorph.algebra.turns import Sym3, Vec3
from kinemorph.algebra.vectors import add, cross, dot, neg, scale, sub
from kinemorph.mechanics.recursions.articulated_bodies import Responses, given_responses, responses
from kinemorph.mechanics.recursions.newton_euler import (
    Flow,
    Wrench,
    added,
    carried,
    carried_point,
    inertial_wrench,
    joint_twist,
    negative,
    outward,
    project,
)
from kinemorph.mechanics.steps.point_states import JointForce, JointState, PointForce, PointState, Sight
from kinemorph.mechanics.trees.motions import ELEMENTARY, ZERO3, ZERO_SYM, Move
from kinemorph.mechanics.trees.tree import WORLD, Tree


class Ends(NamedTuple):
    """The result of a step: accelerations (nv,), and the forces at its end, in the order of the laws."""

    a: list[S]
    points: list[Vec3]  # [N], in the axes of their links
    joints: list[S]  # [N m or N]


@dataclass(frozen=True, eq=False)
class Under:
    """Constraints on the accelerations of a step: a = solve(M, rest) satisfies them, with  M a = rest + J^T lambda."""

    masses: Sequence[Sequence[S]]  # M(q), (nv, nv)
    slopes: Mapping[tuple[int, Vec3], Mapping[int, Vec3]]  # Jacobians of points where forces act, see `point_slopes`
    solve: Callable[[Sequence[Sequence[S]], Sequence[S]], Sequence[S]]


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
    guess: Sequence[S] | None = None,
    wrenches: Mapping[int, Wrench] | None = None,
    locked: Collection[int] = (),
    centered: bool = False,
    under: Under | None = None,
) -> Ends:
    """The accelerations (nv,) over a step of size h [s], under `tau`, `wrenches` and force laws at the end of the step.

    (M + sum J^T D J + pivots) a = tau - bias + sum J^T (f + D J a_before) + joint forces, with the values of the last
    pass. `guess` are accelerations (nv,) from which the first pass starts, by default 0. Where the step is `centered`,
    q is that of its middle, and v still that of its start. `under` are constraints on the accelerations.
    """
    moves = tree.moves(q)
    flows = outward(tree, moves, v, [0.0] * tree.nv)
    loads = [inertial_wrench(link, flow) for link, flow in zip(tree.links, flows, strict=True)]
    for index, (force, moment) in (wrenches or {}).items():
        loads[index] = added(loads[index], (negative(force), negative(moment)))
    sight = Sight(tree, moves)
    free = _free_velocities(tree, sight, flows, v, h, points)
    laws = _Laws(q, v, h, points, joints, sight, free, coordinates(tree), centered)

    before = None if guess is None else given_responses(tree, moves, guess)
    felt, held = laws.at_points(before), laws.at_joints(before, None)
    answer = _answer(tree, moves, tau, loads, points, felt, joints, held, locked, under)
    for _ in range(passes - 1):  # from the accelerations of the last pass
        felt, held = laws.at_points(answer), laws.at_joints(answer, held)
        answer = _answer(tree, moves, tau, loads, points, felt, joints, held, locked, under)
    return Ends(
        answer.a,
        [sub(f, _times(D, _reach(force, answer))) for force, (f, D) in zip(points, felt, strict=True)],
        [f - pivot * answer.a[joint.velocity] for joint, (f, pivot) in zip(joints, held, strict=True)],
    )


def present_forces(
    tree: Tree, q: Sequence[S], v: Sequence[S], points: Sequence[PointForce], joints: Sequence[JointForce]
) -> tuple[list[S], dict[int, Wrench], list[PointState]]:
    """(tau, wrenches on links, states of the points) that force laws give at (q, v) itself, for explicit methods."""
    moves = tree.moves(q)
    flows, sight = outward(tree, moves, v, [0.0] * tree.nv), Sight(tree, moves)
    velocities = _velocities(tree, moves, flows, v, points)
    wrenches: dict[int, Wrench] = {}
    states = []
    for (link, point, law), velocity in zip(points, velocities, strict=True):
        states.append(PointState(link, point, velocity, 0.0, sight))
        f = law.force(states[-1])
        wrenches[link] = added(wrenches.get(link, (ZERO3, ZERO3)), (f, cross(point, f)))
    tau: list[S] = [0.0] * tree.nv
    places = coordinates(tree)
    for j, law_j in joints:
        tau[j] = tau[j] + law_j.force(JointState(q[places[j]] if j in places else None, v[j]))
    return tau, wrenches, states


# ── laws at the end of the step ───────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, eq=False)
class _Laws:
    """All force laws, with the numbers that every pass needs."""

    q: Sequence[S]
    v: Sequence[S]
    h: S
    points: Sequence[PointForce]
    joints: Sequence[JointForce]
    sight: Sight
    free: Sequence[Vec3]  # velocity of each point at the end of a step without joint acceleration
    coordinates: Mapping[int, int]
    centered: bool

    @cached_property
    def left(self) -> S:
        """The time [s] for which positions still move: half a step where it is centered, else a whole step."""
        return 0.5 * self.h if self.centered else self.h

    @property
    def share(self) -> float:
        """The step size h divided by `left`."""
        return 2.0 if self.centered else 1.0

    def at_points(self, before: Responses | None) -> list[tuple[Vec3, Sym3]]:
        """(f + D J a, D) for each point, where `a` are the accelerations of the pass before (0 in the first pass)."""
        felt = []
        for force, start in zip(self.points, self.free, strict=True):
            reach = ZERO3 if before is None else _reach(force, before)
            velocity = add(start, scale(self.h, reach))
            f, D = force.law.linear(PointState(force.link, force.point, velocity, self.left, self.sight), self.left)
            D = _scaled(self.share, D)
            felt.append((add(f, _times(D, reach)), D))
        return felt

    def at_joints(self, before: Responses | None, known: Sequence[tuple[S, S]] | None) -> list[tuple[S, S]]:
        """(force + pivot a, pivot) for each joint, where `a` are the accelerations of the pass before.

        For an affine law they do not depend on `a`, and the `known` values of an earlier pass are used.
        """
        held = []
        for number, (j, law) in enumerate(self.joints):
            if known is not None and law.affine:
                held.append(known[number])
                continue
            start = self.q[self.coordinates[j]] if j in self.coordinates else None
            if law.affine and self.centered:
                held.append(law.linear(JointState(start, self.v[j]), self.left))
                continue
            a = 0.0 if before is None or law.affine else before.a[j]
            rate = plus(self.v[j], times(self.h, a))
            place = None if start is None else start + self.left * rate
            f, pivot = law.linear(JointState(place, rate), self.left)
            pivot = times(self.share, pivot)
            held.append((plus(f, times(pivot, a)), pivot))
        return held


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
    under: Under | None,
) -> Responses:
    """The accelerations of one pass; `felt` has forces and D of `points`, `held` has forces and pivots of `joints`."""
    loads, tau = list(loads), list(tau)
    for (link, point, _), (f, _) in zip(points, felt, strict=True):
        loads[link] = added(loads[link], (neg(f), neg(cross(point, f))))
    inertias: dict[int, Blocks] = {}
    for (link, point, _), (_, D) in zip(points, felt, strict=True):
        blocks = shifted_blocks((D, (0.0,) * 9, ZERO_SYM), point)
        inertias[link] = joined_blocks(inertias[link], blocks) if link in inertias else blocks
    pivots: dict[int, S] = {}
    for (j, _), (f, pivot) in zip(joints, held, strict=True):
        tau[j] = tau[j] + f
        pivots[j] = plus(pivots.get(j, 0.0), pivot)
    if under is None:
        return responses(tree, moves, tau, loads, inertias, pivots, locked)
    through = carried(tree, moves, loads, None)
    rest = list(tau)
    M = [list(row) for row in under.masses]
    for link_, load in zip(tree.links, through, strict=True):
        for k, axis in enumerate(link_.axes):
            rest[link_.v + k] = minus(rest[link_.v + k], project(axis, load))
    for j, pivot in pivots.items():
        M[j][j] = plus(M[j][j], pivot)
    for force, (_, D) in zip(points, felt, strict=True):
        _add_inertia(M, under.slopes[force.link, force.point], D)
    return given_responses(tree, moves, under.solve(M, rest))


def _add_inertia(M: list[list[S]], slope: Mapping[int, Vec3], D: Sym3) -> None:
    """Adds J^T D J to M (nv, nv); `slope` has the columns of the Jacobian J of a point by index in v."""
    heavy = {j: _times(D, column) for j, column in slope.items()}
    for i, column in slope.items():
        for j, weighed in heavy.items():
            M[i][j] = plus(M[i][j], dot(column, weighed))


def point_slopes(
    tree: Tree, moves: Sequence[Move], points: Sequence[PointForce]
) -> dict[tuple[int, Vec3], dict[int, Vec3]]:
    """The Jacobians of points by (link, point): index in v -> velocity of the point at unit velocity, in link axes.

    Velocities that do not move a point are left out.
    """
    found: dict[tuple[int, Vec3], dict[int, Vec3]] = {(force.link, force.point): {} for force in points}
    for j in range(tree.nv):
        unit = given_responses(tree, moves, [float(k == j) for k in range(tree.nv)])
        for force in points:
            reach = _reach(force, unit)
            if not all(map(is_zero, reach)):
                found[force.link, force.point][j] = reach
    return found


def _reach(force: PointForce, answer: Responses) -> Vec3:
    """J a at a point: the part of its acceleration that is due to joint accelerations."""
    linear, angular = answer.links[force.link]
    return add(linear, cross(angular, force.point))


def _scaled(factor: float, D: Sym3) -> Sym3:
    xx, xy, xz, yy, yz, zz = (times(factor, entry) for entry in D)
    return (xx, xy, xz, yy, yz, zz)


def _times(D: Sym3, x: Vec3) -> Vec3:
    xx, xy, xz, yy, yz, zz = D
    return (dot((xx, xy, xz), x), dot((xy, yy, yz), x), dot((xz, yz, zz), x))


# ── motion of the points ──────────────────────────────────────────────────────────────────────────────────────────────


def _free_velocities(
    tree: Tree, sight: Sight, flows: Sequence[Flow], v: Sequence[S], h: S, points: Sequence[PointForce]
) -> list[Vec3]:
    """The velocity of each point at the end of a step without joint acceleration, in its link's axes."""
    found = []
    velocities = _velocities(tree, sight.moves, flows, v, points)
    for (link, point, _), u in zip(points, velocities, strict=True):
        c = add(carried_point(flows[link].a, flows[link].U, point), sight.into(link, tree.gravity))
        found.append(add(u, scale(h, c)))
    return found


def _velocities(
    tree: Tree, moves: Sequence[Move], flows: Sequence[Flow], v: Sequence[S], points: Sequence[PointForce]
) -> list[Vec3]:
    """The velocity of each point, in its link's axes."""
    origins = _origin_velocities(tree, moves, flows, v, {force.link for force in points})
    return [add(origins[link], cross(flows[link].w, point)) for link, point, _ in points]


def _origin_velocities(
    tree: Tree, moves: Sequence[Move], flows: Sequence[Flow], v: Sequence[S], links: Collection[int]
) -> dict[int, Vec3]:
    """Velocities of the origins of these links and of the links that carry them, each in its own axes."""
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
            w = flows[link.parent].w
            x, y, z = move.into(add(found[link.parent], cross(w, move.p)))
            wx, wy, _ = move.into(w)
            u = add(u, (x + wy * move.slide, y - wx * move.slide, z))
        found[index] = u
    return found


def coordinates(tree: Tree) -> dict[int, int]:
    """Index in v -> index in q, for the velocities of joints with one axis, which are rates of coordinates."""
    return {link.v: link.q for link in tree.links if (row := ELEMENTARY[link.kind]).nq == row.nv == 1}
