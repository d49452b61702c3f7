"""What to draw where the model says nothing: links for bodies without shapes, mounts for joints on the ground.

A link is tubes from the body's joint to every joint and frame that sits on it and, where none passes by, to the center
of mass. Around that center stands, translucent, the uniform cuboid with the body's mass and inertia; one that is
large beside the robot is drawn smaller. The ground end of a hinge gets a bracket, that of a slide a rail.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinemorph.algebra.groups import IDENTITY, Pose, act
from kinemorph.display.mesh_surfaces import read_mesh
from kinemorph.display.solids import Array, z_toward
from kinemorph.model.body import Body
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.robot import Robot
from kinemorph.model.shapes import GRAPHITE, STEEL, Box, Capsule, Line, MeshFile, Shape, Sphere
from kinemorph.model.topology import WORLD

# sizes as parts of the robot's extent
TUBE = 0.012  # radius of a link
BALL = 0.02  # radius of a joint
POINT_MASS = 0.03  # radius of a body without extent
LEAST_EDGE, LARGEST_EDGE = 0.04, 0.6  # of the cuboid that stands for an inertia
ASIDE = 0.03  # distance from which on a center of mass is not on a link

GLASS = (*STEEL, 0.22)


def shapes_of(robot: Robot, body: Body, size: float) -> Sequence[Shape]:
    """A body's own shapes, or automatic ones. `size` [m] is the extent of the robot. Mesh files are read here."""
    seen = [shape if not isinstance(shape, MeshFile) else read_mesh(shape)[0] for shape in body.shapes]
    return [shape for shape in seen if shape is not None] or automatic_shapes(robot, body, size)


def automatic_shapes(robot: Robot, body: Body, size: float) -> list[Shape]:
    """Tubes to the joints and frames on a body, a ball at its joint, and its mass as a translucent cuboid."""
    joint = robot.parent_joint[body.name]
    root = _point(evaluate_all(joint.child_placement).p)
    ends = [evaluate_all(other.placement).p for other in (*robot.joints, *robot.loops) if other.parent == body.name]
    ends += [evaluate_all(loop.child_placement).p for loop in robot.loops if loop.child == body.name]
    ends += [evaluate_all(frame.placement).p for frame in robot.frames if frame.body == body.name]
    points = [_point(end) for end in ends]
    mass, com = float(evaluate(body.mass)), _point(evaluate_all(body.com))
    if mass > 0.0 and all(_distance(com, root, point) > ASIDE * size for point in (root, *points)):
        points.append(com)
    shapes: list[Shape] = [_link(root, end, TUBE * size) for end in points if np.linalg.norm(end - root) > 1e-9]
    if joint.nv and joint.kind != "free":
        shapes.append(Sphere(BALL * size, Pose(IDENTITY.R, _triple(root)), GRAPHITE))
    return [*shapes, *_mass(body, mass, com, size)]


def _mass(body: Body, mass: float, com: Array, size: float) -> list[Shape]:
    """The uniform cuboid with a body's mass and inertia, shrunk to LARGEST_EDGE; a ball for a point mass."""
    if mass <= 0.0:
        return []
    edges, axes = inertia_box(body)
    if edges.max() <= 0.0:
        return [Sphere(POINT_MASS * size, Pose(IDENTITY.R, _triple(com)))]
    edges = np.maximum(edges * min(1.0, LARGEST_EDGE * size / edges.max()), LEAST_EDGE * size)
    placement = Pose(tuple(tuple(float(x) for x in row) for row in axes), _triple(com))
    return [Box(_triple(edges), placement, GLASS)]


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


def _link(start: Array, end: Array, radius: float) -> Shape:
    """A tube with round ends between two points."""
    length = float(np.linalg.norm(end - start))
    R = tuple(tuple(float(x) for x in row) for row in z_toward((end - start) / length))
    return Capsule(radius, length, Pose(R, _triple(0.5 * (start + end))))


def _distance(point: Array, start: Array, end: Array) -> float:
    """How far a point is from the line between two points."""
    along = end - start
    share = np.clip((point - start) @ along / max(float(along @ along), 1e-300), 0.0, 1.0)
    return float(np.linalg.norm(point - start - share * along))


def _point(values: Sequence[float]) -> Array:
    return np.array(values, dtype=float)


def _triple(values: Array) -> tuple[float, float, float]:
    return float(values[0]), float(values[1]), float(values[2])


def mounts(robot: Robot, size: float) -> list[Shape]:
    """Shapes on the ground for the joints that start there: a bracket for a hinge, a rail for a slide."""
    made: list[Shape] = []
    for joint in (*robot.joints, *robot.loops):
        if joint.parent == WORLD and joint.nv and joint.kind not in ("free", "planar"):
            made.append(_rail(joint, size) if joint.kind == "prismatic" else _bracket(joint, size))
    return made


def _bracket(joint: Joint, size: float) -> Shape:
    edge = 0.05 * size
    return Box((edge, edge, edge), Pose(IDENTITY.R, evaluate_all(joint.placement).p), GRAPHITE)


def _rail(joint: Joint, size: float) -> Shape:
    """A line along the axis, as long as the limits say or as the robot is wide."""
    reach = 0.6 * size
    low, high = (float(np.clip(limit, -reach, reach)) for limit in (joint.lower[0], joint.upper[0]))
    placement = evaluate_all(joint.placement)
    ends = [act(placement, tuple(x * float(u) for u in joint.axis)) for x in (low, high)]
    return Line(ends[0], ends[1], color=GRAPHITE)


def extent(robot: Robot, poses: dict[str, Pose]) -> float:
    """The size of a robot [m]: the diagonal of the box round its joints, centers of mass and frames.

    Where all these are one point, the largest inertia gives the size.
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
