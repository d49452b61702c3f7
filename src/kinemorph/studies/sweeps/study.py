"""`Study`: the items of a study with their results, as they were when it was read from its store.

study = load_study("gaits.study")
study["distance"], study.best("distance", 5), study.failed, study.item(7).run()
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.errors import UnsupportedError
from kinemorph.sheet import Sheet
from kinemorph.shown import ShownStudy, ShownStudyItem
from kinemorph.simulation.files.storage import load_trajectory
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.studies.dispatch.tally import Tally
from kinemorph.studies.experiments.experiment import Experiment
from kinemorph.studies.items import Indices, Items, Value
from kinemorph.studies.outcomes import State
from kinemorph.studies.store.export import to_dataframe, write_export
from kinemorph.studies.store.store import Store, open_store
from kinemorph.studies.store.table import Table
from kinemorph.words import counted, did_you_mean, quoted

if TYPE_CHECKING:
    import pandas

TITLED = 4  # values of an item in its title


class Status(NamedTuple):
    """How many items of a study are in which state."""

    items: int
    done: int
    failed: int

    @property
    def waiting(self) -> int:
        """The number of items that have no result yet."""
        return self.items - self.done - self.failed

    def __str__(self) -> str:
        wrong = f", {self.failed} failed" if self.failed else ""
        left = f", {self.waiting} waiting" if self.waiting else ""
        return f"{counted(self.items, 'item')}: {self.done} done{wrong}{left}"


@dataclass(frozen=True, eq=False)
class StudyItem(ShownStudyItem):
    """One item of a study: its values and its measures by name, and why it failed where it did."""

    study: Study
    number: int
    key: str  # the digest of its values, in hexadecimal digits
    values: Mapping[str, Value]
    measures: Mapping[str, float]
    cause: str

    def __repr__(self) -> str:
        texts = [f"{name} = {value!r}" for name, value in (*self.values.items(), *self.measures.items())]
        return f"<item {self.number}: {', '.join([*texts, *([self.cause] if self.cause else [])])}>"

    @property
    def title(self) -> str:
        """The study, the number of the item and its values, as a heading of what shows its run."""
        texts = {name: one if isinstance(one, str) else f"{one:.4g}" for name, one in self.values.items()}
        told = [f"{name} = {text}" for name, text in texts.items()]
        more = ", ..." if len(told) > TITLED else ""
        return f"{self.study.name}, item {self.number}: {', '.join(told[:TITLED])}{more}"

    def run(self) -> Trajectory:
        """The run of this item, computed again where the model is known, or the one that was kept."""
        return self.study.run_of(self.number)


@dataclass(frozen=True, eq=False, repr=False)
class Study(ShownStudy):
    """The items of a study with their results.

        study["distance"]                   a measure, or a part with numbers, of all items, shape (n,); NaN where an
                                            item has none
        study.best("distance", 5)           the items with the 5 smallest values; largest=True for the largest ones
        study.item(7)                       one item: .values, .measures, .run(), .replay("7.html")
        study.failed                        the items that failed, each with its cause
        study.status, study.is_complete     how many items are done, failed and waiting; whether none is waiting
        study.save("x.csv"), .to_dataframe(), .plot()

    `store` is the store it was read from. `experiment` is what was done with each item, None for a study that was read
    from a file. `tally` is the progress of the sweep that made it.
    """

    store: Store
    table: Table
    experiment: Experiment | None = None
    tally: Tally | None = None

    def __len__(self) -> int:
        """The number of items."""
        return len(self.table)

    def __repr__(self) -> str:
        return f"<Study '{self.name}', {self.status}>"

    def sheet(self) -> Sheet:
        """How many items have results, what was varied and measured, the best items, and why items failed."""
        from kinemorph.studies.sweeps.study_sheet import study_sheet

        return study_sheet(self)

    @property
    def name(self) -> str:
        """The name of the study; without one, that of its file."""
        return self.store.facts.get("name") or (self.path.stem if self.path else "study")

    @property
    def path(self) -> Path | None:
        """The file of the study; None where it is in memory only."""
        return self.store.path

    @property
    def items(self) -> Items:
        """The values of all items."""
        return self.table.items

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the measures."""
        return self.table.names

    @cached_property
    def status(self) -> Status:
        """How many items are done, failed and waiting."""
        states = self.table.states
        return Status(len(self), *(int(np.count_nonzero(states == state)) for state in (State.DONE, State.FAILED)))

    @property
    def is_complete(self) -> bool:
        """Whether every item has a result, be it a failure."""
        return self.status.waiting == 0

    def __getitem__(self, name: str) -> Array:
        """A measure, or a part with numbers, of all items, shape (n,)."""
        if name in self.table.names:
            return self.table.measure(name)
        if name in self.items.names:
            column = self.items.column(name)
            if column.labels:
                raise UnsupportedError(
                    f"study '{self.name}': '{name}' has choices and not numbers: {quoted(column.labels)}. Read them "
                    f"with study.items.column('{name}')."
                )
            numbers: Array = column.numbers
            return numbers
        known = (*self.table.names, *self.items.names)
        raise UnsupportedError(
            f"study '{self.name}' has neither a measure nor a part '{name}'; expected one of {quoted(known)}."
            f"{did_you_mean(name, known)}"
        )

    # ── items ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def item(self, number: int) -> StudyItem:
        """The item with this number; numbers begin at 0, in the order in which items were first listed."""
        row = int(np.searchsorted(self.table.numbers, number)) if isinstance(number, (int, np.integer)) else -1
        if not 0 <= row < len(self) or self.table.numbers[row] != number:
            raise UnsupportedError(f"study '{self.name}' has no item {number!r}; expected 0 to {len(self) - 1}.")
        is_done = self.table.states[row] == State.DONE
        measures = dict(zip(self.measures, self.table.measures[row].tolist(), strict=True)) if is_done else {}
        cause = self.table.causes.get(int(number), "")
        return StudyItem(self, int(number), self.table.key(row).hex(), self.items[row], measures, cause)

    def best(self, measure: str = "", count: int = 1, *, largest: bool = False) -> list[StudyItem]:
        """The items with the smallest values of a measure, or with the largest ones, best first.

        Without a name the only measure is meant. Among equal values the item that was listed first comes first.
        """
        return [self.item(number) for number in best_numbers(self.table, measure, count, largest=largest)]

    @property
    def failed(self) -> list[StudyItem]:
        """The items that failed."""
        return [self.item(int(number)) for number in self.table.numbers[self.table.states == State.FAILED]]

    def run_of(self, number: int) -> Trajectory:
        """The run of an item, computed again where the model is known, or the one that was kept."""
        if self.experiment is not None:  # with its equations, which a kept run does not have
            return self.experiment.run_of(self.item(number).values)
        name = self.table.runs.get(number)
        if name is None:
            raise UnsupportedError(
                f"study '{self.name}' keeps no run of item {number}, and was read without its experiment. Call sweep "
                "with the model and the measures of the study again, which computes nothing anew, or keep runs by "
                "keep='all'."
            )
        return load_trajectory(self.store.run_file(name))

    # ── out again ─────────────────────────────────────────────────────────────────────────────────────────────────

    def to_dataframe(self) -> pandas.DataFrame:
        """All items with their values, measures, states and causes as a pandas DataFrame, a row for each item."""
        return to_dataframe(self.table)

    def save(self, path: str | Path) -> Path:
        """Writes all items with their results to a .csv or .parquet file; returns the path."""
        return write_export(self.table, path)


def best_numbers(table: Table, measure: str, count: int, *, largest: bool) -> list[int]:
    """The numbers of the items with the smallest values of a measure, or the largest ones, best first."""
    if not measure and table.names:
        measure, *others = table.names
        if others:
            raise UnsupportedError(f"best: the study has several measures: {quoted(table.names)}. Name one of them.")
    if measure not in table.names:
        raise UnsupportedError(
            f"best: the measure is {measure!r}; expected one of {quoted(table.names)}."
            f"{did_you_mean(measure, table.names)}"
        )
    if not isinstance(count, int) or count < 1:
        raise UnsupportedError(f"best: count is {count!r}; expected a whole number, at least 1.")
    values = table.measure(measure)
    known: Indices = np.flatnonzero(~np.isnan(values))
    order = np.argsort(-values[known] if largest else values[known], kind="stable")
    return [int(number) for number in table.numbers[known[order[:count]]]]


def load_study(path: str | Path) -> Study:
    """Reads a study from the file of its store; nothing is computed or changed. Raises StorageError for other files."""
    with open_store(path, mode="read") as store:
        return Study(store, store.table())
