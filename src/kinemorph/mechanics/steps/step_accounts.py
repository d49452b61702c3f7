"""What the forces of an implicit step do to the energy of a robot.

A force f at the end of a step moves its point at the mean u of the velocities at the start and at the end: f u h is
what the kinetic energy gains. The part of f that comes from stored energy is the slope of that energy at the end of the
step, along u. What the stored energy really gains over the step differs from this by the error of the step, and so the
energy balance of a run shows how far its steps lose or make energy of their own.
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
    """The account of a force over a step [W]."""

    power: S  # mean power on the robot
    at_start: S  # the power that the force would have at the start of the step
    storing: S  # the rate at which the force at the end of the step stores energy, along the mean velocity


def stored_energy(law: Any, state: Any) -> S:
    """The energy [J] that a law stores at a state: that of its method `stored`, or 0 where it has none."""
    stored: S = law.stored(state) if hasattr(law, "stored") else 0.0
    return stored


def point_account(force: PointForce, sight: Sight, h: S, start: Vec3, end: Vec3, f: Vec3) -> Account:
    """The account of a force f [N] at a point with these velocities [m/s], all in link axes; h [s] is the time for
    which its place still moves at the velocity `end`.
    """
    u = scale(0.5, add(start, end))
    now = PointState(force.link, force.point, start, 0.0, sight)
    x, y, z = (Dual(place, rate, level=LEVEL) for place, rate in zip(force.point, u, strict=True))
    late = PointState(force.link, (x, y, z), end, h, sight)
    return Account(dot(f, u), dot(force.law.force(now), start), _rate_of(force.law, late))


def pair_account(pair: PairForce, h: S, start: Vec3, end: Vec3, f: Vec3) -> Account:
    """The account of a force or moment f on the first of a pair with these relative velocities, in world axes."""
    u = scale(0.5, add(start, end))
    x, y, z = (Dual(last, div(rate, h), level=LEVEL) for last, rate in zip(end, u, strict=True))
    at_start = dot(pair.law.force(PairState(start, 0.0)), start)
    return Account(dot(f, u), at_start, _rate_of(pair.law, PairState((x, y, z), h)))


def joint_account(joint: JointForce, h: S, place: S | None, start: S, end: S, push: S) -> Account:
    """The account of a force `push` [N m or N] along a joint at the coordinate `place` with these velocities."""
    u = times(0.5, plus(start, end))
    moved = None if place is None else Dual(place + h * end, u, level=LEVEL)
    at_start = times(joint.law.force(JointState(place, start)), start)
    return Account(times(push, u), at_start, _rate_of(joint.law, JointState(moved, end)))


def _rate_of(law: Any, state: Any) -> S:
    """The rate of the stored energy at a state whose place is a dual number."""
    rate: S = tangent_of(stored_energy(law, state), LEVEL)
    return rate
