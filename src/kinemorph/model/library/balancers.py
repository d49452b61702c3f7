"""A two-wheeled vehicle that balances, like a Segway: motors, an inertial sensor, encoders and a sampled controller.

The controller is a linear-quadratic regulator for the vehicle on wheels that roll without slipping, sampled every
10 ms. With the pitch p, and the mean a and half the difference d of the angles of both wheels against the body,

    mean of the voltages = -K . [p, a, p', a'],    half their difference = -L . [d, d']

BALANCE and HEADING are the gains K and L. `linearize` gives the model that they were computed from (docs/wheels.md).
"""

from __future__ import annotations

from typing import Any

from kinemorph.algebra.scalar import S, atan2
from kinemorph.frozen import dataclass
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.elements.control.functions import Sampled
from kinemorph.model.elements.drives.motors import DCMotor
from kinemorph.model.elements.forces.tires import Tire
from kinemorph.model.elements.sensing.sensors import IMU, Encoder
from kinemorph.model.library.wheel_shapes import bar, wheel_shapes
from kinemorph.model.robot import Robot
from kinemorph.model.shapes import GRAPHITE, STEEL
from kinemorph.model.system import Element, Settings, System

SIDES = ("left", "right")
RADIUS, TRACK = 0.24, 0.3  # [m]: of a wheel, and half the distance between the wheels
EVERY = 0.01  # [s], between two samples
VOLTAGE = 12.0  # [V], of the battery
BLEND = 0.005  # the weight of the accelerometer in the estimate of the pitch
BALANCE = (-206.97, -5.678, -70.35, -9.619)  # [V/rad] and [V s/rad]: of pitch, mean angle, pitch rate and mean rate
HEADING = (3.120, 1.091)  # of half the difference of the angles and of the rates


def segway_robot() -> Robot:
    """The body with its rider, 70 kg, on two wheels of 2.5 kg; x is forward, and the origin is between the wheels."""
    builder = RobotBuilder("segway")
    rider = [
        bar((0.0, 0.0, 0.25), (0.0, 0.0, 1.5), 0.14, STEEL),
        bar((0.12, 0.0, 0.0), (0.18, 0.0, 1.1), 0.02, GRAPHITE),
    ]
    deck = bar((0.0, -TRACK + 0.06, 0.05), (0.0, TRACK - 0.06, 0.05), 0.06, GRAPHITE)
    handle = bar((0.18, -0.2, 1.1), (0.18, 0.2, 1.1), 0.02, GRAPHITE)
    builder.body("body", 70.0, com=(0.0, 0.0, 0.85), inertia=(14.0, 13.0, 2.0), shapes=[*rider, deck, handle])
    builder.joint("root", "free", "world", "body")
    for side, sign in (("left", 1.0), ("right", -1.0)):
        wheel = Body.cylinder(f"{side}_wheel", 2.5, RADIUS, 0.08, axis="y")
        builder.body(wheel.name, wheel.mass, inertia=wheel.inertia, shapes=wheel_shapes(RADIUS, 0.08))
        builder.joint(side, "revolute", "body", wheel.name, translation=(0.0, sign * TRACK, 0.0), axis=(0.0, 1.0, 0.0))
    return builder.build()


def segway_motors() -> tuple[DCMotor, DCMotor]:
    """The motors of both wheels: 27 N m at stall and 11 rad/s without load, at 12 V."""
    left, right = (
        DCMotor(f"{side}_motor", side, 0.48, 0.05, inertia=1e-4, ratio=21.6, voltage_limit=VOLTAGE)
        for side in ("left", "right")
    )
    return left, right


def segway(noise: bool = True) -> System:
    """A vehicle on two wheels that stays upright where it is; its motors have at most 12 V.

    `noise` is that of the accelerometer, the gyroscope and the encoders.
    """
    tires = [
        Tire(f"{side}_tire", f"{side}_wheel", RADIUS, 2e5, 370.0, 9e3, 7e3, damping=1500.0, crown=0.04)
        for side in ("left", "right")
    ]
    imu = IMU(
        *("imu",),
        body="body",
        every=EVERY,
        accelerometer_noise=0.05 if noise else 0.0,
        gyroscope_noise=0.003 if noise else 0.0,
        seed=1,
    )
    encoders = [Encoder(f"{side}_encoder", joint=side, every=EVERY, counts=4096.0 if noise else 0.0) for side in SIDES]
    reads = ["imu.ax", "imu.az", "imu.wy"]
    reads += [f"{side}_encoder.{what}" for what in ("position", "velocity") for side in SIDES]
    control = Sampled(
        "balance",
        Regulator(),
        tuple(reads),
        tuple(f"{side}_motor" for side in SIDES),
        every=EVERY,
        memory={"pitch": 0.0},
        outputs=("left", "right"),
        lower=-VOLTAGE,
        upper=VOLTAGE,
    )
    elements: list[Element] = [*tires, *segway_motors(), imu, *encoders, control]
    robot = segway_robot()
    start = (0.0, 0.0, RADIUS - 1.8e-3, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    return System(robot, tuple(elements), Settings(q=start, time=10.0))


@dataclass(frozen=True)
class Regulator:
    """The controller: it estimates the pitch from accelerometer and gyroscope; state feedback gives the voltages."""

    balance: tuple[float, float, float, float] = BALANCE
    heading: tuple[float, float] = HEADING

    def __call__(self, t: S, ax: S, az: S, wy: S, left: S, right: S, vl: S, vr: S, memory: Any) -> Any:
        """The voltages of the left and the right motor, and the estimate of the pitch [rad]."""
        pitch = (1.0 - BLEND) * (memory[0] + EVERY * wy) + BLEND * atan2(-ax, az)
        middle = (pitch, 0.5 * (left + right), wy, 0.5 * (vl + vr))
        aside = (0.5 * (left - right), 0.5 * (vl - vr))
        both = -sum(gain * x for gain, x in zip(self.balance, middle, strict=True))
        turn = -sum(gain * x for gain, x in zip(self.heading, aside, strict=True))
        return [both + turn, both - turn], [pitch]
