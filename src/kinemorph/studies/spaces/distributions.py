"""Distributed parts of a space: a tolerance, a scattered material value, a push of unknown strength.

Each distribution is given by its quantile function, the inverse of its cumulative probability: a number p of the unit
interval becomes the value below which the part lies with probability p. Uniform numbers, Latin hypercubes and Sobol
sequences thus all become values with this distribution. `low` and `high` truncate a distribution: values beyond them do
not occur, and all others keep their proportions.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.errors import Problem
from kinemorph.frozen import dataclass
from kinemorph.studies.spaces.parts import Part, number_problems, text_of

ENDS = 2.0**-53  # probabilities are at least this far from 0 and 1, where quantiles may be infinite
LEAST_SHARE = 1e-9  # of the probability, has to lie between the limits of a truncated distribution


class Distribution(Part):
    """A part with a distribution, which may be truncated at `low` and `high`."""

    low: float | None
    high: float | None

    @abstractmethod
    def quantiles(self, p: Array) -> Array:
        """The values that the untruncated part exceeds with probability 1 - p."""

    @abstractmethod
    def probabilities(self, x: Array) -> Array:
        """The probability that the untruncated part is at most x."""

    @abstractmethod
    def own_problems(self, name: str) -> list[Problem]:
        """What is wrong with the numbers of the untruncated distribution."""

    def problems(self, name: str) -> list[Problem]:
        limits = {key: value for key, value in (("low", self.low), ("high", self.high)) if value is not None}
        found = self.own_problems(name) + number_problems(name, **limits)
        if found:
            return found
        below, above = self._between
        if not above - below >= LEAST_SHARE:
            low, high = ("none" if limit is None else text_of(limit) for limit in (self.low, self.high))
            shown = f"low = {low} and high = {high} leave {max(above - below, 0.0):.2g} of its distribution"
            return [Problem("part", name, f"{shown}, expected more", "Correct low and high.", "low")]
        return []

    @property
    def _between(self) -> tuple[float, float]:
        """The probabilities of values below `low`, and up to `high`."""
        below = 0.0 if self.low is None else float(self.probabilities(np.array(self.low)))
        above = 1.0 if self.high is None else float(self.probabilities(np.array(self.high)))
        return below, above

    def at(self, unit: Array) -> Array:
        below, above = self._between
        p = np.clip(below * (1.0 - unit) + above * unit, ENDS, 1.0 - ENDS)
        low = -math.inf if self.low is None else self.low
        high = math.inf if self.high is None else self.high
        return np.clip(self.quantiles(p), low, high)


@dataclass(frozen=True)
class Normal(Distribution):
    """Normally distributed, with its mean and its standard deviation before it is truncated."""

    mean: float
    deviation: float
    low: float | None = None
    high: float | None = None

    def own_problems(self, name: str) -> list[Problem]:
        return _spread_problems(name, self.mean, self.deviation)

    def quantiles(self, p: Array) -> Array:
        from scipy.special import ndtri

        return self.mean + self.deviation * np.asarray(ndtri(p))

    def probabilities(self, x: Array) -> Array:
        from scipy.special import ndtr

        return np.asarray(ndtr((x - self.mean) / self.deviation))


@dataclass(frozen=True)
class LogNormal(Distribution):
    """A positive number whose logarithm is normally distributed.

    `mean` and `deviation` are those of the number itself, not of its logarithm, before it is truncated.
    """

    mean: float
    deviation: float
    low: float | None = None
    high: float | None = None

    def own_problems(self, name: str) -> list[Problem]:
        found = _spread_problems(name, self.mean, self.deviation)
        if not found and not self.mean > 0:
            shown = f"mean is {text_of(self.mean)} in a lognormal distribution, expected a number above 0"
            found.append(Problem("part", name, shown, "Raise the mean, or use Normal.", "mean"))
        return found

    @property
    def _logarithm(self) -> Normal:
        """The distribution of the logarithm."""
        variance = math.log1p((self.deviation / self.mean) ** 2)
        return Normal(math.log(self.mean) - variance / 2.0, math.sqrt(variance))

    def quantiles(self, p: Array) -> Array:
        return np.exp(self._logarithm.quantiles(p))

    def probabilities(self, x: Array) -> Array:
        with np.errstate(divide="ignore"):
            return self._logarithm.probabilities(np.log(np.maximum(x, 0.0)))


@dataclass(frozen=True)
class Triangular(Distribution):
    """Between `least` and `most`, with a density that rises to its greatest value at `mode` and falls from there."""

    least: float
    mode: float
    most: float
    low: float | None = None
    high: float | None = None

    def own_problems(self, name: str) -> list[Problem]:
        found = number_problems(name, least=self.least, mode=self.mode, most=self.most)
        if not found and not (self.least <= self.mode <= self.most and self.least < self.most):
            numbers = ", ".join(map(text_of, (self.least, self.mode, self.most)))
            shown = f"least, mode and most are {numbers}, expected three numbers in rising order"
            found.append(Problem("part", name, shown, "Sort them.", "least"))
        return found

    @property
    def _peak(self) -> float:
        """The probability of values up to the mode."""
        return (self.mode - self.least) / (self.most - self.least)

    def quantiles(self, p: Array) -> Array:
        width = self.most - self.least
        rising = self.least + np.sqrt(p * width * (self.mode - self.least))
        falling = self.most - np.sqrt((1.0 - p) * width * (self.most - self.mode))
        return np.where(p <= self._peak, rising, falling)

    def probabilities(self, x: Array) -> Array:
        x, width = np.clip(x, self.least, self.most), self.most - self.least
        with np.errstate(divide="ignore", invalid="ignore"):  # the mode may be an end
            rising = (x - self.least) ** 2 / (width * (self.mode - self.least))
            falling = 1.0 - (self.most - x) ** 2 / (width * (self.most - self.mode))
        return np.where(x < self.mode, rising, np.where(self.mode < self.most, falling, 1.0))


@dataclass(frozen=True)
class Distributed(Distribution):
    """Any frozen distribution of scipy.stats, such as scipy.stats.gamma(2.0), by its `ppf` and `cdf`."""

    frozen: Any
    low: float | None = None
    high: float | None = None

    def own_problems(self, name: str) -> list[Problem]:
        shown = f"its distribution is {text_of(self.frozen)}, expected a frozen distribution of scipy.stats"
        remedy = "Write Distributed(scipy.stats.gamma(2.0))."
        if not is_distribution(self.frozen):
            return [Problem("part", name, shown, remedy)]
        middle = np.asarray(self.frozen.ppf(np.array([0.25, 0.5, 0.75])))
        if middle.shape != (3,) or not np.isfinite(middle).all():
            return [Problem("part", name, f"{shown} with finite quantiles of one number", remedy)]
        return []

    def quantiles(self, p: Array) -> Array:
        return np.asarray(self.frozen.ppf(p), dtype=float)

    def probabilities(self, x: Array) -> Array:
        return np.asarray(self.frozen.cdf(x), dtype=float)


def is_distribution(value: object) -> bool:
    """Whether an object has the functions of a frozen distribution of scipy.stats."""
    return callable(getattr(value, "ppf", None)) and callable(getattr(value, "cdf", None)) and hasattr(value, "dist")


def _spread_problems(name: str, mean: float, deviation: float) -> list[Problem]:
    found = number_problems(name, mean=mean, deviation=deviation)
    if not found and not deviation > 0:
        shown = f"deviation is {text_of(deviation)}, expected a number above 0"
        found.append(Problem("part", name, shown, "Raise it, or use Choice(value) for a fixed value.", "deviation"))
    return found
