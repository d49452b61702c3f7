"""The viewer: poses on the page are those of the kinematics, whoever moves the robot; nothing is left when it stops."""

import socket
import subprocess
import sys
import threading
import time
import urllib.request
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import kinemorph as km
from kinemorph.algebra.groups import translation
from kinemorph.display.looks.poses import Poses
from kinemorph.display.scenes.building import scene_of
from kinemorph.display.scenes.figures import stacked_poses
from kinemorph.display.scenes.scene import Happening
from kinemorph.display.viewer import clock as clock_module
from kinemorph.display.viewer.clock import Clock
from kinemorph.display.viewer.view import Viewer, view
from kinemorph.errors import MissingExtraError, ShapeError, UnsupportedError
from kinemorph.model.joint import Joint

pytest.importorskip("viser")


@pytest.fixture
def pendulum() -> km.Robot:
    return km.library.double_pendulum()


@pytest.fixture(scope="module")
def swing() -> km.Trajectory:
    return km.simulate(km.library.double_pendulum(), 1.0, q=[1.2, 0.4])


@pytest.fixture
def kept() -> Iterator[list[Viewer]]:
    """Viewers to be stopped at the end of a test."""
    viewers: list[Viewer] = []
    yield viewers
    for viewer in viewers:
        viewer.stop()


def assert_posed(viewer: Viewer, robot: km.Robot, q: object, figure: int | str = 0, within: float = 1e-9) -> None:
    """Every body of the page is where the kinematics puts it."""
    positions, quaternions = stacked_poses(robot, Poses(robot, q))
    for number, body in enumerate(robot.body_names):
        p, turn = viewer.pose(figure, body)
        np.testing.assert_allclose(p, positions[0, number], atol=within)
        assert abs(abs(turn @ quaternions[0, number]) - 1.0) < within


# ── the server ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_prints_its_address_alone_and_answers(
    pendulum: km.Robot, kept: list[Viewer], capsys: pytest.CaptureFixture[str]
) -> None:
    viewer = view(pendulum)
    kept.append(viewer)
    assert capsys.readouterr().out == f"viewer at {viewer.url}\n"
    with urllib.request.urlopen(viewer.url, timeout=5.0) as answer:
        assert answer.status == 200
    assert viewer.url in viewer._repr_html_()
    assert repr(viewer) == f"<Viewer 'double pendulum' at {viewer.url}>"


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
    assert "viser" not in capsys.readouterr().out


def test_a_busy_port_is_one_sentence(pendulum: km.Robot) -> None:
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = busy.getsockname()[1]
        with pytest.raises(UnsupportedError, match=f"port {port} is taken"):
            view(pendulum, port=port)


@pytest.mark.parametrize("port", [-1, 70_000, "8080", 8080.0, True])
def test_a_port_that_is_none(pendulum: km.Robot, port: object) -> None:
    with pytest.raises(UnsupportedError, match="expected a whole number"):
        view(pendulum, port=port)  # type: ignore[arg-type]


def test_a_missing_extra_is_named(pendulum: km.Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(MissingExtraError, match=r"kinemorph\[view\]"):
        view(pendulum)


def test_only_this_computer_and_no_sharing(pendulum: km.Robot, kept: list[Viewer]) -> None:
    viewer = view(pendulum)
    kept.append(viewer)
    assert viewer._server.get_host() == "127.0.0.1"
    assert viewer._server.request_share_url() is None
    themes = [
        m for m in viewer._server._websock_server._broadcast_buffer.message_from_id.values() if "Theme" in repr(m)
    ]
    assert themes and not themes[-1].show_share_button


# ── posing ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_q_moves_bodies_and_sliders(pendulum: km.Robot, kept: list[Viewer]) -> None:
    viewer = view(pendulum, q=[0.1, 0.2])
    kept.append(viewer)
    assert_posed(viewer, pendulum, [0.1, 0.2])
    viewer.q = [0.7, -4.0]  # beyond the range of the slider
    assert_posed(viewer, pendulum, [0.7, -4.0])
    assert [slider.value for slider in viewer._postures[0]._sliders] == pytest.approx(np.degrees([0.7, -4.0]))
    with pytest.raises(ShapeError, match="expected \\(2,\\)"):
        viewer.q = [0.0]
    with pytest.raises(ShapeError, match="not finite"):
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
    assert [slider.disabled for slider in viewer._postures[0]._sliders] == [False, True]


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
    from kinemorph.display.looks.postures import stance

    return stance(robot)


# ── playing ───────────────────────────────────────────────────────────────────────────────────────────────────────────


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


@pytest.mark.slow
def test_the_clock_goes_at_its_speed_and_round(monkeypatch: pytest.MonkeyPatch) -> None:
    wall = [0.0]

    def tick() -> float:  # asked twice for each moment
        wall[0] += 0.01
        return wall[0]

    monkeypatch.setattr(clock_module, "time", SimpleNamespace(perf_counter=tick))
    seen: list[float] = []

    def show() -> None:
        seen.append(clock.now)
        clock._playing = len(seen) < 120 and clock._playing

    clock = Clock(5.0, 7.0, show, lambda: seen.append(np.inf), lambda error: None)
    clock.speed, clock.round, clock._playing = 3.0, True, True
    clock._play()
    assert seen == pytest.approx([5.0 + (0.06 * (k + 1)) % 2.0 for k in range(120)])
    seen.clear()
    clock.set(5.5)
    clock.speed, clock.round, clock._playing = -1.0, False, True
    clock._play()
    assert seen[:3] == pytest.approx([5.48, 5.46, 5.44])
    assert seen[-2:] == [5.0, np.inf] and not clock.playing


def test_springs_and_figures_beside_each_other_are_in_their_places(pendulum: km.Robot, kept: list[Viewer]) -> None:
    spring = km.elements.Spring("s", "world", "link2", 5.0, point_a=(0.3, 0.0, 0.2))
    system = km.System(pendulum, (spring,))
    viewer = view({"one": system, "two": system}, q=[0.3, 0.4], spread=2.0)
    kept.append(viewer)
    offsets = [figure.offset for figure in viewer.scene.figures]
    assert np.linalg.norm(offsets[1] - offsets[0]) == pytest.approx(2.0)
    for actor, offset, name in zip(viewer._actors, offsets, ("one", "two"), strict=True):
        root = viewer._server.scene._handle_from_node_name[f"/{name}"]
        np.testing.assert_allclose(root.position, offset)
        coil = next(bundle._node for bundle in actor._marks if "spring" in bundle._node.name)
        end = viewer.pose(name, "link2")[0]
        np.testing.assert_allclose(coil.batched_positions[0], (0.3, 0.0, 0.2), atol=1e-6)
        np.testing.assert_allclose(coil.batched_scales[0, 2], np.linalg.norm(end - (0.3, 0.0, 0.2)), rtol=1e-5)


def test_several_runs_stand_side_by_side(pendulum: km.Robot, swing: km.Trajectory, kept: list[Viewer]) -> None:
    short = km.simulate(pendulum, 0.5, q=[0.3, 0.0])
    viewer = view({"wide": swing, "short": short}, trace="tip")
    kept.append(viewer)
    viewer.time = 0.8
    assert_posed(viewer, pendulum, swing.at(0.8).q, "wide")
    assert_posed(viewer, pendulum, short.at(0.5).q, "short")  # waits at its end
    with pytest.raises(UnsupportedError, match="no figure 'wid'"):
        viewer.pose("wid", 0)


def test_fifty_bodies_are_sent_in_a_few_milliseconds(kept: list[Viewer]) -> None:
    robot = km.library.chain(50)
    viewer = view(robot)
    kept.append(viewer)
    actor = viewer._actors[0]
    moves = np.random.default_rng(0).normal(size=(20, 50, 3))
    taken = []
    for positions in moves:
        start = time.perf_counter()
        with viewer._server.atomic():
            actor.move(positions, actor.quaternions)
        taken.append(time.perf_counter() - start)
    assert min(taken) < 0.005


def test_goes_to_an_event(pendulum: km.Robot, swing: km.Trajectory, kept: list[Viewer]) -> None:
    scene = replace(scene_of(swing), events=(Happening(0.2, "lowest"), Happening(0.75, "lowest")))
    viewer = Viewer(scene, port=None, place=(20.0, -60.0), follow=None)
    kept.append(viewer)
    assert viewer._player is not None
    viewer._player.to_event(1)
    assert viewer.time == 0.75
    assert_posed(viewer, pendulum, swing.at(0.75).q, within=1e-9)


# ── what is shown ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_layers_are_shown_and_hidden(pendulum: km.Robot, kept: list[Viewer]) -> None:
    viewer = view(pendulum)
    kept.append(viewer)
    assert viewer.layers["shapes"] and not viewer.layers["inertia"]
    viewer.show("inertia", "centers", "graph")
    assert viewer.layers["inertia"] and viewer._showing._boxes["inertia"].value
    actor = viewer._actors[0]
    masses, centers = actor.figure.masses, Poses(pendulum, viewer.q)
    expected = sum(
        m * (centers.p[body][0] + centers.R[body][0] @ c)
        for m, body, c in zip(masses, pendulum.body_names, actor.figure.centers, strict=True)
    )
    np.testing.assert_allclose(actor._total.position, expected / masses.sum(), atol=1e-6)
    viewer.hide("inertia")
    assert not viewer.layers["inertia"]
    assert not any(handle.visible for handle in actor._groups["inertia"])
    with pytest.raises(UnsupportedError, match="no layer 'inertias'"):
        viewer.show("inertias")  # type: ignore[arg-type]


def test_the_way_of_a_posed_robot_grows(pendulum: km.Robot, kept: list[Viewer]) -> None:
    viewer = view(pendulum, q=[0.0, 0.0])
    kept.append(viewer)
    viewer.trace("tip")
    tips = []
    for angle in (0.0, 0.2, 0.4):
        viewer.q = [angle, 0.0]
        tips.append(Poses(pendulum, viewer.q).p["tip"][0])
    points = viewer._actors[0].ways[0]._node.points
    np.testing.assert_allclose(points[:2, 0], tips[:2], atol=1e-6)
    np.testing.assert_allclose(points[2:], np.broadcast_to(tips[2], points[2:].shape), atol=1e-6)
    with pytest.raises(UnsupportedError, match="no body or frame 'top'"):
        viewer.trace("top")


def test_what_an_action_raises_is_shown(pendulum: km.Robot, kept: list[Viewer]) -> None:
    viewer = view(pendulum)
    kept.append(viewer)

    class Event:
        client = object()

    def fails(event: object) -> None:
        raise UnsupportedError("this cannot be.")

    viewer._guarded(fails)(Event())
    assert viewer.message == "this cannot be."
    viewer._guarded(lambda event: None)(Event())
    assert viewer.message == ""


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
    assert any("lost.stl" in note for note in viewer.scene.notes)


def until(condition: object, seconds: float = 4.0) -> bool:
    """Waits for a condition."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():  # type: ignore[operator]
            return True
        time.sleep(0.01)
    return False


# ── in a browser ──────────────────────────────────────────────────────────────────────────────────────────────────────

# what the page says and does is tested, not its pixels: without a graphics card they would take most of the time
UNDRAWN = """for (const name of ["drawElements", "drawArrays", "drawElementsInstanced", "drawArraysInstanced", "clear"])
  WebGL2RenderingContext.prototype[name] = () => {};"""


def opened(page: Any, viewer: Viewer) -> Any:
    """The boxes with numbers on the page of a viewer."""
    page.add_init_script(UNDRAWN)
    page.goto(viewer.url)
    page.wait_for_selector("canvas")
    return page.locator("input[inputmode=decimal], input[inputmode=numeric]")


def test_a_hand_on_a_slider_moves_the_robot(pendulum: km.Robot, page: Any, kept: list[Viewer]) -> None:
    viewer = view(pendulum, q=[0.0, 0.0])
    kept.append(viewer)
    box = opened(page, viewer).nth(1)
    box.fill("45")
    box.press("Enter")
    assert until(lambda: viewer.q[1] != 0.0)
    assert viewer.q[1] == pytest.approx(np.radians(45.0))
    assert_posed(viewer, pendulum, viewer.q)
    page.get_by_text("zero", exact=True).click()
    assert until(lambda: not viewer.q.any())
    assert_posed(viewer, pendulum, [0.0, 0.0])
    assert page.get_by_text("Share").count() == 0
    assert all(address.startswith((viewer.url, "blob:", "data:")) for address in page.requests)


@pytest.mark.slow
def test_a_hand_plays_and_scrubs(pendulum: km.Robot, swing: km.Trajectory, page: Any, kept: list[Viewer]) -> None:
    viewer = view(swing, trace="tip")
    kept.append(viewer)
    box = opened(page, viewer).nth(0)
    page.get_by_role("button", name="Play").click()
    assert until(lambda: viewer.time == 1.0 and not viewer.playing)
    assert_posed(viewer, pendulum, swing.at(1.0).q)
    assert until(lambda: float(box.input_value()) == 1.0)  # the end has come to the page, and overwrites nothing more
    box.fill("0.5")
    box.press("Enter")
    assert until(lambda: viewer.time == 0.5)
    assert_posed(viewer, pendulum, swing.at(0.5).q)


def test_a_stopped_viewer_and_wrong_values_get_sentences(kept: list[Viewer]) -> None:
    viewer = view(km.library.puma())
    kept.append(viewer)
    viewer.q = {"joint2": 0.4}
    assert viewer.q[1] == 0.4
    for wrong in ("x", {"joint7": 0.0}, [0.0]):
        with pytest.raises(ShapeError, match="q"):
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
    viewer = Viewer(still, port=None, place=(20.0, -60.0), follow=None)
    kept.append(viewer)
    assert_posed(viewer, pendulum, [1.2, 0.4])
