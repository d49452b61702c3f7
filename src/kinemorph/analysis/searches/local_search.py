"""The search for the least cost from one start, along exact slopes, by SciPy's SLSQP.

SLSQP estimates the second derivatives of the problem from the steps that it takes, and begins with the unit matrix. The
unknowns are therefore scaled such that the second derivatives of the cost are the unit matrix where the search begins,
as far as they are known: a cost that sums squares of torques has those of least squares (Gauss and Newton).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.searches.problem import Evaluated, Problem, Rows
from kinemorph.words import counted

FLAT = 1e-3  # the least curvature of the cost along a scaled unknown, relative to the mean of the others
ROUNDS = 6  # searches, each of which begins where the one before it ended, with a new scale
LOOSE = 1e-3  # the tolerance of the first of them
TIGHT = 1e-7  # conditions are met up to this
WORSE = 1e3  # what a point that cannot be computed is worse than the last one that can

Bounds = tuple[Array, Array]
Progress = Callable[[int, float, float], Any]


class Searched(NamedTuple):
    """Where a search ended.

    `Y` (size,), `here`     the unknowns, and the problem there
    `found`                 whether all conditions are met and the search ended by itself
    `iterations`, `seconds` steps, and their time [s]
    `why`                   why it ended, in the words of the optimizer
    """

    Y: Array
    here: Evaluated
    found: bool
    iterations: int
    seconds: float
    why: str

    @property
    def told(self) -> str:
        """How the search ended, as a sentence that begins with "it"."""
        why = self.why.rstrip(".")
        if "Singular matrix C" in why:
            why = (
                "some equations or conditions say the same, such as a condition at the end that is the guard of an edge"
            )
        return f"it ended after {counted(self.iterations, 'iteration')}{': ' if why else ''}{why}."


def broken(margins: Mapping[str, float]) -> str:
    """A sentence about the condition that is broken most, after a space; "" where all are met."""
    worst = min(margins, key=lambda key: margins[key], default="")
    if not worst or margins[worst] >= -TIGHT:
        return ""
    return f" Condition '{worst}' is broken by {-margins[worst]:.3g}."


class _Search:
    """One search: the unknowns y = R (Y - Y0) that move, and cost and conditions as functions of y."""

    def __init__(self, problem: Problem, Y: Array, bounds: Bounds, here: Evaluated) -> None:
        self.problem, self.Y, self.bounds, self.steps = problem, Y, bounds, 0
        H = problem.curvature(Y)[np.ix_(problem.moving, problem.moving)]
        mean = float(np.trace(H)) / max(int((np.diag(H) > 0.0).sum()), 1)
        self.unit = max(abs(here.cost), 1e-2 * mean) or 1.0  # the cost that counts as 1
        H = H / self.unit + FLAT * (mean / self.unit or 1.0) * np.eye(len(H))
        self.R = np.linalg.cholesky(H).T
        self.inverse = np.linalg.inv(self.R)
        self.last = here

    def unknowns(self, y: Array) -> Array:
        """All unknowns (size,) from those of the search."""
        Y = self.Y.copy()
        Y[self.problem.moving] += self.inverse @ y
        return Y

    def _at(self, y: Array) -> Evaluated:
        found = self.problem.at(self.unknowns(y))
        if found.found:
            self.last = found
            return found
        last = self.last  # SLSQP then takes a shorter step
        worse = Rows(WORSE + np.abs(last.equal.values), last.equal.by)
        return last._replace(cost=last.cost + WORSE * self.unit, equal=worse)

    def cost(self, y: Array) -> float:
        """The cost, relative to the unit."""
        return self._at(y).cost / self.unit

    def cost_by(self, y: Array) -> Array:
        """The derivative of the cost."""
        found: Array = self._at(y).cost_by[self.problem.moving] @ self.inverse / self.unit
        return found

    def _bounded(self, Y: Array) -> Array:
        lower, upper = self.bounds
        return np.concatenate([(Y - lower)[np.isfinite(lower)], (upper - Y)[np.isfinite(upper)]])

    @property
    def constraints(self) -> list[dict[str, Any]]:
        """Equations and inequalities as SciPy expects them."""
        moving, (lower, upper) = self.problem.moving, self.bounds
        one = np.eye(self.problem.size)
        sides = np.concatenate([one[np.isfinite(lower)], -one[np.isfinite(upper)]])[:, moving] @ self.inverse

        def above(y: Array) -> Array:
            return np.concatenate([self._at(y).above.values, self._bounded(self.unknowns(y))])

        def above_by(y: Array) -> Array:
            return np.concatenate([self._at(y).above.by[:, moving] @ self.inverse, sides])

        found: list[dict[str, Any]] = [
            {
                "type": "eq",
                "fun": lambda y: self._at(y).equal.values,
                "jac": lambda y: self._at(y).equal.by[:, moving] @ self.inverse,
            }
        ]
        if len(self.last.above.values) + len(sides):
            found.append({"type": "ineq", "fun": above, "jac": above_by})
        return found


def searched(
    problem: Problem,
    Y: Array,
    bounds: Bounds,
    tolerance: float,
    iterations: int,
    progress: Progress | None,
) -> Searched:
    """What SLSQP finds from Y (size,); it starts again with a new scale while this lowers the cost.

    `bounds` are lower and upper limits (size,) of the unknowns, `tolerance` is relative to the cost, `iterations` the
    most steps. `progress` is called after every step with its number, the cost and the largest error of a condition.
    """
    from scipy.optimize import minimize

    began, taken, why = time.perf_counter(), 0, ""
    best = problem.at(Y)
    for number in range(ROUNDS):
        left = iterations - taken
        if left <= 0 or not best.found:
            break
        search = _Search(problem, Y, bounds, best)

        def told(y: Array, search: _Search = search, before: int = taken) -> None:
            search.steps += 1
            if progress is not None:
                here = problem.at(search.unknowns(y))
                progress(before + search.steps, here.cost, here.error)

        loose = LOOSE if number == 0 else tolerance
        result = minimize(
            search.cost,
            np.zeros(len(problem.moving)),
            jac=search.cost_by,
            method="SLSQP",
            constraints=search.constraints,
            options={"maxiter": left, "ftol": loose},
            callback=told,
        )
        taken += max(int(result.nit), 1)
        new = problem.at(search.unknowns(result.x))
        before, why = best, str(result.message)
        if not new.found:
            break
        Y, best = search.unknowns(result.x), new
        settled = abs(new.cost - before.cost) <= 10.0 * tolerance * max(abs(new.cost), 1e-300)
        if number and new.error < TIGHT and (settled or result.status == 0):
            break
    found = best.found and best.error < TIGHT and taken < iterations
    return Searched(Y, best, found, taken, time.perf_counter() - began, why)
