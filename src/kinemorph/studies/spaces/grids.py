"""Grids: all combinations of the values of parts, each once.

Parts vary in the order in which a space has them, the last one fastest. A part that does not apply to an item does not
multiply it, so that no item arises twice. How many items there are is known before any is made.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.errors import UnsupportedError
from kinemorph.studies.spaces.conditions import Conditions, column_values, in_order
from kinemorph.studies.spaces.parts import Part

MOST_ITEMS = 10_000_000  # of a space: their keys take 100 bytes each, and results as much again
Rows = dict[str, npt.NDArray[np.int64]]  # for each part, which of its grid's values the items have; -1 for none


def grid_count(parts: Mapping[str, Part], conditions: Conditions) -> int:
    """How many items a grid has. Only parts that others depend on are combined; the others are counted."""
    deciding = {other for needed in conditions.values() for other in needed}
    order = in_order(list(parts), conditions)
    always = math.prod(_size(parts[name]) for name in order if name not in deciding and not conditions.get(name))
    rows = _combined([name for name in order if name in deciding], parts, conditions)
    count: Any = np.ones(_length(rows), dtype=object)  # Python's integers have no largest one
    for name in order:
        if name not in deciding and conditions.get(name):
            count = count * np.where(_applies(name, parts, conditions, rows), _size(parts[name]), 1).astype(object)
    return always * int(count.sum())


def grid_values(parts: Mapping[str, Part], conditions: Conditions) -> dict[str, npt.NDArray[Any]]:
    """The values of all items of a grid by part: numbers or indices of labels, NaN or -1 where a part does not apply.

    Parts that are in conditions are combined before the parts that depend on them; the items are sorted afterwards.
    """
    check_count(grid_count(parts, conditions))
    order = in_order(list(parts), conditions)
    rows = _combined(order, parts, conditions)
    if order != list(parts):
        sorted_rows = np.lexsort([rows[name] for name in reversed([*parts])])
        rows = {name: index[sorted_rows] for name, index in rows.items()}
    found = {}
    for name, part in parts.items():
        values = part.grid()
        missing = -1 if part.labels else np.nan
        found[name] = np.append(values, missing)[rows[name]]  # index -1 is the last one
    return found


def check_count(count: int) -> None:
    """Raises an error if a space has more items than a study can hold in memory."""
    if count > MOST_ITEMS:
        shown = f"{count:,}" if count < 10**18 else f"about {float(count):.1e}" if count < 10**300 else "over 1e+300"
        raise UnsupportedError(
            f"space: it has {shown} items, expected at most {MOST_ITEMS:,}. "
            'Use fewer points, or design="sobol" with a count.'
        )


def _combined(order: Sequence[str], parts: Mapping[str, Part], conditions: Conditions) -> Rows:
    """All combinations of some parts; each comes after the parts of its condition."""
    rows: Rows = {}
    for name in order:
        size = _size(parts[name])
        applies = _applies(name, parts, conditions, rows)
        often = np.where(applies, min(size, MOST_ITEMS + 1), 1)
        total = int(often.sum())
        check_count(total)
        which = np.arange(total) - np.repeat(np.cumsum(often) - often, often)
        rows = {other: np.repeat(index, often) for other, index in rows.items()}
        rows[name] = np.where(np.repeat(applies, often), which, -1)
    return rows


def _applies(name: str, parts: Mapping[str, Part], conditions: Conditions, rows: Rows) -> npt.NDArray[np.bool_]:
    """Which of some combinations a part applies to."""
    found = np.ones(_length(rows), dtype=bool)
    for other, needed in conditions.get(name, {}).items():
        fits = np.isin(parts[other].grid(), column_values(parts[other], needed))
        found &= np.append(fits, False)[rows[other]]  # index -1 is the last one
    return found


def _length(rows: Rows) -> int:
    return len(next(iter(rows.values()))) if rows else 1


def _size(part: Part) -> int:
    assert part.size is not None
    return part.size
