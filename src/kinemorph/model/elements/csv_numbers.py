"""Numbers in CSV files: a line of names, then lines of numbers. Lines that start with # are comments."""

from __future__ import annotations

import csv
from collections.abc import Sequence

from kinemorph.model.input_reader import short
from kinemorph.words import listed, unguarded


def csv_numbers(file: str, text: str, chosen: Sequence[str] = ()) -> tuple[list[str], list[tuple[float, ...]]]:
    """The names and the rows of the `chosen` columns of a CSV file, of all columns where none are chosen.

    Raises ValueError with a sentence for a column that is missing, and for a line without these numbers.
    """
    lines = [(k, line) for k, line in enumerate(text.splitlines(), 1) if line.strip(", \t") and line[0] != "#"]
    parsed = [[cell.strip() for cell in row] for row in csv.reader(line for _, line in lines)]
    names = [*map(unguarded, parsed[0])] if parsed else []
    missing = [name for name in chosen if name not in names]
    if missing:
        raise ValueError(f"file '{file}' has no column '{missing[0]}'; its columns are {listed(names)}")
    places, rows = [names.index(name) for name in chosen] or range(len(names)), []
    for (number, _), cells in zip(lines[1:], parsed[1:], strict=True):
        try:
            row = tuple(float(cells[k]) for k in places)
        except (ValueError, IndexError):
            row = ()
        if not row or len(cells) > len(names):
            raise ValueError(
                f"file '{file}' line {number} is {short(', '.join(cells))}, expected a number in each of the columns "
                f"{listed(chosen or names)}"
            )
        rows.append(row)
    return [*(chosen or names)], rows
