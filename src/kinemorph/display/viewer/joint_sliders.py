"""Joint coordinates as slider values: degrees and meters, and roll, pitch and yaw where q has a quaternion.

A knob is the description of one slider. A joint has the knobs of its primitive joints, one after the other.
Orientations are Rz(yaw) Ry(pitch) Rx(roll).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.quaternions import direction_to_rotation, quat_normalize, rotation_to_quat
from kinemorph.algebra.rotations import rotation_to_rpy, rpy_to_rotation
from kinemorph.model.couplings import coupled_limits, followers
from kinemorph.model.joint import Joint
from kinemorph.model.robot import Robot

DEGREE, METER = "deg", "m"
FINEST = {DEGREE: 0.1, METER: 0.001}  # largest step of a slider
UNBOUNDED = 1e6  # a limit beyond this counts as no limit [rad] or [m]
TURN = 180.0  # range of an angle without limits, in each direction [deg]


class Knob(NamedTuple):
    """One slider of a joint: its label, unit, range and step; `follows` says whether the joint follows another."""

    joint: str
    label: str
    unit: str
    lower: float
    upper: float
    step: float
    follows: bool


class _Row(NamedTuple):
    """The knobs of a primitive joint: names, units, and functions from coordinates to slider values and back."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    shown: Callable[[Sequence[float]], Sequence[float]]
    taken: Callable[[Sequence[float]], Sequence[float]]


def _angle(q: Sequence[float]) -> Sequence[float]:
    return [float(np.degrees(q[0]))]


def _from_angle(values: Sequence[float]) -> Sequence[float]:
    return [float(np.radians(values[0]))]


def _attitude(q: Sequence[float]) -> Sequence[float]:
    return [float(x) for x in np.degrees(rotation_to_rpy(direction_to_rotation(q)))]


def _from_attitude(values: Sequence[float]) -> Sequence[float]:
    return quat_normalize(rotation_to_quat(rpy_to_rotation(*(float(x) for x in np.radians(values)))))


_ANGLES = ("roll", "pitch", "yaw")
_ROWS: dict[str, _Row] = {
    "revolute": _Row(("",), (DEGREE,), _angle, _from_angle),
    "helical": _Row(("",), (DEGREE,), _angle, _from_angle),
    "prismatic": _Row(("",), (METER,), lambda q: [q[0]], lambda values: [values[0]]),
    "planar": _Row(
        ("x", "y", "theta"),
        (METER, METER, DEGREE),
        lambda q: [q[0], q[1], *_angle(q[2:])],
        lambda values: [values[0], values[1], *_from_angle(values[2:])],
    ),
    "spherical": _Row(_ANGLES, (DEGREE,) * 3, _attitude, _from_attitude),
    "free": _Row(
        ("x", "y", "z", *_ANGLES),
        (METER,) * 3 + (DEGREE,) * 3,
        lambda q: [*q[:3], *_attitude(q[3:])],
        lambda values: [*values[:3], *_from_attitude(values[3:])],
    ),
}


def knobs_of(robot: Robot, q: Array, size: float) -> list[Knob]:
    """The knobs of all joints of a robot, in the order of q.

    Their ranges are the joint limits, widened to contain the configuration q (nq,). `size` [m] is the range of a
    translation without limits, in each direction.
    """
    lower, upper = coupled_limits(robot)
    coupled = followers(robot.couplings)
    found: list[Knob] = []
    for joint in robot.joints:
        at = robot.q_slice(joint.name)
        for number, (name, unit, value) in enumerate(_described(joint, q[at])):
            limits = _limits(joint, lower[at], upper[at], number, unit)
            low, high = _range(limits, unit, size, value)
            step = _step(unit, high - low)
            low, high = _even(low, value, step, up=True), _even(high, value, step, up=False)
            found.append(Knob(joint.name, name, unit, low, high, step, joint.name in coupled))
    return found


def knob_values(robot: Robot, q: Array) -> list[float]:
    """The slider values of all knobs [deg] or [m] in the configuration q (nq,)."""
    return [value for joint in robot.joints for _, _, value in _described(joint, q[robot.q_slice(joint.name)])]


def coordinates_of(joint: Joint, values: Sequence[float]) -> Array:
    """The coordinates of a joint, shape (joint.nq,), for the slider values of its knobs [deg] or [m]."""
    q: list[float] = []
    begin = 0
    for step in joint.table.primitives:
        row = _ROWS[step.kind]
        q += row.taken(values[begin : begin + len(row.names)])
        begin += len(row.names)
    return np.array(q, dtype=float)


def _described(joint: Joint, q: Array) -> list[tuple[str, str, float]]:
    """(label, unit, value) of each knob of a joint with coordinates q (joint.nq,)."""
    found = []
    several = len(joint.table.primitives) > 1
    for step, suffix in zip(joint.table.primitives, joint.table.q_names, strict=False):
        row = _ROWS[step.kind]
        for name, unit, value in zip(row.names, row.units, row.shown(q[slice(*step.q)].tolist()), strict=True):
            word = name or (suffix if several else "")
            found.append((f"{joint.name} {word}".strip(), unit, value))
    return found


def _limits(joint: Joint, lower: Array, upper: Array, number: int, unit: str) -> tuple[float, float]:
    """The limits of knob `number` of a joint in its unit; infinite for the angles of a quaternion."""
    if joint.table.quaternions and unit == DEGREE:
        return -np.inf, np.inf
    scale = float(np.degrees(1.0)) if unit == DEGREE else 1.0
    ends = (x if abs(x) < UNBOUNDED else np.copysign(np.inf, x) for x in (lower[number], upper[number]))
    low, high = (float(x) * scale for x in ends)
    return low, high


def _step(unit: str, width: float) -> float:
    """The step of a slider whose range has a width in its unit: at least 200 steps, and none larger than FINEST."""
    return float(min(FINEST[unit], 10.0 ** np.floor(np.log10(max(width, 1e-9) / 200.0))))


def _even(end: float, value: float, step: float, *, up: bool) -> float:
    """An end of a slider's range rounded inward to a multiple of its step, but so that the range contains the value.

    `up` for the lower end, which is rounded up.
    """
    inward, outward = (np.ceil, np.floor) if up else (np.floor, np.ceil)
    count = inward(round(end / step, 6))
    if (count * step > value) if up else (count * step < value):
        count = outward(round(value / step, 6))
    digits = max(0, -int(np.floor(np.log10(step) + 1e-9)))
    return round(float(count * step), digits)


def _range(limits: tuple[float, float], unit: str, size: float, value: float) -> tuple[float, float]:
    reach = TURN if unit == DEGREE else size
    low, high = limits
    low = low if np.isfinite(low) else min(-reach, high - reach if np.isfinite(high) else -reach)
    high = high if np.isfinite(high) else max(reach, low + reach)
    return min(low, value), max(high, value)
