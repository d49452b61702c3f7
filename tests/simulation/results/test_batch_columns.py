"""A batch answers as a run does: every column by name, each run as a Trajectory, progress, Ctrl-C, single failures.

The stumble: a sweep over 45 lengths asked for the peak torque of a motor, and a batch had states only; no run could be
taken out of it, nothing showed it, it was silent for minutes, and Ctrl-C lost everything after some seconds.
"""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest

from kinemorph import RobotBuilder, System, elements, library, simulate, simulate_batch
from kinemorph.errors import ShapeError, SlowRunWarning, UnsupportedError
from kinemorph.plants.own_equations import first_order
from kinemorph.plants.robot_plant import plant
from kinemorph.simulation.results import batch_run
from kinemorph.simulation.results.batch_run import BatchRun
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.simulation.running import fleet, patience


def leg(every: float | None = None) -> System:
    """Two links with damped joints, each with a controller."""
    builder = RobotBuilder("leg")
    builder.body("thigh", 4.0, com=(0.0, 0.0, -0.2), inertia=(0.06, 0.06, 0.01))
    builder.body("shank", 2.5, com=(0.0, 0.0, -0.2), inertia=(0.03, 0.03, 0.005))
    builder.joint("hip", "revolute", "world", "thigh", axis=(0.0, 1.0, 0.0), damping=0.1)
    builder.joint("knee", "revolute", "thigh", "shank", axis=(0.0, 1.0, 0.0), translation=(0.0, 0.0, -0.4))
    drives = (
        elements.PD("hip_pd", "hip", kp=80.0, kd=5.0, every=every),
        elements.PD("knee_pd", "knee", kp=60.0, kd=3.0, reference=0.5, every=every),
    )
    return System(builder.build(), drives)


def starts(count: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(count)
    return {"q": rng.uniform(-1.0, 1.0, (count, 2)), "v": rng.uniform(-2.0, 2.0, (count, 2))}


@pytest.mark.parametrize("every", [pytest.param(None, marks=pytest.mark.slow), 0.02])
def test_every_column_of_a_batch_is_that_of_single_runs_to_the_last_digit(every, monkeypatch):
    monkeypatch.setattr(batch_run, "PART", 2**14)  # many parts, on several threads
    system, given = leg(every), starts(40)
    batch = simulate_batch(system, 0.5, output_step=0.01, **given)
    assert len(batch) == 40 and isinstance(batch, BatchRun) and len(batch._parts()) > 3
    for k in (0, 9, 39):
        alone = simulate(system, 0.5, output_step=0.01, q=given["q"][k], v=given["v"][k])
        taken = batch[k]
        assert isinstance(taken, Trajectory) and list(alone.columns.items()) == list(batch.columns.items())
        for name in alone.columns:
            assert batch[name].shape == (40, 51), name
            assert np.array_equal(batch[name][k], alone[name]) and np.array_equal(taken[name], alone[name]), name
        assert np.array_equal(batch.momentum[k], alone.momentum)
        assert taken.outcome == alone.outcome and taken.settings == alone.settings
        assert taken.statistics.accepted == alone.statistics.accepted
    assert np.array_equal(batch.tau[..., 1], batch["tau.knee"]) and np.array_equal(batch.a[..., 0], batch["a.hip"])
    assert np.array_equal(batch.energy.balance, batch["energy.balance"]) and "tau.knee" in batch
    assert np.abs(batch["energy.balance"]).max() < 1e-6


def test_parameters_of_each_run_count_in_its_columns():
    system = plant(library.pendulum(), parameters=["m1", "l1"])
    p = np.random.default_rng(1).uniform(0.5, 2.0, (9, 2))
    batch = simulate_batch(system, 1.0, q=[0.5], p=p, output_step=0.1)
    for k in (0, 8):
        alone = simulate(system, 1.0, q=[0.5], p=p[k], output_step=0.1)
        for name in ("a.q1", "energy.kinetic", "energy.potential", "energy.balance"):
            assert np.array_equal(batch[name][k], alone[name])
        assert batch[k].segments[0].robot == alone.segments[0].robot


def test_closed_chains_have_their_loop_errors():
    robot = library.build("four_bar")
    batch = simulate_batch(robot, 0.2, q={"q1": [1.0, 1.2]}, output_step=0.1)
    assert batch["loop_error"].shape == (2, 3) and batch.loop_error.max() < 1e-9 and batch.loop_rate.max() < 1e-8


def test_some_of_the_runs_are_a_batch_again():
    batch = simulate_batch(leg(), 0.2, **starts(12))
    for some, indices in ((batch[2:5], [2, 3, 4]), (batch[[7, -1]], [7, 11]), (batch[batch.q[:, 0, 0] > 9.0], [])):
        assert some.numbers.tolist() == indices and np.array_equal(some["tau.knee"], batch["tau.knee"][indices])
    assert batch[[7, 3]][1].q.tolist() == batch[3].q.tolist() and len(list(batch)) == 12
    assert batch[:3].statistics.accepted == batch.accepted[:3].sum()


def test_wrong_indices_and_names_are_one_sentence():
    batch = simulate_batch(leg(), 0.1, **starts(3))
    with pytest.raises(ShapeError, match=r"no column 'tau.kne'\. Did you mean 'tau.knee'"):
        batch["tau.kne"]
    with pytest.raises(ShapeError, match="no run 3; expected an index from 0 to 2"):
        batch[3]
    for wrong in (1.5, True, None, [0.5], np.ones(5, bool), [[1], [2]]):
        with pytest.raises(ShapeError, match="expected the name of a column, the index of a run"):
            batch[wrong]
    forced = simulate_batch(plant(leg()), 0.1, **starts(3))  # a plant that does not record what its forces supply
    with pytest.raises(UnsupportedError, match="account=True"):
        forced["energy.supplied"]


def test_a_run_that_fails_says_so_and_its_columns_end_there():
    blowing_up = first_order(lambda x: [x[0] * x[0]], {"x": "m"}, start=[0.1], outputs={"twice": lambda x: 2.0 * x[0]})
    batch = simulate_batch(blowing_up, 1.0, x=[[0.1], [2.0], [0.2]], output_step=0.1)
    assert [outcome.kind for outcome in batch.outcomes] == ["finished", "failed", "finished"]
    alone = simulate(blowing_up, 1.0, x=[2.0], output_step=0.1)
    assert batch[1].outcome == alone.outcome and np.array_equal(batch[1]["x"], alone["x"]) and len(alone) == 6
    assert np.array_equal(batch["twice"][1, :6], alone["twice"]) and np.isnan(batch["twice"][1, 6:]).all()
    assert np.array_equal(batch["twice"][[0, 2]], 2.0 * batch["x"][[0, 2]]) and not batch.interrupted
    assert "1 failed" in repr(batch)
    told = str(batch).splitlines()
    assert told[:2] == ["Batch of runs of equations", ""] and "failed            1" in told
    assert told[-1] == f"  1  {batch.failures[1]}"
    assert batch.sheet().data()["failures"] == [{"run": 1, "message": batch.failures[1]}]


def test_runs_that_run_away_or_would_never_end_are_given_up_and_the_others_continue(monkeypatch):
    builder = RobotBuilder("slider").body("block", 1.0, inertia=(0.1, 0.1, 0.1))
    slider = builder.joint("x", "prismatic", "world", "block", axis=(1.0, 0.0, 0.0)).build()
    pushed = simulate_batch(slider, 1.0, u=[[1.0], [3e6]], output_step=0.1)
    assert pushed.ok.tolist() == [True, False] and "the motion diverges" in pushed.failures[1]
    assert (np.abs(pushed.v[1, : pushed.done[1] - 1]) < 1e6).all() and np.isnan(pushed.v[1, pushed.done[1] :]).all()
    assert pushed.done[1] == 5 and pushed.outcomes[1].t == pushed.t[4] and pushed[0].outcome.ok
    monkeypatch.setattr(fleet, "MOST_TRIES", 100)
    monkeypatch.setattr(patience, "SOON", 200)
    monkeypatch.setattr(patience, "HOPELESS", 10_000)
    rates = first_order(lambda t, x, p: [-p[0] * (x[0] - t)], {"x": ""}, parameters={"k": 1.0})
    decays = simulate_batch(rates, 10.0, x=[0.0], p=[[1.0], [1e5]], output_step=5.0)
    assert decays.ok.tolist() == [True, False] and decays.accepted[1] + decays.rejected[1] == 200
    assert "200 steps of 'dop853' for 0.1" in decays.failures[1] and "is stiff" in decays.failures[1]


def test_long_runs_that_are_not_stiff_continue(monkeypatch):
    """The stumble: a fast oscillation over a long time was ended after 300,000 steps and called stiff."""
    monkeypatch.setattr(fleet, "MOST_TRIES", 100)
    monkeypatch.setattr(patience, "SOON", 200)
    monkeypatch.setattr(patience, "HOPELESS", 1_000)
    turning = first_order(lambda x, p: [p[0] * x[1], -p[0] * x[0]], {"x": "", "y": ""}, parameters={"w": 1.0})
    with pytest.warns(SlowRunWarning, match=r"fast rather than stiff at t = .* takes about .* The run continues"):
        assert simulate_batch(turning, 10.0, x=[1.0, 0.0], p=[[1.0], [1e3]], output_step=5.0).ok.all()
    with pytest.warns(SlowRunWarning, match="method='radau' takes far fewer steps"):
        monkeypatch.setattr(patience, "HOPELESS", 1_000_000)
        monkeypatch.setattr(patience, "MANY", 300)
        simulate(first_order(lambda t, x: [-1e4 * (x[0] - t)], {"a": ""}), 1.0, output_step=1e-3)


@pytest.mark.slow
def test_elements_that_switch_at_events_do_so_in_a_batch_as_in_single_runs():
    """The stumble: a foot that landed in a run with tolerances ended its state, with a message about short steps."""
    builder = RobotBuilder("hopper").body("hip", 1.0, inertia=(0.1, 0.1, 0.1))
    robot = builder.joint("z", "prismatic", "world", "hip", axis=(0.0, 0.0, 1.0)).build()
    hopper = System(robot, (elements.SpringLeg("leg", "hip", stiffness=500.0, length=1.0),))
    heights = np.array([[1.3], [1.1]])
    batch = simulate_batch(hopper, 1.0, q=heights, rtol=1e-8, output_step=0.05)
    assert batch.ok.all()
    for k, height in enumerate(heights):
        alone = simulate(hopper, 1.0, q=height, rtol=1e-8, output_step=0.05)
        assert np.array_equal(batch[k].q, alone.q) and np.array_equal(batch[k].m, alone.m)
        assert len(alone.events) > 1
        assert [(e.t, e.name, e.kind) for e in batch[k].events] == [(e.t, e.name, e.kind) for e in alone.events]


def test_progress_is_reported_and_results_do_not_depend_on_it(monkeypatch):
    seen: list[tuple[float, float, int]] = []
    plain = simulate_batch(leg(), 1.0, **starts(9))
    monkeypatch.setattr(fleet, "FIRST_TRIES", 30)
    monkeypatch.setattr(fleet, "PATIENCE", 1e-9)  # calls of one step
    again = plant(leg(), account=True)  # which does not know yet how long a step takes
    batch = simulate_batch(again, 1.0, **starts(9), progress=lambda *now: seen.append(now))
    times = [t for t, _, _ in seen]
    assert len(seen) > 20 and times[0] == 0.0 and times[-1] == 1.0 and times == sorted(times)
    assert all(h > 0.0 and failed == 0 for _, h, failed in seen)
    assert np.array_equal(batch.q, plain.q) and np.array_equal(batch.accepted, plain.accepted)


def test_an_interrupted_batch_keeps_what_is_done(monkeypatch):
    def stop(t: float, h: float, failed: int) -> None:
        if t > 0.6:
            raise KeyboardInterrupt

    given = starts(100)
    whole = simulate_batch(leg(), 1.0, **given)
    monkeypatch.setattr(fleet, "FIRST_TRIES", 64)
    monkeypatch.setattr(fleet, "PATIENCE", 1e-9)  # small groups: some runs have ended, others have not begun
    batch = simulate_batch(plant(leg(), account=True), 1.0, **given, progress=stop)
    assert batch.interrupted and "interrupted" in repr(batch) and 0 < batch.ok.sum() < 100
    assert {outcome.kind for outcome in batch.outcomes} == {"finished", "interrupted"}
    for k in (0, int(np.argmin(batch.ok)), 99):
        n = batch.done[k]
        assert np.array_equal(batch["tau.knee"][k, :n], whole["tau.knee"][k, :n]) and len(batch[k]) == n
        assert np.isnan(batch["tau.knee"][k, n:]).all()
    assert batch.done[99] == 0 and "empty" in repr(batch[99])


def test_ctrl_c_ends_a_long_batch_at_once():
    pressed: list[float] = []

    def press() -> None:
        pressed.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.3, press)

    def begun(t: float, h: float, failed: int) -> None:
        if not t:
            timer.start()

    q = np.linspace(0.1, 2.0, 300)[:, None]
    batch = simulate_batch(library.pendulum(), 1e6, q=q, output_step=1e5, progress=begun)
    assert time.perf_counter() - pressed[0] < 1.0
    assert batch.interrupted and batch.done[0] >= 1 and np.isfinite(batch.q[0, 0]).all()
    timer.join()


@pytest.mark.slow
def test_one_column_of_ten_thousand_runs_takes_a_second_and_little_memory():
    import tracemalloc

    system, given = leg(), starts(10_000)
    batch = simulate_batch(system, 9.99, output_step=0.01, **given)
    _ = batch[:10]["tau.knee"]  # compiled
    began = time.perf_counter()
    torque = batch["tau.knee"]
    assert time.perf_counter() - began < 2.0  # 0.6 s on two free cores
    tracemalloc.start()
    assert np.array_equal(batch["tau.knee"], torque) and torque.shape == (10_000, 1000)
    assert tracemalloc.get_traced_memory()[1] < 200e6
    tracemalloc.stop()
    for k in (0, 1, 4321, 9999):
        alone = simulate(system, 9.99, output_step=0.01, q=given["q"][k], v=given["v"][k])
        assert np.array_equal(alone["tau.knee"], torque[k])
