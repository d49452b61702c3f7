"""A robot as a MuJoCo model, built from MuJoCo's XML format, and the maps between its coordinates and ours.

Several joints in one MuJoCo body act one after the other. So a universal joint is two hinges, a cylindrical joint a
hinge and a slide, a planar joint two slides and a hinge, and a free joint that is attached to a body three slides and a
ball. MuJoCo's own free joint has v = [linear velocity in the world; angular velocity in the body]. With MuJoCo's
velocities v_mj = B(q) v, B orthogonal,

    M = B^T M_mj B      h = B^T (h_mj + M_mj Bdot v)      a = B^T (a_mj - Bdot v)      tau_mj = B tau

MuJoCo has no helical joint, and its armature of linear motion is along the axes of the world, ours along those of the
body. MuJoCo's compiler refuses moments of inertia that no real body has, and those of thin rods; these are set
afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import mujoco
import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import IDENTITY
from kinemorph.algebra.quaternions import rotation_to_quat
from kinemorph.bench.peers.pinocchio_twin import Step, depth_first, matrix, sizes
from kinemorph.model.conventions.conversions import to_convention
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.robot import Robot


class MujocoTwin:
    """A robot as a MuJoCo model. All methods take and return one state in our convention.

    The function `fitted` may add parts to the model before it is compiled (feet, a ground, drives); without it,
    contacts and constraints are disabled.
    """

    def __init__(self, robot: Robot, fitted: Callable[[mujoco.MjSpec], None] | None = None) -> None:
        self.robot = robot
        # bodies of MuJoCo have the frames of our joints
        self._framed = replace(robot, joints=tuple(replace(j, child_placement=IDENTITY) for j in robot.joints))
        self._order = [joint.name for joint in depth_first(robot)]
        self.names: list[tuple[str, Step]] = []
        self.unreal: dict[str, Array] = {}  # principal moments that MuJoCo's compiler would refuse, by body
        below: dict[str, list[Joint]] = {}
        for joint in robot.joints:
            below.setdefault(joint.parent, []).append(joint)
        # from the tips to the root, without recursion: chains may be longer than Python's stack
        texts: dict[str, str] = {}
        backs = {joint.child: _back(joint) for joint in robot.joints} | {"world": np.eye(4)}
        for joint in reversed(depth_first(robot)):
            children = "".join(texts.pop(child.child) for child in below.get(joint.child, ()))
            texts[joint.child] = self._body(joint, backs[joint.parent], backs[joint.child], children)
        bodies = "".join(texts[joint.child] for joint in below["world"])
        flags = "" if fitted else '<flag constraint="disable" contact="disable"/>'
        spec = mujoco.MjSpec.from_string(
            f'<mujoco><compiler angle="radian"/><option gravity="{_text(evaluate_all(robot.gravity))}">'
            f"{flags}</option><worldbody>{bodies}</worldbody></mujoco>"
        )
        if fitted:
            fitted(spec)
        self.spec, self.model = spec, spec.compile()
        for name, moments in self.unreal.items():
            self.model.body(name).inertia[:] = moments
        self.data = mujoco.MjData(self.model)
        self.steps = []
        for name, step in self.names:
            peer = self.model.joint(name)
            step = step._replace(peer_q=int(peer.qposadr[0]), peer_v=int(peer.dofadr[0]))
            self.steps.append(step)
        armature = [evaluate(x) for joint in robot.joints for x in joint.armature]
        for step in self.steps:
            for k in range(sizes(step.kind)[1]):
                self.model.dof_armature[step.peer_v + k] = armature[step.v + k]

    def _body(self, joint: Joint, parent: Array, back: Array, children: str) -> str:
        """The XML text of a joint's child body, with its `children` inside.

        `parent` and `back` (4, 4) are the poses of our body frames in MuJoCo's body frames: of the parent and child.
        """
        pose: Array = parent @ matrix(joint.placement)
        body = self.robot.body(joint.child)
        com = back[:3, :3] @ evaluate_all(body.com) + back[:3, 3]
        I = back[:3, :3] @ np.array(evaluate_all(body.inertia)) @ back[:3, :3].T
        moments, axes = np.linalg.eigh(I)
        inertia = f'fullinertia="{_text((I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]))}"'
        if 2.0 * moments.max() > moments.sum() * (1.0 + 1e-9) or moments.min() <= 0.0:
            self.unreal[body.name] = moments
            axes[:, 0] *= np.linalg.det(axes)
            turned = _text(rotation_to_quat(axes.tolist()))
            inertia = f'quat="{turned}" diaginertia="{_text([moments.max()] * 3)}"'
        joints = "".join(self._joints(joint))
        turn = _text(rotation_to_quat(pose[:3, :3].tolist()))
        return (
            f'<body name="{body.name}" pos="{_text(pose[:3, 3])}" quat="{turn}">{joints}'
            f'<inertial pos="{_text(com)}" mass="{evaluate(body.mass)!r}" {inertia}/>'
            f"{children}</body>"
        )

    def _joints(self, joint: Joint) -> list[str]:
        made = []
        for number, step in enumerate(joint.table.primitives):
            name = f"{joint.name}.{number}"
            q, v = self.robot.q_slice(joint.name).start + step.q[0], self.robot.v_slice(joint.name).start + step.v[0]
            kind = "floating" if step.kind == "free" and joint.parent == "world" else step.kind
            made += [text.format(n=name, a=_text(joint.axes[step.axis or 0])) for text in _MUJOCO_JOINTS[kind]]
            self.names.append((f"{name}.0", Step(step.kind, q, v, 0, 0)))
        return made

    def place(self, q: Array, v: Array) -> None:
        """Sets MuJoCo's state to q (nq,) and v (nv,), given in our convention, and its time to 0."""
        self.data.time = 0.0
        self._set(q, v)

    def mass_matrix(self, q: Array) -> Array:
        B = self._set(q, np.zeros(self.robot.nv))[0]
        return B.T @ self._mass() @ B

    def bias_forces(self, q: Array, v: Array) -> Array:
        B, rate = self._set(q, v)
        h: Array = B.T @ (self.data.qfrc_bias + self._mass() @ rate)
        return h

    def forward_dynamics(self, q: Array, v: Array, tau: Array) -> Array:
        B, rate = self._set(q, v, tau)
        a: Array = B.T @ (self.data.qacc - rate)
        return a

    def _mass(self) -> Array:
        n = self.robot.nv
        M, unit = np.zeros((n, n)), np.eye(n)
        for k in range(n):
            mujoco.mj_mulM(self.model, self.data, M[k], unit[k])
        return M

    def _set(self, q: Array, v: Array, tau: Array | None = None) -> tuple[Array, Array]:
        """Sets MuJoCo's state and joint forces, evaluates it, and returns (B (nv, nv), Bdot v (nv,)), where v_mj = B v.

        q, v and tau are in our convention.
        """
        data, n = self.data, self.robot.nv
        qpos, units = to_convention(self._framed, "mujoco", q, np.eye(n), joints=self._order)
        B, rate = units.T, np.zeros(n)
        for step in self.steps:
            if step.kind in ("planar", "free"):  # their linear velocities are in body axes
                k = sizes(step.kind)[1] // 2 if step.kind == "free" else 2
                speed = v[step.v : step.v + sizes(step.kind)[1]]
                linear, spin = np.append(speed[:k], [0.0] * (3 - k)), np.append([0.0] * 3, speed[k:])[-3:]
                turned = B[step.peer_v : step.peer_v + k, step.v : step.v + k]
                rate[step.peer_v : step.peer_v + k] = turned @ np.cross(spin, linear)[:k]
        data.qpos[:] = qpos[0] if n else qpos
        data.qvel[:] = B @ v
        data.qfrc_applied[:] = 0.0 if tau is None else B @ tau
        mujoco.mj_forward(self.model, data)
        return B, rate


_SLIDES = [
    f'<joint name="{{n}}.{k}" type="slide" axis="{" ".join("1" if i == k else "0" for i in range(3))}"/>'
    for k in range(3)
]
_MUJOCO_JOINTS = {
    "revolute": ['<joint name="{n}.0" type="hinge" axis="{a}"/>'],
    "prismatic": ['<joint name="{n}.0" type="slide" axis="{a}"/>'],
    "spherical": ['<joint name="{n}.0" type="ball"/>'],
    "planar": [*_SLIDES[:2], '<joint name="{n}.2" type="hinge" axis="0 0 1"/>'],
    "free": [*_SLIDES, '<joint name="{n}.3" type="ball"/>'],
    "floating": ['<freejoint name="{n}.0"/>'],
}


def _back(joint: Joint) -> Array:
    """The pose (4, 4) of our frame of a joint's child body in MuJoCo's frame of that body, which is the joint frame."""
    back: Array = np.linalg.inv(matrix(joint.child_placement)).astype(float)
    return back


def _text(numbers: Sequence[float] | Array) -> str:
    return " ".join(repr(float(x)) for x in numbers)
