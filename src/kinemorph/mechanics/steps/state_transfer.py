"""The state of one robot, transferred to another robot that is made of the same bodies, connected by other joints.

Bodies stay where they are and keep their velocities. A joint that both robots have keeps its coordinates and
velocities. A root, or a joint that only the new robot has in its tree (it closed a loop before), gets them from the
pose and the twist of the body that it carries, seen from its parent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import Pose, compose, inverse, move_twist_back
from kinemorph.algebra.quaternions import rotation_to_quat
from kinemorph.algebra.scalar import S
from kinemorph.algebra.vectors import Vec, dot, sub
from kinemorph.errors import ModelError
from kinemorph.mechanics.recursions.kinematics import attached_poses, link_poses, link_twists
from kinemorph.mechanics.trees.tree import WORLD, Tree
from kinemorph.model.changes.reroot import reversed_state
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import evaluate_all
from kinemorph.model.robot import Robot
from kinemorph.model.topology import WORLD as ROOT

Numbers = Mapping[str, float]


def transferred(
    source: Robot, tree: Tree, target: Robot, q: Sequence[float] | Array, v: Sequence[float] | Array, p: Numbers
) -> tuple[Array, Array]:
    """The state (q, v) of the target, shapes (nq,) and (nv,), in which its bodies move as in the state (q, v) of the
    source.

    `tree` is the tree of the source with numbers. `p` are values of the target's parameters by name; other parameters
    have their nominal values.
    """
    moving = body_states(tree, source.body_names, [float(x) for x in q], [float(x) for x in v])
    olds = {joint.name: joint for joint in source.joints}
    new_q, new_v = np.zeros(target.nq), np.zeros(target.nv)
    for joint in target.joints:
        old = olds.get(joint.name)
        if old is not None and {old.parent, old.child} == {joint.parent, joint.child}:
            state: tuple[Any, Any] = q[source.q_slice(old.name)], v[source.v_slice(old.name)]
            if joint.parent == old.child:
                state = reversed_state(old, *([float(x) for x in part] for part in state))
        else:
            state = _measured(joint, moving, p) if joint.table.primitives else ((), ())
        new_q[target.q_slice(joint.name)], new_v[target.v_slice(joint.name)] = state
    return new_q, new_v


def body_states(tree: Tree, names: Sequence[str], q: Sequence[S], v: Sequence[S]) -> dict[str, tuple[Pose, Vec]]:
    """The pose T_WB and the body twist V_B, shape (6,), of bodies or frames, by name."""
    poses, twists = link_poses(tree, q), link_twists(tree, tree.moves(q), v)
    found: dict[str, tuple[Pose, Vec]] = {}
    for name, pose in zip(names, attached_poses(tree, poses, names), strict=True):
        at = tree.attachments[name]
        u, w = ((0.0,) * 3, (0.0,) * 3) if at.link == WORLD else twists[at.link]
        found[name] = pose, move_twist_back(at.pose, (*u, *w))
    return found


def _measured(joint: Joint, moving: Mapping[str, tuple[Pose, Vec]], p: Numbers) -> tuple[Any, Any]:
    """(coordinates, velocities) of a joint, from the poses and twists of the bodies that it connects."""
    before, after = evaluate_all(joint.placement, p), evaluate_all(joint.child_placement, p)
    T_WC, V_C = moving[joint.child]
    T_WC, V_C = compose(T_WC, after), move_twist_back(after, V_C)
    if joint.parent == ROOT:
        X, V = compose(inverse(before), T_WC), V_C
    else:
        T_WP, V_P = moving[joint.parent]
        T_PC = compose(inverse(compose(T_WP, before)), T_WC)
        X, V = T_PC, sub(V_C, move_twist_back(compose(before, T_PC), V_P))
    if joint.kind == "free":
        return (*X.p, *rotation_to_quat(X.R)), V
    if joint.kind == "prismatic":
        return (dot(joint.axis, X.p),), (dot(joint.axis, V[:3]),)
    if joint.kind == "revolute":
        R = X.R
        turned = (R[2][1] - R[1][2], R[0][2] - R[2][0], R[1][0] - R[0][1])
        angle = np.arctan2(dot(joint.axis, turned), R[0][0] + R[1][1] + R[2][2] - 1.0)
        return (angle,), (dot(joint.axis, V[3:]),)
    raise ModelError(
        f"joint '{joint.name}' ({joint.kind}) was not a joint of the tree before: its coordinates have to be computed "
        "from the poses of its bodies, which is possible for free, revolute and prismatic joints only. Dock modules "
        "with a joint of one of these kinds there."
    )
