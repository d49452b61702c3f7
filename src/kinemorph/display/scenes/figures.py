"""A robot as parts of a scene, layer by layer: shapes, collision shapes, inertia, frames, joint axes and graph.

All parts are rigid and given in the frames of their bodies, so they are made once and only the bodies move.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import Pose
from kinemorph.display.canvas import depth_colors, own_color, said
from kinemorph.display.looks import outlines
from kinemorph.display.looks.outlines import read_mesh
from kinemorph.display.looks.poses import Poses, extent_of
from kinemorph.display.looks.quaternions import quaternions_of, rotated, without_jumps
from kinemorph.display.looks.solids import MESH_LIMIT, Grain, opacity, z_toward
from kinemorph.display.scenes.scene import WORLD_OWNER, Attachment, Color, Figure, Layer, Look, Part, Surface
from kinemorph.display.scenes.surfaces import look_surface, shape_surface
from kinemorph.errors import ModelWarning, users_level
from kinemorph.model.body import Body
from kinemorph.model.driven import all_joints_free, with_driven
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.robot import Robot
from kinemorph.model.shapes import GRAPHITE, Mesh, MeshFile, Shape
from kinemorph.model.topology import WORLD

# sizes as fractions of the robot's extent
TRIAD, AXIS, NODE, WIRE = 0.09, 0.2, 0.016, 0.004
THICKNESS = 0.006  # radius of lines
MANY, COARSE = 100, (8, 3)  # with more bodies than this, round shapes have these numbers of sides and points on an arc
SCENE_FACES, LEAST_FACES, MOST_FACES = 36_000, 800, 3_000  # of all meshes together; least and most of each
AXIS_COLORS: tuple[Color, ...] = ((0.82, 0.24, 0.30, 1.0), (0.23, 0.62, 0.36, 1.0), (0.18, 0.44, 0.73, 1.0))
JOINT_COLOR: Color = (0.70, 0.15, 0.12, 1.0)
GRAPH_COLOR: Color = (0.10, 0.12, 0.15, 1.0)
LOOP_COLOR: Color = (0.84, 0.37, 0.0, 1.0)
COLLISION_COLOR: Color = (0.20, 0.65, 0.35, 0.35)
INERTIA_COLOR: Color = (0.52, 0.38, 0.72, 0.40)
CENTER_COLOR: Color = (0.95, 0.77, 0.06, 1.0)


def figure_of(
    robot: Robot, q: npt.ArrayLike, times: Array | None = None, *, name: str | None = None, masses: bool = False
) -> Figure:
    """The figure of a robot in configurations q, shape (n, nq), with all layers except elements, loads and traces.

    `times` [s] (n,) matter where the time drives joints. With `masses`, bodies without shapes also show their inertia,
    as translucent cuboids.
    """
    if robot.driven:
        figure = figure_of(all_joints_free(robot), all_coordinates(robot, q, times), name=name, masses=masses)
        return replace(figure, driven={joint.name: joint.driven for joint in robot.driven})
    poses = Poses(robot, q)
    return placed_figure(robot, q, stacked_poses(robot, poses), extent_of(robot, poses), name, masses)


def all_coordinates(robot: Robot, q: npt.ArrayLike, times: Array | None = None) -> Array:
    """Coordinates of all joints, shape (n, n_all): those in q (n, nq), and those of driven joints at times [s] (n,)."""
    rows = np.atleast_2d(np.asarray(q, dtype=float))
    if not robot.driven:
        return rows
    t = np.zeros(len(rows)) if times is None else times
    every = [np.broadcast_to(x, len(rows)) for x in with_driven(robot, list(rows.T), {"t": t})]
    return np.stack(every, axis=-1)


def placed_figure(
    robot: Robot,
    q: npt.ArrayLike,
    placed: tuple[Array, Array],
    size: float,
    name: str | None = None,
    masses: bool = False,
) -> Figure:
    """The figure of a robot whose body poses are known.

    `placed` are positions (n, n_b, 3) [m] and quaternions (n, n_b, 4) wxyz; `size` [m] is the robot's extent. `q` and
    `masses` as in `figure_of`.
    """
    positions, quaternions = placed
    return Figure(
        name=robot.name.replace("_", " ") if name is None else name,
        robot=robot,
        q=np.atleast_2d(np.asarray(q, dtype=float)),
        positions=positions,
        quaternions=quaternions,
        parts=tuple(_parts(robot, size, masses)),
        masses=np.array([float(evaluate(body.mass)) for body in robot.bodies]),
        centers=np.array([evaluate_all(body.com) for body in robot.bodies], dtype=float).reshape(-1, 3),
        size=size,
    )


def stacked_poses(robot: Robot, poses: Poses) -> tuple[Array, Array]:
    """Positions (n, n_b, 3) [m] and unit quaternions (n, n_b, 4) wxyz of all n_b bodies at n times."""
    names = robot.body_names
    if not names:
        return np.zeros((poses.count, 0, 3)), np.zeros((poses.count, 0, 4))
    R = np.stack([poses.R[name] for name in names], axis=1)
    return np.stack([poses.p[name] for name in names], axis=1), without_jumps(quaternions_of(R))


def mesh_faces(robot: Robot) -> int:
    """The most faces for each mesh file of a robot, so that all together have about SCENE_FACES."""
    count = sum(isinstance(shape, MeshFile) for body in robot.bodies for shape in body.shapes)
    return int(np.clip(SCENE_FACES // max(count, 1), LEAST_FACES, MOST_FACES))


def lost_meshes(robot: Robot) -> dict[str, str]:
    """The meshes that cannot be shown, {name: why}: files that cannot be read, and meshes with too many faces."""
    faces, lost = mesh_faces(robot), dict[str, str]()
    for body in robot.bodies:
        for shape in body.shapes:
            if isinstance(shape, MeshFile) and shape.source not in lost and (why := read_mesh(shape, faces)[1]):
                lost[shape.source] = why
            elif isinstance(shape, Mesh) and len(shape.faces) > MESH_LIMIT:
                lost[body.name] = f"{body.name} has a mesh of {len(shape.faces)} faces, expected at most {MESH_LIMIT}."
    return lost


def mesh_note(robot: Robot) -> str:
    """One short sentence about meshes that cannot be shown, for pictures; empty if there are none."""
    lost, name = len(lost_meshes(robot)), robot.name.replace("_", " ")
    if lost < 2:
        return said("1 mesh of {name} cannot be shown: a warning says why", name=name) if lost else ""
    return said("{n} meshes of {name} cannot be shown: a warning says why", n=lost, name=name)


def warn_of_meshes(robot: Robot) -> None:
    """Gives one warning about all meshes of a robot that cannot be shown: why for the first, and the others' names."""
    lost = lost_meshes(robot)
    if lost:
        (_, reason), *others = lost.items()
        text = f"{len(lost)} meshes are not drawn; the first: {reason}" if others else f"a mesh is not drawn: {reason}"
        text += f" The others: {', '.join(name.rpartition('/')[2] for name, _ in others)}." if others else ""
        warnings.warn(f"robot '{robot.name}': {text}", ModelWarning, stacklevel=users_level())


# ── layers ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _parts(robot: Robot, size: float, masses: bool) -> Iterator[Part]:
    joints = _joints_on(robot)
    grain = Grain(THICKNESS * size, *(COARSE if len(robot.bodies) > MANY else ()))
    yield from shape_parts(robot, size, grain, masses=masses)
    for owner, body in enumerate(robot.bodies):
        for shape in outlines.readable(body.collisions, LEAST_FACES):
            yield _solid(f"{body.name} collision", owner, shape, COLLISION_COLOR, "collisions", grain)
        yield from _inertia(owner, body, size)
        yield from _graph(owner, body, joints[body.name], size)
    for shape in outlines.mounts(robot, size):
        yield _solid("ground", WORLD_OWNER, shape, (*GRAPHITE[:3], 1.0), "shapes", grain)
    for frame in robot.frames:
        yield from _triad(frame.name, owner_of(robot, frame.body), evaluate_all(frame.placement), size)
    for joint in (*robot.joints, *robot.loops):
        yield from _axes(robot, joint, size)


def shape_parts(robot: Robot, size: float, grain: Grain, *, masses: bool = False) -> Iterator[Part]:
    """The shapes of all bodies; `size` [m] is the extent of the robot, `masses` as in `figure_of`."""
    palette, faces = depth_colors(robot), mesh_faces(robot)
    for owner, body in enumerate(robot.bodies):
        for shape in outlines.shapes_of(robot, body, size, masses=masses, faces=faces):
            color = (*own_color(shape, palette[body.name]), opacity(shape))
            yield _solid(body.name, owner, shape, color, "shapes", grain)


def owner_of(robot: Robot, body: str) -> int:
    """The owner number of a body: its index in the robot, or WORLD_OWNER for "world"."""
    return WORLD_OWNER if body == WORLD else robot.body_names.index(body)


def _solid(name: str, owner: int, shape: Shape, color: Sequence[float], layer: Layer, grain: Grain) -> Part:
    r, g, b, a = (float(x) for x in color)
    return Part(name, owner, shape_surface(shape, grain), (r, g, b, a), layer)


def _inertia(owner: int, body: Body, size: float) -> Iterator[Part]:
    """The uniform ellipsoid with a body's mass and inertia, at its center of mass; nothing for a body without mass.

    Its radii are at least a small part of `size` [m], the extent of the robot.
    """
    if float(evaluate(body.mass)) <= 0.0:
        return
    com = np.array(evaluate_all(body.com), dtype=float)
    edges, axes = outlines.inertia_box(body)
    # second moments about the middle planes: m e^2 / 12 for a cuboid with edge e, m r^2 / 5 for an ellipsoid
    radii = np.maximum(edges * np.sqrt(5.0 / 12.0), 0.004 * size)
    yield Part(f"{body.name} inertia", owner, _stretched("ball", axes, radii, com), INERTIA_COLOR, "inertia")


def _graph(owner: int, body: Body, joints: Sequence[tuple[Joint, Pose, Color]], size: float) -> Iterator[Part]:
    """A ball at a body's center of mass, and lines from there to its joints; lines to loop joints are orange."""
    center = np.array(evaluate_all(body.com), dtype=float)
    node = _stretched("ball", np.eye(3), np.full(3, NODE * size), center)
    if float(evaluate(body.mass)) > 0.0:
        yield Part(f"{body.name} center", owner, node, CENTER_COLOR, "centers")
    yield Part(f"{body.name} node", owner, node, GRAPH_COLOR, "graph")
    for joint, placement, color in joints:
        point = np.array(placement.p, dtype=float)
        yield from _wire(f"{joint.name} edge", owner, center, point, WIRE * size, color, "graph")


def _joints_on(robot: Robot) -> dict[str, list[tuple[Joint, Pose, Color]]]:
    """For each body, its joints with their placements on the body and their colors in the graph."""
    found: dict[str, list[tuple[Joint, Pose, Color]]] = {name: [] for name in (*robot.body_names, WORLD)}
    for joints, color in ((robot.joints, GRAPH_COLOR), (robot.loops, LOOP_COLOR)):
        for joint in joints:
            found[joint.parent].append((joint, evaluate_all(joint.placement), color))
            found[joint.child].append((joint, evaluate_all(joint.child_placement), color))
    return found


def _triad(name: str, owner: int, placement: Pose, size: float) -> Iterator[Part]:
    R, p = np.array(placement.R, dtype=float), np.array(placement.p, dtype=float)
    for axis, color in enumerate(AXIS_COLORS):
        yield from _wire(f"{name} {'xyz'[axis]}", owner, p, p + TRIAD * size * R[:, axis], WIRE * size, color, "frames")


def _axes(robot: Robot, joint: Joint, size: float) -> Iterator[Part]:
    """A line along every axis of a joint, fixed to its child body."""
    placement = evaluate_all(joint.child_placement)
    R, p = np.array(placement.R, dtype=float), np.array(placement.p, dtype=float)
    for number in range(joint.motion.axes):
        half = 0.5 * AXIS * size * R @ np.array(joint.axes[number], dtype=float)
        owner = owner_of(robot, joint.child)
        yield from _wire(f"{joint.name} axis", owner, p - half, p + half, WIRE * size, JOINT_COLOR, "joints")


def _wire(name: str, owner: int, start: Array, end: Array, radius: float, color: Color, layer: Layer) -> Iterator[Part]:
    """A thin rod between two points (3,) [m] of a body; nothing where the points coincide."""
    along = end - start
    length = float(np.linalg.norm(along))
    if length > 1e-12:
        surface = _stretched("rod", z_toward(along / length), np.array([radius, radius, length]), start)
        yield Part(name, owner, surface, color, layer)


def _stretched(look: Look, R: Array, scale: Array, p: Array) -> Surface:
    """The surface of a look, transformed by x -> R diag(scale) x + p, with the normals of the result."""
    unit = look_surface(look)
    normals = (unit.normals / scale) @ R.T
    normals /= np.sqrt(np.einsum("ij,ij->i", normals, normals))[:, None]
    image = np.column_stack([R * scale, p])
    return Surface((unit.points * scale) @ R.T + p, normals, unit.faces, unit, image)


# ── points and axes over time ─────────────────────────────────────────────────────────────────────────────────────────


def fixed(robot: Robot, body: str, point: Any = (0.0, 0.0, 0.0)) -> Attachment:
    """A point [m], given in a body, a frame or "world", as a point fixed to the body of that frame."""
    frame = robot.frame(body)  # an unknown name raises an error that lists the known ones
    T = evaluate_all(frame.placement)
    x, y, z = np.array(T.R, dtype=float) @ np.array(evaluate_all(tuple(point)), dtype=float) + np.array(
        T.p, dtype=float
    )
    return Attachment(owner_of(robot, frame.body), (float(x), float(y), float(z)))


def joint_end(robot: Robot, joint: Joint) -> Attachment:
    """The origin of a joint's frame as a point fixed to its child body."""
    x, y, z = (float(value) for value in evaluate_all(joint.child_placement).p)
    return Attachment(owner_of(robot, joint.child), (x, y, z))


def positions_of(figure: Figure, at: Attachment) -> Array:
    """The positions of a point in the world at all times, shape (n, 3) [m], without the figure's offset."""
    return turned(figure, at.owner, at.point) + (figure.positions[:, at.owner] if at.owner != WORLD_OWNER else 0.0)


def turned(figure: Figure, owner: int, vector: Sequence[float] | Array) -> Array:
    """A vector in body axes, (3,) or one for each time (n, 3), in world axes at all times, shape (n, 3)."""
    vectors: Array = np.broadcast_to(np.asarray(vector, dtype=float), (len(figure.positions), 3))
    return vectors if owner == WORLD_OWNER else rotated(figure.quaternions[:, owner], vectors)


def axis_of(figure: Figure, joint: Joint) -> Array:
    """The unit vector along a joint's axis in the world at all times, shape (n, 3)."""
    R = np.array(evaluate_all(joint.child_placement).R, dtype=float)
    return turned(figure, owner_of(figure.robot, joint.child), R @ np.array(joint.axis, dtype=float))
