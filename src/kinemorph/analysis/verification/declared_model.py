"""Poses, mass matrix and potential energy straight from a Robot's declared data, in plain NumPy.

The reference for the results of derive(). Nothing of mechanics is used here: no Tree, no merged bodies, no joint axes
turned to z, no moments of mass. One pass from the root to the tips, for all states at once, gives every body's pose as
the product of its joints' poses, and its Jacobian J_B, with which J_B v is the body's twist:

    T_WB = T_WP T_PB        J_B = Ad(T_PB^-1) J_P + S        M = sum m Jc^T Jc + Jw^T I Jw + diag(armature)

S is the Jacobian of the joint alone, Jv and Jw are the linear and angular rows of J_B, Jc = Jv + Jw x c is the Jacobian
of the center of mass, and m, c, I are the body's mass, center of mass and inertia. Parameters have their nominal
values; loops are cut.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.dual import Direction
from kinemorph.algebra.groups import Pose
from kinemorph.model.configuration import joint_motion, joint_twist
from kinemorph.model.driven import all_joints_free, coordinate_places, with_driven
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import evaluate_all
from kinemorph.model.robot import Robot


@dataclass(frozen=True)
class Declared:
    """A robot at n configurations, computed from its declared data, with the sizes that errors are relative to."""

    poses: dict[str, Array]  # (n, 4, 4) in the world, of the world itself, every body and every frame
    reach: Array  # [m] (n,), the largest coordinate of any body, frame or joint
    mass_matrix: Array  # (n, nv, nv)
    mass_size: Array  # (n, nv), an upper bound of the diagonal of M: every mass at its full distance from the joint
    potential: Array  # [J] (n,), zero where all mass lies at the world's origin
    potential_size: Array  # [J] (n,), the sum of m |g| |c|


@dataclass(frozen=True)
class _Carried:
    """The pose and Jacobian of a body, and the positions of the joints between it and the root."""

    pose: Array  # T_WB (n, 4, 4)
    jacobian: Array  # J_B (n, 6, nv), body axes, [linear; angular]
    joints: Array  # [m] (n, nv, 3) in the world: the origin of each velocity's joint frame


def as_declared(robot: Robot, q: Array) -> Declared:
    """Poses, mass matrix and potential energy of a robot at configurations q (n, nq), from its declared data."""
    if robot.driven:
        return _of_state(robot, q)
    n, nv = len(q), robot.nv
    world = _Carried(np.broadcast_to(np.eye(4), (n, 4, 4)), np.zeros((n, 6, nv)), np.zeros((n, nv, 3)))
    bodies, reach = {"world": world}, np.zeros(n)
    for joint in robot.order:
        bodies[joint.child], frame_of_joint = _carried_by(joint, robot, bodies[joint.parent], q)
        reach = np.maximum(reach, _coordinate(frame_of_joint))
    poses = {name: body.pose for name, body in bodies.items()}
    poses |= {frame.name: poses[frame.body] @ _matrix(frame.placement, n) for frame in robot.frames}
    for pose in poses.values():
        reach = np.maximum(reach, _coordinate(pose))

    armature = np.array([x for joint in robot.joints for x in evaluate_all(joint.armature)])
    M, size = np.zeros((n, nv, nv)) + np.diag(armature), np.zeros((n, nv)) + armature
    gravity = np.array(evaluate_all(robot.gravity))
    potential, potential_size = np.zeros((2, n))
    for body in robot.bodies:
        m, c, I = (np.array(x) for x in evaluate_all((body.mass, body.com, body.inertia)))
        at = bodies[body.name]
        Jw = at.jacobian[:, 3:]
        Jc = at.jacobian[:, :3] + np.cross(Jw, c[None, :, None], axis=1)
        M += m * Jc.swapaxes(1, 2) @ Jc + Jw.swapaxes(1, 2) @ I @ Jw
        center = at.pose[:, :3, :3] @ c + at.pose[:, :3, 3]
        spin, arm = np.linalg.norm(Jw, axis=1), np.linalg.norm(center[:, None] - at.joints, axis=2)
        size += m * (np.linalg.norm(Jc, axis=1) + spin * arm) ** 2 + np.abs(I).max() * spin**2
        potential -= m * center @ gravity
        potential_size += m * np.linalg.norm(gravity) * np.linalg.norm(center, axis=1)
    return Declared(poses, reach, M, size, potential, potential_size)


def _of_state(robot: Robot, q: Array) -> Declared:
    """The declared data of a robot with driven joints: those of all joints, along the motions of its coordinates."""
    n, columns = len(q), list(q.T)
    every = with_driven(robot, columns)
    found = as_declared(all_joints_free(robot), np.stack([np.broadcast_to(x, n) for x in every], axis=-1))
    along = Direction()
    F = np.zeros((n, found.mass_matrix.shape[1], robot.nv))
    F[:, : robot.nv] = np.eye(robot.nv)
    for i, k in coordinate_places(robot).values():
        moved = [along.moved(x, float(j == i)) for j, x in enumerate(columns)]
        for row, x in enumerate(with_driven(robot, moved)[robot.nq :], robot.nv):
            F[:, row, k] = along.tangent(x)
    M = F.swapaxes(1, 2) @ found.mass_matrix @ F
    size = np.einsum("nik,ni->nk", np.abs(F), np.sqrt(found.mass_size)) ** 2
    return replace(found, mass_matrix=M, mass_size=size)


def _carried_by(joint: Joint, robot: Robot, parent: _Carried, q: Array) -> tuple[_Carried, Array]:
    """The data of a joint's child body, and the pose of the joint frame after the joint's motion, (n, 4, 4)."""
    n = len(q)
    own, columns = list(q[:, robot.q_slice(joint.name)].T), robot.v_slice(joint.name)
    before, after = _matrix(joint.placement, n), _matrix(joint.child_placement, n)
    moved = before @ _matrix(joint_motion(joint, own), n)
    T = moved @ _inverse(after)
    jacobian = _move_back(T, parent.jacobian)
    for k, unit in enumerate(np.eye(joint.nv)):
        twist = np.stack([np.broadcast_to(x, n) for x in joint_twist(joint, own, unit.tolist())], axis=1)
        jacobian[:, :, columns.start + k] = _move_back(_inverse(after), twist[:, :, None])[:, :, 0]
    at, joints = parent.pose @ moved, parent.joints.copy()
    joints[:, columns] = at[:, None, :3, 3]
    return _Carried(parent.pose @ T, jacobian, joints), at


def _inverse(T: Array) -> Array:
    """The inverse poses T_BA of poses T_AB, shape (n, 4, 4)."""
    back = np.zeros_like(T)
    back[:, :3, :3] = T[:, :3, :3].swapaxes(1, 2)
    back[:, :3, 3:] = -back[:, :3, :3] @ T[:, :3, 3:]
    back[:, 3, 3] = 1.0
    return back


def _move_back(T: Array, twists: Array) -> Array:
    """Ad(T_AB^-1) V_A: twists (n, 6, k) that are given in frame A, seen from B; T_AB are poses (n, 4, 4)."""
    inverse, w = T[:, :3, :3].swapaxes(1, 2), twists[:, 3:]
    v = twists[:, :3] - np.cross(T[:, :3, 3, None], w, axis=1)
    return np.concatenate([inverse @ v, inverse @ w], axis=1)


def _matrix(pose: Pose, n: int) -> Array:
    """A pose as homogeneous matrices (n, 4, 4); its entries are numbers, parameters or arrays (n,)."""
    matrix = np.zeros((n, 4, 4))
    matrix[:, 3, 3] = 1.0
    for i in range(3):
        for k, entry in enumerate((*pose.R[i], pose.p[i])):
            matrix[:, i, k] = _number(entry)
    return matrix


def _number(entry: Any) -> Any:
    return entry if isinstance(entry, np.ndarray) else evaluate_all(entry)


def _coordinate(poses: Array) -> Array:
    """The largest |x|, |y| or |z| [m] of each of the positions in poses (n, 4, 4), shape (n,)."""
    return np.asarray(np.abs(poses[:, :3, 3]).max(axis=1))
