"""Encodes the joints of a robot, and its coordinates over time, for the page.

The page computes the poses of all bodies from the coordinates, so only the coordinates of a run are stored. They are
rounded to multiples of quanta, which are so small that no body is off by more than TOLERANCE: an error of a joint moves
all bodies beyond it, in proportion to their distance, and the errors of all joints of a chain may add up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import Pose, inverse
from kinemorph.display.looks.quaternions import quaternions_of
from kinemorph.display.scenes.figures import owner_of
from kinemorph.display.scenes.scene import WORLD_OWNER
from kinemorph.model.couplings import followers
from kinemorph.model.joint import Joint, Z
from kinemorph.model.parameter import Coordinate, Formula, Value, evaluate, evaluate_all
from kinemorph.model.robot import Robot
from kinemorph.model.topology import WORLD

TOLERANCE = 1e-5  # largest error of body poses [rad], and as a fraction of the robot's size for positions
DIGITS = 10  # significant digits of constants
WIDEST = 2.0**30  # largest encoded number, in quanta
KEPT = 4096  # joints whose rows are stored


def joint_rows(robot: Robot, driven: Mapping[str, Sequence[Value]] | None = None) -> list[dict[str, Any]]:
    """One row of data per joint of the tree, parents first.

    Bodies and coordinates are given as indices; a limit is None where the joint has no limit.
    `driven` are the formulas of joints that are driven by other coordinates, by joint name; see `formula_code`.
    """
    led, owners = (
        followers(robot.couplings),
        {WORLD: WORLD_OWNER} | {name: k for k, name in enumerate(robot.body_names)},
    )
    rows = []
    for joint in robot.order:
        own, first, follows = own_row(joint), robot.q_slice(joint.name).start, None
        if joint.name in led:
            leader, multiplier, offset = led[joint.name]
            follows = {"leader": robot.q_slice(leader).start, "multiplier": multiplier, "offset": offset}
        among = {
            "parent": owners[joint.parent],
            "child": owners[joint.child],
            "steps": [step | {"q": first + step["q"]} for step in own["steps"]],
            "follows": follows,
            "formulas": [formula_code(one, robot) for one in (driven or {}).get(joint.name, ())] or None,
        }
        rows.append(own | among)
    return rows


@lru_cache(maxsize=KEPT)
def own_row(joint: Joint) -> dict[str, Any]:
    """What the row of a joint says about the joint alone, with the coordinates of its steps counted from its first.

    It is stored, because most joints of a scene are often those of the scene before.
    """
    steps = [
        {
            "kind": step.kind,
            "axis": None if step.axis is None else [short(x) for x in joint.axes[step.axis]],
            "pitch": short(evaluate(joint.pitch)),
            "q": step.q[0],
            "nq": step.q[1] - step.q[0],
        }
        for step in joint.table.primitives
    ]
    placement, back = _placed([evaluate_all(joint.placement), inverse(evaluate_all(joint.child_placement))])
    return {
        "name": joint.name,
        "kind": joint.kind,
        "placement": placement,
        "back": back,
        "steps": steps,
        "labels": list(joint.q_names),
        "units": list(joint.table.q_units),
        "lower": [float(x) if np.isfinite(x) else None for x in joint.lower],
        "upper": [float(x) if np.isfinite(x) else None for x in joint.upper],
    }


def formula_code(value: Value, robot: Robot) -> Any:
    """A formula for the page: a number, ["q", index of a coordinate], or [op, arguments]; the time is 0."""
    if isinstance(value, Coordinate) and value.name in robot.q_names:
        return ["q", robot.q_names.index(value.name)]
    if isinstance(value, Formula):
        return [value.op, *(formula_code(part, robot) for part in value.args)]
    return float(evaluate(value))


def loop_rows(robot: Robot) -> list[dict[str, Any]]:
    """One row of data for every loop joint: its placements on both bodies, its axes and its constraint rows."""
    placements = _placed([evaluate_all(loop.placement) for loop in robot.loops])
    ends = _placed([evaluate_all(loop.child_placement) for loop in robot.loops])
    return [
        {
            "name": loop.name,
            "parent": owner_of(robot, loop.parent),
            "child": owner_of(robot, loop.child),
            "placement": placement,
            "end": end,
            "axis": [short(x) for x in (loop.axis if loop.table.axes else Z)],
            "axis2": [short(x) for x in loop.axis2],
            "pitch": short(evaluate(loop.pitch)),
            "conditions": list(loop.table.closure),
        }
        for loop, placement, end in zip(robot.loops, placements, ends, strict=True)
    ]


def short(value: Any) -> float:
    """The value rounded to DIGITS significant digits; an int where it is a whole number, which makes JSON shorter."""
    rounded = float(f"{float(value):.{DIGITS}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e9 else rounded


def _placed(poses: Sequence[Pose]) -> list[dict[str, list[float]]]:
    """Poses as data: the place [m] and the quaternion wxyz of each."""
    if not poses:
        return []
    turns = quaternions_of(np.array([pose.R for pose in poses], dtype=float)).tolist()
    return [
        {"p": [short(x) for x in pose.p], "turn": [short(x) for x in turn]}
        for pose, turn in zip(poses, turns, strict=True)
    ]


# ── coordinates over time ─────────────────────────────────────────────────────────────────────────────────────────────

# number of lengths, which come before the angles or the quaternion, among the coordinates of a primitive joint
LENGTHS = {"revolute": 0, "prismatic": 1, "helical": 0, "spherical": 0, "planar": 2, "free": 3, "pose": 12}
QUATERNIONS = ("spherical", "free")
WRAPPING = ("revolute", "planar")  # kinds whose angle may wrap: whole turns do not matter


def coordinate_codes(robot: Robot, q: Array, size: float) -> tuple[npt.NDArray[np.int64], list[float]]:
    """(coordinates q (n, nq) as 32-bit integers (nq, n), quanta of the nq coordinates).

    `size` [m] is the robot's extent. The quantum of an angle is a full turn over a power of two, so that an integer
    overflow is a number of full turns. Other coordinates must not overflow; where they would, their quantum is larger:
    in a picture of a path of 10,000 robot sizes, an error of a fraction of one size is not visible.
    """
    if not robot.nq:
        return np.zeros((0, len(q)), dtype=np.int64), []
    angle, length = _quanta(robot, q, size)
    quanta, wraps, values = np.full(robot.nq, length), np.zeros(robot.nq, dtype=bool), q.copy()
    for joint in robot.joints:
        first = robot.q_slice(joint.name).start
        for step in joint.table.primitives:
            turns = slice(first + step.q[0] + LENGTHS[step.kind], first + step.q[1])
            quanta[turns] = angle / 4.0 if step.kind in QUATERNIONS else angle
            wraps[turns] = step.kind in WRAPPING
            if step.kind in QUATERNIONS:  # normalized: their length has no meaning
                norms = np.linalg.norm(q[:, turns], axis=1, keepdims=True)
                values[:, turns] /= np.where(norms > 0.0, norms, 1.0)
    largest = np.abs(values).max(axis=0, initial=0.0)
    quanta = np.where(wraps, quanta, np.maximum(quanta, largest / WIDEST))
    return np.round(values / quanta).astype(np.int64).T, quanta.tolist()


def _quanta(robot: Robot, q: Array, size: float) -> tuple[float, float]:
    """(quantum of angles [rad], quantum of lengths [m]) for coordinates q (n, nq).

    Half of the tolerance is for rotations and half for translations, shared by all primitive joints of the longest
    chain. An angle is off by at most half a quantum; so are the three lengths of a free base and the four entries of a
    quaternion, whose rotation is off by up to twice the norm of their errors.
    """
    steps, reaches = {WORLD: 0}, {WORLD: 0.0}
    for joint in robot.order:
        steps[joint.child] = steps[joint.parent] + len(joint.table.primitives)
        reaches[joint.child] = reaches[joint.parent] + _length(joint, q[:, robot.q_slice(joint.name)])
    share = TOLERANCE / max(1, *steps.values())
    finest = share * min(1.0, size / max(size, *reaches.values()))
    return float(2.0 * np.pi / 2.0 ** np.ceil(np.log2(2.0 * np.pi / finest))), 0.5 * share * size


def _length(joint: Joint, q: Array) -> float:
    """An upper bound of the distance [m] from a joint's parent frame to its child frame over q (n, joint.nq).

    The translation of free and planar joints is not included.
    """
    length = sum(float(np.linalg.norm(evaluate_all(pose).p)) for pose in (joint.placement, joint.child_placement))
    for step in joint.table.primitives:
        if step.kind in ("prismatic", "helical"):
            along = abs(float(evaluate(joint.pitch))) if step.kind == "helical" else 1.0
            length += along * float(np.abs(q[:, step.q[0]]).max(initial=0.0))
    return length
