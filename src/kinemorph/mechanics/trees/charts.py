"""Local coordinates: the configuration manifold as a vector space, about one configuration.

An integrator adds and scales; quaternions and planar poses cannot be added. So a step is taken in coordinates w (nv,)
about the configuration `base` where it begins, with w = 0 there. `place` gives the configuration at w, `local_rate` the
rate of w at velocity v, and `carried` the velocity of that configuration where `base` moves and w is constant:

    q = place(base, w),     dw/dt = local_rate(w, v),     local_rate(0, v) = v,     w = local(base, q)

A steady motion has a constant velocity: `steady` gives its displacement after a unit of time; `halfway` gives, from
that displacement, the displacement after half of the time and the velocity. Both are accurate to second order and
symmetric: the reverse motion follows the same path. `chained` joins two displacements. `aligned` gives the velocity at
w with its linear parts in the axes of `base`, and `turned` is its inverse: linear velocities turn with moving axes.

Coordinates of joints with one axis are added. Rotations use Cayley's map, R = R_base cay(w): it is rational and exact,
needs no sine, and is singular only half a turn away from the start of the step. A point that moves along with a
rotation is measured in the axes of `base`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from kinemorph.algebra.quaternions import direction_to_rotation, quat_conjugate, quat_multiply, quat_normalize
from kinemorph.algebra.scalar import S, div, sincos, sqrt
from kinemorph.algebra.vectors import add, cross, dot, matvec, matvec_transposed, scale, sub
from kinemorph.mechanics.trees.motions import ELEMENTARY
from kinemorph.mechanics.trees.tree import Tree

Coordinates = Sequence[S]


class Chart(NamedTuple):
    """The local coordinates of one kind of elementary joint: the functions of this file for one joint."""

    place: Callable[[Coordinates, Coordinates], Coordinates]  # (base, w) -> q; quaternions of any length
    rate: Callable[[Coordinates, Coordinates], Coordinates]  # (w, v) -> dw/dt
    carried: Callable[[Coordinates, Coordinates], Coordinates]  # (w, velocity of base) -> velocity at w
    finish: Callable[[Coordinates], Coordinates]  # q as it is stored: quaternions of length 1
    local: Callable[[Coordinates, Coordinates], Coordinates]  # (base, q) -> w, less than half a turn away
    velocity: Callable[[Coordinates, Coordinates], Coordinates]  # (w, dw/dt) -> v, the inverse of `rate`
    steady: Callable[[Coordinates], Coordinates]  # v -> w after a unit of time
    halfway: Callable[[Coordinates], tuple[Coordinates, Coordinates]]  # w -> (w after half of the time, v)
    chained: Callable[[Coordinates, Coordinates], Coordinates]  # (w to a place, w from there on) -> w of both together


def _turned(base: Coordinates, w: Coordinates) -> Any:
    return quat_multiply(base, (1.0, *scale(0.5, w)))


def cayley(w: Coordinates) -> Any:
    """The rotation matrix cay(w) of Cayley's map, shape (3, 3)."""
    return direction_to_rotation((1.0, *scale(0.5, w)))


def _turning(w: Coordinates, rate: Coordinates) -> Any:
    """dw/dt at the body rate `rate` [rad/s]: rate + w x rate / 2 + w (w . rate) / 4."""
    return add(add(rate, scale(0.5, cross(w, rate))), scale(0.25 * dot(w, rate), w))


def _unturning(w: Coordinates, rate: Coordinates) -> Any:
    """The body rate [rad/s] of a rotation at which its local coordinates w change at dw/dt = rate."""
    return scale(div(1.0, 1.0 + 0.25 * dot(w, w)), sub(rate, scale(0.5, cross(w, rate))))


def _half_turn(w: Coordinates) -> Any:
    """Half of a rotation: `half` with cay(half) cay(half) = cay(w)."""
    return scale(div(1.0, 1.0 + sqrt(1.0 + 0.25 * dot(w, w))), w)


def _turns_chained(first: Coordinates, second: Coordinates) -> Any:
    w, *vector = quat_multiply((1.0, *scale(0.5, first)), (1.0, *scale(0.5, second)))
    return scale(div(2.0, w), vector)


def _same(w: Coordinates, v: Coordinates) -> Coordinates:
    return v


def _as_is(q: Coordinates) -> Coordinates:
    return q


def _plane(angle: S, x: S, y: S) -> tuple[S, S]:
    sine, cosine = sincos(angle)
    return cosine * x - sine * y, sine * x + cosine * y


def _plane_back(angle: S, x: S, y: S) -> tuple[S, S]:
    sine, cosine = sincos(angle)
    return cosine * x + sine * y, cosine * y - sine * x


def _planar_place(base: Coordinates, w: Coordinates) -> Any:
    x, y = _plane(base[2], w[0], w[1])
    return (base[0] + x, base[1] + y, base[2] + w[2])


def _planar_rate(w: Coordinates, v: Coordinates) -> Any:
    return (*_plane(w[2], v[0], v[1]), v[2])


def _planar_carried(w: Coordinates, v: Coordinates) -> Any:
    x, y = v[0] - v[2] * w[1], v[1] + v[2] * w[0]  # velocity of the point at w, in the axes of base
    return (*_plane_back(w[2], x, y), v[2])


def _planar_velocity(w: Coordinates, rate: Coordinates) -> Any:
    return (*_plane_back(w[2], rate[0], rate[1]), rate[2])


def _planar_steady(v: Coordinates) -> Any:
    return (*_plane(0.5 * v[2], v[0], v[1]), v[2])


def _planar_halfway(w: Coordinates) -> Any:
    return scale(0.5, w), (*_plane_back(0.5 * w[2], w[0], w[1]), w[2])


def _planar_chained(first: Coordinates, second: Coordinates) -> Any:
    return add(first, (*_plane(first[2], second[0], second[1]), second[2]))


def _free_place(base: Coordinates, w: Coordinates) -> Any:
    return (*add(base[:3], matvec(direction_to_rotation(base[3:]), w[:3])), *_turned(base[3:], w[3:]))


def _free_rate(w: Coordinates, v: Coordinates) -> Any:
    return (*matvec(cayley(w[3:]), v[:3]), *_turning(w[3:], v[3:]))


def _free_carried(w: Coordinates, v: Coordinates) -> Any:
    back = cayley(w[3:])
    return (*matvec_transposed(back, add(v[:3], cross(v[3:], w[:3]))), *matvec_transposed(back, v[3:]))


def _straight(base: Coordinates, q: Coordinates) -> Any:
    return sub(q, base)


def _turn_between(base: Coordinates, q: Coordinates) -> Any:
    """The rotation w from base to q: 2 tan(angle / 2) along its axis. Sign and length of a quaternion do not matter."""
    scalar, *vector = quat_multiply(quat_conjugate(base), q)
    return tuple(div(2.0 * x, scalar) for x in vector)


def _planar_local(base: Coordinates, q: Coordinates) -> Any:
    x, y, angle = sub(q, base)
    return (*_plane(-base[2], x, y), angle)


def _free_local(base: Coordinates, q: Coordinates) -> Any:
    shift = matvec_transposed(direction_to_rotation(base[3:]), sub(q[:3], base[:3]))
    return (*shift, *_turn_between(base[3:], q[3:]))


def _free_velocity(w: Coordinates, rate: Coordinates) -> Any:
    return (*matvec_transposed(cayley(w[3:]), rate[:3]), *_unturning(w[3:], rate[3:]))


def _free_steady(v: Coordinates) -> Any:
    return (*matvec(cayley(_half_turn(v[3:])), v[:3]), *v[3:])


def _free_halfway(w: Coordinates) -> Any:
    half = _half_turn(w[3:])
    return (*scale(0.5, w[:3]), *half), (*matvec_transposed(cayley(half), w[:3]), *w[3:])


def _free_chained(first: Coordinates, second: Coordinates) -> Any:
    moved = add(first[:3], matvec(cayley(first[3:]), second[:3]))
    return (*moved, *_turns_chained(first[3:], second[3:]))


def _line_halfway(w: Coordinates) -> Any:
    return scale(0.5, w), w


LINEAR = {"free": 3, "planar": 2}  # the number of linear velocities in moving axes; they come first
_LINE = Chart(add, _same, _same, _as_is, _straight, _same, _as_is, _line_halfway, add)
CHARTS: dict[str, Chart] = {
    "revolute": _LINE,
    "prismatic": _LINE,
    "helical": _LINE,
    "planar": Chart(
        *(_planar_place, _planar_rate, _planar_carried, _as_is, _planar_local),
        *(_planar_velocity, _planar_steady, _planar_halfway, _planar_chained),
    ),
    "spherical": Chart(
        *(_turned, _turning, lambda w, v: matvec_transposed(cayley(w), v), quat_normalize, _turn_between),
        *(_unturning, _as_is, lambda w: (_half_turn(w), w), _turns_chained),
    ),
    "free": Chart(
        *(_free_place, _free_rate, _free_carried, lambda q: (*q[:3], *quat_normalize(q[3:])), _free_local),
        *(_free_velocity, _free_steady, _free_halfway, _free_chained),
    ),
}


def place(tree: Tree, base: Coordinates, w: Coordinates, *, finished: bool = True) -> list[S]:
    """The configuration, shape (nq,), at local coordinates w about `base`.

    Unless `finished`, its quaternions are not scaled to length 1.
    """
    q: list[S] = [0.0] * tree.nq
    for link in tree.links:
        row, nq, nv = CHARTS[link.kind], ELEMENTARY[link.kind].nq, ELEMENTARY[link.kind].nv
        placed = row.place(base[link.q : link.q + nq], w[link.v : link.v + nv])
        q[link.q : link.q + nq] = row.finish(placed) if finished else placed
    return q


def finished(tree: Tree, q: Coordinates) -> list[S]:
    """The configuration q, shape (nq,), with its quaternions scaled to length 1."""
    found: list[S] = list(q)
    for link in tree.links:
        part = slice(link.q, link.q + ELEMENTARY[link.kind].nq)
        if link.kind in CHARTS:  # a fixed link has no coordinates
            found[part] = CHARTS[link.kind].finish(q[part])
    return found


def local_rate(tree: Tree, w: Coordinates, v: Coordinates) -> list[S]:
    """The rate dw/dt of local coordinates, shape (nv,), at w and velocity v."""
    return _by_link(tree, "rate", w, v)


def carried(tree: Tree, w: Coordinates, v: Coordinates) -> list[S]:
    """The velocity, shape (nv,), of place(base, w) where `base` moves at velocity v and w is constant."""
    return _by_link(tree, "carried", w, v)


def velocity(tree: Tree, w: Coordinates, rate: Coordinates) -> list[S]:
    """The velocity, shape (nv,), at which local coordinates w change at `rate`: the inverse of `local_rate`."""
    return _by_link(tree, "velocity", w, rate)


def steady(tree: Tree, v: Coordinates) -> list[S]:
    """The local coordinates w, shape (nv,), after a unit of time at constant velocity v."""
    return _by_link(tree, "steady", v)


def chained(tree: Tree, first: Coordinates, second: Coordinates) -> list[S]:
    """The local coordinates w, shape (nv,), of two displacements in a row.

    place(base, w) = place(place(base, first), second) for every base.
    """
    return _by_link(tree, "chained", first, second)


def aligned(tree: Tree, w: Coordinates, v: Coordinates) -> list[S]:
    """The velocity v (nv,) at w with its linear parts in the axes of the base, where `v` has them in moving axes."""
    return _with_linear_parts(tree, v, local_rate(tree, w, v))


def turned(tree: Tree, w: Coordinates, v: Coordinates) -> list[S]:
    """The velocity v (nv,) at w, from that with linear parts in the axes of the base: the inverse of `aligned`."""
    return _with_linear_parts(tree, v, velocity(tree, w, v))


def _with_linear_parts(tree: Tree, v: Coordinates, other: Coordinates) -> list[S]:
    """The velocity v (nv,) with the linear velocities of joints in moving axes from another one."""
    found = list(v)
    for link in tree.links:
        part = slice(link.v, link.v + LINEAR.get(link.kind, 0))
        found[part] = other[part]
    return found


def halfway(tree: Tree, w: Coordinates) -> tuple[list[S], list[S]]:
    """(half, v) of the steady motion that reaches w in a unit of time: its displacement after half of that time, and
    its velocity; each of shape (nv,).
    """
    half: list[S] = [0.0] * tree.nv
    v: list[S] = [0.0] * tree.nv
    for link in tree.links:
        part = slice(link.v, link.v + ELEMENTARY[link.kind].nv)
        half[part], v[part] = CHARTS[link.kind].halfway(w[part])
    return half, v


def pulled_back(tree: Tree, linear: Callable[[Coordinates], Sequence[S]], covector: Coordinates) -> list[S]:
    """The transpose of a linear map of velocities, times `covector`, shape (nv,).

    Entry k is  covector . linear(unit velocity k). The map must not mix the velocities of different links.
    """
    found: list[S] = [0.0] * tree.nv
    most = max((ELEMENTARY[link.kind].nv for link in tree.links), default=0)
    for k in range(most):  # axis k of all links at once: the map does not mix links
        units = [0.0] * tree.nv
        for link in tree.links:
            if k < ELEMENTARY[link.kind].nv:
                units[link.v + k] = 1.0
        image = linear(units)
        for link in tree.links:
            nv = ELEMENTARY[link.kind].nv
            if k < nv:
                found[link.v + k] = dot(covector[link.v : link.v + nv], image[link.v : link.v + nv])
    return found


def _by_link(tree: Tree, what: str, *given: Coordinates) -> list[S]:
    result: list[S] = [0.0] * tree.nv
    for link in tree.links:
        part = slice(link.v, link.v + ELEMENTARY[link.kind].nv)
        result[part] = getattr(CHARTS[link.kind], what)(*(one[part] for one in given))
    return result
