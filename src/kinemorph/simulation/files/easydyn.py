"""EasyDyn's .res: columns in text for gnuplot.

The columns are time, then q, its rate and its acceleration for each degree of freedom, then u. Further states, the
generalized forces tau and energies follow at the end. Comment lines name the columns. A run whose columns change with
its system is refused. A script beside the file, x.plt for x.res, plots it as the scripts of EasyDyn's generator do: one
plot for each kind of columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kinemorph.errors import UnsupportedError
from kinemorph.plants.user_laws import Column
from kinemorph.simulation.files.record_tables import column_list, held_columns, to_table
from kinemorph.simulation.files.run_record import Record
from kinemorph.simulation.files.text_tables import Header, parsed, table_text

PLAIN = ("revolute", "prismatic", "helical")  # joints whose velocity is the rate of their one coordinate
KEPT = ("z", "tau", "energy", "account")  # computed quantities that are stored; outputs are not
KINDS = ("q", "v", "a", "u", "tau", "energy")  # the words before the dot that have plots of their own
HEAD = """# Plots {res}: gnuplot {plt}
# As a PostScript file: gnuplot -e "postscript=1" {plt}
set xlabel 't [s]'
set key noenhanced
if (exists("postscript")) set terminal postscript color
if (exists("postscript")) set output {ps}
"""
PAUSE = 'if (!exists("postscript")) pause -1 {told}\n'


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
    meta = _kept(meta)
    columns = [column.name for column in column_list(meta)]
    missing = [(k, columns[place]) for k, place in zip(*(~held_columns(meta, columns)).nonzero(), strict=True)]
    if missing:
        k, name = missing[0]
        raise UnsupportedError(
            f"the run changes its system, and system {k + 1}, '{meta['systems'][k]['name']}', has no column '{name}'; "
            "a .res file has the same columns throughout. Save it as .csv, .npz or .h5."
        )
    names, header = _header(meta)
    return table_text(meta, header, to_table(record, names), " ")


def companions(path: Path, record: Record) -> dict[Path, bytes]:
    """The script of gnuplot that plots the file `path` of a record."""
    meta = _kept(record.meta)
    columns = {column.name: column for column in column_list(meta)}
    script = _gnuplot_script(path.name, [columns[name] for name in _header(meta)[0]])
    return {path.with_name(_script_name(path.name)): script.encode()}


def _kept(meta: dict[str, Any]) -> dict[str, Any]:
    """The description of a run with those computed quantities that the file stores."""
    return {**meta, "systems": [{**one, "groups": [g for g in one["groups"] if g in KEPT]} for one in meta["systems"]]}


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
    return names, "# " + "  ".join(columns[name].title for name in names)


# ── the script of gnuplot ─────────────────────────────────────────────────────────────────────────────────────────────


def _script_name(path: str) -> str:
    """The name of the script of a .res file: x.plt for x.res."""
    return f"{path.removesuffix('.res')}.plt"


def _gnuplot_script(path: str, columns: Sequence[Column]) -> str:
    """The script that plots the columns of the file `path`, of which the first is the time.

    Each plot has the columns of one kind (q, its rate v, acceleration a, inputs u, forces tau, energy, other states)
    and of one unit. gnuplot pauses after each of them, unless it writes PostScript.
    """
    parts: dict[tuple[str, str], list[str]] = {}
    for number, column in enumerate(columns, 1):
        if number > 1:
            kind = column.name.partition(".")[0]
            title = f"{column.name} [{column.unit or '-'}]"
            line = f"{_quoted(path)} using 1:{number} with lines title {_quoted(title)}"
            parts.setdefault((kind if kind in KINDS else "states", column.unit), []).append(line)
    text = HEAD.format(res=path, plt=_script_name(path), ps=_quoted(_script_name(path)[:-4] + ".ps"))
    for (kind, unit), lines in parts.items():
        text += f"set ylabel {_quoted(f'{kind} [{unit or chr(45)}]')} noenhanced\nplot " + ", \\\n     ".join(lines)
        text += "\n" + PAUSE.format(told=_quoted(f"{kind} over time: press Enter to continue"))
    return text


def _quoted(text: str) -> str:
    """A text between single quotes, in which gnuplot doubles them."""
    doubled = text.replace("'", "''")
    return f"'{doubled}'"
