"""Batches of runs in files, and whole groups of columns at once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kinemorph import BatchRun, Body, RobotBuilder, library, load_trajectory, simulate, simulate_batch
from kinemorph.errors import ShapeError, StorageError, UnsupportedError
from kinemorph.plants.own_equations import first_order

ROBOT = library.double_pendulum()
STARTS = np.array([[0.3, 0.1], [0.5, -0.2], [1.0, 0.0]])


@pytest.mark.parametrize("name", ["new/batch.npz", "batch.h5"])
def test_a_batch_is_saved_and_loaded_with_all_of_its_numbers(name: str, tmp_path: Path) -> None:
    """A batch could not be saved at all: its runs were saved one by one."""
    batch = simulate_batch(ROBOT, 0.3, q=STARTS, output_step=0.1)
    assert batch.save(tmp_path / name) == tmp_path / name
    back = BatchRun.load(tmp_path / name, ROBOT)
    for group in ("t", "q", "v", "x", "m", "p", "u", "done", "status", "accepted", "rejected", "ends", "numbers"):
        assert np.array_equal(getattr(back, group), getattr(batch, group)), group
    assert np.array_equal(back["tau.q2"], batch["tau.q2"]) and back[1].outcome == batch[1].outcome
    bare = BatchRun.load(tmp_path / name)
    assert np.array_equal(bare["q.q1"], batch["q.q1"]) and bare.settings["until"] == 0.3
    with pytest.raises(UnsupportedError, match=r"BatchRun\.load\(path, model\)"):
        bare["a.q1"]


def test_failures_of_a_batch_come_back_from_a_file(tmp_path: Path) -> None:
    blowing_up = first_order(lambda x: [x[0] * x[0]], {"x": ""}, name="blow-up")
    batch = simulate_batch(blowing_up, 1.0, x=[[0.5], [2.0]], output_step=0.1)
    back = BatchRun.load(batch.save(tmp_path / "batch.npz"), blowing_up)
    assert back.failures == batch.failures and back.ok.tolist() == [True, False]


def test_files_that_are_no_batches_are_refused(tmp_path: Path) -> None:
    batch, run = simulate_batch(ROBOT, 0.1, q=STARTS), simulate(ROBOT, 0.1, q=STARTS[0])
    with pytest.raises(UnsupportedError, match=r"ends in '\.csv'; expected one of \.npz, \.h5"):
        batch.save(tmp_path / "batch.csv")
    run.save(tmp_path / "run.npz")
    with pytest.raises(StorageError, match="Use load_trajectory for the file of a single run"):
        BatchRun.load(tmp_path / "run.npz")
    with pytest.raises(StorageError, match=r"batch of runs, not a single run\. Use BatchRun\.load"):
        load_trajectory(batch.save(tmp_path / "batch.npz"))
    with pytest.raises(StorageError, match=r"'scara' are \['shoulder'"):
        BatchRun.load(tmp_path / "batch.npz", library.scara())


def test_the_name_of_a_group_gives_all_of_its_columns() -> None:
    """`run["q"]` said that there was no such column."""
    run = simulate(ROBOT, 0.1, q=STARTS[0])
    batch = simulate_batch(ROBOT, 0.1, q=STARTS)
    for group in ("q", "v", "a", "u", "tau"):
        assert np.array_equal(run[group], getattr(run, group)), group
        assert batch[group].shape == (3, 11, 2), group
    assert np.array_equal(batch["q"], batch.q)
    named = simulate(first_order(lambda x: [-x[0]], {"x": ""}), 0.1, x=[1.0])
    assert named["x"].shape == (11,)  # a column of that name comes first


def test_the_name_of_a_group_that_is_a_coordinate_too_is_refused() -> None:
    """`run["x"]` of a coordinate called x was the empty group of further states."""
    builder = RobotBuilder("slider").add(Body.sphere("body", 1.0, 0.1))
    robot = builder.joint("x", "prismatic", "world", "body", axis=(1, 0, 0)).build()
    for run in (simulate(robot, 0.1, v=[1.0]), simulate_batch(robot, 0.1, v=[[1.0]])):
        with pytest.raises(ShapeError, match=r"may be the coordinate 'x' of .*slider.* Write 'q\.x' or 'v\.x'"):
            run["x"]
        assert run["q.x"].max() == pytest.approx(0.1) and run.x.shape[-1] == 0 and run["q"].shape[-1] == 1
