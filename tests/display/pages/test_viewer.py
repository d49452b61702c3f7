"""The viewer: poses on the page are those of the kinematics, whoever moves the robot; nothing is left when it stops."""

import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import kinemorph as km
from kinemorph.algebra.groups import translation
from kinemorph.display.cameras import Camera
from kinemorph.display.looks.poses import Poses
from kinemorph.display.scenes.building import scene_of
from kinemorph.display.viewer import clock as clock_module
from kinemorph.display.viewer.clock import Clock
from kinemorph.display.viewer.view import Viewer, view
from kinemorph.errors import MissingExtraError, ShapeError, UnsupportedError
from kinemorph.model.joint import Joint
from support.pages.viewers import assert_posed, until

pytest.importorskip("starlette")

# ── the server ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_prints_its_address_alone_and_shows_a_frame_in_notebooks(
    pendulum: km.Robot, kept: list[Viewer], capsys: pytest.CaptureFixture[str]
) -> None:
    viewer = view(pendulum)
    kept.append(viewer)
    assert capsys.readouterr().out == f"viewer at {viewer.url}\n"
    assert f"http://127.0.0.1:{viewer.port}/frame/" in viewer._repr_html_()
    assert repr(viewer) == f"<Viewer 'double pendulum' at http://127.0.0.1:{viewer.port}>"  # without the token


def test_stop_frees_the_port_and_leaves_no_thread(
    pendulum: km.Robot, swing: km.Trajectory, capsys: pytest.CaptureFixture[str]
) -> None:
    before = set(threading.enumerate())
    with view(swing) as viewer:
        viewer.play()
        port = viewer.port
        with view(pendulum) as second:
            assert second.port != port
    deadline = time.monotonic() + 3.0
    while set(threading.enumerate()) - before and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not set(threading.enumerate()) - before
    assert "stopped" in repr(viewer) and "iframe" not in viewer._repr_html_()
    viewer.stop()  # once more does no harm
    with view(pendulum, port=port) as again:
        assert again.port == port
    assert capsys.readouterr().out.count("\n") == 3  # the three addresses


def test_a_missing_extra_is_named(pendulum: km.Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(MissingExtraError, match=r"kinemorph\[view\]"):
        view(pendulum)


# ── posing ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_q_moves_bodies(pendulum: km.Robot, kept: list[Viewer]) -> None:
    viewer = view(pendulum, q=[0.1, 0.2])
    kept.append(viewer)
    assert_posed(viewer, pendulum, [0.1, 0.2])
    viewer.q = [0.7, -4.0]
    assert_posed(viewer, pendulum, [0.7, -4.0])
    with pytest.raises(ShapeError, match="expected \\(2,\\)"):
        viewer.q = [0.0]
    with pytest.raises(ShapeError, match=r"expected \(2,\) finite numbers"):
        viewer.q = [0.0, np.nan]


def test_every_kind_of_joint_has_its_sliders(kept: list[Viewer]) -> None:
    builder = km.RobotBuilder("kinds")
    parent = "world"
    kinds = ("free", "spherical", "planar", "cylindrical", "universal", "helical", "prismatic")
    kinds += ("point_on_line", "point_on_plane")
    for kind in kinds:
        builder.add(km.Body.box(kind, 1.0, (0.1, 0.1, 0.1)))
        more = {"pitch": 0.1} if kind == "helical" else {}
        builder.joint(f"to_{kind}", kind, parent, kind, translation=(0.3, 0.0, 0.0), **more)
        parent = kind
    robot = builder.build()
    viewer = view(robot)
    kept.append(viewer)
    moves = {
        "to_free x": 0.2, "to_free yaw": 0.5, "to_free pitch": -0.3, "to_spherical roll": 0.4, "to_planar y": 0.1,
        "to_planar theta": 0.7, "to_cylindrical travel": 0.2, "to_universal second": 0.6, "to_helical": 1.0,
        "to_prismatic": 0.05, "to_point_on_line travel": 0.1, "to_point_on_line roll": 0.2, "to_point_on_plane y": 0.3,
        "to_point_on_plane yaw": 0.4,
    }  # fmt: skip
    for name, value in moves.items():
        viewer.set_joint(name, value)
    assert_posed(viewer, robot, viewer.q)
    values = dict(zip(robot.q_names, viewer.q, strict=True))
    assert values["to_free.x"] == 0.2 and values["to_planar.theta"] == pytest.approx(0.7)
    assert values["to_cylindrical.travel"] == 0.2 and values["to_universal.second"] == pytest.approx(0.6)
    assert values["to_spherical.qw"] == pytest.approx(np.cos(0.2))
    assert values["to_point_on_line.travel"] == 0.1 and values["to_point_on_plane.y"] == 0.3
    assert values["to_point_on_line.qx"] == pytest.approx(np.sin(0.1))
    assert values["to_point_on_plane.qz"] == pytest.approx(np.sin(0.2))
    half = 0.5 * np.array([0.5, -0.3])  # Rz(yaw) Ry(pitch)
    assert values["to_free.qw"] == pytest.approx(np.prod(np.cos(half)))
    with pytest.raises(UnsupportedError, match="Did you mean 'to_free x'"):
        viewer.set_joint("to_free xx", 0.0)


def test_loops_close_again(kept: list[Viewer]) -> None:
    robot = km.library.four_bar()
    viewer = view(robot)
    kept.append(viewer)
    dynamics = km.derive(robot, backend="interpreter")
    for angle in (0.8, 2.5, -1.0):
        viewer.set_joint("q1", angle)
        assert viewer.q[0] == pytest.approx(angle)
        assert np.abs(dynamics.constraint_error(viewer.q)).max() < 1e-9
        assert_posed(viewer, robot, viewer.q)
    with view(robot, q=[0.6, 0.2, 1.4]) as open_at_first:
        assert np.abs(dynamics.constraint_error(open_at_first.q)).max() < 1e-9
        assert open_at_first.q == pytest.approx([0.6, 0.2, 1.4], abs=0.3)
    before = viewer.q
    viewer.set_joint("q3", 0.2)  # the rocker cannot go there
    assert "q3 stops here" in viewer.message
    assert viewer.q[2] != pytest.approx(0.2) and not np.array_equal(viewer.q, before)
    assert np.abs(dynamics.constraint_error(viewer.q)).max() < 1e-9


def test_coupled_joints_follow(kept: list[Viewer]) -> None:
    builder = km.RobotBuilder("gripper")
    for name in ("left", "right"):
        builder.add(km.Body.box(name, 1.0, (0.1, 0.1, 0.1)))
        builder.joint(f"{name}_slide", "prismatic", "world", name, axis=(1.0, 0.0, 0.0))
    builder.couple("right_slide", "left_slide", multiplier=-1.0)
    robot = builder.build()
    viewer = view(robot)
    kept.append(viewer)
    viewer.set_joint("left_slide", 0.03)
    np.testing.assert_allclose(viewer.q, [0.03, -0.03])


@pytest.mark.slow
def test_a_large_robot_on_pinned_feet_closes_quickly(kept: list[Viewer]) -> None:
    free = km.library.hexapod36()
    q = view_stance(free)
    poses = Poses(free, q)
    pins = tuple(
        Joint(f"pin{i}", "spherical", "world", f.body, translation(poses.p[f.name][0].tolist()), f.placement)
        for i, f in enumerate(free.frames)
    )
    robot = replace(free, loops=pins)
    viewer = view(robot, q=q)
    kept.append(viewer)
    taken = []
    for step in range(1, 8):
        start = time.perf_counter()
        viewer.set_joint("trunk_root z", q[2] + 0.005 * step)
        taken.append(time.perf_counter() - start)
    assert viewer.message == "" and viewer.q[2] == pytest.approx(q[2] + 0.035)
    feet = Poses(robot, viewer.q)
    assert max(np.abs(feet.p[f.name] - poses.p[f.name]).max() for f in free.frames) < 1e-9
    assert min(taken) < 0.03


def view_stance(robot: km.Robot) -> np.ndarray:
    from kinemorph.mechanics.constraints.stances import stance

    return stance(robot)


# ── playing ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_clock_goes_at_its_speed_and_round(monkeypatch: pytest.MonkeyPatch) -> None:
    wall = [0.0]
    monkeypatch.setattr(clock_module.time, "perf_counter", lambda: wall[0])
    clock = Clock(5.0, 7.0)
    clock.speed, clock.loop = 3.0, True
    clock.play()
    for k in range(1, 120):
        wall[0] += 0.02
        assert clock.now == pytest.approx(5.0 + (0.06 * k) % 2.0) and clock.playing
    clock.set(5.5)
    clock.speed, clock.loop = -1.0, False
    wall[0] += 0.3
    assert clock.now == pytest.approx(5.2) and clock.playing
    wall[0] += 0.3
    assert clock.now == 5.0 and not clock.playing
    clock.play()  # from the other end
    wall[0] += 0.5
    assert clock.now == pytest.approx(6.5)
    clock.pause()
    wall[0] += 0.5
    assert clock.now == pytest.approx(6.5) and not clock.playing


def test_time_sets_the_poses_of_the_run(pendulum: km.Robot, swing: km.Trajectory, kept: list[Viewer]) -> None:
    viewer = view(swing, trace="tip")
    kept.append(viewer)
    for t in (0.0, 0.5, 1.0):
        viewer.time = t
        assert_posed(viewer, pendulum, swing.at(t).q, within=1e-9)
    viewer.time = 0.5 + 0.4 / 60.0  # between two pictures
    assert_posed(viewer, pendulum, swing.at(viewer.time).q, within=2e-3)
    viewer.time = 7.0
    assert viewer.time == 1.0
    with pytest.raises(UnsupportedError, match="a run, which has its own motion"):
        viewer.q = [0.0, 0.0]


def test_plays_to_the_end_and_round(swing: km.Trajectory, kept: list[Viewer]) -> None:
    viewer = view(swing)
    kept.append(viewer)
    viewer.speed = 8.0
    viewer.play()
    assert viewer.playing
    seen = until(lambda: not viewer.playing)
    assert seen and viewer.time == 1.0
    assert_posed(viewer, km.library.double_pendulum(), swing.at(1.0).q)
    viewer.loop = True
    viewer.play()
    assert until(lambda: 0.0 < viewer.time < 0.9) and viewer.playing
    viewer.time = 0.25  # scrubbing while it plays
    assert until(lambda: viewer.time > 0.4)
    viewer.pause()
    now = viewer.time
    time.sleep(0.05)
    assert viewer.time == now and not viewer.playing


def test_several_runs_stand_side_by_side(pendulum: km.Robot, swing: km.Trajectory, kept: list[Viewer]) -> None:
    short = km.simulate(pendulum, 0.5, q=[0.3, 0.0])
    viewer = view({"wide": swing, "short": short}, trace="tip")
    kept.append(viewer)
    viewer.time = 0.8
    assert_posed(viewer, pendulum, swing.at(0.8).q, "wide")
    assert_posed(viewer, pendulum, short.at(0.5).q, "short")  # waits at its end
    with pytest.raises(UnsupportedError, match="no figure 'wid'"):
        viewer.pose("wid", 0)


# ── what is shown ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_layers_are_shown_and_hidden(pendulum: km.Robot, kept: list[Viewer]) -> None:
    viewer = view(pendulum)
    kept.append(viewer)
    assert viewer.layers["shapes"] and not viewer.layers["inertia"]
    viewer.show("inertia", "centers", "graph")
    assert viewer.layers["inertia"] and viewer.layers["graph"]
    viewer.hide("inertia")
    assert not viewer.layers["inertia"]
    with pytest.raises(UnsupportedError, match="no layer 'inertias'"):
        viewer.show("inertias")  # type: ignore[arg-type]


def test_paths_are_added(swing: km.Trajectory, kept: list[Viewer]) -> None:
    viewer = view(swing, trace="tip")
    kept.append(viewer)
    viewer.trace("link1")
    first, second = viewer.scene.figures[0].traces
    assert (first.name, second.name) == ("tip", "link1") and first.color != second.color
    with pytest.raises(UnsupportedError, match="no body or frame 'top'"):
        viewer.trace("top")


def test_a_missing_mesh_is_a_note(tmp_path: Path, kept: list[Viewer]) -> None:
    model = tmp_path / "arm.urdf"
    model.write_text(
        '<robot name="arm"><link name="base"><visual><geometry><mesh filename="lost.stl"/></geometry></visual>'
        "</link></robot>"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        viewer = view(km.load(str(model)))
    kept.append(viewer)
    assert viewer.scene.notes == ("1 mesh of arm cannot be shown: a warning says why",)


# ── wrong use, and several at once ────────────────────────────────────────────────────────────────────────────────────


def test_a_stopped_viewer_and_wrong_values_get_sentences(kept: list[Viewer]) -> None:
    viewer = view(km.library.puma())
    kept.append(viewer)
    viewer.q = {"joint2": 0.4}
    assert viewer.q[1] == 0.4
    for wrong, said in (("x", "q is 'x'"), ({"joint7": 0.0}, "no coordinate 'joint7'"), ([0.0], r"q has shape \(1,\)")):
        with pytest.raises(ShapeError, match=said):
            viewer.q = wrong
    with pytest.raises(ShapeError, match="time is 'x'"):
        viewer.time = "x"
    with pytest.raises(ShapeError, match="speed is None"):
        viewer.speed = None
    viewer.stop()
    for act in (viewer.play, lambda: viewer.set_joint("joint1", 0.1), lambda: viewer.show("frames")):
        with pytest.raises(UnsupportedError, match="stopped"):
            act()


def test_a_script_that_ends_before_its_page_was_seen_says_so() -> None:
    script = "import kinemorph as k; k.view(k.library.pendulum()); print('end')"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert ended.stdout.endswith("end\n")
    assert "the program ends" in ended.stderr and "block=True" in ended.stderr


def test_viewers_made_at_once_have_ports_of_their_own_and_no_banner(
    pendulum: km.Robot, kept: list[Viewer], capsys: pytest.CaptureFixture[str]
) -> None:
    with ThreadPoolExecutor(3) as threads:
        kept += threads.map(lambda _: view(pendulum), range(3))
    assert len({viewer.port for viewer in kept}) == 3
    assert "Websocket" not in capsys.readouterr().out


def test_a_run_of_one_sample_stands_where_it_is(pendulum: km.Robot, swing: km.Trajectory, kept: list[Viewer]) -> None:
    still = replace(scene_of(swing, times=[0.0]), times=np.zeros(1))
    viewer = Viewer(still, Camera())
    kept.append(viewer)
    assert_posed(viewer, pendulum, [1.2, 0.4])
