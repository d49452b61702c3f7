"""States between conventions: ours, and those of Pinocchio, MuJoCo and Drake.

Every library lays out q and v in its own way: order of the quaternion, frame of the linear velocity, angles as cosine
and sine. One row per library and joint kind says how; kinds without a row are plain numbers in all of them (revolute,
prismatic, helical, universal, cylindrical).

                Kinemorph             Pinocchio                MuJoCo                Drake
    free q      x y z  qw qx qy qz    x y z  qx qy qz qw       x y z  qw qx qy qz    qw qx qy qz  x y z
    free v      linear, angular,      linear, angular,         linear in the world,  angular, linear,
                both in the body      both in the body         angular in the body   both in the world
    spherical   qw qx qy qz           qx qy qz qw              qw qx qy qz           roll pitch yaw
            v   rate in the body      rate in the body         rate in the body      rate in the parent
    planar q    x y theta             x y cos sin              x y theta             x y theta
            v   in the body           in the body              in the parent         in the parent
    revolute    angle                 angle, or cos sin of     angle                 angle
                                      joints without limits

MuJoCo's and Drake's free joint on the world tells the pose of the body itself, whatever our joint's placements are. A
free joint below a body is three slides and a ball in MuJoCo; planar is two slides and a hinge. All functions take
arrays (..., n) of states, batch first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from kinemorph.algebra.groups import IDENTITY
from kinemorph.algebra.quaternions import direction_to_rotation, rotation_to_quat
from kinemorph.errors import ModelError, ShapeError, did_you_mean
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import evaluate_all
from kinemorph.model.robot import Array, Robot
from kinemorph.model.system import System, as_robot
from kinemorph.model.topology import WORLD

Peer: TypeAlias = Literal["pinocchio", "mujoco", "drake"]
State: TypeAlias = tuple[Array, Array]

# ── quaternions ───────────────────────────────────────────────────────────────────────────────────────────────────────


def quat_wxyz_to_xyzw(quaternion: Any) -> Array:
    """The same quaternions (..., 4) with the scalar part last: from ours to those of Pinocchio, ROS and SciPy."""
    return np.roll(_fours(quaternion), -1, axis=-1)


def quat_xyzw_to_wxyz(quaternion: Any) -> Array:
    """The same quaternions (..., 4) with the scalar part first: to ours, MuJoCo's and Drake's."""
    return np.roll(_fours(quaternion), 1, axis=-1)


def _fours(quaternion: Any) -> Array:
    array = np.asarray(quaternion, dtype=float)
    if array.shape[-1:] != (4,):
        raise ShapeError(f"quaternions have shape {array.shape}, expected (..., 4).")
    return array


# ── whole states ──────────────────────────────────────────────────────────────────────────────────────────────────────


def to_convention(
    model: Robot | System,
    peer: Peer,
    q: Any,
    v: Any = None,
    *,
    joints: Sequence[str] | None = None,
    unbounded: Collection[str] = (),
) -> State:
    """Our states (q, v), shapes (..., nq) and (..., nv), as `peer` writes them. Without v the robot is at rest.

    `joints` are the peer's names of joints in its order (`list(model.names)` of Pinocchio); without it the order is
    ours. Names that the robot does not have stand for its free roots, in order; "universe" stands for nothing. A root
    that is not listed comes first. `unbounded` names the revolute joints that Pinocchio holds as cosine and sine:
    those with nq = 2. Velocities are converted at the configuration q.
    """
    robot = as_robot(model)
    places = _places(robot, peer, joints, unbounded)
    q, v = _state(robot.name, q, v, robot.nq, robot.nv)
    parts = [place.row.to(place.joint, q[..., place.q], v[..., place.v]) for place in places]
    return _joined([part[0] for part in parts], q), _joined([part[1] for part in parts], v)


def from_convention(
    model: Robot | System,
    peer: Peer,
    q: Any,
    v: Any = None,
    *,
    joints: Sequence[str] | None = None,
    unbounded: Collection[str] = (),
) -> State:
    """States of `peer` in our convention, shapes (..., nq) and (..., nv): the way back from `to_convention`.

    Angles that the peer holds as cosine and sine come back between -pi and pi.
    """
    robot = as_robot(model)
    places = _places(robot, peer, joints, unbounded)
    q, v = _state(f"{robot.name} in {peer}", q, v, sum(place.row.nq for place in places), robot.nv)
    ours_q, ours_v = np.zeros((*q.shape[:-1], robot.nq)), np.zeros((*q.shape[:-1], robot.nv))
    at_q = at_v = 0
    for place in places:
        part_q, part_v = q[..., at_q : at_q + place.row.nq], v[..., at_v : at_v + place.joint.nv]
        ours_q[..., place.q], ours_v[..., place.v] = place.row.back(place.joint, part_q, part_v)
        at_q, at_v = at_q + place.row.nq, at_v + place.joint.nv
    return ours_q, ours_v


def _state(what: str, q: Any, v: Any, nq: int, nv: int) -> State:
    """Both parts as arrays of one batch shape."""
    q = np.asarray(q, dtype=float)
    v = np.zeros((*q.shape[:-1], nv)) if v is None else np.asarray(v, dtype=float)
    if q.shape[-1:] != (nq,) or v.shape[-1:] != (nv,):
        raise ShapeError(f"q, v of '{what}' have shapes {q.shape}, {v.shape}, expected (..., {nq}), (..., {nv}).")
    if not (np.all(np.isfinite(q)) and np.all(np.isfinite(v))):
        raise ShapeError(f"q or v of '{what}' is not finite. Look for a missing value.")
    try:
        batch = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
    except ValueError:
        raise ShapeError(f"q, v of '{what}' have shapes {q.shape}, {v.shape}, expected one batch shape.") from None
    return np.broadcast_to(q, (*batch, nq)), np.broadcast_to(v, (*batch, nv))


def _joined(parts: list[Array], like: Array) -> Array:
    return np.concatenate(parts, axis=-1) if parts else np.zeros((*like.shape[:-1], 0))


# ── which joint is where ──────────────────────────────────────────────────────────────────────────────────────────────


class _Place(NamedTuple):
    """A joint, its slices of our q and v, and how the peer writes it."""

    joint: Joint
    q: slice
    v: slice
    row: Row


def _places(robot: Robot, peer: str, names: Sequence[str] | None, unbounded: Collection[str]) -> list[_Place]:
    if peer not in ROWS:
        raise ModelError(
            f"there is no convention '{peer}'; expected one of {', '.join(ROWS)}.{did_you_mean(peer, ROWS)}"
        )
    if isinstance(unbounded, str):
        unbounded = (unbounded,)
    for name in unbounded:
        if robot.joint(name).kind != "revolute" or peer != "pinocchio":
            kind = robot.joint(name).kind
            raise ModelError(
                f"joint '{name}' ({kind}) is called unbounded in {peer}, expected a revolute joint in pinocchio. "
                "Leave it out."
            )
    ordered = robot.joints if names is None else _ordered(robot, names)
    return [
        _Place(joint, robot.q_slice(joint.name), robot.v_slice(joint.name), _row(peer, joint, joint.name in unbounded))
        for joint in ordered
    ]


def _row(peer: str, joint: Joint, unbounded: bool) -> Row:
    return CIRCLE if unbounded else ROWS[peer].get(joint.kind) or Row(joint.nq, _same, _same)


def _ordered(robot: Robot, names: Sequence[str]) -> list[Joint]:
    """Our joints with coordinates in the order of the peer's names."""
    if isinstance(names, str):
        raise ModelError(f"joints is the text '{names}', expected a list of names. Put it in brackets.")
    moving = {joint.name: joint for joint in robot.joints if joint.nv}
    listed = [name for name in names if name in moving]
    fixed = {joint.name for joint in (*robot.joints, *robot.loops) if joint.name not in moving}
    strange = [name for name in names if name not in moving and name not in fixed and name != "universe"]
    roots = [name for name, joint in moving.items() if _is_root(joint) and name not in listed]
    missing = [name for name in moving if name not in listed and name not in roots]
    if missing or len(set(listed)) < len(listed):
        twice = sorted({name for name in listed if listed.count(name) > 1})
        what = f"joints {missing} are not listed" if missing else f"joints {twice} are listed twice"
        raise ModelError(f"{what}, expected every joint of '{robot.name}' that moves once. Give all names in order.")
    if len(strange) > len(roots):
        hint = did_you_mean(strange[-1], moving)
        raise ModelError(f"joints {strange} are not in '{robot.name}', expected its names.{hint}")
    ahead, instead = (
        roots[: len(roots) - len(strange)],
        dict(zip(strange, roots[len(roots) - len(strange) :], strict=True)),
    )
    return [moving[name] for name in (*ahead, *(instead.get(name, name) for name in names)) if name in moving]


def _is_root(joint: Joint) -> bool:
    return joint.kind == "free" and joint.parent == WORLD


# ── how a joint is written ────────────────────────────────────────────────────────────────────────────────────────────

Map: TypeAlias = Callable[[Joint, Array, Array], State]


class Row(NamedTuple):
    """How a library writes one kind of joint: how many q it has there, and the state there and back."""

    nq: int
    to: Map
    back: Map


def _same(joint: Joint, q: Array, v: Array) -> State:
    return q, v


def _split(*parts: Any) -> Array:
    """Arrays side by side."""
    return np.concatenate(parts, axis=-1)


def _times(R: Array, x: Array) -> Array:
    """R x for every state, shapes (..., 3, 3) and (..., 3)."""
    return np.asarray(np.einsum("...ij,...j->...i", R, x))


def _transposed(R: Array) -> Array:
    return np.swapaxes(R, -1, -2)


def _turns(quaternion: Array) -> Array:
    """Rotation matrices (..., 3, 3) of quaternions (..., 4) wxyz."""
    if np.any(np.sum(quaternion**2, axis=-1) == 0.0):
        raise ShapeError("a quaternion is zero, expected length 1. Free joints hold [x y z qw qx qy qz] here.")
    rows = direction_to_rotation([quaternion[..., i] for i in range(4)])
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def _quaternions(R: Array) -> Array:
    """Quaternions (..., 4) wxyz of rotation matrices (..., 3, 3)."""
    return np.stack(rotation_to_quat([[R[..., i, j] for j in range(3)] for i in range(3)]), axis=-1)


def _plane(angle: Array) -> Array:
    """Rotations (..., 3, 3) about z by angles (...)."""
    c, s, zero, one = np.cos(angle), np.sin(angle), np.zeros_like(angle), np.ones_like(angle)
    rows = ((c, -s, zero), (s, c, zero), (zero, zero, one))
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


# angles as cosine and sine


def _to_circle(joint: Joint, q: Array, v: Array) -> State:
    return _split(q[..., :-1], np.cos(q[..., -1:]), np.sin(q[..., -1:])), v


def _from_circle(joint: Joint, q: Array, v: Array) -> State:
    return _split(q[..., :-2], np.arctan2(q[..., -1:], q[..., -2:-1])), v


# quaternions with the scalar part last


def _to_xyzw(joint: Joint, q: Array, v: Array) -> State:
    return _split(q[..., :-4], quat_wxyz_to_xyzw(q[..., -4:])), v


def _from_xyzw(joint: Joint, q: Array, v: Array) -> State:
    return _split(q[..., :-4], quat_xyzw_to_wxyz(q[..., -4:])), v


# planar velocities in the parent


def _to_parent_plane(joint: Joint, q: Array, v: Array) -> State:
    return q, _times(_plane(q[..., 2]), v)


def _from_parent_plane(joint: Joint, q: Array, v: Array) -> State:
    return q, _times(_transposed(_plane(q[..., 2])), v)


# roll, pitch and yaw


def _to_angles(joint: Joint, q: Array, v: Array) -> State:
    R = _turns(q)
    level = np.hypot(R[..., 0, 0], R[..., 1, 0])
    upright = level > 1e-9  # else pitch is a right angle, and all the turning is in yaw
    roll = np.where(upright, np.arctan2(R[..., 2, 1], R[..., 2, 2]), 0.0)
    pitch = np.arctan2(-R[..., 2, 0], level)
    yaw = np.where(upright, np.arctan2(R[..., 1, 0], R[..., 0, 0]), np.arctan2(-R[..., 0, 1], R[..., 1, 1]))
    return np.stack([roll, pitch, yaw], axis=-1), _times(R, v)


def _from_angles(joint: Joint, q: Array, v: Array) -> State:
    (cr, cp, cy), (sr, sp, sy) = np.moveaxis(np.cos(q / 2.0), -1, 0), np.moveaxis(np.sin(q / 2.0), -1, 0)
    w, x = cr * cp * cy + sr * sp * sy, sr * cp * cy - cr * sp * sy
    y, z = cr * sp * cy + sr * cp * sy, cr * cp * sy - sr * sp * cy
    quaternion = np.stack([w, x, y, z], axis=-1)
    return quaternion, _times(_transposed(_turns(quaternion)), v)


# free joints: the pose of the joint's motion, or of the body in the world


def _outside(joint: Joint, q: Array, v: Array) -> tuple[Array, Array, Array, Array]:
    """(position, quaternion, rotation, body twist) of what the peer calls the free body."""
    p, quaternion, R = q[..., :3], q[..., 3:], _turns(q[..., 3:])
    if not _is_root(joint) or joint.placement == joint.child_placement == IDENTITY:
        return p, quaternion, R, v
    before, after = evaluate_all(joint.placement), evaluate_all(joint.child_placement)
    R_WA, R_BC = np.array(before.R), np.array(after.R)
    R_WB = R_WA @ R @ R_BC.T
    p = np.array(before.p) + _times(R_WA, p) - _times(R_WB, np.array(after.p))
    w = _times(R_BC, v[..., 3:])
    return p, _quaternions(R_WB), R_WB, _split(_times(R_BC, v[..., :3]) + np.cross(np.array(after.p), w), w)


def _inside(joint: Joint, p: Array, quaternion: Array, linear: Array, angular: Array) -> State:
    """Our state of a free joint from the pose and body twist of what the peer calls the free body."""
    if not _is_root(joint) or joint.placement == joint.child_placement == IDENTITY:
        return _split(p, quaternion), _split(linear, angular)
    before, after = evaluate_all(joint.placement), evaluate_all(joint.child_placement)
    R_WA, R_BC, arm = np.array(before.R), np.array(after.R), np.array(after.p)
    R_WB = _turns(quaternion)
    origin = p + _times(R_WB, arm) - np.array(before.p)
    w = _times(R_BC.T, angular)
    speed = _times(R_BC.T, linear - np.cross(arm, angular))
    return _split(_times(R_WA.T, origin), _quaternions(R_WA.T @ R_WB @ R_BC)), _split(speed, w)


def _to_mujoco_free(joint: Joint, q: Array, v: Array) -> State:
    p, quaternion, R, V = _outside(joint, q, v)
    return _split(p, quaternion), _split(_times(R, V[..., :3]), V[..., 3:])


def _from_mujoco_free(joint: Joint, q: Array, v: Array) -> State:
    back = _transposed(_turns(q[..., 3:]))
    return _inside(joint, q[..., :3], q[..., 3:], _times(back, v[..., :3]), v[..., 3:])


def _to_drake_free(joint: Joint, q: Array, v: Array) -> State:
    p, quaternion, R, V = _outside(joint, q, v)
    return _split(quaternion, p), _split(_times(R, V[..., 3:]), _times(R, V[..., :3]))


def _from_drake_free(joint: Joint, q: Array, v: Array) -> State:
    back = _transposed(_turns(q[..., :4]))
    return _inside(joint, q[..., 4:], q[..., :4], _times(back, v[..., 3:]), _times(back, v[..., :3]))


CIRCLE = Row(2, _to_circle, _from_circle)
ROWS: dict[str, dict[str, Row]] = {
    "pinocchio": {
        "spherical": Row(4, _to_xyzw, _from_xyzw),
        "planar": Row(4, _to_circle, _from_circle),
        "free": Row(7, _to_xyzw, _from_xyzw),
    },
    "mujoco": {
        "planar": Row(3, _to_parent_plane, _from_parent_plane),
        "free": Row(7, _to_mujoco_free, _from_mujoco_free),
    },
    "drake": {
        "spherical": Row(3, _to_angles, _from_angles),
        "planar": Row(3, _to_parent_plane, _from_parent_plane),
        "free": Row(7, _to_drake_free, _from_drake_free),
    },
}
