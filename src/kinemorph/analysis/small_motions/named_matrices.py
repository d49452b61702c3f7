"""Matrices as tables in plain text, with the names and units of their rows and columns."""

from __future__ import annotations

from collections.abc import Sequence

from kinemorph.algebra.arrays import Array
from kinemorph.plants.programs import Plant
from kinemorph.plants.user_laws import Column

MOST = (16, 10)  # rows and columns that a table shows


def state_units(plant: Plant) -> tuple[str, ...]:
    """The units of the entries of s = [w, v, x]; displacements have the unit of their velocity without "/s"."""
    return (*(c.unit.removesuffix("/s") for c in plant.v), *(c.unit for c in plant.v), *(c.unit for c in plant.x))


def named_matrix(title: str, matrix: Array, rows: Sequence[Column], columns: Sequence[Column]) -> str:
    """A matrix below its title, a line for each row; of a large one the first rows and columns, and its size."""
    (m, n), (most, wide) = matrix.shape, MOST
    shown, names = [row.title for row in rows[:most]], [column.title for column in columns[:wide]]
    cut = f" ({m} rows, {n} columns; the first {min(m, most)} and {min(n, wide)} are shown)"
    title += cut if m > most or n > wide else ""
    if not m or not n:
        return f"{title}: none"
    left, cells = max(map(len, shown)), [[f"{x + 0.0:.5g}" for x in row[:wide]] for row in matrix[:most]]
    widths = [max(len(name), *(len(row[k]) for row in cells)) for k, name in enumerate(names)]
    lines = [(" " * left, names), *zip(shown, cells, strict=True)]
    table = (f"  {name:{left}}  " + "  ".join(map(str.rjust, row, widths)) for name, row in lines)
    return "\n".join([title, *map(str.rstrip, table)])
