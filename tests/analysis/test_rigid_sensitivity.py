"""Derivatives of motions with rigid contacts: closed forms, and differences of runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from kinemorph import Body, RobotBuilder, System, simulate
from kinemorph.algebra.scalar import sin
from kinemorph.analysis.small_motions.sensitivities import sensitivities
from kinemorph.analysis.small_motions.varied_run import varied_run
from kinemorph.elements import Contact, Coulomb, Plane, Rigid
from kinemorph.model.body import diagonal
from kinemorph.model.parameter import Parameter
from kinemorph.model.robot import Robot
from kinemorph.plants.programs import Plant
from kinemorph.plants.robot_plant import plant
from support.robots.random_automata import EXACT

G = 9.81
MU = Parameter("mu", 0.35)


def test_a_bouncing_ball_in_closed_form() -> None:
    """Times of impacts, t_k = T (1 + 2 e + ... + 2 e^k) with T = sqrt(2 h / g), by e and h."""
    robot = RobotBuilder("ball").add(Body.point("ball", 1.0)).joint("z", "prismatic", "world", "ball", axis=(0, 0, 1))
    ball = System(robot.build(), (Contact("ground", "ball", Rigid(Parameter("e", 0.8))),))
    h, e = 1.0, 0.8
    found = sensitivities(ball, 2.5, ["e"], initial=["q.z"], q=[h], output_step=0.5)
    T = math.sqrt(2.0 * h / G)
    assert found.note == "" and len(found.edge_times) == 4
    for k, (by_e, by_h) in enumerate(found.edge_times):
        assert by_e == pytest.approx(2.0 * T * sum(j * e ** (j - 1) for j in range(1, k + 1)), abs=1e-7)
        assert by_h == pytest.approx((1.0 + 2.0 * sum(e**j for j in range(1, k + 1))) * T / (2.0 * h), abs=1e-7)


def block(angle: float, mu: float) -> System:
    """A block on a slope, with coordinates down the slope and off it."""
    c, s = math.cos(angle), math.sin(angle)
    rails = RobotBuilder("block").add(Body.massless("rail"), Body.point("block", 1.0))
    rails.joint("x", "prismatic", "world", "rail", axis=(c, 0, -s))
    rails.joint("n", "prismatic", "rail", "block", axis=(s, 0, c))
    plane = Plane(normal=(s, 0.0, c))
    return System(rails.build(), (Contact("foot", "block", Rigid(), Coulomb(Parameter("mu", mu)), plane),))


@pytest.mark.slow
def test_a_block_that_halts_and_slides_back_in_closed_form() -> None:
    """Pushed up at v it halts at T = v / a, a = g (sin + mu cos), and slides back with b = g (sin - mu cos)."""
    angle, mu, v, until = math.radians(30.0), 0.2, 3.0, 1.0
    found = sensitivities(block(angle, mu), until, ["mu"], initial=["v.x"], q=[0.0, 0.0], v=[-v, 0.0], output_step=0.5)
    s, c = G * math.sin(angle), G * math.cos(angle)
    a, b = s + mu * c, s - mu * c
    T = v / a
    assert found.note == "" and found.edge_times[0] == pytest.approx([-v / a**2 * c, -1.0 / a], abs=1e-7)
    after = until - T
    by_mu = v * v / (2.0 * a * a) * c - 0.5 * after**2 * c + b * after * v / a**2 * c
    assert found.q[-1, 0, 0] == pytest.approx(by_mu, abs=1e-7)
    assert found.q[-1, 0, 1] == pytest.approx(v / a + b * after / a, abs=1e-7)  # of -v^2 / 2a + b (t - T)^2 / 2, by -v


# ── differences of runs ───────────────────────────────────────────────────────────────────────────────────────────────


def compared(model: Plant, until: float, initial: Sequence[str], events: Sequence[str], q: Any, v: Any) -> None:
    """Compares derivatives of the end and of the times of events with central differences of runs."""
    names = [column.name for column in model.p]
    found = varied_run(model, until, names, initial=initial, q=q, v=v, **EXACT)
    assert found.message == "" and {name.rpartition(".")[2] for name in found.edges} == {*events}
    places = {f"{group}.{column.name}": (group, k) for group in "qv" for k, column in enumerate(getattr(model, group))}

    def end(name: str, h: float) -> Any:
        given = {"q": [*q], "v": [*v], "p": [float(value) for value in model.start["p"]]}
        group, k = places[name] if name in places else ("p", names.index(name))
        given[group][k] += h
        run = simulate(model, until, **given, **EXACT)
        assert tuple(event.name for event in run.events) == found.edges
        return np.concatenate([run.q[-1], run.v[-1], [event.t for event in run.events]])

    for k, name in enumerate([*names, *initial]):
        expected = (end(name, 1e-6) - end(name, -1e-6)) / 2e-6
        mine = np.concatenate([found.slopes[: 2 * model.nv, k], found.time_slopes[:, k]])
        np.testing.assert_allclose(mine, expected, rtol=0.0, atol=3e-7 * max(1.0, float(np.abs(expected).max())))


def rod() -> Robot:
    """A rod in the plane of x and z, whose center of mass is off its middle."""
    builder = RobotBuilder("rod").add(Body("a", 0.0), Body("b", 0.0))
    builder.add(Body("rod", 1.0, (0.05, 0.0, 0.0), diagonal(0.01, 0.3, 0.3)))
    builder.joint("x", "prismatic", "world", "a", axis=(1, 0, 0)).joint("z", "prismatic", "a", "b", axis=(0, 0, 1))
    return builder.joint("turn", "revolute", "b", "rod", axis=(0, 1, 0)).build()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "e", "events"),
    [("energetic", 0.5, ["touches"]), ("plastic", 0.0, ["touches", "halts"]), ("newton", 0.3, ["touches"])],
)
def test_a_rod_that_strikes_with_both_ends(law: Any, e: float, events: Sequence[str]) -> None:
    normal = Rigid(Parameter("e", e), law) if e else Rigid(0.0, law)
    ends = [Contact(name, "rod", normal, Coulomb(MU), point=(x, 0, 0)) for name, x in (("left", -1.0), ("right", 1.0))]
    model = plant(System(rod(), tuple(ends)), parameters=["e", "mu"] if e else ["mu"])
    compared(model, 0.62, ["v.x", "q.turn"], events, [0.0, 0.8, 0.1], [0.3, 0.0, 0.5])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("push", "events"),
    [
        (lambda t: [8.0 * sin(3.0 * t), 0.0], ["slips", "halts"]),
        (lambda t: [sin(2.0 * t), 15.0 * sin(2.0 * t)], ["slips", "lifts", "touches"]),
        (lambda t: [0.0, 15.0 * sin(2.0 * t)], ["lifts", "touches"]),
    ],
)
def test_a_block_that_is_pushed_and_lifted(push: Callable[..., Any], events: Sequence[str]) -> None:
    model = plant(block(0.0, 0.4), parameters=["mu"], forces=push)
    compared(model, 2.3, ["q.x"], events, [0.0, 0.0], [0.0, 0.0])


@pytest.mark.slow
def test_points_that_land_at_the_same_instant_are_named() -> None:
    ends = [Contact(name, "rod", Rigid(0.5), point=(x, 0, 0)) for name, x in (("left", -1.0), ("right", 1.0))]
    found = sensitivities(System(rod(), tuple(ends)), 1.0, initial=["q.z"], q=[0.0, 0.8, 0.0], output_step=0.25)
    assert (
        "is taken while event 'left.touches' is met too" in found.note or "event 'right.touches' is met" in found.note
    )
    fall = math.sqrt(1.6 / G)
    assert np.isnan(found.q[found.t > fall + 1e-9]).all() and np.isfinite(found.q[found.t < fall - 1e-9]).all()
