"""The state of a point or a joint as a force law sees it, and slopes of laws by dual numbers.

A point of a link is seen in the link's axes: its velocity there, vectors of the world turned into them. Its position in
the world is computed when a law asks, coordinate by coordinate: level ground never needs most of a rotation.

An implicit step takes forces at its end, which its passes approximate: velocity and position are those at the end of
the step, with position = start + step velocity. With a step of 0 they are those of the state itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

from kinemorph.algebra.dual import Dual
from kinemorph.algebra.scalar import S, less, maximum, minimum, minus, plus, sqrt, times, where
from kinemorph.algebra.turns import Sym3, Vec3
from kinemorph.algebra.vectors import add, dot, scale, sub
from kinemorph.errors import ModelError
from kinemorph.frozen import dataclass
from kinemorph.mechanics.recursions.kinematics import tangent_of
from kinemorph.mechanics.trees.motions import ZERO3, Move
from kinemorph.mechanics.trees.tree import WORLD, Tree

LEVEL = 5  # of the dual numbers in this file
UNITS: tuple[Vec3, ...] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


class Sight:
    """The world as links see it: its axes in theirs, and the positions of their origins, computed on demand."""

    def __init__(self, tree: Tree, moves: Sequence[Move]) -> None:
        self.tree, self.moves = tree, moves
        self._rows: dict[tuple[int, int], tuple[Vec3, S]] = {(WORLD, k): (unit, 0.0) for k, unit in enumerate(UNITS)}

    def row(self, link: int, k: int) -> tuple[Vec3, S]:
        """The world's axis k in a link's axes, and the coordinate k [m] of the link's origin."""
        path = []
        while (link, k) not in self._rows:
            path.append(link)
            link = self.tree.links[link].parent
        axis, coordinate = self._rows[link, k]
        for one in reversed(path):
            move = self.moves[one]
            coordinate = plus(coordinate, dot(axis, move.p))
            axis = move.into(axis)
            coordinate = plus(coordinate, times(axis[2], move.slide))
            self._rows[one, k] = axis, coordinate
        return axis, coordinate

    def into(self, link: int, vector: Sequence[S]) -> Vec3:
        """A free vector, world to link."""
        seen: Vec3 = ZERO3
        for k in _present(vector):
            seen = add(seen, scale(vector[k], self.row(link, k)[0]))
        return seen


@dataclass(frozen=True, eq=False)
class PointState:
    """A point of a link at the (approximate) end of a step: vectors in the link's axes."""

    link: int
    point: Vec3  # in the link's frame [m]
    velocity: Vec3  # [m/s]
    step: S  # [s]
    sight: Sight

    def into(self, vector: Sequence[S]) -> Vec3:
        """A free vector, world to link."""
        return self.sight.into(self.link, vector)

    def out(self, vector: Sequence[S]) -> Vec3:
        """A free vector, link to world."""
        x, y, z = (dot(self.sight.row(self.link, k)[0], vector) for k in range(3))
        return (x, y, z)

    def coordinate(self, k: int) -> S:
        """The coordinate of the point along the world's axis k [m]."""
        axis, origin = self.sight.row(self.link, k)
        return plus(plus(origin, dot(axis, self.point)), times(self.step, dot(axis, self.velocity)))

    def along(self, vector: Sequence[S]) -> S:
        """The scalar product of the point's position with a vector of the world."""
        total: S = 0.0
        for k in _present(vector):
            total = plus(total, times(vector[k], self.coordinate(k)))
        return total

    @property
    def position(self) -> Vec3:
        """The position of the point in the world [m]."""
        return (self.coordinate(0), self.coordinate(1), self.coordinate(2))


@dataclass(frozen=True)
class JointState:
    """A velocity of a joint and its coordinate, at the (approximate) end of a step."""

    position: S | None  # None where coordinates are not the integrals of velocities
    velocity: S

    def coordinate(self, name: str) -> S:
        """The coordinate, for a law by that name. Raises ModelError where the velocity has none of its own."""
        if self.position is None:
            raise ModelError(
                f"force '{name}' reads a joint's coordinate where its velocities have none of their own; expected a "
                "joint of one axis (revolute, prismatic, helical). Use such a joint, or a law of velocities alone."
            )
        return self.position


class PointLaw(Protocol):
    """A force on a point, in the axes of its link [N].

    A law that stores energy has a method `stored` of the same argument as `force`, too; see `stored_energy`. One whose
    force sets in where bodies meet has a method `ahead`; see `not_ahead_of`.
    """

    def force(self, point: PointState) -> Vec3: ...

    def linear(self, point: PointState, h: S) -> tuple[Vec3, Sym3]:
        """(force, D) with D = -(h df/dv + h^2 df/dx), symmetric and positive semi-definite; `point_slope`
        computes it.
        """
        ...


class JointLaw(Protocol):
    """A generalized force along one velocity of a joint [N m or N]."""

    @property
    def affine(self) -> bool:
        """Whether its slopes are the same everywhere, so that one pass is enough."""
        ...

    def force(self, joint: JointState) -> S: ...

    def linear(self, joint: JointState, h: S) -> tuple[S, S]:
        """(force, pivot) with the pivot -(h df/dv + h^2 df/dq), not below 0; `joint_slope` computes it."""
        ...


class PointForce(NamedTuple):
    """A law at a point of a link."""

    link: int
    point: Vec3  # in the link's frame [m]
    law: PointLaw


class JointForce(NamedTuple):
    """A law along a velocity, by its index in v."""

    velocity: int
    law: JointLaw


def stored_energy(law: Any, state: Any) -> S:
    """The energy [J] that a law stores at a state: that of its method `stored`, or 0 where it has none."""
    stored: S = law.stored(state) if hasattr(law, "stored") else 0.0
    return stored


def not_ahead_of(law: Any, guessed: Vec3, start: Vec3) -> Vec3:
    """The velocity at which the first tangent of a step is laid, from one that is guessed and that of the start.

    The guess comes from the accelerations of the step before. Where a body has just been thrown back by an impact, it
    says that the body leaves, though it still moves on into the other: a tangent there would have no force, and the
    body would sink in so deep that the contact makes energy when it pushes it out. A law with a method `ahead` bounds
    the guess; all others take it as it is.
    """
    bounded: Vec3 = law.ahead(guessed, start) if hasattr(law, "ahead") else guessed
    return bounded


def at_most_stopped(guessed: Sequence[S], start: Sequence[S], normal: Sequence[S]) -> Vec3:
    """A guessed velocity whose part along a normal is at most that of the start, or 0 where the start approaches."""
    beyond = maximum(minus(dot(normal, guessed), maximum(dot(normal, start), 0.0)), 0.0)
    x, y, z = sub(guessed, scale(beyond, normal))
    return (x, y, z)


# ── slopes of any law ─────────────────────────────────────────────────────────────────────────────────────────────────


def point_slope(force: Callable[[PointState], Vec3], point: PointState, h: S) -> tuple[Vec3, Sym3]:
    """(force, D) of any law: the symmetric part of its slope, kept positive semi-definite.

    A diagonal entry below 0 counts as 0, and an off-diagonal one is at most half the geometric mean of its two diagonal
    entries, which is always sufficient and seldom needed. A law that knows its own slope does better: friction uses its
    secant.
    """
    rows = []
    for unit in UNITS:
        velocity = tuple(Dual(u, one, level=LEVEL) for u, one in zip(point.velocity, unit, strict=True))
        moved = replace(point, velocity=velocity)
        if h is not point.step:  # the position moves by h for a unit of velocity
            arm = tuple(
                Dual(x, times(h - point.step, one), level=LEVEL) for x, one in zip(point.point, unit, strict=True)
            )
            moved = replace(moved, point=arm)
        rows.append([times(-h, tangent_of(entry, LEVEL)) for entry in force(moved)])
    d = [maximum(rows[k][k], 0.0) for k in range(3)]
    xy, xz, yz = (_bounded(0.5 * plus(rows[i][j], rows[j][i]), d[i], d[j]) for i, j in ((0, 1), (0, 2), (1, 2)))
    return force(point), (d[0], xy, xz, d[1], yz, d[2])


def joint_slope(force: Callable[[JointState], S], joint: JointState, h: S) -> tuple[S, S]:
    """(force, pivot) of any law; a slope that feeds energy in counts as 0."""
    rate = Dual(joint.velocity, 1.0, level=LEVEL)
    place = None if joint.position is None else Dual(joint.position, h, level=LEVEL)
    return force(joint), maximum(times(-h, tangent_of(force(JointState(place, rate)), LEVEL)), 0.0)


def _bounded(x: S, one: S, other: S) -> S:
    """x between -m and m, half the geometric mean of two numbers that are not below 0; slopes are finite at 0, too."""
    product = one * other
    there = less(0.0, product)
    most = where(there, 0.5 * sqrt(where(there, product, 1.0)), 0.0)
    return minimum(maximum(x, -most), most)


def _present(vector: Sequence[S]) -> list[int]:
    """The indices of a vector's entries that are not structural zeros."""
    return [k for k, part in enumerate(vector) if not (part.__class__ is float and part == 0.0)]
