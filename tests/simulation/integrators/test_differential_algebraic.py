"""Constraints and methods of other libraries: IDA, to which they are equations, and those that know of none."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinemorph import Body, Guard, RobotBuilder, System, derive, elements, load, save, simulate, simulate_batch
from kinemorph.algebra.scalar import sin
from kinemorph.codegen.building.compile import build
from kinemorph.errors import MissingExtraError, ModelError, ShapeError, UnsupportedError
from kinemorph.loops import Baumgarte, Partitioning
from kinemorph.model.library import bricard, four_bar
from kinemorph.model.run_plans import LOOP_METHOD_NAMES
from kinemorph.model.system import Settings
from kinemorph.plants import plant
from kinemorph.plants.loop_methods import LOOP_METHODS
from kinemorph.plants.programs import Plant
from kinemorph.simulation.foreign.ida import independent_rows
from kinemorph.simulation.foreign.stepper import ForeignStepper
from kinemorph.simulation.march.layout import Status
from kinemorph.simulation.stepping.failures import explained
from kinemorph.simulation.stepping.stepper import Stepper
from support.robots.reference_robots import reference

IDA = "sundials:ida"
END, END_RATE = -2.62546008, -15.88372404  # q1 and its rate after 2 s, from an index-1 solution to 1e-8


def torque(t: Any) -> list[Any]:
    return [0.5 * sin(2.0 * t), 0.0, 0.0]


@pytest.fixture(scope="module")
def driven() -> Plant:
    return plant(four_bar(), forces=torque)


def run(model: Any, until: float, method: str, tolerance: float = 1e-9, **options: Any) -> Any:
    found = simulate(model, until, method=method, rtol=tolerance, atol=0.01 * tolerance, **options)
    assert found.outcome.ok, found.outcome.message
    return found


def drift(stepper: ForeignStepper, until: float) -> list[float]:
    """How far constraints are off where the steps of a method end, before anything is done about it."""
    system, found = stepper.plant, []
    assert system.constraints is not None
    constraints = build(system.constraints)
    while stepper.state.t < until:
        stepper.step()
        s = np.concatenate([np.zeros(system.nv), stepper._y[system.nq :]])
        phi = constraints(stepper.state.t, stepper._y[: system.nq], s, stepper.m, stepper.u, stepper.p)[0]
        found.append(float(np.abs(phi).max()))
    return found


# ── as differential-algebraic equations ───────────────────────────────────────────────────────────────────────────────


def test_a_four_bar_ends_where_the_reference_does(driven: Plant) -> None:
    pytest.importorskip("sksundae")
    found = run(driven, 2.0, IDA, 1e-10, q={"q1": 0.6}, output_step=0.05)
    assert abs(found.q[-1, 0] - END) < 1e-6 and abs(found.v[-1, 0] - END_RATE) < 1e-5
    assert found.loop_error.max() < 1e-13 and found.loop_rate.max() < 1e-12


@pytest.mark.slow
def test_its_own_equations_keep_it_near_the_constraints(driven: Plant) -> None:
    pytest.importorskip("sksundae")
    errors = drift(ForeignStepper(driven, method=IDA, q={"q1": 0.6}, rtol=1e-6, atol=1e-8), 4.0)
    early, late = errors[: len(errors) // 2], errors[len(errors) // 2 :]
    assert max(late) < 1e-6 and max(late) < 5.0 * max(early)


def test_rows_that_repeat_others_are_left_out() -> None:
    pytest.importorskip("sksundae")
    expected = reference("a04_bricard")["reference"]["P3"]["1.0"]
    found = run(bricard(), 1.0, IDA, output_step=0.1)
    corner = derive(bricard(), backend="interpreter").pose("P3")(found.q[-1])[:3, 3]
    assert np.abs(corner - np.array(expected)).max() < 1e-8 and found.loop_error.max() < 1e-12


@pytest.mark.slow
def test_a_skate_draws_a_cycloid() -> None:
    """Of its constraint there is no position; on a slope of g it goes down and up again, g / (2 w^2) wide."""
    pytest.importorskip("sksundae")
    builder = RobotBuilder("skate", gravity=(3.0, 0.0, 0.0)).add(Body.box("skate", 1.5, (0.3, 0.02, 0.1)))
    robot = builder.joint("root", "planar", "world", "skate").build()
    found = run(System(robot, (elements.KnifeEdge("edge", "skate"),)), 2.0, IDA, 1e-10, v=[0, 0, 1.7], output_step=0.1)
    np.testing.assert_allclose(found.q[:, 0], 3.0 * np.sin(1.7 * found.t) ** 2 / (2.0 * 1.7**2), atol=1e-7)
    assert found.loop_rate.max() < 1e-11


def test_other_rows_are_taken_where_those_at_work_hardly_hold() -> None:
    """A point on a circle, said by two rows, of which each says nothing at times."""
    pytest.importorskip("sksundae")
    builder = RobotBuilder("point", gravity=(0.0, 0.0, 0.0)).add(Body.point("cart", 0.0), Body.point("bead", 1.0))
    builder.joint("x", "prismatic", "world", "cart", axis=(1, 0, 0))
    robot = builder.joint("y", "prismatic", "cart", "bead", axis=(0, 1, 0)).build()
    circle = "(q.x**2 + q.y**2 - 1)"
    rows = (f"(0.5 + q.x + abs(0.5 + q.x)) * {circle}", f"(0.5 - q.x + abs(0.5 - q.x)) * {circle}")
    ring = System(robot, (elements.Constraint("ring", rows),))
    found = run(ring, 4.0, IDA, 1e-10, q=[1.0, 0.0], v=[0.0, 2.0], output_step=0.1)
    np.testing.assert_allclose(found.q, np.stack([np.cos(2 * found.t), np.sin(2 * found.t)], axis=1), atol=1e-6)


def test_independent_rows_are_those_with_most_of_their_own() -> None:
    J = np.array(
        [[1.0, 0.0, 0.0], [0.0, 1e-3, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 5.0]]
    )
    assert independent_rows(J, 5).tolist() == [False, False, True, False, True, True]
    assert independent_rows(J, 2).tolist() == [True, True, False, False, False, True]
    assert independent_rows(np.zeros((2, 3)), 2).sum() == 0


def test_what_ida_does_not_do(driven: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sksundae")
    with pytest.raises(UnsupportedError, match="loops is Baumgarte, and method 'sundials:ida' keeps constraints"):
        simulate(four_bar(), 1.0, q={"q1": 0.6}, method=IDA, loops="baumgarte")
    sentence = explained(ForeignStepper(driven, method=IDA, q={"q1": 0.6}), Status.STUCK)
    assert "may be at a singular configuration" in sentence and "method='dop853'" in sentence
    monkeypatch.setitem(sys.modules, "sksundae", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'kinemorph\[stiff\]'"):
        simulate(driven, 1.0, q={"q1": 0.6}, method=IDA)


# ── as equations of motion ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("method", ["scipy:DOP853", "scipy:LSODA", "sundials:cvode-adams", "sundials:cvode-bdf"])
def test_what_is_read_is_on_the_constraints(driven: Plant, method: str) -> None:
    if method.startswith("sundials"):
        pytest.importorskip("sksundae")
    guard = Guard("past", lambda q: q[0] + 1.0, stop=True)
    found = run(driven, 2.0, method, 1e-6, q={"q1": 0.6}, events=guard, output_step=0.05)
    assert found.outcome.kind == "stopped" and abs(found.q[-1, 0] + 1.0) < 1e-10
    assert found.loop_error.max() < 1e-12 and found.loop_rate.max() < 1e-10


def test_steps_that_lead_too_far_begin_anew_on_the_constraints(driven: Plant) -> None:
    errors = drift(ForeignStepper(driven, method="scipy:RK45", q={"q1": 0.6}, rtol=1e-6, atol=1e-8), 3.0)
    assert 1e-9 < max(errors) < 3e-5


@pytest.mark.slow
def test_dependent_velocities_are_chosen_here_too() -> None:
    badly = {"dependent.q1": 1.0, "dependent.q2": 1.0}  # by the rocker, which has dead points
    robot, options = four_bar(), {"q": {"q1": 0.6}, "forces": torque, "method": "scipy:DOP853"}
    found = simulate(robot, 2.0, loops="partitioning", m=badly, rtol=1e-9, atol=1e-11, output_step=0.01, **options)
    assert found.outcome.ok and abs(found.q[-1, 0] - END) < 1e-6
    assert len(np.unique(found.m, axis=0)) > 1 and (found.m.sum(axis=1) == 2.0).all()
    lost = simulate(robot, 2.0, loops=Partitioning(("q3",)), **{**options, "q": {"q1": 1.4}})
    assert lost.outcome.kind == "failed" and "do not determine the other joints" in lost.outcome.message


# ── starts ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("make", [Stepper, lambda *a, **k: ForeignStepper(*a, method="scipy:RK45", **k)])
def test_steppers_close_their_start_as_runs_do(driven: Plant, make: Any) -> None:
    first = simulate(driven, 0.01, q={"q1": 0.6}, v={"q3": 0.5})
    stepper = make(driven, q={"q1": 0.6}, v={"q3": 0.5})
    assert np.abs(stepper.state.q - first.q[0]).max() < 1e-15 and np.abs(stepper.state.v - first.v[0]).max() < 1e-13
    assert np.array_equal(make(driven, q=first.q[0] + 1e-5).state.q.round(4), first.q[0].round(4))
    with pytest.raises(ShapeError, match="open in the initial state: 'closure' by"):
        make(driven, q=[0.6, 0.5, 0.5])


def test_batches_close_their_starts() -> None:
    system = plant(four_bar())
    angles = np.array([0.3, 0.6, 1.2])
    many = simulate_batch(system, 0.2, q={"q1": angles}, v={"q1": 1.0})
    for k, angle in enumerate(angles):
        one = simulate(system, 0.2, q={"q1": angle}, v={"q1": 1.0})
        assert np.abs(many.q[k] - one.q).max() < 1e-12 and many.q[k, 0, 0] == angle
    with pytest.raises(
        ShapeError, match="state 1 of the batch: q: the loops of 'four_bar' are open in the initial state"
    ):
        simulate_batch(system, 0.2, q=[many.q[0, 0], many.q[0, 0] + 0.1])


# ── settings ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_settings_say_how_loops_are_kept(tmp_path: Path) -> None:
    assert tuple(LOOP_METHODS) == LOOP_METHOD_NAMES
    system = System(four_bar(), settings=Settings(loops="baumgarte"))
    save(system, tmp_path / "four_bar.toml")
    assert plant(load(tmp_path / "four_bar.toml")).loops == Baumgarte()
    assert plant(system, loops="partitioning").loops == Partitioning()
    with pytest.raises(ModelError, match=r"loops is 'baumgart', expected one of projection, .* mean 'baumgarte'"):
        System(four_bar(), settings=Settings(loops="baumgart"))
