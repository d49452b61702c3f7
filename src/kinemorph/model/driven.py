"""Driven joints: which coordinates their formulas may name, and their coordinates at a configuration."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kinemorph.algebra.scalar import S
from kinemorph.model.joint import PLAIN, Joint
from kinemorph.model.parameter import Lookup, evaluate
from kinemorph.model.robot import Robot


def coordinate_places(robot: Robot) -> dict[str, tuple[int, int]]:
    """For every coordinate that a formula may name: its index in q and the index in v of its rate.

    These are the coordinates of joints that are made up of hinges and slides. The coordinates of planar, spherical and
    free joints have rates that are not velocities.
    """
    found: dict[str, tuple[int, int]] = {}
    for joint in robot.joints:
        steps = joint.table.primitives
        if all(step.kind in PLAIN for step in steps):
            q, v = robot.q_slice(joint.name).start, robot.v_slice(joint.name).start
            found |= {name: (q + k, v + k) for k, name in enumerate(joint.q_names)}
    return found


def with_driven(robot: Robot, q: Sequence[S], lookup: Lookup | None = None) -> list[Any]:
    """q, and after it the coordinates of all driven joints, in the order of `robot.driven`.

    `lookup` gives scalars by parameter name, and the time "t"; parameters have their nominal values otherwise.
    """
    known = {**(lookup or {}), **{name: q[i] for name, (i, _) in coordinate_places(robot).items()}}
    return [*q, *(evaluate(formula, known) for joint in robot.driven for formula in joint.driven)]


def all_joints_free(robot: Robot) -> Robot:
    """The robot in which driven joints have coordinates of their own, which follow those of all other joints in q."""
    own = tuple(joint for joint in robot.joints if not joint.driven)
    freed = tuple(_freed(joint) for joint in robot.driven)
    return replace(robot, joints=(*own, *freed), dependents=())


def _freed(joint: Joint) -> Joint:
    nq, nv = joint.motion.nq, joint.motion.nv
    return replace(
        joint,
        driven=(),
        lower=(-math.inf,) * nq,
        upper=(math.inf,) * nq,
        velocity=(math.inf,) * nv,
        effort=(math.inf,) * nv,
    )
