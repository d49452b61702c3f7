"""Conversions of the state of one joint to and from Pinocchio, MuJoCo and Drake: a row for each library and joint kind.

The table in `conversions` shows the differences.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import IDENTITY
from kinemorph.algebra.quaternions import direction_to_rotation, rotation_to_quat
from kinemorph.errors import ShapeError
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import evaluate_all
from kinemorph.model.topology import WORLD

State: TypeAlias = tuple[Array, Array]

# ── quaternions ───────────────────────────────────────────────────────────────────────────────────────────────────────


def quat_wxyz_to_xyzw(quaternion: Any) -> Array:
    """The quaternions, shape (..., 4), with the scalar part moved to the end, as in Pinocchio, ROS and SciPy."""
    return np.roll(_fours(quaternion), -1, axis=-1)


def quat_xyzw_to_wxyz(quaternion: Any) -> Array:
    """The quaternions, shape (..., 4), with the scalar part moved to the front, as in Kinemorph, MuJoCo and Drake."""
    return np.roll(_fours(quaternion), 1, axis=-1)


def _fours(quaternion: Any) -> Array:
    array = np.asarray(quaternion, dtype=float)
    if array.shape[-1:] != (4,):
        raise ShapeError(f"quaternions have shape {array.shape}, expected (..., 4).")
    return array


# ── conversions of one joint ──────────────────────────────────────────────────────────────────────────────────────────

Map: TypeAlias = Callable[[Joint, Array, Array], State]


class Row(NamedTuple):
    """One kind of joint in a library: its number of coordinates there, and conversions `to` the library and `back`."""

    nq: int
    to: Map
    back: Map


def plain(nq: int) -> Row:
    """The row of a joint whose state is the same in all libraries."""
    return Row(nq, _same, _same)


def is_free_root(joint: Joint) -> bool:
    """Whether a joint is a free joint between the world and a body."""
    return joint.kind == "free" and joint.parent == WORLD


def _same(joint: Joint, q: Array, v: Array) -> State:
    return q, v


def _joined(*parts: Any) -> Array:
    """The arrays joined along their last axis."""
    return np.concatenate(parts, axis=-1)


def _times(R: Array, x: Array) -> Array:
    """R x for every state, shapes (..., 3, 3) and (..., 3)."""
    return np.asarray(np.einsum("...ij,...j->...i", R, x))


def _transposed(R: Array) -> Array:
    return np.swapaxes(R, -1, -2)


def _turns(quaternion: Array) -> Array:
    """Rotation matrices (..., 3, 3) of quaternions (..., 4) wxyz."""
    if np.any(np.sum(quaternion**2, axis=-1) == 0.0):
        raise ShapeError(
            "a quaternion is zero, expected length 1. In Kinemorph, q of a free joint is [x y z qw qx qy qz]."
        )
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
    return _joined(q[..., :-1], np.cos(q[..., -1:]), np.sin(q[..., -1:])), v


def _from_circle(joint: Joint, q: Array, v: Array) -> State:
    return _joined(q[..., :-2], np.arctan2(q[..., -1:], q[..., -2:-1])), v


# quaternions with the scalar part last


def _to_xyzw(joint: Joint, q: Array, v: Array) -> State:
    return _joined(q[..., :-4], quat_wxyz_to_xyzw(q[..., -4:])), v


def _from_xyzw(joint: Joint, q: Array, v: Array) -> State:
    return _joined(q[..., :-4], quat_xyzw_to_wxyz(q[..., -4:])), v


# planar velocities in the parent


def _to_parent_plane(joint: Joint, q: Array, v: Array) -> State:
    return q, _times(_plane(q[..., 2]), v)


def _from_parent_plane(joint: Joint, q: Array, v: Array) -> State:
    return q, _times(_transposed(_plane(q[..., 2])), v)


# roll, pitch and yaw


def _to_angles(joint: Joint, q: Array, v: Array) -> State:
    R = _turns(q)
    level = np.hypot(R[..., 0, 0], R[..., 1, 0])
    upright = level > 1e-9  # otherwise pitch is 90 deg, and roll is set to 0
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


def _after(slides: int, *ways: Callable[[Joint, Array, Array], State]) -> list[Callable[[Joint, Array, Array], State]]:
    """The conversions `ways`, applied to all but the first `slides` coordinates, which no library changes."""

    def behind(way: Callable[[Joint, Array, Array], State]) -> Callable[[Joint, Array, Array], State]:
        def converted(joint: Joint, q: Array, v: Array) -> State:
            rest_q, rest_v = way(joint, q[..., slides:], v[..., slides:])
            return _joined(q[..., :slides], rest_q), _joined(v[..., :slides], rest_v)

        return converted

    return [behind(way) for way in ways]


# free joints: the pose of the joint's motion, or of the body in the world


def _outside(joint: Joint, q: Array, v: Array) -> tuple[Array, Array, Array, Array]:
    """The position, quaternion, rotation and body twist of a free joint as MuJoCo and Drake define them.

    For a root joint they are those of the body, otherwise those of the joint's motion.
    """
    p, quaternion, R = q[..., :3], q[..., 3:], _turns(q[..., 3:])
    if not is_free_root(joint) or joint.placement == joint.child_placement == IDENTITY:
        return p, quaternion, R, v
    before, after = evaluate_all(joint.placement), evaluate_all(joint.child_placement)
    R_WA, R_BC = np.array(before.R), np.array(after.R)
    R_WB = R_WA @ R @ R_BC.T
    p = np.array(before.p) + _times(R_WA, p) - _times(R_WB, np.array(after.p))
    w = _times(R_BC, v[..., 3:])
    return p, _quaternions(R_WB), R_WB, _joined(_times(R_BC, v[..., :3]) + np.cross(np.array(after.p), w), w)


def _inside(joint: Joint, p: Array, quaternion: Array, linear: Array, angular: Array) -> State:
    """The inverse of `_outside`: q and v of a free joint, from position, quaternion and body twist."""
    if not is_free_root(joint) or joint.placement == joint.child_placement == IDENTITY:
        return _joined(p, quaternion), _joined(linear, angular)
    before, after = evaluate_all(joint.placement), evaluate_all(joint.child_placement)
    R_WA, R_BC, arm = np.array(before.R), np.array(after.R), np.array(after.p)
    R_WB = _turns(quaternion)
    origin = p + _times(R_WB, arm) - np.array(before.p)
    w = _times(R_BC.T, angular)
    speed = _times(R_BC.T, linear - np.cross(arm, angular))
    return _joined(_times(R_WA.T, origin), _quaternions(R_WA.T @ R_WB @ R_BC)), _joined(speed, w)


def _to_mujoco_free(joint: Joint, q: Array, v: Array) -> State:
    p, quaternion, R, V = _outside(joint, q, v)
    return _joined(p, quaternion), _joined(_times(R, V[..., :3]), V[..., 3:])


def _from_mujoco_free(joint: Joint, q: Array, v: Array) -> State:
    back = _transposed(_turns(q[..., 3:]))
    return _inside(joint, q[..., :3], q[..., 3:], _times(back, v[..., :3]), v[..., 3:])


def _to_drake_free(joint: Joint, q: Array, v: Array) -> State:
    p, quaternion, R, V = _outside(joint, q, v)
    return _joined(quaternion, p), _joined(_times(R, V[..., 3:]), _times(R, V[..., :3]))


def _from_drake_free(joint: Joint, q: Array, v: Array) -> State:
    back = _transposed(_turns(q[..., :4]))
    return _inside(joint, q[..., 4:], q[..., :4], _times(back, v[..., 3:]), _times(back, v[..., :3]))


CIRCLE = Row(2, _to_circle, _from_circle)
ROWS: dict[str, dict[str, Row]] = {
    "pinocchio": {
        "spherical": Row(4, _to_xyzw, _from_xyzw),
        "planar": Row(4, _to_circle, _from_circle),
        "point_on_line": Row(5, _to_xyzw, _from_xyzw),
        "point_on_plane": Row(6, _to_xyzw, _from_xyzw),
        "free": Row(7, _to_xyzw, _from_xyzw),
    },
    "mujoco": {
        "planar": Row(3, _to_parent_plane, _from_parent_plane),
        "free": Row(7, _to_mujoco_free, _from_mujoco_free),
    },
    "drake": {
        "spherical": Row(3, _to_angles, _from_angles),
        "point_on_line": Row(4, *_after(1, _to_angles, _from_angles)),
        "point_on_plane": Row(5, *_after(2, _to_angles, _from_angles)),
        "planar": Row(3, _to_parent_plane, _from_parent_plane),
        "free": Row(7, _to_drake_free, _from_drake_free),
    },
}
