"""Moving pictures: the right frames at the right times, true to scale; nothing global is touched."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import kinemorph
from kinemorph.analysis.modes import poles
from kinemorph.display.animation import animate, animate_mode
from kinemorph.display.drawing import poses_at
from kinemorph.display.flipbooks import frame_time
from kinemorph.display.puppets import Lens, Poses, Puppet, fitting_lens, lit
from kinemorph.display.solids import normals
from kinemorph.errors import KinemorphError, ShapeError, UnsupportedError
from kinemorph.model.library import LIBRARY
from kinemorph.plants.equations import first_order
from kinemorph.simulation.run import simulate
from kinemorph.simulation.trajectory import Trajectory


@pytest.fixture(scope="module")
def swing() -> Trajectory:
    return simulate(LIBRARY["double_pendulum"](), 0.4, q=[1.0, 0.5])


def frames(path: Path) -> tuple[int, list[int]]:
    """(number, durations [ms]) of a gif's frames."""
    with Image.open(path) as image:
        durations = []
        for k in range(image.n_frames):  # type: ignore[attr-defined]
            image.seek(k)
            durations.append(int(image.info["duration"]))
    return len(durations), durations


# ── puppets ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["puma", "hexapod24", "four_bar"])
def test_poses_of_many_states_are_those_of_each(name: str) -> None:
    robot = LIBRARY[name]()
    rng = np.random.default_rng(3)
    q = np.stack([kinemorph.random_configuration(robot, rng) for _ in range(4)])
    poses = Poses(robot, q)
    for k in range(4):
        for body, pose in poses_at(robot, q[k]).items():
            assert poses.R[body][k] == pytest.approx(np.array(pose.R, dtype=float), abs=1e-14)
            assert poses.p[body][k] == pytest.approx(np.array(pose.p, dtype=float), abs=1e-14)


def test_bodies_are_carried_and_the_ground_stays() -> None:
    robot = LIBRARY["crane"]()
    puppet = Puppet(robot, 1.0)
    poses = Poses(robot, [[0.0, 0.0], [0.7, 0.4]])
    before, after = puppet.posed(poses, 0), puppet.posed(poses, 1)
    cart, ground = puppet.owner == 0, puppet.owner == len(robot.bodies)
    assert (after - before)[cart] == pytest.approx(np.broadcast_to([0.7, 0.0, 0.0], before[cart].shape), abs=1e-12)
    assert ground.any() and (after[ground] == before[ground]).all()


def test_wrong_states_are_refused() -> None:
    robot = LIBRARY["crane"]()
    with pytest.raises(ShapeError, match=r"expected \(n, 2\)"):
        Poses(robot, [[0.0, 0.0, 0.0]])
    with pytest.raises(ShapeError, match="'theta' of row 1"):
        Poses(robot, [[0.0, 0.0], [0.0, np.nan]])


def test_a_lens_keeps_lengths_across_its_line_of_sight() -> None:
    lens = Lens.toward(31.0, -40.0)
    assert lens.axes @ lens.axes.T == pytest.approx(np.eye(3), abs=1e-15)
    assert np.linalg.det(lens.axes) == pytest.approx(1.0)
    assert Lens.toward(0.0, -90.0).seen(np.array([2.0, 5.0, 3.0]))[:2] == pytest.approx([2.0, 3.0])  # x right, z up


def test_plane_motion_is_seen_straight_and_other_motion_is_not(swing: Trajectory) -> None:
    flat = fitting_lens(Poses(LIBRARY["double_pendulum"](), swing.q), None)
    assert (
        flat.flat and flat.axes[0] == pytest.approx([1.0, 0.0, 0.0]) and flat.axes[1] == pytest.approx([0.0, 0.0, 1.0])
    )
    robot = LIBRARY["puma"]()
    rng = np.random.default_rng(0)
    spatial = Poses(robot, np.stack([kinemorph.random_configuration(robot, rng) for _ in range(5)]))
    assert not fitting_lens(spatial, None).flat
    assert not fitting_lens(Poses(LIBRARY["double_pendulum"](), swing.q), (20.0, 30.0)).flat


def test_what_faces_away_is_not_painted_and_the_far_comes_first() -> None:
    robot = LIBRARY["puma"]()
    puppet = Puppet(robot, 1.0)
    surface = puppet.posed(Poses(robot, kinemorph.neutral(robot)), 0)
    lens = Lens.toward(20.0, -50.0)
    outlines, colors = lens.painted(surface, lit(surface, puppet.colors))
    facing = (normals(surface) @ lens.axes[2] > 0.0) | (puppet.colors[:, 3] < 1.0)
    assert len(outlines) == len(colors) == facing.sum() < len(surface)
    depth = lens.seen(surface[facing])[:, :, 2].mean(axis=1)
    first = lens.seen(surface[facing])[np.argmin(depth), :, :2]
    assert outlines[0] == pytest.approx(first)


# ── gifs ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_frames_are_whole_hundredths_of_a_second_apart() -> None:
    assert [frame_time(fps) for fps in (50, 30, 25, 10)] == [0.02, 0.03, 0.04, 0.1]


def test_a_run_takes_its_own_time(swing: Trajectory, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    path = animate(swing, tmp_path / "run.gif", fps=25, progress=lambda done, total: seen.append((done, total)))
    number, durations = frames(path)
    assert number == 11 and set(durations) == {40}
    assert seen == [(k, 11) for k in range(1, 12)]
    with Image.open(path) as image:
        assert max(image.size) <= 470 and "loop" in image.info
    assert path.stat().st_size < 100_000


def test_slow_motion_has_more_frames(swing: Trajectory, tmp_path: Path) -> None:
    path = animate(
        swing, tmp_path / "slow.gif", fps=25, speed=0.5, size=2.5, trace=swing.segments[0].plant.robot.body_names
    )  # type: ignore[union-attr]
    assert frames(path)[0] == 21


def test_the_robot_moves_and_the_paper_stays(swing: Trajectory, tmp_path: Path) -> None:
    path = animate(swing, tmp_path / "run.gif", fps=10, size=3.0)
    pictures = []
    with Image.open(path) as image:
        for k in (0, 4):
            image.seek(k)
            pictures.append(np.asarray(image.convert("RGB"), dtype=int))
    differing = (np.abs(pictures[0] - pictures[1]).sum(axis=2) > 60).mean()
    assert 0.002 < differing < 0.2
    assert (pictures[0][-2, 2] == 255).all()  # white paper


def test_wrong_wishes_are_sentences(swing: Trajectory, tmp_path: Path) -> None:
    for options, words in (
        ({"fps": 0}, "fps is 0"),
        ({"fps": 120}, "up to 50"),
        ({"speed": -1.0}, "speed is -1"),
        ({"speed": 1e-6}, "frames"),
        ({"trace": "hand"}, "hand"),
    ):
        with pytest.raises(KinemorphError, match=words):
            animate(swing, tmp_path / "x.gif", **options)  # type: ignore[arg-type]
    with pytest.raises(UnsupportedError, match=r"ends in \.gif"):
        animate(swing, tmp_path / "x.mp4")
    with pytest.raises(UnsupportedError, match="no robot to draw"):
        animate(simulate(first_order(lambda x: [-x[0]], {"x": "m"}, start=[1.0]), 1.0), tmp_path / "x.gif")
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(KinemorphError, match="taken"):
        animate(swing, tmp_path / "taken" / "x.gif", fps=5)


def test_a_mode_swings_once_in_its_frames(tmp_path: Path) -> None:
    found = poles(LIBRARY["chain"](3))
    path = animate_mode(found, 2, tmp_path / "mode.gif", fps=10, seconds=1.2, size=2.5)
    assert set(frames(path)[1]) <= {100, 200} and sum(frames(path)[1]) == 1200
    for number, words in ((0, "no mode 0"), (9, "1 to 3")):
        with pytest.raises(UnsupportedError, match=words):
            animate_mode(found, number, tmp_path / "x.gif")
