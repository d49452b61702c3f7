"""Contact by implicit steps while elements remember things: a step's guess outlives what they sample."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kinemorph import RobotBuilder, elements, simulate
from kinemorph.model.body import Body
from kinemorph.model.elements.contact.contact_laws import Anchor, EasyDynNormal, Regularized
from kinemorph.model.system import System
from kinemorph.simulation.stepping.regular_functions import HeldInputs
from kinemorph.simulation.stepping.stepper import Stepper
from support.cases.contact_cases import G, particle

PRESS = EasyDynNormal(1e4, 1e4)
MU, FAST = 0.4, 1.0


def clocked(kind: Any) -> Any:
    """A controller that says something new at every step, and next to nothing."""
    return kind("clock", lambda t, q: 0.0 * q + 1e-9 * t, reads=("q.x",), drives=("x",), every=1e-3)


@pytest.mark.parametrize(
    "friction, others",
    [
        (Regularized(MU, 1e-4), ()),
        (Regularized(MU, 1e-4), (clocked(elements.Sampled),)),
        (Regularized(MU, 1e-4), (clocked(elements.PythonController),)),
        (Anchor(2.0 * MU, MU, 1e4, 100.0), ()),  # remembers where it slides to
    ],
)
@pytest.mark.parametrize("method", ["implicit_contact", "extrapolated_contact"])
def test_a_sliding_block_slows_down_by_coulombs_law(friction: Any, others: Any, method: str) -> None:
    """The velocity is exact but for the ground's slope and the first step, which knows nothing of the motion."""
    system = System(particle(), (elements.Contact("foot", "block", PRESS, friction), *others))
    run = simulate(system, 0.2, q=[0.0, -G / 1e4], v=[FAST, 0.0], method=method, step=1e-3)
    assert run.v[-1, 0] == pytest.approx(FAST - MU * G * 0.2, abs=2e-5)


def test_energy_of_an_anchor_that_takes_hold_after_a_step_is_booked() -> None:
    """Steps of one size locate nothing: the spring, loaded when the block halts, holds a tenth of all energy."""
    grip = Anchor(2.0 * MU, MU, 100.0, 20.0)
    system = System(particle(), (elements.Contact("foot", "block", PRESS, grip),))
    run = simulate(system, 0.6, q=[0.0, -G / 1e4], v=[FAST, 0.0], method="implicit_contact", step=2e-4)
    assert run.m[-1, 0] == 1.0 and 0.5 * (MU * G) ** 2 / 100.0 > 0.07
    assert np.abs(run["energy.balance"]).max() < 5e-3


def test_inputs_that_are_held_leave_the_guess_alone() -> None:
    system = System(particle(), (elements.Contact("foot", "block", PRESS, Regularized(MU, 1e-4)),))
    push = HeldInputs(lambda t: [1e-9 * t, 0.0], every=1e-3)
    run = simulate(system, 0.2, q=[0.0, -G / 1e4], v=[FAST, 0.0], method="extrapolated_contact", step=1e-3, inputs=push)
    assert run.v[-1, 0] == pytest.approx(FAST - MU * G * 0.2, abs=2e-5)


def test_a_stepper_that_begins_anew_knows_nothing_of_the_run_before() -> None:
    system = System(particle(), (elements.Contact("foot", "block", PRESS, Regularized(MU, 1e-4)),))
    start = {"q": [0.0, -G / 1e4], "v": [FAST, 0.0]}
    stepper = Stepper(system, method="implicit_contact", step=1e-3, **start)
    first = [np.concatenate(stepper.step()[1:3]) for _ in range(5)]
    stepper.restart(0.0, **start)
    assert np.array_equal(first, [np.concatenate(stepper.step()[1:3]) for _ in range(5)])


def test_currents_follow_in_steps_far_longer_than_their_time_constant() -> None:
    """L/R is 0.1 ms, the step 1 ms: the current is that of the implicit Euler method, and soon the exact one."""
    motor = elements.DCMotor("drive", "x", 2.3, 0.05, inductance=0.24e-3, lead=0.02)
    system = System(particle(), (motor, elements.AppliedEffort("lift", "z", G)))
    runs = {
        method: simulate(system, 0.05, inputs=[12.0], method=method, step=step, output_step=1e-3)
        for method, step in (("implicit_contact", 1e-3), ("radau", None))
    }
    late, exact = (runs[name]["drive.current"] for name in ("implicit_contact", "radau"))
    speed = runs["implicit_contact"]["v.x"][1] * 2.0 * np.pi / 0.02
    assert late[1] == pytest.approx(1e-3 * (12.0 - 0.05 * speed) / (0.24e-3 + 1e-3 * 2.3), rel=1e-9)
    assert exact.max() > 1.0 and np.abs(late - exact)[5:].max() < 0.05 * exact.max()


def test_a_point_that_slides_along_a_curve_sticks_without_a_jump_of_its_friction() -> None:
    """Its velocity turns to a load that acts aside; the anchor pulls against this, not against the first velocity.

    A mass on a slope begins to slide along x. Where it halts, friction before and after is the same force.
    """
    builder = RobotBuilder("block", gravity=(1.0, 1.8, -9.81))
    for name, parent, axis in (("x", "world", (1, 0, 0)), ("y", "a", (0, 1, 0)), ("z", "b", (0, 0, 1))):
        child = {"x": "a", "y": "b", "z": "block"}[name]
        builder.add(Body(child, 1.0 if child == "block" else 0.0))
        builder.joint(name, "prismatic", parent, child, axis=axis)
    friction = elements.Anchor(0.6, 0.5, 1e4, 10.0)
    system = System(builder.build(), (elements.Contact("foot", "block", elements.EasyDynNormal(1e4), friction),))
    start = {"q": [0.0, 0.0, -9.81e-4], "v": [1.0, 0.0, 0.0], "rtol": 1e-9, "atol": 1e-12}
    halts = [event.t for event in simulate(system, 0.5, **start).events if event.name.endswith("halts")]
    around = [halts[-1] - 1e-6, halts[-1] + 1e-6]
    run = simulate(system, 0.5, output_step=around, **start)
    before, after = (np.array([run[f"foot.force_{axis}"][k] for axis in "xy"]) for k in (1, 2))
    assert run["m.foot.mode"][[1, 2]].tolist() == [2.0, 1.0]  # it slides, then sticks
    assert np.linalg.norm(before) == pytest.approx(0.5 * 9.81, rel=1e-6)
    np.testing.assert_allclose(after, before, atol=0.5)
    load = np.array([1.0, 1.8])  # of the mass of 1 kg, along the ground [N]
    np.testing.assert_allclose(before / np.linalg.norm(before), -load / np.linalg.norm(load), atol=0.1)
