"""The hexapods on the ground, here: feet on a plane, springs at the joints, and the ways a run may step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from kinemorph.algebra.scalar import maximum, sqrt
from kinemorph.bench.standing import BASE, PUSHED, STEPS, Array, Ground, Standing
from kinemorph.mechanics.kinematics import attached_poses, jacobian, link_poses
from kinemorph.mechanics.resolving import resolve
from kinemorph.plants.programs import Plant
from kinemorph.plants.robots import plant
from kinemorph.simulation.batch import simulate_batch
from kinemorph.simulation.march_memory import Status
from kinemorph.simulation.stepper import Stepper

FORCE = {"push_x": "N", "push_y": "N", "push_z": "N"}
METHODS: dict[str, tuple[float, ...]] = {"semi_implicit_euler": STEPS[3:8]}  # and the steps [s] that each is tried at
BATCH, BATCH_STEPS = 256, 400  # robots, and steps of each, in what is timed for a batch


class OursStanding:
    """The problem as a plant, with one of our methods."""

    def __init__(self, problem: Standing, method: str) -> None:
        self.problem, self.method = problem, method
        self.stepper = Stepper(standing_plant(problem), method=method, step=STEPS[0], q=problem.q)

    def run(self, h: float) -> Array:
        """q at the samples, shape (n, nq), by steps of h [s]; not a number where it fails."""
        stepper, nq = self.stepper, self.problem.robot.nq
        stepper.restart(0.0, self.problem.q)
        stepper.h = h
        rows: list[Array] = []
        for times, force in self.problem.phases:
            stepper.push(force)
            while len(times):
                marched = stepper.through(times, float(times[-1]))
                if marched.status not in (Status.GOING, Status.BUDGET):
                    return np.full((len(self.problem.times), nq), np.nan)
                rows.append(marched.rows[:, :nq])
                times = times[len(marched.times) :]
        return np.concatenate(rows)

    def batch(self, h: float) -> Callable[[], Any]:
        """BATCH_STEPS steps of h [s] of BATCH robots on one core, each pushed its own way."""
        angles = np.linspace(0.0, 2.0 * np.pi, BATCH, endpoint=False)
        pushes = 50.0 * np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], axis=1)
        end = BATCH_STEPS * h
        given: dict[str, Any] = {"q": self.problem.q, "u": pushes, "method": self.method, "step": h, "sample": end}
        return lambda: simulate_batch(self.stepper.plant, end, threads=1, **given)


@cache
def standing_plant(problem: Standing) -> Plant:
    """Contact and springs as generalized forces; the inputs are the push."""
    tree, nv = resolve(problem.robot), problem.robot.nv

    def forces(q: Any, v: Any, u: Any) -> list[Any]:
        tau: list[Any] = [0.0] * nv
        poses = attached_poses(tree, link_poses(tree, q), problem.feet)
        heights = {foot: pose.p[2] for foot, pose in zip(problem.feet, poses, strict=True)}
        for frame in (*problem.feet, PUSHED):
            J = jacobian(tree, q, frame, "local_world_aligned")[:3]
            velocity = [sum(a * b for a, b in zip(row, v, strict=True)) for row in J]
            force = u if frame == PUSHED else contact_force(problem.ground, heights[frame], velocity)
            for k in range(nv):
                tau[k] = tau[k] + sum(force[i] * J[i][k] for i in range(3))
        for k, angle in enumerate(problem.posture.tolist()):
            tau[6 + k] = tau[6 + k] - problem.stiffness * (q[BASE + k] - angle) - problem.damping * v[6 + k]
        return tau

    return plant(problem.robot, forces=forces, inputs=FORCE)


def contact_force(ground: Ground, height: Any, velocity: Sequence[Any]) -> list[Any]:
    """The force of the ground on a foot at that height [m] with that velocity [m/s], in world axes [N]."""
    x, y, z = velocity
    normal = maximum(-height, 0.0) * maximum(ground.stiffness - ground.damping * z, 0.0)
    grip = ground.friction * normal / sqrt(maximum(x * x + y * y, ground.creep**2))
    return [-grip * x, -grip * y, normal]
