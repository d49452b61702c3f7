"""Runs whose system changes on the way: columns, states, poses, reactions, and files of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import kinemorph
from kinemorph.errors import ModelError, ShapeError, StorageError, UnsupportedError
from kinemorph.model.system import System
from kinemorph.plants.robot_plant import plant
from kinemorph.plants.user_laws import Column
from kinemorph.simulation.files.storage import load_trajectory
from kinemorph.simulation.results.body_poses import body_poses
from kinemorph.simulation.results.event import Event, Quantity
from kinemorph.simulation.results.segment import Segment
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.simulation.simulate import simulate
from support.cases.docked_runs import DOCKED, END, NAMES, docked_run, joined


@pytest.fixture(scope="module")
def run() -> Trajectory:
    return docked_run()


# ── columns and arrays ────────────────────────────────────────────────────────────────────────────────────────────────


def test_columns_are_joined_by_name(run: Trajectory) -> None:
    n = len(run.segments[0].t)
    hinge, root = run["q.b_hinge"], run["q.b_root.x"]
    assert np.isfinite(hinge).all()
    assert np.isfinite(root[:n]).all()
    assert np.isnan(root[n:]).all()
    assert np.array_equal(hinge[n:], run.segments[1].q[:, [c.name for c in run.segments[1].plant.q].index("b_hinge")])
    groups = [name.partition(".")[0] for name in run.columns]
    assert groups == sorted(groups, key=list(dict.fromkeys(groups)).index)  # those of one group stand together


def test_arrays_of_other_columns_are_not_joined(run: Trajectory) -> None:
    for group in ("q", "v", "a", "u", "tau"):
        with pytest.raises(ShapeError, match=rf"and with it the columns of {group}.*run\['{group}.a_hinge'\]"):
            getattr(run, group)
    assert run.energy.kinetic.shape == (len(run),)


def renamed(segment: Segment, **columns: Column) -> Segment:
    """A segment with other names for the first of its columns."""
    groups = {group: (column, *getattr(segment.plant, group)[1:]) for group, column in columns.items()}
    return replace(segment, plant=replace(segment.plant, **groups))


def test_columns_of_other_names_and_the_same_number_are_not_joined(run: Trajectory) -> None:
    first = run.segments[0]
    turned = replace(run, segments=(first, renamed(first, q=Column("other", "rad"))))
    with pytest.raises(ShapeError, match=r"columns of q"):
        _ = turned.q
    assert turned.v.shape == (2 * len(first.t), 14)


def test_a_column_of_another_unit_is_another_column(run: Trajectory) -> None:
    first, n = run.segments[0], len(run.segments[0].t)
    both = replace(run, segments=(first, renamed(first, q=Column("a_hinge", "m"))))
    assert both.columns["q.a_hinge"].unit == "rad"
    assert both.columns["q.a_hinge [m]"].unit == "m"
    assert np.isnan(both["q.a_hinge"][n:]).all()
    assert np.array_equal(both["q.a_hinge [m]"][n:], first.q[:, 0])


def test_the_balance_shows_what_the_docking_took(run: Trajectory) -> None:
    (event,) = run.events
    n = len(run.segments[0].t)
    balance = run["energy.balance"]
    assert event["energy_loss"] > 0.01
    assert np.abs(balance[:n]).max() < 1e-8
    assert np.abs(balance[n:] + event["energy_loss"]).max() < 1e-8
    assert run.energy.dissipated[-1] > run.energy.dissipated[n] > 0.0  # the account goes on
    with pytest.raises(KeyError, match=r"no number 'energy'. Known: energy_loss, gap"):
        event["energy"]


def test_a_segment_without_an_account_leaves_a_gap_in_the_balance(run: Trajectory) -> None:
    first, second = run.segments
    silent = replace(second, stored={"z": second.z, "y": second.y})
    part = replace(run, segments=(first, silent))
    n = len(first.t)
    assert np.abs(part["energy.balance"][:n]).max() < 1e-8
    assert np.isnan(part["energy.balance"][n:]).all()


# ── states ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_stretches_are_runs_of_one_system(run: Trajectory) -> None:
    before, after = run.stretches
    assert (before.name, after.name) == ("pair", "union")
    assert before.q.shape[1] == 16
    assert after.q.shape[1] == 9
    assert before.events == run.events  # it ends with the docking
    assert not after.events
    assert before.outcome.t == DOCKED
    assert before.stretches == (before,)
    assert "2 systems in turn" in repr(run)


def test_states_within_one_stretch(run: Trajectory) -> None:
    assert run.at([0.1, 0.3]).q.shape == (2, 16)
    assert run.at(DOCKED).q.shape == (9,)  # the one after
    assert np.array_equal(run.at(0.7).q, run.stretches[1].at(0.7).q)
    with pytest.raises(UnsupportedError, match=r"changes its system at t = 0.4 s, between .*body_poses"):
        run.at([0.1, 0.7])
    with pytest.raises(ShapeError, match=r"covers 0 to 1 s"):
        run.at(1.5)
    assert run.segment_at(0.39) is run.segments[0]
    assert run.segment_at(DOCKED) is run.segments[1]
    assert run.segment_at(END) is run.segments[1]
    with pytest.raises(ShapeError, match=r"covers 0 to 1 s"):
        run.segment_at(-0.1)


def test_bodies_do_not_jump(run: Trajectory) -> None:
    poses = run.body_poses()
    n = len(run.segments[0].t)
    assert poses.shape == (len(run), len(NAMES), 4, 4)
    assert np.abs(poses[n] - poses[n - 1]).max() < 1e-14
    fine = body_poses(run, np.linspace(DOCKED - 1e-9, DOCKED + 1e-9, 21), ["b", "b_arm"])
    assert np.abs(np.diff(fine, axis=0)).max() < 1e-9
    assert np.abs(fine[:, :, :3, :3] @ np.swapaxes(fine[:, :, :3, :3], 2, 3) - np.eye(3)).max() < 1e-12


def test_frames_are_there_as_long_as_their_robot(run: Trajectory) -> None:
    poses = body_poses(run, [0.1, 0.9], ["eye", "tip", "b"])
    assert np.isnan(poses[0, 1]).all()
    assert np.isnan(poses[1, 0]).all()
    assert np.array_equal(poses[0, 0], poses[0, 2])  # the eye sits at its origin
    with pytest.raises(ModelError, match=r"no body or frame 'tib'. Did you mean 'tip'"):
        body_poses(run, [0.1], ["tib"])


def test_poses_are_those_of_the_parameters_that_were_run() -> None:
    length = kinemorph.Parameter("length", 0.5)
    builder = kinemorph.RobotBuilder("arm").add(kinemorph.Body.point("bob", 1.0, (0.0, 0.0, -0.1)))
    builder.joint("swing", "revolute", "world", "bob", axis=(0, 1, 0), translation=(length, 0.0, 0.0))
    made = plant(kinemorph.derive(builder.build(), parameters="all", backend="interpreter"))
    parts = [simulate(made, t + 0.1, start=t, p=p, output_step=0.1) for t, p in ((0.0, [0.5]), (0.1, [2.0]))]
    both = joined(*parts)
    assert len(both.stretches) == 2
    assert both.q.shape == (4, 1)  # the same columns
    assert np.allclose(body_poses(both, [0.05, 0.15], ["bob"])[:, 0, 0, 3], [0.5, 2.0])
    assert both.segments[0].robot is made.robot  # nothing is made anew for nominal values


def test_reactions_where_the_joint_is(run: Trajectory) -> None:
    n = len(run.segments[0].t)
    docked, hinge = run.reactions("dock"), run.reactions("a_hinge")
    assert np.isnan(docked[:n]).all()
    assert np.isfinite(docked[n:]).all()
    assert np.isfinite(hinge).all()
    with pytest.raises(ModelError, match=r"no joint 'dok'. Did you mean 'dock'"):
        run.reactions("dok")


def test_a_run_goes_on_from_its_last_system(run: Trajectory) -> None:
    more = simulate(run.segments[-1].plant, END + 0.04, start=run, output_step=0.02)
    assert np.allclose(more.segments[0].q[0], run.segments[-1].q[-1], atol=1e-15)
    whole = joined(run, more)
    assert len(whole.stretches) == 2
    assert abs(whole["energy.balance"][-1] - run["energy.balance"][-1]) < 1e-8
    first = run.segments[0].plant
    with pytest.raises(ModelError, match=r"'b_root.x' of 'pair' is in the run, but not at its end.*or give q"):
        simulate(first, 2.0, start=run)
    again = simulate(first, END + 0.02, start=run, q=run.segments[0].q[-1], v=run.segments[0].v[-1], output_step=0.02)
    assert again.t[0] == END


# ── files ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("ending", [".npz", ".h5", ".csv"])
def test_files_bring_everything_back(run: Trajectory, tmp_path: Path, ending: str) -> None:
    path = run.save(tmp_path / f"docked{ending}")
    back = load_trajectory(path)
    assert list(back.columns.items()) == list(run.columns.items())
    for name in run.columns:
        assert np.array_equal(back[name], run[name], equal_nan=True), name
    assert [len(segment.t) for segment in back.segments] == [len(segment.t) for segment in run.segments]
    (mine,), (theirs,) = run.events, back.events
    assert (theirs.name, theirs.kind, theirs.t, theirs.note) == (mine.name, "dock", DOCKED, "The two are one.")
    assert theirs.numbers == mine.numbers
    assert theirs["energy_loss"] == mine["energy_loss"]
    assert theirs.before["q"].shape == (16,)
    assert theirs.after["q"].shape == (9,)
    if ending != ".csv":
        assert np.array_equal(body_poses(back, [0.1]), body_poses(run, [0.1]))
        return
    with pytest.raises(UnsupportedError, match=r"model=\[\.\.\.\], with a model for each system"):
        body_poses(back, [0.1])


def test_models_for_every_system(run: Trajectory, tmp_path: Path) -> None:
    path = run.save(tmp_path / "docked.npz")
    models = [segment.plant for segment in run.segments]
    back = load_trajectory(path, model=models)
    assert np.array_equal(body_poses(back, [0.1, 0.9]), body_poses(run, [0.1, 0.9]))
    systems = [System(one.robot, one.elements) for one in models if one.robot is not None]
    assert np.allclose(load_trajectory(path, model=systems).reactions("a_hinge"), run.reactions("a_hinge"), atol=1e-12)
    assert load_trajectory(path, model=models[0]).segments[1].plant.robot is None
    with pytest.raises(StorageError, match=r"2 systems one after the other \('pair', 'union'\); 1 models are given"):
        load_trajectory(path, model=models[:1])
    with pytest.raises(StorageError, match=r"is a run of 'pair'.*of the given model 'union' are"):
        load_trajectory(path, model=models[::-1])


def test_cells_that_no_system_fills_are_empty(run: Trajectory, tmp_path: Path) -> None:
    path = run.save(tmp_path / "docked.csv")
    _, header, *rows = path.read_text().splitlines()
    place = header.split(",").index("q.b_root.x [m]")
    filled = [bool(row.split(",")[place]) for row in rows]
    assert filled == [segment is run.segments[0] for segment in run.segments for _ in segment.t]
    table = kinemorph_table(path)
    assert np.array_equal(table[:, place], run["q.b_root.x"], equal_nan=True)


def kinemorph_table(path: Path) -> np.ndarray:
    """What others read in it."""
    return np.genfromtxt(path, delimiter=",", skip_header=2, comments=None)


@pytest.mark.parametrize("harm", ["emptied", "cut"])
def test_tables_with_other_gaps_are_refused(run: Trajectory, tmp_path: Path, harm: str) -> None:
    path = run.save(tmp_path / "docked.csv")
    lines = path.read_text().splitlines()
    lines = lines[:-1] if harm == "cut" else [*lines[:-1], "," + lines[-1].partition(",")[2]]
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(
        StorageError,
        match=r"51 samples; its .* says 52" if harm == "cut" else "row 52 has empty cells in other columns",
    ):
        load_trajectory(path)


def test_res_files_hold_systems_of_the_same_columns(run: Trajectory, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match=r"free joint"):
        run.save(tmp_path / "docked.res")
    builder = kinemorph.RobotBuilder("slide").add(kinemorph.Body.sphere("ball", 1.0, 0.1))
    slide = simulate(builder.joint("fall", "prismatic", "world", "ball").build(), 0.1, output_step=0.05)
    (one,) = slide.segments
    two = replace(one, plant=replace(one.plant, name="other"), t=one.t + 0.1)
    back = load_trajectory(replace(slide, segments=(one, two)).save(tmp_path / "two.res"))
    assert [segment.plant.name for segment in back.segments] == ["slide", "other"]
    assert np.array_equal(back["q.fall"], np.concatenate([one.q, two.q])[:, 0])
    three = replace(slide, segments=(one, renamed(two, q=Column("rise", "m"))))
    with pytest.raises(UnsupportedError, match=r"system 1, 'slide', has no column 'q.rise'.*Save it as .csv"):
        three.save(tmp_path / "three.res")


def test_files_without_notes_are_read(run: Trajectory, tmp_path: Path) -> None:
    bare = replace(run, events=tuple(replace(event, note="", numbers=()) for event in run.events))
    path = bare.save(tmp_path / "bare.csv")
    assert "note" not in json.loads(path.read_text().splitlines()[0].partition("trajectory ")[2])["events"][0]
    assert load_trajectory(path).events[0].numbers == ()


# ── events ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_events_are_called_by_name_and_kind() -> None:
    def called(name: str, kind: str) -> str:
        return Event(0.0, name, kind, {}, {}).label  # type: ignore[arg-type]

    assert called("ground", "reset") == "ground"
    assert called("ground", "rest") == "ground: rest"
    assert called("m1 to m2", "dock") == "m1 to m2: dock"
    assert called("dock m1 m2", "dock") == "dock m1 m2"
    assert called("dock m1 m2", "refused") == "dock m1 m2: refused"
    told = Event(0.0, "d", "dock", {}, {}, "They met.", (Quantity("energy_loss", 0.25, "J"), Quantity("ratio", 2.0)))
    assert told.told == "They met; energy loss 0.25 J; ratio 2"
