"""Sensitivity studies: which parts of a space a measure depends on, and how much.

    found = sensitivity(model, {"length": Normal(1.0, 0.01), "mass": Range(0.5, 2.0)}, "distance")
    found["distance"]["total"].value        an index for each of found.parts

    "sobol"     shares of the variance of a measure: `first` by a part alone, `total` with all its interactions, and
                where asked `second`, by interactions of two parts. Needs count * (parts + 2) items.
    "morris"    mean effects of parts from end to end of their ranges, for a first look at many parts: `mu`, `mu_star`
                and `sigma`. Needs count * (parts + 1) items.

Both need parts that vary independently. Parts that apply to some items only are refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.errors import UnsupportedError
from kinemorph.frozen import dataclass
from kinemorph.sheet import Field, Note, Plot, Sheet, Table, hidden, said
from kinemorph.shown import ShownStudy
from kinemorph.studies.spaces.distributions import Distribution
from kinemorph.studies.spaces.parts import Part, index_at, is_whole
from kinemorph.studies.spaces.space import Space
from kinemorph.studies.statistics.measured_items import (
    GO_ON,
    MeasuredItems,
    alpha_of,
    check_measure,
    check_varies,
    measured_items,
    seed_of_study,
    space_of,
)
from kinemorph.studies.statistics.morris import Trajectories, elementary_effects, morris_indices, morris_trajectories
from kinemorph.studies.statistics.plans import CONFIDENCE, LEVELS, RESAMPLES, SensitivityPlan
from kinemorph.studies.statistics.sobol import (
    FEWEST_ROWS,
    Bounded,
    saltelli_points,
    saltelli_values,
    sobol_indices_of,
)
from kinemorph.studies.store.table import WAITING
from kinemorph.studies.sweeps.study import Study
from kinemorph.studies.sweeps.study_sheet import status_parts
from kinemorph.words import counted, listed

WHAT = "sensitivity"
Method = Literal["sobol", "morris"]
COUNTS: dict[str, int] = {"sobol": 1024, "morris": 20}  # rows of a design, and trajectories
MOST_MISSING = 0.01  # the share of rows that indices of Sobol can do without
NEAR = 1e-3  # of the range without tails: the least values of a part that has an end are as near to it
TAIL = 0.01  # the probability beyond each end of the range in which Morris varies a part without ends


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity(ShownStudy):
    """Indices of the sensitivity of measures.

    `method`       "sobol" or "morris"
    `parts`        the names of the d parts that vary
    `indices`      {measure: {index: Bounded}}: values and intervals, arrays (d,), or (d, d) for `second`
    `confidence`   of the intervals
    `values`       the measures (items, k) of the design in its order, NaN for items that failed or wait
    `study`        all items with their measures
    `notes`        sentences about failed items and what was assumed
    """

    method: Method
    parts: tuple[str, ...]
    indices: Mapping[str, Mapping[str, Bounded]]
    confidence: float
    values: Array
    study: Study
    notes: tuple[str, ...]

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the measures."""
        return tuple(self.indices)

    def __getitem__(self, measure: str) -> Mapping[str, Bounded]:
        check_measure(measure, self.measures, WHAT)
        return self.indices[measure]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A row for each measure, part and index, as for a table."""
        return [
            {"measure": measure, "part": part, "index": index, "value": value, "low": low, "high": high}
            for measure, found in self.indices.items()
            for index, bounded in found.items()
            for part, value, low, high in _by_part(self.parts, bounded)
        ]

    @property
    def count(self) -> int:
        """How many points of the design have a measure; others failed or wait. Equal points are one item."""
        return int(np.sum(~np.isnan(self.values).all(axis=1)))

    @property
    def heading(self) -> str:
        """How the indices were found, from how many items, and how sure their intervals are."""
        percent = f"{100.0 * self.confidence:g} %"
        return (
            f"Sensitivity by the method '{self.method}' from {self.count} points of its design; intervals of {percent}"
        )

    def sheet(self) -> Sheet:
        """The indices with their intervals, notes about them, and the status of the study."""
        data = hidden(results=self.rows), hidden(notes=self.notes)
        status, plot = status_parts(self.study), Plot(self, "The indices of the parts.")
        parts = (Note(self.heading, key="found"), *data, *self._tables(), *map(Note, self.notes), *status, plot)
        return Sheet("Sensitivity of", self.study.name, parts)

    def _tables(self) -> Iterator[Table]:
        """For each measure, the indices of parts, and those of pairs of parts; the most important ones come first."""
        for measure, found in self.indices.items():
            for dimensions, title in ((1, "indices of {measure}"), (2, "interactions of two parts in {measure}")):
                chosen = {name: one for name, one in found.items() if one.value.ndim == dimensions}
                own = {name: list(_by_part(self.parts, one)) for name, one in chosen.items()}
                most = own.get("mu_star") or own.get("total") or own.get("second") or []
                order = sorted(range(len(most)), key=lambda k: -most[k][1] if most[k][1] == most[k][1] else math.inf)
                rows = [(most[k][0], *(value for rows in own.values() for value in rows[k][1:])) for k in order]
                heads = [head for name in own for head in (name.replace("_star", "*"), "low", "high")]
                columns = (Field("", "part", form="name"), *(Field("", head, form=6) for head in heads))
                yield Table("", columns, rows, said(title, measure=measure))

    def __repr__(self) -> str:
        return f"Sensitivity({self.method}; {', '.join(self.measures)}; {counted(len(self.parts), 'part')})"


def sensitivity(
    model: Any,
    space: Space | Mapping[str, Any],
    measures: Any = (),
    *,
    method: Method = "sobol",
    count: int | None = None,
    second: bool = False,
    levels: int = LEVELS,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
    seed: int | None = None,
    store: str | Path | None = None,
    **options: Any,
) -> Sensitivity:
    """Tells how much measures depend on each part of a space.

    `space`        a Space, of which parts and seed are used, or {name: Range, Choice or a distribution}
    `measures`     as in `sweep`
    `method`       "sobol" or "morris"
    `count`        rows of the design for "sobol", a power of two (1024 by default); trajectories for "morris" (20)
    `second`       with "sobol": also the interactions of two parts, with nearly twice as many items
    `levels`       with "morris": how many values of each part are tried, an even number
    `resamples`    with "morris": of the bootstrap, by which the intervals of sigma are found
    `seed`         of the design; that of the space by default
    `store`, `options`      as in `sweep`

    Items of a smaller `count` are those of a larger one too, so that a study with a store can be refined.
    """
    plan = SensitivityPlan(method, count, second, levels, confidence, resamples, seed)
    with measured_items(model, space_of(space, WHAT, 1), measures, {"store": store, **options}) as measured:
        return analyzed(measured, plan)


def analyzed(measured: MeasuredItems, plan: SensitivityPlan) -> Sensitivity:
    """The indices from items that are measured, or were: what `sensitivity` returns."""
    space, method = measured.space, plan.method
    alpha = alpha_of(plan.confidence, WHAT)
    if method not in COUNTS:
        raise UnsupportedError(f"{WHAT}: the method is {method!r}, expected one of {listed(COUNTS)}.")
    count = COUNTS[method] if plan.count is None else plan.count
    check_varies(space, WHAT)
    if space.when:
        raise UnsupportedError(
            f"{WHAT}: {listed(space.when)} apply to some items only, expected parts that vary independently of each "
            "other. Make a study for each case."
        )
    asked = _Asked(count, seed_of_study(plan.seed, space, WHAT), alpha, plan.resamples, plan.second, plan.levels)
    values, indices, notes = METHODS[method](measured, asked)
    return Sensitivity(method, space.dimensions, indices, plan.confidence, values, measured.study, tuple(notes))


class _Asked(NamedTuple):
    """The options of a study that its method reads."""

    rows: int
    seed: int
    alpha: float
    resamples: int
    second: bool
    levels: int


class _Found(NamedTuple):
    """What a method found: all measures (items, k), the indices by measure, and notes."""

    values: Array
    indices: dict[str, dict[str, Bounded]]
    notes: list[str]


def _sobol(measured: MeasuredItems, asked: _Asked) -> _Found:
    """The indices of Sobol. Rows of the design are independent, and an index needs all items of a row."""
    space, parts = measured.space, len(measured.space.dimensions)
    count = asked.rows
    if not is_whole(count) or count < FEWEST_ROWS or count & (count - 1):
        raise UnsupportedError(
            f"{WHAT}: count is {count!r}, expected a power of two of {FEWEST_ROWS} or more. Use 1024."
        )
    points = saltelli_points(count, parts, asked.seed, second=asked.second)
    blocks = len(points)
    # items in the order of rows, so that an interruption leaves whole rows
    values, states = measured.values(space.at(np.swapaxes(points, 0, 1).reshape(-1, parts)))
    waiting = (states.reshape(count, blocks) == WAITING).any(axis=1)
    tried = count - int(waiting.sum())
    notes = _unfinished(count - tried, count, "row")
    indices: dict[str, dict[str, Bounded]] = {}
    for name, column in zip(measured.names, values.T, strict=True):
        rows = column.reshape(count, blocks)
        missing = int((np.isnan(rows).any(axis=1) & ~waiting).sum())
        notes += _missing_rows(name, missing, tried)
        whole = saltelli_values(rows.T, parts)
        enough = len(whole.a) >= FEWEST_ROWS and missing <= MOST_MISSING * tried
        if enough and np.ptp(np.concatenate([whole.a, whole.b])) == 0.0:
            notes.append(f"'{name}' is the same for all items, so that it has no indices.")
        used = whole if enough else saltelli_values(np.zeros((blocks, count)), parts)  # indices of zeros are NaN
        indices[name] = sobol_indices_of(used, asked.alpha)
    return _Found(values, indices, notes)


def _missing_rows(name: str, missing: int, count: int) -> Iterator[str]:
    """A note about rows of the design that have no value of a measure.

    Leaving out a row whose items fail makes the rows of A and B that stay depend on each other, on which the estimators
    rely. A few rows change an index by little more than their share; many can change it by anything.
    """
    if missing > MOST_MISSING * count:
        yield (
            f"'{name}' has no indices: {missing} of {count} rows of the design have an item that failed. Without them "
            "parts would not vary independently. Narrow the ranges until at most "
            f"{100 * MOST_MISSING:g} % of the rows are missing."
        )
    elif missing:
        yield f"The indices of '{name}' are without {missing} of {count} rows of the design, in which an item failed."


def _morris(measured: MeasuredItems, asked: _Asked) -> _Found:
    """The elementary effects of Morris. Each is a sample of its own: one that is missing is left out."""
    space, names = measured.space, measured.space.dimensions
    _check_morris(space, asked)
    trajectories = morris_trajectories(asked.rows, len(names), asked.levels, asked.seed)
    open_ends = {name: _open_ends(space.parts[name]) for name in names}
    low = np.array([TAIL * open_ends[name][0] for name in names])
    high = np.array([1.0 - TAIL * open_ends[name][1] for name in names])
    points = low + (high - low) * trajectories.points
    trajectories = trajectories._replace(steps=_steps(trajectories, [space.parts[name] for name in names]))
    values, states = measured.values(space.at(points.reshape(-1, len(names))))
    notes = _unfinished(int((states == WAITING).sum()), len(states), "item")
    cut = [name for name, ends in open_ends.items() if any(ends)]
    if cut:
        notes.append(
            f"{listed(cut)}: a distribution without ends is varied between its quantiles of {100 * TAIL:g} % and "
            f"{100 * (1 - TAIL):g} %, and effects are those from one to the other."
        )
    indices: dict[str, dict[str, Bounded]] = {}
    for name, column in zip(measured.names, values.T, strict=True):
        effects = elementary_effects(column.reshape(asked.rows, -1), trajectories)
        missing = np.isnan(effects).sum(axis=0)
        if missing.any():
            fewest = names[int(np.argmax(missing))]
            notes.append(
                f"'{name}' misses {int(missing.sum())} of {effects.size} effects, since an item failed or waits; "
                f"'{fewest}' has the fewest, {asked.rows - int(missing.max())}. Effects near failures are not seen."
            )
        indices[name] = morris_indices(effects, asked.alpha, asked.resamples, asked.seed)
    return _Found(values, indices, notes)


def _check_morris(space: Space, asked: _Asked) -> None:
    """Refuses options and parts that the method of Morris cannot use."""
    if not is_whole(asked.rows) or asked.rows < 2:
        raise UnsupportedError(f"{WHAT}: count is {asked.rows!r}, expected a whole number of 2 or more trajectories.")
    if not is_whole(asked.resamples) or asked.resamples < 1:
        raise UnsupportedError(f"{WHAT}: resamples is {asked.resamples!r}, expected a whole number of 1 or more.")
    if not is_whole(asked.levels) or asked.levels < 2 or asked.levels % 2:
        raise UnsupportedError(f"{WHAT}: levels is {asked.levels!r}, expected an even number, such as {LEVELS}.")
    for name in space.dimensions:
        labels = space.parts[name].labels
        if len(labels) > 2:
            raise UnsupportedError(
                f"{WHAT}: the part '{name}' has {len(labels)} labels, which have no order, expected numbers or two "
                'labels. Use method="sobol", or vary two of them.'
            )


METHODS: dict[str, Callable[[MeasuredItems, _Asked], _Found]] = {"sobol": _sobol, "morris": _morris}


def _steps(trajectories: Trajectories, parts: Sequence[Part]) -> Array:
    """The steps of trajectories (r, d), as shares of the range of the part that changes.

    A part with a list of values changes by whole values, ranked from the smallest to the largest in whatever order they
    are given: a step between two values is the whole range.
    """
    places = trajectories.points.copy()
    for k, part in enumerate(parts):
        if part.listed and part.size:
            ranks = np.argsort(np.argsort(part.grid()))
            places[..., k] = ranks[index_at(places[..., k], part.size)] / (part.size - 1)
    found: Array = np.take_along_axis(np.diff(places, axis=1), trajectories.order[..., None], axis=2)[..., 0]
    return found


def _open_ends(part: Part) -> tuple[bool, bool]:
    """Whether the values of a part have no lower end, and no upper one, or do not come near to it."""
    if not isinstance(part, Distribution):
        return False, False
    usual = float(np.ptp(part.at(np.array([TAIL, 1.0 - TAIL]))))
    with np.errstate(all="ignore"):
        ends = part.quantiles(np.array([0.0, 1.0]))
        is_far = ~(np.abs(part.at(np.array([0.0, 1.0])) - ends) < NEAR * usual)
    return part.low is None and bool(is_far[0]), part.high is None and bool(is_far[1])


def _unfinished(missing: int, count: int, noun: str) -> list[str]:
    """What is said of a study of which some rows or items wait for a result."""
    told = f"The study is not finished: {missing} of {counted(count, noun)} wait. {GO_ON}"
    return [told] if missing else []


def _by_part(parts: tuple[str, ...], bounded: Bounded) -> Iterator[tuple[str, float, float, float]]:
    """The rows of a table: a name, the value and its interval; pairs of parts for interactions."""
    if bounded.value.ndim == 1:
        yield from zip(parts, *(column.tolist() for column in bounded), strict=True)
        return
    for i, part in enumerate(parts):
        for j in range(i + 1, len(parts)):
            value, low, high = (float(column[i, j]) for column in bounded)
            yield f"{part}, {parts[j]}", value, low, high
