"""Joint coordinates as the values of sliders: roll, pitch and yaw where q has a quaternion.

A joint has the sliders of its primitive joints, one after the other. Orientations are Rz(yaw) Ry(pitch) Rx(roll).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.quaternions import direction_to_rotation, quat_normalize, rotation_to_quat
from kinemorph.algebra.rotations import rotation_to_rpy, rpy_to_rotation
from kinemorph.model.joint import Joint
from kinemorph.model.robot import Robot

Values = Sequence[float]


class Slider(NamedTuple):
    """One slider: its joint, and its name, such as "shoulder" or "base yaw"."""

    joint: str
    name: str


class _Row(NamedTuple):
    """The sliders of a primitive joint: their names, and functions from coordinates to slider values and back."""

    names: tuple[str, ...]
    shown: Callable[[Values], Values]
    taken: Callable[[Values], Values]


def _unchanged(values: Values) -> Values:
    return list(values)


def _attitude(q: Values) -> Values:
    return [float(x) for x in rotation_to_rpy(direction_to_rotation(q))]


def _from_attitude(values: Values) -> Values:
    return quat_normalize(rotation_to_quat(rpy_to_rotation(*(float(x) for x in values))))


_ANGLES = ("roll", "pitch", "yaw")
_ONE = _Row(("",), _unchanged, _unchanged)
_ROWS: dict[str, _Row] = {
    "revolute": _ONE,
    "helical": _ONE,
    "prismatic": _ONE,
    "planar": _Row(("x", "y", "theta"), _unchanged, _unchanged),
    "spherical": _Row(_ANGLES, _attitude, _from_attitude),
    "free": _Row(
        ("x", "y", "z", *_ANGLES),
        lambda q: [*q[:3], *_attitude(q[3:])],
        lambda values: [*values[:3], *_from_attitude(values[3:])],
    ),
}


def sliders_of(robot: Robot) -> list[Slider]:
    """The sliders of all joints of a robot, in the order of q."""
    found = []
    for joint in robot.joints:
        several = len(joint.table.primitives) > 1
        for step, suffix in zip(joint.table.primitives, joint.table.q_names, strict=False):
            for name in _ROWS[step.kind].names:
                word = name or (suffix if several else "")
                found.append(Slider(joint.name, f"{joint.name} {word}".strip()))
    return found


def slider_values(robot: Robot, q: Array) -> list[float]:
    """The values of all sliders [rad] or [m] in the configuration q (nq,)."""
    values: list[float] = []
    for joint in robot.joints:
        own = q[robot.q_slice(joint.name)].tolist()
        for step in joint.table.primitives:
            values += _ROWS[step.kind].shown(own[slice(*step.q)])
    return values


def coordinates_of(joint: Joint, values: Values) -> Array:
    """The coordinates of a joint, shape (joint.nq,), for the values of its sliders [rad] or [m]."""
    q: list[float] = []
    begin = 0
    for step in joint.table.primitives:
        row = _ROWS[step.kind]
        q += row.taken(values[begin : begin + len(row.names)])
        begin += len(row.names)
    return np.array(q, dtype=float)
