"""A problem of optimization as data: the cost, equations and inequalities of unknowns Y, with their slopes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.searches.conditions import Limit

P = TypeVar("P")


class Rows(NamedTuple):
    """Values (n,) and derivatives (n, unknowns) of equations or inequalities."""

    values: Array
    by: Array


class Evaluated(NamedTuple):
    """All that a search needs to know at one Y.

    `cost`, `cost_by`   the cost and its derivatives (unknowns,)
    `equal`, `above`    what has to be zero, and what has to be zero or more
    `found`             False where the cost or a condition could not be computed
    `detail`            what the problem computed on the way, such as the arcs of a gait
    """

    cost: float
    cost_by: Array
    equal: Rows
    above: Rows
    found: bool
    detail: Any = None

    @property
    def error(self) -> float:
        """The largest error of an equation or inequality."""
        below = -self.above.values.min(initial=0.0)
        return float(max(np.abs(self.equal.values).max(initial=0.0), below))


class Problem(Protocol):
    """Cost and conditions as functions of the unknowns Y (size,); those with the indices `moving` are searched."""

    @property
    def size(self) -> int:
        """The number of unknowns."""

    @property
    def moving(self) -> npt.NDArray[np.intp]:
        """The indices of the unknowns that the search changes."""

    def at(self, Y: Array) -> Evaluated:
        """Cost, equations and inequalities at Y (size,)."""

    def curvature(self, Y: Array) -> Array:
        """The second derivatives (size, size) of the cost, as far as they are known."""

    def margins(self, Y: Array) -> Mapping[str, float]:
        """By condition, the distance to its limits; minus the error of one that is an equation."""


def last_kept(at: Callable[[P, Array], Evaluated]) -> Callable[[P, Array], Evaluated]:
    """Lets the method `at` of a problem keep its last result, because searches ask several times for the same Y."""

    @wraps(at)
    def kept(problem: P, Y: Array) -> Evaluated:
        key, known = Y.tobytes(), vars(problem)
        if "_last" not in known or known["_last"][0] != key:
            known["_last"] = (key, at(problem, Y))
        found: Evaluated = known["_last"][1]
        return found

    return kept


def add_limited(rows: Rows, limit: Limit, equal: list[Rows], above: list[Rows]) -> None:
    """Adds the rows of a condition to the equations, or to the inequalities, values above 0."""
    if limit.lower == limit.upper:
        equal.append(Rows(rows.values - limit.lower, rows.by))
        return
    if limit.lower > -np.inf:
        above.append(Rows(rows.values - limit.lower, rows.by))
    if limit.upper < np.inf:
        above.append(Rows(limit.upper - rows.values, -rows.by))


def stacked(rows: Sequence[Rows], size: int) -> Rows:
    """Rows of several conditions, one after the other."""
    if not rows:
        return Rows(np.zeros(0), np.zeros((0, size)))
    return Rows(np.concatenate([one.values for one in rows]), np.concatenate([one.by for one in rows]))
