"""Confidence intervals of means, probabilities and quantiles, from independent values of a measure.

Means: Student's t. It is exact for normal values; skewed ones need more values, by Cochran's rule
(`needed_by_skewness`).

Probabilities: Clopper and Pearson (1934). It holds the truth at least as often as stated for every probability and
every number of values. Wilson's interval is shorter, but holds its confidence only on average over probabilities: it
misses too often where they are near 0 or 1, and the falls and failures that a study counts are rare.

Quantiles: order statistics. Whether a value is below a quantile is a coin toss of known probability, so that the
interval between two order statistics holds for every distribution.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from kinemorph.algebra.arrays import Array
from kinemorph.frozen import dataclass


@dataclass(frozen=True)
class Estimate:
    """An estimated number with its confidence interval, from `count` values."""

    value: float
    low: float
    high: float
    count: int

    @property
    def error(self) -> float:
        """The larger distance from the value to an end of its interval."""
        return max(self.high - self.value, self.value - self.low)


def mean_estimate(values: Array, alpha: float) -> Estimate:
    """The mean of independent values (n,), by Student's t; the interval misses the truth with probability `alpha`."""
    count = len(values)
    if count < 2:
        return Estimate(float(values[0]) if count else math.nan, -math.inf, math.inf, count)
    value = float(np.mean(values))
    reach = _t_quantile(alpha, count) * float(np.std(values, ddof=1)) / math.sqrt(count)
    return Estimate(value, value - reach, value + reach, count)


def probability_estimate(true: int, count: int, alpha: float) -> Estimate:
    """The probability of an event that happened `true` times of `count`, by Clopper and Pearson."""
    if count == 0:
        return Estimate(math.nan, 0.0, 1.0, 0)
    low = float(stats.beta.ppf(alpha / 2, true, count - true + 1)) if true > 0 else 0.0
    high = float(stats.beta.isf(alpha / 2, true + 1, count - true)) if true < count else 1.0
    return Estimate(true / count, low, high, count)


def quantile_estimate(values: Array, share: float, alpha: float) -> Estimate:
    """The quantile of independent values (n,) below which a `share` lies, between two order statistics.

    An end is infinite where there are too few values for one.
    """
    count = len(values)
    if count == 0:
        return Estimate(math.nan, -math.inf, math.inf, 0)
    ordered = np.sort(values)
    # the number of values below the quantile is binomial: X(r) is above it where fewer than r are, so that r is chosen
    # with P(fewer than r) <= alpha / 2, and likewise at the other end
    rank_low = int(stats.binom.ppf(alpha / 2, count, share))
    rank_high = int(stats.binom.isf(alpha / 2, count, share)) + 1
    low = float(ordered[rank_low - 1]) if rank_low >= 1 else -math.inf
    high = float(ordered[rank_high - 1]) if rank_high <= count else math.inf
    return Estimate(float(np.quantile(ordered, share)), low, high, count)


def is_truth(values: Array) -> bool:
    """Whether the values of a measure are all 0 or 1, so that its mean is a probability."""
    return len(values) > 0 and bool(np.all((values == 0.0) | (values == 1.0)))


def measure_estimate(values: Array, alpha: float, *, truth: bool) -> Estimate:
    """The mean of a measure, which is the probability of a truth value."""
    if truth:
        return probability_estimate(int(np.sum(values)), len(values), alpha)
    return mean_estimate(values, alpha)


def needed_by_skewness(values: Array) -> int:
    """The number of values from which the interval of the mean can be trusted: 25 times the squared skewness.

    Cochran (1977), Sampling Techniques, section 2.15.
    """
    central = values - np.mean(values) if len(values) > 2 else np.zeros(1)
    size = float(np.max(np.abs(central)))
    if size == 0.0:
        return 0
    shares = central / size  # whose powers neither overflow nor vanish
    return math.ceil(25.0 * float(np.mean(shares**3)) ** 2 / float(np.mean(shares**2)) ** 3)


def _t_quantile(alpha: float, count: int) -> float:
    return float(stats.t.isf(alpha / 2, count - 1))
