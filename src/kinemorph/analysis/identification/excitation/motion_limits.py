"""The limits that an exciting motion keeps: from the model where it has them, from arguments, or assumed and told."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.errors import UnsupportedError
from kinemorph.model.configuration import UNBOUNDED
from kinemorph.model.joint import Joint
from kinemorph.model.robot import Robot
from kinemorph.words import counted, did_you_mean, listed, quoted

# what is assumed where neither the model nor an argument gives a limit, for [rad] and for [m]
REACH = {"rad": math.pi, "m": 0.5}
FAST = {"rad": math.pi, "m": 0.5}  # per second
GAINING = 5.0  # [1/s]: accelerations up to this number times the limit of the velocity

Limit = float | Sequence[float] | Mapping[str, float]
Range = Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class MotionLimits:
    """Limits of the joints that move, each of shape (joints,) and infinite where there is none.

    `lower`, `upper` are in [rad or m], `velocity` and `acceleration` in [rad or m per s or s^2], `effort` in [N m or
    N]. `assumed` says in sentences what neither the model nor an argument gave.
    """

    joints: tuple[str, ...]
    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    effort: Array
    assumed: tuple[str, ...]


class LimitUse(NamedTuple):
    """How far a motion goes towards a limit: a line of `Excitation.limits`.

    `quantity`  "position", "velocity", "acceleration", "torque" or "distance"
    `least`, `most`     the extreme values of the motion
    `lower`, `upper`    the limits, -inf or inf where there is none
    `share`             how much of the limits is used: 1 where a limit is reached
    """

    name: str
    quantity: str
    least: float
    most: float
    lower: float
    upper: float
    share: float


def motion_limits(
    robot: Robot,
    joints: Sequence[Joint],
    *,
    position: Range | None,
    velocity: Limit | None,
    acceleration: Limit | None,
    effort: Limit | None,
    share: float,
) -> MotionLimits:
    """The limits of joints with one axis, times `share`; the ranges of positions shrink to their middles."""
    names = tuple(joint.name for joint in joints)
    units = [joint.motion.q_units[0] for joint in joints]
    lower = np.array([joint.lower[0] for joint in joints], dtype=float)
    upper = np.array([joint.upper[0] for joint in joints], dtype=float)
    for name, (low, high) in (position or {}).items():
        place = _place(names, name, "position", robot)
        if not -math.inf < low < high < math.inf:
            raise UnsupportedError(
                f"excite: position of '{name}' is {low:g} to {high:g}; expected a lower and a larger upper limit."
            )
        lower[place], upper[place] = low, high
    assumed: list[str] = []
    missing = (lower < -UNBOUNDED) | (upper > UNBOUNDED)
    reach = np.array([REACH[unit] for unit in units])
    middle = np.where(lower >= -UNBOUNDED, lower + reach, np.where(upper <= UNBOUNDED, upper - reach, 0.0))
    lower = np.where(missing, np.maximum(lower, middle - reach), lower)
    upper = np.where(missing, np.minimum(upper, middle + reach), upper)
    _told(assumed, names, missing, units, "position", f"pi rad or {REACH['m']:g} m to either side")
    fast = one_each(robot, names, velocity, [joint.velocity[0] for joint in joints], "velocity")
    missing = np.array(~np.isfinite(fast))
    fast = np.where(missing, [FAST[unit] for unit in units], fast)
    _told(assumed, names, missing, units, "velocity", f"pi rad/s or {FAST['m']:g} m/s")
    gaining = one_each(robot, names, acceleration, [math.inf] * len(names), "acceleration")
    missing = np.array(~np.isfinite(gaining))
    gaining = np.where(missing, GAINING * fast, gaining)
    _told(assumed, names, missing, units, "acceleration", f"{GAINING:g} times the limit of the velocity per second")
    strong = one_each(robot, names, effort, [joint.effort[0] for joint in joints], "effort")
    _told(assumed, names, np.array(~np.isfinite(strong)), units, "torque", "no limit")
    return tightened(MotionLimits(names, lower, upper, fast, gaining, strong, tuple(assumed)), share)


def tightened(limits: MotionLimits, share: float) -> MotionLimits:
    """Limits times `share`; the ranges of positions shrink towards their middles."""
    half, middle = 0.5 * share * (limits.upper - limits.lower), 0.5 * (limits.upper + limits.lower)
    fast, gaining, strong = (share * one for one in (limits.velocity, limits.acceleration, limits.effort))
    return replace(limits, lower=middle - half, upper=middle + half, velocity=fast, acceleration=gaining, effort=strong)


def _told(
    assumed: list[str], names: Sequence[str], missing: Array | Any, units: Sequence[str], what: str, instead: str
) -> None:
    """Adds a sentence about the joints without a limit, if there are any."""
    without = [name for name, lacks in zip(names, missing, strict=True) if lacks]
    if without:
        several = "all joints" if len(without) == len(names) > 1 else f"{listed(without, 8)}"
        assumed.append(f"No limit of the {what} is given for {several}; assumed: {instead}.")


def one_each(robot: Robot, names: Sequence[str], given: Limit | None, own: Sequence[float], what: str) -> Array:
    """One number for each joint: those of the model, replaced by those that are given."""
    found = np.array(own, dtype=float)
    if isinstance(given, Mapping):
        for name, value in given.items():
            found[_place(names, name, what, robot)] = value
    elif given is not None:
        values = np.atleast_1d(np.asarray(given, dtype=float))
        if values.shape not in ((1,), (len(names),)):
            raise UnsupportedError(
                f"excite: {what} has {counted(values.size, 'number')}; expected 1, or {len(names)}, one for each joint "
                f"that moves, or a dict from names to numbers."
            )
        found[:] = values
    found[found > UNBOUNDED] = math.inf
    if not (found > 0.0).all():
        k = int(np.argmin(np.where(np.isnan(found), -math.inf, found)))
        raise UnsupportedError(f"excite: {what} of '{names[k]}' is {found[k]:g}; expected a number above 0.")
    return found


def _place(names: Sequence[str], name: str, what: str, robot: Robot) -> int:
    """The index of a joint that moves; raises UnsupportedError for other names."""
    if name not in names:
        raise UnsupportedError(
            f"excite: {what} names '{name}', which is not a joint of '{robot.name}' that moves."
            f"{did_you_mean(name, names)} Joints that move: {quoted(names)}."
        )
    return list(names).index(name)
