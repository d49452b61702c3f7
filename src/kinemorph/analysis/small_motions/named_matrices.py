"""Matrices as tables, with the names and units of their rows and columns."""

from __future__ import annotations

from collections.abc import Sequence

from kinemorph.algebra.arrays import Array
from kinemorph.plants.programs import Plant
from kinemorph.plants.user_laws import Column
from kinemorph.sheet import Field, Table, said

MOST = (16, 10)  # rows and columns that a table shows


def state_units(plant: Plant) -> tuple[str, ...]:
    """The units of the entries of s = [w, v, x]; displacements have the unit of their velocity without "/s"."""
    return (*(c.unit.removesuffix("/s") for c in plant.v), *(c.unit for c in plant.v), *(c.unit for c in plant.x))


def named_matrix(title: str, matrix: Array, rows: Sequence[Column], columns: Sequence[Column]) -> Table:
    """A matrix with a line for each row; of a large one the first rows and columns, and its size."""
    (m, n), (most, wide) = matrix.shape, MOST
    told = "{m} rows, {n} columns; the first {i} and {k} are shown."
    cut = said(told, m=m, n=n, i=min(m, most), k=min(n, wide)) if m > most or n > wide else ""
    heads = [Field("", said("{name}", name=column.name), column.unit) for column in columns[:wide]]
    lines = [(row.title, *(x + 0.0 for x in line[:wide])) for row, line in zip(rows[:most], matrix, strict=False)]
    return Table("", (Field("", "", form="name"), *heads), lines if n else (), title, cut)
