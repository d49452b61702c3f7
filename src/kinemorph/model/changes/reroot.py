"""The same robot described from another base.

Any body of a tree with a free root can be its base: the joints between the old and the new base are reversed
(`reversed_joint`), and the free joint is moved to the new base.

`StateMap` converts a state (q, v) of one description to the other; poses and velocities of all bodies are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import IDENTITY, Pose, compose, inverse, move_twist, move_twist_back
from kinemorph.algebra.quaternions import rotation_to_quat
from kinemorph.algebra.scalar import S
from kinemorph.algebra.vectors import Vec, add, neg, zeros
from kinemorph.errors import ModelError, Problem, ShapeError
from kinemorph.model.building.reversed_joint import PARTS, PER_VELOCITY, obstacles, reversed_joint
from kinemorph.model.configuration import joint_motion, joint_pose, joint_twist
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import evaluate_all
from kinemorph.model.robot import Robot, check_robot


def reroot(robot: Robot, base: str) -> tuple[Robot, StateMap]:
    """The robot with the body `base` as the free base of its tree, and the map from old states to new states.

    Names, bodies, frames, loops and couplings do not change. Raises ModelError if the root of the tree is not free or a
    joint cannot be reversed.
    """
    check_robot(robot)
    path = robot.path_to_root(base)  # base, ..., old base, world
    root = robot.parent_joint[path[-2]] if len(path) > 1 else None
    if root is None:
        raise ModelError("reroot: base is 'world', expected a body. Name a body of a tree with a free root.")
    if root.kind != "free":
        raise ModelError(
            f"body '{base}' cannot be the base: the root joint '{root.name}' of its tree is {root.kind}, expected "
            f"free. Declare root('{root.child}', 'free') or keep the base '{root.child}'."
        )
    turned = {robot.parent_joint[body].name for body in path[:-2]}
    reversing = [joint for joint in robot.joints if joint.name in turned]
    problems = [Problem("joint", joint.name, *obstacle) for joint in reversing for obstacle in obstacles(joint)]
    if turned and any(value != none for key, none, _ in PER_VELOCITY for value in getattr(root, key)):
        what = "it has damping, friction, armature or limits, which cannot be moved from the old base to the new one"
        remedy = f"Declare it without these, or keep the base '{root.child}'."
        problems.append(Problem("joint", root.name, what, remedy))
    if problems:
        raise ModelError(problems)
    joints = [reversed_joint(joint) if joint.name in turned else joint for joint in robot.joints]
    if turned:
        joints[robot.joints.index(root)] = replace(root, child=base, child_placement=IDENTITY)
    target = replace(robot, joints=tuple(joints))  # loops stay loops, so the order of q does not change
    return target, StateMap(robot, target)


@dataclass(frozen=True)
class StateMap:
    """Converts states of `source` to states of `target`, the same robot described from another base."""

    source: Robot
    target: Robot

    def inverse(self) -> StateMap:
        """The map from states of the target to states of the source."""
        return StateMap(self.target, self.source)

    def __call__(self, q: Sequence[float] | Array, v: Sequence[float] | Array) -> tuple[Array, Array]:
        """The state (q, v) of the target, shapes (nq,) and (nv,), for the state (q, v) of the source."""
        source, target = self.source, self.target
        if np.shape(q) != (source.nq,) or np.shape(v) != (source.nv,):
            raise ShapeError(
                f"q has shape {np.shape(q)} and v has shape {np.shape(v)}; expected ({source.nq},) for q "
                f"and ({source.nv},) for v of robot '{source.name}'."
            )
        new_q, new_v = np.zeros(target.nq), np.zeros(target.nv)
        for joint in target.joints:
            old = source.joint(joint.name)
            old_q, old_v = _part(q, source.q_slice(old.name)), _part(v, source.v_slice(old.name))
            if (joint.parent, joint.child) == (old.parent, old.child):
                mapped: tuple[Sequence[S], Sequence[S]] = (old_q, old_v)
            elif joint.parent == old.child:
                mapped = reversed_state(old, old_q, old_v)
            else:
                mapped = _root_state(joint, source, np.asarray(q), np.asarray(v))
            new_q[target.q_slice(joint.name)], new_v[target.v_slice(joint.name)] = mapped
        return new_q, new_v


def _part(values: Any, where: slice) -> list[float]:
    return [float(value) for value in values[where]]


def reversed_state(joint: Joint, q: list[float], v: list[float]) -> tuple[Sequence[S], Sequence[S]]:
    """The coordinates and velocities of the reversed joint, for q and v of the joint.

    If the joint's motion X has the body twist V, the inverse motion X^-1 has the body twist -Ad(X) V.
    """
    if joint.kind == "gimbal":
        return neg(q[::-1]), neg(v[::-1])
    if joint.kind not in PARTS:
        return (q[::-1], v[::-1]) if joint.kind == "universal" else (q, v)
    motion = joint_motion(joint, q)
    back, V = inverse(motion), neg(move_twist(motion, joint_twist(joint, q, v)))
    if joint.kind == "planar":
        return (back.p[0], back.p[1], -q[2]), (V[0], V[1], V[5])
    quaternion = rotation_to_quat(back.R)
    return (quaternion, V[3:]) if joint.kind == "spherical" else ((*back.p, *quaternion), V)


def _root_state(joint: Joint, source: Robot, q: Array, v: Array) -> tuple[Sequence[S], Sequence[S]]:
    """The coordinates and velocities of the new free joint, from the pose and twist of its child in the source."""
    T_WB, V_B = body_motion(source, joint.child, q, v)
    before, after = evaluate_all(joint.placement), evaluate_all(joint.child_placement)
    X = compose(inverse(before), T_WB, after)
    return (*X.p, *rotation_to_quat(X.R)), move_twist_back(after, V_B)


def body_motion(robot: Robot, body: str, q: Any, v: Any) -> tuple[Pose, Vec]:
    """The pose T_WB and body twist V_B, shape (6,), of one body at the state (q, v), with nominal parameters."""
    T_WB, V_B = IDENTITY, zeros(6)
    for name in reversed(robot.path_to_root(body)[:-1]):
        joint = robot.parent_joint[name]
        at_q, at_v = _part(q, robot.q_slice(joint.name)), _part(v, robot.v_slice(joint.name))
        T_PB = joint_pose(joint, at_q)
        moved = move_twist(evaluate_all(joint.child_placement), joint_twist(joint, at_q, at_v))
        T_WB, V_B = compose(T_WB, T_PB), add(move_twist_back(T_PB, V_B), moved)
    return T_WB, V_B
