"""`kinemorph bench loops`: twins are the same robots with the same loops, runs the same motion. No time is judged."""

from __future__ import annotations

import json
import math
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinemorph.bench.loops import entries, forward_dynamics, four_bar_motion, four_bar_runs, simulator_entries
from kinemorph.bench.loops.forward_dynamics import LOOPED, LoopContest, side_by_side
from kinemorph.bench.loops.four_bar_motion import START, TIMES, acceleration, assembled
from kinemorph.bench.loops.pinocchio_loops import settled, twin_with_loops
from kinemorph.bench.peers.pinocchio_python import PythonPeer
from kinemorph.bench.speed.contest import AGREE
from kinemorph.bench.speed.evaluation_times import disagreement
from kinemorph.bench.targets import judge_loops
from kinemorph.bench.timing import Pace
from kinemorph.deriving.dynamics import derive
from kinemorph.errors import MissingExtraError, UnsupportedError
from kinemorph.model.library.linkages import four_bar
from support.tools.command_line import run


def python_peer(contest: Any) -> PythonPeer:
    return PythonPeer(contest.twin, contest.tip)


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short samples, one small robot, small batches, half a second of motion, and nothing is built."""
    monkeypatch.setattr("kinemorph.bench.timing.QUICK", Pace(rounds=1, seconds=1e-5))
    monkeypatch.setattr("kinemorph.bench.speed.evaluation_times.BATCH", 64)
    monkeypatch.setattr("kinemorph.bench.loops.forward_dynamics.QUICK_LOOPED", ("four_bar",))
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CXX", raising=False)


def command(*arguments: str) -> Any:
    return run("bench", "loops", "--quick", *arguments)


# ── the same robots ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name != "four_bar")) for name in LOOPED]
)
def test_both_sides_give_the_same_accelerations(name: str) -> None:
    contest = settled(LoopContest(name), python_peer)
    assert set(contest.algorithm.peer) >= {"constrained"}
    assert disagreement(contest, python_peer(contest)) <= AGREE


def test_a_loop_that_is_not_there_is_noticed() -> None:
    contest = LoopContest("four_bar")
    contest.twin.closures = ()
    settled(contest, python_peer)
    assert disagreement(contest, python_peer(contest)) > 1e-3


def test_states_are_closed_keep_closed_and_differ() -> None:
    contest = LoopContest("four_bar")
    states = contest.states(50)
    q, v = states["q"], states["v"]
    assert np.abs(contest.single.constraint_error(q)).max() < 1e-14
    assert np.abs(np.einsum("nrv,nv->nr", contest.single.constraint_jacobian(q), v)).max() < 1e-12
    assert len(np.unique(q.round(9), axis=0)) == 50 and np.ptp(q[:, 0]) > 2.0 and np.abs(v).min() > 0.0


def test_copies_are_as_many_loops_that_know_nothing_of_each_other() -> None:
    pair = side_by_side(four_bar(), 2)
    assert (pair.nv, len(pair.loops), len(twin_with_loops(pair).closures)) == (6, 2, 2)
    states = forward_dynamics.closed_states(
        derive(four_bar(), backend="interpreter"), np.array(forward_dynamics.ASSEMBLED), 2
    )
    single, both = (derive(robot, backend="interpreter").forward_dynamics for robot in (four_bar(), pair))
    wanted = [single(*(states[key][k] for key in ("q", "v", "tau"))) for k in range(2)]
    found = both(*(states[key].ravel() for key in ("q", "v", "tau")))
    np.testing.assert_allclose(found, np.ravel(wanted), rtol=1e-11)


def test_a_hinge_out_of_plane_is_two_points_and_others_are_refused() -> None:
    robot = four_bar()
    crank = replace(robot.joints[0], axis=(0.0, math.sin(0.1), math.cos(0.1)))
    assert len(twin_with_loops(replace(robot, joints=(crank, *robot.joints[1:]))).closures) == 2
    slider = replace(robot.loops[0], kind="cylindrical", damping=(0.0,) * 2, armature=(0.0,) * 2)
    with pytest.raises(UnsupportedError, match="closed by a cylindrical joint"):
        twin_with_loops(replace(robot, loops=(slider,)))


# ── the same motion ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_reference_is_that_of_the_literature_and_of_our_equations() -> None:
    """Driven by 0.5 sin 2t, the crank is after 2 s where an index-1 solution of the same data has it."""
    from scipy.integrate import solve_ivp

    driven = solve_ivp(
        lambda t, y: (y[1], acceleration(*y, 0.5 * math.sin(2.0 * t))),
        (0.0, 2.0), (START, 0.0), "DOP853", rtol=1e-12, atol=1e-12,
    )  # fmt: skip
    np.testing.assert_allclose(driven.y[:, -1], [-2.62546008, -15.88372404], rtol=0.0, atol=2e-8)
    # our own equations at another state, moving
    crank, speed = 1.1, 3.0
    coupler, rocker = assembled(crank)
    model = derive(four_bar(), backend="interpreter")
    q = np.array([crank, coupler - crank, rocker])
    J = model.constraint_jacobian(q)
    rest = np.linalg.lstsq(J[:, 1:], -J[:, 0] * speed, rcond=None)[0]
    a = model.forward_dynamics(q, np.array([speed, *rest]), [0.2, 0.0, 0.0])
    assert a[0] == pytest.approx(acceleration(crank, speed, 0.2), rel=1e-11)


@pytest.mark.slow
def test_everybody_comes_to_the_same_motion(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a second with the tightest setting of each: errors are those of the methods, and none is another motion."""
    short = TIMES[:5]
    for module in (entries, simulator_entries):
        monkeypatch.setattr(module, "TIMES", short)
    monkeypatch.setattr(simulator_entries, "DURATION", 0.5)
    monkeypatch.setattr(simulator_entries, "SAMPLES", 5)
    wanted = four_bar_motion.reference()[:5]
    listed = entries.kinemorph_entries() + entries.pinocchio_entries(None)
    for make in four_bar_runs.PEERS.values():
        with suppress(MissingExtraError):  # Drake and Exudyn are for those who ask for all peers
            listed += make()
    limits = {"Kinemorph": 1e-9, "Pinocchio": 1e-9, "MuJoCo": 2e-2, "Drake": 2e-2, "Exudyn": 1e-4}
    for entry in listed:
        row = four_bar_runs.run_row(entry, entry.settings[-1], wanted)
        assert row["angle_error"] < limits[entry.contestant], row
        assert row["loop_error"] < (1e-3 if entry.contestant in ("MuJoCo", "Drake") else 1e-5), row
    assert {"Kinemorph", "Pinocchio", "MuJoCo"} <= {entry.contestant for entry in listed} <= set(limits)


def test_a_peer_is_held_against_our_fastest_run_that_is_no_worse() -> None:
    def row(contestant: str, gap: float | None, angle: float, ms: float) -> dict[str, Any]:
        facts = {"contestant": contestant, "method": "some", "setting": f"{ms}", "peer": contestant != "Kinemorph"}
        return {"kind": "run", **facts, "loop_error": gap, "angle_error": angle, "ms": ms}

    ours = [row("Kinemorph", 1e-15, 1e-3, 1.0), row("Kinemorph", 1e-15, 1e-9, 4.0), row("Kinemorph", 1e-15, 1e-9, 5.0)]
    theirs = [
        row("A", 1e-3, 1e-2, 10.0),
        row("B", 3e-16, 1e-8, 10.0),
        row("C", 1.0, 1e-10, 1.0),
        row("D", None, 1.0, 3.0),
    ]
    found = four_bar_runs.judged([*ours, *theirs])
    assert [one["ours_ms"] for one in found] == [None, None, None, 1.0, 4.0, None, 1.0]
    assert [one["ratio"] for one in found[3:]] == [10.0, 2.5, None, 3.0]


# ── the table ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def few(brief: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cheapest contestants only, with one setting."""
    monkeypatch.setattr(entries, "LOOP_METHODS", ("projection",))
    for name in ("kinemorph_entries", "pinocchio_entries"):
        make = getattr(entries, name)
        monkeypatch.setattr(
            entries, name, lambda *a, make=make: [replace(entry, settings=(1e-6,)) for entry in make(*a)[:1]]
        )


@pytest.mark.slow
def test_rows_tables_and_picture(few: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(four_bar_runs, "PEERS", {"MuJoCo": lambda: simulator_entries.mujoco_entries()[:1]})
    picture = tmp_path / "loops.png"
    result = command("--json", "--picture", str(picture))
    assert result.exit_code == 0, result.stderr
    rows = json.loads(result.stdout)
    speed = [row for row in rows if row["kind"] == "speed"]
    assert [row["mode"] for row in speed] == ["scalar", "batched", "python-raw", "python-call"]
    assert all(row["ours_us"] > 0.0 and row["difference"] <= AGREE and row["peer"] == "pin (Python)" for row in speed)
    runs = [row for row in rows if row["kind"] == "run"]
    assert [row["contestant"] for row in runs] == ["Kinemorph", "Pinocchio", "MuJoCo", "MuJoCo"]
    assert all(row["loop_error"] < 0.01 and row["ms"] > 0.0 and len(row["gaps"]) == len(TIMES) for row in runs)
    assert picture.stat().st_size > 20_000


def test_a_peer_that_is_missing_is_named_and_pages_are_made(few: None, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("exudyn", "mujoco", "pydrake", "pydrake.multibody.plant"):
        monkeypatch.setitem(sys.modules, name, None)
    result = command("--markdown")
    assert result.exit_code == 0, result.stderr
    for name in ("MuJoCo", "Drake", "Exudyn"):
        assert f"{name} is not compared" in result.stderr
    assert "no C++ compiler" in result.stderr
    assert "| four_bar | 3 | 1 | scalar |" in result.stdout and "| Pinocchio | SciPy dop853 | tol" in result.stdout


def test_targets_of_loops() -> None:
    assert judge_loops("scalar", 5.1, None).verdict == "met"
    assert judge_loops("batched", 25.0, 1.1) == ("20x, growth 1.25", "met")
    assert judge_loops("batched", 19.0, 1.5).verdict == "missed: 20x, growth 1.25"


def test_robots_are_not_chosen() -> None:
    result = command("--robot", "panda")
    assert result.exit_code != 0 and "has its own robots" in result.stderr + str(result.exception)
