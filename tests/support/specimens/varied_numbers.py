"""Every number of a system's elements as a Parameter, and the fields of elements that have such numbers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from kinemorph import System
from kinemorph.algebra.groups import Pose
from kinemorph.model.elements.fields import Field, part_fields
from kinemorph.model.parameter import Parameter, Symbolic, parameters_of


def with_parameters(system: System, wanted: Callable[[str], bool]) -> tuple[System, dict[str, str]]:
    """(the system with a Parameter in place of every number of its elements and automaton that can be one, the field of
    each Parameter, as "PD.kp"), for fields that are `wanted`. Numbers that are 0 or infinite stay, except in vectors
    that are not 0.
    """
    fields: dict[str, str] = {}
    elements = tuple(_varied(one, one.name, fields, wanted) for one in system.elements)
    automaton = system.automaton and _varied(system.automaton, "automaton", fields, wanted)
    return dataclasses.replace(system, elements=elements, automaton=automaton), fields


def _varied(part: Any, name: str, fields: dict[str, str], wanted: Callable[[str], bool]) -> Any:
    found = {}
    for field in part_fields(type(part)):
        given, of = getattr(part, field.name), f"{type(part).__name__}.{field.name}"
        if dataclasses.is_dataclass(given) and not isinstance(given, Symbolic | Pose):
            found[field.name] = _varied(given, f"{name}.{field.name}", fields, wanted)
        elif isinstance(given, tuple) and any(map(_is_part, given)):
            rows = (_varied(one, f"{name}.{field.name}.{k}", fields, wanted) for k, one in enumerate(given))
            found[field.name] = tuple(rows)
        elif has_own_numbers(field) and field.name not in NO_NUMBERS and wanted(of):
            found[field.name] = _replaced(given, field, f"{name}.{field.name}", of, fields)
    return dataclasses.replace(part, **found)


def _is_part(given: Any) -> bool:
    return dataclasses.is_dataclass(given) and not isinstance(given, Symbolic)


def _replaced(given: Any, field: Field, name: str, of: str, fields: dict[str, str]) -> Any:
    if isinstance(given, Symbolic):
        fields |= {leaf.name: of for leaf in parameters_of(given)}
        return given
    if isinstance(given, bool | str) or given is None or callable(given):
        return given
    if isinstance(given, float | int):
        if given == 0.0 or abs(given) == float("inf"):
            return given
        fields[name] = of
        return Parameter(name, given)
    if isinstance(given, Pose):
        return Pose(
            tuple(
                tuple(_replaced(x, field, name, of, fields) if isinstance(x, Symbolic) else x for x in row)
                for row in given.R
            ),
            _replaced(given.p, Field("", "vector"), name, of, fields) if any(given.p) else given.p,
        )
    if isinstance(given, tuple) and field.form == "vector":
        if any(isinstance(x, Symbolic) or x for x in given):
            return tuple(_component(x, f"{name}.{axis}", of, fields) for axis, x in zip("xyz", given, strict=True))
        return given
    if isinstance(given, tuple):
        row = _row_of(field)
        return tuple(_replaced(x, row, f"{name}.{k}", of, fields) for k, x in enumerate(given))
    return given


def _component(x: Any, name: str, of: str, fields: dict[str, str]) -> Any:
    if isinstance(x, Symbolic):
        return _replaced(x, Field("", "value"), name, of, fields)
    fields[name] = of
    return Parameter(name, x)


def _row_of(field: Field) -> Field:
    """The field of the items of a list; the first of several forms that is a list."""
    if field.form == "either":
        return next((_row_of(one) for one in field.inner if one.form in ("list", "vector")), field)
    return field.inner[0] if field.form == "list" else field


def numeric_fields(kinds: Iterable[type[Any]]) -> set[str]:
    """The fields of these kinds and of their parts that have numbers, as "PD.kp"."""
    found: set[str] = set()
    waiting, seen = [*kinds], set[type[Any]]()
    while waiting:
        kind = waiting.pop()
        if kind not in seen:
            seen.add(kind)
            for field in part_fields(kind):
                waiting += _parts(field)
                if field.name not in NO_NUMBERS and has_own_numbers(field):
                    found.add(f"{kind.__name__}.{field.name}")
    return found


def has_own_numbers(field: Field) -> bool:
    """Whether a field takes numbers directly, not in parts alone."""
    if field.form in ("value", "vector", "pose"):
        return True
    if field.form == "list":
        return has_own_numbers(field.inner[0])
    return field.form in ("either", "row") and any(map(has_own_numbers, field.inner))


def _parts(field: Field) -> Iterator[type[Any]]:
    if field.form == "part":
        yield from field.inner.values()
    elif field.form == "list":
        yield from _parts(field.inner[0])
    elif field.form in ("either", "row"):
        for one in field.inner:
            yield from _parts(one)


NO_NUMBERS = ("phases", "rules")  # rows of numbers that count or name something
