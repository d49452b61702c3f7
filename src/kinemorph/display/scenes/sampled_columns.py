"""Values at the times of a scene: columns of a run, and prescribed values of elements over time."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.mechanics.elements.forces.applied import over_time
from kinemorph.model.parameter import evaluate_all
from kinemorph.simulation.results.trajectory import Trajectory, stretch_numbers


def between_samples(run: Trajectory, column: str, times: Array) -> Array:
    """A column at times [s], shape (n,), interpolated linearly; NaN before its first value and after its last.

    In a run whose system changes, it is also NaN while the system has no such column.
    """
    if len(run.stretches) > 1:
        return _between_changes(run, column, times)
    values = run[column]
    known = np.isfinite(values)
    if not known.any():
        return np.full(len(times), np.nan)
    return np.interp(times, run.t[known], values[known], left=np.nan, right=np.nan)


def _between_changes(run: Trajectory, column: str, times: Array) -> Array:
    """`between_samples` for a run whose system changes: stretches are interpolated separately, so jumps stay jumps."""
    values, found = run[column], np.full(len(times), np.nan)
    rows = np.cumsum([0, *(len(part) for part in run.stretches)])
    numbers = stretch_numbers(run, times)
    for k, part in enumerate(run.stretches):
        mine, chosen = values[rows[k] : rows[k + 1]], numbers == k
        known = np.isfinite(mine)
        if known.any():
            found[chosen] = np.interp(times[chosen], part.t[known], mine[known], left=np.nan, right=np.nan)
    return np.where((times < run.t[0]) | (times > run.t[-1]), np.nan, found)


def held(run: Trajectory, column: str, times: Array) -> Array:
    """A column at times [s], shape (n,): the value of the last sample at or before each time."""
    numbers = np.searchsorted(run.t, times, side="right") - 1
    values: Array = run[column][np.clip(numbers, 0, len(run) - 1)]
    return values


def nearest_sample(run: Trajectory, column: str, times: Array) -> Array:
    """A column at times [s], shape (n,): the value of the nearest sample."""
    after = np.clip(np.searchsorted(run.t, times), 1, max(len(run) - 1, 1))
    before = after - 1
    after = np.minimum(after, len(run) - 1)
    closer = np.where(times - run.t[before] <= run.t[after] - times, before, after)
    values: Array = run[column][closer]
    return values


def course(element: Any, what: str, size: int, times: Array) -> Array:
    """The values of the field `what` of an element at times [s], shape (n, size).

    The field is a sequence of numbers, a Table or a function of time.

    A function that fails with arrays is called for each time.
    """

    def at(t: Any) -> list[Any]:
        now: Any = SimpleNamespace(t=t, value=evaluate_all)
        return over_time(element, what, getattr(element, what), size, now)

    try:
        return np.stack([np.broadcast_to(np.asarray(x, dtype=float), len(times)) for x in at(times)], axis=-1)
    except (TypeError, ValueError):
        return np.array([at(float(t)) for t in times], dtype=float)
