"""Designs as a problem of a search: unknowns between 0 and 1, cost and scaled conditions, and what was tried."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.optimizing.measures import Measures, Sloped
from kinemorph.analysis.optimizing.unknowns import Unknowns
from kinemorph.analysis.searches.conditions import Limit
from kinemorph.analysis.searches.problem import Evaluated, Rows, add_limited, last_kept, stacked
from kinemorph.plants.programs import Plant


class Designs(Protocol):
    """How designs are measured: at equilibria, or in runs. X (B, n) has the numbers of one design in each row."""

    at: str  # the argument of `optimize` that chooses this way
    plant: Plant
    unknowns: Unknowns
    measures: Measures

    def first(self) -> Array:
        """The numbers (n,) of the model itself."""

    def values(self, X: Array) -> Array:
        """The cost and the conditions (B, count) of designs; nan where they are not known."""

    def sloped(self, values: Array) -> Sloped | None:
        """Cost and conditions of one design with their slopes by its numbers; None where they are not known."""

    def result(self, values: Array) -> Any:
        """The equilibrium or the run of one design."""

    def failure(self, values: Array) -> str:
        """Why one design has no cost or no conditions."""


class History(NamedTuple):
    """All designs that were measured, in order: numbers (N, n), costs (N,), and the largest error of a condition (N,).

    Costs and errors are nan where a design has none. Errors are relative to the size of the condition.
    """

    values: Array
    costs: Array
    errors: Array

    @property
    def best(self) -> Array:
        """The least cost (N,) so far of designs that meet all conditions; nan before the first of them."""
        met = np.where(self.errors <= MET, self.costs, np.nan)
        return np.fmin.accumulate(met) if len(met) else met


MET = 1e-6  # relative errors of conditions up to which a design meets them


class DesignProblem:
    """Cost and conditions as functions of Y (n,) between 0 and 1.

    Conditions are divided by their size, so that errors are relative: the larger one of their limits, or where these
    are 0 or infinite the value that was measured first. A problem keeps a record of all designs that it measures.
    """

    def __init__(self, designs: Designs) -> None:
        self.designs, self.unknowns, self.limits = designs, designs.unknowns, designs.measures.limits
        self.size = len(self.unknowns.each)
        self.moving: npt.NDArray[np.intp] = np.arange(self.size)
        self.sizes = np.array([_size(limit) for limit in self.limits])  # 0 where not known yet
        self._tried: list[tuple[Array, Array, Array]] = []

    @property
    def history(self) -> History:
        """All designs that were measured so far."""
        if not self._tried:
            return History(np.zeros((0, self.size)), np.zeros(0), np.zeros(0))
        return History(*(np.concatenate(part) for part in zip(*self._tried, strict=True)))

    def _see(self, values: Array) -> None:
        """Completes the sizes of conditions by the first values (B, conditions) that were measured, or by 1."""
        if (self.sizes == 0.0).any():
            with np.errstate(all="ignore"):
                typical = np.nanmedian(np.where(np.isfinite(values), np.abs(values), np.nan), axis=0)
            typical = np.where(np.isfinite(typical) & (typical > 0.0), typical, 1.0)
            self.sizes = np.where(self.sizes == 0.0, typical, self.sizes)

    # ── many designs, without slopes ──────────────────────────────────────────────────────────────────────────────

    def measured(self, Y: Array) -> tuple[Array, Array]:
        """(costs (B,), errors of conditions (B, k), relative and 0 where they are met) at Y (B, n); nan if unknown."""
        X = self.unknowns.values(Y)
        found = self.designs.values(X)
        lost = ~np.isfinite(found).all(axis=1)
        if not lost.all():
            self._see(found[~lost, 1:])
        margins = np.array([limit.margin(found[:, 1 + k]) for k, limit in enumerate(self.limits)])
        errors = np.maximum(-margins.reshape(len(self.limits), len(Y)).T / np.where(self.sizes, self.sizes, 1.0), 0.0)
        costs = np.where(lost, np.nan, found[:, 0])
        errors[lost] = np.nan
        self._tried.append((X, costs, np.where(lost, np.nan, errors.max(axis=1, initial=0.0))))
        return costs, errors

    # ── one design, with slopes ───────────────────────────────────────────────────────────────────────────────────

    @last_kept
    def at(self, Y: Array) -> Evaluated:
        """Cost, equations and inequalities at Y (n,); the last result is kept."""
        values = self.unknowns.values(Y)
        found = self.designs.sloped(values)
        whole = found is not None and bool(np.isfinite(found.values).all() and np.isfinite(found.by).all())
        equal: list[Rows] = []
        above: list[Rows] = []
        cost, cost_by, detail = np.nan, np.zeros(self.size), None
        if whole and found is not None:
            self._see(found.values[None, 1:])
            slopes = self.unknowns.slopes(Y)
            cost, cost_by = float(found.values[0]), found.by[0] * slopes
            detail = (found.values, found.squares_by * slopes)
            for k, limit in enumerate(self.limits):
                scale = 1.0 / self.sizes[k]
                scaled = Limit(limit.name, limit.lower * scale, limit.upper * scale)
                row = Rows(found.values[[1 + k]] * scale, (found.by[[1 + k]] * slopes) * scale)
                add_limited(row, scaled, equal, above)
        here = Evaluated(cost, cost_by, stacked(equal, self.size), stacked(above, self.size), whole, detail)
        self._tried.append((values[None], np.array([cost]), np.array([here.error if whole else np.nan])))
        return here

    def curvature(self, Y: Array) -> Array:
        """The second derivatives (n, n) of the cost, from squares of signals; else of the size of the cost."""
        here, weights = self.at(Y), [weight for _, weight in self.designs.measures.squares]
        if here.detail is None or not weights:
            size = max(abs(here.cost), float(np.abs(here.cost_by).max())) if here.found else 0.0
            return (size or 1.0) * np.eye(self.size)
        J = here.detail[1] * np.sqrt(2.0 * np.abs(weights))[:, None]
        found: Array = J.T @ J
        return found

    def margins(self, Y: Array) -> dict[str, float]:
        """By condition, the distance to its limits in its own unit; minus the error of one that is an equation."""
        here = self.at(Y)
        if here.detail is None:
            return {}
        return {limit.name: float(limit.margin(here.detail[0][1 + k])) for k, limit in enumerate(self.limits)}


def _size(limit: Limit) -> float:
    """The size of a condition by its limits, by which its errors are divided; 0 where they do not tell."""
    return max((abs(end) for end in (limit.lower, limit.upper) if np.isfinite(end)), default=0.0)
