"""A study as a table for other programs: CSV, Parquet, or a pandas DataFrame.

Rows are in the order of numbers, and have only what the study determines: the same study gives the same bytes, whoever
computed it, when, and in which order.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinemorph.durable_files import replacing
from kinemorph.errors import MissingExtraError, UnsupportedError
from kinemorph.studies.items import Column
from kinemorph.studies.store.table import TOGETHER, Table
from kinemorph.words import did_you_mean, guarded

if TYPE_CHECKING:
    import pandas

STATES = ("waiting", "done", "failed")


class Field(NamedTuple):
    """One column of an export: the column of a part or a measure, or a function that gives texts of some rows."""

    name: str
    column: Column | None
    texts: Callable[[slice], list[str | None]] = lambda rows: []

    def values(self, rows: slice) -> list[Any]:
        """Values for CSV, None where there is none."""
        if self.column is None:
            return self.texts(rows)
        numbers = self.column.numbers[rows].tolist()
        if self.column.labels:
            known = (*self.column.labels, None)  # index -1 is the last one
            return [known[index] for index in numbers]
        return [None if number != number else number for number in numbers]


def write_export(table: Table, path: str | Path) -> Path:
    """Writes a table to a file in the format of its ending, .csv or .parquet, and returns the path.

    A missing folder is made. Raises StorageError where the file cannot be written; then an older one is unchanged.
    """
    path = Path(path)
    write = FORMATS.get(path.suffix.lower())
    if write is None:
        hint = did_you_mean(path.suffix.lower(), FORMATS)
        raise UnsupportedError(f"'{path}': a study is written as {' or '.join(FORMATS)}, not '{path.suffix}'.{hint}")
    write(table, path)
    return path


def write_csv(table: Table, path: Path) -> None:
    """Writes comma-separated values (RFC 4180) in UTF-8; numbers are read back as the same ones.

    Texts that spreadsheets would take for formulas have an apostrophe in front.
    """
    columns = fields(table)
    with replacing(path) as part, open(part, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([guarded(field.name) for field in columns])
        for start in range(0, len(table), TOGETHER):
            rows = slice(start, start + TOGETHER)
            found = zip(*(field.values(rows) for field in columns), strict=True)
            writer.writerows([guarded(x) if isinstance(x, str) else x for x in row] for row in found)


def write_parquet(table: Table, path: Path) -> None:
    """Writes an Apache Parquet file by pyarrow; units are in the metadata of the columns."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("pyarrow", "parquet") from None
    arrays, schema = [], []
    for name, column, texts in fields(table):
        if column is None:
            arrays.append(pyarrow.array(texts(slice(None)), pyarrow.string()))
        elif column.labels:
            indices = pyarrow.array(column.numbers.astype(np.int32), mask=~column.applies)
            arrays.append(pyarrow.DictionaryArray.from_arrays(indices, list(column.labels)))
        else:
            arrays.append(pyarrow.array(column.numbers, mask=~column.applies))
        unit = {"unit": column.unit} if column is not None and column.unit else None
        schema.append(pyarrow.field(name, arrays[-1].type, metadata=unit))
    with replacing(path) as part:
        pyarrow.parquet.write_table(pyarrow.Table.from_arrays(arrays, schema=pyarrow.schema(schema)), part)


def to_dataframe(table: Table) -> pandas.DataFrame:
    """The table as a pandas DataFrame; labels are categories, and its `attrs["units"]` maps names to units."""
    try:
        import pandas
    except ImportError:
        raise MissingExtraError("pandas") from None
    columns = {
        name: texts(slice(None))
        if column is None
        else pandas.Categorical.from_codes(column.numbers, list(column.labels))
        if column.labels
        else column.numbers
        for name, column, texts in fields(table)
    }
    frame = pandas.DataFrame(columns)
    frame.attrs["units"] = {name: column.unit for name, column, _ in fields(table) if column is not None}
    return frame


FORMATS = {".csv": write_csv, ".parquet": write_parquet}


def fields(table: Table) -> list[Field]:
    """The columns of an export: number, key, parts, measures, state, cause, run.

    A part or a measure whose name is taken has "(part)" or "(measure)" behind it.
    """
    columns = list(_columns(table))
    used = {field.name for kind, field in columns if not kind}
    named = []
    for kind, field in columns:
        name = field.name
        while kind and name in used:
            name = f"{name} ({kind})"
        used.add(name)
        named.append(field._replace(name=name))
    return named


def _columns(table: Table) -> Iterator[tuple[str, Field]]:
    """Columns with their kinds; those without a kind belong to every study."""
    yield "", Field("number", Column("number", table.numbers))
    yield "", Field("key", None, lambda rows: [key.hex() for key in table.keys[rows].tolist()])
    for column in table.items.columns:
        yield "part", Field(column.name, column)
    for k, name in enumerate(table.names):
        yield "measure", Field(name, Column(name, table.measures[:, k], (), table.units.get(name, "")))
    yield "", Field("state", Column("state", table.states, STATES))
    yield "", Field("cause", None, lambda rows: [*map(table.causes.get, table.numbers[rows].tolist())])
    yield "", Field("run", None, lambda rows: [*map(table.runs.get, table.numbers[rows].tolist())])
