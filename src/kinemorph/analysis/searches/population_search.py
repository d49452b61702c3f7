"""Searches without slopes that measure many points at once: differential evolution by SciPy, and random points.

All points of a generation are measured in one call. The same seed gives the same points, and the same result.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.searches.local_search import Progress
from kinemorph.words import counted

Measured = Callable[[Array], tuple[Array, Array]]  # Y (B, n) -> costs (B,), errors of conditions (B, k); nan if unknown
LEAST = 5  # points of a generation: differential evolution combines several of them
FAR = 1e30  # the cost, and the errors of conditions, of a point that cannot be computed


class PopulationSettings(NamedTuple):
    """The settings of a search of populations.

    `start` (n,)        one of the first points; it has an entry for each unknown
    `seed`              of random numbers
    `population`        points of a generation
    `iterations`        the most generations
    `tolerance`         of the cost, relative
    `progress`          a function that is called after every generation with its number, the cost and the error
    """

    start: Array
    seed: int
    population: int
    iterations: int
    tolerance: float
    progress: Progress | None


class PopulationSearched(NamedTuple):
    """Where a search of populations ended.

    `Y` (n,), `cost`        the best point that meets all conditions, and its cost; without one, the nearest point
    `found`                 whether any point meets all conditions
    `iterations`, `seconds` generations, and their time [s]
    `told`                  how the search ended, as a sentence that begins with "it"
    """

    Y: Array
    cost: float
    found: bool
    iterations: int
    seconds: float
    told: str


class _Record:
    """Measured points by their bytes, and the best one so far."""

    def __init__(self, measured: Measured) -> None:
        self.measured = measured
        self.known: dict[bytes, tuple[float, Array]] = {}
        self.best: tuple[float, float, Array] = (np.inf, np.inf, np.zeros(0))  # error, cost, Y

    def at(self, Y: Array) -> tuple[Array, Array]:
        """(costs (B,), errors (B, k)) of points Y (B, n); those that are not known yet are measured in one call."""
        rows = [np.ascontiguousarray(row) for row in Y]
        new = {row.tobytes(): row for row in rows if row.tobytes() not in self.known}
        if new:
            points = np.array(list(new.values()))
            costs, errors = self.measured(points)
            lost = np.isnan(costs)
            costs, errors = np.where(lost, FAR, costs), np.where(lost[:, None], FAR, errors)
            for key, point, cost, error in zip(new, points, costs, errors, strict=True):
                self.known[key] = (float(cost), error)
                rank = (float(error.sum()) + FAR * float(cost >= FAR), float(cost))
                if rank < self.best[:2]:
                    self.best = (*rank, point)
        found = [self.known[row.tobytes()] for row in rows]
        return np.array([cost for cost, _ in found]), np.array([error for _, error in found])


def random_search(measured: Measured, conditions: int, settings: PopulationSettings) -> PopulationSearched:
    """The best of a number of random points between 0 and 1, all measured in one call."""
    began, record = time.perf_counter(), _Record(measured)
    record.at(np.random.default_rng(settings.seed).random((settings.population, len(settings.start))))
    if settings.progress is not None:
        settings.progress(1, record.best[1], record.best[0])
    return _ended(record, 1, began, f"it ended after {counted(settings.population, 'random point')}.")


def differential_evolution(measured: Measured, conditions: int, settings: PopulationSettings) -> PopulationSearched:
    """The best point between 0 and 1 after some generations, by SciPy's differential evolution without polishing.

    `conditions` is the number of errors that `measured` gives for each point. The search ends by itself where the costs
    of a generation differ by less than the tolerance, relative to their mean.
    """
    from scipy.optimize import Bounds, NonlinearConstraint
    from scipy.optimize import differential_evolution as evolution

    began, record, count = time.perf_counter(), _Record(measured), 0
    rng = np.random.default_rng(settings.seed)
    size, n = max(settings.population, LEAST), len(settings.start)
    first = (np.argsort(rng.random((size, n)), axis=0) + rng.random((size, n))) / size  # a Latin hypercube
    first[0] = settings.start

    def errors(Y: Array) -> Array:
        """Errors (conditions, B) of points (n, B); SciPy also asks for one point (n,), to know their number."""
        if Y.ndim == 1:
            return record.known[Y.tobytes()][1] if Y.tobytes() in record.known else np.zeros(conditions)
        return record.at(Y.T)[1].T

    def told(*_: object, **__: object) -> None:
        nonlocal count
        count += 1
        if settings.progress is not None:
            settings.progress(count, record.best[1], record.best[0])

    result = evolution(
        lambda Y: record.at(Y.T)[0],
        Bounds(np.zeros(n), np.ones(n)),
        init=first,
        maxiter=settings.iterations,
        tol=settings.tolerance,
        seed=rng,
        polish=False,
        updating="deferred",
        vectorized=True,
        constraints=(NonlinearConstraint(errors, -np.inf, 0.0),) if conditions else (),
        callback=told,
    )
    why = "the costs of a generation are equal" if result.success else "no more generations were allowed"
    return _ended(record, int(result.nit), began, f"it ended after {counted(int(result.nit), 'generation')}: {why}.")


def _ended(record: _Record, iterations: int, began: float, told: str) -> PopulationSearched:
    error, cost, Y = record.best
    found = bool(error <= 0.0 and cost < FAR)
    return PopulationSearched(Y, cost, found, iterations, time.perf_counter() - began, told)
