"""Replays as people have them: a file that opens from disk, asks for nothing, plays, scrubs and poses; any names."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinemorph.display.looks.poses import Poses
from kinemorph.display.looks.quaternions import quaternions_of
from kinemorph.display.replays.joint_rows import TOLERANCE
from kinemorph.display.replays.replay import Replay, replay, size_text
from kinemorph.errors import StorageError, UnsupportedError
from kinemorph.model import library
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.robot import Robot
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.simulation.simulate import simulate
from support.tools.browsing import Browser

HOSTILE = (
    "</script><script>window.harmed=1</script>\"'`${window.harmed=1}<img src=x onerror=window.harmed=1>&lt;{{script}}"
)


@pytest.fixture(scope="module")
def run() -> Trajectory:
    return simulate(library.double_pendulum(), 1.0, q=[2.0, -0.5], output_step=0.01)


def opened(page: Any, path: Path) -> Any:
    page.goto(path.as_uri())
    page.evaluate("kinemorph.ready")
    return page


def place(page: Any, figure: int, body: int) -> tuple[np.ndarray, np.ndarray]:
    found = page.evaluate("([figure, body]) => kinemorph.pose(figure, body)", [figure, body])
    return np.array(found["position"]), np.array(found["quaternion"])


def is_at(page: Any, robot: Robot, q: Any, tolerance: float) -> bool:
    """Whether all bodies of the first figure are where they belong [m and rad]."""
    poses = Poses(robot, q)
    for number, name in enumerate(robot.body_names):
        position, quaternion = place(page, 0, number)
        apart = 2.0 * np.arccos(min(1.0, abs(quaternion @ quaternions_of(poses.R[name][0]))))
        if np.abs(position - poses.p[name][0]).max() > tolerance or apart > tolerance + 1e-3:
            return False
    return True


# ── in the browser ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def pendulum(browser: Browser, run: Trajectory, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The page of a run, opened from disk."""
    path = replay(run, tmp_path_factory.mktemp("replay") / "run.html", fps=50.0, trace=["link2"]).path
    assert path is not None
    with browser.page() as page:
        yield opened(page, path)


def test_a_page_from_disk_asks_for_nothing_and_has_no_complaints(pendulum: Any) -> None:
    assert len(pendulum.requests) == 1 and pendulum.requests[0].startswith("file://")
    pendulum.evaluate("kinemorph.setTime(0.3)")
    assert pendulum.complaints == []
    assert len(pendulum.requests) == 1
    assert pendulum.title() == "double pendulum"


def test_bodies_are_where_the_run_says(pendulum: Any, run: Trajectory) -> None:
    robot = library.double_pendulum()
    for t in (0.0, 0.02, 0.5, 0.74, 1.0):  # pictures of the scene
        pendulum.evaluate("t => kinemorph.setTime(t)", t)
        assert is_at(pendulum, robot, run.at(t).q, 3.0 * TOLERANCE), t  # the robot is 2 m long
    for t in (0.313, 0.555, 0.9871):  # between two of them, where ways are straight
        pendulum.evaluate("t => kinemorph.setTime(t)", t)
        assert is_at(pendulum, robot, run.at(t).q, 0.01), t
        assert not is_at(pendulum, robot, run.at(t - 0.01).q, 0.01), t


def test_play_goes_on_and_ends_at_the_end(pendulum: Any, run: Trajectory) -> None:
    start = "() => { kinemorph.setTime(0); kinemorph.setSpeed(4); kinemorph.play(); return kinemorph.playing; }"
    assert pendulum.evaluate(start)
    pendulum.wait_for_function("!kinemorph.playing", timeout=20_000)
    assert pendulum.evaluate("kinemorph.time") == pytest.approx(1.0)
    assert is_at(pendulum, library.double_pendulum(), run.at(1.0).q, 3.0 * TOLERANCE)


def test_the_time_line_scrubs(pendulum: Any, run: Trajectory) -> None:
    pendulum.get_by_role("slider", name="Time").evaluate(
        "(e) => { e.value = 0.4; e.dispatchEvent(new Event('input')); }"
    )
    assert pendulum.evaluate("kinemorph.time") == pytest.approx(0.4, abs=0.011)
    t = pendulum.evaluate("kinemorph.time")
    assert is_at(pendulum, library.double_pendulum(), run.at(t).q, 0.01)


def test_a_slider_poses_a_robot_and_what_follows_it(page: Any, tmp_path: Path) -> None:
    builder = RobotBuilder("geared")
    for name in "ab":
        builder.body(name, mass=1.0, com=(0.2, 0.0, 0.0), inertia=(0.1, 0.1, 0.1))
    builder.joint("arm", "revolute", "world", "a", axis=(0.0, 1.0, 0.0), lower=-1.0, upper=2.0)
    builder.joint("hand", "revolute", "a", "b", translation=(0.4, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
    robot = builder.couple("hand", "arm", multiplier=-2.0).build()
    made = replay(robot, tmp_path / "geared.html", q=[0.1, -0.2])
    opened(page, made.path or tmp_path)
    assert is_at(page, robot, [0.1, -0.2], TOLERANCE)
    page.evaluate("kinemorph.setJoint('arm', 0.7)")
    assert is_at(page, robot, [0.7, -1.4], TOLERANCE)
    slider = page.get_by_role("slider", name="arm")
    slider.evaluate("(e) => { e.value = e.max; e.dispatchEvent(new Event('input')); }")
    assert is_at(page, robot, [2.0, -4.0], 1e-3)
    assert page.complaints == []


def test_no_name_breaks_out_of_its_place(page: Any, tmp_path: Path) -> None:
    builder = RobotBuilder(f"robot {HOSTILE}")
    builder.body(f"a{HOSTILE}", mass=1.0, com=(0.0, 0.0, 0.3), inertia=(0.1, 0.1, 0.1))
    builder.joint(f"j{HOSTILE}", "revolute", "world", f"a{HOSTILE}", axis=(0.0, 1.0, 0.0))
    builder.frame(f"f{HOSTILE}", f"a{HOSTILE}")
    robot = builder.build()
    made = replay({HOSTILE: robot}, tmp_path / "hostile.html", title=HOSTILE, trace=[f"f{HOSTILE}"])
    opened(page, made.path or tmp_path)
    assert page.title() == HOSTILE
    assert page.evaluate("kinemorph.scene.figures[0].bodies[0]") == f"a{HOSTILE}"
    assert page.evaluate("window.harmed") is None
    page.set_content(made._repr_html_())
    (frame,) = [one for one in page.frames if one != page.main_frame]
    frame.evaluate("kinemorph.ready")
    assert frame.evaluate("window.harmed") is None and page.evaluate("window.harmed") is None
    assert [one for one in page.requests if not one.startswith("file://")] == []


def test_names_that_no_file_can_hold_do_no_harm(tmp_path: Path) -> None:
    """As Python reads names of files in another encoding."""
    made = replay(library.pendulum(), tmp_path / "odd.html", title="M\udcfchle")
    assert "<title>M?hle</title>" in (tmp_path / "odd.html").read_text(encoding="utf-8") and made.size > 1000


def test_in_a_notebook_the_page_is_in_a_frame(page: Any, run: Trajectory) -> None:
    page.set_content("<p>above</p>" + replay(run, fps=20.0)._repr_html_() + "<p>below</p>")
    (frame,) = [one for one in page.frames if one != page.main_frame]
    frame.evaluate("kinemorph.ready")
    assert frame.evaluate("kinemorph.scene.times.length") == 21
    assert 300.0 < page.locator("iframe").bounding_box()["height"] < 900.0
    assert page.complaints == []


# ── the file ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_replay_is_one_file_whose_size_is_known(run: Trajectory, tmp_path: Path) -> None:
    made = replay(run)
    path = made.save(tmp_path / "new" / "folder" / "run.html")
    assert path.stat().st_size == made.size < 200_000
    assert made.html is made.html  # made once
    assert not re.search(r"\b(?:src|href)\s*=\s*[\"']?(?:https?:|//)", made.html)
    assert size_text(made.size) in repr(made) and "\n" not in repr(made) and "61 frames" in repr(made)
    assert (size_text(1_234_567), size_text(12_345)) == ("1.2 MB", "12 kB")


@pytest.mark.parametrize(
    ("path", "error", "words"),
    [("run.gif", UnsupportedError, "ends in .html"), ("run", UnsupportedError, ".html"), (".", StorageError, "folder")],
)
def test_places_where_no_page_can_be_are_refused_first(path: str, error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        replay("not even looked at", path)  # type: ignore[arg-type]


def test_what_cannot_be_written_gets_a_sentence(run: Trajectory, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match=r"'.*' .*cannot be written: .*Choose another"):
        replay(run, tmp_path / "file" / "run.html")
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(StorageError, match="is a folder"):
        replay(run).save(tmp_path / "folder.html")


def test_a_full_disk_leaves_the_page_that_was_there(
    run: Trajectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = replay(run, tmp_path / "run.html").path
    assert page is not None
    whole = page.read_text()

    def fill(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fill)
    with pytest.raises(StorageError, match="the disk is full"):
        replay(run).save(page)
    assert page.read_text() == whole and list(tmp_path.iterdir()) == [page]


def test_without_a_browser_a_sentence_says_where_the_page_is(
    run: Trajectory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr("kinemorph.display.replays.replay.open_page", lambda address: False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    path = replay(run, title="A / ../ swing").open()
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert path.name == "a-swing.html" and tmp_path in path.parents
    assert str(path) in capsys.readouterr().out


def test_cameras_and_what_is_followed() -> None:
    robot = library.double_pendulum()
    assert replay(robot).camera.elevation == 22.0
    assert replay(robot, camera="left", follow="link2").camera.follow == "link2"
    with pytest.raises(UnsupportedError, match=r"camera is 'lift'.*'left'"):
        replay(robot, camera="lift")  # type: ignore[arg-type]
    with pytest.raises(UnsupportedError, match="follow is 'link3'"):
        replay(robot, follow="link3")


def test_motion_in_a_plane_is_seen_from_the_side(run: Trajectory) -> None:
    made: Replay = replay(run)
    assert (made.camera.elevation, made.camera.azimuth) == (14.0, -90.0)
