"""A closed chain that touches the ground: steps with contact at their end, under constraints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kinemorph import simulate
from kinemorph.model.elements import Contact, EasyDynNormal, Plane, Regularized
from kinemorph.model.library import four_bar
from kinemorph.model.system import Settings, System
from kinemorph.plants import plant


def pecking() -> System:
    """A four-bar whose crank end comes down on the ground, and slides there."""
    floor = Plane(point=(0.0, 0.0, -0.2))
    tip = Contact("tip", "coupler", normal=EasyDynNormal(2e3, 2e3), friction=Regularized(0.4, 0.02), ground=floor)
    return System(four_bar(), (tip,), Settings(q=(0.6, 0.02989836, 1.6066907)))


@pytest.fixture(scope="module")
def exact() -> Any:
    return simulate(pecking(), 1.0, method="dop853", rtol=1e-9, atol=1e-11, output_step=0.1)


@pytest.mark.parametrize(("method", "order"), [("implicit_contact", 1), ("extrapolated_contact", 2)])
def test_contact_at_the_end_of_steps_converges_under_constraints(exact: Any, method: str, order: int) -> None:
    system = plant(pecking(), account=True)
    errors = []
    for step in (1e-3, 2.5e-4):
        found = simulate(system, 1.0, method=method, step=step, output_step=0.1)
        assert found.loop_error.max() < 1e-12 and found.loop_rate.max() < 1e-10
        errors.append(np.abs(found.q - exact.q).max())
    assert errors[0] < (2e-2, 2e-3)[order - 1]
    assert np.log(errors[0] / errors[1]) / np.log(4.0) > order - 0.35


def test_contact_is_the_default_with_loops_too(exact: Any) -> None:
    found = simulate(pecking(), 1.0, output_step=0.1)
    assert found.statistics.method == "extrapolated_contact"
    assert np.abs(found.q - exact.q).max() < 2e-3
    assert exact.q[:, 0].min() < -0.5  # it has come down
