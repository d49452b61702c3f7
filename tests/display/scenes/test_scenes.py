"""Scenes: figures, their parts by layer, and how they stand and move."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kinemorph
from kinemorph import Body, RobotBuilder, System, elements, library
from kinemorph.algebra.groups import Pose
from kinemorph.display.looks.poses import Poses
from kinemorph.display.looks.quaternions import quaternions_of, rotated, without_jumps
from kinemorph.display.looks.solids import Grain
from kinemorph.display.replays.replay import replay
from kinemorph.display.scenes.building import MOST_FRAMES, scene_of
from kinemorph.display.scenes.figures import CENTER_COLOR, INERTIA_COLOR, figure_of, mesh_faces
from kinemorph.display.scenes.scene import LAYERS, Figure, Part, Scene, Surface
from kinemorph.display.scenes.surfaces import COILS, LOOKS, SLENDER, look_surface, shape_surface
from kinemorph.display.scenes.usual_view import followed_body
from kinemorph.errors import ModelError, ModelWarning, ShapeError, UnsupportedError
from kinemorph.mechanics.constraints.stances import stance
from kinemorph.model.modules.cube_shapes import BODY, PIPS, PLATE, SIDES, module_cube
from kinemorph.model.parameter import Parameter
from kinemorph.model.shapes import (
    ORANGE,
    Box,
    Capsule,
    Cylinder,
    Frustum,
    Line,
    Mesh,
    MeshFile,
    Shape,
    Sphere,
    Triangle,
)
from kinemorph.simulation.results.trajectory import Outcome, Trajectory
from support.tools.each_case import each_case

SCALAR_LAST = [1, 2, 3, 0]  # the order of quaternions in SciPy
TILT = Pose(((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)), (0.3, -0.2, 0.5))


def corners(surface: Surface) -> np.ndarray:
    return surface.points[surface.faces]


def volume(surface: Surface) -> float:
    """By the divergence theorem; above 0 where normals point outward."""
    a, b, c = np.moveaxis(corners(surface), 1, 0)
    return float(np.einsum("ij,ij->", a, np.cross(b, c))) / 6.0


def area(surface: Surface) -> float:
    a, b, c = np.moveaxis(corners(surface), 1, 0)
    return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()) / 2.0


def assert_closed(surface: Surface) -> None:
    a, b, c = np.moveaxis(corners(surface), 1, 0)
    across = np.cross(b - a, c - a)
    assert np.abs(across.sum(axis=0)).max() < 1e-9 * np.abs(across).sum()


def assert_normals(surface: Surface) -> None:
    """Unit normals, on the side from which faces are counted against the clock."""
    a, b, c = np.moveaxis(corners(surface), 1, 0)
    across = np.cross(b - a, c - a)
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    assert np.allclose(np.linalg.norm(surface.normals, axis=1), 1.0)
    assert np.einsum("ij,ikj->ik", across, surface.normals[surface.faces]).min() > 0.7


@pytest.fixture(scope="module")
def swing() -> Trajectory:
    return kinemorph.simulate(library.double_pendulum(), 1.0, q=np.array([0.4, 0.2]), output_step=0.02)


def parts(scene_or_figure: Scene | Figure, layer: str) -> list[Part]:
    figure = scene_or_figure.figures[0] if isinstance(scene_or_figure, Scene) else scene_or_figure
    return [part for part in figure.parts if part.layer == layer]


# ── orientations ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_quaternions_are_those_of_the_matrices_wherever_they_turn_to() -> None:
    rng = np.random.default_rng(1)
    vectors = np.concatenate([rng.normal(size=(200, 3)), np.pi * np.eye(3), np.zeros((1, 3)), -np.pi * np.eye(3)])
    R = Rotation.from_rotvec(vectors).as_matrix()
    found = quaternions_of(R)
    assert np.allclose(np.linalg.norm(found, axis=1), 1.0)
    assert np.allclose(Rotation.from_quat(found[..., SCALAR_LAST]).as_matrix(), R, atol=1e-12)
    points = rng.normal(size=(len(R), 3))
    assert np.allclose(rotated(found, points), np.einsum("nij,nj->ni", R, points), atol=1e-12)


def test_quaternions_never_jump_through_many_turns() -> None:
    angle = np.linspace(0.0, 30.0, 400)
    quaternions = without_jumps(quaternions_of(Rotation.from_rotvec(np.outer(angle, [0.0, 0.6, 0.8])).as_matrix()))
    assert quaternions[0, 0] > 0.0
    assert np.abs(np.diff(quaternions, axis=0)).max() < 0.05  # half the step of the angle


# ── surfaces ──────────────────────────────────────────────────────────────────────────────────────────────────────────

CUBE = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
SQUARES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
CUBE_FACES = tuple(face for a, b, c, d in SQUARES for face in ((a, b, c), (a, c, d)))
SLANT = np.hypot(0.3, 0.1)
CLOSED: list[tuple[Shape, float, float]] = [  # shape, volume, area
    (Box((0.2, 0.3, 0.5), TILT), 0.03, 2.0 * (0.06 + 0.1 + 0.15)),
    (Cylinder(0.1, 0.4, TILT), np.pi * 0.01 * 0.4, 2.0 * np.pi * (0.01 + 0.04)),
    (Capsule(0.1, 0.4, TILT), np.pi * 0.01 * 0.4 + 4.0 / 3.0 * np.pi * 0.001, 2 * np.pi * 0.04 + 4 * np.pi * 0.01),
    (Sphere(0.3, TILT), 4.0 / 3.0 * np.pi * 0.027, 4.0 * np.pi * 0.09),
    (Frustum(0.2, 0.1, 0.3, TILT), np.pi * 0.1 * 0.07, np.pi * (0.05 + 0.3 * SLANT)),
    (Frustum(0.2, 0.0, 0.3, TILT), np.pi * 0.1 * 0.04, np.pi * (0.04 + 0.2 * np.hypot(0.3, 0.2))),
    (Line((0.0, 0.0, 0.0), (0.3, 0.0, 0.4), TILT), np.pi * 1e-4 * (0.5 + 4e-2 / 3), 2 * np.pi * 0.01 * 0.52),
    (Mesh(tuple(map(tuple, CUBE)), CUBE_FACES, placement=TILT), 1.0, 6.0),
]


@pytest.mark.parametrize(("shape", "content", "size"), CLOSED, ids=lambda value: type(value).__name__)
def test_surfaces_of_shapes_hold_their_volume_and_area(shape: Shape, content: float, size: float) -> None:
    surface = shape_surface(shape, Grain(0.01))
    exact = isinstance(shape, (Box, Mesh))
    tolerance = 1e-12 if exact else 0.06 if isinstance(shape, Line) else 0.025
    assert volume(surface) == pytest.approx(content, rel=tolerance)
    assert area(surface) == pytest.approx(size, rel=tolerance)
    assert_closed(surface)
    assert_normals(surface)


def test_a_triangle_has_two_sides() -> None:
    surface = shape_surface(Triangle((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)), Grain(0.01))
    assert area(surface) == pytest.approx(1.0) and len(surface.faces) == 2
    assert_normals(surface)


def test_shapes_with_parameters_are_shown_at_their_nominal_values() -> None:
    shape = Cylinder(Parameter("r", 0.1), 2.0 * Parameter("half", 0.2))
    assert volume(shape_surface(shape, Grain(0.01))) == pytest.approx(
        volume(shape_surface(Cylinder(0.1, 0.4), Grain(0.01)))
    )


@pytest.mark.parametrize("look", LOOKS)
def test_looks_are_closed_and_face_outward(look) -> None:
    surface = look_surface(look)
    sides = {"ball": 18, "rod": 10, "rope": 10, "spring": 10}.get(look, 14)
    polygon = 0.5 * sides * np.sin(2.0 * np.pi / sides)  # area of one in the unit circle, in place of pi
    turn = np.linspace(0.0, 2.0 * np.pi * COILS, 100_000)
    radius = 0.8 * np.sin(0.5 * np.clip(np.minimum(turn, turn[-1] - turn), 0.0, np.pi))  # half a turn from the axis
    coil = np.stack([radius * np.cos(turn), radius * np.sin(turn), 0.8 * SLENDER * turn / turn[-1]])
    wire = 0.2 * SLENDER + np.linalg.norm(np.diff(coil), axis=0).sum()
    contents = {
        "spring": (polygon * 0.04 * wire / SLENDER, 0.04),
        "damper": (polygon * (0.45 + 0.09), 1e-9),
        "rope": (polygon * 0.35**2, 1e-9),
        "rod": (polygon, 1e-9),
        "arrow": (polygon * (0.16 * 0.74 + 0.26 / 3.0), 1e-9),
        "ball": (polygon * 4.0 / 3.0, 0.03),
    }
    content, tolerance = contents[look]
    assert volume(surface) == pytest.approx(content, rel=tolerance)
    assert_closed(surface)
    if look == "spring":  # normals of what is to be stretched are right once it is
        normals = surface.normals / [1.0, 1.0, SLENDER]
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        surface = Surface(surface.points * [1.0, 1.0, SLENDER], normals, surface.faces)
    assert_normals(surface)
    lowest, highest = (-1.0, 1.0) if look == "ball" else (0.0, 1.0)
    assert surface.points[:, 2].min() == pytest.approx(lowest)
    assert surface.points[:, 2].max() == pytest.approx(highest * (SLENDER if look == "spring" else 1.0))


# ── figures ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_bodies_are_where_kinematics_puts_them(swing: Trajectory) -> None:
    scene = scene_of(swing, fps=30.0)
    (figure,) = scene.figures
    assert scene.times.shape == (31,) and scene.duration == pytest.approx(1.0)
    poses = Poses(figure.robot, swing.at(scene.times).q)
    for owner, body in enumerate(figure.bodies):
        assert np.allclose(figure.positions[:, owner], poses.p[body], atol=1e-12)
        R = Rotation.from_quat(figure.quaternions[:, owner][..., SCALAR_LAST]).as_matrix()
        assert np.allclose(R, poses.R[body], atol=1e-12)


def test_every_layer_holds_what_it_says() -> None:
    robot = library.hexapod24()
    scene = scene_of(robot)
    expected = {"shapes", "inertia", "centers", "frames", "joints", "graph"}
    assert set(scene.layers) == expected and list(scene.layers) == [one for one in LAYERS if one in expected]
    assert len(parts(scene, "inertia")) == len(parts(scene, "centers")) == len(robot.bodies)
    assert len(parts(scene, "frames")) == 3 * len(robot.frames)
    assert len(parts(scene, "joints")) == sum(joint.table.axes for joint in robot.joints)
    owners = {part.owner for part in parts(scene, "shapes")}
    assert owners == set(range(len(robot.bodies)))


def test_inertia_ellipsoids_have_the_inertia_of_their_bodies() -> None:
    inertia = np.array([[0.04, 0.005, 0.0], [0.005, 0.05, -0.004], [0.0, -0.004, 0.03]])
    robot = RobotBuilder("b").body("b", 2.0, com=(0.1, 0.2, 0.3), inertia=inertia).root("b", "free").build()
    figure = figure_of(robot, stance(robot))
    (part,), (center,) = parts(figure, "inertia"), parts(figure, "centers")
    assert part.color == INERTIA_COLOR and center.color == CENTER_COLOR
    # a solid of tetrahedra from the center: the integral of x x^T over each is V/20 (sum v v^T + (sum v)(sum v)^T)
    apex = np.array([0.1, 0.2, 0.3])
    points = corners(part.surface) - apex
    signed = np.einsum("ij,ij->i", points[:, 0], np.cross(points[:, 1], points[:, 2])) / 6.0
    total = points.sum(axis=1)
    second = np.einsum("n,nki,nkj->ij", signed, points, points) + np.einsum("n,ni,nj->ij", signed, total, total)
    second *= 2.0 / signed.sum() / 20.0  # of 2 kg
    found = np.trace(second) * np.eye(3) - second
    assert np.allclose(found, inertia, rtol=0.06, atol=1e-3)
    assert np.allclose(center.surface.points.mean(axis=0), apex, atol=1e-3)
    # its normals are the slopes of x^T S^-1 x, S the second moments
    slopes = (part.surface.points - apex) @ np.linalg.inv(0.5 * np.trace(inertia) * np.eye(3) - inertia)
    slopes /= np.linalg.norm(slopes, axis=1, keepdims=True)
    assert np.einsum("ij,ij->i", slopes, part.surface.normals).min() > 0.99


def test_joint_axes_and_graph_lie_where_the_joints_are() -> None:
    robot = library.scara()
    figure = figure_of(robot, stance(robot))
    for joint in robot.joints:
        lines = [part for part in parts(figure, "joints") if part.name == f"{joint.name} axis"]
        assert len(lines) == joint.table.axes
        for line in lines:
            spread = np.ptp(line.surface.points, axis=0)
            assert int(np.argmax(spread)) == int(np.argmax(np.abs(joint.axis)))  # their frames are not turned
    nodes = [part for part in parts(figure, "graph") if part.name.endswith("node")]
    assert len(nodes) == len(robot.bodies)


def test_what_a_joint_shows_goes_with_its_frame_on_the_child() -> None:
    quarter = ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))  # x of the joint is y of the child
    builder = RobotBuilder("turned").add(Body.box("bar", 1.0, (0.1, 0.2, 0.3)))
    builder.joint("q", "revolute", "world", "bar", axis=(1.0, 0.0, 0.0), child_placement=Pose(quarter, (0.3, 0.5, 0.0)))
    robot = builder.build()
    push = elements.AppliedEffort("push", "q", 2.0)
    run = kinemorph.simulate(System(robot, (push,)), 0.1, q=[0.4], output_step=0.05)
    figure = scene_of(run).figures[0]
    (drive,) = [mark for mark in figure.marks if mark.name == "q drive"]
    assert drive.vectors is not None and drive.start.point == (0.3, 0.5, 0.0)
    assert drive.vectors == pytest.approx(np.linalg.norm(drive.vectors, axis=1)[:, None] * [[1.0, 0.0, 0.0]], abs=1e-9)
    (line,) = [part for part in parts(figure, "joints") if part.name == "q axis"]
    assert int(np.argmax(np.ptp(line.surface.points, axis=0))) == 1
    assert line.surface.points.mean(axis=0) == pytest.approx([0.3, 0.5, 0.0], abs=1e-9)
    (edge,) = [part for part in parts(figure, "graph") if part.name == "q edge"]
    middle = 0.5 * (edge.surface.points.min(axis=0) + edge.surface.points.max(axis=0))
    assert middle == pytest.approx([0.15, 0.25, 0.0], abs=1e-2)  # from the center of mass to the joint


def test_figures_side_by_side_do_not_overlap(swing: Trajectory) -> None:
    scene = scene_of({"a": swing, "b": swing, "c": library.double_pendulum()})
    offsets = np.array([figure.offset for figure in scene.figures])
    assert np.allclose(offsets.sum(axis=0), 0.0)
    axis = int(np.argmax(np.ptp(offsets, axis=0)))
    ranges = []
    for figure in scene.figures:
        placed = []
        for part in parts(figure, "shapes"):
            points = part.surface.points
            if part.owner >= 0:
                turn = figure.quaternions[:, part.owner][:, None]
                points = rotated(turn, points[None]) + figure.positions[:, part.owner][:, None]
            placed.append((points + figure.offset)[..., axis].ravel())
        ranges.append((np.concatenate(placed).min(), np.concatenate(placed).max()))
    ranges.sort()
    assert all(right[0] - left[1] > 0.0 for left, right in pairwise(ranges))
    together = scene_of([swing, swing], spread=0.0)
    assert all(np.allclose(figure.offset, 0.0) for figure in together.figures)
    assert [figure.name for figure in together.figures] == ["dop853", "dop853 (2)"]


def test_many_meshes_share_the_faces_there_are() -> None:
    few = RobotBuilder("few").body("b", 1.0, inertia=(1.0, 1.0, 1.0), shapes=(MeshFile("a.stl"),)).root("b").build()
    many = replace(few, bodies=(replace(few.bodies[0], shapes=(MeshFile("a.stl"),) * 100),))
    assert mesh_faces(few) == 3_000 and mesh_faces(many) == 800


def test_a_lost_mesh_is_told_and_its_body_gets_a_simple_shape() -> None:
    lost = MeshFile("package://arm/link.stl")
    robot = RobotBuilder("arm").body("b", 1.0, inertia=(0.1, 0.1, 0.1), shapes=(lost,)).root("b").build()
    with pytest.warns(ModelWarning, match="robot 'arm': a mesh is not drawn: mesh 'package://arm/link.stl': the file"):
        scene = scene_of(robot)
    assert scene.notes == ("1 mesh of arm cannot be shown: a warning says why",)
    assert parts(scene, "shapes")


# ── over time ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_series_are_energies_with_their_sum_or_what_is_asked_for(swing: Trajectory) -> None:
    scene = scene_of(swing, fps=50.0)
    assert [one.name for one in scene.series] == ["energy.kinetic", "energy.potential", "energy.total"]
    kinetic, potential, total = scene.series
    assert np.allclose(total.values, kinetic.values + potential.values) and total.unit == "J"
    assert np.allclose(kinetic.values, swing["energy.kinetic"], atol=1e-9)  # both every 20 ms
    chosen = scene_of(swing, columns="q.*").series
    assert [one.name for one in chosen] == ["q.q1", "q.q2"] and chosen[0].unit == "rad"
    assert scene_of(swing, columns=()).series == ()


def test_runs_share_one_clock_and_wait_at_their_ends(swing: Trajectory) -> None:
    longer = kinemorph.simulate(library.double_pendulum(), 2.0, q=np.array([0.4, 0.2]), output_step=0.02)
    scene = scene_of({"short": swing, "long": longer}, fps=20.0)
    assert scene.times[-1] == pytest.approx(2.0)
    short = scene.figures[0]
    assert np.ptp(short.positions[scene.times >= 1.0], axis=0).max() < 1e-12
    ended = scene.series[0]
    assert ended.figure == "short" and np.isnan(ended.values[scene.times > 1.0]).all()


def test_a_run_that_begins_later_has_its_own_times() -> None:
    system = System(library.pendulum(), (elements.AppliedEffort("push", "q1", lambda t: 1.0 + 10.0 * t),))
    early = kinemorph.simulate(system, 0.1, q=[0.4], output_step=0.01)
    late = kinemorph.simulate(system, 0.15, q=[0.4], output_step=0.01, start=0.05)
    scene = scene_of({"early": early, "late": late}, times=[0.0, 0.05, 0.1, 0.15])
    lengths = [np.linalg.norm(figure.marks[-1].vectors, axis=1) for figure in scene.figures]
    unit = lengths[0][0]  # of 1 N m
    assert lengths[0] == pytest.approx(unit * np.array([1.0, 1.5, 2.0, 2.0]))
    assert lengths[1] == pytest.approx(unit * np.array([1.5, 1.5, 2.0, 2.5]))
    assert scene.figures[1].q[:, 0] == pytest.approx([late.at(t).q[0] for t in (0.05, 0.05, 0.1, 0.15)])
    kinetic = next(one for one in scene.series if one.figure == "late" and one.name == "energy.kinetic")
    assert np.isnan(kinetic.values[0]) and kinetic.values[1:] == pytest.approx(late["energy.kinetic"][[0, 5, 10]])
    assert scene_of(late, fps=100.0).times == pytest.approx(np.linspace(0.05, 0.15, 11))


def test_a_long_run_has_no_more_pictures_than_can_be_had(swing: Trajectory) -> None:
    segment = swing.segments[0]
    long = replace(swing, segments=(replace(segment, t=segment.t * 1e5),))
    times = scene_of(long, fps=1000.0, columns=()).times
    assert len(times) == MOST_FRAMES and times[-1] == pytest.approx(1e5)
    assert np.allclose(np.diff(times), times[1])


def test_a_run_that_failed_says_so_first(swing: Trajectory) -> None:
    failed = replace(swing, outcome=Outcome("failed", 0.4, "At t = 0.4 s steps became too short."))
    assert scene_of(failed).notes[0] == "the run failed: At t = 0.4 s steps became too short."
    assert scene_of({"a": swing, "b": failed}).notes[0].startswith("run 'b' failed")
    assert not scene_of(swing).notes


def test_titles_name_every_robot_once() -> None:
    robots = [library.pendulum(), library.crane(), library.pendulum(), library.scara()]
    assert scene_of(robots).title == "pendulum, crane and scara"


def test_cameras_go_along_with_a_robot_that_goes_very_far(swing: Trajectory) -> None:
    crate = RobotBuilder("crate").add(Body.box("crate", 1.0, (0.1, 0.1, 0.1))).joint("free", "free", "world", "crate")
    start = {"q": [0, 0, 0, 1, 0, 0, 0], "v": [40.0, 0, 0, 0, 0, 0]}
    flight = kinemorph.simulate(crate.build(), 1.0, **start)
    assert followed_body(scene_of(flight)) == "crate" and replay(flight).camera.follow == "crate"
    assert followed_body(scene_of([flight, flight])) is None and followed_body(scene_of(swing)) is None


def test_figures_in_one_place_differ_in_color(swing: Trajectory) -> None:
    def colors(scene: Scene) -> list[set[object]]:
        return [{p.color for p in one.parts if p.layer == "shapes" and p.owner >= 0} for one in scene.figures]

    first, *others = colors(scene_of([swing, swing, swing], spread=0))
    assert all(first.isdisjoint(other) for other in others) and others[0].isdisjoint(others[1])
    assert colors(scene_of([swing, swing])) == [first, first]


def test_traces_are_points_of_bodies() -> None:
    robot = library.hexapod24()
    scene = scene_of(robot, trace=["foot1", "trunk"])
    foot, trunk = scene.figures[0].traces
    frame = robot.frame("foot1")
    assert foot.at.owner == robot.body_names.index(frame.body) and np.allclose(foot.at.point, frame.placement.p)
    assert trunk.at.point == (0.0, 0.0, 0.0) and "traces" in scene.layers
    both = scene_of([robot, library.puma()], trace="flange")  # one of them has it
    assert [len(figure.traces) for figure in both.figures] == [0, 1]


@each_case(
    ("ask", "error", "sentence"),
    [
        (lambda run: scene_of([]), UnsupportedError, "there is nothing to show"),
        (lambda run: scene_of("arm.urdf"), ModelError, "model is 'arm.urdf'; expected a Robot, a System"),
        (lambda run: scene_of({"a": 3}), ModelError, "'a' is 3, an int; expected a Robot, a System"),
        (lambda run: scene_of(library.scara(), q=[0.0]), ShapeError, r"q has shape \(1,\); expected \(4,\)"),
        (lambda run: scene_of(library.pendulum(), q=[np.nan]), ShapeError, "finite numbers"),
        (lambda run: scene_of(run, q=[0.0, 0.0]), UnsupportedError, "q is given for a run"),
        (
            lambda run: scene_of(library.scara(), q="x"),
            ModelError,
            "'x' is the name of a start, and a Robot has no starts",
        ),
        (lambda run: scene_of(library.scara(), q={"nose": 1.0}), ShapeError, "no coordinate 'nose'"),
        (lambda run: scene_of(library.hexapod24(), q=np.zeros(25)), ShapeError, "quaternion of 'trunk_root' is zero"),
        (lambda run: scene_of([run, run], spread=np.nan), UnsupportedError, "spread is nan; expected a finite"),
        (lambda run: scene_of([run, run], spread=[1.0, 0.0]), UnsupportedError, "spread is"),
        (lambda run: scene_of(run, fps="60"), UnsupportedError, "fps is '60'"),
        (lambda run: scene_of(run, columns=[3]), UnsupportedError, "expected the name or a list of names of columns"),
        (lambda run: scene_of(run, trace="nose"), ModelError, "'nose'"),
        (lambda run: scene_of(run, columns="q.nose"), UnsupportedError, "the run has no column 'q.nose'"),
        (lambda run: scene_of(run, fps=0.0), UnsupportedError, "fps is 0; expected a number above 0"),
        (lambda run: scene_of(run, fps=np.nan), UnsupportedError, "fps is nan"),
        (lambda run: scene_of([run, run], spread=np.nan), UnsupportedError, "spread is nan; expected a finite"),
        (lambda run: scene_of([run, run], spread=[1.0, 2.0]), UnsupportedError, "spread is"),
    ],
)
def test_bad_wishes_are_told_in_a_sentence(swing: Trajectory, ask, error, sentence) -> None:
    with pytest.raises(error, match=sentence):
        ask(swing)


# ── modules ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_module_cube_is_a_die_with_four_ports() -> None:
    shapes = module_cube(0.1)
    bodies = [shape for shape in shapes if isinstance(shape, Box)]
    disks = [shape for shape in shapes if isinstance(shape, Cylinder)]
    assert len(bodies) == 1 and len(disks) == 4 + 21
    everything = np.concatenate([shape_surface(shape).points for shape in shapes])
    assert np.allclose(np.abs(everything).max(axis=0)[:2], 0.05)  # docked modules touch
    normals = {3: (1, 0, 0), 4: (-1, 0, 0), 5: (0, 1, 0), 2: (0, -1, 0), 1: (0, 0, 1), 6: (0, 0, -1)}
    for side, normal in normals.items():
        R = np.array(SIDES[side])
        assert np.allclose(R[:, 2], normal) and np.linalg.det(R) == pytest.approx(1.0)
        on_it = [disk for disk in disks if np.array(disk.placement.p) @ normal > 0.1 * BODY]
        assert len(on_it) == side + (side in (2, 3, 4, 5))
        assert len(set(PIPS[side])) == side
    plates = [disk for disk in disks if disk.radius > 0.02]
    orange = [disk for disk in plates if disk.color == ORANGE]
    assert len(orange) == 1 and np.allclose(orange[0].placement.p, (0.05 * (BODY + PLATE), 0.0, 0.0))
    assert len(module_cube(0.1, ports=(1,), front=None, pips=False)) == 2
    with pytest.raises(ModelError, match="a module cube has no side 7; expected numbers from 1 to 6"):
        module_cube(0.1, ports=(2, 7))


def test_a_robot_of_modules_is_shown_and_like_modules_share_their_surfaces() -> None:
    builder = RobotBuilder("two")
    for name in ("a", "b"):
        builder.add(
            Body(name, 0.3, inertia=((3e-4, 0.0, 0.0), (0.0, 3e-4, 0.0), (0.0, 0.0, 3e-4)), shapes=module_cube(0.08))
        )
    robot = builder.root("a", "free").joint("j", "revolute", "a", "b", axis=(0.0, 1.0, 0.0)).build()
    shown = parts(scene_of(System(robot, (elements.IMU("imu", body="a"),))), "shapes")
    assert len(shown) == 2 * 26 and len({id(part.surface) for part in shown}) == 26
