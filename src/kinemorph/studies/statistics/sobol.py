"""Sobol indices: which share of a measure's variance each part causes, alone and together with others.

The design is that of Saltelli et al. (2010), Computer Physics Communications 181, 259: two matrices A and B of
independent points, and for each part i a matrix AB_i, which is A with column i from B. The estimators are those of
`scipy.stats.sobol_indices`: rows (b) and (f) of Table 2 there. The points are scrambled Sobol points, so that estimates
are better than their bootstrap intervals say.

Interactions of two parts need the matrices BA_i too: Saltelli (2002), the same journal 145, 280.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import qmc

from kinemorph.algebra.arrays import Array


class Bounded(NamedTuple):
    """Estimates with their confidence intervals, arrays of one shape."""

    value: Array
    low: Array
    high: Array


class SaltelliValues(NamedTuple):
    """A measure at the points of a design of n rows and d parts: a (n,), b (n,), ab (d, n), and ba (d, n) or (0, n)."""

    a: Array
    b: Array
    ab: Array
    ba: Array


def saltelli_points(count: int, parts: int, seed: int, *, second: bool = False) -> Array:
    """Points of the unit cube, shape (blocks, count, parts): A, B, AB_1 ... AB_d, and BA_1 ... BA_d where asked.

    Row k is the same for every larger `count`. `count` is a power of two, which Sobol points need for their balance.
    """
    both = qmc.Sobol(2 * parts, scramble=True, rng=np.random.default_rng(seed)).random(count)
    a, b = both[:, :parts], both[:, parts:]
    blocks = [a, b]
    for base, other in ((a, b), (b, a)) if second else ((a, b),):
        for part in range(parts):
            mixed = base.copy()
            mixed[:, part] = other[:, part]
            blocks.append(mixed)
    return np.stack(blocks)


def saltelli_values(values: Array, parts: int) -> SaltelliValues:
    """The values (blocks, n) of a measure at `saltelli_points`, without rows of which some are missing (NaN)."""
    whole = values[:, ~np.isnan(values).any(axis=0)]
    return SaltelliValues(whole[0], whole[1], whole[2 : 2 + parts], whole[2 + parts :])


def first_and_total(values: SaltelliValues) -> tuple[Array, Array]:
    """First-order and total indices, each of shape (..., d), of values whose last axis has the rows.

    A measure that does not vary has indices of NaN, since nothing causes a variance of zero.
    """
    mean = 0.5 * (np.mean(values.a, axis=-1) + np.mean(values.b, axis=-1))[..., None]
    a, b = values.a - mean, values.b - mean
    ab = values.ab - mean  # axes: part, ..., row
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = 0.5 * (np.mean(a * a, axis=-1) + np.mean(b * b, axis=-1))
        first = np.mean(b * (ab - a), axis=-1) / variance
        total = 0.5 * np.mean((a - ab) ** 2, axis=-1) / variance
    return np.moveaxis(first, 0, -1), np.moveaxis(total, 0, -1)


def interactions(values: SaltelliValues) -> Array:
    """Second-order indices, shape (..., d, d), symmetric with NaN on the diagonal."""
    first, _ = first_and_total(values)
    mean = 0.5 * (np.mean(values.a, axis=-1) + np.mean(values.b, axis=-1))[..., None]
    a, b, ab, ba = values.a - mean, values.b - mean, values.ab - mean, values.ba - mean
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = 0.5 * (np.mean(a * a, axis=-1) + np.mean(b * b, axis=-1))
        closed = np.einsum("i...n,j...n->...ij", ba, ab) / a.shape[-1] - np.mean(a * b, axis=-1)[..., None, None]
        pairs = closed / variance[..., None, None] - first[..., :, None] - first[..., None, :]
    second: Array = 0.5 * (pairs + np.swapaxes(pairs, -1, -2))
    second[..., np.arange(len(ab)), np.arange(len(ab))] = np.nan
    return second


def sobol_indices_of(values: SaltelliValues, alpha: float, resamples: int, seed: int) -> dict[str, Bounded]:
    """The indices "first" and "total" (d,), and "second" (d, d) where values of BA are given, with their intervals.

    Intervals are percentiles of a bootstrap over rows.
    """
    count, chance = len(values.a), np.random.default_rng(seed)
    drawn: dict[str, list[Array]] = {"first": [], "total": [], "second": []}
    for _ in range(resamples):
        rows = chance.integers(count, size=count)
        again = SaltelliValues(values.a[rows], values.b[rows], values.ab[:, rows], values.ba[:, rows])
        for name, found in _indices(again).items():
            drawn[name].append(found)
    bounds = {name: np.quantile(found, (alpha / 2, 1 - alpha / 2), axis=0) for name, found in drawn.items() if found}
    return {name: Bounded(value, *bounds[name]) for name, value in _indices(values).items()}


def _indices(values: SaltelliValues) -> dict[str, Array]:
    first, total = first_and_total(values)
    found = {"first": first, "total": total}
    return found | {"second": interactions(values)} if len(values.ba) else found
