"""Writes values as TOML text that is as short as possible and is read back as the same value, to the last bit.

There is one function for each form of `Field`. Angles are written in degrees if that gives a round number.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.algebra.roll_pitch_yaw import Angles, angles_of_rotation, exact_turn, rotation_of_turns
from kinemorph.formats.toml.values import AXES, MOMENTS
from kinemorph.model import units
from kinemorph.model.elements.fields import Field, data_row, defaults_of, part_fields
from kinemorph.model.expressions import number as plain
from kinemorph.model.expressions import written
from kinemorph.model.parameter import Formula, Parameter, Value
from kinemorph.model.positions.position_text import written_position

WIDTH = 110  # characters of a line of a list
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_AXIS_NAMES = {axis: name for name, axis in AXES.items()}
ROUND_UNITS = {"angle": ("deg",), "rate": ("deg/s", "rpm")}  # units to try if a number in SI has many digits


# ── words and numbers ─────────────────────────────────────────────────────────────────────────────────────────────────


def key(name: str) -> str:
    """The TOML text of a key, in quotes if TOML requires them."""
    return name if _BARE.fullmatch(name) else text(name)


def text(value: str) -> str:
    """A TOML string: in single quotes if it has backslashes and nothing to escape, else in double quotes, escaped."""
    if "\\" in value and "'" not in value and value.isprintable():
        return f"'{value}'"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def number(value: float, kind: str = "") -> str:
    """The shortest text that is read back as the same float; `kind` is its kind of quantity, such as "angle"."""
    if math.isinf(value):
        return "inf" if value > 0.0 else "-inf"
    shortest = "0" if value == 0.0 else plain(value)
    for unit in ROUND_UNITS.get(kind, ()) if len(shortest) > 8 else ():
        turned = f"{plain(round(value / units.quantity(f'1 {unit}'), 4))} {unit}"
        if units.quantity(turned) == value:
            return f'"{turned}"'
    return shortest


def value(data: Value, kind: str = "", names: Mapping[Value, str] | None = None) -> str:
    """The TOML text of a number, or of a parameter or formula: an expression in quotes.

    `kind` is as for `number`, `names` are as for `written`.
    """
    return text(written(data, names)) if isinstance(data, (Parameter, Formula)) else number(data, kind)


# ── lists and tables ──────────────────────────────────────────────────────────────────────────────────────────────────


def array(items: Iterable[str]) -> str:
    """The TOML text of a list, on one line; `items` are the texts of its items."""
    return f"[{', '.join(items)}]"


def inline(entries: Mapping[str, str]) -> str:
    """The TOML text of a table, on one line; `entries` are the texts of its values by key."""
    return f"{{ {', '.join(f'{key(name)} = {entry}' for name, entry in entries.items())} }}"


def wrapped(items: Iterable[str]) -> str:
    """The TOML text of a list: on one line if it fits, else on several lines."""
    lines, line = [], ""
    for item in items:
        if line and len(line) + len(item) > WIDTH:
            lines.append(line)
            line = ""
        line += f"{item}, "
    lines.append(line)
    return array([line.rstrip(", ")]) if len(lines) == 1 else "[\n" + "".join(f"  {x.rstrip()}\n" for x in lines) + "]"


def vector(data: Any, kind: str = "") -> str:
    """The TOML text of a list of values of one kind of quantity."""
    return array(value(x, kind) for x in data)


def inertia(data: Any) -> str:
    """The TOML text of an inertia matrix.

    It is written as three moments if it is diagonal, as a matrix if it is not symmetric, else as a table of moments and
    products.
    """
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = data
    if (xy, xz, yz) != (yx, zx, zy):
        return array(vector(row) for row in data)
    if not any(isinstance(x, (Parameter, Formula)) or x for x in (xy, xz, yz)):
        return vector((xx, yy, zz))
    entries = dict(zip(MOMENTS, (xx, yy, zz, xy, xz, yz), strict=True))
    return inline({name: value(x) for name, x in entries.items() if name[0] == name[1] or (x is not None and x != 0.0)})


def axis(data: Any) -> str:
    """The TOML text of an axis: x, -y and the like by name, any other as a vector."""
    return text(_AXIS_NAMES[tuple(data)]) if tuple(data) in _AXIS_NAMES else vector(data)


# ── poses ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def pose(data: Pose) -> dict[str, str]:
    """The keys of a pose with their TOML texts: translation and rotation, each unless it is that of the identity."""
    entries = {}
    if tuple(data.p) != IDENTITY.p:
        entries["translation"] = vector(data.p)
    if tuple(map(tuple, data.R)) != IDENTITY.R:
        angles = _angles(data.R)
        if angles is None:
            entries["rotation"] = array(vector(row) for row in data.R)
        else:
            entries["rpy"] = angles
    return entries


def _angles(R: Any) -> str | None:
    """Roll, pitch and yaw as text that gives the rotation matrix R to the last bit; None if none is found."""
    if any(isinstance(x, (Parameter, Formula)) for row in R for x in row):
        return None
    for roll, pitch, yaw in _triples(R):
        for spelled in itertools.product(*(tuple(_spellings(angle)) for angle in (roll, pitch, yaw))):
            if rotation_of_turns(*(turn for _, turn in spelled)) == R:
                return array(text for text, _ in spelled)
    return None


def _triples(R: Any) -> Iterator[Angles]:
    """The triples (roll, pitch, yaw) [rad] that give the rotation R, the one with fewer half turns first.

    There are two, and near a pitch of 90 degrees a third one.
    """
    roll, pitch, yaw = angles_of_rotation(R)
    other = [math.remainder(x, math.tau) for x in (roll + math.pi, math.pi - pitch, yaw + math.pi)]
    triples = [(roll, pitch, yaw), (other[0], other[1], other[2])]
    yield from sorted(triples, key=lambda triple: sum(abs(x) > 3.1 for x in triple))
    if roll == 0.0 and abs(R[2][2]) > 0.0:
        yield (math.atan2(R[2][1], R[2][2]), pitch, math.atan2(R[1][0], R[0][0]))


def _spellings(angle: float) -> Iterator[tuple[str, tuple[float, float]]]:
    """Pairs of a text for an angle and the (cosine, sine) that it is read back as; texts with few digits first."""
    if abs(angle) < 1e-15:
        yield "0", (1.0, 0.0)
        if angle == 0.0:
            return
    degrees = round(math.degrees(angle), 4)
    if abs(math.radians(degrees) - angle) < 1e-15:
        yield f'"{plain(degrees)} deg"', exact_turn(math.radians(degrees))
    for turned in (angle, angle - math.copysign(math.tau, angle)) if abs(angle) > 3.0 else (angle,):
        rounded = next((x for x in (round(turned, n) for n in (4, 8, 12, 15)) if abs(x - turned) < 1e-15), turned)
        yield plain(rounded), (math.cos(rounded), math.sin(rounded))
    yield plain(angle), (math.cos(angle), math.sin(angle))


# ── forms of fields ───────────────────────────────────────────────────────────────────────────────────────────────────


def _per_coordinate(data: tuple[Value, ...], kinds: tuple[str, ...]) -> str:
    """One number if it is the same for all coordinates, else a list."""
    kinds = kinds or ("",) * len(data)
    if len(set(data)) == 1 and len(set(kinds)) == 1:
        return value(data[0], kinds[0])
    return array(value(x, kind) for x, kind in zip(data, kinds, strict=True))


def part(data: Any, known: Mapping[str, type[Any]]) -> str:
    """A part of an element as a table on one line without defaults, and with its kind if `known` has several."""
    kind = next(name for name, one in known.items() if type(data) is one)
    entries = {"kind": text(kind)} if len(known) > 1 else {}
    defaults = defaults_of(data)
    for field in part_fields(type(data)):
        one = getattr(data, field.name)
        if one is not None and (field.required or one != defaults[field.name]):
            entries[field.name] = FORMS[field.form](one, field)
    return inline(entries) if entries else "{}"


def _either(data: Any, field: Field) -> str:
    """A value as TOML text. `field.inner` lists the possible forms of the value; the first that fits is used."""
    row = data_row(field.inner, data)
    return FORMS[row.form](data, row._replace(kind=field.kind))


def _list(data: Any, field: Field) -> str:
    """A list of items of one form."""
    row = field.inner[0]._replace(kind=field.kind)
    items = [FORMS[row.form](item, row) for item in data]
    return wrapped(items) if sum(map(len, items)) > WIDTH else array(items)


def anything(data: Any) -> str:
    """The TOML text of data of any form: truth values, texts, poses, numbers, parameters, formulas, tuples of them."""
    if isinstance(data, bool):
        return "true" if data else "false"
    if isinstance(data, str):
        return text(data)
    if isinstance(data, Pose):
        return inline(pose(data))
    if isinstance(data, (tuple, list)):
        return array(map(anything, data))
    return value(data if isinstance(data, (Parameter, Formula)) else float(data))


FORMS: dict[str, Callable[[Any, Field], str]] = {
    "value": lambda data, field: value(data, str(field.kind)),
    "literal": lambda data, field: number(data, str(field.kind)),
    "whole": lambda data, field: str(int(data)),
    "flag": lambda data, field: "true" if data else "false",
    "text": lambda data, field: text(data),
    "choice": lambda data, field: text(data),
    "vector": lambda data, field: vector(data, str(field.kind)),
    "inertia": lambda data, field: inertia(data),
    "axis": lambda data, field: axis(data),
    "pose": lambda data, field: inline(pose(data)),
    "numbers": lambda data, field: vector(data),
    "points": lambda data, field: wrapped(map(vector, data)),
    "faces": lambda data, field: wrapped(array(map(str, face)) for face in data),
    "per_coordinate": lambda data, field: _per_coordinate(data, field.inner or ()),
    "per_velocity": lambda data, field: _per_coordinate(data, field.inner or ()),
    "formulas": lambda data, field: value(data[0]) if len(data) == 1 else wrapped(map(value, data)),
    "position": lambda data, field: text(written_position(data)),
    "list": _list,
    "row": lambda data, field: array(FORMS[row.form](x, row) for x, row in zip(data, field.inner, strict=True)),
    "part": lambda data, field: part(data, field.inner),
    "surface": lambda data, field: part(data, field.inner),
    "either": _either,
    "starts": lambda data, field: inline({name: number(start) for name, start in data}),
    "texts": lambda data, field: inline({name: text(one) for name, one in data}),
    "any": lambda data, field: anything(data),
}
