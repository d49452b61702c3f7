"""Edges with laws of impacts: what points do that a phase holds while they collide (SEEDS.md 003-07 to 003-09)."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinemorph import Body, RobotBuilder, System, library, simulate, simulate_batch
from kinemorph.elements import Automaton, Coulomb, Edge, Energetic, Hold, Newton, Phase, Plastic, Poisson
from kinemorph.errors import ModelError, ParseError
from kinemorph.formats.loading import load, load_text, save
from kinemorph.model.body import diagonal
from kinemorph.model.elements.contact.impact_laws import ImpactLaw
from kinemorph.model.parameter import Parameter
from kinemorph.plants.robot_plant import plant
from support.robots.random_automata import MU, RandomAutomaton

Array = np.ndarray


def rod(law: ImpactLaw, mu: Any = 0.3, **hold: Any) -> System:
    """The rod of painleve_rod, without gravity: its tip collides at 1 ms."""
    bodies = Body("a", 0.0), Body("b", 0.0), Body("rod", 1.0, (0.0, 0.0, 0.0), diagonal(0.2, 1.0 / 3.0, 0.2))
    builder = RobotBuilder("rod", gravity=(0.0, 0.0, 0.0)).add(*bodies)
    builder.joint("x", "prismatic", "world", "a", axis=(1, 0, 0)).joint("z", "prismatic", "a", "b", axis=(0, 0, 1))
    builder.joint("turn", "revolute", "b", "rod", axis=(0, 1, 0))
    tip = Hold(**{"name": "tip", "body": "rod", "point": (-1.0, 0.0, 0.0), "axes": "xyz", **hold})
    edge = Edge("hit", "flight", "flight", "0.001 - t", impact=law, friction=Coulomb(mu), during="touch")
    return System(builder.build(), (tip,), automaton=Automaton((Phase("flight"), Phase("touch", "tip")), (edge,)))


def hit(system: System, **options: Any) -> Any:
    (event,) = simulate(system, 0.002, q=[0.0, 0.0, -math.pi / 3.0], v=[0.5, -1.0, 0.0], **options).events
    return event


@pytest.mark.parametrize(
    ("law", "after", "gain"),
    [
        (Newton(1.0), 1.0, 0.018405),
        (Poisson(1.0), 0.828626, None),
        (Energetic(1.0), 0.858998, None),
        (Plastic(), 0.0, None),
    ],
)
def test_the_rod_leaves_as_its_law_says(law: ImpactLaw, after: float, gain: float | None) -> None:
    """The tip's velocity after the impact, published with painleve_rod; a gain of energy is a negative loss."""
    event = hit(rod(law))
    x, z, turn = event.after["v"]
    assert event["impulse.tip.x"] == pytest.approx(x - 0.5, abs=1e-12)
    assert z - turn * math.cos(math.pi / 3.0) * -1.0 == pytest.approx(after, abs=1e-6)
    assert event["impulse.tip.z"] == pytest.approx(z + 1.0, abs=1e-12)
    before, now = (0.5 * (v[0] ** 2 + v[1] ** 2 + v[2] ** 2 / 3.0) for v in (event.before["v"], event.after["v"]))
    assert event["energy_loss"] == pytest.approx(before - now, abs=1e-12)
    assert gain is None or event["energy_loss"] == pytest.approx(-gain, abs=1e-6)


def test_a_ceiling_is_a_floor_upside_down() -> None:
    """A normal along -z, with all that is above below: the same impact."""
    floor = hit(rod(Energetic(0.8)))
    system = rod(Energetic(0.8), normal="-z")
    (other,) = simulate(system, 0.002, q=[0.0, 0.0, math.pi / 3.0], v=[0.5, 1.0, 0.0]).events
    np.testing.assert_allclose(other.after["v"] * [1.0, -1.0, -1.0], floor.after["v"], atol=1e-12)
    assert other["impulse.tip.z"] == pytest.approx(-floor["impulse.tip.z"])


def test_restitution_and_friction_may_be_parameters() -> None:
    system = plant(rod(Newton(Parameter("e", 0.2)), Parameter("mu", 0.1)), parameters=["e", "mu"])
    for e, mu in ((0.2, 0.1), (0.9, 0.3), (0.0, 0.6)):
        expected = hit(rod(Newton(e), mu)).after["v"]
        (event,) = simulate(
            system, 0.002, q=[0.0, 0.0, -math.pi / 3.0], v=[0.5, -1.0, 0.0], p={"e": e, "mu": mu}
        ).events
        np.testing.assert_allclose(event.after["v"], expected, atol=1e-12)


@pytest.mark.parametrize("law", [Plastic(), pytest.param(Newton(0.5), marks=pytest.mark.slow)])
@pytest.mark.parametrize("in_sequence", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_loops_and_locks_hold_on_while_two_points_collide(law: Any, in_sequence: bool) -> None:
    """Momentum, complementarity and Coulomb's cone, with the Jacobian of all constraints that take part."""
    law = Plastic(in_sequence) if isinstance(law, Plastic) else Newton(0.5, in_sequence)
    robot = RandomAutomaton(4, "axes", looped=True).robot
    holds = [Hold(f"{side} touch", f"{side}_coupler", (0.3, -0.2, 0.0), "xy", normal="y") for side in ("left", "right")]
    both = Phase("both", [hold.name for hold in holds], "left1")
    edge = Edge("hit", "fall", "lock", "0.3 - t", impact=law, friction=Coulomb(MU), during="both")
    automaton = Automaton((Phase("fall"), Phase("lock", (), "left1"), both), (edge,))
    model = plant(System(robot, tuple(holds), automaton=automaton))
    for speed in (-1.0, 0.5):
        run = simulate(model, 0.4, q={"left1": 1.2, "right1": 1.5}, v={"x": speed, "turn": speed, "left1": 1.0})
        (event,) = run.events
        q, v, new = event.after["q"], event.before["v"], event.after["v"]
        memory = event.after["m"].copy()
        memory[[column.name for column in model.m].index("phase")] = 2.0
        state = (q, np.concatenate([np.zeros(model.nv), new]), memory, np.zeros(model.nu), np.array(model.start["p"]))
        _, rate, J, _ = model.compiled("constraints")(event.t, *state)
        names = list(model.constraint_names)
        known = {number.name: number.value for number in event.numbers}
        impulses = np.array([known.get(f"impulse.{name}", 0.0) for name in names])
        np.testing.assert_allclose(masses(model, q) @ (new - v), J.T @ impulses, atol=1e-11)
        held = [k for k, name in enumerate(names) if "touch" not in name]
        np.testing.assert_allclose(rate[held], 0.0, atol=1e-11)
        for side in ("left", "right"):
            x, y = (names.index(f"{side} touch.{axis}") for axis in "xy")
            assert impulses[y] >= 0.0 and abs(impulses[x]) <= MU.value * impulses[y] + 1e-12
            if isinstance(law, Plastic) and not in_sequence:
                assert rate[y] > -1e-11 and impulses[y] * rate[y] < 1e-11
                sliding = abs(rate[x]) > 1e-9
                assert not sliding or impulses[x] == pytest.approx(-MU.value * impulses[y] * np.sign(rate[x]))
        assert impulses[[names.index(f"{side} touch.y") for side in ("left", "right")]].max() > 0.1
        assert event["energy_loss"] > 0.0


def masses(model: Any, q: Array) -> Array:
    from kinemorph import derive

    found: Array = derive(model.robot).mass_matrix(q)
    return found


def test_a_foot_that_lifts_at_heel_strike_gives_the_known_gait() -> None:
    """Both feet may push at heel strike, and the trailing one lifts by complementarity: the gait of one held foot."""
    walker = library.compass_walker()
    assert walker.automaton is not None
    (phase,), (strike,) = walker.automaton.phases, walker.automaton.edges
    stance = next(one for one in walker.elements if isinstance(one, Hold))
    trailing = Hold("trailing", stance.body.replace("left", "right"), stance.point, stance.axes, stance.along)
    both = Phase("both", (*phase.elements, "trailing"))
    edge = Edge(
        *(strike.name, strike.source, strike.target, strike.guard, strike.when, strike.relabel, strike.reset),
        impact=Plastic(),
        friction=Coulomb(2.0),
        during="both",
    )
    feet = System(
        walker.robot,
        (*walker.elements, trailing),
        walker.settings,
        automaton=Automaton((phase, both), (edge,), known=walker.automaton.known),
    )
    expected, found = (simulate(model, 2.0, rtol=1e-10, atol=1e-12) for model in (walker, feet))
    assert len(found.events) == len(expected.events) == 2
    for one, other in zip(found.events, expected.events, strict=True):
        assert one.t == pytest.approx(other.t, abs=1e-9)
        np.testing.assert_allclose(one.after["v"], other.after["v"], atol=1e-8)
        assert "impulse.trailing.z" not in one.told or abs(one["impulse.trailing.z"]) < 1e-12
    slippery = System(
        walker.robot,
        feet.elements,
        walker.settings,
        automaton=Automaton(
            (phase, both), (Edge(**{**vars(edge), "friction": Coulomb(0.05)}),), known=walker.automaton.known
        ),
    )
    run = simulate(slippery, 2.0)
    assert run.outcome.kind == "failed" and f"'{stance.name}" in run.outcome.message


def test_batches_take_the_same_impacts() -> None:
    system, turns = rod(Energetic(0.8)), np.linspace(-1.4, -0.6, 5)
    q = np.stack([0.0 * turns, 0.0 * turns, turns], axis=1)
    batch = simulate_batch(system, 0.002, q=q, v=[0.5, -1.0, 0.0], output_step=0.002)
    for k, angle in enumerate(turns):
        run = simulate(system, 0.002, q=[0.0, 0.0, angle], v=[0.5, -1.0, 0.0], output_step=0.002)
        np.testing.assert_allclose(batch.v[k, -1], run.v[-1], atol=1e-12)
    assert list(batch.event_counts) == [1] * 5


def test_laws_come_back_from_files(tmp_path: Path) -> None:
    for law in (Plastic(True), Newton(0.5), Poisson(0.25, True), Energetic(0.75)):
        system = rod(law, normal="-z")
        (path,) = save(system, tmp_path / "rod.toml")
        assert load(path) == system
    text = (tmp_path / "rod.toml").read_text()
    assert 'kind = "energetic"' in text
    with pytest.raises(ParseError, match="restitution is 2; expected a number from 0"):
        load_text(text.replace("0.75", "2.0"), "toml")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"impact": "elastic"}, "edge 'hit': impact is 'elastic'; expected 'plastic'"),
        ({"impact": "plastic"}, "edge 'hit': friction is .*; expected Coulomb and a law"),
        ({"during": ""}, "edge 'hit': impact is Newton, but phase 'flight' names no Hold"),
        ({"friction": Coulomb(-1.0)}, "edge 'hit': friction: coefficient is -1; expected a finite number"),
    ],
)
def test_wrong_impacts_are_refused_by_name(change: dict[str, Any], named: str) -> None:
    given = {"impact": Newton(0.5), "friction": Coulomb(0.3), "during": "touch"}
    with pytest.raises(ModelError, match=named):
        edge = Edge("hit", "flight", "flight", "0.001 - t", **{**given, **change})
        whole = rod(Newton(0.5))
        assert whole.automaton is not None
        simulate(System(whole.robot, whole.elements, automaton=Automaton(whole.automaton.phases, (edge,))), 0.1)
    with pytest.raises(ModelError, match="element 'tip': normal is 'up'; expected x, y or z"):
        simulate(rod(Newton(0.5), normal="up"), 0.1)
