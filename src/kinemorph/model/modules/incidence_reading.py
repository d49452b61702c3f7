"""From an AIM back to an assembly: of our own tables, of a page, or of a list of lists.

    read_incidence('''
            e1  e2
        v0   3   0  B
        v1   4   5  B
        v2   0   2  B
             DP  DS
    ''')

Rows are modules, columns are dockings; the last column has kinds of modules, the last row joint modules or dyad
classes. Heads and labels may be left out. A class is checked against the sides: a wrong side is reported with its
column and the sides that would fit the class.
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
from kinemorph.words import did_you_mean

CLASSES: tuple[str, ...] = get_args(DyadClass)
HEAD = re.compile(r"\$?[ec]_?\{?\d+\}?\$?")  # e1, e_1, c1
NUMBER = re.compile(r"\$?v_?\{?(\d+)\}?\$?")  # v0, v_0
FOOT = ("joints", "dyads")
RULE = re.compile(r"[\s|:+=_\-\u2500-\u257f]*")  # a line that only rules off
LEFT_OUT = ("", NONE, "-", ".")  # entries that say nothing


class Cells(NamedTuple):
    """An AIM taken apart; everything is text."""

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
    """The assembly of an AIM of either form. Raises ModelError with everything that is wrong, each with its cell.

    `aim`       a matrix, its text (blanks, tabs, commas or pipes between cells), or rows of cells
    `types`     kinds of modules beside the built-in ones, which they replace where their letters are the same
    `joints`    joint modules by letter, likewise
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
    """The cells of a list of lists, or of an array."""
    try:
        return [[_text(cell) for cell in row] for row in table]
    except TypeError:
        raise ModelError(f"{short(table)} is given as an AIM; expected a matrix, a text, or rows of cells.") from None


def _text(cell: object) -> str:
    return "" if cell is None else str(cell).strip()


def _lines(text: str) -> list[list[str]]:
    """The cells of each line of a text, without those that only rule off."""
    lines = [line.strip("\n") for line in text.splitlines() if not RULE.fullmatch(line)]
    return [_split(line) for line in lines]


def _split(line: str) -> list[str]:
    for mark in ("|", "\t", ";", ","):
        if mark in line:
            inner = line.strip().removeprefix("|").removesuffix("|") if mark == "|" else line
            return [cell.strip() for cell in inner.split(mark)]
    return line.split()


def _taken_apart(rows: Sequence[list[str]]) -> Cells:
    """Heads, labels, entries and kinds; what stands above the heads or below the last row is left out."""
    heads = [[found for cell in row if (found := _head(cell))] for row in rows]
    columns = max(heads, key=len, default=[])  # a title may speak of e1 too
    first = [k for k, row in enumerate(rows) if row and NUMBER.fullmatch(row[0].partition("=")[0])]
    rows = rows[heads.index(columns) + 1 :] if columns else rows[first[0] :] if first else rows
    feet = [k for k, row in enumerate(rows) if row and row[0].lower() in FOOT]
    rows = rows[: feet[0] + 1] if feet else rows
    if len(rows) < 2:
        raise ModelError(
            f"an AIM with {len(rows)} of its rows found cannot be read; expected one row for each module and one below "
            "them for the joints or dyads. Add what is missing."
        )
    body, last = [_trimmed(row) for row in rows[:-1]], rows[-1]
    labelled = all(len(row) > 1 and not row[0].partition(":")[0].isdigit() for row in body)
    labels = [row[0] if labelled else f"v{k}" for k, row in enumerate(body)]
    body = [row[1:] if labelled else row for row in body]
    columns = columns or [f"e{k + 1}" for k in range(len(body[0]) - 1)]
    width = len(columns)
    problems = [
        f"AIM, row {label}: it has {len(row)} cells, expected {width + 1}: an entry for each of the {width} columns, "
        "0 where the module is not docked, and the module's type. Mend the row."
        for label, row in zip(labels, body, strict=True)
        if len(row) != width + 1
    ]
    kinds = _last_row(last, width)
    if len(kinds) != width:
        problems.append(
            f"AIM, last row: {len(kinds)} cells, expected {width}: the joint or dyad of each column. Mend it."
        )
    if problems:
        raise ModelError(problems)
    names = [_module_name(label) for label in labels]
    return Cells(columns, labels, names, [row[-1] for row in body], [row[:-1] for row in body], kinds)


def _head(cell: str) -> str:
    """The name of a column, `e1`, without marks of typesetting; "" where it is none."""
    return re.sub(r"[$_{}]", "", cell.split()[-1]) if cell and HEAD.fullmatch(cell.split()[-1]) else ""


def _trimmed(row: list[str]) -> list[str]:
    """A row without empty cells at its end."""
    end = len(row)
    while end and not row[end - 1]:
        end -= 1
    return row[:end]


def _last_row(row: list[str], width: int) -> list[str]:
    """The kinds of the columns: without a label before them and what is empty or 0 after them."""
    if (row and row[0].lower() in FOOT) or (len(row) > width and not row[0]):
        row = row[1:]
    return row[:width] if all(cell in LEFT_OUT for cell in row[width:]) else row


def _module_name(label: str) -> str:
    """`m0` of `v0`, `left` of `v0=left`; any other label is a name."""
    number, _, named = label.partition("=")
    found = NUMBER.fullmatch(number)
    return named.strip() or (f"m{found[1]}" if found else label)


# ── what they mean ────────────────────────────────────────────────────────────────────────────────────────────────────


def _type_problems(cells: Cells, kinds: Mapping[str, ModuleType]) -> list[str]:
    return [
        f"AIM, row {label}, last column: module type '{letter}' is unknown; expected one of: {', '.join(kinds)}."
        f"{did_you_mean(letter, kinds)}"
        for label, letter in zip(cells.labels, cells.letters, strict=True)
        if letter not in kinds
    ]


def _docking(cells: Cells, k: int, modules: Sequence[Module], joints: Mapping[str, JointModule]) -> Docking | list[str]:
    """What column k says, or what is wrong with it."""
    where = f"AIM, column {cells.columns[k]}"
    ends = [(i, row[k]) for i, row in enumerate(cells.entries) if row[k] not in LEFT_OUT]
    if len(ends) != 2:
        listed = ", ".join(f"{cells.labels[i]}: {entry}" for i, entry in ends) or "none"
        entries = "entry" if len(ends) == 1 else "entries"
        return [
            f"{where}: it has {len(ends)} {entries} ({listed}), expected 2: the sides of the two modules that are "
            "docked there. Mend the column."
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
                f"{', '.join(known) or 'none'}. Choose one of them."
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
            f"{', '.join(known_kinds)}.{did_you_mean(kind, known_kinds)}"
        ]
    found = dyad_class(a.type, sides[0], b.type, sides[1], turn)
    if kind not in (found, "F"):
        told = f"side {sides[0]} of {cells.labels[i]} on side {sides[1]} of {cells.labels[j]}"
        other = [str(s) for s in b.type.sides if dyad_class(a.type, sides[0], b.type, s, turn) == kind]
        mend = f"; with side {sides[0]} it is one of {cells.labels[j]}'s sides {', '.join(other)}" if other else ""
        return [f"{where}: {told} is a {found} dyad, but its last row says {kind}{mend}. Mend the sides or the class."]
    return Docking(a.name, sides[0], b.name, sides[1], turn)
