"""Walkers and runners of the library with their default settings, against published gaits and closed forms.

The references were computed by other means: see `verified` in their files in tests/data.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from kinemorph import derive, library
from kinemorph.elements import Automaton, Edge, Hold, Phase, Probe, TorsionSpring
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.parameter import evaluate_all
from kinemorph.model.system import System
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


def test_a_hopper_leaves_the_ground_with_its_momentum() -> None:
    """A leg that locks where it is long again pulls up its foot; the foot, which stood before, is held no more."""
    builder = RobotBuilder("hopper").add(Body("body", 10.0), Body("foot", 1.0))
    builder.joint("z", "prismatic", "world", "body")
    builder.joint("leg", "prismatic", "body", "foot", translation=(0.0, 0.0, -1.0), axis=(0.0, 0.0, -1.0))
    phases = (Phase("flight", locked="leg"), Phase("stance", ("foothold", "spring")))
    edges = (Edge("touchdown", "flight", "stance", "toe.z"), Edge("liftoff", "stance", "flight", "-q.leg"))
    parts = (Hold("foothold", "foot", axes="z"), Probe("toe", "foot"), TorsionSpring("spring", "leg", 3000.0))
    run = simulate(System(builder.build(), parts, automaton=Automaton(phases, edges)), 1.0, q={"z": 1.3})
    down, up = strikes(run, "touchdown")[0], strikes(run, "liftoff")[0]
    speed = math.sqrt(2.0 * 9.81 * 0.3)
    assert down.after["v"] == pytest.approx([-speed, -speed])  # the foot stops, the body goes on
    assert up.before["v"] == pytest.approx([speed, speed])
    assert up.after["v"] == pytest.approx([speed * 10.0 / 11.0, 0.0], abs=1e-9)


def test_the_hopper_of_raibert_runs_at_a_steady_speed() -> None:
    run = simulate(library.raibert_hopper(), 12.0)
    lifts = strikes(run, "liftoff")
    last, before = lifts[-1].after, lifts[-2].after
    assert last["v"] == pytest.approx(before["v"], abs=1e-3)
    assert 0.9 < last["v"][0] < 1.2 and abs(last["q"][2]) < 0.02
    assert [event.name for event in run.events[:3]] == ["touchdown", "bottom", "liftoff"]


@pytest.mark.slow
def test_a_slender_block_rocks_and_a_wide_one_rests() -> None:
    """By Housner, 1 - 1.5 sin(a)^2 of the rate is kept: 0.85 where width to height is 1 to 3."""
    for tilt in (0.2, -0.2):
        rocks = simulate(library.rocking_block(1.0, 3.0, tilt)).events
        assert len(rocks) == 3
        kept = [float(event.after["v"][2] / event.before["v"][2]) for event in rocks]
        assert kept == pytest.approx([0.85] * 3, abs=1e-12)
    run = simulate(
        library.rocking_block(1.0, 3.0), 10.0
    )  # until impacts are closer together than 10 us: none is missed
    rates = np.array([abs(event.after["v"][2]) for event in run.events[:-1]])
    assert run.outcome.kind == "rest" and len(rates) > 70
    np.testing.assert_allclose(rates[1:], 0.85 * rates[:-1], rtol=1e-6, atol=1e-10)
    flights = np.diff([event.t for event in run.events[:-1]])
    back = 1.5 * 9.81 * 1.0 / (1.0 + 9.0)  # [rad/s^2] of an upright block about its corner
    np.testing.assert_allclose(flights[-20:], 2.0 * rates[-21:-1] / back, rtol=1e-3)
    run = simulate(library.rocking_block(3.0, 2.0), 1.0)
    (event,) = run.events
    assert np.abs(event.after["v"]).max() < 1e-12 and np.abs(run.v[-1]).max() < 1e-9 and run["phase"][-1] == 1.0


def test_rabbit_keeps_its_momentum_about_the_foot_that_strikes() -> None:
    """The impulse of the ground acts at the new foot, so it has no moment about it."""
    model = library.rabbit()
    x, z, pitch, front, bent, rear, bent_rear = model.settings.q
    run = simulate(model, 0.4, q=[x, z, pitch, rear, bent_rear, front + 0.1, bent])  # it falls on its front foot
    event = strikes(run)[0]
    assert event.t > 0.01 and np.abs(event.before["v"] - event.after["v"]).max() > 0.1
    assert evaluate_all(sum(body.mass for body in model.robot.bodies)) == pytest.approx(32.0)
    dynamics = derive(model.robot)
    momenta = []
    for state in (event.before, event.after):
        q, v = state["q"], state["v"]
        feet = [dynamics.pose(f"{side}_foot")(q)[:3, 3] for side in ("right", "left")]
        foot = feet[0] if state is event.before else feet[1]
        p = dynamics.mass_matrix(q) @ v  # conjugate to x, z and pitch: the whole robot moves
        momenta.append(p[2] + (q[1] - foot[2]) * p[0] - (q[0] - foot[0]) * p[1])
    assert momenta[0] == pytest.approx(momenta[1], rel=1e-9)


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
