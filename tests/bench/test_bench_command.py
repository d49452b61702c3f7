"""`kinemorph bench`: its rows, that nothing is timed before both sides agree, what is refused. No time is judged."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
import pytest

from kinemorph.bench import report
from kinemorph.bench.peers import robots
from kinemorph.bench.peers.pinocchio_cpp import JOINTS
from kinemorph.bench.peers.pinocchio_python import PythonPeer
from kinemorph.bench.peers.pinocchio_twin import JOINTS_THERE, twin_of_robot
from kinemorph.bench.speed import evaluation_times
from kinemorph.bench.speed.contest import ALGORITHMS, Contest, contests, farthest_body, random_states
from kinemorph.bench.speed.evaluation_times import MODES, compare, disagreement
from kinemorph.bench.targets import judge
from kinemorph.bench.timing import Pace, peak_flops, scalar_loop, take_turns
from support.robots.random_robots import random_robot
from support.tools.command_line import run

BRIEF = Pace(rounds=1, seconds=1e-5)
KEYS = {"robot", "algorithm", "mode", "ours_us", "peer_us", "ratio"}


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short samples, and Pinocchio from Python: nothing is built."""
    monkeypatch.setattr("kinemorph.bench.timing.QUICK", BRIEF)
    monkeypatch.setattr("kinemorph.bench.speed.evaluation_times.LARGE", 128)
    monkeypatch.setattr("kinemorph.bench.speed.evaluation_times.BATCH", 128)
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CXX", raising=False)


def command(*arguments: str) -> Any:
    return run("bench", *arguments)


def test_every_algorithm_in_every_mode_gives_a_row(brief: None) -> None:
    result = command("--quick", "--robot", "pendulum", "--json")
    assert result.exit_code == 0, result.stderr
    rows = json.loads(result.stdout)
    assert {(row["algorithm"], row["mode"]) for row in rows} == {(a, m) for a in ALGORITHMS for m in MODES}
    for row in rows:
        assert set(row) >= KEYS
        assert row["ours_us"] > 0.0 and row["peer_us"] > 0.0
        assert row["ratio"] == pytest.approx(row["peer_us"] / row["ours_us"])
        assert row["peer"] == "pin (Python)"
    assert "no C++ compiler" in result.stderr


def test_tables_for_a_terminal_and_for_a_page(brief: None) -> None:
    asked = ("--quick", "--robot", "pendulum", "--algorithm", "rnea", "--mode", "scalar")
    shown, page = command(*asked).stdout, command(*asked, "--markdown").stdout
    assert "RNEA" in shown and "GFLOP/s" in shown
    assert "| robot (dof) | RNEA |" in page and "| pendulum (1) |" in page


def test_times_of_building_and_growth_have_their_own_rows(brief: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kinemorph.bench.speed.compile_times.QUICK_LENGTHS", (2, 3))
    (row,) = json.loads(command("--compile", "--robot", "pendulum", "--algorithm", "ABA", "--json").stdout)
    assert {"trace_ms", "cold_ms", "warm_ms", "verdict"} <= set(row)
    grown = json.loads(command("--growth", "--quick", "--json").stdout)
    assert [(row["links"], row["algorithm"]) for row in grown] == [(2, "RNEA"), (2, "ABA"), (3, "RNEA"), (3, "ABA")]


@pytest.mark.slow
def test_loading_has_its_own_rows(brief: None) -> None:
    result = command("load", "--quick", "--robot", "panda", "--json")
    assert result.exit_code == 0, result.stderr
    (row,) = json.loads(result.stdout)
    assert row["robot"] == "panda" and row["nv"] == 9 and row["agreed"]
    for key in ("peer", "read", "load", "cold", "warm"):
        assert 0.0 < row[f"{key}_min_ms"] <= row[f"{key}_ms"]
    assert row["ratio"] == pytest.approx(row["peer_ms"] / row["read_ms"])
    assert "read 1x" in row["target"] and row["read_ms"] < row["load_ms"]
    page = "".join(grid.markdown() for grid in report.Report("load", [row], {"peak_gflops": 1.0})._grids(page=True))
    assert "| panda |" in page and "Pinocchio ms" in page


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("load", "--robot", "pandas"), "Did you mean 'panda'"),
        (("load", "--algorithm", "RNEA"), "reads robot files"),
        (("--algorithm", "RNEAA"), "Did you mean 'RNEA'"),
        (("--mode", "batch"), "Did you mean 'batched'"),
        (("--robot", "pandas"), "Did you mean 'panda'"),
        (("--json", "--markdown"), "Leave one of them out"),
        (("--compile", "--growth"), "one at a time"),
        (("--growth", "--robot", "panda"), "its own chains"),
        (("--compile", "--mode", "scalar"), "Leave one of them out"),
    ],
)
def test_options_that_make_no_sense_are_refused(arguments: tuple[str, ...], says: str, brief: None) -> None:
    result = command(*arguments)
    assert result.exit_code == 2
    assert says in result.stderr


def test_without_pinocchio_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pinocchio", None)
    result = command("--quick")
    assert result.exit_code == 2
    assert "pip install 'kinemorph[bench]'" in result.stderr


# ── agreement ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def small_contests() -> list[Contest]:
    return contests(robots.bench_twin("double_pendulum"), list(ALGORITHMS))


def test_both_sides_agree_in_every_algorithm() -> None:
    for contest in small_contests():
        assert disagreement(contest, PythonPeer(contest.twin, contest.tip)) < 1e-12


def test_reordered_velocities_and_poses_of_bodies_off_their_joints_agree() -> None:
    """A robot whose order there is not ours, with joint frames away from the bodies'."""
    twin = twin_of_robot(random_robot(15, most=14))
    assert (twin.order != np.arange(twin.robot.nv)).any()
    assert np.abs(twin.at[farthest_body(twin.robot)][1] - np.eye(4)).max() > 0.1
    for contest in contests(twin, list(ALGORITHMS)):
        assert disagreement(contest, PythonPeer(twin, contest.tip)) < 1e-9


class Wrong(PythonPeer):
    """A peer that is off by a little."""

    def results(self, algorithm: str, *states: Any) -> Any:
        return super().results(algorithm, *states) * (1.0 + 1e-6)


class Silent(PythonPeer):
    """A peer that gives no numbers."""

    def results(self, algorithm: str, *states: Any) -> Any:
        return super().results(algorithm, *states) * np.nan


@pytest.mark.parametrize("peer", [Wrong, Silent])
def test_where_the_answers_differ_no_time_is_taken(peer: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation_times, "PythonPeer", peer)
    rows = list(compare(["pendulum"], ["RNEA"], ["scalar"], BRIEF, cpp=False))
    assert [row["ours_us"] for row in rows] == [None]
    assert rows[0]["verdict"].startswith("differs")
    assert not report.Report("speed", rows, {}).agreed


# ── timing ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_loop_in_machine_code_visits_every_state() -> None:
    (contest,) = contests(robots.bench_twin("double_pendulum"), ["RNEA"])
    states = random_states(contest.twin.robot, 9)
    outs, ins = contest.outputs(9), contest.inputs(states)
    scalar_loop(contest.function, outs, ins, keep=True)()
    np.testing.assert_allclose(outs[0], contest.function(*ins), rtol=1e-12)
    last = contest.outputs(1)
    scalar_loop(contest.function, last, ins, keep=False)()
    np.testing.assert_array_equal(last[0][0], outs[0][-1])


def test_contestants_take_turns() -> None:
    seen: list[str] = []
    times = take_turns([lambda: seen.append("a"), lambda: seen.append("b")], Pace(rounds=3, seconds=0.0))
    assert seen == ["a", "b"] + ["a", "b"] * 3
    assert len(times) == 2 and min(times) >= 0.0


def test_the_peak_is_a_number_of_a_real_machine() -> None:
    assert 1e8 < peak_flops(BRIEF) < 1e13


def test_targets_are_met_or_missed() -> None:
    assert judge("panda", "RNEA", "scalar", 9.3).verdict == "met"
    assert judge("panda", "RNEA", "scalar", 9.1).verdict == "missed"
    assert judge("talos", "ABA", "batched", 29.0).verdict == "missed"
    assert judge("talos", "FK", "scalar", 0.1) == ("", "")
    assert judge("pendulum", "RNEA", "batched", 1.0) == ("", "")
    assert judge("panda", "RNEA", "python-raw", 5.0, over_kernel_us=0.3).verdict == "missed: +0.25 µs"
    assert judge("panda", "RNEA", "all-cores", 1.0, scaling=0.95).verdict == "met"


def test_the_joints_that_go_over_to_c_are_those_of_the_table() -> None:
    assert {f"JointModel{name}" for name in JOINTS} == set(JOINTS_THERE)
