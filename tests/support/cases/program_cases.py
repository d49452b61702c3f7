"""Jobs whose programs are compared with `simulate`: one for each thing that a run can contain."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import kinemorph
from kinemorph import Body, Guard, RobotBuilder, System
from kinemorph.algebra.arrays import Array
from kinemorph.algebra.scalar import sqrt, where
from kinemorph.bench.standing.kinemorph_run import elements as standing_elements
from kinemorph.bench.standing.problem import standing
from kinemorph.elements import PD, PID, DCMotor
from kinemorph.simulation.results.trajectory import Trajectory

DATA = Path(__file__).parents[2] / "data"


class Case(NamedTuple):
    """A model, the end of its run [s], and the options of `simulate`."""

    model: Any
    until: float
    options: Mapping[str, Any] = {}


def double_pendulum() -> Case:
    """Newmark's method with the data of the paper of EasyDyn."""
    return Case(kinemorph.library.double_pendulum(), 1.0, {"method": "newmark", "q": [0.5, 0.2], "rtol": 1e-6})


def four_bar() -> Case:
    """A closed chain, which projection keeps closed."""
    return Case(kinemorph.library.four_bar(), 1.0, {"q": {"q1": 1.0}, "v": {"q1": 3.0}, "rtol": 1e-10, "atol": 1e-12})


def hexapod24() -> Case:
    """Six feet on the ground, and a sampled PD for each leg."""
    problem = standing("hexapod24", "dropped")
    held = [
        PD(e.name, joints=e.joints, reference=e.reference, kp=e.kp, kd=e.kd, every=0.002) if isinstance(e, PD) else e
        for e in standing_elements(problem)
    ]
    return Case(System(problem.robot, tuple(held)), 0.05, {"q": problem.q, "step": 0.001, "method": "implicit_contact"})


def bouncing_ball() -> Case:
    """A guard with a reset, whose events come ever faster until the ball is at rest."""
    given = json.loads((DATA / "bouncing_ball.json").read_text())["inputs"]
    builder = RobotBuilder("bouncing_ball", gravity=(0.0, 0.0, -given["g"])).add(Body.point("ball", 1.0))
    robot = builder.joint("z", "prismatic", "world", "ball", axis=(0.0, 0.0, 1.0)).build()
    share = given["restitution"]
    bounce = Guard("bounce", lambda q: q[0], "falling", reset=lambda v: {"v": [-share * v[0]]})
    return Case(robot, 20.0, {"q": [given["h0"]], "events": [bounce]})


def dc_motor() -> Case:
    """A motor under a sampled PI with limits."""
    given = json.loads((DATA / "dc_motor.json").read_text())["inputs"]
    digital = given["digital"]
    rotor = Body("rotor", mass=1.0, inertia=(given["J"],) * 3)
    joint = {"damping": given["b"]}
    robot = RobotBuilder("dc_motor").add(rotor).joint("shaft", "revolute", "world", "rotor", **joint).build()
    motor = DCMotor("motor", "shaft", given["R"], given["Kt"], given["Ke"], inductance=given["L"])
    gains = {"reference": digital["ref"], "kp": digital["Kp"], "ki": digital["Ki"], "every": digital["Ts"]}
    control = PID("control", reads="v.shaft", drives="motor", lower=-24.0, upper=24.0, **gains)
    return Case(System(robot, (control, motor)), 2.0)


def hydraulics() -> Case:
    """Equations of one's own in residual form: a cylinder behind a valve, whose pressures have no inertia."""

    def through(drop: Any) -> Any:
        return drop / sqrt(sqrt(drop * drop + 0.01))

    def residual(t: Any, q: Any, v: Any, a: Any) -> list[Any]:
        x, p1, p2 = q
        u = where(t < 0.1, 10.0 * t, 1.0)
        into, out = 4e-5 * u * through(120.0 - p1), 4e-5 * u * through(p2 - 2.0)
        return [
            120.0 * a[0] + 800.0 * v[0] + 4000.0 - 1e5 * (2e-3 * p1 - 1.2e-3 * p2),
            1e5 * (v[1] * (1e-4 + 2e-3 * x) / 1.4e4 + 2e-3 * v[0] - into),
            1e5 * (v[2] * (1e-4 + 1.2e-3 * (0.5 - x)) / 1.4e4 - 1.2e-3 * v[0] + out),
        ]

    start = [0.05, (0.04 + 1.2e-3 * 20.0) / 2e-3, 20.0]
    units = {"piston": "m", "p1": "bar", "p2": "bar"}
    plant = kinemorph.plants.second_order(residual, units, start=start, name="cylinder")
    return Case(plant, 0.05, {"method": "newmark", "rtol": 1e-6, "atol": 1e-6, "output_step": 0.002})


CASES: dict[str, Callable[[], Case]] = {
    case.__name__: case for case in (double_pendulum, four_bar, hexapod24, bouncing_ball, dc_motor, hydraulics)
}


def table(run: Trajectory) -> Array:
    """The samples of a run, one row [t, q, v, x, m] for each, as the file of a program has them."""
    return np.concatenate([np.column_stack([s.t, s.q, s.v, s.x, s.m]) for s in run.segments])
