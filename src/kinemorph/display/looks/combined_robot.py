"""One robot that stands for all robots of a run with docking events: it has all their bodies, each on a free joint.

When robots dock, their joints and so their coordinates change, but their bodies keep names and shapes. With a free
joint for each body, one configuration poses all bodies at any time, so such a run is shown like any other.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.display.canvas import depth_colors, own_color
from kinemorph.display.looks import outlines
from kinemorph.display.looks.poses import Poses, extent_of
from kinemorph.display.looks.quaternions import quaternions_of, without_jumps
from kinemorph.frozen import kept_with
from kinemorph.model.body import Body
from kinemorph.model.joint import Joint
from kinemorph.model.robot import Frame, Robot
from kinemorph.model.shapes import Shape
from kinemorph.model.topology import WORLD
from kinemorph.simulation.results.body_poses import body_poses, run_robots
from kinemorph.simulation.results.trajectory import Trajectory


@kept_with
def robot_of(trajectory: Trajectory) -> Robot:
    """The robot of a run; for a run with docking events, the robot that stands for all its robots."""
    robots = run_robots(trajectory)
    return robots[0] if len(robots) == 1 else _combined(trajectory, robots)


def configurations(trajectory: Trajectory, times: Array | None = None) -> Array:
    """Configurations of `robot_of` a run at times [s] within it, or at its samples, shape (n, nq).

    At times when a body does not exist, it has its last pose before, or else its first pose after.
    """
    if len(trajectory.stretches) == 1:
        return trajectory.q if times is None else trajectory.at(times).q
    poses = body_poses(trajectory, times)
    known = np.isfinite(poses.sum(axis=(2, 3)))
    for body in range(poses.shape[1]):
        here = np.flatnonzero(known[:, body])
        if len(here):
            rows = here[np.maximum(np.searchsorted(here, np.arange(len(poses)), side="right") - 1, 0)]
            poses[:, body] = poses[rows, body]
        else:  # the body exists at none of the times
            poses[:, body] = np.eye(4)
    turns = without_jumps(quaternions_of(poses[..., :3, :3]))
    return np.concatenate([poses[..., :3, 3], turns], axis=2).reshape(len(poses), -1)


def _combined(trajectory: Trajectory, robots: tuple[Robot, ...]) -> Robot:
    """A robot with all bodies and frames of `robots`, each body on its own free joint."""
    first = robots[0]
    size = extent_of(first, Poses(first, trajectory.stretches[0].segments[0].q[:1]))
    bodies: dict[str, Body] = {}
    frames: dict[str, Frame] = {}
    for robot in robots:
        palette = depth_colors(robot)
        for body in robot.bodies:
            if body.name not in bodies:
                seen = body.shapes or outlines.automatic_shapes(robot, body, size, masses=False)
                shapes = tuple(_painted(shape, palette[body.name]) for shape in seen)
                bodies[body.name] = replace(body, shapes=shapes)
        frames |= {frame.name: frame for frame in robot.frames if frame.name not in frames}
    joints = tuple(_free(name) for name in bodies)
    return Robot(first.name, tuple(bodies.values()), joints, frames=tuple(frames.values()), gravity=first.gravity)


def _free(body: str) -> Joint:
    anywhere, nothing = (np.inf,) * 7, (0.0,) * 6
    return Joint(
        f"{body} moves",
        "free",
        WORLD,
        body,
        lower=tuple(-x for x in anywhere),
        upper=anywhere,
        velocity=anywhere[:6],
        effort=anywhere[:6],
        damping=nothing,
        friction=nothing,
        armature=nothing,
    )


def _painted(shape: Shape, color: Any) -> Any:
    """The shape in the color that it has on its first robot, so that docking never changes a body's color."""
    return replace(shape, color=(*own_color(shape, color), *shape.color[3:]))
