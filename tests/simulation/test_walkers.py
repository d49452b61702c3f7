"""Walkers and runners of the library with their default settings, against published gaits and closed forms.

The references were computed by other means: see `verified` in their files in tests/data.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from kinemorph import library
from kinemorph.simulation.results.event import Event
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.simulation.simulate import simulate
from support.robots.reference_robots import reference


def strikes(run: Trajectory, name: str = "strike") -> list[Event]:
    """The events with this name of a run that has not failed."""
    assert run.outcome.ok, run.outcome.message
    return [event for event in run.events if event.name == name]


def periods(events: list[Event]) -> np.ndarray:
    """The times between events, the first of them from t = 0."""
    return np.diff([0.0, *(event.t for event in events)])


def test_the_compass_walks_with_the_published_gait() -> None:
    case = reference("compass_gait_goswami")
    wanted, slope = case["reference"], math.radians(case["inputs"]["slope_deg"])
    events = strikes(simulate(library.compass_walker()))
    assert len(events) == 13
    assert periods(events) == pytest.approx(wanted["step_period"], rel=case["tolerance_suggestion"])
    for state, given in ((events[0].before, wanted["pre_impact"]), (events[0].after, wanted["post_impact"])):
        angles, rates = ([given[f"theta{dot}_{leg}"] for leg in ("stance", "swing")] for dot in ("", "dot"))
        assert state["q"][2:] - slope == pytest.approx(angles, abs=1e-8)
        assert state["v"][2:] == pytest.approx(rates, abs=1e-8)


@pytest.mark.parametrize("gait", ["long", "short"])
def test_the_simplest_walker_has_both_gaits(gait: str) -> None:
    wanted = reference("simplest_walker")["reference"][gait]
    theta, rate, period = (float(wanted[key]) for key in ("theta", "thetadot", "period"))
    default = strikes(simulate(library.simplest_walker(gait=gait)))
    assert default[0].t == pytest.approx(period, abs=1e-8)
    after = strikes(simulate(library.simplest_walker(gait=gait), rtol=1e-12, atol=1e-13))[0].after
    assert (after["q"][2], after["v"][2]) == pytest.approx((theta, rate), abs=1e-12)
    assert after["v"][2] - after["v"][3] == pytest.approx((1.0 - math.cos(2.0 * theta)) * rate, abs=1e-12)


def test_the_rimless_wheel_rolls_as_in_closed_form() -> None:
    case = reference("rimless_wheel")
    wanted, given = case["reference"], case["inputs"]
    events = strikes(simulate(library.rimless_wheel(), rtol=1e-10, atol=1e-12))
    assert len(events) == 9
    assert periods(events) == pytest.approx(wanted["step_period"], rel=1e-9)
    assert events[-1].before["v"][2] == pytest.approx(wanted["omega_pre_fixed"], rel=1e-9)
    assert events[-1].after["v"][2] == pytest.approx(wanted["omega_post_fixed"], rel=1e-9)
    kept = [float(event.after["v"][2] / event.before["v"][2]) for event in events]
    assert kept == pytest.approx([math.cos(2.0 * given["alpha"])] * 9, rel=1e-9)


@pytest.mark.parametrize("which", [0, 1])
def test_the_spring_mass_runner_repeats_its_apex(which: int) -> None:
    case = reference("slip_runner")
    wanted = case["reference"]["fixed_points"][which]
    model = library.slip_runner(apex_height=wanted["apex_height"], apex_speed=wanted["apex_speed"])
    run = simulate(model, 2.5)
    apexes = strikes(run, "apex")
    assert periods(apexes)[:3] == pytest.approx(wanted["period"], abs=case["tolerance_suggestion"])
    assert apexes[0].before["q"][1] == pytest.approx(wanted["apex_height"], abs=case["tolerance_suggestion"])
    assert [event.name for event in run.events[:3]] == ["touchdown", "liftoff", "apex"]
    phase, force = run["phase"], run["leg.force"]
    assert set(phase) == {0.0, 1.0} and (force[phase == 0.0] == 0.0).all() and force[phase == 1.0].max() > 1000.0


def test_the_walker_with_knees_locks_and_strikes_at_the_known_times() -> None:
    model = library.kneed_walker()
    run = simulate(model, 5.5)
    knees, heels = strikes(run, "knee"), strikes(run, "heel")
    assert len(heels) == 9
    assert periods(heels) == pytest.approx(0.5643282, abs=1e-6)
    begins = np.array([0.0, *(event.t for event in heels)])[: len(knees)]
    assert np.array([event.t for event in knees]) - begins == pytest.approx(0.3486120, abs=1e-6)
    assert heels[-1].after["q"][2:] == pytest.approx(model.settings.q[2:], abs=1e-6)
    assert heels[-1].after["v"][2:] == pytest.approx(model.settings.v[2:], abs=1e-6)
    assert np.abs([event.before["v"][[3, 5]] for event in heels]).max() < 1e-9  # both knees are locked


@pytest.mark.parametrize("name", ["compass_walker", "kneed_walker", "rimless_wheel"])
def test_energy_is_lost_only_at_strikes_and_feet_stay_where_they_land(name: str) -> None:
    run = simulate(getattr(library, name)(), 2.5, rtol=1e-10, atol=1e-12)
    losses = [event.numbers[0].value for event in run.events]
    assert len(losses) > 1 and all(loss > 0.0 for loss in losses)
    energies = [segment.energy.sum(axis=1) for segment in run.segments]
    for before, after, loss in zip(energies, energies[1:], losses, strict=False):
        assert before[-1] - after[0] == pytest.approx(loss, rel=1e-8)
    assert all(np.ptp(energy) < 1e-8 * abs(energy[0]) for energy in energies)
    assert run.loop_error.max() < 1e-9
