"""Stiff forces between two links at the end of a step.

A pair consists of a point on each of two links; its law gives the force on the first point from the velocity u of the
first point relative to the second, in world axes. The opposite force acts on the second point. For a turning pair, u is
the relative angular velocity of the two links, and the law gives a moment. As for single points (`implicit_forces`),

    law        f = force(u_p, step u_p),  D = -(h df/du + h^2 df/dx), symmetric and positive semi-definite
    force      f + D (J a of the pass before) - D J a,        J a the relative acceleration due to joint accelerations

Where one of the links is the world, D acts as an inertia of the other, as for a point. Where both move, D is not the
inertia of a single link and does not fit into the articulated-body algorithm: with D = L L^T, the rows of L^T J become
soft rows of the mass matrix (`constrained.softened`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from kinemorph.algebra.inertia_blocks import Blocks, shifted_blocks
from kinemorph.algebra.scalar import S, div, is_zero, less, minus, plus, sqrt, times, where
from kinemorph.algebra.turns import Sym3, Vec3
from kinemorph.algebra.vectors import add, cross, dot, neg, scale, sub
from kinemorph.mechanics.recursions.articulated_bodies import Responses
from kinemorph.mechanics.recursions.newton_euler import Wrench
from kinemorph.mechanics.steps.point_states import JointForce, Sight
from kinemorph.mechanics.trees.motions import ZERO3, ZERO_SYM
from kinemorph.mechanics.trees.tree import WORLD

ROUNDING = 1e-14  # relative to the trace of D: smaller remainders in its factorization are rounding errors


class PairState(NamedTuple):
    """The relative motion of a pair at the (approximate) end of a step, in world axes; with a step of 0, at the state
    itself.
    """

    velocity: Vec3  # of the first point relative to the second [m/s], or [rad/s] for a turning pair
    step: S  # [s] for which the velocity moves the points

    @property
    def moved(self) -> Vec3:
        """The displacement [m], or rotation [rad], of the first relative to the second since the start of the step."""
        x, y, z = scale(self.step, self.velocity)
        return (x, y, z)


class PairLaw(Protocol):
    """A force on the first point of a pair [N], or a moment on its first link [N m], in world axes."""

    def force(self, pair: PairState) -> Vec3: ...

    def linear(self, pair: PairState, h: S) -> tuple[Vec3, Sym3]:
        """(force f, D) for a step of h [s]: D = -(h df/du + h^2 df/dx) is the inertia that f adds at its end.

        u is the relative velocity of the pair, x its relative displacement. D is symmetric and positive semi-definite.
        """
        ...


class PairForce(NamedTuple):
    """A force law between points of two links, each in its link's frame [m]; a turning pair does not use its points.

    `leaving` is for a force that does not follow the point of the first link at which it acts: a wheel turns on, and
    its force stays at the ground. It is the acceleration [m/s^2], in world axes, by which this point leaves the force.
    """

    links: tuple[int, int]
    points: tuple[Vec3, Vec3]
    law: PairLaw
    turning: bool = False
    leaving: Vec3 = ZERO3


def couples(pair: PairForce) -> bool:
    """Whether both links of a pair move; then its force adds inertia between two links, not to a single link."""
    return WORLD not in pair.links


def spans(joint: JointForce) -> bool:
    """Whether a force acts along a sum of several velocities; then it adds inertia between joints, not to one alone."""
    return len(joint.factors) > 1


def relative(pair: PairForce, sight: Sight, velocities: Mapping[int, tuple[Vec3, Vec3]]) -> Vec3:
    """The velocity of the first point of a pair relative to the second, in world axes.

    `velocities` are (linear velocity of the origin, angular velocity) of links by index, in link axes. It may also be
    used for the accelerations that joint accelerations add.
    """
    parts = []
    for link, point in zip(pair.links, pair.points, strict=True):
        if link == WORLD:
            parts.append(ZERO3)
            continue
        linear, angular = velocities[link]
        parts.append(outward_vector(sight, link, angular if pair.turning else add(linear, cross(angular, point))))
    x, y, z = sub(*parts)
    return (x, y, z)


def outward_vector(sight: Sight, link: int, vector: Sequence[S]) -> Vec3:
    """A free vector, given in the axes of a link, expressed in world axes."""
    x, y, z = (dot(sight.row(link, k)[0], vector) for k in range(3))
    return (x, y, z)


def pair_wrenches(pair: PairForce, sight: Sight, force: Vec3) -> list[tuple[int, Wrench]]:
    """(link, wrench about its origin, in its axes) for both links of a pair, where `force` [N or N m] acts on the
    first.

    The opposite acts on the second; the world is left out.
    """
    found: list[tuple[int, Wrench]] = []
    for link, point, given in zip(pair.links, pair.points, (force, neg(force)), strict=True):
        if link != WORLD:
            own = sight.into(link, given)
            found.append((link, (ZERO3, own) if pair.turning else (own, cross(point, own))))
    return found


def pair_slope(pair: PairForce, sight: Sight, units: Sequence[Responses]) -> dict[int, Vec3]:
    """The Jacobian of a pair by columns: index in v -> relative velocity of the pair at unit velocity.

    `units` are the responses of the links to each unit velocity. Columns that are structurally zero are left out.
    """
    found = {}
    for j, unit in enumerate(units):
        column = relative(pair, sight, dict(enumerate(unit.links)))
        if not all(map(is_zero, column)):
            found[j] = column
    return found


def pair_inertia(pair: PairForce, sight: Sight, D: Sym3) -> tuple[int, Blocks]:
    """(link, inertia about its origin, in its axes): D as an inertia of the only link of a pair that moves."""
    which = 0 if pair.links[1] == WORLD else 1
    link = pair.links[which]
    rows = [sight.row(link, k)[0] for k in range(3)]
    axes = [(rows[0][k], rows[1][k], rows[2][k]) for k in range(3)]  # the link's axes in world axes
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = (sight.into(link, times_symmetric(D, axis)) for axis in axes)
    own: Sym3 = (xx, xy, xz, yy, yz, zz)
    if pair.turning:
        return link, (ZERO_SYM, (0.0,) * 9, own)
    return link, shifted_blocks((own, (0.0,) * 9, ZERO_SYM), pair.points[which])


def soft_rows(nv: int, slope: Mapping[int, Vec3], D: Sym3) -> list[list[S]]:
    """The three soft rows L^T J, each (nv,), with D = L L^T: the sum of j^T j over these rows j is J^T D J.

    `slope` has the columns of J by index in v.
    """
    return [[dot(column, slope[j]) if j in slope else 0.0 for j in range(nv)] for column in factor_columns(D)]


def soft_row(nv: int, arms: Mapping[int, float], pivot: S) -> list[S]:
    """The soft row sqrt(pivot) * arms, (nv,), of a force along a sum of velocities with the factors `arms`."""
    root, _ = _root(pivot, 0.0)
    return [times(arms[j], root) if j in arms else 0.0 for j in range(nv)]


def factor_columns(D: Sym3) -> list[Vec3]:
    """The columns of Cholesky's factor L in  D = L L^T;  a remainder that is only a rounding error counts as 0."""
    xx, xy, xz, yy, yz, zz = D
    least = times(ROUNDING, plus(plus(xx, yy), zz))
    a, over_a = _root(xx, least)
    b, c = times(xy, over_a), times(xz, over_a)
    d, over_d = _root(minus(yy, times(b, b)), least)
    e = times(minus(yz, times(b, c)), over_d)
    f, _ = _root(minus(minus(zz, times(c, c)), times(e, e)), least)
    return [(a, b, c), (0.0, d, e), (0.0, 0.0, f)]


def _root(x: S, least: S) -> tuple[S, S]:
    """(square root, 1 / square root) of x, both 0 where x is at most `least`; derivatives are finite there too."""
    there = less(least, x)
    root = sqrt(where(there, x, 1.0))
    return where(there, root, 0.0), where(there, div(1.0, root), 0.0)


def times_symmetric(D: Sym3, x: Sequence[S]) -> Vec3:
    """The product D x of a symmetric matrix, given by its six entries, and a vector."""
    xx, xy, xz, yy, yz, zz = D
    return (dot((xx, xy, xz), x), dot((xy, yy, yz), x), dot((xz, yz, zz), x))
