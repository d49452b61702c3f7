"""Checks of driven joints: the names in their formulas, rigid poses, and that every coordinate moves some inertia."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.dual import Direction
from kinemorph.algebra.groups import IDENTITY, Pose, act, compose, inverse
from kinemorph.errors import Problem
from kinemorph.model.configuration import Dice, joint_motion, random_configuration
from kinemorph.model.driven import coordinate_places, with_driven
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import TIME, coordinates_of, evaluate, evaluate_all
from kinemorph.model.robot import Robot
from kinemorph.model.topology import WORLD
from kinemorph.words import did_you_mean, listed

RIGID = 1e-9  # accepted error of R R^T = 1 and det R = 1 for a pose that is given by formulas
RELATIVE = 1e-11  # a motion has no inertia if it is smaller than this, relative to the inertia of its coordinates
TRIED = 3  # configurations at which a pose is checked


def driven_problems(robot: Robot) -> list[Problem]:
    """Problems with driven joints: unknown names in formulas, joints that close loops, poses that are not rigid."""
    found: list[Problem] = []
    known = coordinate_places(robot)
    names = {parameter.name for parameter in robot.parameters}
    for joint in (*robot.joints, *robot.loops):
        if not joint.driven:
            continue
        if joint in robot.loops:
            what = "the joint is driven and closes a loop, expected a joint of the tree"
            found.append(_problem(joint, what, "Leave driven out: the loop determines its motion."))
        for leaf in coordinates_of(joint.driven):
            if leaf != TIME and leaf.name not in known:
                found.append(_problem(joint, *_unknown(robot, leaf.name, known)))
            if leaf.name in names:
                what = f"'{leaf.name}' is the name of a coordinate and of a parameter, expected different names"
                found.append(_problem(joint, what, "Rename one of them."))
    return found or [problem for joint in robot.driven if joint.kind == "pose" for problem in _not_rigid(robot, joint)]


def _problem(joint: Joint, what: str, remedy: str) -> Problem:
    return Problem("joint", joint.name, what, remedy, "driven")


def _unknown(robot: Robot, name: str, known: Any) -> tuple[str, str]:
    """What is wrong with a name in a formula that is no coordinate of a hinge or slide, and the remedy."""
    if name in robot.all_q_names[robot.nq :]:
        return f"its formula names the driven joint '{name}'", "Name the coordinates that drive that joint."
    if name in robot.q_names:
        what = f"its formula names '{name}', whose rate is not a velocity, expected a coordinate of a hinge or slide"
        return what, f"Known: {listed(known, 16)}."
    remedy = f"{did_you_mean(name, known)} Known: t, {listed(known, 16)}.".strip()
    return f"its formula names '{name}', and there is no such coordinate", remedy


def _not_rigid(robot: Robot, joint: Joint) -> list[Problem]:
    """The problem of a pose whose formulas do not give a rotation matrix, at some random configurations."""
    start = robot.q_slice(joint.name).start
    for seed in range(TRIED):
        q = random_configuration(robot, Dice(seed)).tolist()
        R = np.array(with_driven(robot, q)[start : start + 9], dtype=float).reshape(3, 3)
        if not np.isfinite(R).all():
            continue
        error = np.abs(R @ R.T - np.eye(3)).max()
        if not (error < RIGID and np.linalg.det(R) > 0.0):
            at = ", ".join(f"{name} = {x:.6g}" for name, x in zip(robot.q_names[:6], q, strict=False))
            what = f"its matrix is not rigid: R R^T differs from 1 by {error:.3g} at {at}"
            return [_problem(joint, what, "Correct the formulas of the rotation.")]
    return []


def inertia_problems(robot: Robot) -> list[Problem]:
    """One problem for every coordinate of a hinge or slide that moves no inertia, at one random configuration."""
    names = list(coordinate_places(robot))
    if not names:
        return []
    q = random_configuration(robot, Dice(7)).tolist()
    with np.errstate(all="ignore"):
        M = state_masses(robot, q, names)
    if not np.isfinite(M).all():
        return [_not_finite(robot, q)]
    still = [name for name, inertia in zip(names, np.diag(M), strict=True) if not inertia > 0.0]
    if still:
        remedy = "Use it in the position of a body with mass, give its joint an armature, or leave it out."
        return [Problem("joint", name, "its coordinate moves no mass", remedy, rule="singular") for name in still]
    scale = 1.0 / np.sqrt(np.diag(M))
    sizes, motions = np.linalg.eigh(M * np.outer(scale, scale))
    if sizes[0] > RELATIVE:
        return []
    share = np.abs(motions[:, 0])
    joined = " and ".join([name for name, part in zip(names, share, strict=True) if part > 0.1 * share.max()][:6])
    what = f"a motion of {joined} together moves no mass, so that no finite force could accelerate it"
    return [Problem("robot", robot.name, what, "Leave out one of these coordinates.", rule="singular")]


def _not_finite(robot: Robot, q: Sequence[float]) -> Problem:
    """The problem of a joint whose formula is not finite at q, or of a robot whose masses are not finite."""
    values, count = with_driven(robot, q), robot.nq
    for joint in robot.driven:
        for x in values[count : count + joint.motion.nq]:
            if not np.isfinite(x):
                at = ", ".join(f"{name} = {x:.6g}" for name, x in zip(robot.q_names[:6], q, strict=False))
                what = f"its formula is {x} at {at}, expected a finite number"
                return _problem(joint, what, "Give initial values at which it is finite.")
        count += joint.motion.nq
    remedy = "Give initial values at which positions and their derivatives are finite."
    return Problem("robot", robot.name, "its mass matrix is not finite at the initial values", remedy, rule="singular")


def state_masses(robot: Robot, q: Sequence[float], names: Sequence[str]) -> Array:
    """The mass matrix of the coordinates `names` at q, in plain numbers, from the poses of the bodies alone."""
    places = coordinate_places(robot)
    moving: list[Any] = list(q)
    along = Direction()
    for k, name in enumerate(names):
        moving[places[name][0]] = along.moved(q[places[name][0]], np.eye(len(names))[k])
    every = with_driven(robot, moving)
    poses: dict[str, Pose] = {WORLD: IDENTITY}
    n = len(names)
    M = np.zeros((n, n))

    def rate(x: Any) -> Array:
        return np.broadcast_to(np.asarray(along.tangent(x), dtype=float), (n,))

    for joint in robot.order:
        motion = joint_motion(joint, every[robot.q_slice(joint.name)])
        after = inverse(evaluate_all(joint.child_placement))
        poses[joint.child] = compose(poses[joint.parent], evaluate_all(joint.placement), motion, after)
        for rotor, x in zip(joint.armature, every[robot.q_slice(joint.name)], strict=False):
            turned = rate(x)  # 0 for a coordinate whose rate is not a velocity
            M += float(evaluate(rotor)) * np.outer(turned, turned)
    for body in robot.bodies:
        mass = float(evaluate(body.mass))
        pose = poses[body.name]
        d = np.array([rate(x) for x in act(pose, evaluate_all(body.com))])
        R, dR = (np.array([[part(x) for x in row] for row in pose.R]) for part in (along.value, rate))
        W = np.einsum("ji,jkn->ikn", R, dR)  # R^T dR, of each coordinate
        turning = np.array([W[2, 1], W[0, 2], W[1, 0]])
        M += mass * d.T @ d + turning.T @ np.array(evaluate_all(body.inertia), dtype=float) @ turning
    return M
