"""Jobs whose FMUs are compared with `simulate`, at tolerances at which both are exact to 1e-8."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import kinemorph
from kinemorph import Body, RobotBuilder, System
from kinemorph.elements import PID, DCMotor
from support.cases import program_cases
from support.cases.program_cases import DATA, Case

TIGHT: dict[str, Any] = {"rtol": 1e-12, "atol": 1e-13, "output_step": 0.01}


def double_pendulum() -> Case:
    """A robot without constraints and without events."""
    return Case(kinemorph.library.double_pendulum(), 1.0, {"q": [0.5, 0.2], **TIGHT})


def heavy_top() -> Case:
    """A quaternion."""
    given = json.loads((DATA / "heavy_top.json").read_text())["inputs"]
    builder = RobotBuilder("heavy_top").body(
        "top", given["mass"], com=given["com_from_fixed_point"], inertia=given["J_com"]
    )
    robot = builder.joint("pivot", "spherical", "world", "top").build()
    return Case(robot, 0.2, {"q": [1.0, 0.0, 0.0, 0.0], "v": given["omega0_body"], **TIGHT})


def four_bar() -> Case:
    """A closed chain."""
    return Case(kinemorph.library.four_bar(), 1.0, {"q": {"q1": 1.0}, "v": {"q1": 3.0}, **TIGHT})


def bouncing_ball() -> Case:
    """A guard with a reset, before the ball is at rest."""
    case = program_cases.bouncing_ball()
    return Case(case.model, 6.0, {**case.options, **TIGHT})


def motor() -> Case:
    """A motor under a sampled PID."""
    given = json.loads((DATA / "dc_motor.json").read_text())["inputs"]
    rotor = Body("rotor", mass=1.0, inertia=(given["J"],) * 3)
    robot = RobotBuilder("motor").add(rotor).joint("shaft", "revolute", "world", "rotor", damping=given["b"]).build()
    drive = DCMotor("motor", "shaft", given["R"], given["Kt"], given["Ke"], inductance=given["L"])
    gains: dict[str, Any] = {"kp": 12.0, "ki": 4.0, "kd": 0.4, "filter": 0.02}
    control = PID("control", reads="q.shaft", drives="motor", reference=1.0, every=0.01, lower=-24, upper=24, **gains)
    return Case(System(robot, (control, drive)), 1.0, TIGHT)


CASES: dict[str, Callable[[], Case]] = {
    case.__name__: case for case in (double_pendulum, heavy_top, four_bar, bouncing_ball, motor)
}
