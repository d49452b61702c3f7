"""Rows of the file from arrays, and back, with their checks.

Rows are read and written by the ten thousand: what stays in memory are arrays, not an object for each item.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.studies.items import Column, Indices, Items, items_of
from kinemorph.studies.store.checks import Checks, Results, result_checks
from kinemorph.studies.store.layout import FIXED, Layout, Place, quoted
from kinemorph.studies.store.table import KEY, TOGETHER, WAITING, Keys, Table, keys_of

Row = Sequence[Any]


class DamagedError(Exception):
    """Rows of a store do not pass their checks, or cannot be read at all. Users see what was saved instead."""


# ── writing ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def insert_items(connection: sqlite3.Connection, layout: Layout, numbers: Indices, keys: Keys, items: Items) -> None:
    """Adds rows of items. `layout` has a column for each of their parts."""
    names = {place.name: place.column for place in layout.parts}
    columns = [quoted(names[column.name]) for column in items.columns]
    command = _insertion("items", [*FIXED["items"], *columns])
    for start in range(0, len(numbers), TOGETHER):
        chosen = slice(start, start + TOGETHER)
        values = [_values(column.taken(chosen)) for column in items.columns]
        key = map(bytes, keys[chosen].tolist())
        connection.executemany(command, zip(numbers[chosen].tolist(), key, *values, strict=True))


def insert_results(connection: sqlite3.Connection, layout: Layout, digest: bytes, keys: Keys, results: Results) -> None:
    """Adds rows of results. `layout` has a column for each measure; `keys` are those of the items."""
    names = {place.name: place.column for place in layout.measures}
    columns = [quoted(names[name]) for name in results.names]
    command = _insertion("results", [*map(quoted, FIXED["results"]), *columns])
    checks = result_checks(digest, keys, results)
    for start in range(0, len(results.numbers), TOGETHER):
        chosen = slice(start, start + TOGETHER)
        numbers = results.numbers[chosen].tolist()
        causes, runs = (map(texts.get, numbers) if texts else repeat(None, len(numbers)) for texts in results[4:6])
        measures = (results.measures[chosen, k].tolist() for k in range(len(columns)))
        rows = zip(
            numbers, results.states[chosen].tolist(), causes, runs, checks[chosen].tolist(), *measures, strict=True
        )
        connection.executemany(command, rows)


def _insertion(table: str, columns: Sequence[str]) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"


def _values(column: Column) -> list[Any]:
    """The values of a part as SQLite gets them; NaN becomes NULL there."""
    if not column.labels:
        return list(column.numbers.tolist())
    known = (*column.labels, None)  # index -1 is the last one
    return [known[index] for index in column.numbers.tolist()]


# ── reading ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def item_rows(connection: sqlite3.Connection, layout: Layout) -> Iterator[tuple[Any, ...]]:
    """All rows of items in the order of their numbers: number, key, and the value of each part."""
    return _selected(connection, "items", layout.parts)


def result_rows(connection: sqlite3.Connection, layout: Layout) -> Iterator[tuple[Any, ...]]:
    """All rows of results in the order of their numbers: number, state, cause, run, check, and each measure."""
    return _selected(connection, "results", layout.measures)


def _selected(connection: sqlite3.Connection, table: str, places: Sequence[Place]) -> Iterator[tuple[Any, ...]]:
    columns = [*map(quoted, FIXED[table]), *(quoted(place.column) for place in places)]
    cursor = connection.execute(f"SELECT {', '.join(columns)} FROM {table} ORDER BY number")
    cursor.arraysize = TOGETHER
    return chain.from_iterable(iter(cursor.fetchmany, []))


def items_from(layout: Layout, rows: Iterable[Row]) -> tuple[Indices, Keys, Items]:
    """Numbers, keys and values of items from their rows. Raises DamagedError where a row cannot be one of an item."""
    numbers: list[Indices] = []
    keys: list[bytes] = []
    readers = [_ColumnReader(place) for place in layout.parts]
    for columns in _columns(rows, 2 + len(readers)):
        numbers.append(np.array(columns[0], dtype=np.int64))
        if not all(type(key) is bytes and len(key) == KEY.itemsize for key in columns[1]):
            raise DamagedError
        keys.append(b"".join(columns[1]))
        for reader, values in zip(readers, columns[2:], strict=True):
            reader.read(values)
    found = _joined(numbers, np.int64)
    items = items_of([reader.column() for reader in readers]) if readers else Items((), len(found))
    return found, np.frombuffer(b"".join(keys), dtype=KEY), items


def results_from(layout: Layout, rows: Iterable[Row]) -> tuple[Results, Checks]:
    """Results and their checks from their rows. Raises DamagedError where a row cannot be one of a result."""
    numbers: list[Indices] = []
    states: list[npt.NDArray[np.int8]] = []
    checks: list[Checks] = []
    measures: list[npt.NDArray[np.float64]] = []
    causes: dict[int, str] = {}
    runs: dict[int, str] = {}
    for columns in _columns(rows, 5 + len(layout.measures)):
        numbers.append(np.array(columns[0], dtype=np.int64))
        states.append(_integers(columns[1], np.int8))
        checks.append(_integers(columns[4], np.int64))
        for texts, values in ((causes, columns[2]), (runs, columns[3])):
            if any(values):
                texts.update(pair for pair in zip(columns[0], values, strict=True) if pair[1] is not None)
        block = np.empty((len(columns[0]), len(layout.measures)))
        for k, values in enumerate(columns[5:]):
            block[:, k] = _numbers(values)
        measures.append(block)
    if not all(type(text) is str for text in chain(causes.values(), runs.values())):
        raise DamagedError
    table = np.concatenate(measures) if measures else np.empty((0, len(layout.measures)))
    results = Results(_joined(numbers, np.int64), _joined(states, np.int8), layout.names, table, causes, runs)
    return results, _joined(checks, np.int64)


def joined_table(layout: Layout, numbers: Indices, keys: Keys, items: Items, results: Results) -> Table:
    """The table of items and results, where each result belongs to one of the items."""
    rows = np.searchsorted(numbers, results.numbers)
    states = np.full(len(numbers), WAITING, dtype=np.int8)
    states[rows] = results.states
    if np.array_equal(rows, np.arange(len(numbers))):
        measures = results.measures
    else:
        measures = np.full((len(numbers), len(layout.measures)), np.nan)
        measures[rows] = results.measures
    units = {place.name: place.unit for place in layout.measures if place.unit}
    return Table(numbers, keys, items, layout.names, measures, states, results.causes, results.runs, units)


def sound_items(keys: Keys, items: Items) -> npt.NDArray[np.bool_]:
    """Which items have the key of their values, shape (n,)."""
    sound: npt.NDArray[np.bool_] = keys_of(items) == keys
    return sound


def sound_results(
    digest: bytes, numbers: Indices, keys: Keys, results: Results, checks: Checks
) -> npt.NDArray[np.bool_]:
    """Which results pass their checks, shape (n,). `numbers` and `keys` are those of all items, in ascending order."""
    if not len(numbers):
        return np.zeros(len(checks), dtype=bool)
    rows = np.minimum(np.searchsorted(numbers, results.numbers), len(numbers) - 1)
    sound: npt.NDArray[np.bool_] = result_checks(digest, keys[rows], results) == checks
    sound &= numbers[rows] == results.numbers
    return sound


class _ColumnReader:
    """Makes the column of a part from one column of the file, which is read piece by piece."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.index: dict[str, int] = {}
        self.pieces: list[npt.NDArray[Any]] = []

    def read(self, values: Row) -> None:
        if not self.place.labels:
            self.pieces.append(_numbers(values))
            return
        index = self.index
        found = [-1 if value is None else index.setdefault(value, len(index)) for value in values]
        if not all(type(label) is str for label in index):
            raise DamagedError
        self.pieces.append(np.array(found, dtype=np.int64))

    def column(self) -> Column:
        numbers = _joined(self.pieces, np.int64 if self.place.labels else np.float64)
        labels = tuple(self.index) or ("",) if self.place.labels else ()
        return Column(self.place.name, numbers, labels, self.place.unit)


def _columns(rows: Iterable[Row], width: int) -> Iterator[list[Row]]:
    """Rows as columns, TOGETHER of them at a time."""
    rows = iter(rows)
    while block := list(islice(rows, TOGETHER)):
        columns: list[Row] = list(zip(*block, strict=True))
        if len(columns) != width:
            raise DamagedError
        yield columns


def _numbers(values: Row) -> npt.NDArray[np.float64]:
    """Numbers of a column; NULL becomes NaN."""
    if not {float, int, type(None)}.issuperset(map(type, values)):
        raise DamagedError
    return np.array(values, dtype=np.float64)


def _integers(values: Row, kind: Any) -> npt.NDArray[Any]:
    if set(map(type, values)) - {int}:
        raise DamagedError
    try:
        return np.array(values, dtype=kind)
    except OverflowError:
        raise DamagedError from None


def _joined(pieces: Sequence[npt.NDArray[Any]], kind: Any) -> npt.NDArray[Any]:
    return np.concatenate(pieces) if pieces else np.empty(0, dtype=kind)
