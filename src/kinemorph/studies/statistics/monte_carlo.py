"""Monte Carlo studies: the means and probabilities of measures when parts are distributed, with confidence intervals.

    found = monte_carlo(model, {"friction": Normal(0.6, 0.1, low=0.0), "push": Range(0.0, 40.0)}, {"fell": fell},
                        error={"fell": 0.02})
    found["fell"]            Estimate(value, low, high, count): the probability of a fall
    found.reached            whether the error was reached with at most `most` items

Items are independent draws from the parts of the space: its design is not used, since intervals need independence.
Item k depends on the seed and the parts only, so that further items never change earlier ones, and a study with a store
goes on where it was.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinemorph.algebra.arrays import Array
from kinemorph.errors import UnsupportedError
from kinemorph.frozen import dataclass
from kinemorph.sheet import Field, Note, Part, Plot, Sheet, Table, hidden
from kinemorph.shown import ShownStudy
from kinemorph.studies.items import Items
from kinemorph.studies.spaces.designs import unit_points
from kinemorph.studies.spaces.parts import is_number, is_whole
from kinemorph.studies.spaces.space import Space
from kinemorph.studies.statistics.intervals import (
    Estimate,
    is_truth,
    measure_estimate,
    needed_by_skewness,
    probability_estimate,
    quantile_estimate,
)
from kinemorph.studies.statistics.measured_items import (
    GO_ON,
    MeasuredItems,
    alpha_of,
    check_measure,
    measured_items,
    seed_of_study,
    space_of,
)
from kinemorph.studies.statistics.plans import CONFIDENCE, COUNT, MOST, PILOT, MonteCarloPlan
from kinemorph.studies.statistics.stages import BEYOND, Staged, sample_in_stages
from kinemorph.studies.store.table import WAITING
from kinemorph.studies.sweeps.study import Study
from kinemorph.studies.sweeps.study_sheet import status_parts
from kinemorph.words import counted

WHAT = "monte_carlo"
POINTS = 200  # of a curve of convergence
RESULTS = (
    *(Field("measure", "measure", form="name"), Field("estimate of", "estimate of", form="word")),
    *(Field(key, key, form=6) for key in ("value", "low", "high")),
    *(Field("items", "items"), Field("stated error", "stated error", form=6)),
)


class Convergence(NamedTuple):
    """How an estimate developed: after `counts` items (m,) it was `value` (m,) with the interval `low` to `high`.

    Each interval holds for its own number of items, as if there had been one look only.
    """

    counts: Array
    value: Array
    low: Array
    high: Array


@dataclass(frozen=True, eq=False, repr=False)
class MonteCarlo(ShownStudy):
    """Estimates of a Monte Carlo study.

    `measures`     the names of the k measures
    `values`       the measures (n, k) of all items in the order of their draws, NaN for items that failed
    `pilot`        how many of the first items only planned the number of the others, and are in no estimate
    `confidence`   each interval holds the truth with at least this probability, also after a stop at a stated error
    `errors`       the stated errors by measure
    `staged`       the looks that were taken, with their estimates
    `study`        all items with their measures
    `notes`        sentences about failed items, errors that were not reached, and intervals to be doubted
    """

    measures: tuple[str, ...]
    values: Array
    pilot: int
    confidence: float
    errors: Mapping[str, float]
    staged: Staged
    study: Study
    notes: tuple[str, ...]

    @property
    def estimates(self) -> dict[str, Estimate]:
        """The mean of every measure, which is the probability of a truth value."""
        return dict(zip(self.measures, self.staged.history[-1][1], strict=True))

    def __getitem__(self, measure: str) -> Estimate:
        check_measure(measure, self.measures, WHAT)
        return self.estimates[measure]

    @property
    def reached(self) -> bool:
        """Whether all stated errors were reached."""
        return self.staged.reached

    @property
    def count(self) -> int:
        """How many items the estimates are from, with those that failed."""
        return self.staged.history[-1][0].count

    @property
    def probabilities(self) -> tuple[str, ...]:
        """The measures whose values are all 0 or 1: their estimates are probabilities."""
        return tuple(name for name in self.measures if is_truth(self._all_finished(name)))

    @property
    def failed(self) -> Estimate:
        """The probability that an item fails."""
        counted_values = self.values[self.pilot :]
        return probability_estimate(int(np.sum(_failed(counted_values))), len(counted_values), self._alpha)

    def quantiles(self, measure: str, shares: Sequence[float] = (0.05, 0.5, 0.95)) -> dict[float, Estimate]:
        """The quantiles of a measure: below each lies this share of its values."""
        for share in shares:
            if not is_number(share) or not 0.0 < share < 1.0:
                raise UnsupportedError(f"{WHAT}: a share is {share!r}, expected a number between 0 and 1, such as 0.5.")
        values = self.finished(measure)
        return {share: quantile_estimate(values, share, self._alpha) for share in shares}

    def finished(self, measure: str) -> Array:
        """The values (m,) of a measure from which its estimate is made."""
        check_measure(measure, self.measures, WHAT)
        column = self.values[self.pilot :, self.measures.index(measure)]
        return column[~np.isnan(column)]

    def convergence(self, measure: str) -> Convergence:
        """How the estimate of a measure developed with the number of items, for a picture."""
        values = self.finished(measure)
        truth = measure in self.probabilities
        if not len(values):
            return Convergence(*np.empty((4, 0)))
        counts = np.unique(np.geomspace(min(10, len(values)), len(values), POINTS).astype(np.int64))
        rows = [measure_estimate(values[:count], 1.0 - self.confidence, truth=truth) for count in counts.tolist()]
        return Convergence(counts.astype(float), *np.array([(row.value, row.low, row.high) for row in rows]).T)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A row for each measure, as for a table: its name, what is estimated, the estimate, and the stated error."""
        return [
            {
                "measure": name,
                "estimate of": "probability" if name in self.probabilities else "mean",
                "value": found.value,
                "low": found.low,
                "high": found.high,
                "items": found.count,
                "stated error": self.errors.get(name, math.nan),
            }
            for name, found in self.estimates.items()
        ]

    @property
    def heading(self) -> str:
        """How many items the estimates are from, and how sure their intervals are."""
        planned = f", after {counted(self.pilot, 'item')} of a pilot" if self.pilot else ""
        percent = f"{100.0 * self.confidence:g} %"
        return f"Monte Carlo study of {counted(self.count, 'item')}{planned}; intervals of {percent} confidence"

    def sheet(self) -> Sheet:
        """The estimates with their intervals, notes about them, and the status of the study."""
        parts: list[Part] = [Note(self.heading, key="found")]
        if self.errors and not self.reached:
            parts.append(Note("The stated error was not reached.", "warning"))
        rows = [[None if value != value else value for value in row.values()] for row in self.rows]
        columns = RESULTS if self.errors else (*RESULTS[:-1], RESULTS[-1]._replace(head=""))
        parts += [Table("results", columns, rows, "estimates"), hidden(notes=self.notes), *map(Note, self.notes)]
        parts += [*status_parts(self.study), Plot(self, "The estimates and the distribution of the first measure.")]
        return Sheet("Monte Carlo study of", self.study.name, parts)

    def __repr__(self) -> str:
        return f"MonteCarlo({', '.join(self.measures)}; {counted(self.count, 'item')})"

    @property
    def _alpha(self) -> float:
        return self.staged.history[-1][0].alpha

    def _all_finished(self, measure: str) -> Array:
        column = self.values[:, self.measures.index(measure)]
        return column[~np.isnan(column)]


def monte_carlo(
    model: Any,
    space: Space | Mapping[str, Any],
    measures: Any = (),
    *,
    error: float | Mapping[str, float] | None = None,
    confidence: float = CONFIDENCE,
    count: int | None = None,
    most: int = MOST,
    pilot: int = PILOT,
    seed: int | None = None,
    store: str | Path | None = None,
    **options: Any,
) -> MonteCarlo:
    """Estimates the means and probabilities of measures when parts are distributed.

    `space`        a Space, of which parts, conditions and seed are used, or {name: Range, Choice or a distribution}
    `measures`     as in `sweep`; a measure that is true or false, such as a fall, gives a probability
    `error`        the error to reach: the largest distance from an estimate to an end of its interval, for all measures
                   or {measure: error}; items are added until it is reached
    `count`        without an error: how many items, 1000 by default
    `most`         with an error: how many items at most, with those of the pilot
    `pilot`        with an error: how many items, at least, plan the number of the others (see `statistics.stages`)
    `seed`         of the draws; that of the space by default
    `store`, `options`      as in `sweep`

    Items that fail have no measure: estimates are those of items that finish, the notes say how many did not, and
    `failed` is the probability of a failure.
    """
    plan = MonteCarloPlan(error, confidence, count, most, pilot, seed)
    with measured_items(model, space_of(space, WHAT, COUNT), measures, {"store": store, **options}) as measured:
        return estimated(measured, plan)


def estimated(measured: MeasuredItems, plan: MonteCarloPlan) -> MonteCarlo:
    """The estimates from items that are measured, or were: what `monte_carlo` returns."""
    space, error, pilot = measured.space, plan.error, plan.pilot
    alpha = alpha_of(plan.confidence, WHAT)
    if error is not None and plan.count is not None:
        raise UnsupportedError(
            f"{WHAT}: both error and count are given, expected one of them. Use most to limit items."
        )
    usual = (space.count if space.design == "random" else None) or COUNT
    total = plan.most if error is not None else usual if plan.count is None else plan.count
    for name, number in (("most" if error is not None else "count", total), ("pilot", pilot)):
        if not is_whole(number) or number < 2:
            raise UnsupportedError(f"{WHAT}: {name} is {number!r}, expected a whole number of 2 or more.")
    if measured.names:
        _known_errors(error, measured.names)  # before any work
    draws = Draws(space, seed_of_study(plan.seed, space, WHAT), measured)
    draws.values_of(min(pilot, total))
    errors = _known_errors(error, draws.names)
    columns = {draws.names.index(name): value for name, value in errors.items()}
    staged = sample_in_stages(draws.values_of, columns, alpha=alpha, pilot=pilot, most=total)
    found = MonteCarlo(draws.names, draws.values, staged.pilot, plan.confidence, errors, staged, measured.study, ())
    notes = [*_space_notes(space, draws), *_stopping_notes(found, total, draws.waiting), *_value_notes(found)]
    return replace(found, notes=tuple(notes))


class Draws:
    """Independent items, drawn and measured as they are asked for."""

    def __init__(self, space: Space, seed: int, measured: MeasuredItems) -> None:
        self.space, self.seed, self.measured = space, seed, measured
        self.values: Array = np.empty((0, 0))
        self.waiting = False  # whether an item that was asked for has no result

    @property
    def names(self) -> tuple[str, ...]:
        return self.measured.names

    def items(self, count: int) -> Items:
        return self.space.at(unit_points("random", self.space.dimensions, count, self.seed))

    def values_of(self, count: int) -> Array:
        """The measures of the first items (count, k); fewer rows, up to the first that waits, after an interruption."""
        if count > len(self.values) and not self.waiting:
            values, states = self.measured.values(self.items(count))
            waiting = np.flatnonzero(states == WAITING)
            self.waiting = len(waiting) > 0
            self.values = values[: waiting[0]] if self.waiting else values
        return self.values[:count]


def _known_errors(error: float | Mapping[str, float] | None, names: tuple[str, ...]) -> dict[str, float]:
    """The stated errors by measure."""
    if error is None:
        return {}
    errors = dict(error) if isinstance(error, Mapping) else dict.fromkeys(names, error)
    for name, value in errors.items():
        check_measure(name, names, WHAT)
        if not is_number(value) or not 0.0 < value < math.inf:
            raise UnsupportedError(f"{WHAT}: the error of '{name}' is {value!r}, expected a number above 0.")
    return errors


def _space_notes(space: Space, draws: Draws) -> Iterator[str]:
    if space.design != "random":
        yield f"The design '{space.design}' of the space is not used: intervals need independent items."
    keys = draws.items(len(draws.values)).keys
    if len(set(keys)) < len(keys):
        same = len(keys) - len(set(keys))
        yield (
            f"{counted(same, 'item')} of {len(keys)} were drawn before and computed once, since all parts are choices. "
            "A model that uses its seed gives the same numbers again: add a part that varies continuously for it."
        )


def _stopping_notes(found: MonteCarlo, most: int, waiting: bool) -> Iterator[str]:
    if waiting:
        known = f"the estimates are of {counted(found.count, 'item')}, fewer than planned"
        known = known if found.count else "nothing is estimated before its pilot is done"
        yield f"The study is not finished: {known}. {GO_ON}"
    if not found.errors or found.reached or waiting:
        return
    for name, error in found.errors.items():
        estimate = found[name]
        if not estimate.error <= error:
            ratio = estimate.error / error
            needed = math.ceil(min(found.count * ratio * ratio, BEYOND)) if estimate.error < math.inf else most
            yield (
                f"The error of '{name}' is {estimate.error:.3g} with all {most} items that are allowed, above the "
                f"stated {error:g}. About {needed + found.pilot} items would reach it: raise most."
            )


def _value_notes(found: MonteCarlo) -> Iterator[str]:
    counted_values = found.values[found.pilot :]
    failed = int(np.sum(_failed(counted_values)))
    if failed:
        share = found.failed
        yield (
            f"{counted(failed, 'item')} of {len(counted_values)} failed ({100 * share.low:.3g} to "
            f"{100 * share.high:.3g} % of all would). The estimates are of items that finish; study.failed tells the "
            "causes."
        )
    for name in found.measures:
        values = found.finished(name)
        trusted = needed_by_skewness(values)
        if name in found.probabilities:
            if failed:
                true, every = int(np.sum(values)), len(counted_values)
                low = probability_estimate(true, every, found._alpha).low
                high = probability_estimate(true + failed, every, found._alpha).high
                yield f"Whatever '{name}' were for items that failed, its probability is in {low:.4g} to {high:.4g}."
        elif len(values) > 1 and np.ptp(values) == 0.0:
            other = 100.0 * (1.0 - (1.0 - found.confidence) ** (1.0 / len(values)))
            yield (
                f"All {len(values)} values of '{name}' are {values[0]:g}: its interval says nothing of other values, "
                f"which may be up to {other:.3g} % of all."
            )
        elif len(values) < trusted:
            yield (
                f"The values of '{name}' are skewed: its interval can be trusted from about {trusted} items on, by "
                f"Cochran's rule; there are {len(values)}. Quantiles do not have this restriction."
            )


def _failed(values: Array) -> NDArray[np.bool_]:
    """Which items (n,) failed: those without any measure. A function may give some measures to some items only."""
    return np.asarray(np.isnan(values).all(axis=1))
