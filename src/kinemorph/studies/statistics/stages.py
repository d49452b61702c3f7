"""Sampling until a stated error is reached, without losing the stated confidence.

A rule that looks again and again, and stops when an interval happens to be narrow, misses the truth more often than its
intervals say: skewed values look less scattered than they are as long as their tail was not seen. Here looks are
planned instead:

1. A pilot tells how much the measures vary. It grows until it has a tenth of the values that it plans. It only plans:
   its values are in no estimate.
2. From the pilot follows the first look, at which the error is reached nearly always, and all later ones, each after
   GROWTH times as many values. Given the pilot, they are fixed numbers.
3. The permitted probability alpha of a miss is divided over the looks: 9/10 of it for the first, half of the rest for
   each one that follows. The interval of look j misses with probability alpha_j at most, whatever the looks before have
   shown; the sum is alpha. So the interval at which sampling stops misses with probability alpha at most.

This needs nothing of a measure but that the interval of a fixed number of values is right, so that it serves means,
probabilities and quantiles alike. It costs the pilot, 5 % more values than a single look would, and what the pilot does
not know.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from scipy import stats

from kinemorph.algebra.arrays import Array
from kinemorph.frozen import dataclass
from kinemorph.studies.statistics.intervals import (
    Estimate,
    is_truth,
    measure_estimate,
    needed_by_skewness,
    probability_estimate,
)

FIRST_SHARE = 0.9  # of alpha, for the first look
GROWTH = 3  # of the number of values from look to look: more than the narrower alpha costs
DOUBT = 0.05  # the probability that the pilot plans too few values
FEWEST = 32  # values at the first look
BEYOND = 10**15  # values: more than any study has
PILOT_SHARE = 10  # a pilot grows to one of this many planned values


@dataclass(frozen=True)
class Look:
    """A planned look: after how many values, and with which probability of a miss."""

    count: int
    alpha: float


def planned_looks(first: int, most: int, alpha: float) -> Iterator[Look]:
    """The looks of a study whose first one is after `first` values and which has at most `most`."""
    count, left = first, alpha
    while count < most:
        share = FIRST_SHARE if count == first else 0.5
        yield Look(count, share * left)
        count, left = GROWTH * count, (1.0 - share) * left
    yield Look(most, left)


def needed_for_mean(pilot: Array, error: float, alpha: float) -> int:
    """How many values give the mean to an error with an interval of level 1 - alpha.

    The deviation is an upper bound from the pilot: the logarithm of a sample variance has about the variance
    (kurtosis - 1) / n. Skewed values need some more for an interval that can be trusted.
    """
    count = len(pilot)
    deviation = float(np.std(pilot, ddof=1))
    if deviation == 0.0:
        return FEWEST
    kurtosis = float(np.mean(((pilot - np.mean(pilot)) / np.std(pilot)) ** 4))
    bound = deviation * math.exp(0.5 * float(stats.norm.isf(DOUBT)) * math.sqrt((kurtosis - 1.0) / count))
    spread = float(stats.norm.isf(alpha / 2)) * bound / error
    if spread * spread > BEYOND:
        return BEYOND
    needed = max(FEWEST, needed_by_skewness(pilot), math.ceil(spread * spread))
    while float(stats.t.isf(alpha / 2, needed - 1)) * bound / math.sqrt(needed) > error:
        needed += max(1, needed // 100)
    return needed


def needed_for_probability(true: int, count: int, error: float, alpha: float) -> int:
    """How many values give a probability to an error, where a pilot of `count` values had `true` events."""
    pilot = probability_estimate(true, count, 2.0 * DOUBT)
    worst = min(max(0.5, pilot.low), pilot.high)  # the probability in the interval that varies most: next to 1/2
    spread = float(stats.norm.isf(alpha / 2)) / error
    if spread * spread > BEYOND:
        return BEYOND
    needed = max(FEWEST, math.ceil(spread * spread * worst * (1.0 - worst)))
    while probability_estimate(round(worst * needed), needed, alpha).error > error:
        needed += max(1, needed // 100)
    return needed


def needed_values(pilot: Array, error: float, alpha: float, *, truth: bool) -> int:
    """How many values of a measure the first look needs, from those of the pilot that have one.

    Without at least two values nothing is known of a mean, and the answer is that of a probability.
    """
    if truth or len(pilot) < 2:
        return needed_for_probability(int(np.sum(pilot)), len(pilot), error, FIRST_SHARE * alpha)
    return needed_for_mean(pilot, error, FIRST_SHARE * alpha)


class Staged(NamedTuple):
    """What sampling in stages gave.

    `history`    the looks that were taken, each with the estimates of all measures, None where too few values exist
    `pilot`      how many values at the beginning only planned
    `needed`     how many values the pilot planned for the first look, or None without a pilot
    `reached`    whether all stated errors were reached, at a planned look
    """

    history: tuple[tuple[Look, tuple[Estimate, ...]], ...]
    pilot: int
    needed: int | None
    reached: bool


def sample_in_stages(
    values_of: Callable[[int], Array], errors: Mapping[int, float], *, alpha: float, pilot: int, most: int
) -> Staged:
    """Samples measures until each of `errors`, by the number of a measure's column, is reached, or `most` values.

    `values_of(n)` returns the measures (n, k) of the first n items, NaN for items that failed; fewer rows mean that it
    was interrupted. Where `most` leaves no room for a pilot, or without errors, there is one look at `most` values. An
    interrupted pilot plans nothing: there is one look at no values.
    """
    needed: int | None = None
    if not errors or most < 2 * pilot or most < pilot + FEWEST:
        pilot, first = 0, most
    else:
        while len(values := values_of(pilot)) == pilot:
            needed = _planned(values, errors, alpha)
            wanted = min(needed, most) // PILOT_SHARE  # a small pilot knows little, of rare events above all
            if pilot >= wanted:
                break
            pilot = min(2 * pilot, wanted)
        else:
            pilot, needed = len(values), None
        first = min(needed, most - pilot) if needed else most
    history: list[tuple[Look, tuple[Estimate, ...]]] = []
    for look in planned_looks(first, most - pilot, alpha):
        values = values_of(pilot + look.count)
        counted = values[pilot:]
        estimates = tuple(
            measure_estimate(found[~np.isnan(found)], look.alpha, truth=is_truth(whole[~np.isnan(whole)]))
            for found, whole in zip(counted.T, values.T, strict=True)
        )
        history.append((Look(len(counted), look.alpha), estimates))
        if len(counted) < look.count:  # a narrow interval before the planned look is no reason to stop
            break
        if bool(errors) and all(estimates[k].error <= error for k, error in errors.items()):
            return Staged(tuple(history), pilot, needed, True)
    return Staged(tuple(history), pilot, needed, False)


def _planned(pilot: Array, errors: Mapping[int, float], alpha: float) -> int:
    """How many items the first look needs for all measures; items that fail give no value, so that more are needed."""
    needed = FEWEST
    for k, error in errors.items():
        values = pilot[~np.isnan(pilot[:, k]), k]
        if len(values) > 0:
            values_needed = needed_values(values, error, alpha, truth=is_truth(values))
            needed = max(needed, math.ceil(values_needed * len(pilot) / len(values)))
    return needed
