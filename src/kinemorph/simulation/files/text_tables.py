"""Tables in text: a first line with the description, a line of names, then one row per sample.

Lines that begin with # are comments for gnuplot, NumPy and pandas (`comment="#"`). Numbers are written with enough
digits to restore them to the last bit. A cell is empty where the system of its row does not have the column.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.simulation.files.record_tables import Table, from_table, held_columns, row_systems
from kinemorph.simulation.files.run_record import Record, check_segments

MARK = "# kinemorph trajectory "
Header = tuple[Sequence[str], str]  # names of the columns, and the line of the file that lists them


def table_text(meta: dict[str, Any], header: str, table: Table, separator: str) -> bytes:
    """The bytes of a text file: the description `meta`, the line `header`, then the rows of `table`."""
    told = {name: value for name, value in meta.items() if name != "kept"}  # tables have no place for its array
    lines = [MARK + json.dumps(told), header]
    rows = np.stack(list(table.values()), axis=1).tolist()
    held = held_columns(meta, list(table))
    if held.all():
        lines += [separator.join(map(repr, row)) for row in rows]
    else:
        cells = held.tolist()
        for row, system in zip(rows, row_systems(meta).tolist(), strict=True):
            written = (repr(x) if has else "" for x, has in zip(row, cells[system], strict=True))
            lines.append(separator.join(written))
    return ("\n".join(lines) + "\n").encode()


def parsed(path: Path, separator: str | None, header_of: Callable[[dict[str, Any]], Header]) -> Record:
    """The record in a text file; raises ValueError where its columns are not those of its description.

    The description is the JSON text in the first line. `header_of` gives, for a description, the names of the columns
    and the second line, which has to contain them; `separator` None is white space.
    """
    with path.open(encoding="utf-8", newline="") as file:
        first = file.readline()
        if not first.startswith(MARK):
            raise ValueError(
                f"the first line of the file does not begin with '{MARK.strip()}'. Give a file that Kinemorph saved"
            )
        meta = json.loads(first[len(MARK) :])
        check_segments(meta)
        names, header = header_of(meta)
        found = file.readline().rstrip("\r\n")
        body = file.read()
    if found != header:
        raise ValueError(
            "the column names in the file's second line are not those of the run that its first line describes. "
            "Restore the second line, or save the run again"
        )
    if not body.endswith("\n"):
        raise ValueError("the last line of the file is truncated. Save the run again")
    lines = body.splitlines()
    said = sum(rows for _, rows in meta["segments"])
    if len(lines) != said:
        raise ValueError(
            f"the file has {len(lines)} samples; its first line, the description of the run, says {said}. Save the run "
            "again"
        )
    held = held_columns(meta, names)
    if not held.all():
        lines = _filled(lines, separator, held[row_systems(meta)])
        separator = ","
    numbers = _numbers(lines, separator, names)
    return from_table(meta, dict(zip(names, numbers.T, strict=True)))


def _filled(lines: Sequence[str], separator: str | None, held: npt.NDArray[np.bool_]) -> list[str]:
    """The rows with "nan" in empty cells.

    `held` (rows, columns) is True where the system of that row has that column. Raises ValueError if a cell is empty
    where `held` is True, or filled where it is False.
    """
    filled = []
    for number, (line, wanted) in enumerate(zip(lines, held.tolist(), strict=True), 1):
        cells = line.split(separator)
        if [bool(cell.strip()) for cell in cells] != wanted:
            raise ValueError(
                f"row {number} has empty cells in other columns than expected: a cell has to be empty where the "
                "robot of that time has no such column, and only there. Save the run again"
            )
        filled.append(",".join(cell or "nan" for cell in cells))
    return filled


def _numbers(lines: Sequence[str], separator: str | None, names: Sequence[str]) -> np.ndarray:
    try:
        table = np.loadtxt(lines, delimiter=separator, ndmin=2, comments=None)
        if table.shape == (len(lines), len(names)):
            return table
    except ValueError:  # its own message names neither the column nor a remedy
        pass
    for row, line in enumerate(lines, 1):
        cells = line.split(separator)
        if len(cells) != len(names):
            raise ValueError(
                f"row {row} has {len(cells)} numbers; expected {len(names)}, one per column. Save the run again"
            )
        for name, cell in zip(names, cells, strict=True):
            try:
                float(cell)
            except ValueError:
                raise ValueError(
                    f"'{cell:.40}' in row {row}, column '{name}', is not a number; expected one. Save the run again"
                ) from None
    raise ValueError(f"its {len(lines)} rows are not a table of numbers. Save the run again")
