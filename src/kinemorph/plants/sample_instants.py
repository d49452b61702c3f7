"""Regular sample instants, phase + k period, that coincide wherever they should.

0.1 and 0.02 are no binary numbers: 3 * 0.1 and 15 * 0.02 differ in their last digit, and what has to happen at 0.3 s
would happen twice. But periods that people write are ratios of small whole numbers. So an instant is

    (first + k step) / parts        all three whole numbers, so that only the division rounds

which is 0.3 for both, the number that is written in a program. Other periods (pi / 100) are taken as they are. A period
of FAR means a single instant, the beginning of a run.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

MOST_PARTS = 10**6  # the largest denominator of a period or a phase
ROUNDING = 4.0 * 2.0**-52  # relative error that arithmetic on a period may have left
NEAR = 1e-9  # of a period: a time that is nearer to an instant counts as that instant
FAR = 1e300  # a bound that is never met: with it, compiled code cannot join the product and the sum into one rounding


class Instants(NamedTuple):
    """The numbers of the formula in this file's docstring."""

    first: float
    step: float
    parts: float

    @property
    def once(self) -> bool:
        """Whether there is one instant, the beginning of a run."""
        return self.step >= FAR

    def time(self, k: float) -> float:
        """Instant number k [s]."""
        return float((self.first + min(k * self.step, FAR)) / self.parts)

    def times(self, count: int) -> npt.NDArray[np.float64]:
        """The first `count` instants [s], shape (count,)."""
        return np.asarray((self.first + np.arange(count) * self.step) / self.parts, dtype=np.float64)

    def snapped(self, times: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Times [s], shape (n,); a time that differs from an instant by rounding alone is moved there."""
        if self.once:
            return times
        k = np.maximum(np.rint((times * self.parts - self.first) / self.step), 0.0)
        at = (self.first + k * self.step) / self.parts
        found: npt.NDArray[np.float64] = np.where(np.abs(times - at) <= NEAR * self.step / self.parts, at, times)
        return found

    def nearest(self, t: float) -> float | None:
        """The number of the instant at t, a whole number from 0 on; None where there is no instant at t."""
        k = round((t * self.parts - self.first) / self.step)
        return float(k) if k >= 0 and abs(t - self.time(k)) <= NEAR * self.step / self.parts else None

    def next(self, t: float, *, passed: bool = False) -> float:
        """The number of the first instant at t or later; after t, where the instant at t has `passed`."""
        if self.once:
            return float(passed)
        k = self.nearest(t)
        if k is not None:
            return k + passed
        return max(float(math.ceil((t * self.parts - self.first) / self.step)), 0.0)


@lru_cache(maxsize=1024)
def instants(period: float, phase: float = 0.0) -> Instants:
    """The instants phase + k period [s], k = 0, 1, ..."""
    step, first = _ratio(period), _ratio(phase)
    if step is None or first is None or (parts := math.lcm(step.denominator, first.denominator)) > MOST_PARTS**1.5:
        return Instants(float(phase), float(period), 1.0)
    return Instants(float(first * parts), float(step * parts), float(parts))


def _ratio(x: float) -> Fraction | None:
    """The ratio of small whole numbers that x was meant to be; None where x is no such ratio."""
    found = Fraction(x).limit_denominator(MOST_PARTS)
    return found if abs(float(found) - x) <= ROUNDING * abs(x) else None
