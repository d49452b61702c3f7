"""Batches with events: each run is as it would be alone, ends where it has to, and tells how (003-08, 003-09)."""

from __future__ import annotations

import math
import pickle
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinemorph import Body, RobotBuilder, System, library, simulate, simulate_batch
from kinemorph.algebra.scalar import sincos
from kinemorph.codegen.backends.llvm import math as llvm_math
from kinemorph.elements import Automaton, Edge, Hold, Phase, Probe
from kinemorph.errors import UnsupportedError
from kinemorph.plants.own_equations import first_order
from kinemorph.plants.programs import Plant
from kinemorph.plants.robot_plant import plant
from kinemorph.simulation.march.guards import Guard
from kinemorph.simulation.results.batch_run import BatchRun
from kinemorph.simulation.results.event_log import Jumped, cut_at_jumps
from kinemorph.simulation.results.trajectory import Trajectory

SLOPE = math.radians(3.0)
# angles and rates of the stance and the swing leg after an impact on the limit cycle (Goswami's compass at 3 degrees)
CYCLE = (0.2186688, -0.3233886, -1.0923836, -0.3773740)
PRECISE = {"rtol": 1e-10, "atol": 1e-12}


@pytest.fixture(scope="module", autouse=True)
def separate_roundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Products and sums are rounded one by one: else LLVM may join other pairs of them in lanes than for one state."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KINEMORPH_CACHE", str(tmp_path_factory.mktemp("code")))
        for name, text in llvm_math.SPELLINGS.items():
            patch.setitem(llvm_math.SPELLINGS, name, text.replace(" contract", ""))
        llvm_math.spellings.cache_clear()
        yield
    llvm_math.spellings.cache_clear()


@cache
def compass() -> Plant:
    """Two legs of 1 m on a slope; the stance foot is held, and after each strike the legs exchange their names."""
    builder = RobotBuilder("compass_in_batches").body("slider", mass=0.0).body("hip", mass=10.0)
    for side in ("left", "right"):
        builder.body(f"{side}_leg", mass=5.0, com=(0.0, 0.0, -0.5))
        builder.frame(f"{side}_foot", f"{side}_leg", translation=(0.0, 0.0, -1.0))
    builder.joint("x", "prismatic", "world", "slider", axis=(1, 0, 0))
    builder.joint("z", "prismatic", "slider", "hip", axis=(0, 0, 1))
    for side in ("left", "right"):
        builder.joint(side, "revolute", "hip", f"{side}_leg", axis=(0, -1, 0))
    strike = Edge(
        *("strike", "step", "step"),
        guard=f"foot.z + {math.tan(SLOPE)!r} * foot.x",
        when="q.right - q.left",
        relabel={"left": "right", "right": "left"},
    )
    feet = (Hold("stance", "left_foot", axes="xz"), Probe("foot", "right_foot"))
    system = System(builder.build(), feet, automaton=Automaton((Phase("step", ("stance",)),), (strike,)))
    return plant(system, account=True)


def near_the_cycle(count: int) -> dict[str, dict[str, np.ndarray]]:
    rng = np.random.default_rng(5)
    stance, swing, d_stance, d_swing = np.array(CYCLE)[:, None] + 0.01 * rng.standard_normal((4, count))
    q = {"x": -np.sin(stance), "z": np.cos(stance), "left": stance, "right": swing}
    v = {"x": -np.cos(stance) * d_stance, "z": -np.sin(stance) * d_stance, "left": d_stance, "right": d_swing}
    return {"q": q, "v": v}


def one_of(starts: dict[str, Any], k: int) -> dict[str, Any]:
    return {
        group: {name: values[k] for name, values in given.items()} if isinstance(given, dict) else given[k]
        for group, given in starts.items()
    }


def assert_same(batched: Trajectory, alone: Trajectory) -> None:
    """Both runs have the same segments, events and outcome, to the last digit."""
    assert batched.outcome == alone.outcome
    assert len(batched.segments) == len(alone.segments)
    for mine, other in zip(batched.segments, alone.segments, strict=True):
        for group in ("t", "q", "v", "x", "m"):
            assert np.array_equal(getattr(mine, group), getattr(other, group))
    assert len(batched.events) == len(alone.events)
    for event, other in zip(batched.events, alone.events, strict=True):
        assert (event.t, event.name, event.kind, event.numbers) == (other.t, other.name, other.kind, other.numbers)
        for group in ("q", "v", "x", "m"):
            assert np.array_equal(event.before[group], other.before[group])
            assert np.array_equal(event.after[group], other.after[group])


@cache
def ball() -> Plant:
    builder = RobotBuilder("ball_in_batches").add(Body.sphere("ball", 1.0, 0.1))
    return plant(builder.joint("fall", "prismatic", "world", "ball", axis=(0, 0, 1)).build())


@cache
def bounce(e: float) -> Guard:
    return Guard("ground", lambda q: q[0], "falling", reset=lambda v: {"v": -e * v})


MARKS = (Guard("half", lambda q: q[0] - 0.5), Guard("late", lambda t: t - 6.5, stop=True))  # without resets
HEIGHTS = {"q": np.array([[1.0], [3.0], [10.0], [0.2]])}


def test_walks_of_a_batch_are_those_of_single_runs_and_end_after_the_same_step() -> None:
    walker, starts = compass(), near_the_cycle(5)
    batch = simulate_batch(walker, 20.0, **starts, most_events=19, **PRECISE)
    assert batch.ok.all() and (batch.event_counts == 19).all() and {one.kind for one in batch.outcomes} == {"stopped"}
    for k in (0, 4):
        alone = simulate(walker, 20.0, **one_of(starts, k), most_events=19, **PRECISE)
        assert_same(batch[k], alone)
        assert len(alone.segments) == 20 and "after 19 events" in alone.outcome.message
        assert batch.final.t[k] == alone.t[-1] == alone.events[-1].t
        assert np.array_equal(batch.final.q[k], alone.q[-1]) and np.array_equal(batch.final.m[k], alone.m[-1])
        n = int(batch.done[k])
        assert batch.t[n - 1] <= batch.final.t[k] < batch.t[n] and np.isnan(batch["q.left"][k, n:]).all()
    some = batch[[4, 0]]
    assert_same(some[0], batch[4])
    counted = simulate_batch(walker, 20.0, **starts, most_events=19, keep_events=False, **PRECISE)
    assert np.array_equal(counted.final.q, batch.final.q) and np.array_equal(counted.event_counts, batch.event_counts)
    with pytest.raises(UnsupportedError, match="keep_events=True"):
        counted[0]


def test_methods_of_other_libraries_take_edges() -> None:
    walker, start = compass(), one_of(near_the_cycle(1), 0)
    own, other = (
        simulate(walker, 9.0, **start, most_events=3, method=method, **PRECISE) for method in ("dop853", "scipy:DOP853")
    )
    assert other.outcome.kind == own.outcome.kind == "stopped" and len(other.segments) == len(own.segments) == 4
    assert [event.t for event in other.events] == pytest.approx([event.t for event in own.events], abs=1e-8)
    losses = [[event["energy_loss"] for event in run.events] for run in (own, other)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-7)
    assert other.loop_error.max() < 1e-12


@pytest.mark.parametrize("e", [pytest.param(0.0, marks=pytest.mark.slow), 0.7])
def test_balls_of_a_batch_bounce_and_come_to_rest_as_alone(e: float) -> None:
    batch = simulate_batch(ball(), 7.0, **HEIGHTS, events=[*MARKS, bounce(e)], output_step=0.005)
    fall = np.sqrt(2.0 * HEIGHTS["q"][:, 0] / 9.81)
    ends = fall * (1.0 + 2.0 * e / (1.0 - e))
    rest = ends < 6.5
    assert [one.kind for one in batch.outcomes] == ["rest" if one else "stopped" for one in rest]
    assert batch.ends == pytest.approx(np.minimum(ends, 6.5), abs=1e-5) and batch.ok.all()
    for k, height in enumerate(HEIGHTS["q"]):
        assert_same(batch[k], simulate(ball(), 7.0, q=height, events=[*MARKS, bounce(e)], output_step=0.005))
    if e == 0.0:  # at rest after the first bounce
        return
    few = simulate_batch(ball(), 7.0, **HEIGHTS, events=[*MARKS, bounce(e)], output_step=0.005, most_events=2)
    assert (few.event_counts == 2).all() and np.array_equal(few.final.t, [batch.events[k][1].t for k in range(4)])


@pytest.mark.slow
@pytest.mark.parametrize("resets", [False, True])
def test_a_guard_ends_the_run_of_the_states_that_reach_it(resets: bool) -> None:
    reset = (lambda: {"v": [0.0]}) if resets else None
    guards = [Guard("top", lambda q: q[0] - 2.0, "falling", reset=reset, stop=True), bounce(0.9)]
    batch = simulate_batch(ball(), 4.0, **HEIGHTS, events=guards, most_events=3)
    assert [outcome.kind for outcome in batch.outcomes] == ["stopped"] * 4
    assert batch.event_counts.tolist() == [3, 1, 1, 3] and batch.final.q[1, 0] == pytest.approx(2.0, abs=1e-12)
    for k, height in enumerate(HEIGHTS["q"]):
        assert_same(batch[k], simulate(ball(), 4.0, q=height, events=guards, most_events=3))


@pytest.mark.slow
def test_a_stiff_rate_that_points_back_does_not_repeat_a_crossing() -> None:
    fast = first_order(lambda t, x: [-1e5 * (x[0] - sincos(t)[0]) + sincos(t)[1]], {"y": ""}, name="fast_in_batches")
    options: dict[str, Any] = {"method": "radau", "rtol": 1e-6, "atol": 1e-8, "most_events": 20}
    half = Guard("half", lambda x: x[0] - 0.5)
    starts = np.linspace(0.0, 1.0, 9)[:, None]
    batch = simulate_batch(fast, 7.0, x=starts, events=half, **options)
    assert batch.event_counts.max() < 8
    for k, start in enumerate(starts):
        alone = simulate(fast, 7.0, x=start, events=half, **options)
        assert len(alone.events) == batch.event_counts[k]
        assert batch[k].t[-1] == alone.t[-1] == 7.0


def test_a_state_whose_reset_breaks_constraints_fails_alone() -> None:
    """The stumble: a crank turned round by a reset opened its loop without a word."""
    four_bar, rates = plant(library.four_bar()), np.array([3.0, -3.0, 0.5])
    turned = Guard("turn", lambda q: q[0] - 1.2, "rising", reset=lambda v: {"v": [-v[0], v[1], v[2]]})
    back = Guard("back", lambda q: q[0] - 0.8, "falling", reset=lambda v: {"v": -v})  # the whole motion is reversed
    batch = simulate_batch(four_bar, 0.12, q={"q1": 1.0}, v={"q1": rates}, events=[turned, back])
    assert batch.ok.tolist() == [False, True, True] and batch.event_counts.tolist() == [1, 1, 0]
    (event,) = batch.events[0]
    crank, coupler, _ = event.before["q"]
    end = 0.3 * np.exp(1j * crank) + 0.9 * np.exp(1j * (crank + coupler))  # [m] of the coupler, from the crank's pivot
    speed = (
        2.0 * abs(end) * abs(event.before["v"][0])
    )  # by which the reset tears the loop; the message has one component
    said = re.search(r"'closure' by ([0-9.]+) m/s", batch.failures[0])
    assert said and 0.7 * speed < float(said[1]) < 1.01 * speed and "plastic" in batch.failures[0]
    alone = simulate_batch(four_bar, 0.12, q={"q1": 1.0}, v={"q1": rates[1:]}, events=[turned, back])
    assert np.array_equal(alone.q, batch.q[1:]) and alone.loop_error.max() < 1e-10 and alone.loop_rate.max() < 1e-9


def test_a_reset_that_cannot_be_compiled_is_refused_by_name() -> None:
    choosing = Guard("ground", lambda q: q[0], reset=lambda v: {"v": [0.0]} if v[0] > 1.0 else {})
    with pytest.raises(UnsupportedError, match=r"guard 'ground': its reset cannot be compiled.*use simulate"):
        simulate_batch(ball(), 1.0, **HEIGHTS, events=choosing)


def test_events_of_a_batch_are_pickled_and_saved(tmp_path: Path) -> None:
    batch = simulate_batch(ball(), 3.0, **HEIGHTS, events=[*MARKS, bounce(0.7)], output_step=0.005)
    for again in (pickle.loads(pickle.dumps(batch)), BatchRun.load(batch.save(tmp_path / "balls.npz"), ball())):
        assert np.array_equal(again.event_counts, batch.event_counts)
        for k in range(4):
            assert_same(again[k], batch[k])


def test_samples_that_do_not_fit_into_one_call_come_before_the_jump_that_follows_them() -> None:
    starts = near_the_cycle(2)
    run = simulate(compass(), 9.0, **one_of(starts, 0), output_step=0.001, **PRECISE)
    assert len(run.segments) > 9 and all((np.diff(segment.t) > 0.0).all() for segment in run.segments)
    assert_same(simulate_batch(compass(), 9.0, **starts, output_step=0.001, **PRECISE)[0], run)


def test_two_jumps_at_one_instant_leave_a_segment_of_one_sample() -> None:
    times, rows = np.array([0.0, 1.0, 2.0]), np.array([[0.0], [1.0], [2.0]])
    jumps = [Jumped(1.0, np.array([10.0]), np.array([11.0])), Jumped(1.0, np.array([11.0]), np.array([12.0]))]
    pieces = [(t.tolist(), row[:, 0].tolist()) for t, row in cut_at_jumps(times, rows, jumps)]
    assert pieces == [([0.0, 1.0], [0.0, 10.0]), ([1.0], [11.0]), ([1.0, 2.0], [12.0, 2.0])]


def test_samples_up_to_rest_are_there_however_many_fit_into_a_call() -> None:
    """A fall in few long steps has more samples than one call, which also found that the ball rests."""
    run = simulate_batch(ball(), 7.0, q=np.array([[10.0]]), events=[bounce(0.0)], output_step=0.005)[0]
    assert run.outcome.kind == "rest" and run.q[:, 0] == pytest.approx(10.0 - 0.5 * 9.81 * run.t**2, abs=1e-9)
