"""The screws of AMRU5 under the load of a leg that stands: what they take to move it, and that real ones hold it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.library.amru_walk import CONSTANT, Screws, leg_motor
from kinemorph.model.system import System
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.simulation.simulate import simulate

LOAD = 334.0  # [N] on the vertical drive: three times a third of the weight


def moved(screws: Screws, volts: float, until: float) -> Trajectory:
    """The load on a vertical screw with this voltage at its motor."""
    builder = RobotBuilder("lift").add(Body.point("load", LOAD / 9.81))
    builder.joint("lift", "prismatic", "world", "load", axis=(0.0, 0.0, 1.0))
    motor = replace(leg_motor(1, 1, screws=screws), name="motor", joint="lift")
    # at rest, the elastic screw is compressed by its load
    start = {} if screws == "ideal" else {"x": {"motor.twist": LOAD / float(motor.stiffness)}}  # type: ignore[arg-type]
    return simulate(System(builder.build(), (motor,)), until, inputs={"motor": volts}, method="rodas", **start)


@pytest.mark.parametrize("screws, torque", [("ideal", 0.0266), ("self-locking", 0.0759)])
def test_lifting_takes_the_torque_of_the_data_sheet(screws: Screws, torque: float) -> None:
    """With 334 N it takes 0.027 N m without friction, and 0.076 N m with an efficiency of 0.35."""
    run = moved(screws, 9.0, 0.5)
    assert run["v.lift"][-1] > 1e-3
    assert CONSTANT * run["motor.current"][-1] == pytest.approx(torque, rel=0.005)


def test_a_self_locking_screw_holds_without_current() -> None:
    """In 10 s it creeps by less than 0.05 mm, with less than 1 mA; without friction the load turns the motor."""
    held = moved("self-locking", 0.0, 10.0)
    assert abs(held["q.lift"][-1]) < 5e-5
    assert np.abs(held["motor.current"][-1]) < 1e-3
    assert moved("ideal", 0.0, 10.0)["q.lift"][-1] < -0.05
