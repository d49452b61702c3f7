"""Checks that every joint moves some inertia, at one random configuration.

If a body at a tip has no mass, a point mass lies on the axis of its joint, or two hinges with a massless body between
them have the same axis, then there is a motion without inertia, and forward dynamics would divide by zero. In these
cases the matrix S^T I S of the joint is singular, with the joint's motion subspace S and the articulated inertia I of
its subtree (Featherstone 2008, section 7.2); it is called the pivot matrix here.

All inertias are in the joint frame on the body, not in the body frame, to avoid rounding errors if the body frame is
far away from the joint.
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
from kinemorph.model.building.driven_checks import inertia_problems
from kinemorph.model.configuration import Dice, joint_motion, joint_twist, random_configuration
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.robot import Robot
from kinemorph.model.topology import WORLD

RELATIVE = 1e-11  # a pivot counts as zero if it is smaller, relative to that with all joints below locked
LARGEST = 1e100  # [kg m^2] or [kg]: larger inertias may overflow, and those below 1 / LARGEST underflow
DUST = 1e-12  # [m]: a mass nearer to an axis than this lies on it
UNITS = [np.eye(n).tolist() for n in range(7)]  # the unit vectors of n velocities
ROUNDED = 16.0 * float(np.finfo(float).eps)  # rounding error of a position, relative to the lengths that are added


def regularity_problems(robot: Robot) -> list[Problem]:
    """One problem for every joint that can move without inertia, in a robot without other problems.

    The joints of robots with driven joints are checked by `driven_checks`.
    """
    if robot.driven:
        return inertia_problems(robot)
    found: list[Problem] = []
    q = random_configuration(robot, Dice(7)).tolist()
    frames: dict[str, Pose] = {joint.child: evaluate_all(joint.child_placement) for joint in robot.joints}
    rigid = {body.name: _at_joint(body, frames[body.name]) for body in robot.bodies}  # with all joints below locked
    moving = dict(rigid)  # with all joints below free
    reach = {body.name: _reach(body, frames[body.name]) for body in robot.bodies}
    cycles = [set(cycle) for cycle in robot.cycles.values()]
    for joint in reversed(robot.order):
        at = q[robot.q_slice(joint.name)]
        motion, axes, armature = joint_motion(joint, at), _axes(joint, at), evaluate_all(joint.armature)
        free, locked = moving[joint.child], rigid[joint.child]
        reach[joint.child] += math.hypot(*motion.p)
        if axes:
            wrong = _obstacle(joint, axes, armature, free, locked, reach[joint.child])
            if wrong is not None:
                what, remedy = wrong
                remedy += _in_a_loop(cycles, joint, locked)
                found.append(Problem("joint", joint.name, what, remedy, rule="singular"))
                continue  # the parent is checked without this subtree, so that one cause gives one problem
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
    """The inertia of a body in the frame of its parent joint, which is at `frame` in the body."""
    inertia = Inertia(evaluate(body.mass), evaluate_all(body.com), evaluate_all(body.inertia))
    return body_blocks(inertia if frame == IDENTITY else transformed(inertia, inverse(frame)))


def _reach(body: Body, frame: Pose) -> float:
    """The distances [m] of center of mass and joint frame from the body frame, added; rounding errors grow with it."""
    return math.hypot(*evaluate_all(body.com)) + math.hypot(*frame.p)


def _axes(joint: Joint, q: list[float]) -> list[Axis]:
    """The twist of each of the joint's nv unit velocities, in the joint frame on the child; only nonzero entries."""
    twists = [joint_twist(joint, q, unit) for unit in UNITS[joint.nv]]
    return [tuple([(k, x) for k, x in enumerate(twist) if x != 0.0]) for twist in twists]


def _obstacle(
    joint: Joint, axes: Sequence[Axis], armature: Sequence[float], free: Blocks, locked: Blocks, reach: float
) -> tuple[str, str] | None:
    """The problem of a joint with a singular pivot matrix or an extreme inertia, and the remedy; None if it has none.

    The pivot matrix with all joints below free is compared with that with all joints below locked. `reach` [m] is a
    length to which rounding errors are proportional.
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
    """The largest inertia along an axis that counts as zero: a fraction of the largest possible one, plus rounding.

    The largest possible inertia follows from the mass and the moments of inertia about the joint's origin. Because of
    rounding, a mass that lies on an oblique axis is computed with a small distance from it, and so a small inertia.
    """
    linear = sum([x * x for k, x in axis if k < 3])
    angular = sum([x * x for k, x in axis if k >= 3])
    A, _, J = inertia
    mass, moment = A[0], J[0] + J[3] + J[5]
    dust = DUST + ROUNDED * reach
    return float(RELATIVE * (mass * linear + moment * angular) + mass * dust * dust * angular)


def _extreme(joint: Joint, inertia: float) -> tuple[str, str]:
    return (
        f"its {joint.kind} motion has an inertia of {inertia:.3g}, expected {1.0 / LARGEST:g} to {LARGEST:g}",
        "Check for extreme masses, lengths or moments of inertia in the bodies below it.",
    )


def _in_a_loop(cycles: Sequence[set[str]], joint: Joint, below: Blocks) -> str:
    """A further remedy for a joint of one of the loops whose bodies are `cycles`; otherwise an empty text."""
    if not any({joint.parent, joint.child} <= cycle for cycle in cycles):
        return ""
    if below[0][0] == 0.0:
        return " For a massless rod that closes a loop, use the element DistanceConstraint."
    return " Or cut its loop at this joint (cut=True), so that another joint connects the body to the tree."


def _no_inertia(joint: Joint, below: Blocks) -> tuple[str, str]:
    if below[0][0] == 0.0:
        return (
            f"body '{joint.child}' and all bodies below it have mass 0, expected a mass on a part that moves",
            "Give it a mass, or make the joint fixed.",
        )
    return (
        f"its {joint.kind} motion has no inertia in some direction, so that no finite force could accelerate it",
        f"Give body '{joint.child}' a rotational inertia, move its center of mass off the axis, or give the joint an "
        "armature.",
    )
