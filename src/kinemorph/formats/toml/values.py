"""Reads and checks the values of TOML keys, with one method per form. Wrong values give findings; reading continues.

A number may be given as a number in SI, a quantity ("5 mm") or an expression of the file's parameters ("0.5 * l1").
Tables are read by the rows of `fields`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.algebra.quaternions import direction_to_rotation
from kinemorph.algebra.roll_pitch_yaw import exact_turn, rotation_of_turns
from kinemorph.errors import ModelError, Problem
from kinemorph.formats import limits
from kinemorph.formats.findings import Findings
from kinemorph.formats.hints import maybe_degrees
from kinemorph.formats.repairs import TomlRepairs
from kinemorph.formats.sources import Outside
from kinemorph.formats.toml.fields import POSE, POSE_KEYS, SYNONYMS
from kinemorph.formats.toml.lines import Lines, Path
from kinemorph.model import units
from kinemorph.model.elements.fields import Field, part_fields, written_row
from kinemorph.model.expressions import ExpressionError, parse_expression
from kinemorph.model.input_reader import short
from kinemorph.model.parameter import Formula, Parameter, Value
from kinemorph.words import counted, did_you_mean, listed

AXES = {
    **{"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)},
    **{"-x": (-1.0, 0.0, 0.0), "-y": (0.0, -1.0, 0.0), "-z": (0.0, 0.0, -1.0)},
}
MOMENTS = ("xx", "yy", "zz", "xy", "xz", "yz")
_COMMA = re.compile(r"[+-]?\d+,\d+")
_QUANTITY = re.compile(r"\d\s*[^\W\d]+\s*$")  # a quantity at the end of an expression
MOST_LISTED = 30  # kinds that a message lists
NEAR_UNIT = 1e-3  # allowed error of the length of a quaternion, so that four decimals are enough


class At(NamedTuple):
    """The place of a value: its path in the file, the part that it belongs to, and its name in messages."""

    path: Path
    element: str
    what: str

    def key(self, name: str | int) -> At:
        """The place of a key or an item of a list inside this value."""
        label = f"[{name}]" if isinstance(name, int) else f" {name}" if self.what else name
        return At((*self.path, name), self.element, f"{self.what}{label}")


class Values:
    """Reads values of one file. `names` are the values of names in expressions: the parameters of the file."""

    def __init__(
        self,
        findings: Findings,
        lines: Lines,
        *,
        repairs: TomlRepairs | None = None,
        open: Callable[[str], str] | None = None,
    ) -> None:
        """`open` returns the text of a file that the model names."""
        self.findings = findings
        self.open = open or _closed
        self.lines = lines
        self.repairs = repairs
        self.names: dict[str, Value] = {}
        self.error_count = 0  # errors reported so far
        self._ops = 0  # operations in all formulas so far
        self.forms: dict[str, Callable[[Any, At, Field], Any]] = {
            "value": lambda raw, at, field: self.value(raw, at, str(field.kind)),
            "literal": self.literal,
            "whole": self.whole,
            "flag": self.flag,
            "text": self.text,
            "label": self.label,
            "labels": self.labels,
            "choice": self.choice,
            "vector": lambda raw, at, field: self.vector(raw, at, str(field.kind)),
            "matrix": lambda raw, at, field: self.matrix(raw, at, str(field.kind)),
            "inertia": self.inertia,
            "axis": self.axis,
            "pose": self.pose,
            "numbers": self.numbers,
            "points": self.points,
            "faces": self.faces,
            "list": self.sequence,
            "row": self.row,
            **dict.fromkeys(("part", "surface"), self.part),
            "either": self.either,
            "function": self.function,
            "any": self.anything,
        }

    def error(self, rule: str, at: At, problem: str, remedy: str, corrected: Mapping[Path, Any] | None = None) -> None:
        """Records an error on the line of a value; `corrected` are values by path that repair it, if this is safe."""
        self.error_count += 1
        repair = self.repairs.repair(corrected) if self.repairs and corrected else None
        self.findings.error(rule, self.lines.line(at.path), at.element, problem, remedy, repair)

    def warn(self, rule: str, at: At, problem: str, remedy: str) -> None:
        """Records a warning on the line of a value."""
        self.findings.warn(rule, self.lines.line(at.path), at.element, problem, remedy)

    # ── tables ────────────────────────────────────────────────────────────────────────────────────────────────────

    def table(self, raw: Any, at: At, fields: Sequence[Field], *, skip: Sequence[str] = ()) -> dict[str, Any]:
        """The values of a table whose possible keys are `fields`, by key, without keys that the file leaves out.

        Keys in `skip` are allowed, but not read. The keys of a placement may be in the table itself.
        """
        if not isinstance(raw, dict):
            problem = f"{_named(at)} is {short(raw)}, expected a table"
            self.error("structure", at, problem, "Write { key = value, ... }.")
            return {}
        rows = {field.name: field for field in fields}
        placed = "placement" in rows
        known = [*rows, *skip, *(POSE_KEYS if placed else ())]
        for key in raw:
            if key not in known:
                self.unknown(at.key(key), key, known)
        read = {}
        for name, field in rows.items():
            if name in raw and field.form in self.forms:
                read[name] = self.forms[field.form](raw[name], at.key(name), field)
            elif name not in raw and field.required:
                self.missing(at, name, field)
        if placed and not raw.keys().isdisjoint(POSE_KEYS):
            if "placement" in raw:
                problem = "placement is given together with translation, rpy, rotation or quaternion, expected only one"
                self.error("structure", at.key("placement"), problem, "Write these keys inside placement.")
            read["placement"] = self.pose({key: raw[key] for key in POSE_KEYS if key in raw}, at, None)
        return read

    def unknown(self, at: At, key: str, known: Sequence[str]) -> None:
        """Reports a key that is not one of the `known` keys."""
        hint = "" if self.findings.unlisted else did_you_mean(key, known).strip()  # further findings are not listed
        remedy = hint or "Remove the key, or correct its name."
        self.error("unknown", at, f"the key {short(key)} is not known, expected one of {listed(known, 20)}", remedy)

    def missing(self, at: At, name: str, field: Field) -> None:
        """Reports that a required key is missing."""
        where = f"{at.what}: " if at.what else ""
        first = next(iter(field.inner), "...") if field.form in ("choice", "part") else ""
        example = {"text": '"..."', "choice": f'"{first}"', "vector": "[0, 0, 0]"}
        example["part"] = f'{{ kind = "{first}", ... }}'
        remedy = f"Write {name} = {example.get(field.form, '...')}."
        self.error("structure", at, f"{where}the key '{name}' is missing", remedy)

    def kind(self, raw: Any, at: At, known: Mapping[str, Any]) -> Any:
        """The entry of `known` that the key `kind` of a table names. None for a wrong name (recorded as a finding)."""
        kind = raw.get("kind") if isinstance(raw, dict) else None
        if isinstance(kind, str) and kind in known:
            return known[kind]
        if not isinstance(raw, dict):
            problem, first = f"{at.what} is {short(raw)}, expected a table", next(iter(known), "...")
            remedy = f'Write {{ kind = "{first}", ... }}.'
        elif kind is None:
            problem = f"{at.what}: the key 'kind' is missing".removeprefix(": ")
            remedy = f"Add kind, one of {listed(known, MOST_LISTED)}."
        else:
            where = f"{at.what}: " if at.what else ""
            problem = f"{where}the kind is {short(kind)}, expected one of {listed(known, MOST_LISTED)}"
            remedy = did_you_mean(kind, known).strip() or "Choose one of these."
        self.error("structure", at, problem.strip(), remedy)
        return None

    # ── words ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def text(self, raw: Any, at: At, field: Field | None = None) -> str:
        """The value if it is a text. Another value is recorded as a finding, and "" is returned."""
        if isinstance(raw, str):
            return raw
        self.error("structure", at, f"{_named(at)} is {short(raw)}, expected text", "Put it in quotes.")
        return ""

    def label(self, raw: Any, at: At, field: Field | None = None) -> str | int:
        """A name, or a whole number that stands for one; empty for another value, which is recorded as a finding."""
        if isinstance(raw, str) or (isinstance(raw, int) and not isinstance(raw, bool)):
            return raw
        problem = f"{_named(at)} is {short(raw)}, expected a name or a whole number"
        self.error("structure", at, problem, "Write one of these.")
        return ""

    def labels(self, raw: Any, at: At, field: Field | None = None) -> str | int | tuple[str | int, ...]:
        """One name, or a tuple of names."""
        if isinstance(raw, list):
            return tuple(self.label(item, at.key(i)) for i, item in enumerate(raw))
        return self.label(raw, at)

    def choice(self, raw: Any, at: At, field: Field) -> str:
        """One of the words in `field.inner`. Another value is recorded as a finding, and the first word is returned."""
        if isinstance(raw, str) and raw in field.inner:
            return raw
        meant = SYNONYMS.get(raw) if isinstance(raw, str) else None
        hint = f"Did you mean '{meant}'?" if meant in field.inner else did_you_mean(raw, field.inner).strip()
        remedy = hint or "Choose one of these."
        self.error("structure", at, f"{_named(at)} is {short(raw)}, expected one of {', '.join(field.inner)}", remedy)
        return str(field.inner[0])

    def flag(self, raw: Any, at: At, field: Field | None = None) -> bool:
        """The value if it is true or false. Another value is recorded as a finding, and False is returned."""
        if isinstance(raw, bool):
            return raw
        self.error("structure", at, f"{_named(at)} is {short(raw)}, expected true or false", "Write true or false.")
        return False

    def whole(self, raw: Any, at: At, field: Field | None = None) -> int:
        """The value if it is a whole number. Another value is recorded as a finding, and 0 is returned."""
        if isinstance(raw, int) and not isinstance(raw, bool):
            return raw
        self.error("number", at, f"{_named(at)} is {short(raw)}, expected a whole number", "Write it as digits only.")
        return 0

    # ── numbers ───────────────────────────────────────────────────────────────────────────────────────────────────

    def value(self, raw: Any, at: At, kind: str = "", names: Mapping[str, Value] | None = None) -> Value:
        """The Value of a number, quantity or expression; it may be infinite. Else 0, which is recorded as a finding.

        `kind` is the kind of quantity that is expected, such as "length"; "" for any. `names` replaces `self.names`.
        """
        if isinstance(raw, str):
            return self._spelled(raw, at, kind, self.names if names is None else names)
        if isinstance(raw, bool) or not isinstance(raw, (int, float)):
            fitting = f" [{units.KINDS[kind][0]}]" if kind and kind != "number" else ""
            self.error("number", at, f"{_named(at)} is {short(raw)}, expected a number{fitting}", "Write a number.")
            return 0.0
        try:
            number = float(raw)
        except OverflowError:
            number = math.nan
        if math.isnan(number):
            problem = f"{_named(at)} is {short(raw)}, expected a finite number"
            self.error("number", at, problem, "Write a finite number.")
            return 0.0
        return number

    def _spelled(self, text: str, at: At, kind: str, names: Mapping[str, Value]) -> Value:
        """The Value of a text: a quantity or an expression."""
        if units.is_quantity(text):
            try:
                return units.quantity(text, kind)
            except ValueError as error:
                usual = f" [{units.KINDS[kind][0]}]" if kind and kind != "number" else ""
                problem = Problem.of(error.args[0], f"Correct the unit, or write a plain number{usual}.")
                factor, _, word = text.partition(" ")
                product = f'Write "{factor} * {word.strip()}" for a product.' if word.strip() in names else ""
                self.error("unit", at, f"{_named(at)}: {problem.what}", product or problem.remedy)
                return 0.0
        try:
            value = parse_expression(text, names, hints=not self.findings.unlisted)
        except ExpressionError as error:
            usual = 'Write a number, a quantity such as "5 mm", or an expression of parameters.'
            problem, corrected = Problem.of(error.args[0], usual), None
            remedy = problem.remedy
            if "^" in text:
                remedy = "Write ** for a power."
            elif _QUANTITY.search(text):
                remedy = "Make the quantity a parameter: expressions may contain only names and plain numbers."
            if _COMMA.fullmatch(text):
                number = float(text.replace(",", "."))
                remedy, corrected = f"Write a point for the decimal comma: {number}.", {at.path: number}
            self.error("number", at, f"{_named(at)} is {short(text)}: {problem.what}", remedy, corrected)
            return 0.0
        if isinstance(value, Formula):
            self._ops += value.extent[1]
            if self._ops > limits.ELEMENTS:
                many = f"all formulas together have more than {limits.ELEMENTS} operations, the largest number allowed"
                self.error("file", at, many, "Write numbers instead of formulas.")
                return 0.0
        if isinstance(value, Parameter) and value.unit and not units.fits(value.unit, kind):
            found = f"{_named(at)} is the parameter '{value.name}' with the unit {value.unit!r}"
            self.warn("unit", at, f"{found}, expected {units.with_article(kind)}", "Check which parameter is meant.")
        return value

    def literal(self, raw: Any, at: At, field: Field | None = None) -> float:
        """A number or quantity; 0 for an expression with parameters, which is recorded as a finding."""
        value = self.value(raw, at, str(field.kind) if field else "")
        if isinstance(value, (Parameter, Formula)):
            self.error("number", at, f"{_named(at)} is {short(raw)}, expected a plain number", "Write a number.")
            return 0.0
        return value

    # ── several numbers ───────────────────────────────────────────────────────────────────────────────────────────

    def items(self, raw: Any, at: At, count: int | Sequence[int] | None = None) -> list[Any]:
        """The items of a list of `count` items (or one of these lengths). Else zeros, and a finding is recorded."""
        counts = (count,) if isinstance(count, int) else count
        if isinstance(raw, list) and (counts is None or len(raw) in counts):
            return raw
        expected = f"{' or '.join(map(str, counts))} item{'' if counts[-1] == 1 else 's'}" if counts else "a list"
        found = f"has {counted(len(raw), 'item')}" if isinstance(raw, list) else f"is {short(raw)}"
        remedy = "Write a list in brackets."
        if isinstance(raw, list) and counts:
            remedy = f"Write {expected}."
        self.error("structure", at, f"{_named(at)} {found}, expected {expected}", remedy)
        return [0.0] * (counts[0] if counts else 0)

    def vector(self, raw: Any, at: At, kind: str = "") -> tuple[Value, Value, Value]:
        """Three Values of a kind of quantity."""
        x, y, z = (self.value(item, at.key(i), kind) for i, item in enumerate(self.items(raw, at, 3)))
        return (x, y, z)

    def matrix(self, raw: Any, at: At, kind: str = "") -> tuple[Any, ...]:
        """A matrix of Values of a kind of quantity, shape (3, 3)."""
        rows = self.items(raw, at, 3)
        if any(not isinstance(row, list) for row in rows):
            problem = f"{_named(at)} is {short(raw)}, expected three rows of three"
            self.error("structure", at, problem, "Write [[...], ...].")
            return IDENTITY.R
        return tuple(self.vector(row, at.key(i), kind) for i, row in enumerate(rows))

    def inertia(self, raw: Any, at: At, field: Field) -> tuple[Any, ...]:
        """An inertia, from three moments, a matrix, or a table of moments and products."""
        kind = str(field.kind)
        if isinstance(raw, dict):
            longer = [f"i{name}" for name in MOMENTS if f"i{name}" in raw]
            if longer:
                problem = f"{_named(at)} has the keys {', '.join(longer)}, expected {', '.join(MOMENTS)}"
                self.error("unknown", at, problem, f"Write {longer[0][1:]} for {longer[0]}.")
                return IDENTITY.R
            rows = [Field(name, "value", kind, required=name[0] == name[1]) for name in MOMENTS]
            xx, yy, zz, xy, xz, yz = map(self.table(raw, at, rows).get, MOMENTS, [0.0] * 6)
            return ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
        if isinstance(raw, list) and raw and isinstance(raw[0], list):
            return self.matrix(raw, at, kind)
        if not isinstance(raw, list) or len(raw) != 3:
            found = f"has {counted(len(raw), 'item')}" if isinstance(raw, list) else f"is {short(raw)}"
            problem = f"{_named(at)} {found}, expected three moments, three rows of three, or a table"
            self.error("structure", at, problem, "Write [xx, yy, zz], or { xx = ..., yy = ..., zz = ..., xy = ... }.")
            return IDENTITY.R
        return self.vector(raw, at, kind)

    def axis(self, raw: Any, at: At, field: Field | None = None) -> tuple[Value, ...]:
        """An axis, from a name such as "x" or "-y", or from three numbers."""
        if isinstance(raw, str):
            if raw.removeprefix("+") in AXES:
                return AXES[raw.removeprefix("+")]
            problem = f"{_named(at)} is {short(raw)}, expected one of {', '.join(AXES)} or a unit vector"
            self.error("axis", at, problem, 'Write "z" or [0, 0, 1].')
            return AXES["z"]
        return self.vector(raw, at, "number")

    def numbers(self, raw: Any, at: At, field: Field) -> tuple[float, ...]:
        """Plain numbers, as many as `field.inner` says."""
        return tuple(self.literal(item, at.key(i), field) for i, item in enumerate(self.items(raw, at, field.inner)))

    def points(self, raw: Any, at: At, field: Field) -> tuple[tuple[float, ...], ...]:
        """A list of points, shape (n, 3)."""
        row = field._replace(inner=3)
        return tuple(self.numbers(item, at.key(i), row) for i, item in enumerate(self.items(raw, at)))

    def faces(self, raw: Any, at: At, field: Field) -> tuple[tuple[int, ...], ...]:
        """A list of triangles, each with three indices of vertices, shape (n, 3)."""
        return tuple(
            tuple(self.whole(corner, at.key(i).key(j)) for j, corner in enumerate(self.items(face, at.key(i), 3)))
            for i, face in enumerate(self.items(raw, at))
        )

    def sequence(self, raw: Any, at: At, field: Field) -> tuple[Any, ...]:
        """A list of items of one form; `field.inner` is (form of an item, possible lengths or None for any)."""
        row, count = field.inner
        row = row._replace(kind=field.kind)
        items = self.items(raw, at, count)
        return tuple(self.forms[row.form](item, at.key(i), row) for i, item in enumerate(items))

    def row(self, raw: Any, at: At, field: Field) -> tuple[Any, ...]:
        """A list in which each item has its own form; `field.inner` are the forms of the items."""
        items = self.items(raw, at, len(field.inner))
        return tuple(
            self.forms[row.form](item, at.key(i), row)
            for i, (item, row) in enumerate(zip(items, field.inner, strict=True))
        )

    def is_number(self, text: str) -> bool:
        """Whether a text is a quantity or an expression of the file's parameters."""
        try:
            return units.is_quantity(text) or parse_expression(text, self.names, hints=False) is not None
        except ExpressionError:
            return False

    def either(self, raw: Any, at: At, field: Field) -> Any:
        """A value, read in the one of the forms `field.inner` that fits it."""
        row = written_row(field.inner, raw, self.is_number)
        return self.forms[row.form](raw, at, row._replace(kind=field.kind))

    def function(self, raw: Any, at: At, field: Field) -> None:
        """Reports a value for a key that is a Python function, which a file cannot contain."""
        problem = f"{_named(at)} is {short(raw)}, but it must be a Python function, which a file cannot contain"
        self.error("data", at, problem, "Remove the element from the file, and add it in Python.")

    def part(self, raw: Any, at: At, field: Field) -> Any:
        """The object that a table describes; `field.inner` are its possible kinds; the key `kind` names one of them."""
        known = field.inner
        one = next(iter(known.values())) if len(known) == 1 else None
        made = one if one is not None and isinstance(raw, dict) and "kind" not in raw else self.kind(raw, at, known)
        before = self.error_count
        read = {} if made is None else self.table(raw, at, part_fields(made), skip=("kind",))
        if made is None or self.error_count > before:
            return None
        return self.made(made, read, at)

    def made(self, kind: type[Any], read: dict[str, Any], at: At) -> Any:
        """The object of type `kind` with the fields `read` and the contents of files that it names.

        None if that fails, which is recorded as a finding.
        """
        try:
            made = kind(**read)
            if hasattr(made, "knowing"):  # an element with expressions, which may contain parameters of the file
                made = made.knowing(self.names)
            return made.read_from(self.open) if hasattr(made, "read_from") else made
        except Outside as error:
            found = f"{_named(at)} names the file {short(str(error))}, which is outside the folders that may be read"
            remedy = "Move the file to the folder of the model, or name its folder in package_dirs (--package-dir)."
            self.error("path", at, found, remedy)
        except FileNotFoundError as error:
            found = f"{_named(at)} names the file {short(str(error))}, which does not exist"
            self.error("path", at, found, "Correct the name, or move the file to the folder of the model.")
        except (TypeError, ValueError, ArithmeticError, OSError, ModelError) as error:
            message = error.problems[0] if isinstance(error, ModelError) else str(error)
            problem = Problem.of(message, "Correct the data of this part.")
            where = f"{_named(at)}: " if at.what else "its data are not valid: "
            self.error("data", at, f"{where}{problem.what}", problem.remedy)
        return None

    def anything(self, raw: Any, at: At, field: Field | None = None) -> Any:
        """A value of any form: lists, and lists in lists, become tuples; quantities and whole numbers become floats."""
        if isinstance(raw, list):
            return tuple(
                tuple(item) if isinstance(item, list) else self.anything(item, at.key(i)) for i, item in enumerate(raw)
            )
        if isinstance(raw, str) and units.is_quantity(raw):
            return self.value(raw, at)
        return float(raw) if isinstance(raw, int) and not isinstance(raw, bool) and abs(raw) < 1e300 else raw

    # ── poses ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def pose(self, raw: Any, at: At, field: Field | None = None) -> Pose:
        """A pose, from a table with a translation and at most one form of rotation."""
        if not isinstance(raw, dict):
            problem = f"{_named(at)} is {short(raw)}, expected a table"
            self.error("structure", at, problem, "Write { translation = [x, y, z] }.")
            return IDENTITY
        ways = [key for key in POSE_KEYS[1:] if key in raw]
        if len(ways) > 1:
            problem = f"{' and '.join(ways)} are given together, expected only one rotation"
            self.error("structure", at.key(ways[1]), problem, "Remove all but one.")
        read = self.table({key: raw[key] for key in raw if key not in ways}, at, POSE[:1])
        R = getattr(self, f"_of_{ways[0]}")(raw[ways[0]], at.key(ways[0])) if ways else IDENTITY.R
        return Pose(R, read.get("translation", IDENTITY.p))

    def _of_rpy(self, raw: Any, at: At) -> Any:
        """The rotation matrix R = Rz(yaw) Ry(pitch) Rx(roll), shape (3, 3), of three angles.

        Right angles that are written as text ("90 deg", "pi/2") are exact.
        """
        turns = []
        for i, item in enumerate(self.items(raw, at, 3)):
            angle = self.literal(item, at.key(i), POSE[1])
            if math.isinf(angle):
                problem = f"{_named(at)} is {short(raw)}, expected finite angles"
                self.error("number", at.key(i), problem, "Write finite angles.")
                return IDENTITY.R
            if not isinstance(item, str) and (warning := maybe_degrees([angle])):
                remedy = f'Write "{angle:g} deg" if degrees are meant.'
                self.warn("unit", at.key(i), f"{_named(at.key(i))}: {warning[0]}", remedy)
            turns.append(exact_turn(angle) if isinstance(item, str) else (math.cos(angle), math.sin(angle)))
        return rotation_of_turns(*turns)

    def _of_rotation(self, raw: Any, at: At) -> Any:
        """The rotation matrix, shape (3, 3), of three rows."""
        return self.matrix(raw, at, "number")

    def _of_quaternion(self, raw: Any, at: At) -> Any:
        """The rotation matrix, shape (3, 3), of a quaternion w, x, y, z."""
        q = self.numbers(raw, at, POSE[3])
        length = math.hypot(*q)
        if not abs(length - 1.0) <= NEAR_UNIT:
            problem = (
                f"{_named(at)} is {short(raw)} with length {length:.6g}, expected length 1, in the order w, x, y, z"
            )
            self.error("rotation", at, problem, "Divide it by its length.")
            return IDENTITY.R
        return direction_to_rotation(q)


def _closed(name: str) -> str:
    """The default of `Values.open`: no file may be read."""
    raise Outside(name)


def _named(at: At) -> str:
    """The name of a value in messages."""
    return at.what.strip() or "the value"
