"""Text tables that others recorded: a line of names, perhaps with units, then one line of cells for each sample.

Cells are separated by commas, semicolons or tabs, whichever the line of names has most of; lines that begin with # are
comments, and an empty cell is a missing number. Times have to increase; long gaps between them are questionable.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.errors import Problem, ShapeError, StorageError
from kinemorph.words import counted, unguarded

SEPARATORS = ",;\t"
GAP = 10.0  # a distance of times that is longer than the usual one by this factor is a gap


class Title(NamedTuple):
    """The name of a column and its unit, which is empty where the file does not state one."""

    name: str
    unit: str


class TextTable(NamedTuple):
    """A text table: what messages call it, the titles of its columns, its lines below them, and its separator."""

    label: str
    titles: tuple[Title, ...]
    lines: tuple[str, ...]
    separator: str

    @property
    def names(self) -> list[str]:
        """The names of the columns, without units."""
        return [title.name for title in self.titles]


def read_lines(path: Path, expected: str = "a file with comma-separated values") -> list[str]:
    """The lines of a text file; raises StorageError where it cannot be read, with `expected` in its remedy."""
    try:
        return path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a text file"
        raise StorageError(f"recording '{path}' cannot be read: {reason}. Give {expected}.") from None


def text_table(path: Path) -> TextTable:
    """The table in a text file; raises ShapeError where it has no samples."""
    return table_of(path.name, read_lines(path))


def table_of(label: str, text: Sequence[str]) -> TextTable:
    """The table in the lines of a text; `label` is what messages call it."""
    lines = [line for line in text if line.strip() and not line.startswith("#")]
    if len(lines) < 2:
        raise ShapeError(
            f"recording '{label}' has {counted(len(lines), 'line')}; expected a line of names and samples below. Give "
            "a file that has both."
        )
    separator = max(SEPARATORS, key=lines[0].count)
    titles = tuple(_title(cell) for cell in next(csv.reader([lines[0]], delimiter=separator)))
    return TextTable(label, titles, tuple(lines[1:]), separator)


def _title(cell: str) -> Title:
    """The name and the unit of "name [unit]"."""
    name, bracket, unit = unguarded(cell.strip().strip('"')).partition("[")
    return Title(name.strip(), unit.rstrip("] ").strip() if bracket else "")


def cells(table: TextTable) -> list[list[str]]:
    """The cells of every line without spaces around them; raises ShapeError for a line with more or fewer cells."""
    found = []
    for number, line in enumerate(csv.reader(table.lines, delimiter=table.separator), 1):
        if len(line) != len(table.titles):
            raise ShapeError(
                f"recording '{table.label}': sample {number} has {counted(len(line), 'cell')}; expected "
                f"{len(table.titles)}, one for each name. Correct this line of the file."
            )
        found.append([cell.strip() for cell in line])
    return found


def numbers(table: TextTable) -> Array:
    """All numbers of a table, shape (n, columns); an empty cell is NaN."""
    try:
        found = np.loadtxt(table.lines, delimiter=table.separator, ndmin=2)
    except ValueError:
        columns = zip(*cells(table), strict=True)
        titles = [title.name for title in table.titles]
        return np.stack([column_of(table.label, name, column) for name, column in zip(titles, columns, strict=True)], 1)
    if found.shape[1] != len(table.titles):
        raise ShapeError(
            f"recording '{table.label}' has {found.shape[1]} numbers in each line below {len(table.titles)} names. "
            "Give one name for each column."
        )
    return found


def column_of(label: str, name: str, column: Sequence[str]) -> Array:
    """The numbers in the cells of a column, NaN where a cell is empty; raises ShapeError where one is another text."""
    found = np.full(len(column), np.nan)
    for k, cell in enumerate(column):
        try:
            found[k] = float(cell) if cell else np.nan
        except ValueError:
            raise ShapeError(
                f"recording '{label}': column '{name}' is '{cell}' in sample {k + 1}; expected a number. Correct this "
                "line of the file."
            ) from None
    return found


# ── times ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def check_times(label: str, t: Array) -> None:
    """Raises ShapeError where times [s], shape (n,), do not increase."""
    late = np.flatnonzero(np.diff(t) <= 0.0)
    if len(late):
        raise ShapeError(
            f"recording '{label}': {counted(len(late), 'time')} not later than the one before, the first "
            f"t[{late[0] + 1}] = {t[late[0] + 1]:.9g} s after {t[late[0]]:.9g} s; expected increasing times. Remove "
            "repeated samples, and sort the others."
        )


def time_gaps(label: str, t: Array) -> list[Problem]:
    """A problem where times [s], shape (n,), have distances that are far longer than the usual one; else none."""
    distances = np.diff(t)
    usual = float(np.median(distances)) if len(distances) else 0.0
    late = np.flatnonzero(distances > GAP * usual)
    if not len(late):
        return []
    what = (
        f"{counted(len(late), 'gap')} between samples of more than {GAP:g} times the usual {usual:.3g} s, the longest "
        f"{distances.max():.3g} s at t = {t[int(np.argmax(distances))]:.6g} s"
    )
    return [Problem("recording", label, what, "Cut the file there and give the parts as recordings of their own.")]
