"""Problems of the fields of an element: values of another type than the type hint says, and numbers out of bounds.

Laws rely on these checks: dataclasses accept any value, and without them an error would occur much later, inside a law.
A field says its kind of quantity and bounds in its metadata (`declared`); every number has to be finite, unless
the field or its default says that infinite ones mean something. A law checks what several fields have to do with each
other, and names that a robot has to have.
"""

from __future__ import annotations

import dataclasses
import math
import numbers
from collections.abc import Callable, Iterator, Mapping
from dataclasses import is_dataclass
from functools import cache
from typing import Any

from kinemorph.algebra.groups import Pose
from kinemorph.errors import Problem
from kinemorph.model.elements.declared import Bounds, bounds_of
from kinemorph.model.elements.fields import Field, defaults_of, is_part, part_fields
from kinemorph.model.input_reader import LARGEST, short
from kinemorph.model.parameter import Formula, Parameter, evaluate
from kinemorph.model.units import KINDS
from kinemorph.vocabulary.frozen_array import FrozenArray
from kinemorph.words import listed


def type_problems(element: Any) -> list[Problem]:
    """A problem for each field of the element whose value has the wrong type, or the wrong length for its type."""
    return [Problem("element", element.name, what, remedy, key, "element") for key, what, remedy in _misfits(element)]


def number_problems(element: Any) -> list[Problem]:
    """A problem for each field of the element, or of its parts, with a number that is not within the field's bounds.

    The numbers of Parameters and Formulas are their nominal values.
    """
    if not is_dataclass(element):
        return []
    owner = getattr(element, "name", "?")
    return [Problem("element", owner, what, remedy, key, "element") for key, what, remedy in _excesses(element)]


def _misfits(part: Any) -> Iterator[tuple[str, str, str]]:
    """(field, what is wrong with its value, remedy) for each field of the wrong type, also in parts."""
    try:
        rows = part_fields(type(part))
    except (NameError, TypeError):  # hints that cannot be resolved are not checked
        return
    defaults = defaults_of(part)
    for row in rows:
        value = getattr(part, row.name)
        if value is defaults[row.name]:
            continue
        if not _fits(row, value):
            shown = value[0] if isinstance(value, tuple) and len(value) == 1 else value
            such = _expected(row, row.name)
            remedy = _remedy(row.name, "one of these" if such.startswith("one of ") else such, defaults)
            given = value if isinstance(value, tuple) else (value,)
            symbolic = any(isinstance(one, _NUMBERS) for one in given)
            fixed = ", and no Parameter" if symbolic and _numeric(row) and not _takes_parameters(row) else ""
            yield row.name, f"{row.name} is {short(shown)}; expected {such}{fixed}", remedy
        elif row.form in ("part", "either", "list"):
            for where, inner in _parts_in(value, row.name):
                yield from ((row.name, f"{where}: {what}", remedy) for _, what, remedy in _misfits(inner))


def _excesses(part: Any) -> Iterator[tuple[str, str, str]]:
    """(field, what is wrong with its number, remedy) for the first number out of bounds of each field."""
    defaults = defaults_of(part)
    for field, bounds in _bounded(part.__class__):
        value = getattr(part, field.name)
        if (
            value is defaults[field.name]
            or type(value) in (str, bool)
            or (type(value) is float and bounds.hold(value) and abs(value) <= LARGEST)
        ):
            continue
        for where, inner in _parts_in(value, field.name):
            yield from ((field.name, f"{where}: {what}", remedy) for _, what, remedy in _excesses(inner))
        for where, raw in _numbers_in(value, field.name):
            x = raw if type(raw) is float else float(evaluate(raw))
            if bounds.hold(x) and (abs(x) <= LARGEST or bounds.infinite):
                continue
            such, why = bounds.words(whole=field.type == "int"), ""
            if bounds.hold(x):
                such, why = f"a number of at most {LARGEST:g}", ", so that products do not overflow"
            shown = f"{x:g}" if isinstance(raw, numbers.Real) else f"{short(raw)} with the nominal value {x:g}"
            plain = such.replace(" finite", "") if math.isfinite(x) else such
            remedy = field.metadata.get("give") or _remedy(field.name, plain, defaults)
            yield field.name, f"{where} is {shown}; expected {such}{_unit(field)}{why}", remedy
            break


@cache
def _bounded(kind: type[Any]) -> tuple[tuple[dataclasses.Field[Any], Bounds], ...]:
    """The fields of a dataclass with their bounds."""
    return tuple((field, bounds_of(field)) for field in dataclasses.fields(kind))


def _unit(field: dataclasses.Field[Any]) -> str:
    """The unit of a field in brackets, both units of a field for joints that turn or slide; empty without a unit."""
    kind, unit = field.metadata.get("kind", ""), field.metadata.get("unit", "")
    units: tuple[str, ...] = (unit,) if unit and "{" not in unit and "per" not in field.metadata else ()
    if isinstance(kind, str) and kind:
        units = (KINDS[kind][0], KINDS[kind][-1]) if kind.startswith("joint ") else KINDS[kind][:1]
    return f" [{' or '.join(units)}]" if units and units != ("1",) else ""


def _remedy(name: str, such: str, defaults: Mapping[str, Any]) -> str:
    """What to write into a field: `such` a value, or nothing where it has a default."""
    default = defaults[name]
    if default is dataclasses.MISSING:
        return f"Give {such}."
    alone = default[0] if isinstance(default, tuple) and len(default) == 1 else default
    told = f"{alone:g}" if type(alone) in (int, float) else short(alone) if alone and isinstance(alone, str) else ""
    return f"Give {such}, or leave `{name}` out{told and f' for the default {told}'}."


def _numbers_in(value: Any, where: str) -> Iterator[tuple[str, Any]]:
    """(where it is, the number) for all numbers in a value, which may be nested tuples and lists: ("feet[0][1]", 2)."""
    if type(value) is float or (isinstance(value, (numbers.Real, *_NUMBERS)) and not isinstance(value, bool)):
        yield where, value
    elif isinstance(value, (tuple, list)):
        if len(value) == 2 and isinstance(value[0], str):  # a number by its name
            value, where = value[1:], f"{where}['{value[0]}']"
        for k, one in enumerate(value):
            yield from _numbers_in(one, f"{where}[{k}]" if len(value) > 1 or isinstance(one, tuple) else where)


def _parts_in(value: Any, where: str) -> Iterator[tuple[str, Any]]:
    """(where it is, the part) for a value that is a part of an element, or a tuple of parts.

    Parts with names, such as edges, are checked as what they are.
    """
    if is_part(type(value)):
        if not hasattr(value, "name"):
            yield where, value
    elif isinstance(value, tuple) and value and is_part(type(value[0])):
        for k, one in enumerate(value):
            yield from _parts_in(one, f"{where}[{k}]" if len(value) > 1 else where)


# ── values that fit a field, and the words for them ───────────────────────────────────────────────────────────────────

_NUMBERS = (Parameter, Formula)


def _fits(row: Field, value: Any) -> bool:
    return _FITS[row.form](row, value) if row.form in _FITS else True


def _number(row: Field, value: Any) -> bool:
    return isinstance(value, (numbers.Real, *_NUMBERS)) or (getattr(value, "shape", None) == () and value.dtype != "O")


def _items(row: Field, value: Any) -> bool:
    if isinstance(value, FrozenArray):  # nothing but numbers
        return True
    item, count = row.inner if row.form == "list" else (Field("", "value"), 3)
    return (
        _is_sequence(value)
        and (count is None or len(value) == count)
        and all(_fits(item, one) and not callable(one) for one in value)
    )


def _is_sequence(value: Any) -> bool:
    return isinstance(value, (tuple, list)) or bool(getattr(value, "shape", ()))


def _numeric(row: Field) -> bool:
    """Whether a field is one number or several, in any of its forms."""
    if row.form == "either":
        return any(map(_numeric, row.inner))
    return row.form in ("value", "literal") or (row.form == "list" and _numeric(row.inner[0]))


def _takes_parameters(row: Field) -> bool:
    """Whether numbers of a field may be Parameters and Formulas."""
    if row.form == "either":
        return any(map(_takes_parameters, row.inner))
    return row.form in ("value", "vector") or (row.form == "list" and _takes_parameters(row.inner[0]))


_FITS: dict[str, Callable[[Field, Any], bool]] = {
    "literal": lambda row, value: _number(row, value) and not isinstance(value, _NUMBERS),
    "value": _number,
    "whole": lambda row, value: isinstance(value, numbers.Integral),
    "flag": lambda row, value: isinstance(value, (bool, numbers.Integral)),
    "text": lambda row, value: isinstance(value, str),
    "choice": lambda row, value: isinstance(value, str) and value in row.inner,
    "pose": lambda row, value: isinstance(value, Pose),
    "vector": _items,
    "list": _items,
    "row": lambda row, value: (
        _is_sequence(value)
        and len(value) == len(row.inner)
        and all(_fits(item, one) for item, one in zip(row.inner, value, strict=True))
    ),
    "part": lambda row, value: isinstance(value, tuple(row.inner.values())),
    "function": lambda row, value: callable(value),
    "either": lambda row, value: (
        any(_fits(one, value) for one in row.inner) or (callable(value) and not all(map(_numeric, row.inner)))
    ),
}


_TEXTS = {  # fields of text that are not names: (one, several)
    "rows": ("a text with an expression", "texts with expressions"),
    "surface": ("a text with an expression", "texts with expressions"),
    "motion": ("a text with an expression", "texts with expressions"),
    "file": ("the name of a file", "names of files"),
}
_WORDS = {  # by form: (one, several)
    "literal": ("a number", "numbers"),
    "value": ("a number", "numbers"),
    "whole": ("a whole number", "whole numbers"),
    "flag": ("True or False", "True or False"),
    "pose": ("a Pose", "Poses"),
    "vector": ("three numbers", "rows of three numbers"),
    "function": ("a function", "functions"),
}


def _expected(row: Field, field: str, *, several: bool = False) -> str:
    """Words for the values that `row`, the field with the name `field` or a part of its type, may have."""
    if row.form == "text":
        return _TEXTS.get(field, ("a name", "names"))[several]
    if row.form in _WORDS:
        return _WORDS[row.form][several]
    if row.form == "choice":
        return f"one of {listed(row.inner, len(row.inner))}"
    if row.form == "part":
        kinds = [kind.__name__ for kind in row.inner.values()]
        return (
            f"one of {listed(kinds, len(kinds))}"
            if len(kinds) > 1
            else f"{'an' if kinds[0][0] in 'AEIOU' else 'a'} {kinds[0]}"
        )
    if row.form == "list":
        item, count = row.inner
        if item.form == "list" and item.inner[1] is None and not several:
            return f"rows of {_expected(item.inner[0], field, several=True)}, or an array with two axes"
        inner = _expected(item, field, several=True)
        if count:
            return f"rows of {count} {inner}" if several else f"{count} {inner}"
        return f"{'tuples' if several else 'a tuple'} of {inner}"
    if row.form == "row":
        return f"{'pairs ' if several else ''}({', '.join(_expected(one, field) for one in row.inner)})"
    *first, last = dict.fromkeys(_expected(one, field, several=several) for one in row.inner)
    return f"{', '.join(first)}{',' if len(first) > 1 else ''} or {last}" if first else last
