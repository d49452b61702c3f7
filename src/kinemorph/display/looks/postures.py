"""The configuration in which a robot without a run is shown: the requested one, or a typical one."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.loops.named_coordinates import NamedCoordinates
from kinemorph.errors import ModelWarning, ShapeError, users_level
from kinemorph.mechanics.constraints.newton_closing import assembled
from kinemorph.mechanics.constraints.stances import stance
from kinemorph.model.robot import Robot
from kinemorph.words import quoted


def posture(robot: Robot, q: Any = None, start: Any = None) -> Array:
    """The configuration (nq,) that `q` gives, as numbers in order or as {coordinate name: value}.

    Coordinates that `q` does not name, and all of them where `q` is None, come from `start` (nq,), or from `stance`
    where there is no `start`.
    """
    usual = np.array(start, dtype=float) if start else stance(robot)
    if q is None:
        return usual
    values = NamedCoordinates(robot, usual).configuration(q)
    for joint in robot.joints:
        own = values[robot.q_slice(joint.name)]
        if not all(own[first : first + 4].any() for first in joint.table.quaternions):
            raise ShapeError(f"q: the quaternion of '{joint.name}' is zero; expected a rotation such as (1, 0, 0, 0).")
    return values


def closed_posture(robot: Robot, q: Any = None, start: Any = None) -> Array:
    """The configuration (nq,) that `q` gives, as `posture` does, with closed loops where `q` names some coordinates
    only.

    The other coordinates close the loops and follow coupled joints. A complete configuration stays as it is. Where no
    configuration closes the loops, they stay open, with a warning.
    """
    values = posture(robot, q, start)
    if not isinstance(q, Mapping) or not (robot.loops or robot.couplings):
        return values
    found = assembled(robot, values.tolist(), tuple(q))
    if found is None:
        warnings.warn(
            f"q: no configuration of '{robot.name}' closes its loops with {quoted(q)} at the given coordinates; "
            "they are drawn open. Name fewer coordinates, or others.",
            ModelWarning,
            stacklevel=users_level(),
        )
        return values
    return found
