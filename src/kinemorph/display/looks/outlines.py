"""Simple shapes where the model has none: links for bodies without shapes, rods to joints that lie off the shapes of
their body, mounts for joints on the ground.

A link consists of tapered rods from the body's joint to every other joint and frame on the body, and to the center of
mass where no rod passes near it. The shape of a joint depends on its kind: a cylinder along the axis of a revolute
joint, a box on a prismatic joint, a ball for a spherical joint. The body's mass is shown as a translucent box: the
uniform cuboid with the same mass and inertia, reduced where it is large compared with the robot, and opaque where the
body has no other shape. A prismatic joint gets a rail, and a joint on the ground a bracket.

A body whose mesh files cannot be read is drawn with its collision shapes, or else with these simple shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import IDENTITY, Pose, act
from kinemorph.display.looks.solids import z_toward
from kinemorph.errors import MissingExtraError, ModelError
from kinemorph.model.body import Body
from kinemorph.model.joint import Joint
from kinemorph.model.meshes import surface
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.robot import Robot
from kinemorph.model.shapes import (
    GRAPHITE,
    STEEL,
    Box,
    Capsule,
    Color,
    Cylinder,
    Ellipsoid,
    Frustum,
    HalfEllipsoid,
    Line,
    Mesh,
    MeshFile,
    Shape,
    Sphere,
)
from kinemorph.model.topology import WORLD

# sizes as fractions of the robot's extent
ROOT, TIP = 0.017, 0.010  # radii of a link at its joint and at its end
BALL = 0.023  # radius of a joint
BARREL = (0.021, 0.052)  # radius and length of a revolute joint
SLEEVE = (0.042, 0.042, 0.07)  # edges of a prismatic joint, the last one along its axis
POINT_MASS = 0.03  # radius of the ball that shows a point mass
LEAST_EDGE, LARGEST_EDGE = 0.04, 0.4  # edges of the cuboid that shows an inertia
OFF, ROD = 0.02, 0.006  # joints farther from the shapes of their body get a rod of this radius
ASIDE = 0.03  # a center of mass farther than this from all rods gets a rod of its own

LIGHT = 1e-5  # a mass below this fraction of the robot's is not shown: that of a camera's frame in a URDF file

Solid = Box | Sphere | Cylinder | Capsule | Frustum | Ellipsoid | HalfEllipsoid
MESH_FACES = 2_000  # the most triangles with which a mesh file is drawn
GLASS = (*STEEL, 0.22)


def shapes_of(
    robot: Robot, body: Body, size: float, *, masses: bool = True, faces: int = MESH_FACES
) -> Sequence[Shape]:
    """A body's own shapes, with rods to joints that lie off them; automatic shapes where it has none.

    Where no own shape can be drawn, because mesh files cannot be read, the collision shapes take their place.

    `size` [m] is the extent of the robot. Mesh files are read here and simplified to at most `faces` triangles each.
    `masses` as in `automatic_shapes`.
    """
    if is_carrier(robot, body):
        return []
    own = readable(body.shapes, faces) or (readable(body.collisions, faces) if body.shapes else [])
    return [*own, *rods_to_joints(robot, body, own, size)] or automatic_shapes(robot, body, size, masses=masses)


def readable(shapes: Sequence[Shape], faces: int) -> list[Shape]:
    """The shapes without the mesh files that cannot be read; the others as meshes of at most `faces` triangles."""
    seen = [shape if not isinstance(shape, MeshFile) else read_mesh(shape, faces)[0] for shape in shapes]
    return [shape for shape in seen if shape is not None]


def is_carrier(robot: Robot, body: Body) -> bool:
    """Whether a body is nothing but a place between two joints, and is not drawn: it has no mass and no shape.

    In a robot with a body that has mass and no shape, all bodies without shapes get automatic ones.
    """
    if body.shapes or not is_massless(body):
        return False
    return all(other.shapes or is_massless(other) for other in robot.bodies) and any(b.shapes for b in robot.bodies)


def is_massless(body: Body) -> bool:
    """Whether the mass of a body is 0."""
    return float(evaluate(body.mass)) == 0.0


def rods_to_joints(robot: Robot, body: Body, shapes: Sequence[Shape], size: float) -> list[Shape]:
    """Rods from the solid shapes of a body to its moving joints that are farther from them than OFF times `size` [m].

    There are none for a body with a mesh: the surface of a mesh need not reach its joints.
    """
    solids = [shape for shape in shapes if isinstance(shape, Solid)]
    if not solids or len(solids) < len(shapes):
        return []
    joints = [
        joint for joint in (*robot.joints, *robot.loops) if joint.motion.nv and joint.kind not in ("free", "planar")
    ]
    places = [joint.placement.p for joint in joints if joint.parent == body.name]
    places += [joint.child_placement.p for joint in joints if joint.child == body.name]
    found: list[Shape] = []
    for place in places:
        end = _point(evaluate_all(place))
        start = min((_nearest(solid, end) for solid in solids), key=lambda at: float(np.linalg.norm(end - at)))
        length = float(np.linalg.norm(end - start))
        if length > OFF * size:
            rod = Cylinder(
                ROD * size, length, Pose(_rows(z_toward((end - start) / length)), _triple((start + end) / 2))
            )
            found += [rod, Sphere(ROD * size, Pose(IDENTITY.R, _triple(end)))]
    return found


def _nearest(solid: Solid, point: Array) -> Array:
    """The point of a solid that is nearest to a point (3,) [m], both in the axes of the body."""
    placement = evaluate_all(solid.placement)
    R, center = np.array(placement.R, dtype=float), _point(placement.p)
    x = R.T @ (point - center)
    if isinstance(solid, Box):
        half = 0.5 * _point(evaluate_all(solid.size))
        nearest: Array = center + R @ np.clip(x, -half, half)
        return nearest
    if isinstance(solid, Ellipsoid | HalfEllipsoid):  # nearly: along the line to the middle
        radii = _point(evaluate_all(solid.radii))
        low = np.array([-np.inf, -np.inf, 0.0 if isinstance(solid, HalfEllipsoid) else -np.inf])
        inside = np.maximum(x, low) / radii
        nearest = center + R @ (radii * inside / max(1.0, float(np.linalg.norm(inside))))
        return nearest
    if isinstance(solid, Frustum):
        radius = max(float(evaluate(solid.bottom)), float(evaluate(solid.top)))
    else:
        radius = float(evaluate(solid.radius))
    half_length = 0.0 if isinstance(solid, Sphere) else 0.5 * float(evaluate(solid.length))
    axis = np.array([0.0, 0.0, np.clip(x[2], -half_length, half_length)])
    away = x - axis
    if not isinstance(solid, Sphere | Capsule):
        away[2] = 0.0
    nearest = center + R @ (axis + away * min(1.0, radius / max(float(np.linalg.norm(away)), 1e-300)))
    return nearest


def read_mesh(shape: MeshFile, faces: int = MESH_FACES) -> tuple[Mesh | None, str]:
    """(mesh with at most `faces` triangles, ""), or (None, the reason) where the file cannot be read."""
    try:
        return surface(shape, faces=faces), ""
    except (ModelError, MissingExtraError) as error:
        return None, str(error)


def automatic_shapes(robot: Robot, body: Body, size: float, *, masses: bool = True) -> list[Shape]:
    """Simple shapes of a body: rods to its joints and frames, its own joint, and its mass as a translucent cuboid.

    With masses=False, for scenes that show inertia as a layer, a body drawn as one or two rods gets no cuboid.
    `size` [m] is the extent of the robot.
    """
    joint = robot.parent_joint[body.name]
    root = _point(evaluate_all(joint.child_placement).p)
    closing = [loop for loop in robot.loops if loop.child == body.name]
    leaving = [other for other in (*robot.joints, *robot.loops) if other.parent == body.name]
    ends = [evaluate_all(other.placement).p for other in leaving if not _is_light_tip(robot, other)]
    ends += [evaluate_all(loop.child_placement).p for loop in closing]
    ends += [evaluate_all(frame.placement).p for frame in robot.frames if frame.body == body.name]
    points = [_point(end) for end in ends]
    mass, com = float(evaluate(body.mass)), _point(evaluate_all(body.com))
    if mass > 0.0 and all(_distance(com, root, point) > ASIDE * size for point in (root, *points)):
        points.append(com)
    apart = [point for point in points if np.linalg.norm(point - root) > 1e-9]
    shapes = [shape for end in apart for shape in _link(root, end, size)]
    shapes += [shape for one in (joint, *closing) for shape in joint_shapes(one, size)]
    shapes += [_rail(slide, size) for slide in robot.joints if slide.parent == body.name and slide.kind in SLIDES]
    if apart and not joint_shapes(joint, size):
        shapes.append(Sphere(ROOT * size, Pose(IDENTITY.R, _triple(root))))
    lost = bool(body.shapes)  # its mesh files cannot be read
    whole = (masses or lost or not apart or len(apart) > 2) and not is_light(robot, body)
    reach = 2.0 * max(float(np.linalg.norm(point - com)) for point in (root, *points)) if lost else 0.0
    largest = max(LARGEST_EDGE * size, reach)  # as long as the way between its joints
    return [*shapes, *(_mass(body, mass, com, size, largest, GLASS if shapes else STEEL) if whole else [])]


def is_light(robot: Robot, body: Body) -> bool:
    """Whether a body has a mass that is next to nothing beside that of the robot."""
    return 0.0 < float(evaluate(body.mass)) < LIGHT * robot.total_mass


def _is_light_tip(robot: Robot, joint: Joint) -> bool:
    """Whether a joint only fixes a body that is light and carries nothing, as a camera's frame: no rod leads there."""
    if joint.motion.nv or joint.child == WORLD or any(other.parent == joint.child for other in robot.joints):
        return False
    return is_light(robot, robot.body(joint.child))


def joint_shapes(joint: Joint, size: float) -> list[Shape]:
    """The shapes that show a joint, in the frame of its child body, by its kind (see JOINT_SHAPES).

    `size` [m] is the extent of the robot.
    """
    T = evaluate_all(joint.child_placement)
    R, p = np.array(T.R, dtype=float), _triple(_point(T.p))
    axes = [R @ np.array(axis, dtype=float) for axis in joint.axes[: joint.motion.axes]]
    make = JOINT_SHAPES.get(joint.kind)
    placed = [Pose(_rows(z_toward(axis)), p) for axis in axes] or [Pose(IDENTITY.R, p)]
    return [] if make is None else [make(placement, size) for placement in placed]


def _barrel(placement: Pose, size: float) -> Shape:
    return Cylinder(BARREL[0] * size, BARREL[1] * size, placement, GRAPHITE)


def _sleeve(placement: Pose, size: float) -> Shape:
    a, b, c = SLEEVE
    return Box((a * size, b * size, c * size), placement, GRAPHITE)


def _ball(placement: Pose, size: float) -> Shape:
    return Sphere(BALL * size, placement, GRAPHITE)


JOINT_SHAPES: dict[str, Callable[[Pose, float], Shape]] = {
    "revolute": _barrel,
    "helical": _barrel,
    "cylindrical": _barrel,
    "universal": _barrel,
    "prismatic": _sleeve,
    "gimbal": _ball,
    "spherical": _ball,
    "point_on_line": _ball,
    "point_on_plane": _ball,
}
SLIDES = ("prismatic", "point_on_line")  # kinds of joints that are drawn with a rail


def _mass(body: Body, mass: float, com: Array, size: float, largest: float, color: Color) -> list[Shape]:
    """The uniform cuboid with a body's mass and inertia, with edges limited to the range from LEAST_EDGE to
    `largest` [m]; a ball for a point mass; nothing without mass.

    `com` (3,) is the center of mass [m], `size` [m] the extent of the robot.
    """
    if mass <= 0.0:
        return []
    edges, axes = inertia_box(body)
    if edges.max() <= 0.0:
        return [Sphere(POINT_MASS * size, Pose(IDENTITY.R, _triple(com)))]
    edges = np.maximum(edges * min(1.0, largest / edges.max()), LEAST_EDGE * size)
    placement = Pose(_rows(axes), _triple(com))
    return [Box(_triple(edges), placement, color)]


def inertia_box(body: Body) -> tuple[Array, Array]:
    """Edges [m] and axes (columns, right-handed) of the uniform cuboid with a body's mass and inertia."""
    mass = float(evaluate(body.mass))
    moments, axes = np.linalg.eigh(np.array(evaluate_all(body.inertia), dtype=float))
    if mass <= 0.0:
        return np.zeros(3), np.eye(3)
    squares = 6.0 / mass * (moments.sum() - 2.0 * moments)  # 12 (Iy + Iz - Ix) / 2 m, and so on
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] *= -1.0
    return np.sqrt(np.maximum(squares, 0.0)), axes


def _link(start: Array, end: Array, size: float) -> list[Shape]:
    """A tapered rod between two points (3,) [m], with a round end; `size` [m] is the extent of the robot."""
    length = float(np.linalg.norm(end - start))
    R = _rows(z_toward((end - start) / length))
    rod = Frustum(ROOT * size, TIP * size, length, Pose(R, _triple(0.5 * (start + end))))
    return [rod, Sphere(TIP * size, Pose(IDENTITY.R, _triple(end)))]


def _distance(point: Array, start: Array, end: Array) -> float:
    """The distance [m] of a point from the line segment between two points."""
    along = end - start
    share = np.clip((point - start) @ along / max(float(along @ along), 1e-300), 0.0, 1.0)
    return float(np.linalg.norm(point - start - share * along))


def _point(values: Sequence[float]) -> Array:
    return np.array(values, dtype=float)


def _rows(R: Array) -> tuple[tuple[float, float, float], ...]:
    return tuple(_triple(row) for row in R)


def _triple(values: Array) -> tuple[float, float, float]:
    return float(values[0]), float(values[1]), float(values[2])


def mounts(robot: Robot, size: float) -> list[Shape]:
    """Shapes on the ground for the joints whose parent is the world: a rail for a prismatic joint, else a bracket.

    `size` [m] is the extent of the robot.
    """
    made: list[Shape] = []
    for joint in (*robot.joints, *robot.loops):
        if joint.child == WORLD or is_carrier(robot, robot.body(joint.child)):
            continue  # a loop may end at the world
        if joint.parent == WORLD and joint.motion.nv and joint.kind not in ("free", "planar", "point_on_plane"):
            made.append(_rail(joint, size) if joint.kind in SLIDES else _bracket(joint, size))
    return made


def _bracket(joint: Joint, size: float) -> Shape:
    edge = 0.05 * size
    return Box((edge, edge, edge), Pose(IDENTITY.R, evaluate_all(joint.placement).p), GRAPHITE)


def _rail(joint: Joint, size: float) -> Shape:
    """A line along a joint's axis between its position limits, cut off at 0.6 of the robot's extent `size` [m]."""
    reach = 0.6 * size
    low, high = (float(np.clip(limit, -reach, reach)) for limit in (joint.lower[0], joint.upper[0]))
    placement = evaluate_all(joint.placement)
    ends = [act(placement, tuple(x * float(u) for u in joint.axis)) for x in (low, high)]
    return Line(ends[0], ends[1], color=GRAPHITE)


def extent(robot: Robot, poses: dict[str, Pose]) -> float:
    """The size of a robot [m]: the diagonal of the box around its joints, centers of mass and frames.

    Where all of these coincide, the size follows from the largest inertia. `poses` are by body and frame name.
    """
    points: list[Array] = []
    for body in robot.bodies:
        points += [np.array(poses[body.name].p), np.array(act(poses[body.name], evaluate_all(body.com)))]
    points += [np.array(poses[frame.name].p) for frame in robot.frames]
    if not points:
        return 1.0
    spread = float(np.linalg.norm(np.ptp(np.array(points, dtype=float), axis=0)))
    if spread < 1e-3:
        spread = max(float(inertia_box(body)[0].max()) for body in robot.bodies) / LARGEST_EDGE
    return max(spread, 1e-3)
