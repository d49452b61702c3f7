"""Stores of other versions: older ones are migrated, newer ones refused.

    0       tables study(name, value), aspects(name, text), items and results without checks; columns have the names of
            their parts and measures

A migration reads the old file and writes a new one; the old file is kept as "x.study.version-0".
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np

from kinemorph.studies.store.contents import Contents, snapshot
from kinemorph.studies.store.failures import is_trouble, problem, store_error
from kinemorph.studies.store.layout import VERSION, Layout, Place, passes
from kinemorph.studies.store.pages import is_our_header, version_of
from kinemorph.studies.store.rows import (
    DamagedError,
    item_rows,
    items_from,
    joined_table,
    result_rows,
    results_from,
    sound_items,
)


def migrated(path: Path) -> tuple[Contents, str] | None:
    """What an older store has, and the ending under which it is kept; None for a file that needs no migration.

    Raises StorageError for a store of a newer version.
    """
    with open(path, "rb") as file:
        header = file.read(100)
    if not is_our_header(header) or version_of(header) == VERSION:
        return None
    version = version_of(header)
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, isolation_level=None)
    try:
        if _states_this_version(connection):  # the number in the header is damaged, not the layout
            return None
        if version > VERSION:
            what = f"its layout has version {version}, but this Kinemorph knows versions up to {VERSION}"
            raise problem(path, what, "Update Kinemorph: pip install --upgrade kinemorph")
        with snapshot(connection):
            return READERS[version](connection), f"version-{version}"
    except (sqlite3.Error, DamagedError, KeyError, ValueError) as error:
        if isinstance(error, sqlite3.Error) and is_trouble(error):
            raise store_error(path, error, "opened") from None
        what = f"it has the layout of version {version}, and is damaged"
        raise problem(path, what, "Open it with the version of Kinemorph that wrote it.") from None
    finally:
        connection.close()


def _states_this_version(connection: sqlite3.Connection) -> bool:
    try:
        rows = connection.execute("SELECT * FROM study WHERE name = 'schema'").fetchall()
    except sqlite3.Error:
        return False
    return any(passes(row) and row[1] == str(VERSION) for row in rows)


def _version_0(connection: sqlite3.Connection) -> Contents:
    """The first layout, which had no checks but the keys of items."""
    layout = Layout(_places(connection, "items", 2), _places(connection, "results", 5))
    texts = dict(connection.execute("SELECT name, value FROM study"))
    texts["aspects"] = json.dumps(dict(connection.execute("SELECT name, text FROM aspects ORDER BY name")))
    texts["parts"], texts["measures"] = json.dumps(layout.parts), json.dumps(layout.measures)
    numbers, keys, items = items_from(layout, item_rows(connection, layout))
    results = results_from(layout, result_rows(connection, layout))[0]
    if not sound_items(keys, items).all() or not np.isin(results.numbers, numbers).all():
        raise DamagedError
    return Contents(texts, joined_table(layout, numbers, keys, items, results))


def _places(connection: sqlite3.Connection, table: str, fixed: int) -> tuple[Place, ...]:
    columns = connection.execute(f"PRAGMA table_info({table})").fetchall()[fixed:]
    return tuple(Place(name, name, kind == "TEXT") for _, name, kind, *_ in columns)


READERS: dict[int, Callable[[sqlite3.Connection], Contents]] = {0: _version_0}  # for each older version
