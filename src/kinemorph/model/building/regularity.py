"""Can every joint of the robot be accelerated by a finite force? Checked once, at one generic configuration.

A massless tip, a point mass on its own axis, or two massless-coupled hinges on one line leave a direction in which
nothing resists, and forward dynamics would divide by zero. The articulated inertia of each subtree, seen through its
joint, shows it: the pivot matrix S^T I S of the joint is singular exactly there (Featherstone 2008, section 7.2).

All inertias are kept in the joint frame on the body, not in the body's own: the center of mass is moved there first, so
a body whose frame lies kilometers away loses nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from kinemorph.algebra.groups import IDENTITY, Pose, compose, inverse
from kinemorph.algebra.inertia import Inertia, transformed
from kinemorph.algebra.inertia_blocks import (
    Axis,
    Blocks,
    along,
    body_blocks,
    column,
    deflated,
    joined_blocks,
    posed_blocks,
)
from kinemorph.errors import Problem
from kinemorph.model.body import Body
from kinemorph.model.configuration import Dice, joint_motion, joint_twist, random_configuration
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.robot import Robot
from kinemorph.model.topology import WORLD

RELATIVE = 1e-11  # a pivot smaller than this share of its rigid counterpart counts as zero
LARGEST = 1e100  # [kg m^2] or [kg]: inertias beyond overflow sooner or later, those below its inverse underflow
DUST = 1e-12  # [m] a mass nearer to an axis than this lies on it
UNITS = [np.eye(n).tolist() for n in range(7)]  # unit velocities of n of them
ROUNDED = 16.0 * float(np.finfo(float).eps)  # how far rounding moves a point, as a share of the lengths it is made of


def regularity_problems(robot: Robot) -> list[Problem]:
    """One problem for every joint whose motion meets no inertia. The robot has no other problems."""
    found: list[Problem] = []
    q = random_configuration(robot, Dice(7)).tolist()
    frames: dict[str, Pose] = {joint.child: evaluate_all(joint.child_placement) for joint in robot.joints}
    rigid = {body.name: _at_joint(body, frames[body.name]) for body in robot.bodies}  # all below locked
    moving = dict(rigid)  # all below free
    reach = {body.name: _reach(body, frames[body.name]) for body in robot.bodies}
    for joint in reversed(robot.order):
        at = q[robot.q_slice(joint.name)]
        motion, axes, armature = joint_motion(joint, at), _axes(joint, at), evaluate_all(joint.armature)
        free, locked = moving[joint.child], rigid[joint.child]
        reach[joint.child] += math.hypot(*motion.p)
        if axes:
            wrong = _obstacle(joint, axes, armature, free, locked, reach[joint.child])
            if wrong is not None:
                what, remedy = wrong
                remedy += _in_a_loop(robot, joint, locked)
                found.append(Problem("joint", joint.name, what, remedy, rule="singular"))
                continue  # the parent is judged without this subtree, so one mistake gives one problem
            for axis, rotor in zip(axes, armature, strict=True):
                U = column(free, axis)
                share = 1.0 / (along(axis, U) + rotor)
                free = deflated(free, U, tuple([share * x for x in U]), None)
        if joint.parent != WORLD:
            # inertia of the child in the parent's joint frame
            frame, placement = frames[joint.parent], evaluate_all(joint.placement)
            T = compose(placement, motion) if frame == IDENTITY else compose(inverse(frame), placement, motion)
            further = reach[joint.child] + math.hypot(*placement.p) + math.hypot(*frame.p)
            reach[joint.parent] = max(reach[joint.parent], further)
            moving[joint.parent] = joined_blocks(moving[joint.parent], posed_blocks(T, free))
            rigid[joint.parent] = joined_blocks(rigid[joint.parent], posed_blocks(T, locked))
    return found[::-1]


def _at_joint(body: Body, frame: Pose) -> Blocks:
    """Inertia in the frame of the joint that carries the body."""
    inertia = Inertia(evaluate(body.mass), evaluate_all(body.com), evaluate_all(body.inertia))
    return body_blocks(inertia if frame == IDENTITY else transformed(inertia, inverse(frame)))


def _reach(body: Body, frame: Pose) -> float:
    """The lengths [m] that place the center of mass in the joint frame: rounding is a share of them."""
    return math.hypot(*evaluate_all(body.com)) + math.hypot(*frame.p)


def _axes(joint: Joint, q: list[float]) -> list[Axis]:
    """The joint's velocity directions, nv of them, in the joint frame on the child."""
    twists = [joint_twist(joint, q, unit) for unit in UNITS[joint.nv]]
    return [tuple([(k, x) for k, x in enumerate(twist) if x != 0.0]) for twist in twists]


def _obstacle(
    joint: Joint, axes: Sequence[Axis], armature: Sequence[float], free: Blocks, locked: Blocks, reach: float
) -> tuple[str, str] | None:
    """Why no finite force accelerates a joint, and the remedy: a singular pivot matrix, or overflow; None if one does.

    The pivot matrix with all joints below free is compared with that of all joints below locked.
    """
    columns = [column(free, axis) for axis in axes]
    scales = []
    for axis, rotor, U in zip(axes, armature, columns, strict=True):
        whole, pivot = along(axis, column(locked, axis)) + rotor, along(axis, U) + rotor
        if not (abs(whole) < LARGEST and abs(pivot) < LARGEST):
            return _extreme(joint, whole)
        if whole <= _nothing(axis, locked, reach) or pivot <= 0.0:
            return _no_inertia(joint, locked)
        if pivot < 1.0 / LARGEST:
            return _extreme(joint, pivot)
        scales.append(1.0 / math.sqrt(whole))  # unitless, so that meters and radians can be compared
    if len(axes) == 1:
        least = scales[0] * pivot * scales[0]
    else:
        pivots = np.array([[along(axis, U) for U in columns] for axis in axes]) + np.diag(armature)
        if not np.abs(pivots).max() < LARGEST:  # products of inertia may be larger than moments
            return _extreme(joint, float(np.abs(pivots).max()))
        least = np.linalg.eigvalsh(np.outer(scales, scales) * pivots).min()
    return _no_inertia(joint, locked) if least <= RELATIVE else None


def _nothing(axis: Axis, inertia: Blocks, reach: float) -> float:
    """The inertia that still counts as zero in a direction: a share of the largest possible one, and that of rounding.

    The largest possible one has the mass and the largest moment about the joint's origin. A mass exactly on an oblique
    axis is found a rounding error away from it, where its moment is as small as that.
    """
    linear = sum([x * x for k, x in axis if k < 3])
    angular = sum([x * x for k, x in axis if k >= 3])
    A, _, J = inertia
    mass, moment = A[0], J[0] + J[3] + J[5]
    dust = DUST + ROUNDED * reach
    return float(RELATIVE * (mass * linear + moment * angular) + mass * dust * dust * angular)


def _extreme(joint: Joint, inertia: float) -> tuple[str, str]:
    return (
        f"its {joint.kind} motion meets an inertia of {inertia:.3g}, expected {1.0 / LARGEST:g} to {LARGEST:g}",
        "Look for extreme masses, lengths or moments of inertia in what hangs on it.",
    )


def _in_a_loop(robot: Robot, joint: Joint, below: Blocks) -> str:
    """A further remedy where a loop would constrain the body."""
    if not any({joint.parent, joint.child} <= set(cycle) for cycle in robot.cycles.values()):
        return ""
    if below[0][0] == 0.0:
        return " A rod without mass that closes a loop is the element DistanceConstraint."
    return " Or open its loop there, by cut=True at this joint: another one then carries the body."


def _no_inertia(joint: Joint, below: Blocks) -> tuple[str, str]:
    if below[0][0] == 0.0:
        return (
            f"body '{joint.child}' and all that hangs on it have mass 0, expected mass on a moving part",
            "Give it a mass, or make the joint fixed.",
        )
    return (
        f"its {joint.kind} motion meets no inertia in some direction, expected a regular motion",
        f"Give body '{joint.child}' a rotational inertia, move its center of mass off the axis, or give the joint an "
        "armature.",
    )
