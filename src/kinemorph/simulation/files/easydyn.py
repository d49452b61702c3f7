"""EasyDyn's .res: columns in text for gnuplot.

The columns are time, then q, its rate and its acceleration for each degree of freedom, then u. Further states and
energies follow at the end. Comment lines name the columns. A run whose columns change with its system is refused.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kinemorph.errors import UnsupportedError
from kinemorph.simulation.files.record_tables import column_list, held_columns, to_table
from kinemorph.simulation.files.run_record import Record
from kinemorph.simulation.files.text_tables import Header, parsed, table_text, title

PLAIN = ("revolute", "prismatic", "helical")  # joints whose velocity is the rate of their one coordinate
KEPT = ("z", "energy", "account")  # computed quantities that are stored; forces and outputs are not


def encode(record: Record) -> bytes:
    """The bytes of a .res file."""
    meta = record.meta
    for system in meta["systems"]:
        for kind, _, v in system["manifold"]:
            if kind not in PLAIN:
                joint = system["v"][v][0].rpartition(".")[0]
                raise UnsupportedError(
                    f"a .res file has q, its rate and its acceleration for each degree of freedom; {kind} joint "
                    f"'{joint}' of '{system['name']}' has no such coordinates. Save it as .csv, .npz or .h5."
                )
    systems = [{**system, "groups": [g for g in system["groups"] if g in KEPT]} for system in meta["systems"]]
    meta = {**meta, "systems": systems}
    columns = [column.name for column in column_list(meta)]
    missing = [(k, columns[place]) for k, place in zip(*(~held_columns(meta, columns)).nonzero(), strict=True)]
    if missing:
        k, name = missing[0]
        raise UnsupportedError(
            f"the run changes its system, and system {k + 1}, '{systems[k]['name']}', has no column '{name}'; a .res "
            "file has the same columns throughout. Save it as .csv, .npz or .h5."
        )
    names, header = _header(meta)
    return table_text(meta, header, to_table(record, names), " ")


def decode(path: Path) -> Record:
    """The record in a .res file."""
    return parsed(path, None, _header)


def _header(meta: dict[str, Any]) -> Header:
    """The names of the columns in EasyDyn's order, and the comment line that lists them."""
    system = meta["systems"][0]
    of_dof = [
        f"{group}.{name}"
        for (q, _), (v, _) in zip(system["q"], system["v"], strict=True)
        for group, name in (("q", q), ("v", v), ("a", v))
    ]
    first = ["t", *of_dof, *(f"u.{name}" for name, _ in system["u"])]
    columns = {column.name: column for column in column_list(meta)}
    names = [*first, *(name for name in columns if name not in first)]
    return names, "# " + "  ".join(title(columns[name]) for name in names)
