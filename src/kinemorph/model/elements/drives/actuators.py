"""Actuators: ideal drives on joints, as in MJCF or URDF, without a model of a motor."""

from __future__ import annotations

import math
from typing import Literal

from kinemorph.frozen import dataclass


@dataclass(frozen=True)
class Actuator:
    """A drive on a joint with one axis: the joint effort is `gear` times the force or torque f of the actuator.

    `control` is the kind of its input u, which determines f; s is `gear` times the joint's coordinate:

        effort      f = u
        position    f = gain (u - s) - damping ds/dt
        velocity    f = gain (u - ds/dt)

    `lower` and `upper` limit the input u, `effort` limits the force or torque f [N or N m]. `inertia` [kg m^2] is the
    rotor inertia, only for information: the equations of motion use the armature of the joint.
    """

    name: str
    joint: str
    gear: float = 1.0
    control: Literal["effort", "position", "velocity"] = "effort"
    gain: float = 0.0
    damping: float = 0.0
    lower: float = -math.inf
    upper: float = math.inf
    effort: float = math.inf
    inertia: float = 0.0
