"""The hexapods on the ground, here: feet on a plane, springs at the joints, and the way a run steps."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from kinemorph.algebra.scalar import maximum, sqrt
from kinemorph.bench.standing import BASE, PUSHED, Array, Standing
from kinemorph.mechanics.kinematics import attached_poses, jacobian, link_poses
from kinemorph.mechanics.resolving import resolve
from kinemorph.plants.programs import Plant
from kinemorph.plants.robots import plant
from kinemorph.simulation.march_memory import Status
from kinemorph.simulation.stepper import Stepper

FORCE = {"push_x": "N", "push_y": "N", "push_z": "N"}


@cache
def explicit_plant(problem: Standing) -> Plant:
    """Contact and springs as generalized forces; the input is the push."""
    tree, nv, ground = resolve(problem.robot), problem.robot.nv, problem.ground

    def carried(q: Any, frame: str) -> list[list[Any]]:
        return jacobian(tree, q, frame, "local_world_aligned")[:3]

    def forces(q: Any, v: Any, u: Any) -> list[Any]:
        tau: list[Any] = [0.0] * nv
        poses = attached_poses(tree, link_poses(tree, q), problem.feet)
        pushes = [(carried(q, PUSHED), u)]
        for foot, pose in zip(problem.feet, poses, strict=True):
            J = carried(q, foot)
            pushes.append((J, contact_force(ground, pose.p[2], [_dot(row, v) for row in J])))
        for J, force in pushes:
            for k in range(nv):
                tau[k] = tau[k] + sum(force[i] * J[i][k] for i in range(3))
        for k, angle in enumerate(problem.posture):
            tau[6 + k] = tau[6 + k] - problem.stiffness * (q[BASE + k] - float(angle)) - problem.damping * v[6 + k]
        return tau

    return plant(problem.robot, forces=forces, inputs=FORCE)


def contact_force(ground: Any, height: Any, velocity: Sequence[Any]) -> list[Any]:
    """The force of the ground on a foot at that height [m], in world axes [N]; over any scalar."""
    x, y, z = velocity
    normal = maximum(-height, 0.0) * maximum(ground.stiffness - ground.damping * z, 0.0)
    grip = ground.friction * normal / sqrt(maximum(x * x + y * y, ground.creep**2))
    return [-grip * x, -grip * y, normal]


def _dot(row: Sequence[Any], v: Sequence[Any]) -> Any:
    return sum(a * b for a, b in zip(row, v, strict=True))


def ours(problem: Standing, h: float, passes: int = 0) -> Array:
    """q at the samples, shape (n, nq), by steps of h [s]. `passes` of the implicit contact; 0: the explicit step."""
    stepper = Stepper(explicit_plant(problem), method="semi_implicit_euler", step=h, q=problem.q)
    rows: list[Array] = []
    for times, force in problem.phases:
        stepper.push(force)
        while len(times):
            marched = stepper.through(times, float(times[-1]))
            rows.extend(marched.rows[:, : problem.robot.nq])
            times = times[len(marched.times) :]
            if marched.status not in (Status.GOING, Status.BUDGET):
                return np.full((len(problem.times), problem.robot.nq), np.nan)
    return np.array(rows)
