"""Rigid contacts of robots with loops, and of systems with phases: momentum, complementarity, energy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kinemorph import Body, RobotBuilder, System, derive, simulate
from kinemorph.elements import Automaton, Contact, Coulomb, Edge, Hold, Newton, Phase, Plane, Rigid
from kinemorph.errors import ModelError
from kinemorph.plants.robot_plant import plant
from support.robots.random_automata import RandomAutomaton

MU = 0.4
SMALL = 1e-8  # events are found on states that are on the constraints to 1e-9; what is left is stopped at the event
FLOOR = Plane((0.0, -0.8, 0.0), (0.0, 1.0, 0.0))
START = {"q": {"x": 0.0, "y": 0.0, "turn": 0.1, "left1": 1.2, "right1": 1.5}, "v": {"x": 0.5}}


def tumbling(law: str, restitution: float, automaton: Automaton | None = None) -> System:
    """A body with two four-bars that falls on the floor, with two corners and a point of a coupler."""
    kind: Any = {"normal": Rigid(restitution, law), "friction": Coulomb(MU), "ground": FLOOR}  # type: ignore[arg-type]
    corners = [Contact(f"{side} hip", "base", **kind, point=(x, -0.3, 0.0)) for side, x in (("a", 0.4), ("b", -0.4))]
    foot = Contact("foot", "left_coupler", **kind, point=(0.3, -0.2, 0.0))
    return System(RandomAutomaton(0, "axes", looped=True).robot, (*corners, foot), automaton=automaton)


def check_impacts(system: System, run: Any) -> int:
    """Checks momentum, complementarity and Coulomb's cone at all events of a run; the number of impacts."""
    model, count = plant(system), 0
    names, M = list(model.constraint_names), derive(system.robot).mass_matrix
    modes = [k for k, column in enumerate(model.m) if column.name.endswith(".mode")]
    for event in run.events:
        known = {number.name: number.value for number in event.numbers}
        p = np.array([known.get(f"impulse.{name}", 0.0) for name in names])
        q, v, new = event.after["q"], event.before["v"], event.after["v"]
        memory = event.after["m"].copy()
        memory[modes] = 1.0  # rows of all contacts
        state = np.concatenate([np.zeros(model.nv), new])
        _, rate, J, _ = model.compiled("constraints")(event.t, q, state, memory, np.zeros(model.nu), model.initial("p"))
        np.testing.assert_allclose(M(q) @ (new - v), J.T @ p, atol=SMALL)
        for contact in system.elements:
            n, a, b = (names.index(f"{contact.name}.{row}") for row in ("normal", "tangent_1", "tangent_2"))
            touches = bool(p[n] > SMALL)
            count += touches
            assert p[n] > -SMALL and np.hypot(p[a], p[b]) <= MU * p[n] + SMALL
            assert not touches or rate[n] > -SMALL
    return count


@pytest.mark.slow
@pytest.mark.parametrize(("law", "e"), [("energetic", 0.5), ("plastic", 0.0), ("newton", 0.4)])
def test_loops_hold_on_while_contacts_strike_and_slide(law: str, e: float) -> None:
    system = tumbling(law, e)
    run = simulate(system, 2.0, **START)
    assert run.outcome.kind == "finished" and check_impacts(system, run) >= 2
    assert np.abs(run.energy.balance).max() < 1e-7
    for contact in system.elements:
        assert run[f"{contact.name}.gap"].min() > -1e-9 and run[f"{contact.name}.normal"].min() >= 0.0
    total = run.energy.kinetic + run.energy.potential
    assert law == "newton" or np.diff(total).max() < 1e-7


@pytest.mark.slow
def test_phases_lock_and_release_a_joint_while_contacts_are_closed() -> None:
    edges = (Edge("lock", "free", "lock", "cos(4 * t) + 0.1"), Edge("release", "lock", "free", "cos(4 * t + 2)"))
    automaton = Automaton((Phase("free"), Phase("lock", (), "left1")), edges)
    system = tumbling("plastic", 0.0, automaton)
    run = simulate(system, 5.0, **START)
    closed = [np.any(event.before["m"][:-1:5] > 0.5) for event in run.events if event.kind == "edge"]
    assert run.outcome.kind == "finished" and sum(closed) >= 2
    assert np.abs(run.energy.balance).max() < 1e-7
    for contact in system.elements:
        assert run[f"{contact.name}.gap"].min() > -1e-8 and run[f"{contact.name}.normal"].min() > -1e-7


def stacked(automaton: Automaton, *more: Any) -> System:
    """A block of 1 kg on the floor, and a mass of 2 kg that slides up and down on it."""
    builder = RobotBuilder("stack").add(Body.box("block", 1.0, (0.2, 0.2, 0.2)), Body.box("mass", 2.0, (0.1, 0.1, 0.1)))
    builder.joint("z", "prismatic", "world", "block", axis=(0, 0, 1))
    builder.joint("lift", "prismatic", "block", "mass", axis=(0, 0, 1))
    foot = Contact("foot", "block", Rigid(0.0), point=(0.0, 0.0, -0.1))
    return System(builder.build(), (foot, *more), automaton=automaton)


@pytest.mark.parametrize(("speed", "after"), [(3.0, 2.0 / 3.0 * (3.0 - 0.981)), (-1.0, 0.0)])
def test_a_contact_does_not_pull_at_the_impact_of_an_edge(speed: float, after: float) -> None:
    """A joint locks while a block stands: the block is lifted by a mass that rises, and holds a mass that falls."""
    phases = (Phase("free"), Phase("locked", (), "lift"))
    system = stacked(Automaton(phases, (Edge("lock", "free", "locked", "0.1 - t"),)))
    run = simulate(system, 1.0, q=[0.1, 1.0], v=[0.0, speed])
    lock = run.events[0]
    assert lock.name == "lock" and lock.after["v"] == pytest.approx([after, 0.0], abs=1e-9)
    relative = speed - 0.981
    lost = 0.5 * 2.0 * relative**2 - 0.5 * 3.0 * after**2
    assert lock["energy_loss"] == pytest.approx(lost, abs=1e-9)
    flight = 2.0 * after / 9.81
    landed = [event.t for event in run.events[1:] if event.kind == "impact"]
    assert landed == pytest.approx([0.1 + flight] if after else [], abs=1e-8)
    assert run["foot.gap"].min() > -1e-9 and run["foot.normal"][-1] == pytest.approx(3.0 * 9.81)


def test_a_contact_that_sleeps_takes_no_part() -> None:
    """The floor of a phase that begins while the block is above it: the block falls on it."""
    phases = (Phase("air", (), "lift"), Phase("ground", "foot", "lift"))
    system = stacked(Automaton(phases, (Edge("land", "air", "ground", "0.2 - t"),)))
    run = simulate(system, 1.0, q=[0.5, 1.0])
    fall = (2.0 * 0.4 / 9.81) ** 0.5
    assert [(event.name, round(event.t, 9)) for event in run.events] == [
        ("land", 0.2),
        ("foot.touches", round(fall, 9)),
    ]
    below = simulate(system, 1.0, q=[0.2, 1.0])
    assert below.outcome.kind == "failed" and "'foot.normal' by" in below.outcome.message


def test_laws_of_edges_and_rigid_contacts_do_not_mix() -> None:
    hold = Hold("tip", "mass", axes="z")
    edge = Edge("hit", "air", "air", "q.lift", impact=Newton(0.5), during="touch")
    with pytest.raises(ModelError, match="edge 'hit': impact is Newton, and the system has rigid contacts"):
        simulate(stacked(Automaton((Phase("air"), Phase("touch", "tip")), (edge,)), hold), 0.1)
