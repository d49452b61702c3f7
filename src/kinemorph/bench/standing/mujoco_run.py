"""Robots on the ground in MuJoCo: the same masses, gains and push, with MuJoCo's contact.

Feet are small spheres, as MuJoCo has no contact of points. The springs are position actuators, the dampers are joint
damping, which every integrator except RK4 treats implicitly. A gimbal is three hinges of one body.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal, NamedTuple

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
STATE = mujoco.mjtState.mjSTATE_FULLPHYSICS
GIVEN = int(mujoco.mjtState.mjSTATE_CTRL) | int(mujoco.mjtState.mjSTATE_XFRC_APPLIED)  # the controls of a rollout


class Plan(NamedTuple):
    """Runs of several robots by `rollout`: the initial state of all, then controls and memory for states by phase."""

    first: Array
    h: float  # [s]
    controls: list[Array]
    rooms: list[Array]


class MujocoStanding:
    """The problem of a robot on the ground, in MuJoCo with one of its integrators."""

    def __init__(self, problem: Standing, integrator: Integrator = "Euler") -> None:
        self.problem, self.integrator = problem, integrator
        twin = MujocoTwin(problem.robot, fitted=partial(fitted, problem))
        self.model = twin.model
        self.model.opt.integrator = INTEGRATORS[integrator]
        self.data = mujoco.MjData(self.model)
        self.base = self.model.body(problem.robot.bodies[0].name).id
        twin.place(*problem.start)
        self.start, self.speeds = twin.data.qpos.copy(), twin.data.qvel.copy()
        self.start[2] += problem.radius  # the feet touch where ours do
        places = {step.q: step.peer_q for step in twin.steps}
        self.order = [*range(BASE), *(places[k] for k in range(BASE, problem.robot.nq))]

    def run(self, h: float) -> Array:
        """The configurations at the samples of a run with step size h [s], shape (n, nq), in our order."""
        each = round(self.problem.sample / h)
        if self.problem.gait is not None:  # controls change from step to step
            plan = self.planned(h, 1)
            self.rolled(plan)
            found = plan.rooms[0][0, each - 1 :: each, 1 : 1 + self.model.nq][:, self.order]
        else:
            self.model.opt.timestep = h
            self.begin()
            rows: list[Array] = []
            for times, force in self.problem.phases:
                self.data.xfrc_applied[self.base, :3] = force
                for _ in times:
                    mujoco.mj_step(self.model, self.data, each)
                    rows.append(self.data.qpos[self.order])
            found = np.array(rows)
        found[:, 2] -= self.problem.radius
        return found

    def begin(self) -> None:
        """Resets the robot to its initial state."""
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:], self.data.qvel[:] = self.start, self.speeds
        self.data.ctrl[:] = self.problem.posture

    def rollout(self, h: float, count: int) -> Callable[[], None]:
        """A function that runs `count` robots with step size h [s] by MuJoCo's `rollout`, in one thread."""
        return partial(self.rolled, self.planned(h, count))

    def planned(self, h: float, count: int) -> Plan:
        """The initial state, controls and memory of `count` runs with step size h [s] by `rollout`."""
        self.model.opt.timestep = h
        self.begin()
        first = np.empty(mujoco.mj_stateSize(self.model, STATE))
        mujoco.mj_getState(self.model, self.data, first, STATE)
        plan = Plan(first, h, [], [])
        for times, force in self.problem.phases:
            steps = len(times) * round(self.problem.sample / h)
            pushes = np.zeros((self.model.nbody, 6))
            pushes[self.base, :3] = force
            wanted = self.controls(h, steps)
            both = np.concatenate([wanted, np.tile(pushes.ravel(), (len(wanted), 1))], axis=1)
            plan.controls.append(np.broadcast_to(both, (count, *both.shape)) if len(both) > 1 else both[None])
            plan.rooms.append(np.empty((count, steps, len(first))))
        return plan

    def controls(self, h: float, steps: int) -> Array:
        """The controls (1, nu), or (steps, nu) of a gait. A damper acts on the joint, so its part is in the angle."""
        if self.problem.gait is None:
            return self.problem.posture[None]
        angles, rates = self.problem.gait(h * np.arange(steps, dtype=np.float64))
        found: Array = angles + self.problem.damping / self.problem.stiffness * rates
        return found

    def rolled(self, plan: Plan) -> None:
        """Runs a plan; the states are in its memory."""
        from mujoco import rollout

        self.model.opt.timestep = plan.h
        states = np.tile(plan.first, (len(plan.rooms[0]), 1))
        for control, room in zip(plan.controls, plan.rooms, strict=True):
            given = {"control_spec": GIVEN, "nstep": room.shape[1], "state": room}
            rollout.rollout(self.model, self.data, states, control, **given)
            states = room[:, -1].copy()


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
