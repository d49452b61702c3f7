"""`kinemorph bench simulate --files`: what an error is, how long it counts, and what is refused. No time is judged."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinemorph.bench.contestants import STEP, Entry, tune
from kinemorph.bench.model_files import compare as files
from kinemorph.bench.model_files.accuracy import Reference, longest, reference
from kinemorph.bench.model_files.kinemorph_run import KinemorphFile
from kinemorph.bench.model_files.problem import PUSH, RAISED, TURN, file_problem, speeds
from kinemorph.bench.model_files.result_tables import BY_DEFAULT, defaults_grid, files_grid
from kinemorph.bench.targets import judge_file
from kinemorph.bench.timing import Pace
from support.tools.command_line import run

SWING = """<mujoco><option gravity="0 0 -10"/><worldbody>
  <body name="bar" pos="0 0 2"><joint name="swing" axis="0 1 0" damping="0.1"/>
    <geom type="capsule" fromto="0 0 0 0 0 -1" size="0.02" mass="1"/></body>
</worldbody><actuator><position joint="swing" kp="4"/></actuator>
<keyframe><key name="home" qpos="0.5" ctrl="0.7"/></keyframe></mujoco>"""
BALL = """<mujoco><worldbody><geom type="plane" size="1 1 1"/>
  <body name="ball" pos="0 0 0.1"><freejoint/><geom size="0.1" mass="1"/></body>
  <body name="box" pos="1 0 0.1"><freejoint/>
    <geom type="box" size="0.1 0.1 0.1" mass="1" contype="2" conaffinity="2"/></body>
</worldbody></mujoco>"""
MUSCLE = """<mujoco><worldbody><body><joint name="j"/><geom size="0.1"/></body></worldbody>
<actuator><muscle joint="j" lengthrange="0 1"/></actuator></mujoco>"""


def written(folder: Path, text: str, name: str = "robot.xml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_an_error_is_that_of_the_worst_component_and_relative_above_one() -> None:
    states = np.array([[0.5, 100.0], [0.25, -200.0]])
    fine = Reference(states, 2)
    assert fine.sizes.tolist() == [1.0, 200.0]
    moved = states + np.array([[0.0, 2.0], [0.004, 0.0]])
    off = fine.scaled(moved, 2) - fine.scaled(states, 2)
    np.testing.assert_allclose(np.abs(off), [[0.0, 0.01], [0.004, 0.0]], atol=1e-15)


def test_the_horizon_ends_where_two_references_part_or_one_fails() -> None:
    t = np.arange(1.0, 11.0)[:, None]
    finer = np.sin(t)
    apart = finer + 1e-9 * 10.0**t  # grows as errors of chaotic motions do
    assert reference(apart, finer, 1e-3).confirmed == 5  # 1e-4 is exceeded at t = 6
    assert reference(apart, finer, 0.3).confirmed == 7
    assert reference(finer, finer, 1e-12).confirmed == 10
    ended = finer.copy()
    ended[3:] = np.nan
    assert reference(finer, ended, 1e-3).confirmed == 3
    best = longest([lambda: (finer, ended), lambda: (apart, finer), lambda: pytest.fail("not needed")][:2], 1e-3)
    assert best.confirmed == 5


def test_a_tighter_tolerance_is_taken_where_it_is_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    cost = {1.0: 1.0, 0.1: 9.0, 0.01: 2.0, 0.001: 4.0, 0.0001: 0.1}

    def made(setting: float) -> np.ndarray[Any, Any]:
        clock[0] += cost[setting]
        return np.array([[setting]])

    for name in ("_running", "_working"):
        monkeypatch.setattr(f"kinemorph.bench.contestants.{name}", lambda: clock[0])
    entry = Entry("ours", "method", tuple(cost), STEP, made, np.asarray)
    wanted = np.zeros((1, 1))
    assert tune(entry, wanted, 0.2, 100.0).setting == 0.1  # the loosest that suffices
    assert tune(entry, wanted, 0.2, 100.0, further=2).setting == 0.01
    assert tune(entry, wanted, 0.2, 5.0, further=2).setting == 0.1  # what takes too long ends the search
    missed = tune(entry, wanted, 1e-6, 100.0, further=2)
    assert (missed.setting, missed.reached) == (0.0001, False)


def test_a_file_begins_at_its_keyframe_with_its_controls_and_in_motion(tmp_path: Path) -> None:
    problem = file_problem(written(tmp_path, SWING), 3)
    assert problem.start == "home" and problem.q.tolist() == [[0.5]] * 3
    assert problem.given["inputs"].tolist() == [0.7]
    assert len(set(problem.v[:, 0].tolist())) == 3 and 0.0 < np.abs(problem.v).max() < 4 * TURN
    ball = file_problem(written(tmp_path, BALL, "ball.xml"), 2)
    assert ball.contacts == 1 and ball.q[0, 2] == pytest.approx(0.1 + RAISED)
    pushed = speeds(ball.robot, 2)
    assert np.abs(pushed[:, :2]).max() < 4 * PUSH and not pushed[:, 2:6].any()


def test_bodies_touch_the_ground_only_in_both(tmp_path: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    from kinemorph.bench.model_files.mujoco_run import on_ground_only

    model = mujoco.MjModel.from_xml_string(BALL.replace('contype="2" conaffinity="2"', ""))
    on_ground_only(model)
    assert model.geom_contype.tolist() == [1, 0, 0] and model.geom_conaffinity.tolist() == [0, 1, 1]
    apart = mujoco.MjModel.from_xml_string(BALL)
    on_ground_only(apart)
    assert apart.geom_conaffinity.tolist() == [0, 1, 0]  # the box belongs to another group than the plane


def test_both_start_alike_and_move_alike(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    from kinemorph.bench.model_files.mujoco_run import MujocoFile, model_of

    path = written(tmp_path, SWING)
    problem = file_problem(path, 2)
    peer, ours = MujocoFile(problem, model_of(path)), KinemorphFile(problem, 1e-3)
    assert peer.order == ["swing"]
    theirs, own = peer.run("RK4")(1e-3), ours.states(ours.run("dop853")(1e-8))
    assert theirs.shape == own.shape == (50, 2)
    np.testing.assert_allclose(own, theirs, atol=1e-8)


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short samples, and few states."""
    monkeypatch.setattr("kinemorph.bench.timing.THOROUGH", Pace(rounds=1, seconds=1e-5))
    monkeypatch.setattr(files, "BATCH", 4)


@pytest.mark.slow
def test_a_row_for_each_file_that_both_read(brief: None, tmp_path: Path) -> None:
    first, muscle, last = (
        written(tmp_path, text, f"{name}.xml") for name, text in (("a", SWING), ("b", MUSCLE), ("c", BALL))
    )
    broken = written(tmp_path, "<mujoco><worldbody><geom/></worldbody></mujoco>", "d.xml")
    paths = [str(path) for path in (broken, muscle, first, last)]
    result = run("bench", "simulate", "--json", "--files", *paths)
    assert result.exit_code == 0, result.stderr
    assert "d.xml is not compared" in result.stderr and "has muscles" in result.stderr
    swing, ball = json.loads(result.stdout)
    for row in (swing, ball):
        assert row["reached"] and row["horizon"] == 5.0
        assert 0.0 <= row["error"] <= 1e-3 and 0.0 <= row["peer_error"] <= 1e-3
        assert row["ratio"] == pytest.approx(row["peer_ms"] / row["ms"])
        assert row["batch_ratio"] == pytest.approx(row["peer_batch_ms"] / row["batch_ms"])
        assert row["default_ratio"] == pytest.approx(row["file_ms"] / row["default_ms"])
        assert 0.0 <= row["default_error"] < 1e-2 and row["file_step"] > 0.0 and row["whole_ms"] > 0.0
    assert (swing["default_method"], ball["default_method"]) == ("dop853", "extrapolated_contact")
    assert swing["fixed"] and not ball["fixed"]
    assert swing["apart"] < 1e-6  # nothing touches: the same equations
    alone = run("bench", "simulate", "--json", "--by-default", "--files", str(first))
    (row,) = json.loads(alone.stdout)
    assert alone.exit_code == 0 and row["method"] is None and row["default_error"] <= row["file_error"]
    limited = run("bench", "simulate", "--markdown", "--most", "1", "--error", "1e-2", "--files", *paths)
    assert "to 0.01" in limited.stdout and f"| {tmp_path.name}/a.xml |" in limited.stdout
    assert "c.xml" not in limited.stdout


def test_a_table_has_stars_where_targets_are_missed() -> None:
    row = {
        **{
            "kind": "file",
            "problem": "a/b.xml",
            "dof": 7,
            "contacts": 2,
            "wanted": 1e-3,
            "horizon": 5.0,
            "apart": 1e-7,
        },
        **{"peer_method": "RK4", "peer_setting": "step 0.01 s", "peer_ms": 5.0, "method": "rodas"},
        **{"setting": "tolerance 1e-04", "ms": 2.5, "ratio": 2.0, "peer_batch_ms": 5.0, "batch_ms": 0.25},
        "batch_ratio": 20.0,
    }
    (cells,) = files_grid([row]).rows
    assert "2.0x*" in cells and "20.0x" in cells and "RK4, step 0.01 s" in cells
    (empty,) = files_grid([{**row, **dict.fromkeys(files.EMPTY)}]).rows
    assert "not reached" in empty
    chosen = {"fixed": True, "file_step": 2e-3, "file_error": 1e-3, "file_ms": 8.0, "whole_ms": 9.0}
    chosen |= {"default_method": "dop853", "default_error": 1e-6, "default_ms": 2.0, "default_ratio": 4.0}
    chosen |= {"file_batch_ms": 8.0, "default_batch_ms": 0.5, "default_batch_ratio": 16.0}
    grid = defaults_grid([row | chosen, row | chosen | {"fixed": False, "default_ratio": 8.0}])
    assert "1 with a fixed base: 4.0x, batched 16.0x; 1 with a free base: 8.0x, batched 16.0x" in grid.title
    assert grid.rows[0][:5] == ["a/b.xml", "fixed", "5.0", "2", "1.0e-03"]
    alone = row | chosen | {"kind": BY_DEFAULT}
    assert (len(files_grid([alone]).rows), len(defaults_grid([alone]).rows)) == (0, 1)
    assert judge_file(3.0, 10.0).verdict == "met"
    assert judge_file(3.0, 9.9).verdict == "missed: batched 10x"
    assert judge_file(None, None).verdict.startswith("missed")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("simulate", "--files", "nowhere.xml"), ("nowhere.xml", "not a file")),
        (("simulate", "stray.xml"), ("stray.xml", "without --files")),
        (("simulate", "--most", "2"), ("--most", "without --files")),
        (("simulate", "--by-default"), ("--by-default", "without --files")),
        (("load", "--files", __file__), ("--files", "simulate")),
        (("simulate", "--error", "-1", "--files", __file__), ("--error", "above 0")),
    ],
)
def test_what_does_not_fit_is_refused(arguments: tuple[str, ...], words: tuple[str, ...]) -> None:
    result = run("bench", *arguments)
    assert result.exit_code != 0
    assert all(word in result.stderr for word in words), result.stderr


def test_a_file_in_which_nothing_moves_is_left_out(tmp_path: Path) -> None:
    """It ended in a traceback, after all files before it had been measured."""
    pytest.importorskip("mujoco")
    still = written(tmp_path, '<mujoco><worldbody><body><geom size="0.1"/></body></worldbody></mujoco>')
    result = run("bench", "simulate", "--json", "--by-default", "--files", str(still))
    assert json.loads(result.stdout) == []
    assert f"'{still}' has no joint that moves. Name files of robots that move." in " ".join(result.stderr.split())


def test_a_missing_mujoco_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.endswith("model_files.mujoco_run")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mujoco", None)
    result = run("bench", "simulate", "--files", str(written(tmp_path, SWING)))
    assert result.exit_code != 0 and "pip install 'kinemorph[peers]'" in result.stderr
