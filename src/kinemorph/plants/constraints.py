"""All constraints on the motion of a plant at one instant: of loops, of coupled joints, of elements.

The order of the rows is: loop closures, coupled joints, position constraints of elements, velocity constraints of
elements. All but the last have a position level, phi(t, q) = 0. Derivatives of a row along the motion come from dual
numbers in t, q and v, so that no derivative is written by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from kinemorph.algebra.dual import Direction
from kinemorph.algebra.scalar import S, absolute, div, is_zero, less, maximum, minus, plus, where
from kinemorph.algebra.vectors import dot
from kinemorph.mechanics.constraints import closures
from kinemorph.mechanics.constraints.closures import moved_along
from kinemorph.mechanics.constraints.constrained import PER_OPENING, ConstraintRows
from kinemorph.mechanics.trees.tree import Tree


class HasRows(Protocol):
    """The rows of elements at one instant."""

    def position_rows(self) -> list[Any]: ...

    def velocity_rows(self) -> list[Any]: ...


Seen = Callable[[Any, Any, Any], HasRows]  # the rows at (t, q, v)


class Conditions(NamedTuple):
    """Constraints at one instant.

    `phi` (nh,)         errors of the first nh of nc rows, which have a position level
    `rate` (nc,)        rates of all rows, rate = J v + driven
    `J` (nc, nv)        the constraint Jacobian
    `gamma` (nc,)       the value that J a has to have
    `sizes` (nc,)       the largest change of a row by a turn of 1 rad
    `weights` (nc,)     1 for a constraint, 0 for a row that consists of rounding errors only
    `driven` (nc,)      the part of the rate that comes from time alone
    `opening`           the sum of squares of phi, each relative to the change that a unit of motion could cause
    """

    phi: list[S]
    rate: list[S]
    J: list[list[S]]
    gamma: list[S]
    sizes: list[S]
    weights: list[S]
    driven: list[S]
    opening: S = 0.0

    def rows(self, wanted: Sequence[S]) -> ConstraintRows:
        """The linear equations J a = wanted, with the constraint Jacobian J, as constraint rows."""
        return ConstraintRows(self.J, wanted, self.weights, self.opening)

    def filled(self) -> list[S]:
        """The errors phi, with 0 for each row without a position level, shape (nc,)."""
        return [*self.phi, *[0.0] * (len(self.rate) - len(self.phi))]

    def error(self, tolerance: float, counted: Sequence[S]) -> S:
        """The largest constraint error divided by its tolerance, of phi or of the rate [1/s]; acceptable up to 1.

        The tolerance of the rate is ten times that of phi. Only rows that are `counted` (nc,) take part: at a singular
        configuration the others cannot be corrected, and need not be.
        """
        worst: S = 0.0
        limits = [(self.phi, tolerance), (self.rate, 10.0 * tolerance)]
        for errors, limit in limits:
            for x, size, counts in zip(errors, self.sizes, counted, strict=False):
                if not is_zero(x):
                    worst = maximum(worst, where(counts, div(absolute(x), limit * size), 0.0))
        return worst


def conditions(
    tree: Tree, t: S, q: Sequence[S], v: Sequence[S], seen: Seen | None, *, bias: bool = True, near: float = 0.0
) -> Conditions:
    """All constraints at an instant (t, q, v).

    `seen`      gives the system at (t, q, v), for the constraints of elements; None where elements have none
    `bias`      whether `gamma` and `driven` are computed
    `near`      a row that differs from others by less than this share of its length is redundant, even where phi is 0
    """
    every = tree.at_time(t).all_joints(q, v)
    J, sizes, phi = (
        closures.constraint_jacobian(tree, every.q),
        closures.constraint_sizes(tree, every.q),
        closures.constraint_error(tree, every.q),
    )
    rate = [dot(row, every.v) for row in J]
    gamma = closures.constraint_bias(tree, every.q, every.v) if bias else []
    driven: list[S] = [0.0] * len(J) if bias else []
    own = J
    if tree.driving is not None and J:
        own = every.columns(J)
        gamma = every.less_bias(J, gamma) if bias else []
        driven = [minus(one, dot(row, v)) for one, row in zip(rate, own, strict=True)] if bias else []
    parts = [Conditions(phi, rate, own, gamma, sizes, [], driven)]
    if seen is not None:
        space = tree.of_state
        parts += [of_positions(space, t, q, v, seen, bias), of_velocities(space, t, q, v, seen, bias)]
    errors = [x for part in parts for x in part.phi]
    whole = [size for part in parts for size in part.sizes]
    off = plus(closures.opening(errors, whole[: len(errors)]), (near / PER_OPENING) ** 2)
    parts[0] = parts[0]._replace(weights=closures.constraint_weights(tree, J, sizes, off))
    columns = zip(*(part[:-1] for part in parts), strict=True)
    joined = Conditions(*([row for some in column for row in some] for column in columns))
    return joined._replace(opening=off)


def of_positions(tree: Tree, t: S, q: Sequence[S], v: Sequence[S], seen: Seen, bias: bool) -> Conditions:
    """The rows with a position level that `seen` has, with their derivatives; see `conditions`."""
    still = [0.0] * tree.nv
    phi = seen(t, q, still).position_rows()
    once, again = Direction(), Direction()
    columns = [
        once.tangents(seen(t, moved_along(tree, q, unit, once), still).position_rows()) for unit in _units(tree.nv)
    ]
    later, moved = once.moved(t), moved_along(tree, q, v, once)
    rate = once.tangents(seen(later, moved, still).position_rows())
    gamma: list[S] = []
    driven: list[S] = []
    if bias:
        driven = once.tangents(seen(later, q, still).position_rows())
        twice = seen(again.moved(later), moved_along(tree, moved, v, again), still).position_rows()
        gamma = [-x for x in once.tangents(again.tangents(twice))]
    return _of_elements(phi, rate, columns, gamma, driven)


def of_velocities(tree: Tree, t: S, q: Sequence[S], v: Sequence[S], seen: Seen, bias: bool) -> Conditions:
    """The rows on velocities only that `seen` has, with their derivatives; see `conditions`."""
    rate = seen(t, q, v).velocity_rows()
    along = Direction()
    columns = [
        along.tangents(seen(t, q, along.all_moved(v, unit)).velocity_rows())
        for unit in (_units(tree.nv) if rate else ())
    ]
    gamma: list[S] = []
    driven: list[S] = []
    if bias:
        driven = seen(t, q, [0.0] * tree.nv).velocity_rows()
        later = seen(along.moved(t), moved_along(tree, q, v, along), v).velocity_rows()
        gamma = [-x for x in along.tangents(later)]
    return _of_elements([], rate, columns, gamma, driven)


def _of_elements(phi: list[S], rate: list[S], columns: list[list[S]], gamma: list[S], driven: list[S]) -> Conditions:
    J = [[column[k] for column in columns] for k in range(len(rate))]
    return Conditions(phi, rate, J, gamma, [1.0] * len(rate), [less(0.0, dot(row, row)) for row in J], driven)


def _units(n: int) -> list[list[float]]:
    return [[float(j == k) for j in range(n)] for k in range(n)]
