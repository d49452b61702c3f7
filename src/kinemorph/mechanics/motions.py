"""How one link moves against its parent: plane turns, and the table of elementary joints.

A rotation from a link to its parent is a short sequence of turns, each about a coordinate axis. Turning a vector costs
four products and two sums, and a turn by a right angle costs nothing. A symmetric 2x2 block [[a, b], [b, d]] turns by

    e = s (a - d) + 2 c b,      a' = a - s e,      d' = d + s e,      b' = c e - b

which is nine operations instead of the eighteen of two matrix products; a general block needs eleven.

Symmetric 3x3 matrices are 6-tuples (xx, xy, xz, yy, yz, zz), general ones 9-tuples by rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from kinemorph.algebra.quaternions import direction_to_rotation, quat_rate
from kinemorph.algebra.scalar import is_zero, sincos
from kinemorph.algebra.vectors import Mat

S = Any  # any scalar
Vec3 = tuple[S, ...]
Sym3 = tuple[S, ...]
Mat3 = tuple[S, ...]
ZERO3: Vec3 = (0.0, 0.0, 0.0)
ZERO_SYM: Sym3 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def _block(c: S, s: S, a: S, b: S, d: S) -> tuple[S, S, S]:
    """The symmetric block [[a, b], [b, d]] turned by the angle with cosine c and sine s."""
    if c.__class__ is float and c == 0.0:
        return d, -b, a  # a right angle, either way round
    e = s * (a - d) + (2.0 * c) * b
    se = s * e
    return a - se, c * e - b, d + se


def _general_block(c: S, s: S, a: S, b: S, k: S, d: S) -> tuple[S, S, S, S]:
    """The block [[a, b], [k, d]] turned by the angle with cosine c and sine s."""
    if c.__class__ is float and c == 0.0:
        return d, -k, -b, a
    e = s * (a - d) + c * (b + k)
    se, ce = s * e, c * e
    return a - se, ce - k, ce - b, d + se


class PlaneTurn:
    """A rotation about a coordinate axis, by its cosine and sine."""

    __slots__ = ("c", "s")

    def __init__(self, c: S, s: S) -> None:
        self.c = c
        self.s = s


class TurnZ(PlaneTurn):
    """A rotation about z; `out` takes child coordinates to the parent's, `into` goes back."""

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
    """A rotation about x."""

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
    """A rotation given by its matrix, for joints that turn about any axis."""

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
        columns = [self.out((m[j], m[3 + j], m[6 + j])) for j in range(3)]  # R M
        turned = [self.out((columns[0][i], columns[1][i], columns[2][i])) for i in range(3)]  # rows of (R M) R^T
        return (*turned[0], *turned[1], *turned[2])

    def out_symmetric(self, m: Sym3) -> Sym3:
        xx, xy, xz, yy, yz, zz = m
        g = self.out_general((xx, xy, xz, xy, yy, yz, xz, yz, zz))
        return (g[0], g[1], g[2], g[4], g[5], g[8])


Turn = TurnZ | TurnX | TurnFull


class Move(NamedTuple):
    """Pose of a link in its parent at one configuration: shift p, the turns (outermost first), then slide along z."""

    p: Vec3
    turns: tuple[Turn, ...]
    slide: S

    def out(self, v: Vec3) -> Vec3:
        """A free vector, link to parent."""
        for turn in reversed(self.turns):
            v = turn.out(v)
        return v

    def into(self, v: Vec3) -> Vec3:
        """A free vector, parent to link."""
        for turn in self.turns:
            v = turn.into(v)
        return v

    def out_symmetric(self, m: Sym3) -> Sym3:
        """A symmetric matrix, link to parent: R M R^T."""
        for turn in reversed(self.turns):
            m = turn.out_symmetric(m)
        return m

    def out_general(self, m: Mat3) -> Mat3:
        """A matrix, link to parent: R M R^T."""
        for turn in reversed(self.turns):
            m = turn.out_general(m)
        return m

    def origin(self) -> Vec3:
        """The link's origin in the parent's frame [m]."""
        x, y, z = self.out((0.0, 0.0, self.slide))
        return (self.p[0] + x, self.p[1] + y, self.p[2] + z)


Axis = tuple[tuple[int, S], ...]  # a sparse twist: (component of [linear; angular], coefficient)


class Elementary(NamedTuple):
    """A row of the joint table. Every elementary joint has constant screw axes in the frame of its own link.

    `move(q, offset, slide, pitch)` gives (shift before the turn, turn or None, slide along z after it); `axes(pitch)`
    gives the screw axes, one per velocity; `rate(q, v)` gives qdot. A quaternion counts by its direction alone: a state
    that has drifted off the unit sphere is still a rotation, and zero is none (the result is not finite).
    """

    nq: int
    nv: int
    axial: bool  # the z axis of link and joint coincide for all q: the frame may be moved along and about z
    move: Callable[[Sequence[S], S, S, S], tuple[Vec3, Turn | None, S]]
    axes: Callable[[S], tuple[Axis, ...]]
    rate: Callable[[Sequence[S], Sequence[S]], Sequence[S]]


def _angle(q: S, offset: S) -> TurnZ:
    """A turn by q + offset; offsets of whole right angles swap sine and cosine instead of adding."""
    quarters = offset / (0.5 * 3.141592653589793) if isinstance(offset, float) else 0.5
    if abs(quarters - round(quarters)) > 1e-15:
        s, c = sincos(q + offset)
        return TurnZ(c, s)
    s, c = sincos(q)
    return TurnZ(*((c, s), (-s, c), (-c, -s), (s, -c))[round(quarters) % 4])


def _constant_turn(offset: S) -> TurnZ | None:
    if is_zero(offset):
        return None
    return _angle(0.0, offset)


def _same(q: Sequence[S], v: Sequence[S]) -> Sequence[S]:
    return v


def _planar_rate(q: Sequence[S], v: Sequence[S]) -> Sequence[S]:
    x, y, _ = TurnZ(*reversed(sincos(q[2]))).out((v[0], v[1], 0.0))
    return (x, y, v[2])


def _free_rate(q: Sequence[S], v: Sequence[S]) -> Sequence[S]:
    return (*TurnFull(direction_to_rotation(q[3:])).out((v[0], v[1], v[2])), *quat_rate(q[3:], v[3:]))


_X, _Y, _Z, _RX, _RY, _RZ = (((k, 1.0),) for k in range(6))

ELEMENTARY: dict[str, Elementary] = {
    "revolute": Elementary(1, 1, True, lambda q, o, d, h: (ZERO3, _angle(q[0], o), d), lambda h: (_RZ,), _same),
    "prismatic": Elementary(
        1, 1, True, lambda q, o, d, h: (ZERO3, _constant_turn(o), q[0] + d), lambda h: (_Z,), _same
    ),
    "helical": Elementary(
        1, 1, True, lambda q, o, d, h: (ZERO3, _angle(q[0], o), h * q[0] + d), lambda h: (((2, h), (5, 1.0)),), _same
    ),
    "planar": Elementary(
        3, 3, False, lambda q, o, d, h: ((q[0], q[1], 0.0), _angle(q[2], o), d), lambda h: (_X, _Y, _RZ), _planar_rate
    ),
    "spherical": Elementary(
        4,
        3,
        False,
        lambda q, o, d, h: (ZERO3, TurnFull(direction_to_rotation(q)), d),
        lambda h: (_RX, _RY, _RZ),
        quat_rate,
    ),
    "free": Elementary(
        7,
        6,
        False,
        lambda q, o, d, h: ((q[0], q[1], q[2]), TurnFull(direction_to_rotation(q[3:])), d),
        lambda h: (_X, _Y, _Z, _RX, _RY, _RZ),
        _free_rate,
    ),
    # only where every body is to be a link of its own
    "fixed": Elementary(0, 0, False, lambda q, o, d, h: (ZERO3, None, d), lambda h: (), _same),
}
