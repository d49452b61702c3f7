"""Everything that a store has, in memory: read from its file with all checks, and written to a new one."""

from __future__ import annotations

import datetime
import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from kinemorph.studies.items import Items
from kinemorph.studies.store.checks import Results, aspects_digest
from kinemorph.studies.store.known_items import KnownItems
from kinemorph.studies.store.layout import (
    OWN,
    Layout,
    make_tables,
    missing_parts,
    read_layout,
    read_texts,
    with_columns,
    with_measures,
    write_text,
)
from kinemorph.studies.store.rows import (
    DamagedError,
    insert_items,
    insert_results,
    item_rows,
    items_from,
    joined_table,
    result_rows,
    results_from,
    sound_items,
    sound_results,
)
from kinemorph.studies.store.table import KEY, WAITING, Table


class Contents(NamedTuple):
    """The texts of a store by name, and its table."""

    texts: dict[str, str]
    table: Table

    @property
    def aspects(self) -> dict[str, str]:
        """What determines the results, by name."""
        found: dict[str, str] = json.loads(self.texts["aspects"])
        return found


def read_contents(connection: sqlite3.Connection, known: KnownItems | None = None) -> Contents:
    """Everything in the file of a store, as of one moment.

    Raises DamagedError or an error of SQLite where something does not pass its checks. Where `known` is given, items
    need only have the keys that are known: their values were compared with these before.
    """
    with snapshot(connection):
        texts = read_texts(connection)
        if texts is None:
            raise DamagedError
        layout = read_layout(texts)
        numbers, keys, items = items_from(layout, item_rows(connection, layout))
        if len(numbers) and (numbers[0] < 0 or (np.diff(numbers) <= 0).any()):
            raise DamagedError
        results, checks = results_from(layout, result_rows(connection, layout))
    is_sound = sound_items(keys, items) if known is None else known.keys[known.is_known] == keys
    digest = aspects_digest(json.loads(texts["aspects"]))
    if not np.all(is_sound) or not sound_results(digest, numbers, keys, results, checks).all():
        raise DamagedError
    return Contents(texts, joined_table(layout, numbers, keys, items, results))


def empty_contents() -> Contents:
    """What a new store has."""
    now = datetime.datetime.now(datetime.UTC).replace(microsecond=0)  # told to people, and used for nothing
    texts = {"aspects": "{}", "parts": "[]", "measures": "[]", "created": now.isoformat()}
    numbers, states = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int8)
    items = Items((), 0)
    return Contents(texts, Table(numbers, np.empty(0, dtype=KEY), items, (), np.empty((0, 0)), states, {}, {}))


def without_results(contents: Contents) -> Contents:
    """The same items, all of which are waiting, and no aspects."""
    table = contents.table
    states = np.full(len(table), WAITING, dtype=np.int8)
    waiting = Table(table.numbers, table.keys, table.items, (), np.empty((len(table), 0)), states, {}, {})
    return Contents({**contents.texts, "aspects": "{}"}, waiting)


def write_contents(connection: sqlite3.Connection, contents: Contents) -> None:
    """Writes everything to the file of a new store, in one transaction."""
    table = contents.table
    with transaction(connection):
        make_tables(connection)
        for name, value in contents.texts.items():
            if name not in OWN or name == "aspects":
                write_text(connection, name, value)
        layout = with_columns(connection, Layout(), missing_parts(Layout(), table.items.columns))
        layout = with_measures(connection, layout, table.names, table.units)
        insert_items(connection, layout, table.numbers, table.keys, table.items)
        rows = np.flatnonzero(table.states != WAITING)
        results = Results(
            table.numbers[rows], table.states[rows], table.names, table.measures[rows], table.causes, table.runs
        )
        insert_results(connection, layout, aspects_digest(contents.aspects), table.keys[rows], results)


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """A context in which everything is written, or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite has ended it itself after some errors
            connection.execute("ROLLBACK")
        raise


@contextmanager
def snapshot(connection: sqlite3.Connection) -> Iterator[None]:
    """A context in which everything is read as of one moment."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
