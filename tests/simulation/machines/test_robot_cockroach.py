"""A cockroach 15 times as long walks as a robot: servos of a data sheet carry it, within their voltage and current."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import kinemorph
from kinemorph import System, library
from kinemorph.elements import PD, DCMotor

# Dynamixel MX-106 at 12 V (emanual.robotis.com/docs/en/dxl/mx/mx-106); the inertia of its rotor is assumed
SERVO = {"voltage": 12.0, "no_load_speed": 1.5 * math.pi, "stall_torque": 8.4, "stall_current": 5.2, "ratio": 225.0}
LENGTH = 15.0 * 0.039  # m


def robot() -> tuple[System, list[str]]:
    """The robot, and the names of its motors."""
    large = kinemorph.scaled(library.running_cockroach(0.04, 1.8, 0.6, lift=0.002), length=15.0)
    posture = large.element("posture")
    assert isinstance(posture, PD)
    motors = [DCMotor.from_servo(f"motor {axis}", axis, **SERVO, inertia=2e-7) for axis in posture.joints]
    drives = replace(posture, kp=102.0, kd=1.5, drives=tuple(motor.name for motor in motors))
    elements = [drives if one is posture else one for one in large.elements]
    return replace(large, elements=(*elements, *motors)), [motor.name for motor in motors]


@pytest.mark.slow
def test_it_walks_ten_body_lengths_within_the_limits_of_its_motors() -> None:
    """Commands never reach the limit of 12 V, so that nothing is cut off."""
    system, motors = robot()
    run = kinemorph.simulate(system, 42.0, step=4e-4, output_step=4e-3)
    assert run.outcome.ok and len(motors) == 30
    assert system.robot.total_mass == pytest.approx(8.775, rel=1e-3)
    assert run["q.body_root.x"][-1] > 10.0 * LENGTH
    assert np.abs(run["q.body_root.y"]).max() < 0.2 * LENGTH
    assert run["q.body_root.z"].min() > 0.09 and run["q.body_root.z"].max() < 0.11
    assert max(float(np.abs(run[name.replace("motor ", "posture.")]).max()) for name in motors) < 12.0
    assert max(float(np.abs(run[f"{name}.current"]).max()) for name in motors) < 5.2
    # a leg that would not lift its foot would slide: speed over ground is that of the reference within 10 %
    speed = (run["q.body_root.x"][-1] - run["q.body_root.x"][0]) / run.t[-1]
    assert speed == pytest.approx(0.04 * math.sqrt(15.0), rel=0.1)


def test_a_servo_has_the_torque_speed_and_current_of_its_data_sheet() -> None:
    """At rest and 12 V the joint gets the stall torque; at the no-load speed the current is 0."""
    motor = DCMotor.from_servo("servo", "hinge", **SERVO)
    constant = motor.torque_constant
    assert isinstance(constant, float) and isinstance(motor.resistance, float) and isinstance(motor.efficiency, float)
    current = 12.0 / motor.resistance
    assert current == pytest.approx(5.2) and motor.current_limit == 5.2 and motor.voltage_limit == 12.0
    assert current * constant * 225.0 * motor.efficiency == pytest.approx(8.4)
    assert 12.0 - constant * 225.0 * SERVO["no_load_speed"] == pytest.approx(0.0, abs=1e-12)
    assert 0.5 < motor.efficiency < 0.7
    with pytest.raises(kinemorph.errors.ModelError, match="stall_torque is 20 N m, but the motor gives at most"):
        DCMotor.from_servo("servo", "hinge", **{**SERVO, "stall_torque": 20.0})
    with pytest.raises(kinemorph.errors.ModelError, match="ratio is 0; expected a finite number above 0"):
        DCMotor.from_servo("servo", "hinge", **{**SERVO, "ratio": 0.0})
