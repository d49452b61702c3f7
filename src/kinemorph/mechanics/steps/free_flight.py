"""Free flight: how joints whose velocities are measured in moving axes move on where no force acts.

The velocities of a free joint are those of the body, in the body's own axes: they change while the body turns, although
nothing acts on it. A step that adds h a to them, in the axes of its start, makes momentum and energy from nothing. So a
step has two parts that make none:

    kick      v+ = v + h (a - a0)         forces act at a fixed configuration; a0 are the accelerations of free flight
    flight    (w, v) = flight(v, h)       nothing acts; linear velocities turn with the axes they are measured in

A body that carries no other keeps its momentum p and its angular momentum L in the axes of the world, to rounding: it
turns by D = cay(h w_m), with the angular velocity w_m at the middle of the flight, its center of mass moves straight
on, and its velocities at the end are those that p and L give it in its new axes. A body on a spherical joint keeps L
about the joint. Where a body carries others, the flight of its joint alone is not that of the robot: there the joint
keeps its velocity in the axes of the body's parent, and all that bodies do to each other is part of the kick.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from kinemorph.algebra.inertia import from_second_moment, symmetric
from kinemorph.algebra.linear import solve_definite
from kinemorph.algebra.scalar import S, is_zero, times
from kinemorph.algebra.vectors import (
    Mat,
    Vec,
    add,
    cross,
    identity,
    mat_scale,
    mat_sub,
    matvec,
    matvec_transposed,
    neg,
    scale,
    sub,
    trace,
    zeros,
)
from kinemorph.mechanics.trees.charts import CHARTS, LINEAR, cayley, place
from kinemorph.mechanics.trees.tree import WORLD, Link, Tree


class _Body(NamedTuple):
    """A body that carries no other: the point that flies straight, in its axes, and its inertia [kg m^2] about it.

    That point is the center of mass of a free body, and the joint of a body on a spherical joint.
    """

    point: Vec
    moment: Mat

    def spin_rate(self, w: Sequence[S]) -> Vec:
        """The angular acceleration without a moment at the angular velocity w: I al = I w x w."""
        return tuple(solve_definite(self.moment, cross(matvec(self.moment, w), w)))

    def turned(self, w: Sequence[S], h: S) -> tuple[Vec, Vec]:
        """The rotation in local coordinates and the angular velocity after the time h [s], at constant I w in the
        axes of the world.
        """
        turn = scale(h, add(w, scale(times(0.5, h), self.spin_rate(w))))
        kept = matvec_transposed(cayley(turn), matvec(self.moment, w))
        return turn, tuple(solve_definite(self.moment, kept))


def flight_accelerations(tree: Tree, v: Sequence[S], locked: Collection[int] = ()) -> list[S]:
    """The accelerations a0 (nv,) of free flight at the velocities v (nv,), in moving axes as these are.

    They are 0 for joints whose axes do not move, and for those with `locked` velocities.
    """
    found: list[S] = [0.0] * len(v)
    for link, own, body in _joints(tree, len(v)):
        u, w = _parts(link, v[own])
        if _is_held(link, locked):
            continue
        if link.kind == "planar":
            found[own] = (times(w[0], u[1]), -times(w[0], u[0]), 0.0)
        elif link.kind in ("free", "spherical"):
            rate, point = (zeros(3), zeros(3)) if body is None else (body.spin_rate(w), body.point)
            found[own] = (*neg(add(cross(w, add(u, cross(w, point))), cross(rate, point))), *rate) if u else rate
    return found


def flight(tree: Tree, v: Sequence[S], h: S, locked: Collection[int] = ()) -> tuple[list[S], list[S]]:
    """The displacement w (nv,), in local coordinates, and the velocities v (nv,) after free flight over h [s].

    A joint with `locked` velocities keeps the others in its moving axes.
    """
    moved, after = [0.0] * len(v), list(v)
    for link, own, body in _joints(tree, len(v)):
        chart, (u, w) = CHARTS[link.kind], _parts(link, v[own])
        if _is_held(link, locked):
            moved[own] = chart.steady(scale(h, v[own]))
        elif body is None:
            moved[own] = scale(h, v[own])
            after[own] = (*chart.velocity(moved[own], v[own])[: len(u)], *w)
        else:
            turn, spin = body.turned(w, h)
            R, velocity = cayley(turn), add(u, cross(w, body.point)) if u else ()
            way = add(scale(h, velocity), sub(body.point, matvec(R, body.point))) if u else ()
            moved[own] = (*way, *turn)
            after[own] = (*(sub(matvec_transposed(R, velocity), cross(spin, body.point)) if u else ()), *spin)
    return moved, after


def half_flown(
    tree: Tree, space: Tree, base: Sequence[S], v: Sequence[S], h: S, locked: Collection[int]
) -> tuple[list[S], list[S], list[S]]:
    """After free flight over the time h/2: the displacement w (nv,), the configuration (nq,) and the velocities (nv,).

    Quaternions in the configuration are not normalized.
    """
    w, after = flight(tree, v, 0.5 * h, locked)
    return w, place(space, base, w, finished=False), after


def _joints(tree: Tree, nv: int) -> Iterator[tuple[Link, slice, _Body | None]]:
    """The joints of the first nv velocities: link, place in v, and what is known of a body that carries no other."""
    for index, link in enumerate(tree.of_joints.links):
        if link.v < nv and link.kind in CHARTS:
            yield link, slice(link.v, link.v + len(link.axes)), _lone_body(tree, index)


def _parts(link: Link, v: Sequence[S]) -> tuple[Sequence[S], Sequence[S]]:
    """The linear velocities in moving axes of a joint, and all others."""
    return v[: LINEAR.get(link.kind, 0)], v[LINEAR.get(link.kind, 0) :]


def _is_held(link: Link, locked: Collection[int]) -> bool:
    return not set(link.velocities).isdisjoint(locked)


def _lone_body(tree: Tree, index: int) -> _Body | None:
    """The body of a link on a free or spherical joint to the world that carries no other link; None for all others."""
    link = tree.links[index]
    alone = link.parent == WORLD and not tree.children[index] and all(map(is_zero, link.armature))
    if link.kind not in ("free", "spherical") or not alone:
        return None
    sigma = symmetric(link.sigma)
    if link.kind == "spherical":
        return _Body(zeros(3), mat_sub(mat_scale(trace(sigma), identity(3)), sigma))
    inertia = from_second_moment(link.mass, link.h, sigma)
    return _Body(inertia.com, inertia.moment)
