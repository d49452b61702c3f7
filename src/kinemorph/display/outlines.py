"""What to draw where the model says nothing: bones for bodies without shapes, mounts for joints on the ground.

A bone runs from the body's origin to every joint and frame that sits on it; a body at the end of a branch gets the box
of a uniform solid with its mass and inertia. The ground end of a hinge gets a bracket, that of a slide a rail.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinemorph.algebra.groups import IDENTITY, Pose, act
from kinemorph.display.solids import Array
from kinemorph.model.body import Body
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.robot import Robot
from kinemorph.model.shapes import GRAPHITE, Box, Line, Shape, Sphere
from kinemorph.model.topology import WORLD

LEAST_EDGE = 0.15  # of the longest edge, for the box that stands for an inertia


def shapes_of(robot: Robot, body: Body, size: float) -> Sequence[Shape]:
    """A body's own shapes, or automatic ones. `size` [m] is the extent of the robot, for joints' and balls' radii."""
    return body.shapes or automatic_shapes(robot, body, size)


def automatic_shapes(robot: Robot, body: Body, size: float) -> list[Shape]:
    """Bones to the joints and frames on a body, a ball at its joint, at the end of a branch its inertia as a box."""
    ends = [evaluate_all(joint.placement).p for joint in (*robot.joints, *robot.loops) if joint.parent == body.name]
    ends += [evaluate_all(joint.child_placement).p for joint in robot.loops if joint.child == body.name]
    tips = [evaluate_all(frame.placement).p for frame in robot.frames if frame.body == body.name]
    root = evaluate_all(robot.parent_joint[body.name].child_placement).p
    bones: list[Shape] = [Line(root, end) for end in (*ends, *tips) if np.linalg.norm(np.subtract(end, root)) > 1e-9]
    balls: list[Shape] = [Sphere(0.02 * size, Pose(IDENTITY.R, root), GRAPHITE)]
    return [*bones, *balls, *(inertia_box(body, root) if not ends else ())]


def inertia_box(body: Body, root: tuple[float, ...]) -> list[Shape]:
    """The uniform cuboid with a body's mass and inertia, held by a line; nothing for a point or a massless body."""
    mass = evaluate(body.mass)
    com = tuple(float(x) for x in evaluate_all(body.com))
    moments, axes = np.linalg.eigh(np.array(evaluate_all(body.inertia), dtype=float))
    if mass <= 0.0 or moments.max() <= 0.0:
        return []
    squares = 6.0 / mass * (moments.sum() - 2.0 * moments)  # 12 (Iy + Iz - Ix) / 2 m, and so on
    edges = np.sqrt(np.maximum(squares, 0.0))
    edges = np.maximum(edges, LEAST_EDGE * edges.max())
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] *= -1.0
    placement = Pose(tuple(tuple(float(x) for x in row) for row in axes), com)
    box = Box((float(edges[0]), float(edges[1]), float(edges[2])), placement)
    start = (float(root[0]), float(root[1]), float(root[2]))
    return [Line(start, (com[0], com[1], com[2])), box]


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
    """The size of a robot [m]: the diagonal of the box round its joints, centers of mass and frames, at least 1 mm."""
    points: list[Array] = []
    for body in robot.bodies:
        points += [np.array(poses[body.name].p), np.array(act(poses[body.name], evaluate_all(body.com)))]
    points += [np.array(poses[frame.name].p) for frame in robot.frames]
    if not points:
        return 1.0
    return max(float(np.linalg.norm(np.ptp(np.array(points, dtype=float), axis=0))), 1e-3)
