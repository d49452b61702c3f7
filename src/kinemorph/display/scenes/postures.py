"""The configuration in which a robot without a run is shown: what is asked for, what its system starts with, or one
that shows it well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.display.looks.stances import stance
from kinemorph.errors import ShapeError
from kinemorph.model.robot import Robot
from kinemorph.words import did_you_mean


def posture(robot: Robot, q: Any = None, start: Any = None) -> Array:
    """The configuration (nq,) that `q` gives, all of it in order or some of it by name; without it, that of `start`."""
    usual = np.array(start, dtype=float) if start else stance(robot)
    if q is None:
        return usual
    values = _named(robot, q, usual) if isinstance(q, Mapping) else _numbers(q)
    if values.shape != (robot.nq,):
        raise ShapeError(f"q has shape {values.shape}, expected ({robot.nq},) for robot '{robot.name}'.")
    for joint in robot.joints:
        own = values[robot.q_slice(joint.name)]
        if not all(own[first : first + 4].any() for first in joint.table.quaternions):
            raise ShapeError(f"q: the quaternion of '{joint.name}' is zero; expected a rotation, as (1, 0, 0, 0).")
    return values


def _named(robot: Robot, q: Mapping[Any, Any], usual: Array) -> Array:
    """`usual`, with what is given by the names of coordinates."""
    values = usual.copy()
    for name, value in q.items():
        if name not in robot.q_names:
            raise ShapeError(
                f"q: robot '{robot.name}' has no coordinate '{name}'; expected one of: "
                f"{', '.join(robot.q_names[:12])}.{did_you_mean(str(name), robot.q_names)}"
            )
        number = _numbers(value)
        if number.shape:
            raise ShapeError(f"q: coordinate '{name}' has shape {number.shape}, expected one number.")
        values[robot.q_names.index(name)] = number
    return values


def _numbers(q: Any) -> Array:
    try:
        return np.asarray(q, dtype=float)
    except (TypeError, ValueError):
        raise ShapeError(f"q is {str(q)[:60]!r}; expected numbers, in order or by name.") from None
