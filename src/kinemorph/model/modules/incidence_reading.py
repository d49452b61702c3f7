"""Reads an assembly from an assembly incidence matrix (AIM): an `IncidenceMatrix`, a text, or a list of lists.

    read_incidence('''
            e1  e2
        v0   3   0  B
        v1   4   5  B
        v2   0   2  B
             DP  DS
    ''')

Rows are modules, columns are dockings; the last column has the module types, the last row joint modules or dyad
classes. The names of columns and rows may be left out. A dyad class is compared with the sides: if they contradict each
other, the message names the column and the sides that would fit the class.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, get_args

from kinemorph.errors import ModelError
from kinemorph.model.input_reader import short
from kinemorph.model.modules.assembly import Assembly, Docking, Module
from kinemorph.model.modules.catalog import JOINT_MODULES, Types, known_types
from kinemorph.model.modules.dyads import DyadClass, dyad_class
from kinemorph.model.modules.incidence import NONE, IncidenceMatrix
from kinemorph.model.modules.module_types import JointModule, ModuleType, Side
from kinemorph.words import counted, did_you_mean, listed

CLASSES: tuple[str, ...] = get_args(DyadClass)
HEAD = re.compile(r"\$?[ec]_?\{?\d+\}?\$?")  # e1, e_1, c1
NUMBER = re.compile(r"\$?v_?\{?(\d+)\}?\$?")  # v0, v_0
FOOT = ("joints", "dyads")
RULE = re.compile(r"[\s|:+=_\-\u2500-\u257f]*")  # a line that only separates rows
LEFT_OUT = ("", NONE, "-", ".")  # entries for a module that is not docked


class Cells(NamedTuple):
    """The cells of an assembly incidence matrix (AIM) as text, divided into its parts."""

    columns: list[str]  # e1, e2, ...
    labels: list[str]  # v0, v1, ...
    names: list[str]  # of the modules
    letters: list[str]
    entries: list[list[str]]
    kinds: list[str]  # the last row


def read_incidence(
    aim: IncidenceMatrix | str | Iterable[Iterable[Any]],
    *,
    name: str = "organism",
    types: Types = None,
    joints: Mapping[str, JointModule] | None = None,
) -> Assembly:
    """The assembly described by an assembly incidence matrix of either form. Raises ModelError with all problems.

    `aim`       a matrix, its text (spaces, tabs, commas, semicolons or | between cells), or rows of cells
    `types`     module types in addition to the built-in ones; a given type replaces one of the same letter
    `joints`    joint modules by letter, in addition to the built-in ones
    """
    if isinstance(aim, IncidenceMatrix):
        rows = [[row.label, *line, row.letter] for row, line in zip(aim.rows, aim.entries, strict=True)]
        columns = [column.name for column in aim.columns]
        cells = _taken_apart([["", *columns], *rows, [FOOT[0], *(column.kind for column in aim.columns)]])
        name = aim.name if name == "organism" else name
    else:
        cells = _taken_apart(_lines(aim) if isinstance(aim, str) else _rows(aim))
    kinds = known_types(types)
    between = {joint.letter: joint for joint in JOINT_MODULES.values()} | dict(joints or {})
    problems = _type_problems(cells, kinds)
    if problems:
        raise ModelError(problems)
    modules = tuple(Module(module, kinds[letter]) for module, letter in zip(cells.names, cells.letters, strict=True))
    dockings = []
    for k in range(len(cells.columns)):
        docking = _docking(cells, k, modules, between)
        if isinstance(docking, Docking):
            dockings.append(docking)
        else:
            problems += docking
    if problems:
        raise ModelError(problems)
    return Assembly(name, modules, tuple(dockings))


# ── cells ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _rows(table: Any) -> list[list[str]]:
    """The cells of a list of lists, or of an array, as text."""
    try:
        return [[_text(cell) for cell in row] for row in table]
    except TypeError:
        what = f"{short(table)} is given as an AIM; expected an IncidenceMatrix, a text, or rows of cells."
        raise ModelError(what) from None


def _text(cell: object) -> str:
    return "" if cell is None else str(cell).strip()


def _lines(text: str) -> list[list[str]]:
    """The cells of each line of a text, without lines that only separate rows."""
    lines = [line.strip("\n") for line in text.splitlines() if not RULE.fullmatch(line)]
    return [_split(line) for line in lines]


def _split(line: str) -> list[str]:
    for mark in ("|", "\t", ";", ","):
        if mark in line:
            inner = line.strip().removeprefix("|").removesuffix("|") if mark == "|" else line
            return [cell.strip() for cell in inner.split(mark)]
    return line.split()


def _taken_apart(rows: Sequence[list[str]]) -> Cells:
    """The parts of an AIM given by rows of cells; rows above the column names or below the last row are ignored."""
    heads = [[found for cell in row if (found := _head(cell))] for row in rows]
    columns = max(heads, key=len, default=[])  # the row with most names: a title may contain e1 too
    first = [k for k, row in enumerate(rows) if row and NUMBER.fullmatch(row[0].partition("=")[0])]
    rows = rows[heads.index(columns) + 1 :] if columns else rows[first[0] :] if first else rows
    feet = [k for k, row in enumerate(rows) if row and row[0].lower() in FOOT]
    rows = rows[: feet[0] + 1] if feet else rows
    if len(rows) < 2:
        raise ModelError(
            f"the AIM has {counted(len(rows), 'row')}; expected one row for each module and a last row for the joints "
            "or dyads. Add the missing rows."
        )
    body, last = [_trimmed(row) for row in rows[:-1]], rows[-1]
    labelled = all(len(row) > 1 and not row[0].partition(":")[0].isdigit() for row in body)
    labels = [row[0] if labelled else f"v{k}" for k, row in enumerate(body)]
    body = [row[1:] if labelled else row for row in body]
    columns = columns or [f"e{k + 1}" for k in range(len(body[0]) - 1)]
    width = len(columns)
    problems = [
        f"AIM, row {label}: it has {len(row)} cells, expected {width + 1}: an entry for each of the {width} columns, "
        "0 where the module is not docked, and the letter of the module's type. Correct the row."
        for label, row in zip(labels, body, strict=True)
        if len(row) != width + 1
    ]
    kinds = _last_row(last, width)
    if len(kinds) != width:
        problems.append(
            f"AIM, last row: it has {len(kinds)} cells, expected {width}: the joint or dyad of each column. "
            "Write one for each column."
        )
    if problems:
        raise ModelError(problems)
    names = [_module_name(label) for label in labels]
    return Cells(columns, labels, names, [row[-1] for row in body], [row[:-1] for row in body], kinds)


def _head(cell: str) -> str:
    """The name of a column, such as `e1`, without LaTeX marks; "" if the cell is not the name of a column."""
    return re.sub(r"[$_{}]", "", cell.split()[-1]) if cell and HEAD.fullmatch(cell.split()[-1]) else ""


def _trimmed(row: list[str]) -> list[str]:
    """The row without empty cells at its end."""
    end = len(row)
    while end and not row[end - 1]:
        end -= 1
    return row[:end]


def _last_row(row: list[str], width: int) -> list[str]:
    """The cells of the last row, without a label before them and empty cells after them."""
    if (row and row[0].lower() in FOOT) or (len(row) > width and not row[0]):
        row = row[1:]
    return row[:width] if all(cell in LEFT_OUT for cell in row[width:]) else row


def _module_name(label: str) -> str:
    """The module's name for the label of a row: m0 for `v0`, left for `v0=left`; any other label is the name."""
    number, _, named = label.partition("=")
    found = NUMBER.fullmatch(number)
    return named.strip() or (f"m{found[1]}" if found else label)


# ── modules and dockings ──────────────────────────────────────────────────────────────────────────────────────────────


def _type_problems(cells: Cells, kinds: Mapping[str, ModuleType]) -> list[str]:
    return [
        f"AIM, row {label}, last column: module type '{letter}' is unknown; expected one of: {listed(kinds)}."
        f"{did_you_mean(letter, kinds)}"
        for label, letter in zip(cells.labels, cells.letters, strict=True)
        if letter not in kinds
    ]


def _docking(cells: Cells, k: int, modules: Sequence[Module], joints: Mapping[str, JointModule]) -> Docking | list[str]:
    """The docking of column k, or its problems."""
    where = f"AIM, column {cells.columns[k]}"
    ends = [(i, row[k]) for i, row in enumerate(cells.entries) if row[k] not in LEFT_OUT]
    if len(ends) != 2:
        given = listed(f"{cells.labels[i]}: {entry}" for i, entry in ends)
        return [
            f"{where}: it has {counted(len(ends), 'entry', 'entries')} ({given}), expected 2: the sides of the two "
            "modules that are docked to each other. Correct the column."
        ]
    problems: list[str] = []
    sides: list[Side] = []
    turn = 0
    for i, entry in ends:
        side, _, turned = entry.partition(":")
        known = {str(port): port for port in modules[i].type.sides}
        if side not in known:
            problems.append(
                f"{where}, row {cells.labels[i]}: a {modules[i].type.name} has no port on side '{side}'; its ports are "
                f"{listed(known)}. Choose one of them."
            )
        if turned and turned not in ("0", "1", "2", "3"):
            problems.append(
                f"{where}, row {cells.labels[i]}: turn is '{turned}', expected 0, 1, 2 or 3 quarter turns after the "
                f"side, as in '{side}:1'."
            )
        elif turned:
            turn = int(turned)
        sides.append(known.get(side, side))
    if problems:
        return problems
    (i, _), (j, _) = ends
    a, b = modules[i], modules[j]
    kind = cells.kinds[k]
    if kind in joints:
        return Docking(a.name, sides[0], b.name, sides[1], turn, joints[kind])
    if kind not in CLASSES:
        known_kinds = (*CLASSES, *joints)
        return [
            f"{where}, last row: '{kind}' is neither a dyad class nor a joint module; expected one of: "
            f"{listed(known_kinds)}.{did_you_mean(kind, known_kinds)}"
        ]
    found = dyad_class(a.type, sides[0], b.type, sides[1], turn)
    if kind not in (found, "F"):
        docked = f"side {sides[0]} of {cells.labels[i]} docked to side {sides[1]} of {cells.labels[j]}"
        other = [s for s in b.type.sides if dyad_class(a.type, sides[0], b.type, s, turn) == kind]
        fitting = f"; a {kind} dyad needs one of the sides {listed(other)} of {cells.labels[j]}" if other else ""
        what = f"{where}: {docked} is a {found} dyad, but the last row says {kind}{fitting}."
        return [f"{what} Correct the sides or the class."]
    return Docking(a.name, sides[0], b.name, sides[1], turn)
