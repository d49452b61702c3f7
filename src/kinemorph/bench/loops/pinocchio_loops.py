"""Closed loops in Pinocchio: the closing joints of a robot as point constraints, and the fastest accurate settings.

Pinocchio constrains points (CONTACT_3D) or whole frames (CONTACT_6D) and has no constraint for a hinge. So a ball joint
is one point; a hinge is one point if all axes are parallel, and two points on its axis otherwise. Both forms of a hinge
have one redundant row, which Pinocchio regularizes by `mu` and corrects in iterations. The first of the settings below
that agrees with our results is used, so that Pinocchio does not compute more digits than are needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pinocchio as pin

from kinemorph.algebra.arrays import Array
from kinemorph.bench.peers.pinocchio_twin import PinocchioTwin, PointPair, Prox, matrix, twin_of_robot
from kinemorph.bench.speed.contest import AGREE, Contest, Peer
from kinemorph.errors import UnsupportedError
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import evaluate_all
from kinemorph.model.robot import Robot

APART = 0.5  # [m], half the distance between the two points on the axis of a hinge

# from fast to accurate; the first iteration of `lcaba`, which it always makes, counts
SETTINGS: dict[str, tuple[Prox, ...]] = {
    "constrained": (
        *(Prox(mu, 1) for mu in (1e-14, 1e-12, 1e-11)),
        *(Prox(mu, n) for n in (2, 3, 5, 20) for mu in (1e-12, 1e-10, 1e-8, 1e-6)),
    ),
    "impulse": tuple(Prox(mu, 1) for mu in (1e-14, 1e-12, 1e-11, 1e-10, 1e-9)),  # it does not iterate
    "lcaba": tuple(Prox(mu, n) for n in (1, 2, 3, 4, 6, 10, 30) for mu in (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)),
}


def twin_with_loops(robot: Robot) -> PinocchioTwin:
    """The robot and its model in Pinocchio, with loops; the settings `prox` are not chosen yet (see `settled`)."""
    twin = twin_of_robot(robot)
    flat = _is_flat(twin)
    twin.closures = tuple(point for loop in robot.loops for point in _closure(twin, loop, flat=flat))
    return twin


def _is_flat(twin: PinocchioTwin) -> bool:
    """Whether all joints are hinges with parallel axes; the axes are then parallel in every configuration."""
    robot, data = twin.robot, twin.model.createData()
    if any(joint.kind != "revolute" for joint in (*robot.joints, *robot.loops)):
        return False
    pin.forwardKinematics(twin.model, data, pin.neutral(twin.model))
    axes = []
    for joint in (*robot.joints, *robot.loops):
        index, pose = twin.at[joint.parent]
        axes.append(data.oMi[index].rotation @ pose[:3, :3] @ matrix(joint.placement)[:3, :3] @ _axis(joint))
    return all(np.linalg.norm(np.cross(axes[0], axis)) < 1e-12 for axis in axes)


def _axis(joint: Joint) -> Array:
    axis: Array = np.array(evaluate_all(joint.axis), dtype=float)
    axis /= np.linalg.norm(axis)
    return axis


def _closure(twin: PinocchioTwin, loop: Joint, *, flat: bool) -> list[PointPair]:
    if loop.kind not in ("revolute", "spherical"):
        raise UnsupportedError(
            f"loop '{loop.name}' is closed by a {loop.kind} joint; expected a ball joint or a hinge, which point "
            "constraints of Pinocchio can express. Leave the robot out."
        )
    (first, P), (second, S) = twin.at[loop.parent], twin.at[loop.child]
    P, S = P @ matrix(loop.placement), S @ matrix(loop.child_placement)
    alone = flat or loop.kind == "spherical"
    found = []
    for along in (0.0,) if alone else (-APART, APART):
        shift = np.eye(4)
        shift[:3, 3] = along * _axis(loop)
        found.append(PointPair(first, P @ shift, second, S @ shift))
    return found


def settled(contest: Contest, make: Callable[[Contest], Peer], n: int = 64) -> Contest:
    """The contest, with the fastest setting of each of Pinocchio's algorithms whose results agree with ours.

    Algorithms that do not agree with any setting are left out. If none agrees, one remains, so that its difference can
    be reported. `make` gives Pinocchio as a peer of the contest, `n` is the number of states to check.
    """
    states = contest.states(n, seed=1)
    outs = contest.outputs(n)
    contest.function.raw(outs[0] if len(outs) == 1 else tuple(outs), *contest.inputs(states))
    there = contest.peer_states(states)
    found: dict[str, Prox] = {}
    for variant in contest.algorithm.peer:
        for prox in SETTINGS[variant]:
            contest.twin.prox = {variant: prox}
            difference = contest.difference(outs, make(contest).results(variant, *there))
            if difference <= AGREE:
                found[variant] = prox
                break
    contest.twin.prox = found or {variant: SETTINGS[variant][-1] for variant in contest.algorithm.peer[:1]}
    contest.algorithm = replace(contest.algorithm, peer=tuple(contest.twin.prox))
    return contest
