"""Can every joint of the robot be accelerated by a finite force? Checked once, at one generic configuration.

A massless tip, a point mass on its own axis, or two massless-coupled hinges on one line leave a direction in which
nothing resists, and forward dynamics would divide by zero. The articulated inertia of each subtree, seen through its
joint, shows it: the pivot matrix S^T I S of the joint is singular exactly there (Featherstone 2008, section 7.2).
"""

from __future__ import annotations

import numpy as np

from kinemorph.algebra.groups import Ad, inverse
from kinemorph.algebra.inertia import Inertia, spatial
from kinemorph.model.body import Body
from kinemorph.model.configuration import joint_pose, joint_twist, random_configuration
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.robot import Array, Robot
from kinemorph.model.topology import WORLD

RELATIVE = 1e-11  # a pivot smaller than this share of its rigid counterpart counts as zero


def regularity_problems(robot: Robot) -> list[str]:
    """One sentence for every joint whose motion meets no inertia. The robot must be sound otherwise."""
    found: list[str] = []
    q = random_configuration(robot, np.random.default_rng(7))
    rigid = {body.name: _spatial(body) for body in robot.bodies}  # all joints below locked
    moving = {name: inertia.copy() for name, inertia in rigid.items()}  # all joints below free
    for joint in reversed(robot.order):
        at = q[robot.q_slice(joint.name)].tolist()
        subspace = _subspace(joint, at)
        armature = np.diag([evaluate(value) for value in joint.armature])
        below = moving[joint.child]
        if joint.nv:
            pivot = subspace.T @ below @ subspace + armature
            locked = subspace.T @ rigid[joint.child] @ subspace + armature
            if _singular(pivot, locked, _size(subspace, rigid[joint.child])):
                found.append(_sentence(joint, rigid[joint.child]))
                continue  # what hangs here is out of the reckoning, so one mistake gives one sentence
            carried = below @ subspace
            below = below - carried @ np.linalg.solve(pivot, carried.T)
        if joint.parent != WORLD:
            # inertia of the child in the parent's frame: Ad(T_cp)^T I Ad(T_cp)
            X: Array = np.array(Ad(inverse(joint_pose(joint, at))))
            moving[joint.parent] += X.T @ below @ X
            rigid[joint.parent] += X.T @ rigid[joint.child] @ X
    return found[::-1]


def _spatial(body: Body) -> Array:
    """6 x 6 inertia about the body's origin, [linear; angular]."""
    return np.array(spatial(Inertia(evaluate(body.mass), evaluate_all(body.com), evaluate_all(body.inertia))))


def _subspace(joint: Joint, q: list[float]) -> Array:
    """The joint's velocity directions, 6 x nv, in the child's frame."""
    columns = [joint_twist(joint, q, unit) for unit in np.eye(joint.nv).tolist()]
    return np.array(Ad(evaluate_all(joint.child_placement))) @ np.array(columns).T.reshape(6, joint.nv)


def _size(subspace: Array, inertia: Array) -> Array:
    """What each direction would meet at most: the mass, and the largest moment about the joint's origin."""
    linear, angular = np.sum(subspace[:3] ** 2, axis=0), np.sum(subspace[3:] ** 2, axis=0)
    return np.asarray(inertia[0, 0] * linear + np.trace(inertia[3:, 3:]) * angular)


def _singular(pivot: Array, locked: Array, size: Array) -> bool:
    if np.any(np.diag(locked) <= RELATIVE * size) or np.any(np.diag(pivot) <= 0.0):
        return True
    scale = 1.0 / np.sqrt(np.diag(locked))  # unitless, so that meters and radians can be compared
    return bool(np.linalg.eigvalsh(scale[:, None] * pivot * scale).min() <= RELATIVE)


def _sentence(joint: Joint, below: Array) -> str:
    if below[0, 0] == 0.0:
        return (
            f"joint '{joint.name}': body '{joint.child}' and all that hangs on it have mass 0, expected mass on a "
            f"moving part. Give it a mass, or make the joint fixed."
        )
    return (
        f"joint '{joint.name}' ({joint.kind}) meets no inertia in some direction, expected a regular motion. Give body "
        f"'{joint.child}' a rotational inertia, move its center of mass off the axis, or give the joint an armature."
    )
