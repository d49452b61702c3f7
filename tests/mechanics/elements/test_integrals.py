"""Integral: sums of signals against closed forms, in runs, batches and derivatives; files; bad data."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from kinemorph import elements
from kinemorph.analysis.small_motions.equilibrium import equilibrium
from kinemorph.analysis.small_motions.poles import poles
from kinemorph.analysis.small_motions.sensitivities import sensitivities
from kinemorph.errors import ModelError
from kinemorph.formats.loading import load, save
from kinemorph.model import library
from kinemorph.model.system import System
from kinemorph.orbits import periodic_orbit
from kinemorph.simulation.simulate import simulate
from kinemorph.simulation.simulate_batch import simulate_batch

PENDULUM = library.pendulum()
JOINT = PENDULUM.v_names[0]


def summed(*members: elements.Integral, drive: bool = False) -> System:
    torque = [elements.Sinusoid("torque", 0.4, 1.0 / (2.0 * math.pi))] if drive else []
    pushing = [elements.Continuous("push", lambda t, y: [y], reads="torque", drives=JOINT)] if drive else []
    return System(PENDULUM, (*torque, *pushing, *members))


def test_integrals_of_a_velocity_of_its_square_and_of_the_time() -> None:
    """The integral of v is the change of q; that of a weighted sum is the sum of integrals; that of t is t^2 / 2."""
    names = [f"v.{JOINT}", "t"]
    found = simulate(
        summed(
            elements.Integral("way", names[0], start=0.5, unit="rad"),
            elements.Integral("time", "t"),
            elements.Integral("both", names, weights=(2.0, -3.0)),
            elements.Integral("square", names[0], "square"),
            elements.Integral("length", names[0], "magnitude"),
        ),
        2.0,
        q=[0.7],
        v=[0.3],
        output_step=0.001,
    )
    way = found[f"q.{JOINT}"] - 0.7
    np.testing.assert_allclose(found["way"], way + 0.5, atol=1e-9)
    np.testing.assert_allclose(found["time"], 0.5 * found.t**2, atol=1e-9)
    np.testing.assert_allclose(found["both"], 2.0 * way - 1.5 * found.t**2, atol=1e-9)
    v = found[f"v.{JOINT}"]
    assert found["square"][-1] == pytest.approx(np.trapezoid(v * v, found.t), rel=1e-5)
    assert found["length"][-1] == pytest.approx(np.trapezoid(np.abs(v), found.t), rel=1e-5)
    assert found.columns["way"].unit == "rad"


def test_the_integral_of_torque_times_speed_is_the_work_that_was_supplied() -> None:
    members = (
        elements.Integral("work", "push", times=f"v.{JOINT}", unit="J"),
        elements.Integral("moved", "push", "magnitude", times=f"v.{JOINT}"),
    )
    found = simulate(summed(*members, drive=True), 6.0, q=[0.7], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found["work"], found.energy.supplied, atol=1e-8)
    assert found["moved"][-1] > abs(found["work"][-1]) + 0.1
    with pytest.raises(ModelError, match="it has 1 signal and 2 names in times"):
        simulate(summed(elements.Integral("wrong", "t", times=("t", "t"))), 1.0)


def test_batches_and_derivatives_are_exact() -> None:
    """d/dq0 of the integral of v is dq/dq0 - 1; a batch gives what single runs give."""
    system = summed(elements.Integral("way", f"v.{JOINT}"), elements.Integral("effort", f"v.{JOINT}", "square"))
    slopes = sensitivities(system, 1.5, initial=[f"q.{JOINT}"], q=[0.7])
    name = f"q.{JOINT}"
    np.testing.assert_allclose(slopes["way", name], slopes[name, name] - 1.0, atol=1e-8)
    h = 1e-4
    ends = simulate_batch(system, 1.5, q=[[0.7 - h], [0.7], [0.7 + h]], rtol=1e-11, atol=1e-13)["effort"][:, -1]
    assert slopes["effort", name][-1] == pytest.approx((ends[2] - ends[0]) / (2.0 * h), abs=1e-6)
    assert ends[1] == pytest.approx(simulate(system, 1.5, q=[0.7])["effort"][-1], abs=1e-8)


def test_what_only_sums_up_changes_neither_equilibria_nor_poles_nor_orbits() -> None:
    cost = elements.Integral("cost", "t")
    plain, with_cost = System(PENDULUM), summed(cost)
    assert equilibrium(with_cost, q=[0.1])
    np.testing.assert_allclose(poles(with_cost).values, poles(plain).values, atol=1e-12)
    damped = lambda v: [-0.5 * v[0]]  # noqa: E731
    driven = summed(elements.Integral("effort", f"v.{JOINT}", "square"), drive=True)
    found = periodic_orbit(driven, period=2.0 * math.pi, forces=damped)
    assert found and [column.name for column in found.map.columns] == [f"q.{JOINT}", f"v.{JOINT}"]
    assert found.trajectory["effort"][0] == 0.0 and found.trajectory["effort"][-1] > 0.0


def test_a_model_file_has_integrals_and_bad_data_are_named(tmp_path: Path) -> None:
    system = summed(elements.Integral("cost", ("t", f"v.{JOINT}"), "square", (1.0, 2.0), unit="s"))
    save(system, tmp_path / "cost.toml")
    again = load(tmp_path / "cost.toml")
    assert again.elements == system.elements
    for element, problem in (
        (elements.Integral("cost", "v.nobody"), "there is no such signal"),
        (elements.Integral("cost", "t", weights=(1.0, 2.0)), "1 signal and 2 weights"),
        (elements.Integral("cost", ()), "signals has no name"),
    ):
        with pytest.raises(ModelError, match=problem):
            simulate(summed(element), 0.1)
