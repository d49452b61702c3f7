"""Runs whose robot changes on the way, as one sees them: bodies go on, what belongs to joints lasts as long as they."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinemorph
from kinemorph.analysis.audit import audit
from kinemorph.display.charts.plot_phase import plot_phase
from kinemorph.display.html import sparkline
from kinemorph.display.looks.combined_robot import configurations, robot_of
from kinemorph.display.looks.quaternions import quaternions_of
from kinemorph.display.painting.triangles import Cast
from kinemorph.display.replays.notebook_frame import thinned
from kinemorph.display.scenes.building import scene_of
from kinemorph.display.scenes.scene import Figure, Scene
from kinemorph.errors import UnsupportedError
from kinemorph.plants.programs import Place
from kinemorph.plants.user_laws import Column
from kinemorph.simulation.results.body_poses import body_poses
from kinemorph.simulation.results.run_notes import cautions
from kinemorph.simulation.results.trajectory import Trajectory
from support.cases.docked_runs import DOCKED, END, NAMES, docked_run
from support.tools.command_line import run as command


@pytest.fixture(scope="module")
def run() -> Trajectory:
    return docked_run()


@pytest.fixture(scope="module")
def scene(run: Trajectory) -> Scene:
    return scene_of(run, trace=["tip"], columns=["q.b_root.x", "q.a_hinge"])


def figure_in(scene: Scene) -> Figure:
    (figure,) = scene.figures
    return figure


# ── scenes ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_bodies_are_where_the_run_has_them(run: Trajectory, scene: Scene) -> None:
    figure, poses = figure_in(scene), body_poses(run, scene.times)
    assert figure.bodies == NAMES
    assert np.abs(figure.positions - poses[:, :, :3, 3]).max() < 1e-12
    turns = quaternions_of(poses[:, :, :3, :3])
    assert np.abs(np.abs((turns * figure.quaternions).sum(axis=2)) - 1.0).max() < 1e-12
    assert [robot.name for robot in figure.robots] == ["pair", "union"]
    assert scene.title == "pair"
    assert scene.events[0].name == "b to a_arm: dock"


def test_joints_frames_and_elements_last_as_long_as_their_system(scene: Scene) -> None:
    figure, docked = figure_in(scene), scene.times >= DOCKED
    parts = {(part.name, part.layer): part for part in figure.parts}
    assert parts["a_arm", "shapes"].shown is None
    assert parts["a_hinge axis", "joints"].shown is None  # in both of them, and once
    assert sum(part.name == "a_hinge axis" for part in figure.parts) == 1
    assert np.array_equal(parts["eye x", "frames"].shown, ~docked)
    assert np.array_equal(parts["dock edge", "graph"].shown, docked)
    assert not any("moves" in part.name for part in figure.parts)  # what stands for them is not seen
    marks = {mark.name: mark for mark in figure.marks}
    assert marks["tie"].shown is None
    assert np.array_equal(marks["latch"].shown, docked)
    assert [trace.name for trace in figure.traces] == ["tip"]


def test_bodies_keep_their_colors_and_automatic_shapes(run: Trajectory) -> None:
    company = robot_of(run)
    colors = [{shape.color[:3] for shape in body.shapes} for body in company.bodies]
    assert colors[0] == colors[2]
    assert colors[1] == colors[3]
    assert not colors[0] & colors[1]
    plain = [
        replace(segment, plant=replace(segment.plant, dynamics=replace(segment.plant.dynamics, robot=bare(segment))))
        for segment in run.segments
    ]
    assert all(body.shapes for body in robot_of(replace(run, segments=tuple(plain))).bodies)


def bare(segment: Any) -> kinemorph.Robot:
    robot = segment.plant.robot
    return replace(robot, bodies=tuple(replace(body, shapes=()) for body in robot.bodies))


def test_columns_have_gaps_and_no_line_across(run: Trajectory, scene: Scene) -> None:
    root, hinge = scene.series
    docked = scene.times >= DOCKED
    assert np.array_equal(np.isnan(root.values), docked)
    assert np.isfinite(hinge.values).all()
    again = replace(run, segments=(*run.segments, shifted(run.segments[0], END)))
    (series,) = scene_of(again, columns="q.b_root.x").series
    times = scene_of(again, columns=()).times
    assert np.array_equal(np.isnan(series.values), (times >= DOCKED) & (times < END))


def shifted(segment: Any, t: float) -> Any:
    return replace(segment, t=segment.t + t)


def test_a_body_that_is_gone_is_not_seen(run: Trajectory) -> None:
    lone = replace(run, segments=(run.segments[0], left_alone(run.segments[1])))
    poses = body_poses(lone, [0.1, 0.9], ["a_arm", "b"])
    assert np.isfinite(poses[:, 0]).all()
    assert np.isnan(poses[1, 1]).all()
    q = configurations(lone, np.array([0.1, 0.39, 0.9]))
    assert np.array_equal(q[2, 14:21], q[1, 14:21])  # "b" stays where it was last
    figure = figure_in(scene_of(lone, columns=()))
    shown = {part.name: part.shown for part in figure.parts if part.layer == "shapes"}
    assert shown["a"] is None
    assert shown["b"] is not None
    assert shown["b"][0]
    assert not shown["b"][-1]


def left_alone(segment: Any) -> Any:
    """The samples of "a" and its arm, without "b"."""
    plant = segment.plant
    joints = tuple(joint for joint in plant.robot.joints if joint.child[0] == "a")
    robot = replace(plant.robot, bodies=plant.robot.bodies[:2], joints=joints, frames=())
    q, v = ([k for k, one in enumerate(getattr(plant, group)) if one.name[0] == "a"] for group in "qv")
    fewer = replace(
        plant,
        q=tuple(plant.q[k] for k in q),
        v=tuple(plant.v[k] for k in v),
        dynamics=replace(plant.dynamics, robot=robot),
        manifold=(Place("revolute", 0, 0), Place("free", 1, 1)),
        elements=(),
    )
    z = segment.z[:, [*v, *range(plant.nv, plant.nv + plant.nx)]]
    return replace(segment, plant=fewer, q=segment.q[:, q], v=segment.v[:, v], stored={"z": z, "y": segment.y})


def stored(segment: Any) -> dict[str, Any]:
    return {"z": segment.z, "y": segment.y}


def test_scenes_with_fewer_pictures_keep_what_is_there_when(scene: Scene) -> None:
    few = thinned(scene, 5)
    part = next(part for part in figure_in(few).parts if part.name == "eye x")
    assert np.array_equal(part.shown, few.times < DOCKED)
    assert all(mark.shown is None or len(mark.shown) == len(few.times) for mark in figure_in(few).marks)


# ── films, pages, the viewer ──────────────────────────────────────────────────────────────────────────────────────────


def test_films_leave_out_what_is_not_there(scene: Scene) -> None:
    figure = figure_in(scene)
    parts = tuple(replace(part, layer="shapes") for part in figure.parts if part.name in ("eye x", "tip x"))
    cast = Cast(replace(scene, figures=(replace(figure, parts=parts),)))
    first, count = np.cumsum([0, *(len(part.surface.points) for part in parts)]), len(scene.times) - 1
    for k, there in ((0, (True, False)), (count, (False, True))):
        shot = cast.at(k)
        sizes = [float(np.ptp(shot.points[a:b], axis=0).max()) for a, b in pairwise(first)]
        assert tuple(size > 1e-6 for size in sizes) == there
        assert np.isfinite(shot.normals).all()
    latch = [mark.name for mark in cast.marks.marks].index("latch")
    assert not cast.marks.at(0)[0][latch].any()
    assert cast.marks.at(count)[0][latch].any()


@pytest.mark.slow
def test_a_film_is_written(run: Trajectory, tmp_path: Path) -> None:
    from PIL import Image

    path = run.animate(tmp_path / "docked.gif", fps=4, size=1.5)
    with Image.open(path) as film:
        assert film.n_frames == 5


def test_the_viewer_poses_both_robots(run: Trajectory) -> None:
    pytest.importorskip("starlette")
    from kinemorph.display.viewer.view import view

    with view(run) as viewer:
        viewer.show("frames")
        for t in (0.1, 0.9):
            viewer.time = t
            assert np.abs(viewer.pose(0, "b")[0] - body_poses(run, [t], ["b"])[0, 0, :3, 3]).max() < 1e-3


# ── figures and tables ────────────────────────────────────────────────────────────────────────────────────────────────


def test_plots_have_gaps_and_name_the_docking(run: Trajectory) -> None:
    figure = run.plot("q.b_root.x", "q.a_hinge")
    line = figure.axes[0].lines[0]
    y = np.asarray(line.get_ydata(), dtype=float)
    assert np.array_equal(np.isnan(y), np.concatenate([[False] * 21, [True] * 31]))
    assert "b to a_arm: dock" in [text.get_text() for axes in figure.axes for text in axes.texts]


def test_phase_portraits_begin_and_end_with_the_coordinate(run: Trajectory) -> None:
    first, second = run.segments
    q, v = ((one[0], Column("other", ""), *one[2:]) for one in (second.plant.q, second.plant.v))
    other = replace(
        run, segments=(first, replace(second, plant=replace(second.plant, q=q, v=v), stored=stored(second)))
    )
    start, end = (line for line in plot_phase(other, "b_hinge").axes[0].lines if len(line.get_xdata()) == 1)
    assert start.get_xdata()[0] == first.q[0, 1]
    assert end.get_xdata()[0] == first.q[-1, 1]


def test_cards_tell_systems_and_what_was_lost(run: Trajectory) -> None:
    card = run._repr_html_()
    assert "2 systems in turn" in card
    assert "data:image/png" in card
    assert ">b to a_arm<" in card and ">dock<" in card and "energy loss 0.04772 J" in card
    reset = replace(run, segments=(run.segments[0], shifted(run.segments[0], 1.0)))
    assert "in turn" not in reset._repr_html_()  # a reset changes no system


def test_small_curves_have_gaps() -> None:
    t = np.linspace(0.0, 1.0, 11)
    values = np.where((t > 0.35) & (t < 0.65), np.nan, t)
    assert sparkline(t, values).count("<polyline") == 2
    late = sparkline(t, np.where(t < 0.5, np.nan, t))
    assert 'points="2' not in late  # it begins in the middle


def test_summaries_count_drift_from_event_to_event(run: Trajectory) -> None:
    data = run.sheet(["q.b_root.x"]).data()
    assert [(part["name"], part["dof"]) for part in data["systems"]] == [("pair", 14), ("union", 8)]
    assert data["events"][0]["numbers"][0] == {
        "name": "energy_loss",
        "value": run.events[0]["energy_loss"],
        "unit": "J",
    }
    assert data["energy"]["drift"] < 1e-8
    assert len(data["final"]["q"]) == 9
    assert cautions(run) == []
    (row,) = data["columns"]
    assert row["last"] == run.segments[0].q[-1, 9]


def test_show_tells_a_saved_run_and_asks_for_its_robots(run: Trajectory, tmp_path: Path) -> None:
    path = run.save(tmp_path / "docked.npz")
    told = command("show", str(path))
    assert told.exit_code == 0
    assert "2 systems in turn" in told.stdout and "energy loss 0.04772 J" in told.stdout
    assert ["union", "0.4", "1", "8"] in [line.split() for line in told.stdout.splitlines()]  # with its times and dof
    assert json.loads(command("show", str(path), "--json").stdout)["systems"][1]["name"] == "union"
    table = run.save(tmp_path / "docked.csv")  # a table holds no models
    refused = command("show", str(table), "--html", str(tmp_path / "docked.html"))
    assert refused.exit_code != 0
    assert "2 robots of run 'pair', pair, union, but --robot names 0" in refused.stderr


@pytest.mark.slow
def test_show_draws_a_saved_run_with_the_robots_that_are_named(run: Trajectory, tmp_path: Path) -> None:
    path = run.save(tmp_path / "docked.npz")
    models = []
    for segment in run.segments:
        assert segment.plant.robot is not None
        system = kinemorph.System(segment.plant.robot, segment.plant.elements)
        models += ["--robot", str(kinemorph.save(system, tmp_path / f"{segment.plant.name}.toml")[0])]
    done = command("show", str(path), "--html", str(tmp_path / "docked.html"), *models)
    assert done.exit_code == 0, done.stderr
    assert (tmp_path / "docked.html").stat().st_size > 50_000


# ── audits ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_audits_judge_every_system_and_the_change(run: Trajectory) -> None:
    found = audit(run)
    assert found.passed
    checks = {check.name: check for check in found.checks}
    assert checks["energy balance"].status == "passed"
    assert (checks["changes of the system"].worst or 0.0) < 1e-12
    second = run.segments[1]
    pushed = replace(run, segments=(run.segments[0], replace(second, v=1.01 * second.v)))
    assert {check.name for check in audit(pushed).checks if check.status == "failed"} >= {"changes of the system"}
    assert "changes of the system" not in {check.name for check in audit(run.stretches[0]).checks}


def test_runs_without_a_robot_are_refused_in_a_sentence(run: Trajectory, tmp_path: Path) -> None:
    back = kinemorph.load_trajectory(run.save(tmp_path / "docked.csv"))
    with pytest.raises(
        UnsupportedError, match=r"has no robot, because .*model=\[\.\.\.\], with a model for each system"
    ):
        back.replay()
    assert "No picture" in back._repr_html_() or "has no robot" in back._repr_html_()
    assert audit(back).passed
