"""Rotations applied to vectors and to symmetric and general 3x3 matrices, without products of matrices.

A rotation from a link to its parent is a short sequence of turns, each about a coordinate axis. Turning a vector costs
four products and two sums, and a turn by a right angle costs nothing. A turn by an angle with cosine c and sine s
changes a symmetric 2x2 block [[a, b], [b, d]] to [[a', b'], [b', d']]:

    e = s (a - d) + 2 c b,      a' = a - s e,      d' = d + s e,      b' = c e - b

which is nine operations instead of the eighteen of two matrix products; a general block needs eleven.

Symmetric 3x3 matrices are 6-tuples (xx, xy, xz, yy, yz, zz), general ones 9-tuples by rows.
"""

from __future__ import annotations

from kinemorph.algebra.scalar import S
from kinemorph.algebra.vectors import Mat

Vec3 = tuple[S, ...]
Sym3 = tuple[S, ...]
Mat3 = tuple[S, ...]


def _block(c: S, s: S, a: S, b: S, d: S) -> tuple[S, S, S]:
    """(a', b', d') of the symmetric block [[a, b], [b, d]] turned by the angle with cosine c and sine s."""
    if c.__class__ is float and c == 0.0:
        return d, -b, a  # a right angle in either direction
    e = s * (a - d) + (2.0 * c) * b
    se = s * e
    return a - se, c * e - b, d + se


def _general_block(c: S, s: S, a: S, b: S, k: S, d: S) -> tuple[S, S, S, S]:
    """(a', b', k', d') of the block [[a, b], [k, d]] turned by the angle with cosine c and sine s."""
    if c.__class__ is float and c == 0.0:
        return d, -k, -b, a
    e = s * (a - d) + c * (b + k)
    se, ce = s * e, c * e
    return a - se, ce - k, ce - b, d + se


class PlaneTurn:
    """A rotation about a coordinate axis, given by the cosine c and the sine s of its angle."""

    __slots__ = ("c", "s")

    def __init__(self, c: S, s: S) -> None:
        self.c = c
        self.s = s


class TurnZ(PlaneTurn):
    """A rotation about z. `out` gives parent coordinates from child coordinates, `into` is its inverse."""

    __slots__ = ()

    def out(self, v: Vec3) -> Vec3:
        c, s = self.c, self.s
        x, y, z = v
        return (c * x - s * y, s * x + c * y, z)

    def into(self, v: Vec3) -> Vec3:
        c, s = self.c, self.s
        x, y, z = v
        return (c * x + s * y, c * y - s * x, z)

    def out_symmetric(self, m: Sym3) -> Sym3:
        c, s = self.c, self.s
        xx, xy, xz, yy, yz, zz = m
        xx, xy, yy = _block(c, s, xx, xy, yy)
        return (xx, xy, c * xz - s * yz, yy, s * xz + c * yz, zz)

    def out_general(self, m: Mat3) -> Mat3:
        c, s = self.c, self.s
        xx, xy, xz, yx, yy, yz, zx, zy, zz = m
        xx, xy, yx, yy = _general_block(c, s, xx, xy, yx, yy)
        return (xx, xy, c * xz - s * yz, yx, yy, s * xz + c * yz, c * zx - s * zy, s * zx + c * zy, zz)


class TurnX(PlaneTurn):
    """A rotation about x. `out` gives parent coordinates from child coordinates, `into` is its inverse."""

    __slots__ = ()

    def out(self, v: Vec3) -> Vec3:
        c, s = self.c, self.s
        x, y, z = v
        return (x, c * y - s * z, s * y + c * z)

    def into(self, v: Vec3) -> Vec3:
        c, s = self.c, self.s
        x, y, z = v
        return (x, c * y + s * z, c * z - s * y)

    def out_symmetric(self, m: Sym3) -> Sym3:
        c, s = self.c, self.s
        xx, xy, xz, yy, yz, zz = m
        yy, yz, zz = _block(c, s, yy, yz, zz)
        return (xx, c * xy - s * xz, s * xy + c * xz, yy, yz, zz)

    def out_general(self, m: Mat3) -> Mat3:
        c, s = self.c, self.s
        xx, xy, xz, yx, yy, yz, zx, zy, zz = m
        yy, yz, zy, zz = _general_block(c, s, yy, yz, zy, zz)
        return (xx, c * xy - s * xz, s * xy + c * xz, c * yx - s * zx, yy, yz, s * yx + c * zx, zy, zz)


class TurnFull:
    """A rotation given by its matrix, for joints that turn about any axis. `out` and `into` are as in `TurnZ`."""

    __slots__ = ("rows",)

    def __init__(self, rows: Mat) -> None:
        self.rows = rows

    def out(self, v: Vec3) -> Vec3:
        x, y, z = v
        (a, b, c), (d, e, f), (g, h, k) = self.rows
        return (a * x + b * y + c * z, d * x + e * y + f * z, g * x + h * y + k * z)

    def into(self, v: Vec3) -> Vec3:
        x, y, z = v
        (a, b, c), (d, e, f), (g, h, k) = self.rows
        return (a * x + d * y + g * z, b * x + e * y + h * z, c * x + f * y + k * z)

    def out_general(self, m: Mat3) -> Mat3:
        xx, xy, xz, yx, yy, yz, zx, zy, zz = m
        ax, bx, cx = self.out((xx, yx, zx))  # columns of R M
        ay, by, cy = self.out((xy, yy, zy))
        az, bz, cz = self.out((xz, yz, zz))
        return (*self.out((ax, ay, az)), *self.out((bx, by, bz)), *self.out((cx, cy, cz)))  # rows of (R M) R^T

    def out_symmetric(self, m: Sym3) -> Sym3:
        xx, xy, xz, yy, yz, zz = m
        (a, b, c), (d, e, f), (g, h, k) = self.rows
        # R M, then the upper half of (R M) R^T
        px, py, pz = a * xx + b * xy + c * xz, a * xy + b * yy + c * yz, a * xz + b * yz + c * zz
        qx, qy, qz = d * xx + e * xy + f * xz, d * xy + e * yy + f * yz, d * xz + e * yz + f * zz
        rx, ry, rz = g * xx + h * xy + k * xz, g * xy + h * yy + k * yz, g * xz + h * yz + k * zz
        return (
            a * px + b * py + c * pz,
            d * px + e * py + f * pz,
            g * px + h * py + k * pz,
            d * qx + e * qy + f * qz,
            g * qx + h * qy + k * qz,
            g * rx + h * ry + k * rz,
        )


Turn = TurnZ | TurnX | TurnFull
