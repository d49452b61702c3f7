"""Actuators: drives on joints as other formats know them, without a motor inside."""

from __future__ import annotations

import math
from typing import Literal

from kinemorph.frozen import dataclass


@dataclass(frozen=True)
class Actuator:
    """A drive on a joint with one axis: the effort there is `gear` times its force or torque f.

    `control` says what its input u is, and with that f, where s is `gear` times the joint's coordinate:

        effort      f = u
        position    f = gain (u - s) - damping ds/dt
        velocity    f = gain (u - ds/dt)

    `lower` and `upper` limit the input, `effort` the force or torque [N or N m] before the gear. `inertia` [kg m^2] is
    that of the rotor as a nameplate says it; what acts is the armature of the joint.
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
