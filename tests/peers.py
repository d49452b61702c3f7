"""The same robot in Pinocchio, and the maps between its coordinates and ours. `mujoco_peer` does the same for MuJoCo.

A peer carries one frame per joint: our joint frame on the child, so T_parent_joint = placement * motion(q), and bodies
and further joints hang on it at the inverse of `child_placement`. Every answer is given in our order and convention.

Pinocchio writes quaternions xyzw and planar q = [x y cos sin]; its velocities are ours in its own order. Joints are
added depth first: in another order its CRBA is silently wrong. Universal and cylindrical joints are two joints there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from kinemorph.algebra.groups import Pose, matrix_of
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.robot import Robot

Array = np.ndarray


class Step(NamedTuple):
    """One elementary joint: its kind, where its coordinates begin in our q and v, and in the peer's."""

    kind: str
    q: int
    v: int
    peer_q: int
    peer_v: int


def depth_first(robot: Robot) -> list[Joint]:
    """The tree joints, every subtree in one piece."""
    below: dict[str, list[Joint]] = {}
    for joint in robot.joints:
        below.setdefault(joint.parent, []).append(joint)
    ordered, waiting = [], below.get("world", [])[::-1]
    while waiting:
        joint = waiting.pop()
        ordered.append(joint)
        waiting += below.get(joint.child, [])[::-1]
    return ordered


def matrix(pose: Pose) -> Array:
    """A pose as a homogeneous matrix of numbers."""
    return np.array(matrix_of(evaluate_all(pose)), dtype=float)


def sizes(kind: str) -> tuple[int, int]:
    """(nq, nv) of an elementary kind."""
    return {"planar": (3, 3), "spherical": (4, 3), "free": (7, 6)}.get(kind, (1, 1))


# ── Pinocchio ─────────────────────────────────────────────────────────────────────────────────────────────────────────

_PIN_JOINTS: dict[str, Callable[[Array, float], Any]] = {
    "revolute": lambda axis, pitch: pin.JointModelRevoluteUnaligned(axis),
    "prismatic": lambda axis, pitch: pin.JointModelPrismaticUnaligned(axis),
    "helical": lambda axis, pitch: pin.JointModelHelicalUnaligned(axis, pitch),
    "planar": lambda axis, pitch: pin.JointModelPlanar(),
    "spherical": lambda axis, pitch: pin.JointModelSpherical(),
    "free": lambda axis, pitch: pin.JointModelFreeFlyer(),
}


class PinocchioPeer:
    """A robot in Pinocchio. All methods take and give one state in our convention."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.model = model = pin.Model()
        model.gravity.linear = np.array(evaluate_all(robot.gravity))
        self.at: dict[str, tuple[int, Array]] = {"world": (0, np.eye(4))}  # body or frame -> joint, pose in its frame
        self.steps: list[Step] = []
        armature: list[float] = []
        for joint in depth_first(robot):
            index, pose = self.at[joint.parent]
            pose = pose @ matrix(joint.placement)
            for number, step in enumerate(joint.table.primitives):
                axis = np.array(joint.axes[step.axis or 0])
                made = _PIN_JOINTS[step.kind](axis, evaluate(joint.pitch))
                index, pose = model.addJoint(index, made, pin.SE3(pose), f"{joint.name}.{number}"), np.eye(4)
                peer = model.joints[index]
                q, v = robot.q_slice(joint.name).start + step.q[0], robot.v_slice(joint.name).start + step.v[0]
                self.steps.append(Step(step.kind, q, v, peer.idx_q, peer.idx_v))
                armature += [evaluate(x) for x in joint.armature[slice(*step.v)]]
            pose = pose @ np.linalg.inv(matrix(joint.child_placement))
            self.at[joint.child] = (index, pose)
            body = robot.body(joint.child)
            inertia = pin.Inertia(
                evaluate(body.mass), np.array(evaluate_all(body.com)), np.array(evaluate_all(body.inertia))
            )
            model.appendBodyToJoint(index, inertia, pin.SE3(pose))
        for frame in robot.frames:
            index, pose = self.at[frame.body]
            self.at[frame.name] = (index, pose @ matrix(frame.placement))
        model.armature = np.array(armature)
        self.order = np.array([step.v + k for step in self.steps for k in range(sizes(step.kind)[1])])
        self.data = model.createData()

    def configuration(self, q: Array) -> Array:
        peer = np.zeros(self.model.nq)
        for step in self.steps:
            own = q[step.q : step.q + sizes(step.kind)[0]]
            if step.kind == "planar":
                own = [own[0], own[1], np.cos(own[2]), np.sin(own[2])]
            elif step.kind in ("spherical", "free"):
                own = [*own[:-4], *own[-3:], own[-4]]
            peer[step.peer_q : step.peer_q + len(own)] = own
        return peer

    def _ours(self, values: Array) -> Array:
        """Columns in our order."""
        result = np.empty(values.shape)
        result[..., self.order] = values
        return result

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
        return self._ours(self._ours(matrix.copy()).T).T

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
