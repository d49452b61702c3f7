"""Items that are simulated: runs in batches, their measures, and the causes of failures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.searches.law_values import LawValues, final_inputs
from kinemorph.analysis.searches.named_laws import named_law
from kinemorph.errors import KinemorphError, ShapeError, UnsupportedError, told
from kinemorph.plants.programs import Plant
from kinemorph.plants.user_laws import Law
from kinemorph.simulation.results.batch_run import BatchRun
from kinemorph.simulation.results.columns import sources
from kinemorph.simulation.results.quantities import is_quantity, unit_of
from kinemorph.simulation.results.segment import Segment
from kinemorph.simulation.results.stops import begun_beyond
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.studies.experiments.collected import Places
from kinemorph.studies.experiments.function_models import FAILURES, called, failure
from kinemorph.studies.experiments.measures import Measure, number_of
from kinemorph.studies.experiments.setups import Setup
from kinemorph.studies.items import Indices, Items

ROOM = 2**27  # [bytes] that the samples of one batch may take
LEAST = 64  # items of one batch, where there are so many
SAMPLES = ("t", "q", "v", "x", "m", "u", "p")  # arrays of a segment


class Simulated:
    """The simulation of items by one setup, and its measures."""

    def __init__(self, setup: Setup, measures: Sequence[Measure]) -> None:
        self.setup = setup
        self.laws = [measure for measure in measures if not measure.of_run]
        self.functions = [measure for measure in measures if measure.of_run]
        self._values: dict[int, tuple[Plant, LawValues]] = {}  # by the id of the plant

    def check(self) -> None:
        """Raises KinemorphError for names and laws that do not fit the model."""
        self.setup.check()
        for measure in self.functions:
            measure.check(self.setup.plant)
        for k, measure in enumerate(self.laws):
            try:
                _ = LawValues(self.setup.plant, {str(k): self._law(self.setup.plant, measure)}).program
            except KinemorphError as error:
                raise error.concerning("measure", measure.name) from None
            except FAILURES as error:  # of a user's law, which is called with names in place of numbers
                failed = UnsupportedError(f"measure '{measure.name}' failed with {told(error)}.")
                raise failed.concerning("measure", measure.name) from None

    @property
    def units(self) -> dict[str, str]:
        """The units of parts, and of measures that are columns of the run or their extremes, by name."""
        plant = self.setup.plant
        columns = {name: source.column.unit for name, source in sources(Segment.empty(plant)).items()}
        found = {
            name: getattr(plant, group)[plant.index(group, column)].unit
            for name, (group, column) in self.setup.places.items()
            if group != "option"
        }
        for measure in (*self.laws, *self.functions):
            column = measure.extreme[1] if measure.extreme else str(measure.law).replace("`", "")
            found[measure.name] = unit_of(column) if is_quantity(column) else columns.get(column, "")
        return found

    def _law(self, plant: Plant, measure: Measure) -> Law:
        what = "measure" if measure.name == measure.law else f"measure '{measure.name}': the text"
        return named_law(plant, measure.law, what=what)

    def _laws(self, plant: Plant) -> LawValues:
        """The laws of the measures, compiled for a plant."""
        if id(plant) not in self._values:
            laws = {str(k): self._law(plant, measure) for k, measure in enumerate(self.laws)}
            self._values[id(plant)] = plant, LawValues(plant, laws)
        return self._values[id(plant)][1]

    # ── many items ────────────────────────────────────────────────────────────────────────────────────────────────

    def compute(self, items: Items, places: Places, threads: int | None) -> list[str]:
        """Simulates and measures items; returns sentences for the user."""
        values = {name: items.column(name).numbers for name in self.setup.places if name in items.names}
        values = {name: numbers for name, numbers in values.items() if name not in self.setup.fixed}
        if self.setup.alone:
            for k in range(items.count):
                self._compute_one({name: float(numbers[k]) for name, numbers in values.items()}, places, k)
            return [*self.setup.notes, f"{self.setup.alone} The items are simulated one by one."]
        rows = np.arange(items.count)
        if self.setup.inertial:
            rows = self._possible(values, places)
        sentences: dict[str, None] = {}
        options = [numbers for name, numbers in values.items() if self.setup.places[name][0] == "option"]
        places.collected.batched = not options  # runs with options of their own are no lanes of one batch
        for equal in _equal([numbers[rows] for numbers in options], len(rows)):
            chosen = rows[equal]
            for piece in np.split(chosen, range(self._most, len(chosen), self._most)):
                of_piece = {name: numbers[piece] for name, numbers in values.items()}
                sentences |= self._compute_piece(of_piece, places.taken(piece), threads)
        return [*self.setup.notes, *sentences]

    def _possible(self, values: Mapping[str, Array], places: Places) -> Indices:
        """The rows whose inertial numbers bodies and joints can have; the others fail."""
        rows = []
        for k in range(len(places.indices)):
            problem = self.setup.impossible({name: float(numbers[k]) for name, numbers in values.items()})
            if problem:
                places.fail(k, problem)
            else:
                rows.append(k)
        return np.array(rows, dtype=np.int64)

    @property
    def _most(self) -> int:
        """How many items go into one batch: its samples must not take too much memory."""
        plant = self.setup.plant
        each = 8 * len(self.setup.times) * (plant.nq + plant.nv + plant.nx + len(plant.m))
        return max(LEAST, ROOM // max(each, 1))

    def _compute_piece(self, values: Mapping[str, Array], places: Places, threads: int | None) -> dict[str, None]:
        """Simulates and measures as many items as one batch may have; returns sentences for the user as keys."""
        sentences: dict[str, None] = {}
        samples = places.collected.chunk.keep == "all"
        for rows, batch in self._batches(values, np.arange(len(places.indices)), places, samples, threads):
            of_batch = places.taken(rows)
            self._measure(batch, of_batch)
            begun = begun_beyond(self.setup.plant, batch.q[:, 0])
            sentences |= {f"{begun}. Initial values q, or a start, of the run choose others.": None} if begun else {}
            kept = [k for k in range(len(rows)) if of_batch.wants_run(k)]
            if kept and not samples:
                again = {name: numbers[rows[kept]] for name, numbers in values.items()}
                whole = self.setup.batch(again, len(kept), samples=True, threads=threads)
                for k, run in zip(kept, whole, strict=True):
                    of_batch.keep(k, run)
            elif kept:
                for k in kept:
                    of_batch.keep(k, batch[k])
        return sentences

    def _batches(
        self, values: Mapping[str, Array], rows: Indices, places: Places, samples: bool, threads: int | None
    ) -> Iterator[tuple[Indices, BatchRun]]:
        """(rows, their batch) for the given rows of the values.

        Initial values that no run can begin with are an error of the whole batch. It is halved until the guilty items
        are alone; these fail.
        """
        try:
            of_rows = {name: numbers[rows] for name, numbers in values.items()}
            batch = self.setup.batch(of_rows, len(rows), samples=samples, threads=threads)
        except FAILURES as error:
            if len(rows) == 1:
                places.fail(int(rows[0]), failure(_of_item(error)))
                return
            half = len(rows) // 2
            for part in (rows[:half], rows[half:]):
                yield from self._batches(values, part, places, samples, threads)
            return
        if batch.interrupted:
            raise KeyboardInterrupt
        yield rows, batch

    def _measure(self, batch: BatchRun, places: Places) -> None:
        """Stores the measures of the items of a batch."""
        for k, message in batch.failures.items():
            places.fail(k, message)
        ok = np.flatnonzero(batch.ok)
        values = self._laws(batch.plant).at(final_inputs(batch, ok)) if self.laws else np.empty((len(ok), 0))
        for j, measure in enumerate(self.laws):
            places.write(measure.name, ok, values[:, j])
        for row in np.flatnonzero(~np.isfinite(values).all(axis=1)).tolist():
            j = int(np.flatnonzero(~np.isfinite(values[row]))[0])
            cause = f"measure '{self.laws[j].name}' is {values[row, j]}; expected a finite number."
            places.fail(int(ok[row]), cause)
        for k in ok.tolist() if self.functions else ():
            self._call(batch[k], places, k)

    def _call(self, run: Trajectory, places: Places, k: int) -> None:
        """Stores the measures of item k that are functions of its run."""
        for measure in self.functions if not places.has_failed(k) else ():
            try:
                places.write(measure.name, k, number_of(called(measure, _copied(run)), measure.name))
            except UnsupportedError as error:
                places.fail(k, str(error))
                return

    # ── one item ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _compute_one(self, values: Mapping[str, float], places: Places, k: int) -> None:
        try:
            run = self.setup.single(values)
        except FAILURES as error:
            places.fail(k, failure(error))
            return
        self.measure_run(run, places, k)

    def measure_run(self, run: Trajectory, places: Places, k: int) -> None:
        """Stores the measures of the single run of item k, and the run where it is to be kept."""
        if run.outcome.kind == "interrupted":
            raise KeyboardInterrupt
        if run.outcome.kind == "failed":
            places.fail(k, run.outcome.message)
        else:
            self._measure_end(run, places, k)
            self._call(run, places, k)
        if places.wants_run(k):
            places.keep(k, run)

    def _measure_end(self, run: Trajectory, places: Places, k: int) -> None:
        """Stores the measures of item k that are laws of the final state of its run."""
        if not self.laws:
            return
        last = run.segments[-1]
        s = np.concatenate([np.zeros(last.plant.nv), last.v[-1], last.x[-1]])
        state: tuple[Any, ...] = (last.t[-1], last.q[-1], s, last.m[-1], last.u[-1], last.p)
        try:
            (values,) = self._laws(last.plant).at(tuple(np.asarray(part)[None] for part in state))
            for measure, value in zip(self.laws, values, strict=True):
                places.write(measure.name, k, number_of(value, measure.name))
        except KinemorphError as error:
            places.fail(k, str(error))

    def run(self, values: Mapping[str, float]) -> Trajectory:
        """The run of one item with all its samples."""
        if self.setup.alone:
            return self.setup.single(values)
        try:
            arrays = {name: np.array([value]) for name, value in values.items()}
            batch = self.setup.batch(arrays, 1, samples=True, threads=1)
        except ShapeError as error:
            raise _of_item(error) from None
        return batch[0]


def _of_item(error: BaseException) -> BaseException:
    """The error of a batch of one item, without the number of the item in its batch."""
    is_numbered = isinstance(error, KinemorphError) and error.about[0] == "state"
    return error.__cause__ if is_numbered and error.__cause__ is not None else error


def _copied(run: Trajectory) -> Trajectory:
    """The run with arrays of its own: what a measure writes to them reaches neither other measures nor a kept run."""
    segments = (
        replace(segment, **{name: getattr(segment, name).copy() for name in SAMPLES}) for segment in run.segments
    )
    return replace(run, segments=tuple(segments))


def _equal(columns: Sequence[Array], count: int) -> Iterator[Indices]:
    """The rows, of `count` rows, whose numbers in all columns are equal."""
    if not columns:
        yield np.arange(count)
        return
    place = np.unique(np.stack(columns), axis=1, return_inverse=True)[1].reshape(-1)
    yield from np.split(np.argsort(place, kind="stable"), np.cumsum(np.bincount(place))[:-1])
