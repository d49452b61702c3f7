"""The largest efforts that joints may have to carry at their limits: weight that rests on them, and their drives.

Every joint carries at most the weight of the bodies beyond it, each at its reach: the length of the way over the
origins of joints to its center of mass, and on to its radius of gyration. A robot that can fall may stand on any of its
bodies. Then a joint, such as a knee, may carry the whole weight at the reach of the farthest body beyond it.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from kinemorph.algebra.vectors import sub
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.robot import Robot
from kinemorph.model.topology import WORLD


@lru_cache(maxsize=16)
def carried_efforts(robot: Robot) -> tuple[float, ...]:
    """The largest effort [N m or N] along each velocity of axes, (nv,); 0 for other velocities.

    Parameters have their nominal values, and axes any direction. The larger one of weight and effort limit counts.
    """
    gravity = math.hypot(*evaluate_all(robot.gravity))
    total = sum(float(evaluate(body.mass)) for body in robot.bodies)
    falls = any(_falls(joint) for joint in robot.joints if joint.parent == WORLD)
    loads: dict[str, list[tuple[Any, float, float, float]]] = {name: [] for name in (WORLD, *robot.body_names)}
    found = [0.0] * robot.nv
    for joint in reversed(robot.order):  # loads of a body: where a joint carries what, its mass, its moment, its reach
        body, origin = robot.body(joint.child), evaluate_all(joint.child_placement.p)
        mass, reach = float(evaluate(body.mass)), 0.0
        if mass > 0.0:
            spread = sum(float(evaluate(body.inertia[k][k])) for k in range(3)) / (2.0 * mass)
            reach = math.hypot(*sub(evaluate_all(body.com), origin)) + math.sqrt(max(spread, 0.0))
        moment = mass * reach
        for at, m, s, r in loads[joint.child]:
            way = math.dist(at, origin)
            mass, moment, reach = mass + m, moment + s + m * way, max(reach, r + way if m else 0.0)
        loads[joint.parent].append((evaluate_all(joint.placement.p), mass, moment, reach))
        turning, sliding = (total * reach, total) if falls else (moment, mass)
        for step in joint.table.primitives:
            weight = {"revolute": turning, "helical": turning, "prismatic": sliding}.get(step.kind)
            if weight is not None:
                limits = [effort for effort in joint.effort[slice(*step.v)] if math.isfinite(effort)]
                found[robot.v_slice(joint.name).start + step.v[0]] = max(gravity * weight, *limits, 0.0)
    return tuple(found)


def _falls(joint: Joint) -> bool:
    """Whether a joint on the world lets its body fall: it slides without limits."""
    return any(
        step.kind in ("free", "planar")
        or (step.kind == "prismatic" and math.isinf(joint.upper[step.q[0]] - joint.lower[step.q[0]]))
        for step in joint.table.primitives
    )
