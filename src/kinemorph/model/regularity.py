"""Can every joint of the robot be accelerated by a finite force? Checked once, at one generic configuration.

A massless tip, a point mass on its own axis, or two massless-coupled hinges on one line leave a direction in which
nothing resists, and forward dynamics would divide by zero. The articulated inertia of each subtree, seen through its
joint, shows it: the pivot matrix S^T I S of the joint is singular exactly there (Featherstone 2008, section 7.2).

All inertias are held in the joint frame on the body, not in the body's own: the center of mass goes there first, so a
body whose frame lies kilometers away loses nothing.
"""

from __future__ import annotations

import numpy as np

from kinemorph.algebra.groups import Ad, Pose, compose, inverse
from kinemorph.algebra.inertia import Inertia, spatial, transformed
from kinemorph.model.body import Body
from kinemorph.model.configuration import joint_motion, joint_twist, random_configuration
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.reading import Problem
from kinemorph.model.robot import Array, Robot
from kinemorph.model.topology import WORLD

RELATIVE = 1e-11  # a pivot smaller than this share of its rigid counterpart counts as zero
DUST = 1e-12  # [m] a mass nearer to an axis than this lies on it
ROUNDED = 16.0 * float(np.finfo(float).eps)  # how far rounding moves a point, as a share of the lengths it is made of


def regularity_problems(robot: Robot) -> list[Problem]:
    """One sentence for every joint whose motion meets no inertia. The robot must be sound otherwise."""
    found: list[Problem] = []
    q = random_configuration(robot, np.random.default_rng(7))
    rigid = {body.name: _spatial(body, robot.parent_joint[body.name]) for body in robot.bodies}  # all below locked
    moving = {name: inertia.copy() for name, inertia in rigid.items()}  # all below free
    reach = {body.name: _reach(body, robot.parent_joint[body.name]) for body in robot.bodies}
    for joint in reversed(robot.order):
        at = q[robot.q_slice(joint.name)].tolist()
        motion, subspace = joint_motion(joint, at), _subspace(joint, at)
        reach[joint.child] += float(np.linalg.norm(motion.p))
        armature = np.diag([evaluate(value) for value in joint.armature])
        below = moving[joint.child]
        if joint.nv:
            pivot = subspace.T @ below @ subspace + armature
            locked = subspace.T @ rigid[joint.child] @ subspace + armature
            if _singular(pivot, locked, _nothing(subspace, rigid[joint.child], reach[joint.child])):
                found.append(Problem("joint", joint.name, _sentence(joint, rigid[joint.child]), "singular"))
                continue  # what hangs here is out of the reckoning, so one mistake gives one sentence
            carried = below @ subspace
            below = below - carried @ np.linalg.solve(pivot, carried.T)
        if joint.parent != WORLD:
            # inertia of the child in the parent's joint frame: Ad(T_cp)^T I Ad(T_cp)
            frame, placement = _on_child(robot.parent_joint[joint.parent]), evaluate_all(joint.placement)
            X: Array = np.array(Ad(inverse(compose(inverse(frame), placement, motion))))
            further = reach[joint.child] + float(np.linalg.norm(placement.p) + np.linalg.norm(frame.p))
            reach[joint.parent] = max(reach[joint.parent], further)
            moving[joint.parent] += X.T @ below @ X
            rigid[joint.parent] += X.T @ rigid[joint.child] @ X
    return found[::-1]


def _on_child(joint: Joint) -> Pose:
    """The joint frame in the child."""
    placement: Pose = evaluate_all(joint.child_placement)
    return placement


def _spatial(body: Body, joint: Joint) -> Array:
    """6 x 6 inertia in the frame of the joint that carries the body, [linear; angular]."""
    inertia = Inertia(evaluate(body.mass), evaluate_all(body.com), evaluate_all(body.inertia))
    return np.array(spatial(transformed(inertia, inverse(_on_child(joint)))))


def _reach(body: Body, joint: Joint) -> float:
    """The lengths [m] that place the center of mass in the joint frame: rounding is a share of them."""
    return float(np.linalg.norm(evaluate_all(body.com)) + np.linalg.norm(_on_child(joint).p))


def _subspace(joint: Joint, q: list[float]) -> Array:
    """The joint's velocity directions, 6 x nv, in the joint frame on the child."""
    columns = [joint_twist(joint, q, unit) for unit in np.eye(joint.nv).tolist()]
    return np.array(columns).T.reshape(6, joint.nv)


def _nothing(subspace: Array, inertia: Array, reach: float) -> Array:
    """What still counts as zero in each direction: a share of all it could meet, and the mass at a rounding's length.

    It could meet the mass, and the largest moment about the joint's origin. A mass exactly on an oblique axis is found
    a rounding away from it, where everything it could meet is as small.
    """
    linear, angular = np.sum(subspace[:3] ** 2, axis=0), np.sum(subspace[3:] ** 2, axis=0)
    mass, moment = inertia[0, 0], np.trace(inertia[3:, 3:])
    return np.asarray(RELATIVE * (mass * linear + moment * angular) + mass * (DUST + ROUNDED * reach) ** 2 * angular)


def _singular(pivot: Array, locked: Array, nothing: Array) -> bool:
    if np.any(np.diag(locked) <= nothing) or np.any(np.diag(pivot) <= 0.0):
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
