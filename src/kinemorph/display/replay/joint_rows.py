"""The joints of a robot as the page computes them, and how finely coordinates are kept.

The page finds the poses of all bodies from the coordinates, so of a run only those are kept. They are rounded to
quanta so fine that no body is off by more than TOLERANCE: a joint that is off by a quantum moves what it carries by
as much as the robot reaches beyond it, and all joints of a chain may be off the same way.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.groups import Pose, inverse
from kinemorph.display.scenes.figures import owner_of
from kinemorph.display.scenes.scene import Array
from kinemorph.display.scenes.turning import quaternions_of
from kinemorph.model.couplings import followers
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.robot import Robot

TOLERANCE = 1e-5  # of bodies: in rad, and as a part of the robot's size in m
DIGITS = 10  # significant ones of constants
WIDEST = 2.0**30  # quanta


def joint_rows(robot: Robot) -> list[dict[str, Any]]:
    """One row for every tree joint, parents first. Owners and entries of q by number; limits that are none are None."""
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


def short(value: Any) -> float:
    """A number with as many digits as matter; whole ones without a point."""
    rounded = float(f"{float(value):.{DIGITS}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e9 else rounded


def _placed(pose: Pose) -> dict[str, list[float]]:
    turn = quaternions_of(np.array(pose.R, dtype=float))
    return {"p": [short(x) for x in pose.p], "turn": [short(x) for x in turn]}


# ── coordinates over time ─────────────────────────────────────────────────────────────────────────────────────────────


def coordinate_codes(robot: Robot, q: Array, size: float) -> tuple[npt.NDArray[np.int64], list[float]]:
    """Coordinates (n, nq) as whole numbers (nq, n) of 32 bits, and their quanta; `size` [m] is that of the robot.

    A quantum of an angle is a power of two of a turn, so that numbers that wrap have made whole turns. Where others
    would wrap, the quantum is coarser: who looks at a way of 10,000 sizes does not see a part of one.
    """
    turning, shifting = _finest(robot, q, size)
    quanta = np.full(robot.nq, shifting)
    wraps = np.zeros(robot.nq, dtype=bool)
    for joint in robot.joints:
        first = robot.q_slice(joint.name).start
        for step in joint.table.primitives:
            turned = range(first + step.q[0] + SHIFTS[step.kind], first + step.q[1])
            quanta[turned] = turning
            wraps[turned] = step.kind in ("revolute", "planar")
    largest = np.abs(q).max(axis=0, initial=0.0)
    quanta = np.where(wraps, quanta, np.maximum(quanta, largest / WIDEST))
    return np.round(q / quanta).astype(np.int64).T, quanta.tolist()


SHIFTS = {
    "revolute": 0,
    "prismatic": 1,
    "helical": 0,
    "spherical": 0,
    "planar": 2,
    "free": 3,
}  # entries that are lengths


def _finest(robot: Robot, q: Array, size: float) -> tuple[float, float]:
    """Quanta of angles (and of entries of quaternions) [rad] and of lengths [m]."""
    depths, reaches = {"world": 0}, {"world": 0.0}
    for joint in robot.order:
        depths[joint.child] = depths[joint.parent] + 1
        reaches[joint.child] = reaches[joint.parent] + _length(joint, q[:, robot.q_slice(joint.name)])
    # half a quantum for each coordinate; a quaternion turns by up to twice the error of its entries, all four together
    share = TOLERANCE / (2.0 * max(1, *depths.values()))
    reach = max(size, *reaches.values())
    turn = 2.0 * np.pi / 2.0 ** np.ceil(np.log2(2.0 * np.pi / (share * min(1.0, size / reach))))
    return float(turn), share * size


def _length(joint: Joint, q: Array) -> float:
    """How far a joint's child may lie from its parent [m], not counting how far a base has gone."""
    ends = [np.linalg.norm(evaluate_all(pose).p) for pose in (joint.placement, joint.child_placement)]
    slides = [step for step in joint.table.primitives if step.kind in ("prismatic", "helical")]
    ways = [
        np.abs(q[:, step.q[0]]).max() * (abs(evaluate(joint.pitch)) if step.kind == "helical" else 1.0)
        for step in slides
    ]
    return float(sum(ends) + sum(ways))
