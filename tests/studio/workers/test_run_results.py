"""What is computed from finished runs: differences, comparisons, and runs that are loaded once."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kinemorph import Trajectory, library, simulate
from kinemorph.errors import UnsupportedError
from kinemorph.studio.tasks import run_result_tasks as run_results
from kinemorph.studio.tasks.work import Report

REPORT = Report(1, lambda header, payload: None)


@pytest.fixture(scope="module")
def runs() -> dict[str, Trajectory]:
    """A long run and a short one that begins 0.01 rad higher, both from rest."""
    robot = library.pendulum()
    return {
        "long": simulate(robot, 1.0, q=[0.5], output_step=0.05),
        "short": simulate(robot, 0.5, q=[0.51], output_step=0.02),
    }


@pytest.fixture
def given(runs: dict[str, Trajectory], monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that lets the next job work on some of the runs."""

    def choose(*labels: str) -> dict[str, Any]:
        monkeypatch.setattr(run_results, "loaded_runs", lambda data, report: {label: runs[label] for label in labels})
        return {"results": [{"number": k} for k in range(len(labels))]}

    return choose


def test_runs_are_compared_where_both_have_samples(given: Any, runs: dict[str, Trajectory]) -> None:
    """By hand: linear interpolation of the second run at the samples of the first one."""
    first, second = runs.values()
    found = run_results.compared(given("long", "short"), REPORT)
    times = first.t[first.t <= 0.5]
    assert found["samples"] == len(times) == 11 and not found["bitwise"]
    rows = {row["name"]: row for row in found["rows"]}
    for group, unit in (("q", "rad"), ("v", "rad/s")):
        there = np.interp(times, second.t, getattr(second, group)[:, 0])
        here = getattr(first, group)[: len(times), 0]
        apart, row = np.abs(there - here), rows[f"{group}.q1"]
        assert (
            row["largest"] == pytest.approx(apart.max()) and row["t"] == times[apart.argmax()] and row["unit"] == unit
        )
        assert row["range"] == pytest.approx(np.ptp(here))
    assert rows["v.q1"]["t"] > 0.0  # they differ most where the difference is negative


def test_a_difference_is_the_second_run_minus_the_first(given: Any, runs: dict[str, Trajectory]) -> None:
    (one,) = run_results._differences(runs["long"], runs["short"], ["q.q1"], np.array([0.0, 0.5, 0.75]))
    assert (one.name, one.unit) == ("difference of q.q1", "rad")
    end = runs["short"].q[-1, 0] - np.interp(0.5, runs["long"].t, runs["long"].q[:, 0])
    assert one.values[:2] == pytest.approx([0.01, end]) and np.isnan(one.values[2])


def test_runs_that_agree_in_some_numbers_only_are_not_the_same(given: Any, runs: dict[str, Trajectory]) -> None:
    run = runs["long"]
    for name in ("t", "q", "v", "x"):
        numbers = {group: getattr(run, group).copy() for group in ("t", "q", "v", "x")}
        other = SimpleNamespace(**numbers)
        assert run_results.is_same(run, other)  # type: ignore[arg-type]
        if numbers[name].size:
            numbers[name][-1] += 1e-15 if name != "t" else 1e-12
            assert not run_results.is_same(run, SimpleNamespace(**numbers)), name  # type: ignore[arg-type]
    assert not run_results.is_same(run, runs["short"])


def test_runs_without_a_common_time_are_refused(
    runs: dict[str, Trajectory], given: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, late = given("long"), SimpleNamespace(t=np.array([2.0, 3.0]))
    monkeypatch.setattr(run_results, "loaded_runs", lambda data, report: {"long": runs["long"], "late": late})
    with pytest.raises(UnsupportedError, match="no time in common"):
        run_results.compared(data, REPORT)


def test_the_last_two_files_are_loaded_once_unless_they_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[str] = []
    monkeypatch.setattr(run_results, "_LAST", {})
    monkeypatch.setattr(run_results, "task_model", lambda data: None)
    monkeypatch.setattr(run_results, "prepared_by", lambda model, data: (SimpleNamespace(system=None), False))
    monkeypatch.setattr(run_results, "load_trajectory", lambda path, system: loads.append(Path(path).name))
    files = {name: tmp_path / name for name in "abc"}

    def load(names: str) -> str:
        loads.clear()
        run_results.loaded_runs({"results": [{"label": n, "save": str(files[n])} for n in names]}, REPORT)
        return "".join(loads)

    for file in files.values():
        file.write_text("samples")
    assert load("ab") == "ab" and load("abab") == ""
    os.utime(files["a"], (1e9, 1e9))
    assert load("ab") == "a"
    assert load("c") == "c" and load("bc") == "b"  # of three, the first one is forgotten
    assert len(run_results._LAST) == 2
