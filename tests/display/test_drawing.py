"""Pictures of robots: surfaces are closed and where the kinematics put them; nothing global is touched."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import kinemorph
from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.display import outlines
from kinemorph.display.canvas import save
from kinemorph.display.drawing import draw, poses_at, skipped_meshes
from kinemorph.display.showcase import stance
from kinemorph.display.solids import MESH_LIMIT, facets, normals
from kinemorph.errors import KinemorphError, ModelError, ShapeError
from kinemorph.model.body import Body
from kinemorph.model.builder import RobotBuilder
from kinemorph.model.library import LIBRARY
from kinemorph.model.robot import Robot
from kinemorph.model.shapes import Box, Capsule, Cylinder, Frustum, Line, Mesh, Shape, Sphere, Triangle

TILT = Pose(((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)), (0.3, -0.2, 0.5))
SOLIDS: list[tuple[Shape, float]] = [
    (Box((0.2, 0.3, 0.5), TILT), 0.03),
    (Cylinder(0.1, 0.4, TILT), np.pi * 0.01 * 0.4),
    (Capsule(0.1, 0.4, TILT), np.pi * 0.01 * 0.4 + 4.0 / 3.0 * np.pi * 0.001),
    (Sphere(0.3, TILT), 4.0 / 3.0 * np.pi * 0.027),
    (Frustum(0.2, 0.1, 0.3, TILT), np.pi * 0.3 * (0.04 + 0.02 + 0.01) / 3.0),
]


def areas(surface: np.ndarray) -> np.ndarray:
    return 0.5 * np.linalg.norm(np.cross(surface[:, 2] - surface[:, 0], surface[:, 3] - surface[:, 1]), axis=1)


@pytest.mark.parametrize(("shape", "volume"), SOLIDS, ids=lambda value: type(value).__name__)
def test_surfaces_are_closed_and_hold_their_volume(shape: Shape, volume: float) -> None:
    surface = facets(shape, 0.01)
    weighted = normals(surface) * areas(surface)[:, None]
    assert np.abs(weighted.sum(axis=0)).max() < 1e-12  # closed: the area vectors cancel
    inside = float((weighted * surface.mean(axis=1)).sum() / 3.0)  # Gauss; positive: normals point outward
    assert inside == pytest.approx(volume, rel=0.06)


def test_lines_triangles_and_meshes_have_surfaces() -> None:
    assert len(facets(Line((0.0, 0.0, 0.0), (0.0, 0.0, 1.0)), 0.01)) > 0
    assert len(facets(Line((1.0, 0.0, 0.0), (1.0, 0.0, 0.0)), 0.01)) > 0  # a point
    corners = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    assert areas(facets(Triangle(*corners), 0.01)).sum() == pytest.approx(1.0)  # half a square meter on either side
    assert areas(facets(Mesh(corners, ((0, 1, 2),)), 0.01)).sum() == pytest.approx(1.0)


def test_a_huge_mesh_is_left_out_with_a_note() -> None:
    mesh = Mesh(((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)), ((0, 1, 2),) * (MESH_LIMIT + 1))
    assert len(facets(mesh, 0.01)) == 0
    builder = RobotBuilder("statue").body("stone", 1.0, inertia=((1, 0, 0), (0, 1, 0), (0, 0, 1)), shapes=(mesh,))
    robot = builder.root("stone", "free").build()
    assert "stone" in skipped_meshes(robot)
    assert any("stone" in text.get_text() for text in draw(robot).texts)


# ── whole robots ──────────────────────────────────────────────────────────────────────────────────────────────────────


def bare(name: str) -> Robot:
    """A chain whose bodies have no shapes."""
    inertia = ((0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.05))
    builder = RobotBuilder(name).add(
        Body("upper", 1.0, (0.0, 0.0, 0.2), inertia), Body("lower", 1.0, (0.0, 0.0, 0.2), inertia)
    )
    builder.joint("hip", "revolute", "world", "upper", axis=(0.0, 1.0, 0.0))
    builder.joint("knee", "revolute", "upper", "lower", translation=(0.0, 0.0, 0.5), axis=(0.0, 1.0, 0.0))
    return builder.build()


@pytest.mark.parametrize("name", LIBRARY)
def test_every_robot_of_the_library_is_drawn_to_scale(name: str) -> None:
    robot = LIBRARY[name]()
    figure = draw(robot, stance(robot), joints=True, frames=True)
    axes = figure.axes[0]
    spans = np.array([np.ptp(axes.get_xlim()), np.ptp(axes.get_ylim()), np.ptp(axes.get_zlim())])
    shown = np.array(axes.get_box_aspect())
    assert spans / spans.max() == pytest.approx(shown / shown.max())
    assert [axes.get_xlabel(), axes.get_ylabel(), axes.get_zlabel()] == ["x [m]", "y [m]", "z [m]"]
    figure.canvas.draw()
    image = np.asarray(figure.canvas.buffer_rgba())
    assert (image[..., :3] < 200).any(axis=-1).mean() > 0.002
    edge = np.concatenate([image[0], image[-1], image[:, 0], image[:, -1]])
    assert (edge[:, :3] == 255).all()  # nothing is cut off


def test_poses_are_those_of_the_compiled_kinematics() -> None:
    robot = LIBRARY["puma"]()
    q = kinemorph.random_configuration(robot, np.random.default_rng(1))
    expected = kinemorph.derive(robot, backend="interpreter").forward_kinematics(q)
    poses = poses_at(robot, q)
    for body, T in zip(robot.body_names, expected, strict=True):
        assert np.allclose(poses[body].R, T[:3, :3]) and np.allclose(poses[body].p, T[:3, 3])


def test_bodies_without_shapes_get_bones_and_their_inertia_as_a_box() -> None:
    robot = bare("legs")
    upper, lower = (outlines.automatic_shapes(robot, body, 1.0) for body in robot.bodies)
    assert [type(shape) for shape in upper] == [Line, Sphere]
    assert upper[0].end == (0.0, 0.0, 0.5)  # type: ignore[union-attr]
    box = next(shape for shape in lower if isinstance(shape, Box))
    x, y, z = sorted(box.size)
    assert np.allclose([(y * y + z * z) / 12.0, (x * x + y * y) / 12.0], [0.1, 0.05])  # a cuboid of 1 kg
    assert draw(robot).axes


def test_stances_of_walking_robots_stand_on_the_ground() -> None:
    for name in ("hexapod24", "hexapod36", "humanoid"):
        robot = LIBRARY[name]()
        q = stance(robot)
        assert min(poses_at(robot, q)[frame.name].p[2] for frame in robot.frames) == pytest.approx(0.0, abs=1e-12)
        assert (q >= robot.q_lower).all() and (q <= robot.q_upper).all()


def test_four_bar_stands_assembled() -> None:
    robot = LIBRARY["four_bar"]()
    poses = poses_at(robot, stance(robot))
    ends = [
        np.array(poses[name].R) @ [length, 0.0, 0.0] + poses[name].p
        for name, length in (("coupler", 0.9), ("rocker", 0.7))
    ]
    assert np.allclose(*ends, atol=1e-6)


@pytest.mark.parametrize("q", [[0.1], [[0.1, 0.2]], [0.1, float("nan")]])
def test_a_wrong_state_is_refused(q: list[float]) -> None:
    with pytest.raises(ShapeError, match=r"q"):
        draw(bare("legs"), q)


def test_an_unknown_frame_is_refused() -> None:
    with pytest.raises(ModelError, match="'toe'"):
        draw(bare("legs"), frames=["toe"])


def test_a_place_that_cannot_be_written_is_named(tmp_path: object) -> None:
    figure = draw(bare("legs"))
    with pytest.raises(KinemorphError, match="Choose another place"):
        save(figure, "/proc/nowhere/picture.png")
    with pytest.raises(KinemorphError, match=r"\.png"):
        save(figure, f"{tmp_path}/picture.sketch")


def test_drawing_leaves_pyplot_and_the_backend_alone() -> None:
    code = (
        "import sys, matplotlib, kinemorph; from kinemorph.display.drawing import draw; before = set(sys.modules);"
        "assert 'mpl_toolkits.mplot3d' not in before; draw(kinemorph.library.pendulum());"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_identity_is_where_the_world_is() -> None:
    assert poses_at(bare("legs"), None)["upper"].p == IDENTITY.p
