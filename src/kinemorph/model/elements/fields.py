"""The keys of an element in model files, from the type hints of its dataclass. A type hint becomes in a file:

float, Value, Vector, Pose, str, bool, int      the usual form; a field's metadata may give the `kind` of quantity
Literal["a", "b"]                               one of these words
tuple[X, ...], tuple[X, Y]                      a list
tuple[...] | FrozenArray | an array             the same list; in Python it may be given as an array
a frozen dataclass, or a union of several       a table; with its `kind` if there are several dataclasses
X | Y                                           the form that fits the value in the file
X | None                                        X, or left out
Starts                                          a table of numbers by name, or a list of names
Callable                                        not possible in a file

A field with the metadata `in_files` False is no key of a file; one with `path`, "file" or "folder", names such.
"""

from __future__ import annotations

import dataclasses
import math
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import numpy as np

from kinemorph.algebra.groups import Pose
from kinemorph.model.body import Vector
from kinemorph.model.elements import kind_of
from kinemorph.model.elements.contact.contact_laws import Soft
from kinemorph.model.elements.control.wiring import Starts
from kinemorph.model.elements.declared import Bounds, bounds_of
from kinemorph.model.parameter import Formula, Parameter, Value
from kinemorph.model.shapes import Surface
from kinemorph.vocabulary.frozen_array import FrozenArray

HINTS: dict[type[Any], dict[str, Any]] = {Surface: {"normal": Soft | None}}  # of classes that cannot import these types


class Field(NamedTuple):
    """A key of a table in a model file.

    `form` says how the value is written in the file, such as "value", "vector" or "list"; `formats.toml` reads and
    writes each form. `kind` is the kind of quantity, a key of `units.KINDS`, empty if every unit is accepted; for
    numbers per coordinate, a pair of kinds: for rotation and for translation. `inner` holds the form of a list's items,
    the possible words of a choice, or the possible types of a table. `default` is the value if the key is left out, as
    far as a file can contain it; None if there is none. `bounds` are those of all its numbers.
    """

    name: str
    form: str
    kind: str | tuple[str, str] = ""
    help: str = ""
    required: bool = False
    inner: Any = None
    default: Any = None
    bounds: Bounds = Bounds()


_PLAIN = {float: "literal", int: "whole", bool: "flag", str: "text", Value: "value", Vector: "vector", Pose: "pose"}
_PLAIN |= {Starts: "starts"}
_VALUE = (float, Parameter, Formula)  # the types of a Value


_ROWS: dict[type[Any], tuple[Field, ...]] = {}  # cache of `part_fields`


def element_fields(element: type[Any]) -> tuple[Field, ...]:
    """The keys of an element in a file: one per field of its dataclass, except the name."""
    return tuple(field for field in part_fields(element) if field.name != "name")


def part_fields(part: type[Any]) -> tuple[Field, ...]:
    """The keys of a dataclass in a file: one per field."""
    if part not in _ROWS:
        _ROWS[part] = tuple(_rows(part))
    return _ROWS[part]


def _rows(part: type[Any]) -> Iterator[Field]:
    hints = get_type_hints(part) | HINTS.get(part, {})
    for field in dataclasses.fields(part):
        if field.init and field.metadata.get("in_files", True):
            needed = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
            form, inner = _form(hints[field.name])
            kind, bounds = field.metadata.get("kind", ""), bounds_of(field)
            yield Field(field.name, form, kind, "", needed, inner, _plain(field.default), bounds)


def _plain(default: Any) -> Any:
    """A default value as a file can contain it: a finite number, a text, a truth value, or a list of them.

    None for any other value.
    """
    if isinstance(default, tuple):
        items = [_plain(item) for item in default]
        return items if items and all(item is not None for item in items) else None
    if isinstance(default, (bool, int, str)):
        return default
    return default if isinstance(default, float) and math.isfinite(default) else None


def _form(hint: Any) -> tuple[str, Any]:
    """The form and the `inner` data of a type hint; the form is "any" for an unknown type."""
    if hint in _PLAIN:
        return _PLAIN[hint], None
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _either(parts)
    if origin is Literal and all(isinstance(part, str) for part in parts):
        return "choice", parts
    if origin is tuple and parts and (parts[-1] is Ellipsis or len(set(parts)) == 1):
        count = None if parts[-1] is Ellipsis else len(parts)
        return "list", (_row(parts[0]), count)
    if origin is tuple and parts:
        return "row", tuple(map(_row, parts))
    if is_part(hint):
        return "part", {kind_of(hint.__name__): hint}
    if origin is Callable or hint is Callable:
        return "function", None
    return "any", None


def _either(parts: tuple[Any, ...]) -> tuple[str, Any]:
    """The form and the `inner` data of a union of types; its dataclasses are one table with a `kind`."""
    rest = [part for part in parts if part not in (type(None), FrozenArray) and get_origin(part) is not np.ndarray]
    if all(part in rest for part in _VALUE):
        rest = [Value, *(part for part in rest if part not in _VALUE)]
    known = {kind_of(part.__name__): part for part in rest if is_part(part)}
    rows = [_row(part) for part in rest if not is_part(part)]
    rows += [Field("", "part", inner=known)] if known else []
    rows = [row for row in rows if row.form != "function"] or rows
    return (rows[0].form, rows[0].inner) if len(rows) == 1 else ("either", tuple(rows))


def _row(hint: Any) -> Field:
    form, inner = _form(hint)
    return Field("", form, inner=inner)


_DEFAULTS: dict[type[Any], Mapping[str, Any]] = {}


def defaults_of(part: Any) -> Mapping[str, Any]:
    """The default values of the fields of a dataclass object, by name."""
    kind = type(part)
    if kind not in _DEFAULTS:
        _DEFAULTS[kind] = {
            field.name: field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
            for field in dataclasses.fields(kind)
        }
    return _DEFAULTS[kind]


def is_part(hint: Any) -> bool:
    """Whether a type is a dataclass that is not a Parameter or Formula."""
    return isinstance(hint, type) and dataclasses.is_dataclass(hint) and hint not in _VALUE


# ── which of several forms fits ───────────────────────────────────────────────────────────────────────────────────────

_LISTS, _TABLES = ("vector", "list", "row", "numbers"), ("part", "pose")
_NUMBERS = ("value", "literal", "whole")


def written_row(rows: tuple[Field, ...], raw: Any, is_number: Callable[[str], bool]) -> Field:
    """The one of several forms `rows` of a key that fits a raw value from a file.

    `is_number` says whether a text is a quantity or an expression.
    """
    if isinstance(raw, str):
        choices = [row for row in rows if row.form == "choice" and raw in row.inner]
        words = (*_NUMBERS, "text", "choice") if is_number(raw) else ("text", *_NUMBERS, "choice")
        return choices[0] if choices else _first(rows, words)
    forms = {dict: _TABLES, list: _LISTS, bool: ("flag",)}.get(type(raw), _NUMBERS)
    return _first(rows, forms)


def data_row(rows: tuple[Field, ...], data: Any) -> Field:
    """The one of several forms `rows` of a key that fits data of an element, to write them to a file."""
    if isinstance(data, Pose):
        return _first(rows, ("pose",))
    if is_part(type(data)):
        return _first(rows, ("part",))
    forms = {tuple: _LISTS, bool: ("flag",), str: ("choice", "text")}.get(type(data), _NUMBERS)
    return _first(rows, forms)


def _first(rows: tuple[Field, ...], forms: tuple[str, ...]) -> Field:
    return next((row for form in forms for row in rows if row.form == form), rows[0])


def functions_in(part: Any) -> Iterator[str]:
    """The names of the fields of an element that contain Python functions, also in its parts: "ground.height"."""
    for field in dataclasses.fields(part):
        data = getattr(part, field.name)
        if is_part(type(data)):
            yield from (f"{field.name}.{name}" for name in functions_in(data))
        elif callable(data) and not isinstance(data, type):
            yield field.name
