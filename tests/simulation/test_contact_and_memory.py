"""Contact by implicit steps while elements remember things: a step's guess outlives what they sample."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from contact_cases import G, particle
from kinemorph import elements, simulate
from kinemorph.model.elements.contact_laws import Anchor, EasyDynNormal, Regularized
from kinemorph.model.system import System
from kinemorph.simulation.run import Held
from kinemorph.simulation.stepper import Stepper

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


def test_inputs_that_are_held_leave_the_guess_alone() -> None:
    system = System(particle(), (elements.Contact("foot", "block", PRESS, Regularized(MU, 1e-4)),))
    push = Held(lambda t: [1e-9 * t, 0.0], every=1e-3)
    run = simulate(system, 0.2, q=[0.0, -G / 1e4], v=[FAST, 0.0], method="extrapolated_contact", step=1e-3, inputs=push)
    assert run.v[-1, 0] == pytest.approx(FAST - MU * G * 0.2, abs=2e-5)


def test_a_stepper_that_begins_anew_knows_nothing_of_the_run_before() -> None:
    system = System(particle(), (elements.Contact("foot", "block", PRESS, Regularized(MU, 1e-4)),))
    start = {"q": [0.0, -G / 1e4], "v": [FAST, 0.0]}
    stepper = Stepper(system, method="implicit_contact", step=1e-3, **start)
    first = [np.concatenate(stepper.step()[1:3]) for _ in range(5)]
    stepper.restart(0.0, **start)
    assert np.array_equal(first, [np.concatenate(stepper.step()[1:3]) for _ in range(5)])
