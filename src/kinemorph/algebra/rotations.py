"""Rotations: the group SO(3) as matrices, with its exponential and logarithm, over any scalar.

R_ab maps coordinates of frame b to frame a; its columns are the axes of b seen from a. A rotation vector w [rad] points
along the axis, and its length is the angle. The exponential is Rodrigues' formula, with coefficients that are smooth
through zero; the logarithm goes through the quaternion, which is well conditioned from the identity to half a turn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from kinemorph.algebra.quaternions import quat_log, rotation_to_quat
from kinemorph.algebra.scalar import S, plus, sincos, times
from kinemorph.algebra.series import cotangent_coefficient, rotation_coefficients
from kinemorph.algebra.vectors import (
    Mat,
    Vec,
    det3,
    dot,
    hat,
    identity,
    mat_add,
    mat_scale,
    mat_sub,
    matmul,
    outer,
    transpose,
)


def rotation(axis: Sequence[S], angle: S) -> Mat:
    """The rotation matrix, shape (3, 3), by an angle [rad] about a unit axis, shape (3,): Rodrigues' formula.

    With the axis w it is written as w w^T + cos (1 - w w^T) + sin hat(w), so that a coordinate axis leaves bare sines
    and cosines.
    """
    sine, cosine = sincos(angle)
    x, y, z = axis
    if type(sine) is float is type(x) is type(y) is type(z):
        xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
        xy, xz, yz = xy - cosine * xy, xz - cosine * xz, yz - cosine * yz
        sx, sy, sz = sine * x, sine * y, sine * z
        return (
            (xx + cosine * (1.0 - xx), xy - sz, xz + sy),
            (xy + sz, yy + cosine * (1.0 - yy), yz - sx),
            (xz - sy, yz + sx, zz + cosine * (1.0 - zz)),
        )
    along, around = outer(axis, axis), hat(axis)
    return tuple(
        [
            tuple(
                [
                    plus(plus(ww, times(cosine, one - ww)), times(sine, skew))
                    for ww, one, skew in zip(*rows, strict=True)
                ]
            )
            for rows in zip(along, identity(3), around, strict=True)
        ]
    )


def rpy_to_rotation(roll: S, pitch: S, yaw: S) -> Mat:
    """The rotation Rz(yaw) Ry(pitch) Rx(roll), shape (3, 3), angles in rad: about the fixed axes x, then y, then z."""
    x, y, z = identity(3)
    Rz, Ry, Rx = rotation(z, yaw), rotation(y, pitch), rotation(x, roll)
    return matmul(matmul(Rz, Ry), Rx)


def exp_so3(w: Sequence[S]) -> Mat:
    """The rotation matrix, shape (3, 3), of a rotation vector w [rad], shape (3,); smooth through zero."""
    a, b, _, _ = rotation_coefficients(dot(w, w))
    return _second_order(w, a, b)


def log_so3(R: Sequence[Sequence[S]]) -> Vec:
    """The rotation vector [rad], shape (3,), of length at most pi: the inverse of `exp_so3`, accurate from 0 to pi."""
    return quat_log(rotation_to_quat(R))


def left_jacobian_so3(w: Sequence[S]) -> Mat:
    """J(w), shape (3, 3): the angular velocity of exp_so3(w) is J(w) wdot in fixed axes, J(-w) wdot in body axes.

    J(-w) = J(w)^T.
    """
    _, b, c, _ = rotation_coefficients(dot(w, w))
    return _second_order(w, b, c)


def left_jacobian_so3_inverse(w: Sequence[S]) -> Mat:
    """The inverse of `left_jacobian_so3`, J(w)^-1, shape (3, 3), for |w| < 2 pi."""
    return _second_order(w, -0.5, cotangent_coefficient(dot(w, w)))


def _second_order(w: Sequence[S], first: S, second: S) -> Mat:
    """The matrix 1 + first hat(w) + second hat(w)^2, shape (3, 3)."""
    W = hat(w)
    return mat_add(identity(3), mat_add(mat_scale(first, W), mat_scale(second, matmul(W, W))))


# ── floats only ───────────────────────────────────────────────────────────────────────────────────────────────────────


def is_rotation(R: Sequence[Sequence[float]], tolerance: float = 1e-9) -> bool:
    """Whether R, shape (3, 3), is orthonormal and right-handed, to a tolerance on each entry of R R^T. Floats only."""
    error = mat_sub(matmul(R, transpose(R)), identity(3))
    return all(abs(x) <= tolerance for row in error for x in row) and det3(R) > 0.0


def rotation_to_rpy(R: Sequence[Sequence[float]]) -> tuple[float, float, float]:
    """(roll, pitch, yaw) [rad] with rpy_to_rotation(roll, pitch, yaw) = R; roll is 0 at pitch +-pi/2. Floats only."""
    level = math.hypot(R[0][0], R[1][0])
    pitch = math.atan2(-R[2][0], level)
    if level < 1e-12:
        return 0.0, pitch, math.atan2(-R[0][1], R[1][1])
    return math.atan2(R[2][1], R[2][2]), pitch, math.atan2(R[1][0], R[0][0])
