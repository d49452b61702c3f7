"""Tables in text: a first line with the description, a line of names, then one row per sample.

Lines that begin with # are comments to gnuplot, NumPy and pandas (`comment="#"`). Numbers are written with as many
digits as bring them back to the last bit.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.plants.laws import Column
from kinemorph.simulation.record_tables import Table, from_table
from kinemorph.simulation.records import Record

MARK = "# kinemorph trajectory "
Layout = tuple[Sequence[str], str]  # names of the columns, and the line that shows them


def title(column: Column) -> str:
    """A column's name with its unit."""
    return f"{column.name} [{column.unit}]" if column.unit else column.name


def table_text(meta: dict[str, Any], header: str, table: Table, separator: str) -> bytes:
    """The whole file."""
    lines = [MARK + json.dumps(meta), header]
    rows = np.stack(list(table.values()), axis=1).tolist()
    lines += [separator.join(map(repr, row)) for row in rows]
    return ("\n".join(lines) + "\n").encode()


def parsed(path: Path, separator: str | None, layout_of: Callable[[dict[str, Any]], Layout]) -> Record:
    """The record of a file whose columns are those that its description asks for."""
    with path.open(encoding="utf-8", newline="") as file:
        first = file.readline()
        if not first.startswith(MARK):
            raise ValueError(f"its first line does not begin with '{MARK.strip()}'")
        meta = json.loads(first[len(MARK) :])
        names, header = layout_of(meta)
        found = file.readline().rstrip("\r\n")
        body = file.read()
    if found != header:
        raise ValueError("its line of names is not the one that was written")
    if not body.endswith("\n"):
        raise ValueError("it is cut short in the last line")
    numbers = _numbers(body.splitlines(), separator, len(names))
    return from_table(meta, dict(zip(names, numbers.T, strict=True)))


def _numbers(lines: Iterable[str], separator: str | None, count: int) -> np.ndarray:
    table = np.loadtxt(lines, delimiter=separator, ndmin=2)
    if table.shape[1] != count:
        raise ValueError(f"its rows have {table.shape[1]} numbers, expected {count}")
    return table
