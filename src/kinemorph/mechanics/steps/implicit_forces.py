"""Stiff forces at the end of a step, inside the articulated-body algorithm.

One step of size h from (q, v):  v+ = v + h a,  q+ = q moved by h v+.  The accelerations a are those beyond the free
flight of joints (see `free_flight`), so that v+ is in axes that do not move with the step. A stiff force is linearized
near the end of the step and taken there. A point of a link has, seen in the link's axes, the velocity u and at a = 0
the acceleration c; J a is the acceleration that the joint accelerations add to it:

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
from functools import cached_property, partial
from typing import Any, NamedTuple

from kinemorph.algebra.inertia_blocks import Blocks, joined_blocks, times_blocks
from kinemorph.algebra.rows import has_rows
from kinemorph.algebra.scalar import S, is_zero, minus, plus, times
from kinemorph.algebra.turns import Sym3, Vec3
from kinemorph.algebra.vectors import add, cross, dot, scale, sub
from kinemorph.mechanics.recursions.articulated_bodies import Responses, given_responses, responses
from kinemorph.mechanics.recursions.newton_euler import (
    Wrench,
    added,
    carried,
    inertial_wrench,
    negative,
    outward,
    project,
)
from kinemorph.mechanics.steps.gates import line_gate
from kinemorph.mechanics.steps.pair_forces import (
    PairForce,
    PairState,
    couples,
    pair_inertia,
    pair_slope,
    pair_wrenches,
    relative,
    soft_row,
    soft_rows,
    spans,
    times_symmetric,
)
from kinemorph.mechanics.steps.point_motions import (
    FreeMotions,
    coordinates,
    free_motions,
    origin_velocities,
    point_velocities,
)
from kinemorph.mechanics.steps.point_states import (
    JointForce,
    JointState,
    PointForce,
    PointLaw,
    PointState,
    Sight,
)
from kinemorph.mechanics.steps.step_accounts import (
    Account,
    Line,
    LinkMotion,
    PointAccount,
    joint_account,
    link_power,
    pair_account,
    summed_lines,
)
from kinemorph.mechanics.trees.motions import ZERO3, Move
from kinemorph.mechanics.trees.tree import Tree, over_limbs

Accounts = tuple[list[PointAccount], list[Account], list[Account]]


class Ends(NamedTuple):
    """The result of a step: accelerations (nv,), and the forces at its end, in the order of the laws.

    `accounts` (see `step_accounts`) are those of the forces at points, along joints and between pairs. `power_at` gives
    the mean power [W] of the forces at the points with these numbers, with fewer operations than their accounts.
    """

    a: list[S]
    points: list[Vec3]  # [N], in the axes of their links
    joints: list[S]  # [N m or N]
    pairs: list[Vec3]  # [N or N m], on the first link of each pair, in world axes
    accounts: Accounts
    power_at: Callable[[Collection[int]], S]


@dataclass(frozen=True, eq=False)
class Under:
    """The mass matrix and a solver, which replace the articulated-body algorithm in steps with constraints, or with
    forces between two links that both move.

    a = solve(M, rest, soft) satisfies the constraints, with  (M + sum j^T j) a = rest + J^T lambda,  the sum over soft
    rows j (nv,).
    """

    masses: Sequence[Sequence[S]]  # M(q), (nv, nv)
    solve: Callable[[Sequence[Sequence[S]], Sequence[S], Sequence[Sequence[S]]], Sequence[S]]


class Slopes(NamedTuple):
    """The Jacobians of points, in the axes of their links, and of pairs, in world axes, by columns.

    Each maps an index in v to the (relative) velocity at unit velocity; zero columns are left out. For a force that
    stands for many points it is the twist of their link.
    """

    points: list[dict[int, tuple[S, ...]]]
    pairs: list[dict[int, Vec3]]


def implicit_accelerations(
    tree: Tree,
    q: Sequence[S],
    v: Sequence[S],
    tau: Sequence[S],
    h: S,
    points: Sequence[PointForce] = (),
    joints: Sequence[JointForce] = (),
    pairs: Sequence[PairForce] = (),
    *,
    passes: int = 1,
    guess: Sequence[S] | None = None,
    flying: Sequence[S] | None = None,
    wrenches: Mapping[int, Wrench] | None = None,
    locked: Collection[int] = (),
    centered: bool = False,
    under: Under | None = None,
) -> Ends:
    """The accelerations (nv,) over a step of size h [s], under `tau`, `wrenches` and force laws at the end of the step.

    (M + sum J^T D J + pivots) a = tau - bias + sum J^T (f + D J a_before) + joint forces, with the values of the last
    pass. They are those beyond the accelerations `flying` (nv,), by default 0, at which the bias is taken. `guess` are
    accelerations (nv,) from which the first pass starts, by default 0. Where the step is `centered`,
    q is that of its middle, and v still that of its start. `under` is needed for constraints on the accelerations, and
    for pairs whose links both move.
    """
    moves = tree.moves(q)
    resting = [0.0] * tree.nv if flying is None else flying
    flows = outward(tree, moves, v, resting)
    loads = [inertial_wrench(link, flow) for link, flow in zip(tree.links, flows, strict=True)]
    tau = list(tau)
    for link in tree.links:
        for j, armature in zip(link.velocities, link.armature, strict=True):
            tau[j] = minus(tau[j], times(armature, resting[j]))
    for index, (force, moment) in (wrenches or {}).items():
        loads[index] = added(loads[index], (negative(force), negative(moment)))
    sight = Sight(tree, moves)
    origins = origin_velocities(tree, moves, flows, v, {force.link for force in points})
    free = free_motions(tree, sight, flows, v, h, origins, points, pairs)
    twists = {link: (origin, flows[link].w) for link, origin in origins.items()}
    laws = _Laws(q, v, h, points, joints, pairs, sight, free, twists, coordinates(tree), centered)
    slopes = None if under is None else _slopes(tree, sight, points, pairs)

    before = None if guess is None else given_responses(tree, moves, guess)
    ends = laws.ends(before, None)
    answer = _answer(tree, moves, tau, loads, laws, ends, locked, under, slopes)
    for _ in range(passes - 1):  # from the accelerations of the last pass
        ends = laws.ends(answer, ends.joints)
        answer = _answer(tree, moves, tau, loads, laws, ends, locked, under, slopes)
    forces = (
        [sub(one.f, times_symmetric(one.D, _reach(at, answer))) for at, one in zip(points, ends.points, strict=True)],
        [f - pivot * joint.sum_of(answer.a) for joint, (f, pivot) in zip(joints, ends.joints, strict=True)],
        [sub(f, times_symmetric(D, laws.pair_reach(at, answer))) for at, (f, D) in zip(pairs, ends.pairs, strict=True)],
    )
    motions = {link: LinkMotion(twist, answer.links[link], h) for link, twist in twists.items()}
    accounts = laws.accounts(answer, motions, ends, *forces)
    return Ends(answer.a, *forces, accounts, partial(_power_at, laws, ends, motions, forces[0]))


def present_forces(
    tree: Tree, q: Sequence[S], v: Sequence[S], points: Sequence[PointForce], joints: Sequence[JointForce]
) -> tuple[list[S], dict[int, Wrench], list[PointState]]:
    """(tau, wrenches on links, states of the points) that force laws give at (q, v) itself, for explicit methods."""
    moves = tree.moves(q)
    flows, sight = outward(tree, moves, v, [0.0] * tree.nv), Sight(tree, moves)
    velocities = point_velocities(tree, moves, flows, v, points)
    wrenches: dict[int, Wrench] = {}
    states = []
    for (link, point, law), velocity in zip(points, velocities, strict=True):
        states.append(PointState(link, point, velocity, 0.0, sight))
        f = law.force(states[-1])
        wrenches[link] = added(wrenches.get(link, (ZERO3, ZERO3)), (f, cross(point, f)))
    tau: list[S] = [0.0] * tree.nv
    places = coordinates(tree)
    for joint in joints:
        f_j = joint.law.force(JointState(joint.place(q, places), joint.sum_of(v)))
        for j, arm in joint.factors.items():
            tau[j] = plus(tau[j], times(arm, f_j))
    return tau, wrenches, states


# ── laws at the end of the step ───────────────────────────────────────────────────────────────────────────────────────


class _Tangents(NamedTuple):
    """The results of all laws in one pass: (f + D J a, D) for points and pairs, (force + pivot a, pivot) for joints.

    D and pivot are the inertias that a force at the end of the step adds; `a` are accelerations of the pass before.
    """

    points: list[Line]
    joints: list[tuple[S, S]]
    pairs: list[tuple[Vec3, Sym3]]


@dataclass(frozen=True, eq=False)
class _Laws:
    """All force laws, with the numbers that every pass needs."""

    q: Sequence[S]
    v: Sequence[S]
    h: S
    points: Sequence[PointForce]
    joints: Sequence[JointForce]
    pairs: Sequence[PairForce]
    sight: Sight
    free: FreeMotions
    twists: Mapping[int, tuple[Vec3, Vec3]]  # of links at the start: velocity of the origin and angular velocity
    coordinates: Mapping[int, int]
    centered: bool

    @cached_property
    def left(self) -> S:
        """The time [s] for which positions still move: h / 2 if the step is centered, else h."""
        return 0.5 * self.h if self.centered else self.h

    @property
    def share(self) -> float:
        """The factor from slopes over the time `left` to slopes over a whole step: h / left."""
        return 2.0 if self.centered else 1.0

    def ends(self, before: Responses | None, known: Sequence[tuple[S, S]] | None) -> _Tangents:
        """The forces of all laws and the inertias that they add, for the next pass; see `_Tangents`.

        `before` has the accelerations of the pass before, `known` the results along joints in that pass.
        """
        return _Tangents(self.at_points(before), self.at_joints(before, known), self.at_pairs(before))

    def at_points(self, before: Responses | None) -> list[Line]:
        """(f + D J a, D) for each point, with its gate, where `a` are the accelerations of the pass before."""
        felt = []
        for force, free in zip(self.points, self.free.points, strict=True):
            reach = ZERO3 if before is None else _reach(force, before)
            velocity = add(free, scale(self.h, reach))
            late = PointState(force.link, force.point, velocity, self.left, self.sight)
            more = None if before is None else before.links[force.link]
            near = line_gate(force, late, self.free.field(force.link), more, self.twists[force.link], self.h)
            felt.append(Line(*self._line(force.law, late, free, reach), near))
        return felt

    def _line(self, law: PointLaw, late: PointState, free: Vec3, reach: Vec3) -> tuple[Vec3, Sym3]:
        """(f + D J a, D): the force on the line of a law, where joint accelerations add nothing to the velocity."""
        if hasattr(law, "line"):
            f, D = law.line(late, free, self.left)
            return f, _scaled(self.share, D)
        f, D = law.linear(late, self.left)
        D = _scaled(self.share, D)
        return add(f, times_symmetric(D, reach)), D

    def at_pairs(self, before: Responses | None) -> list[tuple[Vec3, Sym3]]:
        """(f + D J a, D) for each pair, where `a` are the accelerations of the pass before."""
        felt = []
        for pair, (_, free) in zip(self.pairs, self.free.pairs, strict=True):
            reach = ZERO3 if before is None else self.pair_reach(pair, before)
            f, D = pair.law.linear(PairState(add(free, scale(self.h, reach)), self.left), self.left)
            D = _scaled(self.share, D)
            felt.append((add(f, times_symmetric(D, reach)), D))
        return felt

    def accounts(
        self,
        answer: Responses,
        motions: Mapping[int, LinkMotion],
        ends: _Tangents,
        points: Sequence[Vec3],
        joints: Sequence[S],
        pairs: Sequence[Vec3],
    ) -> Accounts:
        """The accounts (see `step_accounts`) of forces in the last pass, at points, along joints and between pairs."""
        found: Accounts = ([], [], [])
        for force, line, f in zip(self.points, ends.points, points, strict=True):
            field = self.free.field(force.link)
            found[0].append(PointAccount(force, self.sight, self.left, field, motions[force.link], f, line.gate))
        for joint, push in zip(self.joints, joints, strict=True):
            start = joint.sum_of(self.v)
            late = plus(start, times(self.h, joint.sum_of(answer.a)))
            place = joint.place(self.q, self.coordinates)
            left = 0.0 if self.centered and joint.law.affine else self.left  # such a force is that of the middle
            found[1].append(joint_account(joint, left, place, start, late, push))
        for pair, (first, free), f in zip(self.pairs, self.free.pairs, pairs, strict=True):
            more = scale(self.h, self.pair_reach(pair, answer))
            mean = add(first, scale(0.5, more))
            found[2].append(pair_account(pair, self.left, first, add(free, more), mean, f))
        return found

    def pair_reach(self, pair: PairForce, answer: Responses) -> Vec3:
        """J a for a pair: the part of its relative acceleration that is due to joint accelerations."""
        return relative(pair, self.sight, dict(enumerate(answer.links)))

    def at_joints(self, before: Responses | None, known: Sequence[tuple[S, S]] | None) -> list[tuple[S, S]]:
        """(force + pivot a, pivot) for each joint, where `a` are the accelerations of the pass before.

        For an affine law they do not depend on `a`, and the `known` values of an earlier pass are used.
        """
        held = []
        for number, joint in enumerate(self.joints):
            law, speed = joint.law, joint.sum_of(self.v)
            if known is not None and law.affine:
                held.append(known[number])
                continue
            start = joint.place(self.q, self.coordinates)
            if law.affine and self.centered:
                held.append(law.linear(JointState(start, speed), self.left))
                continue
            a = 0.0 if before is None or law.affine else joint.sum_of(before.a)
            rate = plus(speed, times(self.h, a))
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
    laws: _Laws,
    ends: _Tangents,
    locked: Collection[int],
    under: Under | None,
    slopes: Slopes | None,
) -> Responses:
    """The accelerations of one pass.

    `ends` has the forces of all laws at the end of the step, with the inertias that they add: matrices D at points and
    pairs, one number (pivot) along a joint; see this file's docstring.
    """
    loads, tau = list(loads), list(tau)
    lines = {
        link: summed_lines([laws.points[k] for k in numbers], [ends.points[k] for k in numbers])
        for link, numbers in _by_link(laws.points).items()
    }
    for link, ((force, moment), _) in lines.items():
        loads[link] = added(loads[link], (negative(force), negative(moment)))
    for pair, (f, _) in zip(laws.pairs, ends.pairs, strict=True):
        for link, (force, moment) in pair_wrenches(pair, laws.sight, f):
            loads[link] = added(loads[link], (negative(force), negative(moment)))
    pivots: dict[int, S] = {}
    soft: list[list[S]] = []
    for joint, (f, pivot) in zip(laws.joints, ends.joints, strict=True):
        for j, arm in joint.factors.items():
            tau[j] = plus(tau[j], times(arm, f))
        if spans(joint):
            soft.append(soft_row(tree.nv, joint.factors, pivot))
        else:
            pivots[j] = plus(pivots.get(j, 0.0), times(arm * arm, pivot))
    if under is None:
        inertias = {link: inertia for link, (_, inertia) in lines.items()}
        return responses(tree, moves, tau, loads, _with_pairs(inertias, laws, ends), pivots, locked)
    assert slopes is not None
    through = carried(tree, moves, loads, None)
    rest = list(tau)
    M = [list(row) for row in under.masses]
    for link_, load in zip(tree.links, through, strict=True):
        for k, axis in enumerate(link_.axes):
            rest[link_.v + k] = minus(rest[link_.v + k], project(axis, load))
    for j, pivot in pivots.items():
        M[j][j] = plus(M[j][j], pivot)
    for force_, slope, line in zip(laws.points, slopes.points, ends.points, strict=True):
        if _is_many(force_):
            _, inertia = summed_lines([force_], [line])
            _add_inertia(tree, M, slope, partial(_times_inertia, inertia), force_.link)
        else:
            _add_inertia(tree, M, slope, partial(times_symmetric, line.D), force_.link)
    for pair, slope, (_, D) in zip(laws.pairs, slopes.pairs, ends.pairs, strict=True):
        if couples(pair):
            soft += soft_rows(tree.nv, slope, D)
        else:
            _add_inertia(tree, M, slope, partial(times_symmetric, D), max(pair.links))
    return given_responses(tree, moves, under.solve(M, rest, soft))


def _with_pairs(inertias: Mapping[int, Blocks], laws: _Laws, ends: _Tangents) -> dict[int, Blocks]:
    """The inertias that forces at the end of a step add to links (the matrices D), by link: those given, of points, and
    those of pairs.
    """
    found = dict(inertias)
    for pair, (_, D) in zip(laws.pairs, ends.pairs, strict=True):
        link, blocks = pair_inertia(pair, laws.sight, D)
        found[link] = joined_blocks(found[link], blocks) if link in found else blocks
    return found


def _power_at(
    laws: _Laws,
    ends: _Tangents,
    motions: Mapping[int, LinkMotion],
    forces: Sequence[Vec3],
    numbers: Collection[int],
) -> S:
    """The mean power [W] over a step of the forces at the points with these numbers, link by link."""
    terms = []
    for link, own in _by_link(laws.points).items():
        wanted = [k for k in own if k in numbers]
        if wanted:
            lines, pushes = [ends.points[k] for k in wanted], [forces[k] for k in wanted]
            power = link_power([laws.points[k] for k in wanted], lines, pushes, motions[link])
            terms.append((laws.sight.tree.link_sums.get(link), power))
    return over_limbs(terms)


def _by_link(points: Sequence[PointForce]) -> dict[int, list[int]]:
    """The numbers of the points of each link."""
    found: dict[int, list[int]] = {}
    for number, force in enumerate(points):
        found.setdefault(force.link, []).append(number)
    return found


def _add_inertia(
    tree: Tree,
    M: list[list[S]],
    slope: Mapping[int, tuple[S, ...]],
    weigh: Callable[[Any], Sequence[S]],
    link: int,
) -> None:
    """Adds J^T D J to M (nv, nv); `slope` has the columns of the Jacobian J of a point, pair or link by index in v, and
    `weigh` multiplies such a column by D.

    The point is on `link`. If this is part of a limb that represents several, the sum over all of them is added.
    """
    total = tree.link_sums.get(link)
    heavy = {j: weigh(column) for j, column in slope.items()}
    for i, column in slope.items():
        for j, weighed in heavy.items():
            x = dot(column, weighed)
            if total is not None and i not in tree.velocity_sums and j not in tree.velocity_sums:
                x = total(x)
            M[i][j] = plus(M[i][j], x)


def _slopes(tree: Tree, sight: Sight, points: Sequence[PointForce], pairs: Sequence[PairForce]) -> Slopes:
    """The Jacobians of the points and pairs at which forces act."""
    units = [given_responses(tree, sight.moves, [float(k == j) for k in range(tree.nv)]) for j in range(tree.nv)]
    found = []
    for force in points:
        columns: dict[int, tuple[S, ...]] = {j: _reach(force, unit) for j, unit in enumerate(units)}
        if _is_many(force):
            columns = {j: tuple(x for part in unit.links[force.link] for x in part) for j, unit in enumerate(units)}
        found.append({j: column for j, column in columns.items() if not all(map(is_zero, column))})
    return Slopes(found, [pair_slope(pair, sight, units) for pair in pairs])


def _is_many(force: PointForce) -> bool:
    """Whether a force stands for those at many points of its link; see `algebra.rows`."""
    return any(map(has_rows, force.point))


def _times_inertia(inertia: Blocks, column: tuple[S, ...]) -> list[S]:
    """The product of the inertia of a link and a column (6,) of its Jacobian."""
    x, y, z, *turning = column
    force, moment = times_blocks(inertia, (x, y, z), (turning[0], turning[1], turning[2]))
    return [*force, *moment]


def _reach(force: PointForce, answer: Responses) -> Vec3:
    """J a at a point: the part of its acceleration that is due to joint accelerations."""
    linear, angular = answer.links[force.link]
    return add(linear, cross(angular, force.point))


def _scaled(factor: float, D: Sym3) -> Sym3:
    xx, xy, xz, yy, yz, zz = (times(factor, entry) for entry in D)
    return (xx, xy, xz, yy, yz, zz)
