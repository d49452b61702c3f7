"""The motion of one link relative to its parent: a shift, turns and a slide; and the table of elementary joints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from kinemorph.algebra.inertia_blocks import Axis
from kinemorph.algebra.quaternions import direction_to_rotation, quat_rate
from kinemorph.algebra.scalar import S, is_zero, sincos
from kinemorph.algebra.turns import Mat3, Sym3, Turn, TurnFull, TurnZ, Vec3
from kinemorph.algebra.vectors import cross

ZERO3: Vec3 = (0.0, 0.0, 0.0)
ZERO_SYM: Sym3 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


class Move(NamedTuple):
    """The pose of a link in its parent at one configuration: the shift p [m], the turns (outermost first), then the
    slide along z [m].
    """

    p: Vec3
    turns: tuple[Turn, ...]
    slide: S

    def out(self, v: Vec3) -> Vec3:
        """A free vector, given in the link's axes, expressed in the parent's axes."""
        for turn in reversed(self.turns):
            v = turn.out(v)
        return v

    def into(self, v: Vec3) -> Vec3:
        """A free vector, given in the parent's axes, expressed in the link's axes."""
        for turn in self.turns:
            v = turn.into(v)
        return v

    def out_symmetric(self, m: Sym3) -> Sym3:
        """A symmetric matrix M, given in the link's axes, expressed in the parent's axes: R M R^T."""
        for turn in reversed(self.turns):
            m = turn.out_symmetric(m)
        return m

    def out_general(self, m: Mat3) -> Mat3:
        """A matrix M, given in the link's axes, expressed in the parent's axes: R M R^T."""
        for turn in reversed(self.turns):
            m = turn.out_general(m)
        return m

    def origin(self) -> Vec3:
        """The link's origin in the parent's frame [m]."""
        x, y, z = self.out((0.0, 0.0, self.slide))
        return (self.p[0] + x, self.p[1] + y, self.p[2] + z)


class Elementary(NamedTuple):
    """A row of the joint table. Every elementary joint has constant screw axes in the frame of its own link.

    `move(q, offset, slide, pitch)` gives (shift before the turn, turn or None, slide along z after it); `axes(pitch)`
    gives the screw axes, one per velocity; `rate(q, v)` gives qdot. Only the direction of a quaternion matters: a
    quaternion whose length has drifted from 1 is still a rotation, but zero is not (the result is not finite).
    """

    nq: int
    nv: int
    axial: bool  # the z axis of link and joint coincide for all q: the frame may be moved along and about z
    move: Callable[[Sequence[S], S, S, S], tuple[Vec3, Turn | None, S]]
    axes: Callable[[S], tuple[Axis, ...]]
    rate: Callable[[Sequence[S], Sequence[S]], Sequence[S]]


def _angle(q: S, offset: S) -> TurnZ:
    """The turn by q + offset [rad]; an offset of whole right angles swaps sine and cosine, so that no sum is needed."""
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


def _rows(q: Sequence[S]) -> Mat3:
    """The rotation matrix whose rows are the first nine of the coordinates q of a pose."""
    return (tuple(q[0:3]), tuple(q[3:6]), tuple(q[6:9]))


def _pose_rate(q: Sequence[S], v: Sequence[S]) -> Sequence[S]:
    turn = TurnFull(_rows(q))
    rows = [cross(row, v[3:]) for row in (q[0:3], q[3:6], q[6:9])]  # of R [w]
    return (*(x for row in rows for x in row), *turn.out((v[0], v[1], v[2])))


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
    # driven joints only: the coordinates are the rows of the rotation matrix, then the translation
    "pose": Elementary(
        12,
        6,
        False,
        lambda q, o, d, h: ((q[9], q[10], q[11]), TurnFull(_rows(q)), d),
        lambda h: (_X, _Y, _Z, _RX, _RY, _RZ),
        _pose_rate,
    ),
    # only where every body has to be a separate link
    "fixed": Elementary(0, 0, False, lambda q, o, d, h: (ZERO3, None, d), lambda h: (), _same),
}
