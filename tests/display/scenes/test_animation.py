"""Moving pictures: the right frames at the right times, true to scale; nothing global is touched."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from scipy.ndimage import binary_dilation, label
from scipy.spatial import Delaunay

import kinemorph
from kinemorph.analysis.small_motions.poles import poles
from kinemorph.display.cameras import Lens
from kinemorph.display.looks.poses import Poses
from kinemorph.display.painting import videos
from kinemorph.display.painting.animate import animate, animate_mode
from kinemorph.display.painting.film_files import REELS, frame_time
from kinemorph.display.painting.lighting import DARKEST
from kinemorph.display.painting.painter import Painting, scene_for
from kinemorph.display.painting.rasters import covered, lay_over, nearest
from kinemorph.display.painting.triangles import Cast, MovingMarks, is_closed
from kinemorph.display.painting.view_window import camera_lens
from kinemorph.display.scenes.building import scene_of, staged
from kinemorph.display.scenes.figures import figure_of
from kinemorph.display.scenes.scene import Attachment, Mark, Part, Scene, Surface
from kinemorph.display.scenes.surfaces import look_surface, surface_of
from kinemorph.display.scenes.usual_view import walker
from kinemorph.errors import KinemorphError, MissingExtraError, ShapeError, UnsupportedError
from kinemorph.model.library import LIBRARY
from kinemorph.plants.own_equations import first_order
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.simulation.simulate import simulate


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


# ── poses ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["puma", "hexapod24", "four_bar"])
def test_poses_of_many_states_are_those_of_each(name: str) -> None:
    robot = LIBRARY[name]()
    rng = np.random.default_rng(3)
    q = np.stack([kinemorph.random_configuration(robot, rng) for _ in range(4)])
    poses = Poses(robot, q)
    for k in range(4):
        for body, pose in Poses(robot, q[k]).at(0).items():
            assert poses.R[body][k] == pytest.approx(np.array(pose.R, dtype=float), abs=1e-14)
            assert poses.p[body][k] == pytest.approx(np.array(pose.p, dtype=float), abs=1e-14)


def test_bodies_are_carried_and_the_ground_stays() -> None:
    robot = LIBRARY["crane"]()
    cast = Cast(staged([figure_of(robot, [[0.0, 0.0], [0.7, 0.4]])], np.array([0.0, 1.0])))
    before, after = cast.at(0).points, cast.at(1).points
    cart, ground = cast.owner == 1, cast.owner == 1 + len(robot.bodies)  # 0 is the world
    assert (after - before)[cart] == pytest.approx(np.broadcast_to([0.7, 0.0, 0.0], before[cart].shape), abs=1e-12)
    assert ground.any() and (after[ground] == before[ground]).all()


def test_wrong_states_are_refused() -> None:
    robot = LIBRARY["crane"]()
    with pytest.raises(ShapeError, match=r"expected \(n, 2\)"):
        Poses(robot, [[0.0, 0.0, 0.0]])
    with pytest.raises(ShapeError, match="'theta' in row 2"):
        Poses(robot, [[0.0, 0.0], [0.0, np.nan]])


def test_a_lens_keeps_lengths_across_its_line_of_sight() -> None:
    lens = Lens.toward(31.0, -40.0)
    assert lens.axes @ lens.axes.T == pytest.approx(np.eye(3), abs=1e-15)
    assert np.linalg.det(lens.axes) == pytest.approx(1.0)
    assert Lens.toward(0.0, -90.0).seen(np.array([2.0, 5.0, 3.0]))[:2] == pytest.approx([2.0, 3.0])  # x right, z up


def test_plane_motion_is_seen_straight_and_other_motion_is_not(swing: Trajectory) -> None:
    scene = scene_of(swing)
    flat, _ = camera_lens(scene, None)
    assert (
        flat.flat and flat.axes[0] == pytest.approx([1.0, 0.0, 0.0]) and flat.axes[1] == pytest.approx([0.0, 0.0, 1.0])
    )
    robot = LIBRARY["puma"]()
    rng = np.random.default_rng(0)
    q = np.stack([kinemorph.random_configuration(robot, rng) for _ in range(5)])
    assert not camera_lens(staged([figure_of(robot, q)], np.arange(5.0)), None)[0].flat
    assert not camera_lens(scene, (20.0, 30.0))[0].flat


# ── files ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_frames_of_a_gif_are_whole_hundredths_of_a_second_apart() -> None:
    assert [frame_time(fps) for fps in (50, 30, 25, 10)] == [0.02, 0.03, 0.04, 0.1]
    assert frame_time(120, REELS[".mp4"]) == 1.0 / 120.0


def test_a_run_takes_its_own_time(swing: Trajectory, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    path = animate(swing, tmp_path / "run.gif", fps=25, progress=lambda done, total: seen.append((done, total)))
    number, durations = frames(path)
    assert number == 11 and set(durations) == {40}
    assert seen == [(k, 11) for k in range(1, 12)]
    with Image.open(path) as image:
        assert 720 <= image.size[0] <= 722 and "loop" in image.info
    assert path.stat().st_size < 100_000
    assert [file.name for file in tmp_path.iterdir()] == ["run.gif"]


def test_slow_motion_has_more_frames(swing: Trajectory, tmp_path: Path) -> None:
    path = animate(swing, tmp_path / "slow.gif", fps=25, speed=0.5, size=2.5, trace=("link2", "tip"))
    assert frames(path)[0] == 21


def test_a_video_is_read_back(swing: Trajectory, tmp_path: Path) -> None:
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg")
    path = animate(swing, tmp_path / "run.mp4", fps=60, size=3.0)
    number, seconds = imageio_ffmpeg.count_frames_and_secs(str(path))
    assert number == 25 and seconds == pytest.approx(25 / 60, abs=0.02)
    reader = imageio_ffmpeg.read_frames(str(path))
    facts = next(reader)
    pictures = [np.frombuffer(frame, np.uint8).reshape(*facts["size"][::-1], 3) for frame in reader]
    assert facts["codec"] == "h264" and facts["pix_fmt"].startswith("yuv420p") and facts["fps"] == 60
    assert max(facts["size"]) in (300, 302) and not any(side % 2 for side in facts["size"])
    painting = Painting(scene_of(swing, times=[0.0, 0.4]), size=3.0)
    for k in (0, 1):  # the first frame and the last are what was painted
        painted = np.asarray(painting.frame(k), dtype=float)[30:]
        assert np.abs(pictures[-k] - np.asarray(painting.frame(k), dtype=float))[30:].mean() < 1.5
        assert np.abs(pictures[12][30:] - painted).mean() > 2.0


@pytest.mark.skipif(sys.platform == "win32", reason="scripts that stand for ffmpeg are those of a shell")
@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("exit 3", "does not start .it ends with code 3."),
        ('case "$*" in *-version*) exit 0;; *) head -c 1000 >/dev/null; exit 1;; esac', "ffmpeg"),
        ('case "$*" in *-version*) exit 0;; *) cat >/dev/null; exit 1;; esac', "did not finish"),
        pytest.param(
            'case "$*" in *-version*) exit 0;; *) exec sleep 60;; esac',
            "stopped reading frames",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_broken_ffmpeg_is_told_and_leaves_nothing(
    swing: Trajectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, words: str
) -> None:
    pytest.importorskip("imageio_ffmpeg")
    program = tmp_path / "ffmpeg"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", str(program))
    monkeypatch.setattr(videos, "PATIENCE", 2.0)
    (tmp_path / "films").mkdir()
    (tmp_path / "films" / "run.mp4").write_text("an older one")
    with pytest.raises(KinemorphError, match=words):
        animate(swing, tmp_path / "films" / "run.mp4", fps=10, size=2.5)
    assert [(one.name, one.read_text()) for one in (tmp_path / "films").iterdir()] == [("run.mp4", "an older one")]


def test_a_missing_extra_is_named(swing: Trajectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(MissingExtraError, match=r"kinemorph\[video\]"):
        animate(swing, tmp_path / "x.mp4")


def test_wrong_wishes_are_sentences(swing: Trajectory, tmp_path: Path) -> None:
    for options, words in (
        ({"fps": 0}, "fps is 0"),
        ({"fps": 120}, "to 50"),
        ({"fps": 1e-3}, "fps is 0.001; expected a number from 0.01"),  # a gif holds a frame for 655 s at most
        ({"speed": -1.0}, "speed is -1"),
        ({"speed": "slow"}, "speed is 'slow'"),
        ({"size": "big"}, "size is 'big'"),
        ({"trace": 3}, "trace is 3; expected the name"),
        ({"speed": 1e-6}, "frames"),
        ({"trace": "hand"}, "hand"),
        ({"camera": "rigth"}, "Did you mean 'right'"),
        ({"follow": "link3"}, "follow is 'link3'"),
        ({"size": np.nan}, "size is nan"),
    ):
        with pytest.raises(KinemorphError, match=words):
            animate(swing, tmp_path / "x.gif", **options)  # type: ignore[arg-type]
    with pytest.raises(UnsupportedError, match=r"ends in \.gif or \.mp4"):
        animate(swing, tmp_path / "x.avi")
    with pytest.raises(UnsupportedError, match="has no robot: it is a run of equations"):
        animate(simulate(first_order(lambda x: [-x[0]], {"x": "m"}, start=[1.0]), 1.0), tmp_path / "x.gif")
    with pytest.raises(UnsupportedError, match="no run to animate"):
        animate([LIBRARY["pendulum"]()], tmp_path / "x.gif")
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
    with pytest.raises(UnsupportedError, match="frames"):
        animate_mode(found, 1, tmp_path / "x.gif", seconds=1e6)


# ── what is seen ──────────────────────────────────────────────────────────────────────────────────────────────────────


def inner(painting: Painting, k: int) -> Any:
    """The pixels (h, w, 3) that the window shows at time k."""
    return painting.page.inner(np.asarray(painting.frame(k))).astype(int)


def tinted(pixels: Any, color: tuple[float, ...], within: float = 0.06) -> Any:
    """Where pixels have the hue of a color, brighter or darker: (n, 2) as rows and columns."""
    lengths = np.linalg.norm(pixels, axis=2)
    unit = np.array(color[:3]) / np.linalg.norm(color[:3])
    across = np.linalg.norm(pixels - (pixels @ unit)[..., None] * unit, axis=2)
    return np.argwhere((across < within * lengths) & (lengths > 40.0))


def test_the_robot_moves_and_the_paper_stays(swing: Trajectory) -> None:
    painting = Painting(scene_of(swing, times=[0.0, 0.4]), size=3.0)
    pictures = [np.asarray(painting.frame(k), dtype=int) for k in (0, 1)]
    differing = (np.abs(pictures[0] - pictures[1]).sum(axis=2) > 60).mean()
    assert 0.002 < differing < 0.2
    assert (pictures[0][-2, 2] == 255).all()  # white paper
    assert (pictures[0] == np.asarray(painting.frame(0))).all()  # and nothing stays from other frames


def thrown(*ways: float) -> Scene:
    """A hexapod that has flown so far forward [m], and a quarter as far down."""
    robot = LIBRARY["hexapod24"]()
    q = np.repeat(kinemorph.neutral(robot)[None], len(ways), axis=0)
    q[:, 0], q[:, 2] = ways, -0.25 * np.array(ways)
    return staged([figure_of(robot, q)], np.arange(len(ways)) * 0.1)


@pytest.mark.parametrize("camera", [None, "left", "top"])
def test_what_is_followed_stays_in_the_middle(camera: Any) -> None:
    scene = thrown(0.0, 1.0, 4.0)
    painting = Painting(scene, camera=camera, follow="trunk", size=2.4)
    still = Painting(scene, camera=camera, size=2.4)
    slate = scene.figures[0].parts[0].color
    middles = [tinted(inner(painting, k), slate).mean(axis=0) for k in range(3)]
    wanted = [painting.window.size[1] / 2.0, painting.window.size[0] / 2.0]
    assert np.abs(np.array(middles) - wanted).max() < 4.0
    moved = [tinted(inner(still, k), slate).mean(axis=0) for k in (0, 2)]
    assert np.abs(moved[0] - moved[1]).max() > 40.0
    assert painting.window.scale > 1.5 * still.window.scale  # and it is large


def test_a_film_follows_a_robot_that_walks_away() -> None:
    """FINDINGS D9: it was filmed on its whole way, and grew smaller with each step, in pictures 460 pixels wide."""
    t = np.linspace(0.0, 2.0, 41)
    robot = LIBRARY["hexapod24"]()
    rows = np.repeat(kinemorph.neutral(robot)[None], len(t), axis=0)
    rows[:, 0], rows[:, 2] = 2.0 * t, 0.3 + 0.02 * np.sin(20.0 * t)
    walk, near = (staged([figure_of(robot, one)], t) for one in (rows, rows * [0.3, *np.ones(robot.nq - 1)]))
    assert walker(walk) == "trunk" and walker(near) is None
    assert walker(staged([figure_of(robot, rows)] * 2, t)) is None  # of two, which?
    film = Painting(walk, follow="trunk", glide=True, size=2.0)
    seen = film.window.lens.seen(walk.figures[0].positions[:, 0] - film.window.middles)
    assert np.abs(seen).max() < 0.03 and np.abs(np.diff(film.window.middles[:, 2], 2)).max() < 1e-4
    assert Painting(walk, size=2.0).window.scale < 0.6 * film.window.scale
    assert Painting(thrown(0.0), camera="top", size=2.0, least=7.2).page.size[0] == 720


def test_the_ground_moves_under_what_is_followed() -> None:
    scene = replace(thrown(0.0, 0.03), floor=-0.3)
    painting = Painting(scene, follow="trunk", size=2.4)
    grids = [painting.painter.floor.laid(k)[1] for k in (0, 1)]
    assert np.abs(grids[0] - grids[1]).max() > 0.4 and min(grid.max() for grid in grids) > 0.5


def test_a_point_is_where_the_lens_sees_it() -> None:
    robot = LIBRARY["pendulum"]()
    scene = scene_of(robot, q=[0.0])
    painting = Painting(scene, camera=(20.0, -70.0), size=3.0)
    center = np.array([0.1, 0.05, -0.3])
    ball = Mark(
        "ball", "ball", (1.0, 0.0, 1.0, 1.0), 0.02, Attachment(-1, (0.0, 0.0, 0.0)), Attachment(-1, tuple(center))
    )
    marked = replace(scene, figures=(replace(scene.figures[0], marks=(ball,), parts=()),))
    found = Painting(marked, camera=(20.0, -70.0), size=3.0)
    column, row, _ = found.window.pixels(center, 0)
    assert tinted(inner(found, 0), ball.color, 0.4).mean(axis=0) + 0.5 == pytest.approx([row, column], abs=1.0)
    assert not len(tinted(inner(painting, 0), ball.color))


def test_marks_are_seen_stretch_and_vanish(swing: Trajectory) -> None:
    scene = scene_of(swing, times=[0.0, 0.4])
    blue, red = (0.0, 0.2, 1.0, 1.0), (1.0, 0.0, 0.0, 1.0)
    spring = Mark("spring", "spring", blue, 0.05, Attachment(-1, (0.5, 0.0, 0.0)), Attachment(1, (0.0, 0.0, 0.0)))
    pull = Mark(
        "pull",
        "arrow",
        red,
        0.04,
        Attachment(-1, (0.5, 0.0, 0.2)),
        vectors=np.array([[0.0, 0.0, 0.6], [0.0, 0.0, 0.0]]),
    )
    figure = replace(scene.figures[0], marks=(spring, pull))
    painting = Painting(replace(scene, figures=(figure,)), size=3.0)
    pictures = [inner(painting, k) for k in (0, 1)]
    assert all(len(tinted(picture, blue)) > 60 for picture in pictures)
    arrow = tinted(pictures[0], red, 0.4)
    assert np.ptp(arrow[:, 0]) + 1 == pytest.approx(0.6 * painting.window.scale, abs=3.0)  # to scale
    assert not len(tinted(pictures[1], red, 0.2))


def test_a_slope_is_seen_with_the_shadow_on_it() -> None:
    scene = thrown(0.0)
    corners = np.array([[-1.0, -1.0, -0.6], [1.0, -1.0, -0.4], [1.0, 1.0, -0.4], [-1.0, 1.0, -0.6]])
    gray = (0.7, 0.7, 0.7, 1.0)
    slope = Part("ground", -1, surface_of(corners[None]), gray)
    with_slope = Painting(replace(scene, grounds=(slope,)), size=3.0)
    pixels = inner(with_slope, 0)
    found = pixels[tuple(tinted(pixels, gray, 0.01).T)][:, 0]
    found = found[found < 255]
    lit = np.median(found)
    dark = found < (1.0 - 0.8 * DARKEST) * lit
    assert len(found) > 0.2 * pixels[..., 0].size and 60 < dark.sum() < 0.5 * len(found)
    assert found.min() > (1.0 - 2.0 * DARKEST) * lit
    side = Painting(replace(scene, grounds=(slope,)), camera="right", size=3.0)
    lines = [one.get_segments() for one in side.page.axes.collections if len(one.get_segments())]
    assert any(np.abs(np.array(one)[..., 1] + 0.5 - 0.1 * np.array(one)[..., 0]).max() < 1e-9 for one in lines)


def test_what_is_fixed_to_the_ground_is_left_behind() -> None:
    robot = LIBRARY["crane"]()
    scene = staged([figure_of(robot, [[0.0, 0.0], [50.0, 0.0]])], np.array([0.0, 1.0]))
    size = np.ptp(np.stack([Painting(scene, size=3.0).window.low, Painting(scene, size=3.0).window.high]), axis=0)
    near = Painting(scene, follow="cart", size=3.0).window
    assert size[0] > 50.0 and (near.high - near.low).max() < 4.0


def test_the_near_hides_the_far_and_glass_does_not() -> None:
    robot = LIBRARY["pendulum"]()
    scene = scene_of(robot, q=[0.0])
    square = np.array([[-0.1, -0.1], [0.1, -0.1], [0.1, 0.1], [-0.1, 0.1]])

    def plate(name: str, y: float, color: tuple[float, float, float, float]) -> Part:
        corners = np.column_stack([square[:, 0], np.full(4, y), square[:, 1]])
        return Part(name, -1, surface_of(corners[None]), color)

    green, red = plate("far", 0.3, (0.0, 1.0, 0.0, 1.0)), plate("near", -0.3, (1.0, 0.0, 0.0, 1.0))
    for parts in ((green, red), (red, green)):  # whatever comes first
        painting = Painting(replace(scene, figures=(replace(scene.figures[0], parts=parts),)), camera="right", size=2.4)
        assert not len(tinted(inner(painting, 0), green.color)) and len(tinted(inner(painting, 0), red.color))
    glass = replace(red, color=(1.0, 0.0, 0.0, 0.5))
    painting = Painting(
        replace(scene, figures=(replace(scene.figures[0], parts=(glass, green)),)), camera="right", size=2.4
    )
    r, g, b = inner(painting, 0)[painting.window.size[1] // 2, painting.window.size[0] // 2]
    assert r == pytest.approx(g, rel=0.1) and r > 80 and b < 60


def test_a_shell_that_is_wound_the_other_way_is_seen_from_both_sides() -> None:
    """As files of meshes hold them: what is not closed and outward as a whole is painted on both sides."""
    ball = look_surface("ball")

    def beside(*turns: int) -> Surface:
        points = np.concatenate([ball.points / (k + 1) + [3.0 * k, 0.0, 0.0] for k in range(len(turns))])
        faces = [ball.faces[:, ::turn] + k * len(ball.points) for k, turn in enumerate(turns)]
        return Surface(points, np.tile(ball.normals, (len(turns), 1)), np.concatenate(faces))

    assert is_closed(ball) and is_closed(beside(1, 1, 1))
    assert not is_closed(beside(1, -1)) and not is_closed(beside(-1)) and not is_closed(beside(1, 1, -1))
    assert not is_closed(Surface(ball.points, ball.normals, ball.faces[5:]))


def test_the_nearest_triangle_is_seen_and_glass_is_laid_over_from_afar() -> None:
    """Against every sample and every triangle by itself."""
    rng = np.random.default_rng(4)
    width, height = 24, 18
    solid, glass = (rng.uniform(-4.0, 28.0, size=(count, 3, 3)) for count in (5, 6))
    tints, opacity = rng.uniform(size=(6, 3)), rng.uniform(0.2, 0.8, size=6)
    visible, near = nearest(solid, width, height)
    picture = np.zeros((width * height, 4), dtype=np.float32)
    lay_over(picture, near, glass, np.repeat(tints[:, None], 3, axis=1), opacity, width, height)
    hit = dict(zip(visible.place.tolist(), visible.triangle.tolist(), strict=True))
    places = np.stack(np.divmod(np.arange(width * height), width)[::-1], axis=-1) + 0.5

    def depths(triangles: np.ndarray, place: np.ndarray) -> dict[int, float]:
        found = {}
        for number, corners in enumerate(triangles):
            shares = np.linalg.solve(np.vstack([corners[:, :2].T, np.ones(3)]), [*place, 1.0])
            if shares.min() > 0.0:
                found[number] = float(shares @ corners[:, 2])
        return found

    for number, place in enumerate(places):
        there = depths(solid, place)
        assert hit.get(number) == max(there, key=there.__getitem__, default=None)
        least = max(there.values(), default=-np.inf)
        assert near[number] == pytest.approx(least, abs=1e-3)
        color = np.zeros(4)
        for one, depth in sorted(depths(glass, place).items(), key=lambda pair: pair[1]):
            if depth > least:
                color += opacity[one] * (np.array([*tints[one], 1.0]) - color)
        assert picture[number] == pytest.approx(color, abs=1e-5)


def test_triangles_beside_each_other_leave_nothing_open() -> None:
    rng = np.random.default_rng(2)
    points = rng.integers(0, 48, size=(40, 2)) / 2.0  # corners in the middles of samples, and on their edges
    points = np.unique([*points.tolist(), [-1.0, -1.0], [25.0, -1.0], [25.0, 25.0], [-1.0, 25.0]], axis=0)
    triangles = points[Delaunay(points).simplices]
    assert np.bincount(covered(triangles, 24, 24).place, minlength=24 * 24).min() >= 1


def test_marks_are_not_turned_inside_out(swing: Trajectory) -> None:
    scene = scene_of(swing, fps=5.0)
    ways = np.random.default_rng(1).normal(size=(8, len(scene.times), 3))
    marks = [
        Mark("force", "arrow", (1.0, 0.0, 0.0, 1.0), 0.01, Attachment(1, (0.0, 0.0, 0.1)), None, way) for way in ways
    ]
    axes, places = MovingMarks([(scene.figures[0], mark) for mark in marks], len(scene.times)).at(2)
    assert (np.linalg.det(axes) > 0.0).all() and np.allclose(axes[:, :, 2], ways[:, 2])
    assert np.allclose(np.linalg.norm(axes[:, :, :2], axis=1), 0.01) and np.allclose(places, places[0])


def test_runs_stand_beside_each_other_in_every_view(swing: Trajectory, tmp_path: Path) -> None:
    later = simulate(LIBRARY["double_pendulum"](), 0.6, q=[1.2, 0.5])
    path = animate({"one": swing, "two": later}, tmp_path / "two.gif", fps=10, size=4.0)
    assert frames(path)[0] == 7
    for camera in (None, "iso", "left"):
        painting = Painting(scene_for([swing, later], camera, times=[0.0, 0.6]), camera=camera, size=3.0)
        amber = next(part.color for part in painting.scene.figures[0].parts if part.name == "link2")
        found = np.zeros((painting.window.size[1], painting.window.size[0]), dtype=bool)
        found[tuple(tinted(inner(painting, 0), amber, 0.15).T)] = True
        assert label(binary_dilation(found, iterations=2))[1] == 2  # apart from each other


def test_axes_have_figures_of_the_right_sign(swing: Trajectory) -> None:
    for camera, name, sign in (("right", "x [m]", 1.0), ("left", "x [m]", -1.0), ("front", "y [m]", 1.0)):
        painting = Painting(scene_of(swing, times=[0.0]), camera=camera, size=3.0)  # type: ignore[arg-type]
        axes = painting.page.axes
        assert axes.get_xlabel() == name and axes.get_ylabel() == "z [m]"
        tick = axes.xaxis.get_major_formatter()(0.5).replace("\N{MINUS SIGN}", "-")
        assert float(tick) == 0.5 * sign


def test_no_window_and_no_backend(swing: Trajectory, tmp_path: Path) -> None:
    import matplotlib

    before = matplotlib.rcParams["backend"] if "matplotlib.pyplot" in sys.modules else None
    animate(swing, tmp_path / "x.gif", fps=5, size=2.4)
    if before is None:
        assert "matplotlib.pyplot" not in sys.modules
    else:
        assert matplotlib.rcParams["backend"] == before
