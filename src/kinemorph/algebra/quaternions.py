"""Unit quaternions, written [w x y z], over any scalar.

q and -q are the same rotation. A quaternion q_ab turns vectors of frame b into frame a, as R_ab does, and
quat_multiply(q_ab, q_bc) = q_ac. Rates are body rates: qdot = q (0, w) / 2 with w [rad/s] in the moving frame.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinemorph.algebra.scalar import S, div, less, minus, plus, sqrt, times, where
from kinemorph.algebra.series import angle_ratio, rotation_coefficients
from kinemorph.algebra.vectors import Mat3, Vec, Vec3, dot, neg, normalize, scale

QUAT_IDENTITY: Vec = (1.0, 0.0, 0.0, 0.0)


def quat_multiply(a: Sequence[S], b: Sequence[S]) -> Vec:
    """The Hamilton product a b, shape (4,)."""
    w, x, y, z = a
    rows = ((w, *neg((x, y, z))), (x, w, *neg((z,)), y), (y, z, w, *neg((x,))), (z, *neg((y,)), x, w))
    return tuple(dot(row, b) for row in rows)


def quat_conjugate(q: Sequence[S]) -> Vec:
    """The inverse of a unit quaternion wxyz, shape (4,)."""
    return (q[0], *neg(q[1:]))


def quat_normalize(q: Sequence[S]) -> Vec:
    """q / |q|, shape (4,)."""
    return normalize(q)


def quat_rate(q: Sequence[S], w: Sequence[S]) -> Vec:
    """The rate dq/dt [1/s], shape (4,), of a unit quaternion q wxyz at the body rate w [rad/s], shape (3,)."""
    return scale(0.5, quat_multiply(q, (0.0, *w)))


def quat_to_rotation(q: Sequence[S]) -> Mat3:
    """The rotation matrix of a unit quaternion, shape (3, 3)."""
    w, x, y, z = q
    x2, y2, z2 = scale(2.0, (x, y, z))
    wx, wy, wz = scale(w, (x2, y2, z2))
    xx, xy, xz = scale(x, (x2, y2, z2))
    yy, yz, zz = times(y, y2), times(y, z2), times(z, z2)
    return _from_products(wx, wy, wz, xx, xy, xz, yy, yz, zz)


def _from_products(wx: S, wy: S, wz: S, xx: S, xy: S, xz: S, yy: S, yz: S, zz: S) -> Mat3:
    """The rotation matrix, shape (3, 3), from twice the products of the components of a unit quaternion: wx = 2 w x."""
    return (
        (minus(1.0, plus(yy, zz)), minus(xy, wz), plus(xz, wy)),
        (plus(xy, wz), minus(1.0, plus(xx, zz)), minus(yz, wx)),
        (minus(xz, wy), plus(yz, wx), minus(1.0, plus(xx, yy))),
    )


def direction_to_rotation(q: Sequence[S]) -> Mat3:
    """The rotation matrix, shape (3, 3), of the unit quaternion q / |q|; q has any length but zero."""
    w, x, y, z = q
    s = div(2.0, dot(q, q))
    sx, sy, sz = scale(s, (x, y, z))
    wx, wy, wz = scale(w, (sx, sy, sz))
    xx, xy, xz = scale(x, (sx, sy, sz))
    yy, yz, zz = times(y, sy), times(y, sz), times(z, sz)
    return _from_products(wx, wy, wz, xx, xy, xz, yy, yz, zz)


def rotation_to_quat(R: Sequence[Sequence[S]]) -> Vec:
    """The unit quaternion wxyz of a rotation matrix, shape (4,), with its largest component positive.

    The entries of R give the matrix 4 q q^T; its row with the largest diagonal entry is q times a number >= 2, so that
    one square root of a number >= 1 is enough at every angle, half a turn included.
    """
    (a, b, c), (d, e, g), (h, i, k) = R
    rows = (
        (1.0 + a + e + k, i - g, c - h, d - b),
        (i - g, 1.0 + a - e - k, b + d, c + h),
        (c - h, b + d, 1.0 - a + e - k, g + i),
        (d - b, c + h, g + i, 1.0 - a - e + k),
    )
    best: Sequence[S] = rows[0]
    largest: S = rows[0][0]
    for n in (1, 2, 3):
        better = less(largest, rows[n][n])
        best = tuple(where(better, new, old) for new, old in zip(rows[n], best, strict=True))
        largest = where(better, rows[n][n], largest)
    return scale(div(0.5, sqrt(largest)), best)


def quat_exp(w: Sequence[S]) -> Vec:
    """The unit quaternion wxyz, shape (4,), of a rotation vector w [rad], shape (3,); smooth through zero."""
    x = 0.25 * dot(w, w)
    a, b, _, _ = rotation_coefficients(x)
    return (1.0 - x * b, *scale(0.5 * a, w))


def quat_log(q: Sequence[S]) -> Vec3:
    """The rotation vector [rad], shape (3,), of a quaternion wxyz, shape (4,); at most pi long, smooth through zero."""
    negative = less(q[0], 0.0)
    w, x, y, z = (where(negative, minus(0.0, part), part) for part in q)
    ratio = angle_ratio(dot((x, y, z), (x, y, z)), w)
    return (times(ratio, x), times(ratio, y), times(ratio, z))
