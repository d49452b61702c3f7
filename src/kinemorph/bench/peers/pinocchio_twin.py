"""A robot in Kinemorph and in Pinocchio, and the maps between both conventions. Either can be made from the other.

A Pinocchio model has one frame per joint: our joint frame on the child, so T_parent_joint = placement * motion(q), and
bodies and further joints are attached to it at the inverse of `child_placement`. Its quaternions are xyzw, a planar
joint has q = [x y cos sin] and an unbounded hinge q = [cos sin]; its velocities are ours in another order. Joints are
added depth first: in another order Pinocchio's CRBA gives wrong results without an error. Universal and cylindrical
joints are two joints in Pinocchio. `kinemorph.model.conventions.conversions` converts states.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import Pose, matrix_of
from kinemorph.algebra.inertia import from_pseudo_inertia, pseudo_inertia
from kinemorph.errors import UnsupportedError
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.configuration import neutral
from kinemorph.model.conventions.conversions import to_convention
from kinemorph.model.joint import JOINT_KINDS, Axis, Joint
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.robot import Robot

PARAMETERS = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]  # Pinocchio's moments of inertia are Ixx Ixy Iyy Ixz Iyz Izz
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


class Step(NamedTuple):
    """One elementary joint: its kind, and the indices of its first coordinates in our q and v and in the peer's.

    `unbounded`: the peer represents the angle by cosine and sine.
    """

    kind: str
    q: int
    v: int
    peer_q: int
    peer_v: int
    unbounded: bool = False


def sizes(kind: str) -> tuple[int, int]:
    """(nq, nv): the numbers of coordinates and velocities of a kind of joint."""
    return JOINT_KINDS[kind].nq, JOINT_KINDS[kind].nv


def matrix(pose: Pose) -> Array:
    """A pose as a homogeneous matrix of numbers, shape (4, 4)."""
    return np.array(matrix_of(evaluate_all(pose)), dtype=float)


def depth_first(robot: Robot) -> list[Joint]:
    """The joints of a robot's tree in depth-first order."""
    below: dict[str, list[Joint]] = {}
    for joint in robot.joints:
        below.setdefault(joint.parent, []).append(joint)
    ordered, waiting = [], below.get("world", [])[::-1]
    while waiting:
        joint = waiting.pop()
        ordered.append(joint)
        waiting += below.get(joint.child, [])[::-1]
    return ordered


class PointPair(NamedTuple):
    """Two points that a constraint keeps together: the indices of Pinocchio's joints, and poses (4, 4) on them."""

    first: int
    first_pose: Array
    second: int
    second_pose: Array


class Prox(NamedTuple):
    """Settings of Pinocchio's algorithms for loops: the regularization, and the most iterations that correct it."""

    mu: float
    iterations: int


class PinocchioTwin:
    """A robot, and the same robot as a Pinocchio model.

    `robot`, `model`   our robot and the pinocchio.Model
    `steps`            the elementary joints
    `at`               body or frame -> the index of its joint in Pinocchio, and its pose (4, 4) in the joint's frame
    `order`            (nv,), our index of each of Pinocchio's velocities
    """

    closures: tuple[PointPair, ...] = ()  # point constraints of loops, see `loops.pinocchio_loops`
    prox: Mapping[str, Prox] = MappingProxyType({})  # settings by algorithm

    def __init__(self, robot: Robot, model: Any, steps: list[Step], at: dict[str, tuple[int, Array]]) -> None:
        self.robot, self.model, self.steps, self.at = robot, model, steps, at
        owners = {robot.v_slice(joint.name).start: joint.name for joint in robot.joints if joint.nv}
        self._joints = [owners[step.v] for step in sorted(steps, key=lambda s: s.peer_v) if step.v in owners]
        self._unbounded = frozenset(owners[step.v] for step in steps if step.unbounded)
        places = to_convention(robot, "pinocchio", neutral(robot), np.arange(robot.nv), joints=self._joints)[1]
        self.order = places.astype(int)

    def configuration(self, q: Array) -> Array:
        """Our configurations q, shape (..., nq), in Pinocchio's convention."""
        return to_convention(self.robot, "pinocchio", q, joints=self._joints, unbounded=self._unbounded)[0]

    def velocity(self, v: Array) -> Array:
        """Our v, a or tau, shape (..., nv), in Pinocchio's order."""
        return v[..., self.order]

    def seen_from(self, frame: str) -> Array:
        """The matrix (6, 6) that maps the twist in a joint's frame to the twist in a frame attached to it."""
        return np.array(pin.SE3(self.at[frame][1]).toActionMatrixInverse())

    def body_columns(self, values: Array, bodies: Sequence[str]) -> Array:
        """Pinocchio's regressors, shape (..., 10 joints), with our ten columns of each body, shape (..., 10 bodies).

        The parameters of a body are about the origin of its frame, those of a joint about that of the joint.
        """
        units: list[Array] = [np.array(pseudo_inertia(unit)) for unit in np.eye(10).tolist()]
        found = []
        for body in bodies:
            index, pose = self.at[body]
            seen = np.array([from_pseudo_inertia((pose @ unit @ pose.T).tolist()) for unit in units]).T[PARAMETERS]
            found.append(values[..., 10 * (index - 1) : 10 * index] @ seen)
        return np.concatenate(found, axis=-1)

    def ours(self, values: Array, axes: tuple[int, ...] = (-1,)) -> Array:
        """Pinocchio's values in our order of velocities, along the given axes of length nv."""
        back = np.argsort(self.order)
        for axis in axes:
            values = np.take(values, back, axis=axis)
        return values


# ── from our robot ────────────────────────────────────────────────────────────────────────────────────────────────────

# for a hinge or slide along a coordinate axis, Pinocchio has special joints, which compute less
_ALIGNED: dict[tuple[str, Axis], Callable[[], Any]] = {
    ("revolute", X): pin.JointModelRX,
    ("revolute", Y): pin.JointModelRY,
    ("revolute", Z): pin.JointModelRZ,
    ("prismatic", X): pin.JointModelPX,
    ("prismatic", Y): pin.JointModelPY,
    ("prismatic", Z): pin.JointModelPZ,
}
_GENERAL: dict[str, Callable[[Array, float], Any]] = {
    "revolute": lambda axis, pitch: pin.JointModelRevoluteUnaligned(axis),
    "prismatic": lambda axis, pitch: pin.JointModelPrismaticUnaligned(axis),
    "helical": lambda axis, pitch: pin.JointModelHelicalUnaligned(axis, pitch),
    "planar": lambda axis, pitch: pin.JointModelPlanar(),
    "spherical": lambda axis, pitch: pin.JointModelSpherical(),
    "free": lambda axis, pitch: pin.JointModelFreeFlyer(),
}


def _joint_there(kind: str, axis: Axis, pitch: float) -> Any:
    aligned = _ALIGNED.get((kind, axis))
    return aligned() if aligned else _GENERAL[kind](np.array(axis), pitch)


def twin_of_robot(robot: Robot) -> PinocchioTwin:
    """Our robot paired with a new Pinocchio model of its tree, without loops and couplings."""
    model = pin.Model()
    model.gravity.linear = np.array(evaluate_all(robot.gravity))
    at: dict[str, tuple[int, Array]] = {"world": (0, np.eye(4))}
    steps: list[Step] = []
    armature: list[float] = []
    for joint in depth_first(robot):
        index, pose = at[joint.parent]
        pose = pose @ matrix(joint.placement)
        for number, step in enumerate(joint.table.primitives):
            made = _joint_there(step.kind, joint.axes[step.axis or 0], evaluate(joint.pitch))
            index, pose = model.addJoint(index, made, pin.SE3(pose), f"{joint.name}.{number}"), np.eye(4)
            peer = model.joints[index]
            q, v = robot.q_slice(joint.name).start + step.q[0], robot.v_slice(joint.name).start + step.v[0]
            steps.append(Step(step.kind, q, v, peer.idx_q, peer.idx_v))
            armature += [evaluate(x) for x in joint.armature[slice(*step.v)]]
        pose = pose @ np.linalg.inv(matrix(joint.child_placement))
        at[joint.child] = (index, pose)
        body = robot.body(joint.child)
        inertia = pin.Inertia(
            evaluate(body.mass), np.array(evaluate_all(body.com)), np.array(evaluate_all(body.inertia))
        )
        model.appendBodyToJoint(index, inertia, pin.SE3(pose))
    for frame in robot.frames:
        index, pose = at[frame.body]
        at[frame.name] = (index, pose @ matrix(frame.placement))
    model.armature = np.array(armature)
    return PinocchioTwin(robot, model, steps, at)


# ── from a Pinocchio model ────────────────────────────────────────────────────────────────────────────────────────────


class JointThere(NamedTuple):
    """A joint type of Pinocchio in our terms: our `kind` of joint, its axis, and whether the angle is unbounded.

    `axis` is None if Pinocchio's joint object stores the axis, or if the joint has none.
    """

    kind: str
    axis: Axis | None = None
    unbounded: bool = False


JOINTS_THERE: dict[str, JointThere] = {
    "JointModelRX": JointThere("revolute", X),
    "JointModelRY": JointThere("revolute", Y),
    "JointModelRZ": JointThere("revolute", Z),
    "JointModelRevoluteUnaligned": JointThere("revolute"),
    "JointModelRUBX": JointThere("revolute", X, unbounded=True),
    "JointModelRUBY": JointThere("revolute", Y, unbounded=True),
    "JointModelRUBZ": JointThere("revolute", Z, unbounded=True),
    "JointModelRevoluteUnboundedUnaligned": JointThere("revolute", unbounded=True),
    "JointModelPX": JointThere("prismatic", X),
    "JointModelPY": JointThere("prismatic", Y),
    "JointModelPZ": JointThere("prismatic", Z),
    "JointModelPrismaticUnaligned": JointThere("prismatic"),
    "JointModelHelicalUnaligned": JointThere("helical"),
    "JointModelPlanar": JointThere("planar"),
    "JointModelSpherical": JointThere("spherical"),
    "JointModelFreeFlyer": JointThere("free"),
}


def joint_here(joint: Any) -> tuple[JointThere, Axis, float]:
    """(type, axis, pitch [m/rad]) of a joint of a Pinocchio model; raises UnsupportedError for an unknown type."""
    row = JOINTS_THERE.get(joint.shortname())
    if row is None:
        known = ", ".join(name.removeprefix("JointModel") for name in JOINTS_THERE)
        raise UnsupportedError(
            f"Pinocchio's joint {joint.id} is a {joint.shortname()}; expected one of: {known}. Use one of these."
        )
    inside, axis = joint.extract(), row.axis
    if axis is None:  # an unbounded hinge has its axis in its screw only
        axis = getattr(inside, "axis", joint.createData().S[3:] if row.unbounded else Z)
    x, y, z = map(float, axis)
    return row, (x, y, z), float(getattr(inside, "pitch", 0.0))


def twin_of_model(model: Any, name: str) -> PinocchioTwin:
    """A pinocchio.Model paired with a new robot of ours that has one body per joint, in Pinocchio's order.

    Bodies that are fixed to the world are left out; a body without a name is named after its joint.
    """
    builder = RobotBuilder(name, gravity=model.gravity.linear)
    steps: list[Step] = []
    bodies = ["world"]
    at: dict[str, tuple[int, Array]] = {"world": (0, np.eye(4))}
    q = 0
    for index in range(1, model.njoints):
        joint = model.joints[index]
        row, axis, pitch = joint_here(joint)
        body = _body_name(model, index)
        bodies.append(body)
        at[body] = (index, np.eye(4))
        inertia = model.inertias[index]
        builder.body(body, inertia.mass, com=inertia.lever, inertia=inertia.inertia)
        v = slice(joint.idx_v, joint.idx_v + joint.nv)
        limits = slice(joint.idx_q, joint.idx_q + joint.nq)
        builder.joint(
            model.names[index],
            row.kind,
            bodies[model.parents[index]],
            body,
            placement=model.jointPlacements[index].homogeneous,
            axis=axis,
            normalize=True,
            pitch=pitch,
            lower=_limits(model.lowerPositionLimit[limits]),
            upper=_limits(model.upperPositionLimit[limits]),
            armature=model.armature[v],
        )
        steps.append(Step(row.kind, q, joint.idx_v, joint.idx_q, joint.idx_v, row.unbounded))
        q += sizes(row.kind)[0]
    for frame in model.frames:
        if frame.name not in at and frame.type in (pin.FrameType.BODY, pin.FrameType.OP_FRAME):
            at[frame.name] = (frame.parentJoint, frame.placement.homogeneous)
            builder.frame(frame.name, bodies[frame.parentJoint], placement=frame.placement.homogeneous)
    return PinocchioTwin(builder.build(), model, steps, at)


def _limits(there: Array) -> Array | None:
    """Pinocchio's limits of a joint with one coordinate, where the largest double means no limit; else None."""
    return np.where(np.abs(there) < 1e300, there, np.copysign(np.inf, there)) if len(there) == 1 else None


def _body_name(model: Any, joint: int) -> str:
    """The name of the body whose frame is the frame of the joint; the joint's name if there is no such body."""
    for frame in model.frames:
        if frame.parentJoint == joint and frame.type == pin.FrameType.BODY and frame.placement.isIdentity(1e-14):
            return str(frame.name)
    return str(model.names[joint])
