"""The store of a study: declares items, records results, and reads them as a table.

    with open_store("gaits.study") as store:
        numbers = store.declare(items)              # numbers of these items in the store
        store.check_aspects(experiment.aspects)     # refuses where something changed that determines results
        for number in store.without_result(numbers): ...
        store.record([outcome])                     # returns when the disk has it
        table = store.table()

What `record` was called for is in the file when it returns: a crash, a kill or a loss of power after that loses nothing
(SQLite with synchronous = FULL). There is one writer, and readers at any time.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType

import numpy as np

from kinemorph.errors import ChangedError, Problem, StorageError, UnsupportedError
from kinemorph.studies.items import Indices, Items
from kinemorph.studies.outcomes import Outcome
from kinemorph.studies.store.aspects import MEASURE, Changed, difference
from kinemorph.studies.store.checks import Results, aspects_digest
from kinemorph.studies.store.contents import Contents, transaction
from kinemorph.studies.store.failures import store_error
from kinemorph.studies.store.files import Mode, StoreFile, opened_file
from kinemorph.studies.store.kept_runs import KeptRuns
from kinemorph.studies.store.known_items import KnownItems
from kinemorph.studies.store.layout import (
    OWN,
    missing_parts,
    read_layout,
    with_columns,
    with_measures,
    write_text,
)
from kinemorph.studies.store.rows import insert_items, insert_results
from kinemorph.studies.store.table import TOGETHER, WAITING, Table, keys_of


def open_store(path: str | Path | None = None, mode: Mode = "write") -> Store:
    """Opens the store of a study, or makes it where there is none; without a path it is in memory.

    `mode`      "write": one process at a time may open it so; "read": any number, also while another one writes

    Damaged rows are left out, reported by a StorageWarning, and waiting again. Raises StorageError with one sentence
    where the file is not a store, cannot be opened, is from a newer version, or has another writer.
    """
    file, contents = opened_file(None if path is None else Path(path), mode)
    return Store(file, contents)


class Store:
    """The items and results of a study, made by `open_store`."""

    def __init__(self, file: StoreFile, contents: Contents) -> None:
        self._file = file
        self._runs = KeptRuns(file.path)
        self._units: dict[str, str] = {}  # of parts and measures, for columns that are added
        self._lock = threading.RLock()  # calls of several threads go one after the other
        self._take(contents)

    def _take(self, contents: Contents) -> None:
        """Remembers what the file has."""
        self._is_current = True  # False while the file may have more: Ctrl-C can come right behind a commit
        self._texts, self._layout = contents.texts, read_layout(contents.texts)
        self._digest = aspects_digest(contents.aspects)
        self._known = KnownItems(contents.table.numbers, contents.table.keys, contents.table.states)

    @property
    def path(self) -> Path | None:
        """The file of the store; None for a store in memory."""
        return self._file.path

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about what was found damaged when the store was opened or read."""
        return tuple(self._file.notes)

    def close(self) -> None:
        """Closes the file, and lets others write to it."""
        with self._lock:
            self._file.close()

    def __del__(self) -> None:
        with suppress(Exception):  # one that was forgotten would keep others from writing
            self._file.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ── items ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def declare(self, items: Items, units: Mapping[str, str] | None = None) -> Indices:
        """The numbers of these items in the store, shape (n,); new items are added in one transaction.

        Known items keep their numbers; new ones get the next numbers in their order, each once. `units` are
        those of parts and measures by name, for columns that the store does not have yet.
        """
        self._units |= units or {}
        keys = keys_of(items)
        with self._lock:
            self._look()
            numbers, places = self._known.numbered(keys)
            missing = missing_parts(self._layout, items.columns)
            missing = [place._replace(unit=self._units.get(place.name, place.unit)) for place in missing]
            if len(places) or missing:
                with self._writing() as connection:
                    layout = with_columns(connection, self._layout, missing)
                    for start in range(0, len(places), TOGETHER):
                        block = places[start : start + TOGETHER]
                        insert_items(connection, layout, numbers[block], keys[block], items.taken(block))
                self._layout = layout
                self._known.add(numbers[places], keys[places])
                self._is_current = True
            return numbers

    def without_result(self, numbers: Indices) -> Indices:
        """Those of these items that are waiting for a result, each once and in their order."""
        numbers = np.asarray(numbers, dtype=np.int64)
        with self._lock:
            self._require(numbers)
            waiting = numbers[self._known.states[numbers] == WAITING]
        first = np.unique(waiting, return_index=True)[1]
        found: Indices = waiting[np.sort(first)]
        return found

    def _require(self, numbers: Indices) -> None:
        unknown = numbers[~self._known.has(numbers)]
        if len(unknown):
            raise UnsupportedError(f"store: item {unknown[0]} was not declared. Declare items before their results.")

    # ── results ───────────────────────────────────────────────────────────────────────────────────────────────────

    def record(self, outcomes: Sequence[Outcome]) -> None:
        """Writes results in one transaction, and returns when the disk has them.

        An item that has a result keeps it. Kept runs are written before. Raises StorageError where the disk is full or
        fails; then none of these results are recorded, and all earlier ones are kept.
        """
        with self._lock:
            self._look()
            fresh = list(self._fresh(outcomes))
            names = [name for results in fresh for name in results.names]
            with self._writing() as connection:
                layout = with_measures(connection, self._layout, names, self._units)
                for results in fresh:
                    insert_results(connection, layout, self._digest, self._known.keys[results.numbers], results)
            self._layout = layout
            for results in fresh:
                self._known.states[results.numbers] = results.states
            self._is_current = True

    def _fresh(self, outcomes: Sequence[Outcome]) -> Iterator[Results]:
        """The results of items that have none yet, each item once; their kept runs are on the disk."""
        seen = np.empty(0, dtype=np.int64)
        for outcome in outcomes:
            numbers = np.asarray(outcome.numbers, dtype=np.int64)
            self._require(numbers)
            rows = np.sort(np.unique(numbers, return_index=True)[1])
            rows = rows[(self._known.states[numbers[rows]] == WAITING) & ~np.isin(numbers[rows], seen)]
            chosen = numbers[rows]
            seen = np.concatenate([seen, chosen])
            kept = set(chosen.tolist()) if outcome.causes or outcome.runs else set()
            yield Results(
                chosen,
                np.asarray(outcome.states, dtype=np.int8)[rows],
                outcome.names,
                np.asarray(outcome.measures, dtype=float)[rows] + 0.0,  # SQLite has no minus zero
                {number: cause for number, cause in outcome.causes.items() if number in kept},
                {number: self._runs.write(data) for number, data in outcome.runs.items() if number in kept},
            )

    def attach_runs(self, runs: Mapping[int, bytes]) -> None:
        """Keeps the runs of items that have results, as the bytes of .npz files by number, in one transaction.

        An item that has a kept run gets this one in its place.
        """
        if not runs:
            return
        with self._lock:
            self._look()
            numbers = np.array(sorted(runs), dtype=np.int64)
            self._require(numbers)
            waiting = self.without_result(numbers)
            if len(waiting):
                raise UnsupportedError(f"store: item {waiting[0]} has no result yet. Record it with its run.")
            table = self.table()
            rows = table.rows(numbers)
            names = {number: self._runs.write(data) for number, data in runs.items()}
            causes = {number: table.causes[number] for number in runs if number in table.causes}
            results = Results(numbers, table.states[rows], table.names, table.measures[rows], causes, names)
            with self._writing() as connection:
                connection.executemany("DELETE FROM results WHERE number = ?", zip(numbers.tolist()))
                insert_results(connection, self._layout, self._digest, self._known.keys[numbers], results)
            self._is_current = True

    def table(self) -> Table:
        """All items with their results.

        Measures are in the order in which they were declared. Those that a function returned without declaration are in
        alphabetical order, whichever result arrived first.
        """
        with self._lock:
            table, aspects = self._file.contents(self._known).table, self.aspects
        declared = [name for name in table.names if f"{MEASURE}{name}" in aspects]
        return table.arranged([*declared, *sorted({*table.names} - {*declared})])

    @property
    def has_results(self) -> bool:
        """Whether any item has a result."""
        return bool(self._known.states.any())

    def lost_runs(self, table: Table) -> set[int]:
        """The numbers of items in a table whose kept run has no file any more."""
        return {number for number, name in table.runs.items() if not self._runs.has_file(name)}

    def run_bytes(self, name: str) -> bytes:
        """The bytes of the .npz file of a kept run. Raises StorageError where it is missing or damaged."""
        return self._runs.read(name)

    def run_file(self, name: str) -> Path:
        """The .npz file of a kept run. Raises StorageError where it is missing or damaged."""
        self._runs.read(name)
        return self._runs.path(name)

    # ── facts ─────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def aspects(self) -> dict[str, str]:
        """What determines the results, by name; empty before the first `check_aspects`."""
        found: dict[str, str] = json.loads(self._texts["aspects"])
        return found

    def check_aspects(self, aspects: Mapping[str, str], changed: Changed = "refuse") -> None:
        """Stores what determines results, or compares it with what the store has.

        Raises ChangedError where something differs and there are results. With changed="recompute" these are forgotten
        instead; the file as it was is kept beside it. Further labels of a choice are no difference.
        """
        with self._lock:
            self._look()
            stored = self.aspects
            if self._known.states.any() and difference(stored, aspects):
                if changed == "refuse":
                    raise _changed(self.path, stored, aspects)
                self._take(self._file.forget_results())
                stored = {}
            wanted = {**(stored if self._known.states.any() else {}), **aspects}  # labels of earlier items stay
            if wanted == self.aspects:
                return
            self._write_texts({"aspects": json.dumps(dict(sorted(wanted.items())))})
            self._digest = aspects_digest(wanted)

    @property
    def facts(self) -> dict[str, str]:
        """Facts about the study by name, such as when the store was made; see `write_facts`."""
        return {name: value for name, value in self._texts.items() if name not in OWN}

    def write_facts(self, facts: Mapping[str, str]) -> None:
        """Adds facts about the study, or replaces them. They determine no results."""
        own = [name for name in facts if name in OWN]
        if own:
            raise UnsupportedError(f"store: '{own[0]}' is a name of its own. Give the fact another name.")
        with self._lock:
            self._write_texts({name: str(value) for name, value in facts.items()})

    def _write_texts(self, texts: Mapping[str, str]) -> None:
        with self._writing() as connection:
            for name, value in texts.items():
                write_text(connection, name, value)
        self._texts = {**self._texts, **texts}
        self._is_current = True

    def _look(self) -> None:
        """Makes sure that the store can be written, and that this object knows all that the file has."""
        self._file.writable()
        if not self._is_current:
            self._take(self._file.contents(None))

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction; errors of SQLite become a StorageError."""
        connection = self._file.writable()
        self._is_current = False
        try:
            with transaction(connection):
                yield connection
        except sqlite3.Error as error:
            raise store_error(self.path, error) from None
        except Exception:
            self._is_current = True  # nothing of this transaction is in the file
            raise


def _changed(path: Path | None, stored: Mapping[str, str], aspects: Mapping[str, str]) -> StorageError:
    what = f"'{path or 'store'}' has results of another study: {difference(stored, aspects)}"
    remedy = "Use another store, or changed='recompute' to compute all results again; the old ones are kept in a copy."
    return ChangedError(Problem("", "", what, remedy, rule="file"))
