"""Every body of a robot cut free: what it needs by its own motion, against what its joints give it.

By Jacobians of bodies alone: nothing of the recursion that finds the wrenches is used, and nothing of constraints.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.deriving.dynamics import derive
from kinemorph.model.body import Body
from kinemorph.model.parameter import evaluate_all
from kinemorph.model.robot import Robot

Array = npt.NDArray[np.float64]


def joint_frames(robot: Robot, q: Array) -> dict[str, Array]:
    """World poses of every joint's frame on its child, (4, 4); loops too."""
    poses = dict(zip(robot.body_names, derive(robot, backend="interpreter").forward_kinematics(q), strict=True))
    poses["world"] = np.eye(4)
    frames = {}
    for joint in (*robot.joints, *robot.loops):
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = joint.child_placement.R, joint.child_placement.p
        frames[joint.name] = poses[joint.child] @ T
    return frames


def needed_wrench(robot: Robot, body: Body, q: Array, v: Array, a: Array) -> Array:
    """The wrench about the world's origin, world axes, that moves one body: d/dt of its momentum, less its weight."""
    dynamics = derive(robot, backend="interpreter")
    J = dynamics.jacobian(body.name, "local_world_aligned")(q)
    dJ = dynamics.jacobian_rate(body.name, "local_world_aligned")(q, v)
    twist, rate = J @ v, J @ a + dJ @ v
    T = dynamics.pose(body.name)(q)
    mass, com, inertia = evaluate_all((body.mass, body.com, body.inertia))
    R, c = T[:3, :3], T[:3, :3] @ np.array(com)
    w, al = twist[3:], rate[3:]
    center = rate[:3] + np.cross(al, c) + np.cross(w, np.cross(w, c))
    I = R @ np.array(inertia) @ R.T
    force = mass * (center - np.array(evaluate_all(robot.gravity)))
    moment = I @ al + np.cross(w, I @ w)
    return np.concatenate([force, moment + np.cross(T[:3, 3] + c, force)])


def in_world(T: Array, wrench: Array) -> Array:
    """A wrench in a frame, about its origin, taken to world axes and the world's origin."""
    force = T[:3, :3] @ wrench[:3]
    return np.concatenate([force, T[:3, :3] @ wrench[3:] + np.cross(T[:3, 3], force)])


def balance_gap(robot: Robot, q: Array, v: Array, a: Array, *others: Any) -> float:
    """The largest error of any body's balance, relative to the largest wrench; `others` as joint_wrenches wants."""
    frames = joint_frames(robot, q)
    joints = (*robot.joints, *robot.loops)
    found = derive(robot, backend="interpreter").joint_wrenches(q, v, a, *others)
    through = {joint.name: in_world(frames[joint.name], row) for joint, row in zip(joints, found, strict=True)}
    scale = max(np.abs(wrench).max() for wrench in through.values())
    gaps = []
    for body in robot.bodies:
        total = np.zeros(6)
        for joint in joints:
            total += (joint.child == body.name) * through[joint.name]
            total -= (joint.parent == body.name) * through[joint.name]
        gaps.append(np.abs(total - needed_wrench(robot, body, q, v, a)).max())
    return float(max(gaps) / scale)
