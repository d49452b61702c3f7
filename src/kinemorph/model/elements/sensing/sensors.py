"""Sensors publish measurements of a robot as signals, which controllers can read.

`every` [s] is the time between two readings; a reading is held until the next. Without `every` a sensor is continuous
and without noise. `phase` [s] is the time of the first reading, and `delay` [s] the time until a reading is available;
before the first one the signal is 0. Noise is the standard deviation of one reading; for a noise density (per square
root of Hz), divide the density by sqrt(every). `seed` selects the random numbers, which differ between sensors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

from kinemorph.model.body import Vector
from kinemorph.model.elements.declared import declared

TURNS = "Give the encoder's turns per turn of the joint."
NONE = (0.0, 0.0, 0.0)


@dataclass(frozen=True, kw_only=True)
class Sensor:
    """The fields that all sensors have; see the top of this file."""

    name: str = field(kw_only=False)
    every: float | None = declared(None, "time", above=0.0)
    phase: float = declared(0.0, "time", least=0.0)
    delay: float = declared(0.0, "time", least=0.0)
    seed: int = 0


@dataclass(frozen=True)
class Encoder(Sensor):
    """The coordinate of a joint with one axis, rounded down: position = step floor((q + offset + noise) / step).

    The step is `resolution` [rad or m], or follows from `counts` per turn of an encoder that turns `ratio` times as
    fast as the joint. Signals: position [rad or m] and, with `every`, velocity: the difference of two readings divided
    by the time between them, 0 at the first reading.
    """

    joint: str
    counts: float = declared(0.0, "number", least=0.0)
    ratio: float = declared(1.0, "number", above=0.0, give=TURNS)
    resolution: float = declared(0.0, "joint coordinate", least=0.0)
    offset: float = declared(0.0, "joint coordinate")
    noise: float = declared(0.0, "joint coordinate", least=0.0)

    @property
    def step(self) -> float:
        """The step between readings [rad or m]; 0 if they are exact."""
        return 2.0 * math.pi / (self.counts * self.ratio) if self.counts else self.resolution


@dataclass(frozen=True)
class IMU(Sensor):
    """An inertial measurement unit at the origin of a body or frame, in its axes. Signals: ax, ay, az, wx, wy, wz.

    The accelerometer measures R^T (a - g) [m/s^2], with the acceleration a of the origin and gravity g, the gyroscope
    the angular velocity [rad/s]. A bias may drift as a random walk: its standard deviation after t seconds is the walk
    times sqrt(t). Readings are limited to plus or minus the range.
    """

    body: str
    accelerometer_noise: float = declared(0.0, "acceleration", least=0.0)
    accelerometer_bias: Vector = declared(NONE, "acceleration")
    accelerometer_walk: float = declared(0.0, unit="m/s^2", per=("s", 0.5), least=0.0)
    accelerometer_range: float = declared(math.inf, "acceleration", above=0.0)
    gyroscope_noise: float = declared(0.0, "rate", least=0.0)
    gyroscope_bias: Vector = declared(NONE, "rate")
    gyroscope_walk: float = declared(0.0, unit="rad/s", per=("s", 0.5), least=0.0)
    gyroscope_range: float = declared(math.inf, "rate", above=0.0)


@dataclass(frozen=True)
class ForceTorqueSensor(Sensor):
    """The wrench from the parent on the child of a joint, in the joint frame on the child, about its origin.

    For a mass that hangs from the joint the force points upward. The joint may be of any kind; it may be fixed or close
    a loop. With a `frame` of the child, the wrench is in the axes of that frame and about its origin. Signals: fx, fy,
    fz [N], mx, my, mz [N m].
    """

    joint: str
    frame: str = field(default="", kw_only=True)
    force_noise: float = declared(0.0, "force", least=0.0)
    force_bias: Vector = declared(NONE, "force")
    force_range: float = declared(math.inf, "force", above=0.0)
    torque_noise: float = declared(0.0, "torque", least=0.0)
    torque_bias: Vector = declared(NONE, "torque")
    torque_range: float = declared(math.inf, "torque", above=0.0)


@dataclass(frozen=True)
class ContactSwitch(Sensor):
    """A switch that is 1 while a signal, such as the normal force of a contact, is above `threshold`, else 0.

    With `hysteresis` it returns to 0 only below threshold - hysteresis; without `every` this is checked after every
    step of the run. It has one signal, with the name of the sensor.
    """

    signal: str
    threshold: float = declared(0.0, unit="{signal}")
    hysteresis: float = declared(0.0, unit="{signal}", least=0.0)


@dataclass(frozen=True)
class Probe(Sensor):
    """One quantity of `point` [m] of a body or frame; `point` is in the axes of the body or frame.

    position        x, y, z [m]             velocity    vx, vy, vz [m/s]        acceleration    ax, ay, az [m/s^2]
    orientation     qw, qx, qy, qz          rate        wx, wy, wz [rad/s]

    Vectors are in the axes of the world, or in the body's or frame's `own` axes; a position and an orientation are
    always seen from the world. `noise` is the standard deviation of each number, in its unit; an orientation has no
    noise.
    """

    body: str
    quantity: Literal["position", "velocity", "acceleration", "orientation", "rate"] = "position"
    point: Vector = declared(NONE, "length")
    noise: float = declared(0.0, unit="{own}", least=0.0)
    axes: Literal["world", "own"] = "world"


@dataclass(frozen=True)
class Meter(Sensor):
    """One signal as a column of its own: a coordinate "q.hip", a velocity "v.hip", a force "motor.force", the time "t".

    `noise` is the standard deviation of a reading, in its unit. It has one signal, with the name of the sensor.
    """

    signal: str
    noise: float = declared(0.0, unit="{signal}", least=0.0)


@dataclass(frozen=True)
class MassCenter(Sensor):
    """The center of mass of a body and of all bodies that it carries, in world axes.

    position    x, y, z [m]         velocity    vx, vy, vz [m/s]

    With the body "world" it is that of the whole robot. `noise` is the standard deviation of each number, in its unit.
    """

    body: str = "world"
    quantity: Literal["position", "velocity"] = "position"
    noise: float = declared(0.0, unit="{own}", least=0.0)
