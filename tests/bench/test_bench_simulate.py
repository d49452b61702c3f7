"""`kinemorph bench simulate`: all contestants solve the same problem; what is missing is named. No time is judged."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
import pytest

from kinemorph.bench.contestants import STEP, Entry, tune
from kinemorph.bench.result_tables import terrain_grid
from kinemorph.bench.runs import entries, equal_accuracy
from kinemorph.bench.standing import equal_error
from kinemorph.bench.targets import judge_terrain
from kinemorph.bench.terrain import gait_batches, quadruped
from kinemorph.bench.timing import Pace
from kinemorph.errors import KinemorphError
from support.robots.reference_robots import reference
from support.tools.command_line import run


def command(*arguments: str) -> Any:
    return run("bench", *arguments)


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short samples, one problem, a small batch, nothing on the ground."""
    monkeypatch.setattr("kinemorph.bench.timing.QUICK", Pace(rounds=1, seconds=1e-5))
    monkeypatch.setattr(equal_accuracy, "STATES", 32)
    monkeypatch.setattr(equal_accuracy, "PROBLEMS", equal_accuracy.PROBLEMS[:1])
    monkeypatch.setattr(equal_error, "problems", lambda quick: [])
    monkeypatch.setattr(equal_accuracy, "compare_terrain", lambda *args, **options: iter(()))


@pytest.mark.slow
def test_everybody_solves_the_double_pendulum(brief: None) -> None:
    result = command("simulate", "--quick", "--json")
    assert result.exit_code == 0, result.stderr
    rows = json.loads(result.stdout)
    single = {row["contestant"]: row for row in rows if row["problem"] == "double pendulum"}
    assert {"Kinemorph, simulate()", "Kinemorph, Stepper", "Pinocchio + SciPy", "MuJoCo"} <= set(single)
    for row in single.values():
        assert row["reached"] and 0.0 < row["error"] <= 1e-8 and row["ms"] > 0.0
    assert min(row["ratio"] for row in single.values()) <= 1.0
    batches = [row for row in rows if row["problem"] == "32 pendulums"]
    assert {row["method"] for row in batches} == {"rk4", "dop853"}
    assert all(row["states_steps_per_second"] > 0.0 for row in batches)


@pytest.mark.slow
def test_tables_for_a_page_and_peers_that_are_missing(brief: None, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("exudyn", "mujoco"):
        monkeypatch.setitem(sys.modules, name, None)
    result = command("simulate", "--quick", "--markdown")
    assert result.exit_code == 0, result.stderr
    assert "MuJoCo is not compared" in result.stderr and "pip install 'kinemorph[peers]'" in result.stderr
    assert "| double pendulum | 2 | Kinemorph, Stepper |" in result.stdout
    assert "| MuJoCo |" not in result.stdout and "states x steps/s" in result.stdout


def test_the_reference_is_that_of_the_literature() -> None:
    problem = equal_accuracy.double_pendulum()
    found = equal_accuracy.reference(problem)
    for t, wanted in reference("double_pendulum")["reference"]["a"].items():
        if float(t) in problem.times:
            row = found[problem.times.tolist().index(float(t))]
            assert np.abs(row.cumsum() - np.pi / 2 - [wanted["phi1"], wanted["phi2"]]).max() < 1e-10


def test_peers_confirm_the_reference_of_the_hexapod() -> None:
    problem = equal_accuracy.hexapod()
    wanted = equal_accuracy.reference(problem)
    (_, by_ode), (rk4,) = entries.pinocchio_entries(problem), entries.mujoco_entries(problem)
    for entry, setting in ((by_ode, 1e-12), (rk4, 0.002)):
        assert np.abs(entry.read(entry.run(setting)) - wanted).max() < 1e-8


def test_an_entry_that_is_never_accurate_enough_gets_its_best_setting() -> None:
    errors = {1.0: 1e-3, 0.5: 1e-5, 0.25: 4e-5}
    entry = Entry("somebody", "some method", tuple(errors), STEP, lambda h: [[errors[h]]], np.array)
    tuned = tune(entry, np.zeros((1, 1)), 1e-8, 10.0)
    assert (tuned.setting, tuned.error, tuned.reached) == (0.5, 1e-5, False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("simulate", "--robot", "panda"), "has its own robots"),
        (("simulate", "--growth"), "two tables"),
        (("simulat",), "Did you mean 'simulate'"),
    ],
)
def test_what_does_not_go_together_is_said(arguments: tuple[str, ...], message: str) -> None:
    result = command(*arguments)
    assert result.exit_code != 0
    assert message in (result.stderr or "") + str(
        result.exception if isinstance(result.exception, KinemorphError) else ""
    )


def test_quadrupeds_on_terrain() -> None:
    """Both sides walk on the same heights, and the row of the map says what it costs."""
    pytest.importorskip("mujoco")
    from kinemorph.bench.terrain.mujoco_quadruped import MujocoQuadruped

    ground = quadruped.rough_map()
    peer = MujocoQuadruped(ground)
    heights = np.asarray(ground.heights)
    place = peer.model.geom(0).pos[:2] - 0.5 * (np.array(heights.shape) - 1.0) * ground.spacing
    assert np.allclose(place, ground.corner)
    low, rise = peer.model.geom(0).pos[2], peer.model.hfield_size[0, 2]
    rows, columns = int(peer.model.hfield_nrow[0]), int(peer.model.hfield_ncol[0])
    assert np.allclose(low + rise * peer.model.hfield_data.reshape(rows, columns), heights.T, atol=1e-8)
    assert judge_terrain("map", [3.9, 4.1], [1.0, 1.9]).verdict == "missed: 4x plane"
    assert (
        judge_terrain("map", [3.9, 3.0], [1.0, 1.9]).verdict == "met"
        and not judge_terrain("plane", [1.0], [0.3]).target
    )


@pytest.mark.slow
def test_rows_of_quadrupeds_on_terrain() -> None:
    rows = list(gait_batches.compare_terrain(Pace(1, 0.0), quick=True, say=lambda _: None, note=lambda _: None))
    assert len(rows) == 6 and all(row["reached"] for row in rows)
    assert [row["peer_ms"] is None for row in rows] == [False, True, False] * 2
    assert len(terrain_grid(rows).rows) == 6
