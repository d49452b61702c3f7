"""The configuration in which a robot without a run is shown: the requested one, or a typical one.

A legged robot, for instance, is shown with bent knees rather than straight legs.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.display.looks.poses import Poses
from kinemorph.errors import ModelWarning, ShapeError, users_level
from kinemorph.mechanics.constraints.newton_closing import assembled
from kinemorph.model.configuration import initial_configuration
from kinemorph.model.robot import Robot
from kinemorph.words import did_you_mean, quoted

# joint coordinates [rad or m] in which each robot is shown, by the ending of the joint's name
STANCE: dict[str, dict[str, float]] = {
    "pendulum": {"q1": 0.6},
    "double_pendulum": {"q1": 0.5, "q2": 0.6},
    "crane": {"theta": 0.5},
    "scara": {"shoulder": 0.5, "elbow": -1.2, "lift": -0.1},
    "puma": {"joint2": 0.7, "joint3": -0.6, "joint5": 0.8},
    "hand": {
        "_mcp": 0.5, "_pip": 0.6, "_dip": 0.35, "thumb_cmc": 0.35, "thumb_ip": 0.4, "thumb_spread": -0.1,
        "index_spread": -0.08, "ring_spread": 0.05, "little_spread": 0.12,
    },
    "hexapod24": {"thigh_joint": -0.45, "shank_joint": 1.35},
    "hexapod36": {"thigh_joint": -0.5, "shank_joint": 1.1, "foot_joint": 0.55},
    "humanoid": {
        "thigh_joint": -0.35, "shank_joint": 0.7, "ankle_joint": -0.35, "forearm_joint": -0.9,
        "shoulder_pitch_joint": -0.4, "left_shoulder_roll_joint": 0.25, "right_shoulder_roll_joint": -0.25,
    },
    "amru5": {
        "q2": 0.24, "q7": 0.08, "q8": 0.1, "q12": 0.0, "q18": 0.0,
        **{f"q{k}": 0.08 for k in (10, 13, 16, 19, 22)}, **{f"q{k}": 0.1 for k in (11, 14, 17, 20, 23)},
    },
    "four_bar": {"q1": 0.6, "q2": 0.02989836, "q3": 1.6066907},
    "slider_crank": {"crank_joint": 0.8, "rod_joint": -1.166851321778844, "slider_joint": -0.43637062518183134},
}  # fmt: skip


def stance(robot: Robot) -> Array:
    """A typical configuration of a robot, shape (nq,): knees bent, and the lowest frame of a free base at z = 0."""
    q = initial_configuration(robot)
    for ending, angle in STANCE.get(robot.name, {}).items():
        for joint in robot.joints:
            if joint.name.endswith(ending) and joint.nq == 1:
                q[robot.q_slice(joint.name)] = angle
    if robot.name.startswith("chain"):
        q[:] = np.linspace(0.9, -0.3, robot.nq) * 2.0 / max(robot.nq, 2)
    free = [joint for joint in robot.joints if joint.kind == "free"]
    if free and robot.frames:
        poses = Poses(robot, q)
        lowest = min(float(poses.p[frame.name][0, 2]) for frame in robot.frames)
        for joint in free:
            q[robot.q_slice(joint.name).start + 2] -= lowest
    return q


def posture(robot: Robot, q: Any = None, start: Any = None) -> Array:
    """The configuration (nq,) that `q` gives, as numbers in order or as {coordinate name: value}.

    Coordinates that `q` does not name, and all of them where `q` is None, come from `start` (nq,), or from `stance`
    where there is no `start`.
    """
    usual = np.array(start, dtype=float) if start else stance(robot)
    if q is None:
        return usual
    values = _named(robot, q, usual) if isinstance(q, Mapping) else _numbers(q)
    if values.shape != (robot.nq,):
        raise ShapeError(f"q has shape {values.shape}, expected ({robot.nq},) for robot '{robot.name}'.")
    for joint in robot.joints:
        own = values[robot.q_slice(joint.name)]
        if not all(own[first : first + 4].any() for first in joint.table.quaternions):
            raise ShapeError(f"q: the quaternion of '{joint.name}' is zero; expected a rotation such as (1, 0, 0, 0).")
    return values


def closed_posture(robot: Robot, q: Any = None, start: Any = None) -> Array:
    """The configuration (nq,) that `q` gives, as `posture` does, with closed loops where `q` names some coordinates
    only.

    The other coordinates close the loops and follow coupled joints. A complete configuration stays as it is. Where no
    configuration closes the loops, they stay open, with a warning.
    """
    values = posture(robot, q, start)
    if not isinstance(q, Mapping) or not (robot.loops or robot.couplings):
        return values
    places = {place for place, name in enumerate(robot.q_names) if name in q}
    kept = [joint.name for joint in robot.joints if places & set(range(*robot.q_slice(joint.name).indices(robot.nq)))]
    found = assembled(robot, values.tolist(), kept)
    if found is None:
        warnings.warn(
            f"q: no configuration of '{robot.name}' closes its loops with {quoted(kept)} at the given coordinates; "
            "they are drawn open. Name fewer coordinates, or others.",
            ModelWarning,
            stacklevel=users_level(),
        )
        return values
    return found


def _named(robot: Robot, q: Mapping[Any, Any], usual: Array) -> Array:
    """The configuration `usual` (nq,) with the coordinates replaced that `q` gives by name."""
    values = usual.copy()
    for name, value in q.items():
        if name not in robot.q_names:
            raise ShapeError(
                f"q: robot '{robot.name}' has no coordinate '{name}'; expected one of: "
                f"{', '.join(robot.q_names[:12])}.{did_you_mean(str(name), robot.q_names)}"
            )
        number = _numbers(value)
        if number.shape:
            raise ShapeError(f"q: coordinate '{name}' has shape {number.shape}, expected one number.")
        values[robot.q_names.index(name)] = number
    return values


def _numbers(q: Any) -> Array:
    try:
        return np.asarray(q, dtype=float)
    except (TypeError, ValueError):
        raise ShapeError(f"q is {str(q)[:60]!r}; expected numbers in order, or {{coordinate name: number}}.") from None
