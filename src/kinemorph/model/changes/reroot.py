"""The same robot described from another base.

A tree whose root is free may be described from any of its bodies: the joints between the old and the new base are
turned round (`reversed_joint`), and the free joint moves to the new base.

`StateMap` carries a state (q, v) of the one description to the other; poses and velocities of all bodies stay the same.
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
from kinemorph.model.robot import Robot


def reroot(robot: Robot, base: str) -> tuple[Robot, StateMap]:
    """The robot with `base` as the free body of its tree, and the map from old states to new ones.

    Names, bodies, frames, loops and couplings stay. Raises ModelError where the tree is not free or a joint's data
    cannot be turned round.
    """
    path = robot.path_to_root(base)  # base, ..., old base, world
    root = robot.parent_joint[path[-2]] if len(path) > 1 else None
    if root is None:
        raise ModelError("the base is 'world', expected a body. Name a body of a free tree.")
    if root.kind != "free":
        raise ModelError(
            f"body '{base}' cannot be the base: its tree hangs on the world by joint '{root.name}' ({root.kind}), and "
            f"only a free body may be any body. Declare root('{root.child}', 'free') or keep the base '{root.child}'."
        )
    turned = {robot.parent_joint[body].name for body in path[:-2]}
    reversing = [joint for joint in robot.joints if joint.name in turned]
    problems = [Problem("joint", joint.name, *obstacle) for joint in reversing for obstacle in obstacles(joint)]
    if turned and any(value != none for key, none, _ in PER_VELOCITY for value in getattr(root, key)):
        what = "it has damping, friction, armature or limits, which belong to the old base"
        problems.append(Problem("joint", root.name, what, "Remove them."))
    if problems:
        raise ModelError(problems)
    joints = [reversed_joint(joint) if joint.name in turned else joint for joint in robot.joints]
    if turned:
        joints[robot.joints.index(root)] = replace(root, child=base, child_placement=IDENTITY)
    target = replace(robot, joints=tuple(joints))  # the cuts stay where they are, so the layout of q does too
    return target, StateMap(robot, target)


@dataclass(frozen=True)
class StateMap:
    """Carries states of `source` to `target`: the same bodies and joint names, seen from another base."""

    source: Robot
    target: Robot

    def inverse(self) -> StateMap:
        """The map back."""
        return StateMap(self.target, self.source)

    def __call__(self, q: Sequence[float] | Array, v: Sequence[float] | Array) -> tuple[Array, Array]:
        """(q, v) of the target, shapes (nq,) and (nv,), for (q, v) of the source."""
        source, target = self.source, self.target
        if np.shape(q) != (source.nq,) or np.shape(v) != (source.nv,):
            raise ShapeError(f"q, v have shapes {np.shape(q)}, {np.shape(v)}, expected ({source.nq},), ({source.nv},).")
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
    """Coordinates and velocities of the reversed joint: X^-1 moves with the body twist -Ad(X) V."""
    if joint.kind not in PARTS:
        return (q[::-1], v[::-1]) if joint.kind == "universal" else (q, v)
    motion = joint_motion(joint, q)
    back, V = inverse(motion), neg(move_twist(motion, joint_twist(joint, q, v)))
    if joint.kind == "planar":
        return (back.p[0], back.p[1], -q[2]), (V[0], V[1], V[5])
    quaternion = rotation_to_quat(back.R)
    return (quaternion, V[3:]) if joint.kind == "spherical" else ((*back.p, *quaternion), V)


def _root_state(joint: Joint, source: Robot, q: Array, v: Array) -> tuple[Sequence[S], Sequence[S]]:
    """State of the new free joint: pose and twist of its body, computed down the path in the source."""
    T_WB, V_B = body_motion(source, joint.child, q, v)
    before, after = evaluate_all(joint.placement), evaluate_all(joint.child_placement)
    X = compose(inverse(before), T_WB, after)
    return (*X.p, *rotation_to_quat(X.R)), move_twist_back(after, V_B)


def body_motion(robot: Robot, body: str, q: Any, v: Any) -> tuple[Pose, Vec]:
    """Pose T_WB and body twist V_B, shape (6,), of one body at the state (q, v), at the nominal parameters."""
    T_WB, V_B = IDENTITY, zeros(6)
    for name in reversed(robot.path_to_root(body)[:-1]):
        joint = robot.parent_joint[name]
        at_q, at_v = _part(q, robot.q_slice(joint.name)), _part(v, robot.v_slice(joint.name))
        T_PB = joint_pose(joint, at_q)
        moved = move_twist(evaluate_all(joint.child_placement), joint_twist(joint, at_q, at_v))
        T_WB, V_B = compose(T_WB, T_PB), add(move_twist_back(T_PB, V_B), moved)
    return T_WB, V_B
