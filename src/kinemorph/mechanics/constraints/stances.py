"""Typical configurations of robots, in which they are shown, and from which runs start that are given no state.

A legged robot, for instance, has bent knees rather than straight legs.
"""

from __future__ import annotations

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.mechanics.constraints.newton_closing import assembled
from kinemorph.mechanics.recursions.kinematics import forward_kinematics
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.configuration import initial_configuration
from kinemorph.model.robot import Robot

# joint coordinates [rad or m] in which each robot is shown, by the ending of the joint's name
STANCE: dict[str, dict[str, float]] = {
    "pendulum": {"q1": 0.6},
    "double_pendulum": {"q1": 0.5, "q2": 0.6},
    "crane": {"theta": 0.5},
    "cartpole": {"theta": 0.1},
    "scara": {"shoulder": 0.5, "elbow": -1.2, "lift": -0.1},
    "puma": {"joint2": 0.7, "joint3": -0.6, "joint5": 0.8},
    "hand": {
        "_mcp": 0.5, "_pip": 0.6, "_dip": 0.35, "thumb_cmc": 0.35, "thumb_ip": 0.4, "thumb_spread": -0.1,
        "index_spread": -0.08, "ring_spread": 0.05, "little_spread": 0.12,
    },
    "hexapod24": {"thigh_joint": -0.45, "shank_joint": 1.35},
    "hexapod36": {"thigh_joint": -0.5, "shank_joint": 1.1, "foot_joint": 0.55},
    "humanoid": {
        "thigh_joint": -0.35, "shank_joint": 0.7, "ankle_joint": -0.35, "forearm_joint": -0.9,
        "shoulder_pitch_joint": -0.4, "left_shoulder_roll_joint": 0.25, "right_shoulder_roll_joint": -0.25,
    },
    "amru5": {
        "q2": 0.24, "q7": 0.08, "q8": 0.1, "q12": 0.0, "q18": 0.0,
        **{f"q{k}": 0.08 for k in (10, 13, 16, 19, 22)}, **{f"q{k}": 0.1 for k in (11, 14, 17, 20, 23)},
    },
    "four_bar": {"q1": 0.6, "q2": 0.02989836, "q3": 1.6066907},
    "slider_crank": {"crank_joint": 0.8, "rod_joint": -1.166851321778844, "slider_joint": -0.43637062518183134},
}  # fmt: skip


def stance(robot: Robot) -> Array:
    """A typical configuration of a robot, shape (nq,): knees bent, and the lowest frame of a free base at z = 0."""
    q = initial_configuration(robot)
    for ending, angle in STANCE.get(robot.name, {}).items():
        for joint in robot.joints:
            if joint.name.endswith(ending) and joint.nq == 1:
                q[robot.q_slice(joint.name)] = angle
    if robot.name == f"chain{robot.nq}" and all(joint.nq == 1 for joint in robot.joints):  # of the library
        q[:] = np.linspace(0.9, -0.3, robot.nq) * 2.0 / max(robot.nq, 2)
    free = [joint for joint in robot.joints if joint.kind == "free"]
    if free and robot.frames:
        tree = resolve(robot)
        places = tree.all_joints(list(np.atleast_2d(q).T)).q
        poses = forward_kinematics(tree, places, [frame.name for frame in robot.frames])
        lowest = min(float(np.ravel(pose.p[2])[0]) for pose in poses)
        for joint in free:
            q[robot.q_slice(joint.name).start + 2] -= lowest
    return q


def closed_stance(robot: Robot) -> tuple[Array, bool]:
    """(q, closed): the typical configuration, shape (nq,), with its loops closed where that is possible."""
    q = stance(robot)
    if not robot.loops and not robot.couplings:
        return q, True
    found = assembled(robot, q.tolist(), ())
    return (q, False) if found is None else (found, True)
