"""Files of EasyDyn's viewer: read back by their layout, they are the shapes of the robot where its bodies are.

SEEDS 001-12: scenes of bodies, saved frames, viewer EasyAnim.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import kinemorph
from kinemorph import Body, RobotBuilder
from kinemorph.display.scenes.easyanim import PALETTE
from kinemorph.errors import UnsupportedError
from support.tools.command_line import parsed


class Read(NamedTuple):
    """A .vol file by its layout: names must be known, and counts must hold."""

    title: str
    nodes: np.ndarray
    edges: list[tuple[int, int]]
    sides: list[list[int]]
    colors: list[int]


def read_vol(path: Path) -> Read:
    title, *lines = path.read_text(encoding="ascii").splitlines()
    rest = iter(lines)
    nodes, places = [], {}
    for k in range(int(next(rest))):
        name, *xyz = next(rest).split()
        assert len(name) < 40 and name not in places
        places[name] = k
        nodes.append([float(x) for x in xyz])
    edges, sides, colors = [], [], []
    for _ in range(int(next(rest))):
        _, a, b, color = next(rest).split()
        edges.append((places[a], places[b]))
        assert 0 <= int(color) <= 15
    for _ in range(int(next(rest))):
        _, count, *names, color = next(rest).split()
        assert len(names) == int(count)
        sides.append([places[name] for name in names])
        colors.append(int(color))
    assert next(rest, None) is None
    return Read(title, np.array(nodes), edges, sides, colors)


@pytest.fixture(scope="module")
def swing(tmp_path_factory: pytest.TempPathFactory) -> tuple[kinemorph.Trajectory, Path]:
    """A box on a hinge, and its frames."""
    builder = RobotBuilder("swinging box */").add(Body.box("box", 1.0, (0.2, 0.4, 0.6), (0.0, 0.0, -0.5)))
    robot = builder.joint("hinge", "revolute", "world", "box", axis=(0.0, 1.0, 0.0)).build()
    run = kinemorph.simulate(robot, 0.5, q=[0.5])
    return run, Path(kinemorph.animate(run, tmp_path_factory.mktemp("scene") / "box.van", fps=10.0))


def test_nodes_move_with_their_body(swing: tuple[kinemorph.Trajectory, Path]) -> None:
    """The corners of the box are nodes at their places at every time, and the other nodes keep their distances."""
    run, path = swing
    read = read_vol(path.with_suffix(".vol"))
    assert read.title == "swinging box */" and len(read.edges) >= 12 and len(read.sides) >= 12
    frames = np.loadtxt(path).reshape(-1, len(read.nodes), 3)
    assert len(frames) == 6 and np.allclose(frames[0], read.nodes)
    corners = np.array([[x, y, z] for x in (-0.1, 0.1) for y in (-0.2, 0.2) for z in (-0.8, -0.2)])
    for k, t in enumerate(np.linspace(0.0, 0.5, 6)):
        angle = float(run.q[np.argmin(np.abs(run.t - t)), 0])
        c, s = np.cos(angle), np.sin(angle)
        wanted = corners @ np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]]).T
        gaps = np.linalg.norm(frames[k][:, None] - wanted[None], axis=2)
        assert gaps.min(axis=0).max() < 1e-5
    box = [int(np.argmin(np.linalg.norm(frames[-1] - corner, axis=1))) for corner in wanted]
    along = {frozenset(ends) for ends in read.edges}
    joined = [(a, b) for i, a in enumerate(box) for b in box[:i] if frozenset((a, b)) in along]
    assert len(joined) == 12  # the edges of the box, and none across its sides


def test_sides_have_the_nearest_of_sixteen_colors(swing: tuple[kinemorph.Trajectory, Path]) -> None:
    assert PALETTE.shape == (16, 3) and len(np.unique(PALETTE, axis=0)) == 16
    assert len({*read_vol(swing[1].with_suffix(".vol")).colors}) == 1


@pytest.mark.slow
def test_a_spring_stretches_and_a_picture_has_its_shapes(tmp_path: Path) -> None:
    """Marks of elements are nodes too; `draw` writes the geometry of one configuration."""
    robot = kinemorph.library.double_pendulum()
    kinemorph.draw(robot, [0.3, 0.1], path=tmp_path / "still.vol")
    assert len(read_vol(tmp_path / "still.vol").sides) > 12
    spring = kinemorph.elements.Spring("spring", "link1", "link2", stiffness=10.0, point_b=(0.0, 0.0, -0.4))
    run = kinemorph.simulate(kinemorph.System(robot, (spring,)), 0.2, q=[0.5, 0.2])
    kinemorph.animate(run, tmp_path / "run.van", fps=10.0, meshes=True)
    with_spring = read_vol(tmp_path / "run.vol").nodes
    assert len(with_spring) > len(read_vol(tmp_path / "still.vol").nodes)
    assert len(np.loadtxt(tmp_path / "run.van")) == 3 * len(with_spring)


def test_a_mode_oscillates_between_its_real_and_imaginary_part(tmp_path: Path) -> None:
    """The motion that the viewer computes is that of the mode: after a quarter period it is at the imaginary part."""
    poles = kinemorph.poles(kinemorph.library.double_pendulum())
    path = kinemorph.animate_mode(poles, 1, tmp_path / "mode.vmo")
    rest = read_vol(path.with_suffix(".vol")).nodes
    first, *rows = path.read_text().splitlines()
    alpha, omega, frequency, damping = map(float, first.split())
    pole = complex(poles.values[0])
    assert alpha == pytest.approx(pole.real, abs=1e-8) and omega == pytest.approx(pole.imag)
    assert frequency == pytest.approx(abs(pole.imag) / (2.0 * np.pi)) and damping == pytest.approx(0.0, abs=1e-6)
    real, imaginary = np.array([row.split() for row in rows], dtype=float).reshape(2, -1, 3)
    assert np.abs(real - rest).max() > 0.01 and np.abs(imaginary - rest).max() < 1e-6  # without damping


def test_what_has_no_effect_is_refused(swing: tuple[kinemorph.Trajectory, Path], tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match=r"camera has no effect on files for EasyAnim\. Leave camera out"):
        kinemorph.animate(swing[0], tmp_path / "x.van", camera="front")
    with pytest.raises(kinemorph.errors.KinemorphError, match=r"cannot write .* Choose another folder"):
        (tmp_path / "file").write_text("")
        kinemorph.animate(swing[0], tmp_path / "file" / "x.van")


@pytest.mark.slow
def test_the_verb_writes_frames(tmp_path: Path) -> None:
    data = parsed("simulate", "pendulum", "--time", "0.2", "--van", str(tmp_path / "p.van"), "--speed", "3")
    assert "p.van" in str(data) and len(np.loadtxt(tmp_path / "p.van")) == 3 * len(read_vol(tmp_path / "p.vol").nodes)


def test_frames_of_a_large_robot_stay_small(tmp_path: Path) -> None:
    """A frame of AMRU5 takes as many bytes as the corners of its boxes need; with round shapes it took 2 MB."""
    run = kinemorph.simulate(kinemorph.library.amru5_walk(), 0.02, output_step=0.01)
    path = Path(kinemorph.animate(run, tmp_path / "walk.van", fps=100.0))
    nodes, frames = len(read_vol(path.with_suffix(".vol")).nodes), 3
    assert path.stat().st_size < 45 * nodes * frames
    shapes = sum(len(body.shapes) for body in kinemorph.library.amru5().bodies)
    assert nodes < 16 * shapes
