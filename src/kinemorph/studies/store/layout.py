"""The tables of the file, and which column has which part or measure.

    study       name, value, check          facts of the study; its parts, measures and aspects as JSON
    spare       name, value, check          the same rows again, on another page of the file
    items       number, key, a column for each part: REAL, or TEXT for labels
    results     number, state, cause, run, check, a REAL column for each measure

    "table"     a view for people: items with their results
    aspects     a view for people: name, text of everything that determines results

Columns of SQLite have no upper and lower case, and names of parts may have any characters: a column has the name of its
part where that is possible, and otherwise a similar one. Only its position says which part or measure a column has.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kinemorph.errors import UnsupportedError
from kinemorph.studies.items import Column
from kinemorph.studies.store.checks import text_check

APPLICATION = int.from_bytes(b"KmSt", "big")  # in the header of the file: by this number it is known as a store
VERSION = 1  # of this layout
PAGE = 4096  # bytes of a page of the file
MOST_COLUMNS = 1900  # of a table; SQLite allows 2000
OWN = ("schema", "parts", "measures", "aspects")  # rows of `study` that are no facts of the user
TABLES = (
    'CREATE TABLE study(name TEXT, value TEXT, "check" INTEGER)',
    'CREATE TABLE spare(name TEXT, value TEXT, "check" INTEGER)',
    "CREATE VIEW aspects AS SELECT key AS name, value AS text "
    "FROM json_each((SELECT value FROM study WHERE name = 'aspects'))",
)
FIXED = {"items": ("number", "key"), "results": ("number", "state", "cause", "run", "check")}
DECLARED = {
    "items": 'number INTEGER PRIMARY KEY, "key" BLOB',
    "results": 'number INTEGER PRIMARY KEY, state INTEGER, cause TEXT, run TEXT, "check" INTEGER',
}
INDEX = 'CREATE UNIQUE INDEX items_by_key ON items("key")'


class Place(NamedTuple):
    """What a column of the file has: the part or measure `name`, as labels or numbers, in the column `column`."""

    name: str
    column: str
    labels: bool = False
    unit: str = ""

    @property
    def declaration(self) -> str:
        """The column as it is declared in SQL."""
        return f"{quoted(self.column)} {'TEXT' if self.labels else 'REAL'}"


class Layout(NamedTuple):
    """The columns of parts in `items` and of measures in `results`, in their order."""

    parts: tuple[Place, ...] = ()
    measures: tuple[Place, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the measures."""
        return tuple(place.name for place in self.measures)


def quoted(name: str) -> str:
    """A name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def make_tables(connection: sqlite3.Connection) -> None:
    """The empty tables of a new store."""
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {VERSION}")
    for command in TABLES:
        connection.execute(command)
    for table in FIXED:
        _make_table(connection, table, ())
    write_layout(connection, Layout())
    write_text(connection, "aspects", "{}")
    write_text(connection, "schema", str(VERSION))


# ── rows of texts ─────────────────────────────────────────────────────────────────────────────────────────────────────


def write_text(connection: sqlite3.Connection, name: str, value: str) -> None:
    """Writes a row of `study`, twice."""
    for table in ("study", "spare"):
        connection.execute(f"DELETE FROM {table} WHERE name = ?", (name,))
        connection.execute(f"INSERT INTO {table} VALUES (?, ?, ?)", (name, value, text_check(name, value)))


def read_texts(connection: sqlite3.Connection) -> dict[str, str] | None:
    """The rows of `study` by name, or None where one of them or of their copies is damaged."""
    tables = [
        sorted(connection.execute(f'SELECT name, value, "check" FROM {table}').fetchall(), key=str)
        for table in ("study", "spare")
    ]
    if tables[0] != tables[1] or not all(passes(row) for row in tables[0]):
        return None
    texts = {name: value for name, value, _ in tables[0]}
    return texts if len(texts) == len(tables[0]) and all(name in texts for name in OWN) else None


def passes(row: Sequence[object]) -> bool:
    """Whether these values are a row of `study` that is not damaged."""
    if len(row) != 3:
        return False
    name, value, check = row
    return isinstance(name, str) and isinstance(value, str) and check == text_check(name, value)


# ── columns ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def read_layout(texts: dict[str, str]) -> Layout:
    """The columns that the rows of `study` describe."""
    parts, measures = (tuple(Place(*row) for row in json.loads(texts[name])) for name in ("parts", "measures"))
    return Layout(parts, measures)


def write_layout(connection: sqlite3.Connection, layout: Layout) -> None:
    """Writes which columns there are, and the view that shows them to people."""
    write_text(connection, "parts", json.dumps(layout.parts))
    write_text(connection, "measures", json.dumps(layout.measures))
    connection.execute('DROP VIEW IF EXISTS "table"')
    if len(layout.parts) + len(layout.measures) <= MOST_COLUMNS:
        connection.execute(_view(layout))


def with_columns(connection: sqlite3.Connection, layout: Layout, parts: Sequence[Place]) -> Layout:
    """Adds columns of parts to the file, and returns the new layout."""
    return _added(connection, layout, "items", parts)


def with_measures(
    connection: sqlite3.Connection, layout: Layout, names: Sequence[str], units: Mapping[str, str]
) -> Layout:
    """Adds columns of measures to the file where they are missing, with their units; returns the new layout."""
    missing = [name for name in dict.fromkeys(names) if name not in layout.names]
    return _added(connection, layout, "results", [Place(name, "", unit=units.get(name, "")) for name in missing])


def missing_parts(layout: Layout, columns: Sequence[Column]) -> list[Place]:
    """The parts of items for which there is no column yet. Raises UnsupportedError where numbers have become labels."""
    known = {place.name: place for place in layout.parts}
    for column in columns:
        place = known.get(column.name)
        if place is not None and place.labels != bool(column.labels):
            kinds = ("numbers", "labels")
            raise UnsupportedError(
                f"part '{column.name}': it has {kinds[not place.labels]}, but the store of the study has "
                f"{kinds[place.labels]} under this name. Give the part another name, or use another store."
            )
    return [Place(column.name, "", bool(column.labels), column.unit) for column in columns if column.name not in known]


def _added(connection: sqlite3.Connection, layout: Layout, table: str, places: Sequence[Place]) -> Layout:
    if not places:
        return layout
    is_items = table == "items"
    there = layout.parts if is_items else layout.measures
    if len(there) + len(places) > MOST_COLUMNS:
        kind = "parts" if is_items else "measures"
        raise UnsupportedError(
            f"study: it has {len(there) + len(places)} {kind}, but a store has at most {MOST_COLUMNS}. "
            f"Vary or measure fewer at a time."
        )
    used = {*FIXED[table], *(folded(place.column) for place in there)}
    new = tuple(place._replace(column=_free(place.name, used)) for place in places)
    there = (*there, *new)
    if connection.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone() is None:
        connection.execute('DROP VIEW IF EXISTS "table"')
        connection.execute(f"DROP TABLE {table}")
        _make_table(connection, table, there)  # hundreds of columns at once: SQLite adds them slowly, one by one
    else:
        for place in new:
            connection.execute(f"ALTER TABLE {table} ADD COLUMN {place.declaration}")
    layout = layout._replace(parts=there) if is_items else layout._replace(measures=there)
    write_layout(connection, layout)
    return layout


def _make_table(connection: sqlite3.Connection, table: str, places: Sequence[Place]) -> None:
    columns = ", ".join([DECLARED[table], *(place.declaration for place in places)])
    connection.execute(f"CREATE TABLE {table}({columns})")
    if table == "items":
        connection.execute(INDEX)


def folded(name: str) -> str:
    """A name as SQLite compares names of columns: letters from A to Z are small ones."""
    return "".join(letter.lower() if "A" <= letter <= "Z" else letter for letter in name)


def _free(name: str, used: set[str]) -> str:
    """A name of a column that is not used yet, and is remembered as used."""
    wanted = name.replace("\0", "\u2400") or "unnamed"
    column, number = wanted, 1
    while folded(column) in used:
        number += 1
        column = f"{wanted} ({number})"
    used.add(folded(column))
    return column


def _view(layout: Layout) -> str:
    """The view of items with their results."""
    used = {"number", "item", "state", "cause", "run"}
    shown = [
        f"{table}.{quoted(place.column)} AS {quoted(_free(place.column, used))}"
        for table, places in (("items", layout.parts), ("results", layout.measures))
        for place in places
    ]
    state = "CASE results.state WHEN 1 THEN 'done' WHEN 2 THEN 'failed' ELSE 'waiting' END AS state"
    fixed = ["items.number AS number", 'lower(hex(items."key")) AS item', state]
    columns = ", ".join([*fixed, *shown, "results.cause AS cause", "results.run AS run"])
    return f'CREATE VIEW "table" AS SELECT {columns} FROM items LEFT JOIN results ON results.number = items.number'
