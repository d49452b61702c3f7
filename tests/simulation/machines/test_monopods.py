"""Monopods on closed chains: the hybrid half of the closed-chain paper (SEEDS.md 003-07 to 10, 003-12 to 15)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinemorph import Guard, RobotBuilder, derive, library, load, load_trajectory, save, simulate
from kinemorph.elements import Automaton, Edge, Phase
from kinemorph.loops import SingularPerturbation
from kinemorph.model.system import System
from kinemorph.orbits import periodic_orbit
from kinemorph.simulation.results.event import Event
from kinemorph.simulation.results.trajectory import Trajectory
from support.tools.command_line import run as command_line

FREE = ("x", "z", "crank_joint")  # the independent velocities of both monopods
SPEEDS = {"bolt_like": (0.8, 0.83), "raptor_like": (0.0, 0.01)}  # [m/s]


def edges(run: Trajectory, name: str) -> list[Event]:
    return [event for event in run.events if event.name == name]


def ajar(model: System, by: float) -> np.ndarray:
    """The initial configuration of a monopod, with dependent joints turned so that its loops are open."""
    q = np.array(model.settings.q)
    q[3:] += np.linspace(by, -by, len(q) - 3)
    return q


def check_traces(name: str, rows: int, until: float) -> None:
    """Checks that all constraint errors of a run from open loops fall as exp(-t / epsilon), in flight and in stance."""
    model: System = getattr(library, name)()
    loops = SingularPerturbation(0.05)
    run = simulate(model, until, q=ajar(model, 0.02), loops=loops, method="ode45", output_step=0.002)
    assert run.outcome.ok and [event.name for event in run.events][:2] == ["touchdown", "liftoff"]
    errors = derive(model.robot).reduced(FREE, at=model.settings.q).closure_error(run.q)
    assert errors.shape == (len(run.t), rows) and np.abs(errors[0]).min() > 1e-4
    np.testing.assert_allclose(errors, np.exp(-run.t / 0.05)[:, None] * errors[0], atol=1e-6)
    touch = edges(run, "touchdown")[0].t
    assert np.abs(errors[run.t <= touch][-1]).max() > 1e-4  # loops are still open at the impact


def test_four_constraint_errors_of_the_leg_with_two_loops_converge_across_an_impact() -> None:
    """Figure 6 of the paper (003-13), with ode45 and samples every 2 ms (003-15): an impact leaves open loops open."""
    check_traces("bolt_like", 4, 0.25)


@pytest.mark.slow
def test_six_constraint_errors_of_the_leg_with_three_loops_converge() -> None:
    """Figure 8 of the paper (003-14)."""
    check_traces("raptor_like", 6, 0.25)


@pytest.mark.slow
def test_a_touchdown_is_the_impact_of_the_paper_and_moves_nothing() -> None:
    """E003-10 in independent velocities: [H -Jc^T; Jc 0] [v_q+; L] = [H v_q-; 0], F = (q, v+) (003-07, 003-09)."""
    model = library.bolt_like()
    run = simulate(model, 0.2)
    (touch,) = edges(run, "touchdown")
    q, before, after = touch.before["q"], touch.before["v"], touch.after["v"]
    np.testing.assert_allclose(touch.after["q"], q, atol=1e-12)
    assert np.abs(before - after).max() > 1.0
    dynamics = derive(model.robot)
    reduction = dynamics.reduced(FREE, at=q)
    rho, H = reduction.velocity_map(q), reduction.reduced_mass_matrix(q)
    Jc = dynamics.jacobian(q, "foot", "local_world_aligned")[[0, 2]] @ rho
    free = [list(model.robot.v_names).index(name) for name in FREE]
    whole = np.block([[H, -Jc.T], [Jc, np.zeros((2, 2))]])
    solved = np.linalg.solve(whole, np.concatenate([H @ before[free], [0.0, 0.0]]))
    np.testing.assert_allclose(after, rho @ solved[:3], atol=1e-8)
    exported, impulses, loss = dynamics.impact("foot", axes="xz")(q, before)
    np.testing.assert_allclose(exported, after, atol=1e-8)
    np.testing.assert_allclose(impulses[0], solved[3:], atol=1e-8)
    assert touch["energy_loss"] == pytest.approx(loss, rel=1e-8)
    flight, stance = run.segments  # F: the next phase begins in the state after the edge
    assert (stance.q[0] == touch.after["q"]).all() and (stance.v[0] == after).all()
    assert np.unique(run["phase"]).tolist() == [0.0, 1.0] and flight.t[-1] == stance.t[0] == touch.t

    written = command_line("derive", "bolt_like", "--function", "impact", "--frame", "foot", "--emit", "python")
    names: dict[str, Any] = {}
    exec(written.stdout, names)  # the function file of Delta (003-12)
    np.testing.assert_allclose(names["impact_foot"](q, before)[0], after, atol=1e-8)


@pytest.mark.slow
def test_a_monopod_from_its_template_and_the_files_of_its_run(tmp_path: Path) -> None:
    """The template with its switching conditions (003-10); controllers, data file and animation (003-07, 003-12)."""
    model = library.bolt_like()
    save(model, tmp_path / "monopod.toml")
    run, again = (simulate(one, 0.3, loops="perturbation") for one in (model, load(tmp_path / "monopod.toml")))
    assert [event.name for event in again.events] == ["touchdown", "liftoff"]
    np.testing.assert_allclose(again.q[-1], run.q[-1], atol=1e-9)
    assert np.abs(run["swing"]).max() > 1.0 and np.abs(run["thrust"]).max() > 1.0
    run.save(tmp_path / "run.npz")
    kept = load_trajectory(tmp_path / "run.npz", model)
    assert (kept["phase"] == run["phase"]).all() and [e.name for e in kept.events] == [e.name for e in run.events]
    run.replay(tmp_path / "run.html")
    assert (tmp_path / "run.html").read_text(encoding="utf-8").lstrip().lower().startswith("<!doctype html")


def test_any_number_of_phases_and_one_without_an_automaton() -> None:
    """More than the two states of the paper (003-08): a ball falls and is locked three times, in six phases."""
    robot = RobotBuilder("ball").body("ball", mass=1.0).joint("z", "prismatic", "world", "ball", axis=(0, 0, 1)).build()
    phases = [Phase(f"phase{k}", locked="z" if k % 2 else ()) for k in range(6)]
    steps = [Edge(f"edge{k}", f"phase{k}", f"phase{k + 1}", f"{0.1 * (k + 1)} - t") for k in range(5)]
    run = simulate(System(robot, automaton=Automaton(phases, steps)), 0.6)
    assert [event.name for event in run.events] == [edge.name for edge in steps]
    assert run["phase"][-1] == 5.0 and run.q[-1, 0] == pytest.approx(-3 * 0.5 * 9.81 * 0.01, abs=1e-10)
    losses = [event["energy_loss"] for event in run.events[::2]]
    assert losses == pytest.approx([0.5 * 0.981**2] * 3, rel=1e-9)
    alone = simulate(System(robot), 0.1)
    assert "phase" not in alone.columns and not alone.events


def test_a_monopod_on_a_closed_chain_runs_forward() -> None:
    """BOLT's case (003-13): periodic, forward, without pulling at the ground, the crank in a narrow band."""
    run = simulate(library.bolt_like(), 5.5)
    lifts = edges(run, "liftoff")
    last, before = lifts[-1].after, lifts[-2].after
    assert len(lifts) > 10
    assert last["v"] == pytest.approx(before["v"], abs=1e-5)
    assert last["q"][1:] == pytest.approx(before["q"][1:], abs=1e-7)
    assert (last["q"][0] - before["q"][0]) / (lifts[-1].t - lifts[-2].t) > 0.8
    force = run["stance.z.force"][run["phase"] == 1.0]
    assert force.min() > -1e-4 and force.max() > 50.0
    assert np.ptp(run["q.crank_joint"][run.t > 1.0]) < 0.8


@pytest.mark.slow
@pytest.mark.parametrize("name", list(SPEEDS))
def test_ten_cycles_of_monopods_are_one_orbit_by_several_methods_for_loops(name: str) -> None:
    """BOLT and Raptor (003-13, 003-14): the orbits by perturbation, as in the paper, and by projection are the same."""
    model: System = getattr(library, name)()
    gait, other = (periodic_orbit(model, loops=loops) for loops in ("perturbation", "projection"))
    assert gait and other and max(gait.residual, other.residual) < 1e-8 and gait.stable
    assert gait.map.edges.edges == ("touchdown", "liftoff")
    assert gait.period == pytest.approx(other.period, abs=1e-9)
    np.testing.assert_allclose(gait.z, other.z, atol=1e-8)
    assert abs(gait.multipliers[0]) == pytest.approx(abs(other.multipliers[0]), abs=1e-6)

    # slopes by differences of motions without slopes; one multiplier is not 0, since stance has one freedom
    z, h = other.z, 1e-3 * np.maximum(1.0, np.abs(other.z))
    ends = other.map.many(np.concatenate([z + np.diag(h), z - np.diag(h)]), other.p, 1).z[:, 0]
    monodromy = ((ends[: len(z)] - ends[len(z) :]) / (2.0 * h[:, None])).T
    np.testing.assert_allclose(monodromy, other.monodromy, atol=1e-5)
    assert np.trace(monodromy) == pytest.approx(other.multipliers[0].real, abs=1e-6)

    for loops in ("perturbation", "projection", "baumgarte"):
        run = simulate(model, 12.0 * gait.period, most_events=20, loops=loops, rtol=1e-9, atol=1e-11, **gait.state)
        last = run.events[-1]
        assert last.name == "liftoff" and last.t == pytest.approx(10.0 * gait.period, abs=1e-6)
        np.testing.assert_allclose(last.after["v"], gait.state["v"], atol=1e-5)
        low, high = SPEEDS[name]
        assert low < last.after["q"][0] / last.t - gait.state["q"][0] / last.t < high


@pytest.mark.parametrize("traced", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_reset_may_leave_open_loops_open_and_not_open_them_further(traced: bool) -> None:
    """By the method of perturbations, in the march and in Python: a step of 0.05 rad at the coupler opens the loop."""

    def reset(by: float) -> Guard:
        def changed(q: Any) -> dict[str, Any]:
            first = q[0] if traced else float(q[0])  # a float is not traced
            return {"q": [first, q[1] + by, q[2]]}

        return Guard("reset", lambda t: t - 0.05, reset=changed)

    robot, start = library.four_bar(), [0.6, 0.04989836, 1.5766907]  # open by 3 cm
    loops = SingularPerturbation(0.05)
    same, wider = (simulate(robot, 0.2, q=start, loops=loops, events=reset(by)) for by in (0.0, 0.05))
    assert same.outcome.ok and len(same.events) == 1
    assert same.loop_error[-1] == pytest.approx(np.exp(-4.0) * same.loop_error[0], rel=1e-6)
    assert wider.outcome.kind == "failed" and "break constraints, 'closure' by" in wider.outcome.message
