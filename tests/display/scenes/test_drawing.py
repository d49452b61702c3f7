"""Pictures of robots: surfaces are closed and where the kinematics put them; nothing global is touched."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import kinemorph
from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.display.cameras import VIEW, Lens
from kinemorph.display.canvas import save
from kinemorph.display.looks import outlines
from kinemorph.display.looks.poses import Poses
from kinemorph.display.looks.postures import closed_posture
from kinemorph.display.looks.solids import MESH_LIMIT, Grain, facets, normals, opacity
from kinemorph.display.painting.draw import draw
from kinemorph.display.painting.lighting import STEEP, lamp_of
from kinemorph.display.painting.painter import Painting
from kinemorph.display.scenes.building import scene_of
from kinemorph.display.scenes.figures import lost_meshes
from kinemorph.errors import KinemorphError, ModelError, ModelWarning, ShapeError, UnsupportedError
from kinemorph.formats.loading import load_text
from kinemorph.mechanics.constraints.newton_closing import loop_gaps
from kinemorph.mechanics.constraints.stances import stance
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.library import LIBRARY
from kinemorph.model.library.choosing import CHOICE, choose
from kinemorph.model.robot import Robot
from kinemorph.model.shapes import Box, Capsule, Cylinder, Frustum, Line, Mesh, Shape, Sphere, Triangle
from kinemorph.model.system import Settings, System

TILT = Pose(((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)), (0.3, -0.2, 0.5))
SOLIDS: list[tuple[Shape, float]] = [
    (Box((0.2, 0.3, 0.5), TILT), 0.03),
    (Cylinder(0.1, 0.4, TILT), np.pi * 0.01 * 0.4),
    (Capsule(0.1, 0.4, TILT), np.pi * 0.01 * 0.4 + 4.0 / 3.0 * np.pi * 0.001),
    (Sphere(0.3, TILT), 4.0 / 3.0 * np.pi * 0.027),
    (Frustum(0.2, 0.1, 0.3, TILT), np.pi * 0.3 * (0.04 + 0.02 + 0.01) / 3.0),
]


def poses_at(robot: Robot, q: Any = None) -> dict[str, Pose]:
    return Poses(robot, kinemorph.neutral(robot) if q is None else q).at(0)


def areas(surface: np.ndarray) -> np.ndarray:
    return 0.5 * np.linalg.norm(np.cross(surface[:, 2] - surface[:, 0], surface[:, 3] - surface[:, 1]), axis=1)


@pytest.mark.parametrize(("shape", "volume"), SOLIDS, ids=lambda value: type(value).__name__)
def test_surfaces_are_closed_and_hold_their_volume(shape: Shape, volume: float) -> None:
    surface = facets(shape, Grain(0.01))
    weighted = normals(surface) * areas(surface)[:, None]
    assert np.abs(weighted.sum(axis=0)).max() < 1e-12  # closed: the area vectors cancel
    inside = float((weighted * surface.mean(axis=1)).sum() / 3.0)  # Gauss; positive: normals point outward
    assert inside == pytest.approx(volume, rel=0.06)


def test_lines_triangles_and_meshes_have_surfaces() -> None:
    assert len(facets(Line((0.0, 0.0, 0.0), (0.0, 0.0, 1.0)), Grain(0.01))) > 0
    assert len(facets(Line((1.0, 0.0, 0.0), (1.0, 0.0, 0.0)), Grain(0.01))) > 0  # a point
    corners = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    assert areas(facets(Triangle(*corners), Grain(0.01))).sum() == pytest.approx(
        1.0
    )  # half a square meter on either side
    assert areas(facets(Mesh(corners, ((0, 1, 2),)), Grain(0.01))).sum() == pytest.approx(0.5)  # every face once


def test_a_mesh_that_is_counted_inside_out_is_turned() -> None:
    corners = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    faces = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))
    for counted in (faces, tuple(face[::-1] for face in faces)):
        surface = facets(Mesh(corners, counted), Grain(0.01))
        outward = (normals(surface) * (surface[:, :3].mean(axis=1) - 0.25)).sum(axis=1)
        assert (outward > 0.0).all()


def test_a_huge_mesh_is_left_out_with_a_note() -> None:
    mesh = Mesh(((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)), ((0, 1, 2),) * (MESH_LIMIT + 1))
    assert len(facets(mesh, Grain(0.01))) == 0
    builder = RobotBuilder("statue").body("stone", 1.0, inertia=((1, 0, 0), (0, 1, 0), (0, 0, 1)), shapes=(mesh,))
    robot = builder.root("stone", "free").build()
    assert "stone" in lost_meshes(robot)
    with pytest.warns(ModelWarning, match="stone has a mesh of 20001 faces, expected at most 20000"):
        figure = draw(robot)
    assert any("1 mesh of statue cannot be shown" in text.get_text() for text in figure.texts)


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


DRAWN = ("double_pendulum", "four_bar", "organism9")  # the others are slow


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n not in DRAWN), id=n) for n in CHOICE])
def test_every_robot_of_the_library_is_drawn_to_scale(name: str) -> None:
    robot = choose(name).robot
    figure = draw(robot, stance(robot), joints=True, frames=True)
    axes = figure.axes[0]
    spans, shown = [np.ptp(axes.get_xlim()), np.ptp(axes.get_ylim())], axes.get_window_extent().size
    assert spans / shown[:2] == pytest.approx([spans[0] / shown[0]] * 2, rel=1e-6)
    said = [text.get_text() for text in figure.texts]
    assert {"x", "y", "z"} <= set(said) and any(text.startswith("grid ") for text in said)
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


def test_bodies_without_shapes_get_links_and_their_inertia_inner_ones_and_tips_alike() -> None:
    robot = bare("legs")
    for body, end in zip(robot.bodies, (0.5, 0.2), strict=True):  # to the knee; to the center of mass
        shapes = outlines.automatic_shapes(robot, body, 4.0)
        assert [type(shape) for shape in shapes] == [Frustum, Sphere, Cylinder, Box]  # rod, its tip, hinge, inertia
        rod = np.concatenate([facets(shape, Grain(0.0)) for shape in shapes[:2]])
        assert rod[..., 2].min() == pytest.approx(0.0)
        assert rod[..., 2].max() == pytest.approx(end + outlines.TIP * 4.0)
        box = shapes[3]
        assert isinstance(box, Box) and opacity(box) < 1.0 and box.placement.p == (0.0, 0.0, 0.2)
        x, y, z = sorted(box.size)
        assert np.allclose([(y * y + z * z) / 12.0, (x * x + y * y) / 12.0], [0.1, 0.05])  # a cuboid of 1 kg
    assert draw(robot).axes


def test_an_inertia_is_never_drawn_larger_than_the_robot_nor_too_thin_to_see() -> None:
    robot = bare("legs")
    for size in (0.3, 1.0, 30.0):
        box = outlines.automatic_shapes(robot, robot.bodies[0], size)[-1]
        assert isinstance(box, Box)
        edges = np.array(box.size) / size
        assert (edges <= outlines.LARGEST_EDGE + 1e-12).all() and (edges >= outlines.LEAST_EDGE - 1e-12).all()


def test_a_point_mass_is_a_ball_and_a_center_beside_the_links_is_tied_to_them() -> None:
    builder = RobotBuilder("pointed").body("arm", 1.0, com=(0.3, 0.0, 0.2))
    robot = (
        builder.joint("hip", "revolute", "world", "arm", axis=(0.0, 1.0, 0.0))
        .frame("tip", "arm", translation=(0.0, 0.0, 0.5))
        .build()
    )
    shapes = outlines.automatic_shapes(robot, robot.bodies[0], 0.5)
    assert [type(shape) for shape in shapes] == [Frustum, Sphere, Frustum, Sphere, Cylinder, Sphere]
    assert shapes[-1].placement.p == (0.3, 0.0, 0.2)


def test_a_single_body_has_the_size_of_its_inertia() -> None:
    inertia = ((4e-4, 0.0, 0.0), (0.0, 4e-4, 0.0), (0.0, 0.0, 4e-4))
    robot = RobotBuilder("cube").body("cube", 1.0, inertia=inertia).root("cube", "free").build()
    size = outlines.extent(robot, poses_at(robot, None))
    (box,) = outlines.automatic_shapes(robot, robot.bodies[0], size)
    assert isinstance(box, Box) and box.size == pytest.approx([np.sqrt(6 * 4e-4)] * 3)


def test_ghosts_are_paler_and_the_ground_is_seen_where_asked_for() -> None:
    robot = LIBRARY["pendulum"]()

    def darkest(*ghosts: float, ground: bool = False) -> Any:
        image: Any = draw(robot, [0.6], ghosts=[[angle] for angle in ghosts], ground=ground).axes[0].images[0]
        return np.sort(np.asarray(image.get_array())[..., :3].min(axis=2), axis=None)

    alone, beside = darkest(), darkest(-0.6)
    pale = (beside > 120) & (beside < 250)
    assert pale.sum() > 0.004 * pale.size and (beside < 120).sum() > 0.5 * (alone < 120).sum() > 0
    assert (darkest(ground=True) < 250).sum() > 1.2 * (alone < 250).sum()


def test_a_still_picture_has_the_size_that_is_asked_for() -> None:
    robot = LIBRARY["puma"]()
    assert tuple(draw(robot, size=(5.0, 4.0)).get_size_inches()) == pytest.approx((5.0, 4.0))
    assert max(draw(robot, size=4.0).get_size_inches()) == pytest.approx(4.0, abs=0.03)
    flat: Any = draw(robot, camera="left").axes[0]
    assert (flat.get_xlabel(), flat.get_ylabel()) == ("x [m]", "z [m]")


def test_a_loop_is_marked_where_its_joint_is() -> None:
    robot = LIBRARY["four_bar"]()
    figure = draw(robot, stance(robot), ground=False)
    ring: Any = figure.axes[0].collections[-1]
    coupler = poses_at(robot, stance(robot))["coupler"]
    place = Lens.toward(*VIEW).seen(np.array(coupler.R) @ [0.9, 0.0, 0.0] + coupler.p)[:2]
    assert np.allclose(ring.get_offsets(), place, atol=1e-6)  # both ends of the joint, one over the other
    assert any("loop" in text.get_text() for text in figure.texts)
    assert not any("loop" in text.get_text() for text in draw(bare("legs")).texts)


def test_stances_of_walking_robots_stand_on_the_ground() -> None:
    for name in ("hexapod24", "hexapod36", "humanoid"):
        robot = LIBRARY[name]()
        q = stance(robot)
        assert min(poses_at(robot, q)[frame.name].p[2] for frame in robot.frames) == pytest.approx(0.0, abs=1e-12)
        assert (q >= robot.q_lower).all() and (q <= robot.q_upper).all()


def test_a_system_is_drawn_where_its_runs_begin() -> None:
    robot = LIBRARY["double_pendulum"]()
    start = (0.4, -0.3)
    frames = {"frames": [robot.bodies[-1].name], "joints": True}
    begun, there, neutral = (
        np.concatenate([line.get_xydata() for line in draw(model, q, **frames).axes[0].lines])  # type: ignore[arg-type]
        for model, q in ((System(robot, settings=Settings(q=start)), None), (robot, start), (robot, None))
    )
    assert np.array_equal(begun, there) and not np.allclose(begun, neutral)


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
    with pytest.raises(KinemorphError, match="Choose another folder"):
        save(figure, "/proc/nowhere/picture.png")
    with pytest.raises(KinemorphError, match=r"\.png"):
        save(figure, f"{tmp_path}/picture.sketch")


def test_drawing_leaves_pyplot_and_the_backend_alone() -> None:
    code = (
        "import sys, matplotlib, kinemorph; from kinemorph.display.painting.draw import draw\n"
        "draw(kinemorph.library.pendulum());"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_identity_is_where_the_world_is() -> None:
    assert poses_at(bare("legs"), None)["upper"].p == IDENTITY.p


# ── defaults and limits ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "five_bar"])
def test_loops_are_closed_where_no_configuration_is_given(name: str) -> None:
    figure = draw(LIBRARY[name]())
    ends = np.asarray(figure.axes[0].collections[-1].get_offsets())  # rings at both sides of the joint of the loop
    assert ends.shape == (2, 2) and np.abs(ends[0] - ends[1]).max() < 1e-6


@pytest.mark.parametrize("size", [0.1, 100, -1, 0, "big", (3.0, 3.0, 3.0), (3.0,), (3.0, 400.0), np.nan])
def test_a_size_that_makes_no_sense_is_a_sentence(size: Any) -> None:
    with pytest.raises(UnsupportedError, match=r"size is .*; expected the longer side, or \(width, height\)"):
        draw(LIBRARY["pendulum"](), size=size)


@pytest.mark.parametrize("name", ["scara", "puma", "humanoid"])
def test_shadows_end_inside_the_picture(name: str) -> None:
    robot = LIBRARY[name]()
    painting = Painting(scene_of(robot), camera=(40.0, -35.0), size=3.0)
    shot = painting.cast.at(0)
    solid = shot.points[np.unique(painting.cast.faces[~painting.cast.force])]
    light = lamp_of(painting.window.azimuth, STEEP).axes[2]
    cast = solid - ((solid[:, 2] - painting.scene.floor) / light[2])[:, None] * light
    x, y = painting.window.pixels(cast, 0)[:, :2].T
    width, height = painting.window.size
    assert x.min() >= 0.0 and y.min() >= 0.0 and x.max() <= width and y.max() <= height


def test_a_view_along_a_mechanism_leaves_room_around_its_base() -> None:
    figure = draw(LIBRARY["double_pendulum"](), [1.5, 0.0], camera="front")
    size = outlines.extent(LIBRARY["double_pendulum"](), poses_at(LIBRARY["double_pendulum"](), [1.5, 0.0]))
    assert min(np.ptp(figure.axes[0].get_xlim()), np.ptp(figure.axes[0].get_ylim())) >= 0.3 * size  # the cube: 0.05


def test_type_hints_of_public_functions_are_found_without_matplotlib() -> None:
    code = (
        "import sys, typing, kinemorph as k\n"
        "for f in (k.draw, k.plot, k.animate, k.replay, k.draw_modes, k.plot_phase, k.plot_poles):\n"
        "    typing.get_type_hints(f)\n"
        "assert 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_named_coordinates_close_the_loops(tmp_path: Any) -> None:
    """The other coordinates stayed where they were, and the picture showed a linkage torn apart."""
    robot = LIBRARY["four_bar"]()
    q = closed_posture(robot, {"q1": 2.0})
    assert q[0] == 2.0 and not loop_gaps(robot, q)
    assert np.array_equal(closed_posture(robot, [2.0, 0.0, 0.0]), [2.0, 0.0, 0.0])  # given in full: as it is
    with pytest.warns(ModelWarning, match="'q1', 'q2' at the given coordinates; they are drawn open"):
        closed_posture(robot, {"q1": 2.0, "q2": 2.0})
    draw(robot, {"q1": 2.0}, path=tmp_path / "new" / "bar.png")
    assert (tmp_path / "new" / "bar.png").read_bytes().startswith(b"\x89PNG")


def test_a_loop_that_ends_at_the_world_is_drawn() -> None:
    text = """<mujoco><worldbody><body name="rod" pos="0 0 1"><joint name="hinge" axis="0 1 0"/>
      <geom type="capsule" size="0.02" fromto="0 0 0 0.5 0 0" mass="1"/></body></worldbody>
      <equality><connect body1="rod" body2="world" anchor="0.5 0 0"/></equality></mujoco>"""
    robot = load_text(text, "mjcf").robot
    (loop,) = robot.loops
    turned = dataclasses.replace(robot, loops=(dataclasses.replace(loop, parent="rod", child="world"),))
    for one in (robot, turned):
        assert draw(one).axes
