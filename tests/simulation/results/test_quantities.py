"""Columns on request (finding D13): reactions of joints and positions of frames, in runs, tables, plots and texts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kinemorph import Trajectory, library, load_trajectory, simulate, simulate_batch
from kinemorph.display.series import chosen
from kinemorph.errors import KinemorphError, ShapeError, UnsupportedError
from kinemorph.studies import Space, Values, sweep

CLOSED = [0.6, 0.02989836, 1.6066907]  # of the four-bar linkage
WRENCH = ("fx", "fy", "fz", "mx", "my", "mz")


@pytest.fixture(scope="module")
def run() -> Trajectory:
    return simulate(library.double_pendulum(), 0.2, q=[0.5, 0.2], output_step=0.05)


def test_reactions_and_positions_are_columns_that_no_list_has(run: Trajectory) -> None:
    wrench = np.column_stack([run[f"reaction.q2.{one}"] for one in WRENCH])
    assert np.array_equal(wrench, run.reactions("q2")) and np.abs(wrench).max() > 1.0
    place = np.column_stack([run[f"position.link2.{axis}"] for axis in "xyz"])
    assert place == pytest.approx(run.body_poses(names=["link2"])[:, 0, :3, 3], abs=1e-15)
    assert not any(name.startswith(("reaction.", "position.")) for name in run.columns)
    assert "reaction.q2.fx" in run and run.on_request["reaction.q2.fx"].unit == "N"
    assert run.on_request["reaction.q2.mz"].unit == "N m" and run.on_request["position.link2.z"].unit == "m"
    with pytest.raises(ShapeError, match=r"Did you mean 'reaction.q2.fx'.* On request: reaction.q1.fx, and others"):
        run["reaction.qq2.fx"]


def test_joints_that_close_loops_have_them_too() -> None:
    run = simulate(library.four_bar(), 0.05, q=CLOSED, output_step=0.05)
    assert (
        np.array_equal(run["reaction.closure.fx"], run.reactions("closure")[:, 0]) and run["reaction.closure.fx"].any()
    )


def test_a_batch_has_the_columns_of_its_runs() -> None:
    batch = simulate_batch(library.double_pendulum(), 0.1, q=[[0.5, 0.2], [0.1, 0.0]], output_step=0.05)
    for name in ("reaction.q1.fy", "position.link2.x"):
        assert name in batch and name not in batch.columns
        assert batch[name] == pytest.approx(np.stack([one[name] for one in batch]), abs=1e-13)


def test_plots_and_data_frames_take_them_when_they_are_named(run: Trajectory) -> None:
    assert [one.name for one in chosen(run, ["reaction.q1.f*", "q"])][:3] == [
        f"reaction.q1.{one}" for one in WRENCH[:3]
    ]
    assert len(chosen(run, ["reaction"])) == 12 and all("." in one.name for one in chosen(run, ["*q1*"]))
    assert not any(one.name.startswith("reaction") for one in chosen(run, ["*"]))
    pytest.importorskip("pandas")
    frame = run.to_dataframe("t", "reaction.q2.fx")
    assert np.array_equal(frame["reaction.q2.fx"], run["reaction.q2.fx"]) and frame.attrs["units"]["t"] == "s"
    assert list(run.to_dataframe()) == list(run.columns)


def test_a_table_keeps_those_that_are_asked_for(run: Trajectory, tmp_path: Path) -> None:
    path = run.save(tmp_path / "run.csv", columns=["reaction.q2.fx", "position.link2.z"])
    assert path.read_text().splitlines()[1].endswith(",reaction.q2.fx [N],position.link2.z [m]")
    back = load_trajectory(path)
    for name in ("reaction.q2.fx", "position.link2.z"):
        assert np.array_equal(back[name], run[name]) and back.columns[name] == run.on_request[name]
    for ending in ("npz", "h5"):  # a table that is saved again keeps them
        again = load_trajectory(back.save(tmp_path / f"again.{ending}"))
        assert np.array_equal(again["reaction.q2.fx"], run["reaction.q2.fx"])
        with pytest.raises(
            UnsupportedError, match=r"no robot to compute 'reaction.q1.fx' with, because a table holds no"
        ):
            again["reaction.q1.fx"]
    with pytest.raises(UnsupportedError, match=r"columns are given, expected a file that ends in .csv. Leave them out"):
        run.save(tmp_path / "run.npz", columns=["reaction.q2.fx"])
    with pytest.raises(ShapeError, match=r"has no column 'reaction.q3.fx'"):
        run.save(tmp_path / "run.csv", columns=["reaction.q3.fx"])


def test_texts_of_measures_name_energies_reactions_and_positions(run: Trajectory) -> None:
    """One rule for names: those of columns. "max(NAME)" is the largest value of the column in the run."""
    texts = {
        "pull": "reaction.q2.fx",
        "energy": "energy.kinetic + energy.potential",
        "height": "position.link2.z",
        "worst": "max(reaction.q2.fx)",
        "lowest": "min( v.q1 )",
    }
    space = Space({"q.q2": Values([0.2])})
    study = sweep(library.double_pendulum(), space, texts, until=0.2, output_step=0.05, q={"q1": 0.5}, workers=0)
    found = {name: float(study[name][0]) for name in texts}
    assert found == pytest.approx(
        {
            "pull": run["reaction.q2.fx"][-1],
            "energy": run["energy.kinetic"][-1] + run["energy.potential"][-1],
            "height": run["position.link2.z"][-1],
            "worst": run["reaction.q2.fx"].max(),
            "lowest": run["v.q1"].min(),
        },
        rel=1e-9,
    )
    with pytest.raises(KinemorphError, match=r"measure 'max\(v.q3\)': a run of 'double_pendulum' has no column 'v.q3'"):
        sweep(library.double_pendulum(), space, "max(v.q3)", until=0.2, workers=0)
