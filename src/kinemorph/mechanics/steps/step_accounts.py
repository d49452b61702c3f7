"""The power of the forces of an implicit step, for the energy balance of a run.

A force f at the end of a step of size h adds f u h to the kinetic energy, with u the mean of the velocities of its
point at the start and at the end of the step. If the force comes from stored energy, that energy changes at the rate of
its derivative along u, taken at the end of the step. Its true change over the step differs from this by the error of
the step, so the energy balance of a run shows how much energy its steps lose or create.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from kinemorph.algebra.dual import Dual
from kinemorph.algebra.scalar import S, div, plus, times
from kinemorph.algebra.turns import Vec3
from kinemorph.algebra.vectors import add, dot, scale
from kinemorph.mechanics.recursions.kinematics import tangent_of
from kinemorph.mechanics.steps.pair_forces import PairForce, PairState
from kinemorph.mechanics.steps.point_states import LEVEL, JointForce, JointState, PointForce, PointState, Sight


class Account(NamedTuple):
    """The power [W] of a force over a step, in three terms."""

    power: S  # mean power on the robot
    at_start: S  # the power that the force would have at the start of the step
    storing: S  # the rate at which the force at the end of the step stores energy, along the mean velocity


def stored_energy(law: Any, state: Any) -> S:
    """The energy [J] that a law stores at a state: that of its method `stored`, or 0 where it has none."""
    stored: S = law.stored(state) if hasattr(law, "stored") else 0.0
    return stored


def point_account(force: PointForce, sight: Sight, h: S, start: Vec3, end: Vec3, f: Vec3) -> Account:
    """The account of a force f [N] at a point that has the velocities `start` and `end` [m/s] at the start and end of
    a step, all in link axes; h [s] is the time for which the point moves at the velocity `end`.
    """
    u = scale(0.5, add(start, end))
    now = PointState(force.link, force.point, start, 0.0, sight)
    x, y, z = (Dual(place, rate, level=LEVEL) for place, rate in zip(force.point, u, strict=True))
    late = PointState(force.link, (x, y, z), end, h, sight)
    return Account(dot(f, u), dot(force.law.force(now), start), _rate_of(force.law, late))


def pair_account(pair: PairForce, h: S, start: Vec3, end: Vec3, f: Vec3) -> Account:
    """The account of a force or moment f on the first point of a pair, whose relative velocities at the start and end
    of a step are `start` and `end`, in world axes; h as for `point_account`.
    """
    u = scale(0.5, add(start, end))
    x, y, z = (Dual(last, div(rate, h), level=LEVEL) for last, rate in zip(end, u, strict=True))
    at_start = dot(pair.law.force(PairState(start, 0.0)), start)
    return Account(dot(f, u), at_start, _rate_of(pair.law, PairState((x, y, z), h)))


def joint_account(joint: JointForce, h: S, place: S | None, start: S, end: S, push: S) -> Account:
    """The account of a force `push` [N m or N] along a joint with the velocities `start` and `end`; h as for
    `point_account`. `place` is its coordinate at the start of the step, None if it has none.
    """
    u = times(0.5, plus(start, end))
    moved = None if place is None else Dual(place + h * end, u, level=LEVEL)
    at_start = times(joint.law.force(JointState(place, start)), start)
    return Account(times(push, u), at_start, _rate_of(joint.law, JointState(moved, end)))


def _rate_of(law: Any, state: Any) -> S:
    """The rate [W] of the energy that a law stores, at a state whose position is a dual number with the velocity as
    tangent.
    """
    rate: S = tangent_of(stored_energy(law, state), LEVEL)
    return rate
