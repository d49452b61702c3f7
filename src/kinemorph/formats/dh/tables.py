"""Reads the text of a DH table: settings in comments, a line of column names, and lines of values."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import NamedTuple

from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.algebra.quaternions import quat_normalize, quat_to_rotation
from kinemorph.algebra.roll_pitch_yaw import rotation_of_angles
from kinemorph.formats import limits
from kinemorph.formats.findings import Findings
from kinemorph.formats.hints import maybe_degrees
from kinemorph.formats.sources import Source
from kinemorph.model.expressions import ExpressionError, parse_expression
from kinemorph.model.input_reader import short
from kinemorph.model.units import KINDS as UNIT_KINDS
from kinemorph.model.units import fits, in_si, parse_unit
from kinemorph.words import counted, did_you_mean

SETTINGS = ("convention", "name", "gravity", "base", "tool")
CONVENTIONS = ("standard", "modified")
KINDS = {"revolute": "revolute", "r": "revolute", "prismatic": "prismatic", "p": "prismatic"}


class Column(NamedTuple):
    """A column: its kind of quantity for a revolute and for a prismatic joint, "" for text. `part`: whether it is one
    entry of the center of mass or the inertia.
    """

    turning: str
    sliding: str
    part: bool = False


_MOMENT = Column("inertia", "inertia", True)
COLUMNS: dict[str, Column] = {
    "kind": Column("", ""),
    "joint": Column("", ""),
    "link": Column("", ""),
    "theta": Column("angle", "angle"),
    "d": Column("length", "length"),
    "a": Column("length", "length"),
    "alpha": Column("angle", "angle"),
    "offset": Column("angle", "length"),
    "mass": Column("mass", "mass"),
    "cx": Column("length", "length", True),
    "cy": Column("length", "length", True),
    "cz": Column("length", "length", True),
    **dict.fromkeys(("ixx", "iyy", "izz", "ixy", "ixz", "iyz"), _MOMENT),
    "lower": Column("angle", "length"),
    "upper": Column("angle", "length"),
    "velocity": Column("rate", "speed"),
    "effort": Column("torque", "force"),
    "damping": Column("angular damping", "damping"),
    "friction": Column("torque", "force"),
    "armature": Column("inertia", "mass"),
}
INFINITE = ("lower", "upper", "velocity", "effort")
NEEDED = ("d", "a", "alpha")
_SETTING = re.compile(r"#\s*(\w+)\s*:\s*(.*?)\s*")
_VARIABLE = re.compile(r"(q|theta|th|d)_?\d*\*?", re.IGNORECASE)
_HEAD = re.compile(r"(\w+)\s*(?:\[([^\[\]]*)\])?")


@dataclass
class Table:
    """A table as it was read, with numbers in SI units. `rows` are pairs (cells by column, line in the file)."""

    name: str = "arm"
    convention: str = ""
    base: Pose = IDENTITY
    tool: Pose = IDENTITY
    gravity: tuple[float, ...] | None = None
    rows: list[tuple[dict[str, float | str], int]] = field(default_factory=list)


class _Head(NamedTuple):
    """A column of a file: its name, and the factors that convert its unit to SI for revolute and prismatic joints."""

    name: str
    turning: float
    sliding: float


def read_table(source: Source, findings: Findings) -> Table | None:
    """The table in a file; None if it cannot be read, which is recorded as a finding."""
    try:
        text = source.data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = source.data.count(b"\n", 0, error.start) + 1
        findings.error("syntax", line, "", "the text is not encoded in UTF-8", "Save the file in UTF-8.")
        return None
    table, heads = Table(), list[_Head]()
    for number, raw in enumerate(text.splitlines(), 1):
        content = raw.strip()
        if content.startswith("#"):
            _setting(content, number, table, findings)
        elif content and not heads:
            heads = _heads(content, number, findings)
            if not heads:
                return None
        elif content:
            if len(table.rows) == limits.BODIES:
                what = f"the table has more rows than {limits.BODIES}, the largest number allowed"
                findings.error("file", number, "", what, "Split the robot.")
                return None
            table.rows.append((_values(content, number, heads, findings), number))
    if not table.rows:
        what = "the table has no row for a joint" if heads else "the file has no line of column names"
        remedy = "Write a line of column names, and one line per joint."
        findings.error("structure", 1, "", f"{what}, expected a table", remedy)
        return None
    if not table.convention:
        table.convention = "standard"
        problem = "the convention is not given: standard is assumed"
        findings.warn("assumed", 1, "", problem, "Write '# convention: standard' or '# convention: modified'.")
    return table


# ── settings ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _setting(line: str, number: int, table: Table, findings: Findings) -> None:
    """Reads a comment line: if it is a setting, such as `# name: arm`, its value is stored in the table."""
    match = _SETTING.fullmatch(line)
    if match is None:
        return
    key, text = match[1].lower(), match[2]
    if key == "name":
        table.name = text or table.name
    elif key == "convention":
        if text.lower() not in CONVENTIONS:
            what = f"the convention is {short(text)}, expected standard or modified"
            findings.error("structure", number, "", what, "Choose one of the two.")
        table.convention = text.lower()
    elif key == "gravity":
        table.gravity = _numbers(text, (3,), number, "gravity", findings)
    elif key in ("base", "tool"):
        setattr(table, key, _pose(_numbers(text, (3, 6, 7), number, key, findings), number, key, findings))
    else:
        near = get_close_matches(key, SETTINGS, n=1, cutoff=0.75)  # most comments are not meant as settings
        if near:
            problem = f"the comment begins with '{key}:', which is no setting, so it has no effect"
            findings.warn("unknown", number, "", problem, f"Did you mean '{near[0]}'?")


def _numbers(text: str, counts: tuple[int, ...], number: int, what: str, findings: Findings) -> tuple[float, ...]:
    """The numbers of the setting `what` on line `number`; `counts` are how many it may have."""
    parts = text.replace(",", " ").split()
    if len(parts) not in counts:
        expected = " or ".join(filter(None, (", ".join(map(str, counts[:-1])), str(counts[-1]))))
        problem = f"it has {counted(len(parts), 'number')}, expected {expected}"
        findings.error("number", number, what, problem, f"Write {expected} numbers, separated by spaces.")
        return (0.0,) * counts[0]
    return tuple(_real(part, number, what, findings) for part in parts)


def _pose(values: tuple[float, ...], number: int, what: str, findings: Findings) -> Pose:
    """The pose with the values x y z [m], or x y z roll pitch yaw [rad], or x y z qw qx qy qz."""
    turn = values[3:]
    if len(turn) == 4:
        length = math.hypot(*turn)
        if abs(length - 1.0) > 1e-6:
            problem = f"the quaternion has length {length:.6g}, expected 1"
            findings.error("rotation", number, what, problem, "Scale qw qx qy qz to length 1.")
            return IDENTITY
        return Pose(quat_to_rotation(quat_normalize(turn)), values[:3])
    return Pose(rotation_of_angles(*turn) if any(turn) else IDENTITY.R, values[:3])


# ── columns and values ────────────────────────────────────────────────────────────────────────────────────────────────


def _heads(line: str, number: int, findings: Findings) -> list[_Head]:
    """The columns that a line of column names declares; empty if the line has errors, which are recorded."""
    heads: list[_Head] = []
    before = len(findings.errors)
    words = [word for word in re.split(r"[;\s]+", line) if word]
    if "," not in line and len(words) > 1 and all(word.lower() in COLUMNS for word in words):
        problem = f"the column names {short(line)} have no commas between them, expected commas between cells"
        findings.error("syntax", number, "", problem, f"Write {', '.join(words)}, and commas in the rows, too.")
        return []
    for cell in _cells(line):
        match = _HEAD.fullmatch(cell.strip())
        name = match[1].lower() if match else cell
        if match is None or name not in COLUMNS:
            remedy = did_you_mean(name, COLUMNS).strip() or f"Use {', '.join(COLUMNS)}."
            problem = f"the column {short(cell.strip())} is not known, expected a column of a DH table"
            findings.error("unknown", number, "", problem, remedy)
        elif any(head.name == name for head in heads):
            problem = f"the column '{name}' appears twice, expected once"
            findings.error("structure", number, "", problem, "Remove one of the two.")
        else:
            heads.append(_head(name, match[2], number, findings))
    missing = [name for name in NEEDED if all(head.name != name for head in heads)]
    if missing and len(findings.errors) == before:
        problem = f"missing columns: {', '.join(missing)}; expected at least {', '.join(NEEDED)}"
        findings.error("structure", number, "", problem, "Add each missing column; its numbers may be 0.")
    return heads if len(findings.errors) == before else []


def _head(name: str, units: str | None, number: int, findings: Findings) -> _Head:
    """A column with its unit. `units` is the text in brackets: one unit, or one for angles and one for lengths, as in
    [deg or mm]; None if there is none.
    """
    column = COLUMNS[name]
    scales: dict[str, float] = {}
    for text in re.split(r"\s+or\s+|\|", units.strip()) if units and units.strip() else ():
        kinds = [kind for kind in (column.turning, column.sliding) if kind]
        try:
            unit = parse_unit(text)
        except ValueError as error:
            findings.error("unit", number, f"column '{name}'", str(error), "Use a unit such as m, mm, rad, deg or kg.")
            continue
        fitting = [kind for kind in kinds if fits(text, kind)]
        if not fitting:
            usual = " or ".join(dict.fromkeys(UNIT_KINDS[kind][0] for kind in kinds))
            problem = f"the unit is {short(text)}, expected {f'one such as {usual}' if usual else 'none'}"
            remedy = f"Write [{usual}] after the name of the column." if usual else "Remove it."
            findings.error("unit", number, f"column '{name}'", problem, remedy)
        scales |= {kind: in_si(1.0, unit) for kind in fitting}
    return _Head(name, scales.get(column.turning, 1.0), scales.get(column.sliding, 1.0))


def _cells(line: str) -> list[str]:
    """The cells of a line, which are separated by commas, without quotes around them."""
    return [cell.strip().removeprefix('"').removesuffix('"').strip() for cell in line.split(",")]


def _values(line: str, number: int, heads: list[_Head], findings: Findings) -> dict[str, float | str]:
    """The cells of a row by column, without empty cells; numbers are in SI units."""
    cells = _cells(line)
    if len(cells) != len(heads):
        problem = f"the row has {counted(len(cells), 'cell')}, expected {len(heads)}, as the line of column names has"
        findings.error("syntax", number, "", problem, "Write decimal points, and one comma between two cells.")
        return {}
    given = {head.name: cell for head, cell in zip(heads, cells, strict=True)}
    kind = KINDS.get(given.get("kind", "revolute").lower() or "revolute", "")
    if not kind:
        what = f"the kind is {short(given['kind'])}, expected revolute or prismatic"
        findings.error("structure", number, f"row '{given['kind'][:40]}'", what, "Choose one of the two.")
    values: dict[str, float | str] = {"kind": kind or "revolute"}
    for head in heads:
        cell = given[head.name]
        if head.name == "kind" or not cell:
            continue
        if not COLUMNS[head.name].turning:
            values[head.name] = cell
            continue
        scale = head.sliding if kind == "prismatic" else head.turning
        value = _real(cell, number, f"column '{head.name}'", findings, infinite=head.name in INFINITE)
        values[head.name] = value * scale
        if scale == 1.0 and head.name in ("theta", "alpha") and (warning := maybe_degrees([value])):
            remedy = f"Write the column name as {head.name} [deg] if degrees are meant."
            findings.warn("unit", number, f"column '{head.name}'", warning[0], remedy)
    return values


def _real(text: str, number: int, what: str, findings: Findings, *, infinite: bool = False) -> float:
    """The number in a text on line `number`; 0, with a finding about `what`, if there is none."""
    remedy = "Write a number, or an expression such as pi/2."
    try:
        value = float(text)
    except ValueError:
        value = _constant(text)
        if _VARIABLE.fullmatch(text):
            remedy = "Write the constant that is added to the joint coordinate, usually 0, instead of the coordinate."
    if "_" in text or math.isnan(value) or (math.isinf(value) and not infinite):
        findings.error("number", number, what, f"it is {short(text)}, expected a finite number", remedy)
        return 0.0
    return value


def _constant(text: str) -> float:
    """The value of an expression without names, such as -pi/2; NaN for any other text."""
    try:
        value = parse_expression(text, {})
    except ExpressionError:
        return math.nan
    return value if isinstance(value, float) else math.nan
