"""Actuators: ideal drives on joints, as in MJCF or URDF, without a model of a motor."""

from __future__ import annotations

import math
from dataclasses import field
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
    gear: float = field(default=1.0, metadata={"kind": "number"})
    control: Literal["effort", "position", "velocity"] = "effort"
    gain: float = field(default=0.0, metadata={"unit": "{effort}/{in}"})
    damping: float = field(default=0.0, metadata={"kind": "joint damping"})
    lower: float = field(default=-math.inf, metadata={"unit": "{in}"})
    upper: float = field(default=math.inf, metadata={"unit": "{in}"})
    effort: float = field(default=math.inf, metadata={"kind": "joint effort"})
    inertia: float = field(default=0.0, metadata={"kind": "joint inertia"})
