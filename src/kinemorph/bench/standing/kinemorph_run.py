"""The hexapods on the ground in Kinemorph: contacts of the feet, springs at the joints, and the integration methods."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.scalar import less, where
from kinemorph.bench.standing.problem import PUSHED, STEPS, Push, Standing
from kinemorph.model.elements.contact.contact_laws import EasyDynNormal, Regularized
from kinemorph.model.elements.contact.contacts import Contact
from kinemorph.model.elements.control.controllers import PD
from kinemorph.model.elements.forces.applied import AppliedWrench
from kinemorph.model.system import System
from kinemorph.plants.programs import Plant
from kinemorph.plants.robot_plant import plant
from kinemorph.simulation.march.layout import Status
from kinemorph.simulation.simulate_batch import simulate_batch
from kinemorph.simulation.stepping.stepper import Stepper

METHODS: dict[str, tuple[float, ...]] = {  # the step sizes [s] of each method
    "semi_implicit_euler": STEPS[3:8],
    "implicit_contact": STEPS[1:6],
    "centered_contact": STEPS[1:6],
    "centered_contact_3": STEPS[1:5],
    "extrapolated_contact": STEPS[1:5],
}
BATCH, BATCH_STEPS = 256, 400  # robots in a timed batch, and steps of each
SHORT = 1e-9  # [s], rounding of times


class OursStanding:
    """The problem of a robot on the ground, in Kinemorph with one of its integration methods."""

    def __init__(self, problem: Standing, method: str) -> None:
        self.problem, self.method = problem, method
        q, v = problem.start
        self.stepper = Stepper(standing_plant(problem), method=method, step=problem.sample / 8.0, q=q, v=v)

    def run(self, h: float) -> Array:
        """The configurations at the samples of a run with step size h [s], shape (n, nq); NaN if the run fails."""
        stepper, times, nq = self.stepper, self.problem.times, self.problem.robot.nq
        stepper.restart(0.0, *self.problem.start)
        stepper.h = h
        rows: list[Array] = []
        while len(times):
            marched = stepper.through(times, float(times[-1]))
            if marched.status not in (Status.GOING, Status.BUDGET):
                return np.full((len(self.problem.times), nq), np.nan)
            rows.append(marched.rows[:, :nq])
            times = times[len(marched.times) :]
        return np.concatenate(rows)

    def batch(self, h: float) -> Callable[[], Any]:
        """A function that makes BATCH_STEPS steps of size h [s] of BATCH robots on one core.

        Each robot has its own initial velocity.
        """
        angles = np.linspace(0.0, 2.0 * np.pi, BATCH, endpoint=False)
        v = np.tile(self.problem.start[1], (BATCH, 1))
        v[:, :2] += self.problem.shove * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        end = BATCH_STEPS * h
        given: dict[str, Any] = {"q": self.problem.q, "v": v, "method": self.method, "step": h, "output_step": end}
        return lambda: simulate_batch(self.stepper.plant, end, threads=1, **given)


@cache
def standing_plant(problem: Standing) -> Plant:
    """The plant of the robot with its elements and the push."""
    found = elements(problem) if problem.elements is None else problem.elements
    pushed = () if problem.push is None else (AppliedWrench("push", PUSHED, pushing(problem.push)),)
    return plant(System(problem.robot, (*found, *pushed)))


def elements(problem: Standing) -> tuple[Any, ...]:
    """A contact and a controller for each leg of a hexapod: its own controller, so that all legs are alike."""
    ground, robot = problem.ground, problem.robot
    normal = EasyDynNormal(stiffness=ground.stiffness, damping=ground.damping)
    friction = Regularized(ground.friction, ground.creep)
    joints = [joint.name for joint in robot.joints[1:]]
    each = len(joints) // len(problem.feet)
    found: list[Any] = []
    for k, foot in enumerate(problem.feet):
        leg = slice(each * k, each * (k + 1))
        gains: dict[str, Any] = {"kp": (problem.stiffness,), "kd": (problem.damping,)}
        stance = tuple(problem.posture[leg].tolist())
        found.append(Contact(f"sole{k + 1}", foot, normal, friction))
        found.append(PD(f"hold{k + 1}", joints=tuple(joints[leg]), reference=stance, **gains))
    return tuple(found)


def pushing(push: Push) -> Callable[[Any], list[Any]]:
    """The force of a push [N] as a function of time [s].

    A step that begins at the instant when the force starts or ends gets the value after that instant.
    """

    def force(t: Any) -> list[Any]:
        acts = less(push.start - SHORT, t) * less(t, push.end - SHORT)
        return [where(acts, part, 0.0) for part in push.force]

    return force
