"""Sensors: what controllers may know of a robot, at which instants and how well.

`every` [s] is the time between two readings, which are held; without it a sensor shows its quantity at every instant,
without noise. `phase` [s] is when the first reading is taken, and `delay` [s] how long each takes to arrive: until the
first has, 0 is shown. Noise is that of one reading, its standard deviation: for
a density given per root of frequency, divide it by sqrt(every). `seed` chooses the noise; each sensor has its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

from kinemorph.model.body import Vector

TIME, LENGTH, ACCELERATION, RATE = ({"kind": kind} for kind in ("time", "length", "acceleration", "rate"))
FORCE, TORQUE = {"kind": "force"}, {"kind": "torque"}
NONE = (0.0, 0.0, 0.0)


@dataclass(frozen=True, kw_only=True)
class Sensor:
    """What all sensors have."""

    name: str = field(kw_only=False)
    every: float | None = field(default=None, metadata=TIME)
    phase: float = field(default=0.0, metadata=TIME)
    delay: float = field(default=0.0, metadata=TIME)
    seed: int = 0


@dataclass(frozen=True)
class Encoder(Sensor):
    """The coordinate of a joint with one axis in whole steps: position = step floor((q + offset + noise) / step).

    The step is `resolution` [rad or m], or that of `counts` per turn of an encoder that turns `ratio` times as fast as
    the joint. Signals: position [rad or m], and, where it samples, velocity: the difference of two readings over the
    time between them, 0 at the first.
    """

    joint: str
    counts: float = 0.0
    ratio: float = 1.0
    resolution: float = 0.0
    offset: float = 0.0
    noise: float = 0.0

    @property
    def step(self) -> float:
        """Of its readings [rad or m]; 0 where they are exact."""
        return 2.0 * math.pi / (self.counts * self.ratio) if self.counts else self.resolution


@dataclass(frozen=True)
class IMU(Sensor):
    """An inertial measurement unit on a body or frame, in its axes: what an accelerometer at its origin feels,
    R^T (a - g) [m/s^2], and the angular velocity [rad/s]. Signals: ax, ay, az, wx, wy, wz.

    A bias may walk: its deviation after t seconds is the walk times sqrt(t). A range clips the readings.
    """

    body: str
    accelerometer_noise: float = field(default=0.0, metadata=ACCELERATION)
    accelerometer_bias: Vector = field(default=NONE, metadata=ACCELERATION)
    accelerometer_walk: float = 0.0  # [m/s^2/sqrt(s)]
    accelerometer_range: float = field(default=math.inf, metadata=ACCELERATION)
    gyroscope_noise: float = field(default=0.0, metadata=RATE)
    gyroscope_bias: Vector = field(default=NONE, metadata=RATE)
    gyroscope_walk: float = 0.0  # [rad/s/sqrt(s)]
    gyroscope_range: float = field(default=math.inf, metadata=RATE)


@dataclass(frozen=True)
class ForceTorqueSensor(Sensor):
    """The wrench that passes through a joint, from the parent to the child, in the axes of the joint frame on the child
    and about its origin: a hanging mass is felt as a force upward. Any joint, those that are fixed or close loops too.

    Signals: fx, fy, fz [N], mx, my, mz [N m].
    """

    joint: str
    force_noise: float = field(default=0.0, metadata=FORCE)
    force_bias: Vector = field(default=NONE, metadata=FORCE)
    force_range: float = field(default=math.inf, metadata=FORCE)
    torque_noise: float = field(default=0.0, metadata=TORQUE)
    torque_bias: Vector = field(default=NONE, metadata=TORQUE)
    torque_range: float = field(default=math.inf, metadata=TORQUE)


@dataclass(frozen=True)
class ContactSwitch(Sensor):
    """1 while a signal, such as the normal force of a contact, is above `threshold`, else 0.

    With `hysteresis` it goes back to 0 only below threshold - hysteresis; without `every` it is looked at after every
    step then. It has one signal, called like itself.
    """

    signal: str
    threshold: float = 0.0
    hysteresis: float = 0.0


@dataclass(frozen=True)
class Probe(Sensor):
    """One quantity of a point of a body or frame, in world axes: `point` [m] is in those of the body.

    position        x, y, z [m]             velocity    vx, vy, vz [m/s]        acceleration    ax, ay, az [m/s^2]
    orientation     qw, qx, qy, qz          rate        wx, wy, wz [rad/s]

    `noise` is that of each number, in its unit; an orientation has none.
    """

    body: str
    quantity: Literal["position", "velocity", "acceleration", "orientation", "rate"] = "position"
    point: Vector = field(default=NONE, metadata=LENGTH)
    noise: float = 0.0
