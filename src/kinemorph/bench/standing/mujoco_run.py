"""Robots on the ground in MuJoCo: the same masses, gains and push, with MuJoCo's contact.

Feet are small spheres, as MuJoCo has no contact of points. The springs are position actuators, the dampers are joint
damping, which every integrator except RK4 treats implicitly. A gimbal is three hinges of one body.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal

import mujoco
import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.bench.peers.mujoco_twin import MujocoTwin
from kinemorph.bench.standing.problem import BASE, Standing
from kinemorph.model.parameter import evaluate_all

Integrator = Literal["Euler", "implicitfast"]
INTEGRATORS: dict[Integrator, int] = {
    "Euler": mujoco.mjtIntegrator.mjINT_EULER,
    "implicitfast": mujoco.mjtIntegrator.mjINT_IMPLICITFAST,
}


class MujocoStanding:
    """The problem of a robot on the ground, in MuJoCo with one of its integrators."""

    def __init__(self, problem: Standing, integrator: Integrator = "Euler") -> None:
        self.problem, self.integrator = problem, integrator
        twin = MujocoTwin(problem.robot, fitted=partial(fitted, problem))
        self.model = twin.model
        self.model.opt.integrator = INTEGRATORS[integrator]
        self.data = mujoco.MjData(self.model)
        self.base = self.model.body(problem.robot.bodies[0].name).id
        twin.place(problem.q, np.zeros(problem.robot.nv))
        self.start = twin.data.qpos.copy()
        self.start[2] += problem.radius  # the feet touch where ours do
        places = {step.q: step.peer_q for step in twin.steps}
        self.order = [*range(BASE), *(places[k] for k in range(BASE, problem.robot.nq))]

    def run(self, h: float) -> Array:
        """The configurations at the samples of a run with step size h [s], shape (n, nq), in our order."""
        self.model.opt.timestep = h
        rows: list[Array] = []
        for times, force in self.begun():
            self.data.xfrc_applied[self.base, :3] = force
            for _ in times:
                mujoco.mj_step(self.model, self.data, round(self.problem.sample / h))
                rows.append(self.data.qpos[self.order])
        found = np.array(rows)
        found[:, 2] -= self.problem.radius
        return found

    def begun(self) -> list[tuple[Array, tuple[float, float, float]]]:
        """Resets the robot to its initial state; returns the sample times in phases, each with its push [N]."""
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:] = self.start
        self.data.ctrl[:] = self.problem.posture
        return self.problem.phases

    def rollout(self, h: float, count: int) -> Callable[[], None]:
        """A function that runs `count` robots with step size h [s] by MuJoCo's `rollout`, in one thread."""
        from mujoco import rollout

        self.model.opt.timestep = h
        state, given_parts = mujoco.mjtState.mjSTATE_FULLPHYSICS, int(mujoco.mjtState.mjSTATE_CTRL)
        given_parts |= int(mujoco.mjtState.mjSTATE_XFRC_APPLIED)
        first = np.empty(mujoco.mj_stateSize(self.model, state))
        plan: list[tuple[Array, Array]] = []
        for times, force in self.begun():
            pushes = np.zeros((self.model.nbody, 6))
            pushes[self.base, :3] = force
            room = np.empty((count, len(times) * round(self.problem.sample / h), len(first)))
            plan.append((np.concatenate([self.problem.posture, pushes.ravel()])[None, None], room))
        mujoco.mj_getState(self.model, self.data, first, state)

        def work() -> None:
            states = np.tile(first, (count, 1))
            for control, room in plan:
                given = {"control_spec": given_parts, "nstep": room.shape[1], "state": room}
                rollout.rollout(self.model, self.data, states, control, **given)
                states = room[:, -1].copy()

        return work


def fitted(problem: Standing, spec: mujoco.MjSpec) -> None:
    """Adds the ground, feet, springs and dampers of the problem to a MuJoCo model."""
    friction = [problem.ground.friction, 0.0, 0.0]
    plane = spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0.0, 0.0, 1.0])
    plane.contype, plane.conaffinity, plane.friction = 1, 0, friction
    for name in problem.feet:
        frame = problem.robot.frame(name)
        above = np.array(evaluate_all(frame.placement.p))
        size = [problem.radius, 0.0, 0.0]
        foot = spec.body(frame.body).add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=size, pos=above)
        foot.contype, foot.conaffinity, foot.friction = 0, 1, friction
        if problem.contact_time is not None:
            foot.solref[0] = plane.solref[0] = problem.contact_time
    for name in (f"{joint.name}.{k}.0" for joint in problem.robot.joints[1:] for k in range(joint.nv)):
        hinge = spec.joint(name)
        hinge.damping[0] = problem.damping
        spring = spec.add_actuator(target=hinge.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        spring.gainprm[0], spring.biastype, spring.biasprm[1] = (
            problem.stiffness,
            mujoco.mjtBias.mjBIAS_AFFINE,
            -problem.stiffness,
        )
