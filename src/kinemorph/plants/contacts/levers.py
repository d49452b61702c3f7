"""How far the touching points of a robot move when its coordinates do, at most."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import Pose
from kinemorph.mechanics.elements.contact.clearances import bounds
from kinemorph.mechanics.elements.contact.touching_points import spots
from kinemorph.model.elements import Contact
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import evaluate_all
from kinemorph.model.robot import Robot
from kinemorph.model.topology import WORLD

UNLIMITED = 1.0  # [m]: a slide without limits goes this far


def levers(robot: Robot, elements: Iterable[object]) -> Array:
    """For each body with contacts, (bodies, nv), how far its touching points move per unit of each velocity, at most:
    the distance [m] from the joint for rad/s, 1 for m/s, 0 for joints that do not carry the body. Driven joints, whose
    motion is a formula of others, are taken to be at rest.
    """
    reach: dict[str, float] = {}
    for one in elements:
        if isinstance(one, Contact):
            frame = robot.frame(one.body)
            farthest = float(np.linalg.norm(np.abs(bounds(spots(one))).max(axis=0))) + _length(frame.placement)
            reach[frame.body] = max(reach.get(frame.body, 0.0), farthest)
    carriers = {joint.child: joint for joint in robot.joints}
    found = np.zeros((len(reach), robot.nv))
    for row, (body, far) in zip(found, reach.items(), strict=True):
        while body != WORLD:
            joint = carriers[body]
            far += _length(joint.child_placement) + (_travel(joint) if joint.parent != WORLD else 0.0)
            own = robot.v_slice(joint.name)
            row[own] = [far if unit == "rad/s" else 1.0 for unit in robot.v_units[own]]
            far += _length(joint.placement)
            body = joint.parent
    return found


def _travel(joint: Joint) -> float:
    """How far a joint slides [m]."""
    limits = zip(joint.lower, joint.upper, strict=True) if joint.lower else [(-math.inf, math.inf)] * joint.nq
    ends = [max(abs(low), abs(high)) for low, high in limits]
    units = joint.table.q_units
    return sum(end if end < math.inf else UNLIMITED for end, unit in zip(ends, units, strict=True) if unit == "m")


def _length(pose: Pose) -> float:
    return float(np.linalg.norm(np.array(evaluate_all(pose.p), dtype=float)))
