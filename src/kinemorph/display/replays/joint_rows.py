"""The joints of a robot as the page computes them, and how finely coordinates are kept.

The page finds the poses of all bodies from the coordinates, so of a run only those are kept. They are rounded to
quanta so fine that no body is off by more than TOLERANCE: a joint that is off by a quantum moves what it carries by
as much as the robot reaches beyond it, and all joints of a chain may be off in the same direction.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import Pose, inverse
from kinemorph.display.looks.quaternions import quaternions_of
from kinemorph.display.scenes.figures import owner_of
from kinemorph.model.couplings import followers
from kinemorph.model.joint import Joint, Z
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.robot import Robot
from kinemorph.model.topology import WORLD

TOLERANCE = 1e-5  # of bodies: in rad, and as a part of the robot's size in m
DIGITS = 10  # significant ones of constants
WIDEST = 2.0**30  # quanta


def joint_rows(robot: Robot) -> list[dict[str, Any]]:
    """One row for every tree joint, parents first. Owners and entries of q by number; a missing limit is None."""
    led = followers(robot.couplings)
    rows = []
    for joint in robot.order:
        first = robot.q_slice(joint.name).start
        steps = [
            {
                "kind": step.kind,
                "axis": None if step.axis is None else [short(x) for x in joint.axes[step.axis]],
                "pitch": short(evaluate(joint.pitch)),
                "q": first + step.q[0],
                "nq": step.q[1] - step.q[0],
            }
            for step in joint.table.primitives
        ]
        follows = None
        if joint.name in led:
            leader, multiplier, offset = led[joint.name]
            follows = {"leader": robot.q_slice(leader).start, "multiplier": multiplier, "offset": offset}
        rows.append(
            {
                "name": joint.name,
                "kind": joint.kind,
                "parent": owner_of(robot, joint.parent),
                "child": owner_of(robot, joint.child),
                "placement": _placed(evaluate_all(joint.placement)),
                "back": _placed(inverse(evaluate_all(joint.child_placement))),
                "steps": steps,
                "labels": list(joint.q_names),
                "units": list(joint.table.q_units),
                "lower": [float(x) if np.isfinite(x) else None for x in joint.lower],
                "upper": [float(x) if np.isfinite(x) else None for x in joint.upper],
                "follows": follows,
            }
        )
    return rows


def loop_rows(robot: Robot) -> list[dict[str, Any]]:
    """One row for every loop: where its sides sit on the bodies, and by which conditions it holds them together."""
    return [
        {
            "name": loop.name,
            "parent": owner_of(robot, loop.parent),
            "child": owner_of(robot, loop.child),
            "placement": _placed(evaluate_all(loop.placement)),
            "end": _placed(evaluate_all(loop.child_placement)),
            "axis": [short(x) for x in (loop.axis if loop.table.axes else Z)],
            "axis2": [short(x) for x in loop.axis2],
            "pitch": short(evaluate(loop.pitch)),
            "conditions": list(loop.table.closure),
        }
        for loop in robot.loops
    ]


def short(value: Any) -> float:
    """A number with as many digits as matter; whole ones without a point."""
    rounded = float(f"{float(value):.{DIGITS}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e9 else rounded


def _placed(pose: Pose) -> dict[str, list[float]]:
    turn = quaternions_of(np.array(pose.R, dtype=float))
    return {"p": [short(x) for x in pose.p], "turn": [short(x) for x in turn]}


# ── coordinates over time ─────────────────────────────────────────────────────────────────────────────────────────────

LENGTHS = {"revolute": 0, "prismatic": 1, "helical": 0, "spherical": 0, "planar": 2, "free": 3}  # the first entries
QUATERNIONS = ("spherical", "free")
WRAPPING = ("revolute", "planar")  # whose angles may go round


def coordinate_codes(robot: Robot, q: Array, size: float) -> tuple[npt.NDArray[np.int64], list[float]]:
    """Coordinates (n, nq) as whole numbers (nq, n) of 32 bits, and their quanta; `size` [m] is that of the robot.

    A quantum of an angle is a power of two of a turn, so that numbers that wrap have made whole turns. Where others
    would wrap, the quantum is coarser: in a picture of a path of 10,000 robot sizes, a part of one size is not visible.
    """
    angle, length = _quanta(robot, q, size)
    quanta, wraps, values = np.full(robot.nq, length), np.zeros(robot.nq, dtype=bool), q.copy()
    for joint in robot.joints:
        first = robot.q_slice(joint.name).start
        for step in joint.table.primitives:
            turns = slice(first + step.q[0] + LENGTHS[step.kind], first + step.q[1])
            quanta[turns] = angle / 4.0 if step.kind in QUATERNIONS else angle
            wraps[turns] = step.kind in WRAPPING
            if step.kind in QUATERNIONS:  # only their directions count
                norms = np.linalg.norm(q[:, turns], axis=1, keepdims=True)
                values[:, turns] /= np.where(norms > 0.0, norms, 1.0)
    largest = np.abs(values).max(axis=0, initial=0.0)
    quanta = np.where(wraps, quanta, np.maximum(quanta, largest / WIDEST))
    return np.round(values / quanta).astype(np.int64).T, quanta.tolist()


def _quanta(robot: Robot, q: Array, size: float) -> tuple[float, float]:
    """Quanta of angles [rad] and of lengths [m].

    Of the tolerance, half is for what turns and half for what shifts, shared by all steps of the longest chain. An
    angle is off by half a quantum; so are the three lengths of a base, and the four entries of a quaternion, which
    turns by up to twice what they are off together.
    """
    steps, reaches = {WORLD: 0}, {WORLD: 0.0}
    for joint in robot.order:
        steps[joint.child] = steps[joint.parent] + len(joint.table.primitives)
        reaches[joint.child] = reaches[joint.parent] + _length(joint, q[:, robot.q_slice(joint.name)])
    share = TOLERANCE / max(1, *steps.values())
    finest = share * min(1.0, size / max(size, *reaches.values()))
    return float(2.0 * np.pi / 2.0 ** np.ceil(np.log2(2.0 * np.pi / finest))), 0.5 * share * size


def _length(joint: Joint, q: Array) -> float:
    """How far a joint's child may lie from its parent [m], not counting how far a base has gone."""
    length = sum(float(np.linalg.norm(evaluate_all(pose).p)) for pose in (joint.placement, joint.child_placement))
    for step in joint.table.primitives:
        if step.kind in ("prismatic", "helical"):
            along = abs(float(evaluate(joint.pitch))) if step.kind == "helical" else 1.0
            length += along * float(np.abs(q[:, step.q[0]]).max(initial=0.0))
    return length
