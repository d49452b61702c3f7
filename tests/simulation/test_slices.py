"""Runs in slices: progress several times a second, growing results, and the same bits as in one piece."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from kinemorph import Guard, HeldInputs, Trajectory, library, simulate
from kinemorph.simulation.foreign import stepper as foreign
from kinemorph.simulation.running import ledger
from kinemorph.simulation.running.execution import Place, Run, Samples
from kinemorph.simulation.stepping import stepper as own


def bits(run: Trajectory) -> list[Any]:
    """Everything that a run has stored, but the time that it took."""
    arrays = [getattr(segment, group).tobytes() for segment in run.segments for group in "tqvxmu"]
    events = [(event.t, event.name, event.kind) for event in run.events]
    steps = (run.statistics.accepted, run.statistics.rejected, run.statistics.calls)
    return [arrays, events, run.outcome, steps]


PENDULUM = library.double_pendulum()
RAISED = [2.0, 0.5]


def bouncing() -> dict[str, Any]:
    """A pendulum whose velocity jumps at each passage of its lowest point."""
    return {"events": Guard("bottom", lambda q: q[0], reset=lambda v: {"v": [-0.9 * v[0], v[1]]})}


RUNS: dict[str, Any] = {
    "adaptive": {},
    "samples are rare": {"output_step": 0.7},
    "stiff method": {"method": "radau"},
    "fixed step": {"method": "rk4", "step": 1e-3},
    "resets": bouncing(),
    "held inputs": {"inputs": HeldInputs(lambda t: [0.1 * np.sin(t), 0.0], every=0.05)},
    "SciPy": {"method": "scipy:LSODA", "until": 1.0},
}


def whole_and_sliced(monkeypatch: pytest.MonkeyPatch, compute: Any) -> tuple[Trajectory, Trajectory]:
    """The same run, once in calls that nothing interrupts, and once in the smallest slices: each is one step."""
    with monkeypatch.context() as patch:
        patch.setattr(own, "FIRST_TRIES", own.MOST_TRIES)
        for module in (own, foreign):
            patch.setattr(module, "SLICE", 1e9)
        whole = compute()
    with monkeypatch.context() as patch:
        patch.setattr(own, "FIRST_TRIES", 1)
        for module in (own, foreign):
            patch.setattr(module, "SLICE", 0.0)
        return whole, compute()


@pytest.mark.parametrize("name", ["adaptive", "resets", "SciPy"])
def test_slices_change_no_bit_of_a_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"until": 4.0, "output_step": 0.01, **RUNS[name]}
    whole, sliced = whole_and_sliced(monkeypatch, lambda: simulate(PENDULUM, q=RAISED, **options))
    assert bits(whole) == bits(sliced)
    assert len(whole.events) > 1 or name != "resets"


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in RUNS if name not in ("adaptive", "resets", "SciPy")])
def test_slices_change_no_bit_of_runs_by_other_methods(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"until": 4.0, "output_step": 0.01, **RUNS[name]}
    whole, sliced = whole_and_sliced(monkeypatch, lambda: simulate(PENDULUM, q=RAISED, **options))
    assert bits(whole) == bits(sliced)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["rocking_block", "slip_runner", "raibert_hopper", "four_bar", "crawler", "compass_walker", "cradle", "segway"],
)
def test_slices_change_no_bit_of_runs_with_contacts_loops_and_phases(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    system, start = getattr(library, name)(), {"q": {"q1": 1.0}} if name == "four_bar" else {}
    whole, sliced = whole_and_sliced(monkeypatch, lambda: simulate(system, 1.0, output_step=0.003, **start))
    assert bits(whole) == bits(sliced)


@pytest.mark.slow
def test_a_run_that_diverges_ends_at_the_same_step_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """A spring that is far too stiff for its step: the run is ended where its motion is found to diverge."""
    wild = {"method": "rk4", "step": 0.4, "until": 5000.0, "output_step": 1.0}
    whole, sliced = whole_and_sliced(monkeypatch, lambda: simulate(PENDULUM, q=RAISED, **wild))
    assert whole.outcome.kind == "failed" and bits(whole) == bits(sliced)


@pytest.mark.parametrize("name", ["adaptive", "resets", "held inputs"])
def test_watched_parts_together_are_the_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a later call changes the inputs of a sample that is stored already."""
    monkeypatch.setattr(own, "FIRST_TRIES", 7)
    monkeypatch.setattr(own, "SLICE", 0.0)
    monkeypatch.setattr(ledger, "EVERY", 0.0)
    parts: list[Trajectory] = []
    run = simulate(PENDULUM, 2.0, q=RAISED, watch=parts.append, **RUNS[name])
    kinds = [part.outcome.kind for part in parts]
    assert len(parts) > 10 and set(kinds[:-1]) <= {"unfinished", "finished"} and kinds[-1] == "finished"
    for group in "tqvxmu":
        assert np.concatenate([getattr(part, group) for part in parts]).tobytes() == getattr(run, group).tobytes()
    assert [event for part in parts for event in part.events] == list(run.events)


def test_parts_of_a_run_are_not_handed_over_more_often_than_ten_times_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own, "FIRST_TRIES", 7)
    monkeypatch.setattr(own, "SLICE", 0.0)
    assert ledger.EVERY == 0.1
    monkeypatch.setattr(ledger, "EVERY", 1e9)
    parts: list[Trajectory] = []
    run = simulate(PENDULUM, 0.5, q=RAISED, watch=parts.append)
    assert [len(part) for part in parts] == [len(run)]  # all of it at the end


def test_samples_since_a_place_come_once_each_also_over_several_segments() -> None:
    """The last sample waits, because it may still get other inputs."""

    def samples(*times: float) -> Samples:
        return Samples(np.array(times), np.zeros((len(times), 1)), np.zeros((len(times), 0)))

    run = object.__new__(Run)
    run.done = [[samples(0, 1), samples(2, 3)], [samples(3, 4)], [samples(4), samples(5, 6)]]
    run._segment = lambda parts: [t for part in parts for t in part.t.tolist()]  # type: ignore[assignment,method-assign]
    assert run.since(Place()) == ([[0, 1, 2, 3], [3, 4], [4, 5]], Place(2, 1, 1))
    assert run.since(Place(0, 1, 1)) == ([[3], [3, 4], [4, 5]], Place(2, 1, 1))
    assert run.since(Place(2, 1, 1)) == ([], Place(2, 1, 1))
    assert run.since(Place(2, 1, 1), all_of_it=True) == ([[6]], Place(2, 1, 2))
    run.done[-1].append(samples(7))
    assert run.since(Place(2, 1, 1)) == ([[6]], Place(2, 2, 0))
    assert run.since(Place(2, 1, 2), all_of_it=True) == ([[7]], Place(2, 2, 1))
    run.done.append([])
    assert run.since(Place(2, 2, 0)) == ([[7]], Place(3, 0, 0))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::kinemorph.errors.SlowRunWarning")
def test_a_long_run_reports_five_times_a_second_and_ends_where_it_is_interrupted() -> None:
    """A run of many samples and one of few; what was computed before the interruption is kept."""
    for until, output_step in ((5e3, 1e-3), (1e6, 50.0)):
        moments: list[float] = []

        def progress(t: float, h: float, events: int, moments: list[float] = moments) -> None:
            moments.append(time.perf_counter())
            if moments[-1] - moments[0] > 0.6:
                raise KeyboardInterrupt

        run = simulate(PENDULUM, until, q=RAISED, rtol=1e-12, atol=1e-12, output_step=output_step, progress=progress)
        assert run.outcome.kind == "interrupted" and run.t[-1] > 10.0
        assert max(after - before for before, after in pairwise(moments)) < 0.25
