"""Formulas for all rows of a table at once, and their sums over the rows.

    place = columns(points, [*q, *v])           three scalars for all points (n, 3), or None
    force = law(place, ...)                     one scalar for each component, as if there were one point
    total = summed_rows(place, force, gate)     the components, added up over all points

Only expressions of a graph can stand for the numbers of many rows: the formula is traced once, and compiled as a loop
(`codegen.graphs.row_sums`). Where `columns` returns None, as for floats, the caller computes row by row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kinemorph.algebra.dual import Dual
from kinemorph.algebra.scalar import S

Rows = tuple[tuple[float, ...], ...]


class Gate(NamedTuple):
    """Where values of rows may differ from 0: only where both numbers are positive; None is always open.

    Elsewhere the values have to be exactly 0 without the gate, too: it saves operations, and changes no sum.
    """

    any_row: S | None = None  # for the whole table: a scalar without rows
    row: S | None = None  # for each row


OPEN = Gate()


def columns(rows: Rows, among: Iterable[S]) -> list[S] | None:
    """A scalar for each column of a table, to be mixed with the scalars `among`; None if these are no expressions."""
    for x in map(_plain, among):
        if hasattr(x, "tables"):
            found: list[S] = x.tables.columns(rows)
            return found
    return None


def summed_rows(place: Sequence[S], values: Sequence[S], gate: Gate = OPEN) -> list[S]:
    """The sums of values over the rows of the table that `place` depends on; the values themselves where there is none.

    `place` are scalars made of columns of the table. A value that is the same in all rows counts in each of them.
    The values are 0 where the `gate` is closed.
    """
    for x in map(_plain, place):
        if has_rows(x):
            found: list[S] = x.tables.summed(values, *map(_plain, gate))
            return found
    return list(values)


def has_rows(x: S) -> bool:
    """Whether a scalar stands for one number in each row of a table."""
    x = _plain(x)
    return hasattr(x, "tables") and bool(x.tables.has_rows)


def _plain(x: S) -> S:
    """A scalar without its tangent."""
    while isinstance(x, Dual):
        x = x.value
    return x
