"""Local coordinates: the configuration manifold as a vector space, about one configuration.

An integrator adds and scales; quaternions and planar poses do not add. So a step is taken in coordinates w (nv,) about
the configuration `base` where it begins, w = 0 there. `place` says which configuration w means, `local_rate` how w
moves at velocity v, `carried` which velocity the end has when the start moves and w is held:

    q = place(base, w),     dw/dt = local_rate(w, v),     local_rate(0, v) = v,     w = local(base, q)

Joints of one axis add. Rotations use Cayley's map, R = R_base cay(w): rational, exact, without a sine, and singular
only half a turn away from the start of the step. A point that moves along with a rotation is measured in the axes of
`base`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from kinemorph.algebra.quaternions import direction_to_rotation, quat_conjugate, quat_multiply, quat_normalize
from kinemorph.algebra.scalar import div, sincos
from kinemorph.algebra.vectors import add, cross, dot, matvec, matvec_transposed, scale, sub
from kinemorph.mechanics.motions import ELEMENTARY, S
from kinemorph.mechanics.tree import Tree

Coordinates = Sequence[S]


class Chart(NamedTuple):
    """The row of one elementary joint."""

    place: Callable[[Coordinates, Coordinates], Coordinates]  # (base, w) -> q; quaternions of any length
    rate: Callable[[Coordinates, Coordinates], Coordinates]  # (w, v) -> dw/dt
    carried: Callable[[Coordinates, Coordinates], Coordinates]  # (w, velocity of the start) -> velocity of the end
    finish: Callable[[Coordinates], Coordinates]  # q as it is stored: quaternions of length 1
    local: Callable[[Coordinates, Coordinates], Coordinates]  # (base, q) -> w, less than half a turn away


def _turned(base: Coordinates, w: Coordinates) -> Any:
    return quat_multiply(base, (1.0, *scale(0.5, w)))


def _turn(w: Coordinates) -> Any:
    """The rotation matrix cay(w)."""
    return direction_to_rotation((1.0, *scale(0.5, w)))


def _turning(w: Coordinates, rate: Coordinates) -> Any:
    """dw/dt at a body rate: w' = rate + w x rate / 2 + w (w . rate) / 4."""
    return add(add(rate, scale(0.5, cross(w, rate))), scale(0.25 * dot(w, rate), w))


def _same(w: Coordinates, v: Coordinates) -> Coordinates:
    return v


def _as_is(q: Coordinates) -> Coordinates:
    return q


def _plane(angle: S, x: S, y: S) -> tuple[S, S]:
    sine, cosine = sincos(angle)
    return cosine * x - sine * y, sine * x + cosine * y


def _planar_place(base: Coordinates, w: Coordinates) -> Any:
    x, y = _plane(base[2], w[0], w[1])
    return (base[0] + x, base[1] + y, base[2] + w[2])


def _planar_rate(w: Coordinates, v: Coordinates) -> Any:
    return (*_plane(w[2], v[0], v[1]), v[2])


def _planar_carried(w: Coordinates, v: Coordinates) -> Any:
    x, y = v[0] - v[2] * w[1], v[1] + v[2] * w[0]  # of the point at w, in the axes of the start
    sine, cosine = sincos(w[2])
    return (cosine * x + sine * y, cosine * y - sine * x, v[2])


def _free_place(base: Coordinates, w: Coordinates) -> Any:
    return (*add(base[:3], matvec(direction_to_rotation(base[3:]), w[:3])), *_turned(base[3:], w[3:]))


def _free_rate(w: Coordinates, v: Coordinates) -> Any:
    return (*matvec(_turn(w[3:]), v[:3]), *_turning(w[3:], v[3:]))


def _free_carried(w: Coordinates, v: Coordinates) -> Any:
    back = _turn(w[3:])
    return (*matvec_transposed(back, add(v[:3], cross(v[3:], w[:3]))), *matvec_transposed(back, v[3:]))


def _straight(base: Coordinates, q: Coordinates) -> Any:
    return sub(q, base)


def _turn_between(base: Coordinates, q: Coordinates) -> Any:
    """w = 2 tan(angle / 2) about the axis that turns base to q; the sign and length of a quaternion do not count."""
    scalar, *vector = quat_multiply(quat_conjugate(base), q)
    return tuple(div(2.0 * x, scalar) for x in vector)


def _planar_local(base: Coordinates, q: Coordinates) -> Any:
    x, y, angle = sub(q, base)
    return (*_plane(-base[2], x, y), angle)


def _free_local(base: Coordinates, q: Coordinates) -> Any:
    shift = matvec_transposed(direction_to_rotation(base[3:]), sub(q[:3], base[:3]))
    return (*shift, *_turn_between(base[3:], q[3:]))


_LINE = Chart(add, _same, _same, _as_is, _straight)
CHARTS: dict[str, Chart] = {
    "revolute": _LINE,
    "prismatic": _LINE,
    "helical": _LINE,
    "planar": Chart(_planar_place, _planar_rate, _planar_carried, _as_is, _planar_local),
    "spherical": Chart(_turned, _turning, lambda w, v: matvec_transposed(_turn(w), v), quat_normalize, _turn_between),
    "free": Chart(_free_place, _free_rate, _free_carried, lambda q: (*q[:3], *quat_normalize(q[3:])), _free_local),
}


def place(tree: Tree, base: Coordinates, w: Coordinates, *, finished: bool = True) -> list[S]:
    """The configuration, shape (nq,), at local coordinates w about `base`; unfinished, quaternions of any length."""
    q: list[S] = [0.0] * tree.nq
    for link in tree.links:
        row, nq, nv = CHARTS[link.kind], ELEMENTARY[link.kind].nq, ELEMENTARY[link.kind].nv
        placed = row.place(base[link.q : link.q + nq], w[link.v : link.v + nv])
        q[link.q : link.q + nq] = row.finish(placed) if finished else placed
    return q


def local_rate(tree: Tree, w: Coordinates, v: Coordinates) -> list[S]:
    """dw/dt, shape (nv,), at velocity v."""
    return _by_link(tree, "rate", w, v)


def carried(tree: Tree, w: Coordinates, v: Coordinates) -> list[S]:
    """The velocity, shape (nv,), of place(base, w) where `base` moves at velocity v and w is held."""
    return _by_link(tree, "carried", w, v)


def _by_link(tree: Tree, what: str, w: Coordinates, v: Coordinates) -> list[S]:
    result: list[S] = [0.0] * tree.nv
    for link in tree.links:
        part = slice(link.v, link.v + ELEMENTARY[link.kind].nv)
        result[part] = getattr(CHARTS[link.kind], what)(w[part], v[part])
    return result
