"""Records as tables: the columns of a run of one system by name, for formats in text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.errors import UnsupportedError
from kinemorph.plants.laws import Column
from kinemorph.simulation.columns import sources
from kinemorph.simulation.recomputing import ACCOUNT
from kinemorph.simulation.records import FLAT, SAMPLES, Record, array_key, array_widths, named_plant
from kinemorph.simulation.segments import Segment

Table = dict[str, npt.NDArray[np.float64]]


def _empty(system: Mapping[str, Any]) -> Segment:
    """A segment without samples: it knows the columns."""
    plant = named_plant(system)
    none = {group: np.zeros((0, len(getattr(plant, group)))) for group in SAMPLES}
    stored = dict.fromkeys(system["groups"], np.zeros(0))
    return Segment(plant, np.zeros(0), **none, p=np.zeros(len(plant.p)), stored=stored)


def single_system(meta: dict[str, Any], ending: str) -> dict[str, Any]:
    """The description, where one table can hold the run."""
    if len(meta["systems"]) > 1:
        raise UnsupportedError(f"the run changes its system on the way; {ending} holds one. Save it as .npz or .h5.")
    return meta


def column_list(meta: Mapping[str, Any]) -> list[Column]:
    """The columns of a run of one system."""
    return [source.column for source in sources(_empty(meta["systems"][0])).values()]


def labels(meta: Mapping[str, Any]) -> dict[str, tuple[list[str], list[str]]]:
    """(names, units) of the columns of each array."""
    found: dict[str, tuple[list[str], list[str]]] = {}
    for k, system in enumerate(meta["systems"]):
        for source in sources(_empty(system)).values():
            names, units = found.setdefault(array_key(k, source.group), ([], []))
            names.append(source.column.name)
            units.append(source.column.unit)
    return found


def to_table(record: Record, names: Sequence[str]) -> Table:
    """Columns by name, of a run of one system."""
    found = sources(_empty(record.meta["systems"][0]))
    arrays = record.arrays
    return {name: arrays[found[name].group].reshape(len(arrays["t"]), -1)[:, found[name].place] for name in names}


def from_table(meta: dict[str, Any], table: Table) -> Record:
    """The record of a table; what it does not have (rates of further states) is not a number."""
    segment = _empty(meta["systems"][0])
    plant, n = segment.plant, len(table["t"])
    arrays = {name: np.full((n, width), np.nan) for name, width in array_widths(plant).items()}
    for name, source in sources(segment).items():
        arrays[source.group][:, source.place] = table[name]
    for k, column in enumerate(plant.x):
        if column.name in ACCOUNT:
            arrays["x"][:, k] = arrays["account"][:, ACCOUNT.index(column.name)]
    return Record(meta, {name: array[:, 0] if name in FLAT else array for name, array in arrays.items()})
