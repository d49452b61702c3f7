"""Checks that an element's data match its type hints: numbers where numbers are expected, and as many as expected.

Laws rely on these checks: dataclasses accept any value, and without them an error would occur much later, inside a law.
A law checks everything else itself: signs, names, sizes that have to match.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from typing import Any

from kinemorph.algebra.groups import Pose
from kinemorph.mechanics.elements.checks import wrong
from kinemorph.model.elements.fields import Field, defaults_of, part_fields
from kinemorph.model.input_reader import LARGEST, short
from kinemorph.model.parameter import Formula, Parameter
from kinemorph.vocabulary.frozen_array import FrozenArray
from kinemorph.words import listed


def data_problems(element: Any) -> list[str]:
    """A problem for each field of the element whose value has the wrong type."""
    return [wrong(element.name, what, "Correct it.", key) for key, what in _problems(element)]


def _problems(part: Any) -> Iterator[tuple[str, str]]:
    """(field, what is wrong with its value) for each field of the wrong type; `part` is an element or a part of one."""
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
            yield row.name, f"{row.name} is {short(shown)}; expected {_expected(row, row.name)}"
        elif row.form in ("part", "either") and is_dataclass(value) and not isinstance(value, _NUMBERS):
            yield from ((row.name, f"{row.name}: {what}") for _, what in _problems(value))


def number_problems(element: Any) -> list[str]:
    """A problem for each field of the element that has a NaN, or, where its default is finite, an infinite number or
    one whose products overflow.
    """
    if not is_dataclass(element):
        return []
    owner, defaults = getattr(element, "name", "?"), defaults_of(element)
    found = []
    for name, value in vars(element).items():
        if type(value) in (str, bool) or value is defaults.get(name):
            continue
        largest = max((math.inf if math.isnan(x) else abs(x) for x in _plain(value)), default=0.0)
        if largest <= LARGEST:  # the usual case
            continue
        limit = any(map(math.isinf, _plain(defaults.get(name))))
        if any(map(math.isnan, _plain(value))) or (math.isinf(largest) and not limit):
            found.append(wrong(owner, f"{name} is {short(value)}; expected finite numbers", "Correct it.", name))
        elif not limit:
            what = (
                f"{name} is {short(value)}; expected numbers of at most {LARGEST:g}, so that products do not overflow"
            )
            found.append(wrong(owner, what, "Correct it.", name))
    return found


def _plain(value: Any) -> Iterator[float]:
    """All floats in a value, which may be nested tuples and lists."""
    if isinstance(value, float):
        yield value
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from _plain(one)


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
    return row.form in ("value", "literal") or (row.form == "list" and _numeric(row.inner[0]))


_FITS: dict[str, Callable[[Field, Any], bool]] = {
    "literal": _number,
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
    "part": lambda row, value: is_dataclass(value),  # the law reports parts of the wrong kind
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
        return f"one of {listed(kinds, len(kinds))}" if len(kinds) > 1 else f"a {kinds[0]}"
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
