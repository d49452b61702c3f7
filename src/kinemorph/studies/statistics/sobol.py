"""Sobol indices: which share of a measure's variance each part causes, alone and together with others.

The design is that of Saltelli et al. (2010), Computer Physics Communications 181, 259: two matrices A and B of
independent points, and for each part i a matrix AB_i, which is A with column i from B. The estimators are those of
`scipy.stats.sobol_indices`: rows (b) and (f) of Table 2 there.

Points are Sobol points of twice as many dimensions as parts, in REPLICATES that are scrambled independently. The spread
of an index over replicates is its true error, which a jackknife turns into an interval. A bootstrap over rows cannot
see it: where two dimensions of a Sobol sequence are regular together, it promises too much, and elsewhere too little.

Interactions of two parts need the matrices BA_i too: Saltelli (2002), the same journal 145, 280.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from kinemorph.algebra.arrays import Array

REPLICATES = 8
FEWEST_ROWS = 2 * REPLICATES  # of a design


class Bounded(NamedTuple):
    """Estimates with their confidence intervals, arrays of one shape."""

    value: Array
    low: Array
    high: Array


class SaltelliValues(NamedTuple):
    """A measure at the points of a design of n rows and d parts: a (n,), b (n,), ab (d, n), and ba (d, n) or (0, n).

    `replicates` (n,) are the numbers of the replicates to which rows belong.
    """

    a: Array
    b: Array
    ab: Array
    ba: Array
    replicates: NDArray[np.int64]

    def taken(self, rows: NDArray[np.bool_]) -> SaltelliValues:
        """The values of some rows."""
        return SaltelliValues(self.a[rows], self.b[rows], self.ab[:, rows], self.ba[:, rows], self.replicates[rows])


def saltelli_points(count: int, parts: int, seed: int, *, second: bool = False) -> Array:
    """Points of the unit cube, shape (blocks, count, parts): A, B, AB_1 ... AB_d, and BA_1 ... BA_d where asked.

    Row k belongs to replicate k modulo REPLICATES and is the same for every larger `count`. `count` is a power of two,
    which Sobol points need for their balance.
    """
    chances = np.random.default_rng(seed).spawn(REPLICATES)
    rows = [stats.qmc.Sobol(2 * parts, scramble=True, rng=chance).random(count // REPLICATES) for chance in chances]
    both = np.stack(rows, axis=1).reshape(count, 2 * parts)
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
    replicates = np.arange(values.shape[1]) % REPLICATES
    every = SaltelliValues(values[0], values[1], values[2 : 2 + parts], values[2 + parts :], replicates)
    return every.taken(np.asarray(~np.isnan(values).any(axis=0)))


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


def sobol_indices_of(values: SaltelliValues, alpha: float) -> dict[str, Bounded]:
    """The indices "first" and "total" (d,), and "second" (d, d) where values of BA are given, with their intervals.

    Intervals are Student's, with the deviation that a jackknife over replicates gives.
    """
    without = [_indices(values.taken(values.replicates != k)) for k in range(REPLICATES)]
    wide = float(stats.t.isf(alpha / 2, REPLICATES - 1)) * np.sqrt(REPLICATES - 1)
    found = {}
    for name, value in _indices(values).items():
        reach = wide * np.std([indices[name] for indices in without], axis=0)
        found[name] = Bounded(value, value - reach, value + reach)
    return found


def _indices(values: SaltelliValues) -> dict[str, Array]:
    first, total = first_and_total(values)
    found = {"first": first, "total": total}
    return found | {"second": interactions(values)} if len(values.ba) else found
