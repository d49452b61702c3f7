"""The power of the forces of an implicit step, for the energy balance of a run.

A force f at the end of a step of size h acts through the Jacobian J of its point, and the joints move at their mean
velocity v + h a / 2: with u = J (v + h a / 2), it adds f u h to the kinetic energy. The forces at points of one link
are added up first: their power is that of their sum at the mean twist of the link.

If the force comes from stored energy, that energy changes at the rate of its derivative along u, taken at the end of
the step. Its true change over the step differs from this by the error of the step, so the energy balance of a run shows
how much energy its steps lose or create.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

from kinemorph.algebra.dual import Direction
from kinemorph.algebra.inertia_blocks import Blocks, joined_blocks, shifted_blocks, times_blocks
from kinemorph.algebra.rows import OPEN, Gate, has_rows, summed_rows
from kinemorph.algebra.scalar import S, div, plus, times
from kinemorph.algebra.turns import Mat3, Sym3, Vec3
from kinemorph.algebra.vectors import add, cross, dot, scale, sub
from kinemorph.frozen import dataclass
from kinemorph.mechanics.recursions.newton_euler import Wrench, added, carried_point
from kinemorph.mechanics.steps.gates import either, gate, grounded, late_motion
from kinemorph.mechanics.steps.pair_forces import PairForce, PairState
from kinemorph.mechanics.steps.point_states import JointForce, JointState, PointForce, PointState, Sight
from kinemorph.mechanics.trees.motions import ZERO_SYM

SEVERAL = 3  # from this number of points of a link on, the power of their sum takes fewer operations than that of each


class Account(NamedTuple):
    """The power [W] of a force over a step, in three terms; for a contact, how it presses at the end of the step."""

    power: S  # mean power on the robot
    at_start: S  # the power that the force would have at the start of the step
    storing: S  # the rate at which the force at the end of the step stores energy, along the mean velocity
    normal: S = 0.0  # [N], the normal force of a contact
    missing: S = 0.0  # [N], what this force lacks; see `pressing`


def pressing(law: Any, state: Any, f: Vec3, along: Direction) -> tuple[S, S]:
    """The normal force [N] of a contact with the force f [N] at the end of a step, and the force [N] that it lacks.

    Both are 0 for a law that is not that of a contact. The state may be moved `along` a direction, which is left out.

    A contact whose force is smaller than the mean force of its spring over the step stores more energy than it takes:
    it makes energy. Its force was linearized where bodies do not touch, or leave each other, and they met.
    """
    normal, missing = law.pressing(state, f) if hasattr(law, "pressing") else (0.0, 0.0)
    return along.value(normal), along.value(missing)


def stored_energy(law: Any, state: Any) -> S:
    """The energy [J] that a law stores at a state: that of its method `stored`, or 0 where it has none."""
    stored: S = law.stored(state) if hasattr(law, "stored") else 0.0
    return stored


class LinkMotion(NamedTuple):
    """The motion of a link over a step of size h [s], in its axes: its twist at the start, as the velocity of its
    origin [m/s] and its angular velocity [rad/s], and the acceleration that joint accelerations add to it.
    """

    twist: tuple[Vec3, Vec3]
    response: tuple[Vec3, Vec3]
    h: S

    @property
    def mean(self) -> tuple[Vec3, Vec3]:
        """The mean twist of the link over the step: that at its start, plus half of the change by the acceleration."""
        u, w = (add(old, scale(0.5 * self.h, more)) for old, more in zip(self.twist, self.response, strict=True))
        return (u[0], u[1], u[2]), (w[0], w[1], w[2])


@dataclass(frozen=True, eq=False)
class LatePoint(PointState):
    """A point at the end of a step. Its coordinates are dual numbers, with their rates at the mean velocity; points of
    one link share most operations of both.
    """

    free: Vec3  # velocity at the end of the step without joint accelerations [m/s]
    motion: LinkMotion
    course: Direction

    def coordinate(self, k: int) -> S:
        """The coordinate of the point along the world's axis k [m], with its rate [m/s]."""
        axis, origin = self.sight.row(self.link, k)
        start, more = (plus(dot(axis, u), dot(self.point, cross(axis, w))) for u, w in self.motion[:2])
        end = plus(dot(axis, self.free), times(self.motion.h, more))
        place = plus(plus(origin, dot(axis, self.point)), times(self.step, end))
        return self.course.moved(place, plus(start, times(0.5 * self.motion.h, more)))


@dataclass(frozen=True, eq=False)
class PointAccount:
    """The Account of a force at one or many points of a link, in its axes. Its terms are computed on demand."""

    force: PointForce
    sight: Sight
    left: S  # [s], the time for which the place still moves at the velocity of the end of the step
    free: tuple[Vec3, Mat3]  # (u, U): this velocity u + U p [m/s] of the place p where joints do not accelerate
    motion: LinkMotion
    f: Vec3  # [N], over the step
    gate: Gate  # where f may differ from 0

    @cached_property
    def power(self) -> S:
        (found,) = summed_rows(self.force.point, [dot(self.f, self._velocity(self.motion.mean))], self.gate)
        return found

    @cached_property
    def at_start(self) -> S:
        start = self._velocity(self.motion.twist)
        now = PointState(self.force.link, self.force.point, start, 0.0, self.sight)
        (found,) = summed_rows(self.force.point, [dot(self.force.law.force(now), start)])
        return found

    @property
    def storing(self) -> S:
        return self._at_end[0]

    @property
    def normal(self) -> S:
        return self._at_end[1]

    @property
    def missing(self) -> S:
        return self._at_end[2]

    @cached_property
    def _at_end(self) -> list[S]:
        """The terms `storing`, `normal` and `missing`, which have most of their operations in common."""
        force, along = self.force, Direction()
        free = carried_point(*self.free, force.point)
        x, y, z = add(free, scale(self.motion.h, self._velocity(self.motion.response)))
        late = LatePoint(force.link, force.point, (x, y, z), self.left, self.sight, free, self.motion, along)
        terms = [along.tangent(stored_energy(force.law, late)), *pressing(force.law, late, self.f, along)]
        return summed_rows(force.point, terms, self._gate_at_end(late))

    def _gate_at_end(self, late: LatePoint) -> Gate:
        """Where the terms at the end of the step may differ from 0; `late` is the state of the point there."""
        if not grounded(self.force):
            return OPEN
        law: Any = self.force.law
        end = late_motion(self.free, self.motion.response, self.motion.h, self.left)
        return either(self.gate, gate(self.force, self.sight, late.course.value(law.depth(late)), [end]))

    def _velocity(self, twist: tuple[Vec3, Vec3]) -> Vec3:
        x, y, z = add(twist[0], cross(twist[1], self.force.point))
        return x, y, z


class Line(NamedTuple):
    """The force [N] at a point over a step, f - D J a, and the gate outside of which f and D are 0."""

    f: Vec3
    D: Sym3
    gate: Gate


def link_power(points: Sequence[PointForce], lines: Sequence[Line], forces: Sequence[Vec3], motion: LinkMotion) -> S:
    """The mean power [W] of forces at points of one link: `forces` [N], or f - D J a from the `lines` (f, D)."""
    if len(points) < SEVERAL and not any(has_rows(x) for one in points for x in one.point):
        u, w = motion.mean
        return sum((dot(f, add(u, cross(w, one.point))) for one, f in zip(points, forces, strict=True)), 0.0)
    given, inertia = summed_lines(points, lines)
    taken = times_blocks(inertia, *motion.response)
    return sum((dot(sub(*two), rate) for *two, rate in zip(given, taken, motion.mean, strict=True)), 0.0)


def summed_lines(points: Sequence[PointForce], lines: Sequence[Line]) -> tuple[Wrench, Blocks]:
    """The `lines` (f, D) of points of one link: the wrench of the forces f [N] about its origin and in its axes, and
    the matrices D as an inertia of that link.
    """
    first, *rest = (_line_of_link(one.point, *line) for one, line in zip(points, lines, strict=True))
    for other in rest:
        first = added(first[0], other[0]), joined_blocks(first[1], other[1])
    return first


def _line_of_link(place: Vec3, f: Vec3, D: Sym3, gate: Gate) -> tuple[Wrench, Blocks]:
    """A force f at a place of a link as a wrench, and D there as an inertia of the link; see `summed_lines`.

    Where `place` stands for many points, both are sums over all of them.
    """
    A, B, J = shifted_blocks((D, (0.0,) * 9, ZERO_SYM), place)
    x = summed_rows(place, (*f, *cross(place, f), *A, *B, *J), gate)
    wrench = (x[0], x[1], x[2]), (x[3], x[4], x[5])
    return wrench, (_six(x[6:12]), _nine(x[12:21]), _six(x[21:27]))


def _six(x: Sequence[S]) -> Sym3:
    return (x[0], x[1], x[2], x[3], x[4], x[5])


def _nine(x: Sequence[S]) -> Mat3:
    return (x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8])


def pair_account(pair: PairForce, h: S, start: Vec3, end: Vec3, u: Vec3, f: Vec3) -> Account:
    """The account of a force or moment f on the first of a pair with these relative velocities: at the start, at the
    end and in the mean, all in world axes.
    """
    along = Direction()
    x, y, z = (along.moved(last, div(rate, h)) for last, rate in zip(end, u, strict=True))
    at_start = dot(pair.law.force(PairState(start, 0.0)), start)
    storing = along.tangent(stored_energy(pair.law, PairState((x, y, z), h)))
    return Account(dot(f, u), at_start, storing, *pressing(pair.law, PairState(end, h), f, along))


def joint_account(joint: JointForce, h: S, place: S | None, start: S, end: S, push: S) -> Account:
    """The account (power [W] over a step) of a force `push` [N m or N] along a joint.

    `start` and `end` are the joint's velocities at the start and end of the step, `place` is its coordinate at the
    start (None if it has none), h [s] the time for which it moves at the velocity `end`.
    """
    u = times(0.5, plus(start, end))
    along = Direction()
    moved = None if place is None else along.moved(place + h * end, u)
    at_start = times(joint.law.force(JointState(place, start)), start)
    return Account(times(push, u), at_start, along.tangent(stored_energy(joint.law, JointState(moved, end))))
