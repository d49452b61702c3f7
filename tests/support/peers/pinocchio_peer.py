"""What the tests ask Pinocchio: a robot's twin there, one state at a time, every answer in our order and convention.

`kinemorph.bench.peers.pinocchio_twin` makes the twin; `mujoco_twin` there does the same for MuJoCo.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from kinemorph.bench.peers.pinocchio_twin import twin_of_robot
from kinemorph.model.robot import Robot

Array = np.ndarray


class PinocchioPeer:
    """A robot in Pinocchio. All methods take and give one state in our convention."""

    def __init__(self, robot: Robot) -> None:
        self.robot, self.twin = robot, twin_of_robot(robot)
        self.model, self.at, self.order = self.twin.model, self.twin.at, self.twin.order
        self.configuration, self._ours = self.twin.configuration, self.twin.ours
        self.data = self.model.createData()

    def mass_matrix(self, q: Array) -> Array:
        upper = np.triu(pin.crba(self.model, self.data, self.configuration(q)))
        whole = upper + np.triu(upper, 1).T
        return self._ours_twice(whole)

    def inverse_dynamics(
        self, q: Array, v: Array, a: Array, wrenches: Mapping[str, Sequence[float]] | None = None
    ) -> Array:
        state = self.configuration(q), v[self.order], a[self.order]
        if not wrenches:
            return self._ours(pin.rnea(self.model, self.data, *state))
        return self._ours(pin.rnea(self.model, self.data, *state, self._forces(wrenches)))

    def bias_forces(self, q: Array, v: Array) -> Array:
        return self.inverse_dynamics(q, v, np.zeros(self.robot.nv))

    def forward_dynamics(
        self, q: Array, v: Array, tau: Array, wrenches: Mapping[str, Sequence[float]] | None = None
    ) -> Array:
        state = self.configuration(q), v[self.order], tau[self.order]
        if not wrenches:
            return self._ours(pin.aba(self.model, self.data, *state))
        return self._ours(pin.aba(self.model, self.data, *state, self._forces(wrenches)))

    def inverse_dynamics_derivatives(self, q: Array, v: Array, a: Array) -> tuple[Array, Array]:
        """d tau / d q along unit velocities, and d tau / d v."""
        pin.computeRNEADerivatives(self.model, self.data, self.configuration(q), v[self.order], a[self.order])
        return self._ours_twice(self.data.dtau_dq), self._ours_twice(self.data.dtau_dv)

    def forward_dynamics_derivatives(self, q: Array, v: Array, tau: Array) -> tuple[Array, Array]:
        """d a / d q along unit velocities, and d a / d v."""
        pin.computeABADerivatives(self.model, self.data, self.configuration(q), v[self.order], tau[self.order])
        return self._ours_twice(self.data.ddq_dq), self._ours_twice(self.data.ddq_dv)

    def _ours_twice(self, matrix: Array) -> Array:
        """Rows and columns in our order."""
        return self._ours(matrix, (0, 1))

    def _forces(self, wrenches: Mapping[str, Sequence[float]]) -> Any:
        forces = [pin.Force.Zero() for _ in range(self.model.njoints)]
        for frame, wrench in wrenches.items():
            index, pose = self.at[frame]
            forces[index] += pin.SE3(pose).act(pin.Force(np.array(wrench[:3]), np.array(wrench[3:])))
        made = pin.StdVec_Force()
        made.extend(forces)
        return made

    def pose(self, frame: str, q: Array) -> Array:
        pin.forwardKinematics(self.model, self.data, self.configuration(q))
        index, pose = self.at[frame]
        return self.data.oMi[index].homogeneous @ pose

    def jacobian(self, frame: str, reference: str, q: Array, v: Array) -> tuple[Array, Array]:
        """(J, dJ/dt), each of shape (6, nv)."""
        index, pose = self.at[frame]
        model = self.model.copy()
        number = model.addFrame(pin.Frame("asked", index, pin.SE3(pose), pin.FrameType.OP_FRAME))
        data, which = model.createData(), getattr(pin, reference.upper())
        pin.computeJointJacobiansTimeVariation(model, data, self.configuration(q), v[self.order])
        pin.updateFramePlacements(model, data)
        J = pin.getFrameJacobian(model, data, number, which)
        Jdot = pin.getFrameJacobianTimeVariation(model, data, number, which)
        return self._ours(J.reshape(6, -1)), self._ours(Jdot.reshape(6, -1))

    def centroidal(self, q: Array, v: Array) -> tuple[Array, Array]:
        """(center of mass, centroidal matrix), world axes."""
        pin.ccrba(self.model, self.data, self.configuration(q), v[self.order])
        return self.data.com[0].copy(), self._ours(self.data.Ag.copy().reshape(6, -1))

    @property
    def grounded(self) -> bool:
        """Whether a body is fixed to the world: Pinocchio leaves it out of its center of mass and its potential."""
        return bool(self.model.inertias[0].mass > 0.0)

    def coriolis_matrix(self, q: Array, v: Array) -> Array:
        C = pin.computeCoriolisMatrix(self.model, self.data, self.configuration(q), v[self.order])
        return self._ours_twice(C)

    def energies(self, q: Array, v: Array) -> tuple[float, float]:
        """(kinetic, potential), rotors and bodies fixed to the world included: both are added here."""
        model, held = self.model.copy(), self.model.inertias[0]
        model.armature = np.zeros(model.nv)
        data, at = model.createData(), (self.configuration(q), v[self.order])
        kinetic = pin.computeKineticEnergy(model, data, *at) + 0.5 * float(np.dot(self.model.armature, at[1] ** 2))
        potential = pin.computePotentialEnergy(model, data, at[0])
        return kinetic, potential - held.mass * float(np.dot(model.gravity.linear, held.lever))
