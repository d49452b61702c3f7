"""The state of a point or a joint as a force law gets it, and derivatives of laws by dual numbers.

The velocity of a point of a link is given in the link's axes, and vectors of the world are turned into these axes. The
position of the point in the world is computed when a law asks for it, coordinate by coordinate: a law of level ground
asks for the height only, which needs one row of the rotation matrix.

An implicit step evaluates forces at its end, which its passes approximate: velocity and position are those at the end
of the step, with position = start + step * velocity. With a step of 0 they are those of the state itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

from kinemorph.algebra.dual import Direction
from kinemorph.algebra.scalar import S, less, maximum, minimum, plus, sqrt, times, where
from kinemorph.algebra.turns import Sym3, Vec3
from kinemorph.algebra.vectors import add, dot, scale
from kinemorph.errors import ModelError
from kinemorph.frozen import dataclass
from kinemorph.mechanics.trees.motions import ZERO3, Move
from kinemorph.mechanics.trees.tree import WORLD, Tree

UNITS: tuple[Vec3, ...] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


class Sight:
    """The world's axes in the axes of the links, and the positions of the links' origins, computed on demand."""

    def __init__(self, tree: Tree, moves: Sequence[Move]) -> None:
        self.tree, self.moves = tree, moves
        self._rows: dict[tuple[int, int], tuple[Vec3, S]] = {(WORLD, k): (unit, 0.0) for k, unit in enumerate(UNITS)}

    def row(self, link: int, k: int) -> tuple[Vec3, S]:
        """The world's axis k in a link's axes, and the coordinate k [m] of the link's origin in the world."""
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
        """A free vector, given in world axes, expressed in the axes of a link."""
        seen: Vec3 = ZERO3
        for k in _present(vector):
            seen = add(seen, scale(vector[k], self.row(link, k)[0]))
        return seen


@dataclass(frozen=True, eq=False)
class PointState:
    """The state of a point of a link at the (approximate) end of a step; vectors are in the link's axes."""

    link: int
    point: Vec3  # in the link's frame [m]
    velocity: Vec3  # [m/s]
    step: S  # [s] for which the velocity still moves the point
    sight: Sight

    def into(self, vector: Sequence[S]) -> Vec3:
        """A free vector, given in world axes, expressed in the axes of the point's link."""
        return self.sight.into(self.link, vector)

    def out(self, vector: Sequence[S]) -> Vec3:
        """A free vector, given in the link's axes, expressed in world axes."""
        x, y, z = (dot(self.sight.row(self.link, k)[0], vector) for k in range(3))
        return (x, y, z)

    def coordinate(self, k: int) -> S:
        """The coordinate of the point along the world's axis k [m]."""
        axis, origin = self.sight.row(self.link, k)
        return plus(plus(origin, dot(axis, self.point)), times(self.step, dot(axis, self.velocity)))

    def along(self, vector: Sequence[S]) -> S:
        """The scalar product of the point's position in the world [m] and a vector in world axes."""
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
    """One velocity of a joint and its coordinate, at the (approximate) end of a step."""

    position: S | None  # None where no coordinate is the integral of this velocity
    velocity: S

    def coordinate(self, name: str) -> S:
        """The joint coordinate, for the law called `name`. Raises ModelError where the velocity has no coordinate."""
        if self.position is None:
            raise ModelError(
                f"force '{name}' reads the coordinate of a joint whose velocities are not rates of coordinates; "
                "expected a joint with one axis (revolute, prismatic, helical). Use such a joint, or a law that reads "
                "velocities only."
            )
        return self.position


class PointLaw(Protocol):
    """A force on a point, in the axes of its link [N].

    A law that stores energy also has a method `stored` with the same argument as `force`; see `step_accounts`. A law
    that knows the line through its force, with the derivative D, at less cost than `linear` does also has a method
    `line(point, free, h)`: (force on this line at the velocity `free`, D). A law that is 0 away from a ground has
    `clearance`, `depth` and `reached`, for its gate; see `gates`.
    """

    def force(self, point: PointState) -> Vec3: ...

    def linear(self, point: PointState, h: S) -> tuple[Vec3, Sym3]:
        """(force f, D) for a step of h [s]: D = -(h df/dv + h^2 df/dx) is the inertia that f adds at its end.

        v and x are the velocity and the position of the point. D is symmetric and positive semi-definite.
        `point_slope` computes both for any law.
        """
        ...


class JointLaw(Protocol):
    """A generalized force along one velocity of a joint [N m or N]."""

    @property
    def affine(self) -> bool:
        """Whether its derivatives are the same everywhere, so that one pass is enough."""
        ...

    def force(self, joint: JointState) -> S: ...

    def linear(self, joint: JointState, h: S) -> tuple[S, S]:
        """(force, pivot) with the pivot -(h df/dv + h^2 df/dq), not below 0, at the step size h [s].

        `joint_slope` computes both for any law.
        """
        ...


class PointForce(NamedTuple):
    """A force law that acts at a point of a link (index)."""

    link: int
    point: Vec3  # in the link's frame [m]
    law: PointLaw


class JointForce(NamedTuple):
    """A force law that acts along one velocity (index in v), or along a sum of velocities, as of a tendon.

    The sum is that of `arms` (by index in v) times velocities; its coordinate is that sum of coordinates. The force
    acts along each of these velocities with its arm.
    """

    velocity: int
    law: JointLaw
    arms: Mapping[int, float] = {}

    @property
    def factors(self) -> Mapping[int, float]:
        """The factors of the sum, by index in v."""
        return self.arms or {self.velocity: 1.0}

    def sum_of(self, values: Sequence[S]) -> S:
        """The sum for velocities or accelerations, (nv,)."""
        total: S = 0.0
        for j, arm in self.factors.items():
            total = plus(total, times(arm, values[j]))
        return total

    def place(self, q: Sequence[S], coordinates: Mapping[int, int]) -> S | None:
        """The coordinate; None where a velocity is not the rate of one.

        `coordinates` are the indices in q of the coordinates whose rates are velocities, by the indices of those in v.
        """
        total: S = 0.0
        for j, arm in self.factors.items():
            if j not in coordinates:
                return None
            total = plus(total, times(arm, q[coordinates[j]]))
        return total


# ── derivatives of any law ────────────────────────────────────────────────────────────────────────────────────────────


def point_slope(force: Callable[[PointState], Vec3], point: PointState, h: S) -> tuple[Vec3, Sym3]:
    """(force, D) of any law: D is the symmetric part of -(h df/dv + h^2 df/dx), made positive semi-definite.

    A diagonal entry below 0 becomes 0, and an off-diagonal entry is limited to half the geometric mean of its two
    diagonal entries, which is always sufficient and seldom needed. A law that knows its own derivative does better:
    friction uses its secant.
    """
    rows, along = [], Direction()
    for unit in UNITS:
        moved = replace(point, velocity=tuple(along.all_moved(point.velocity, unit)))
        if h is not point.step:  # the position moves by h for a unit of velocity
            arm = along.all_moved(point.point, [times(h - point.step, one) for one in unit])
            moved = replace(moved, point=tuple(arm))
        rows.append([times(-h, along.tangent(entry)) for entry in force(moved)])
    d = [maximum(rows[k][k], 0.0) for k in range(3)]
    xy, xz, yz = (_bounded(0.5 * plus(rows[i][j], rows[j][i]), d[i], d[j]) for i, j in ((0, 1), (0, 2), (1, 2)))
    return force(point), (d[0], xy, xz, d[1], yz, d[2])


def joint_slope(force: Callable[[JointState], S], joint: JointState, h: S) -> tuple[S, S]:
    """(force, pivot) of any law along a joint for a step of h [s].

    The pivot -(h df/dv + h^2 df/dq) is the inertia that the force adds to the joint when it is taken at the end of the
    step. It is 0 where the formula is negative, which would add energy.
    """
    along = Direction()
    place = None if joint.position is None else along.moved(joint.position, h)
    moved = JointState(place, along.moved(joint.velocity))
    return force(joint), maximum(times(-h, along.tangent(force(moved))), 0.0)


def _bounded(x: S, one: S, other: S) -> S:
    """x limited to [-m, m], where m is half the geometric mean of two numbers >= 0; derivatives are finite at 0 too."""
    product = one * other
    there = less(0.0, product)
    most = where(there, 0.5 * sqrt(where(there, product, 1.0)), 0.0)
    return minimum(maximum(x, -most), most)


def _present(vector: Sequence[S]) -> list[int]:
    """The indices of a vector's entries that are not structural zeros."""
    return [k for k, part in enumerate(vector) if not (part.__class__ is float and part == 0.0)]
