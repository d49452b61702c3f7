"""Records as tables: the columns of a run by name, for formats in text.

Where a run changes its system, a table has the columns of all systems; the rows of a system are empty in columns that
it does not have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.plants.initial_values import ACCOUNT
from kinemorph.plants.user_laws import Column
from kinemorph.simulation.files.run_record import Record, array_key, array_widths, is_flat, named_plant
from kinemorph.simulation.results.columns import Source, all_columns, joined_sources, sources
from kinemorph.simulation.results.quantities import is_quantity
from kinemorph.simulation.results.segment import Segment

Table = dict[str, npt.NDArray[np.float64]]
Places = npt.NDArray[np.intp]


def _empty(system: Mapping[str, Any]) -> Segment:
    """A segment without samples, which has the columns of a system."""
    return Segment.empty(named_plant(system), dict.fromkeys(system["groups"], np.zeros(0)))


def system_sources(meta: Mapping[str, Any]) -> tuple[dict[str, Source], ...]:
    """For each system of a run, its columns by their names in the whole run."""
    return joined_sources([sources(_empty(system)) for system in meta["systems"]])


def column_list(meta: Mapping[str, Any]) -> list[Column]:
    """All columns of a run, each with its name and unit."""
    return list(all_columns(system_sources(meta)).values())


def row_systems(meta: Mapping[str, Any]) -> Places:
    """The index of the system of each row of a table, shape (n,)."""
    pairs = meta["segments"]
    return np.repeat(np.array([k for k, _ in pairs], dtype=np.intp), [rows for _, rows in pairs])


def held_columns(meta: Mapping[str, Any], names: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Which of the columns `names` each system of a run has, shape (systems, names)."""
    return np.array([[name in found for name in names] for found in system_sources(meta)], dtype=bool)


def labels(meta: Mapping[str, Any]) -> dict[str, tuple[list[str], list[str]]]:
    """The names and the units of the columns of each array, by the name of the array."""
    found: dict[str, tuple[list[str], list[str]]] = {}
    for k, system in enumerate(meta["systems"]):
        for source in sources(_empty(system)).values():
            names, units = found.setdefault(array_key(k, source.group), ([], []))
            names.append(source.column.name)
            units.append(source.column.unit)
    return found


def to_table(record: Record, names: Sequence[str]) -> Table:
    """The columns `names` of a record, each of shape (n,); NaN in rows whose system does not have the column."""
    whose = row_systems(record.meta)
    table = {name: np.full(len(whose), np.nan) for name in names}
    for k, found in enumerate(system_sources(record.meta)):
        rows = np.flatnonzero(whose == k)
        for name in names:
            if name in found:
                array = record.arrays[array_key(k, found[name].group)]
                table[name][rows] = array.reshape(len(rows), -1)[:, found[name].place]
    return table


def from_table(meta: dict[str, Any], table: Table) -> Record:
    """The record of a run, from its description `meta` and its columns by name, shape (n,) each.

    Arrays that have no column in the table, such as rates of further states x, are NaN.
    """
    whose = row_systems(meta)
    arrays: dict[str, npt.NDArray[np.float64]] = {}
    for k, found in enumerate(system_sources(meta)):
        rows = {name: values[whose == k] for name, values in table.items()}
        mine = _arrays(meta["systems"][k], found, rows)
        arrays |= {array_key(k, name): array[:, 0] if is_flat(name) else array for name, array in mine.items()}
    return Record(meta, arrays)


def _arrays(system: Mapping[str, Any], found: Mapping[str, Source], table: Table) -> Table:
    """The arrays of one system by name; `found` are its columns, and `table` has the rows of this system only."""
    plant = named_plant(system)
    arrays = {name: np.full((len(table["t"]), width), np.nan) for name, width in array_widths(plant).items()}
    arrays |= {name: np.full((len(table["t"]), 1), np.nan) for name in filter(is_quantity, found)}
    for name, source in found.items():
        arrays[source.group][:, source.place] = table[name]
    for k, column in enumerate(plant.x):
        if column.name in ACCOUNT:
            arrays["x"][:, k] = arrays["account"][:, ACCOUNT.index(column.name)]
    return arrays
