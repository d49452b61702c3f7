"""Regular sample times, phase + k period, that coincide exactly where they should.

0.1 and 0.02 are rounded numbers: 3 * 0.1 and 15 * 0.02 differ in their last digit, so that a run would stop twice at
0.3 s. But periods that people write are ratios of small whole numbers. So a sample time is

    (first + k step) / parts        all three whole numbers, so that only the division rounds

which is exactly 0.3 for both. Other periods (pi / 100) are used as they are. A period of FAR means a single sample
time, the start of a run.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kinemorph.mechanics.elements.law import Runs

MOST_PARTS = 10**6  # the largest denominator of a period or a phase
ROUNDING = 4.0 * 2.0**-52  # the relative rounding error that a period may have
NEAR = 1e-9  # of a period: a time that is nearer to an instant counts as that instant
FAR = 1e300  # a bound that is never met: with it, compiled code cannot join the product and the sum into one rounding


class Instants(NamedTuple):
    """Regular sample times, by the three numbers of the formula in this file's docstring."""

    first: float
    step: float
    parts: float

    @property
    def once(self) -> bool:
        """Whether there is a single sample time, the start of a run."""
        return self.step >= FAR

    def time(self, k: float) -> float:
        """Sample time number k [s]."""
        return float((self.first + min(k * self.step, FAR)) / self.parts)

    def times(self, count: int) -> npt.NDArray[np.float64]:
        """The first `count` sample times [s], shape (count,)."""
        return np.asarray((self.first + np.arange(count) * self.step) / self.parts, dtype=np.float64)

    def snapped(self, times: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The `times` [s], shape (n,); a time that differs from a sample time by rounding only is replaced by it."""
        if self.once:
            return times
        k = np.maximum(np.rint((times * self.parts - self.first) / self.step), 0.0)
        at = (self.first + k * self.step) / self.parts
        found: npt.NDArray[np.float64] = np.where(np.abs(times - at) <= NEAR * self.step / self.parts, at, times)
        return found

    def nearest(self, t: float) -> float | None:
        """The number of the sample time at t [s], a whole number from 0 on; None where t is not a sample time."""
        k = round((t * self.parts - self.first) / self.step)
        return float(k) if k >= 0 and abs(t - self.time(k)) <= NEAR * self.step / self.parts else None

    def next(self, t: float, *, passed: bool = False) -> float:
        """The number of the first sample time at t [s] or later; if the sample time at t has `passed`, later than t."""
        if self.once:
            return float(passed)
        k = self.nearest(t)
        if k is not None:
            return k + passed
        return max(float(math.ceil((t * self.parts - self.first) / self.step)), 0.0)


@lru_cache(maxsize=1024)
def instants(period: float, phase: float = 0.0) -> Instants:
    """The sample times phase + k period [s], k = 0, 1, ..."""
    step, first = _ratio(period), _ratio(phase)
    if step is None or first is None or (parts := math.lcm(step.denominator, first.denominator)) > MOST_PARTS**1.5:
        return Instants(float(phase), float(period), 1.0)
    return Instants(float(first * parts), float(step * parts), float(parts))


def _ratio(x: float) -> Fraction | None:
    """The ratio of small whole numbers that equals x up to rounding; None where there is none."""
    found = Fraction(x).limit_denominator(MOST_PARTS)
    return found if abs(float(found) - x) <= ROUNDING * abs(x) else None


class Stage(NamedTuple):
    """Elements that sample (change their memory at a tick of a clock) one after the other.

    They do so in compiled code, in Python functions, or in functions in C (`runs`). Each of `samplers` is the index of
    an element and the number of its clock.
    """

    samplers: tuple[tuple[int, int], ...]
    runs: Runs


class Tick(NamedTuple):
    """A clock with ticks at phase + k period [s], the stages of each tick, and the names of the memory it writes."""

    period: float
    phase: float
    stages: tuple[Stage, ...]
    writes: tuple[str, ...] = ()

    @property
    def instants(self) -> Instants:
        """The times at which this clock ticks [s]."""
        return instants(self.period, self.phase)

    @property
    def compiled(self) -> bool:
        """Whether no stage calls a user function in Python or in C."""
        return all(stage.runs == "compiled" for stage in self.stages)
