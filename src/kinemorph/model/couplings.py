"""Coupled (mimic) joints: the first leader of each chain of followers, and its range with the limits of all followers.

A coupled joint may follow a joint that itself follows another. Each follower is an affine function of the first leader
of its chain, which follows no other joint: q = multiplier * lead + offset. So the limits of the follower also limit the
leader:

    lower <= multiplier * lead + offset <= upper

All numbers are computed at the nominal values of the parameters.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.scalar import div
from kinemorph.errors import Problem
from kinemorph.model.parameter import evaluate
from kinemorph.model.robot import Coupling, Robot

ROUNDING = 1e-9  # relative to the limits, at least 1 rad or 1 m: ranges with a smaller gap count as touching


class Follower(NamedTuple):
    """How a coupled joint follows the first leader of its chain: q = multiplier * q[leader] + offset."""

    leader: str
    multiplier: float
    offset: float


class Clash(NamedTuple):
    """A follower `joint` whose limits leave no value for its leader.

    `lower` and `upper` are the limits of the leader without those of this follower.
    """

    joint: str
    follower: Follower
    lower: float
    upper: float


def followers(couplings: Iterable[Coupling]) -> dict[str, Follower]:
    """For every coupled joint: the first leader of its chain, with the multiplier and offset of the whole chain."""
    direct = {c.joint: Follower(c.leader, float(evaluate(c.multiplier)), float(evaluate(c.offset))) for c in couplings}
    resolved: dict[str, Follower] = {}
    for joint in direct:
        chain = [joint]  # up to a leader that is resolved or follows no other joint
        while direct[chain[-1]].leader in direct and direct[chain[-1]].leader not in resolved:
            chain.append(direct[chain[-1]].leader)
        for name in reversed(chain):
            leader, multiplier, offset = direct[name]
            if leader in resolved:
                leader, further, shift = resolved[leader]
                multiplier, offset = multiplier * further, multiplier * shift + offset
            resolved[name] = Follower(leader, multiplier, offset)
    return {joint: resolved[joint] for joint in direct}


def coupled_limits(robot: Robot) -> tuple[Array, Array]:
    """Lower and upper limits of q, shape (nq,) each, [rad] or [m]; leaders are limited by their followers too.

    Followers have their own limits. The builder refuses limits that contradict each other; in a robot made without the
    builder, limits of a follower that would leave no value for the leader are ignored.
    """
    lower, upper, _ = _narrowed(robot)
    return lower, upper


def limit_problems(robot: Robot) -> list[Problem]:
    """One problem for every follower whose limits contradict those of its leader, for an otherwise valid robot."""
    found = []
    for joint, (leader, multiplier, offset), lower, upper in _narrowed(robot)[2]:
        mine = robot.joint(joint)
        what = (
            f"its limits are [{mine.lower[0]:.6g}, {mine.upper[0]:.6g}] and it follows {multiplier:.6g} * '{leader}' + "
            f"{offset:.6g}, but '{leader}' can only be in [{lower:.6g}, {upper:.6g}], expected ranges that overlap"
        )
        found.append(Problem("coupling", joint, what, "Widen the limits, or correct the multiplier or the offset."))
    return found


def _narrowed(robot: Robot) -> tuple[Array, Array, list[Clash]]:
    """Lower and upper limits of q, shape (nq,) each, with leaders limited by their followers; and contradictions."""
    lower, upper = robot.q_lower, robot.q_upper
    clashes = []
    for joint, follower in followers(robot.couplings).items():
        leader, multiplier, offset = follower
        mine, theirs = robot.q_slice(joint).start, robot.q_slice(leader).start
        low, high = float(lower[theirs]), float(upper[theirs])
        if multiplier == 0.0:  # the follower stands at its offset, whatever the leader does
            possible = _meet(lower[mine], offset) and _meet(offset, upper[mine])
        else:
            ends = sorted(float(div(bound - offset, multiplier)) for bound in (lower[mine], upper[mine]))
            possible = _meet(max(low, ends[0]), min(high, ends[1]))
            if possible:
                lower[theirs] = max(low, ends[0])
                upper[theirs] = max(lower[theirs], min(high, ends[1]))
        if not possible:
            clashes.append(Clash(joint, follower, low, high))
    return lower, upper, clashes


def _meet(low: float, high: float) -> bool:
    """Whether low <= high up to rounding."""
    return bool(low - high <= ROUNDING * max(1.0, min(abs(low), abs(high))))
