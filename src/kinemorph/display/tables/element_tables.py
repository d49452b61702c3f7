"""What the elements of a system have to show: on which bodies or joints they act, their data, their signals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any

from kinemorph.codegen.storing.recipes import written
from kinemorph.errors import ModelError
from kinemorph.mechanics.elements.ensemble import Ensemble, ensemble
from kinemorph.mechanics.elements.law import ONCE, Slot
from kinemorph.model.elements import kind_of
from kinemorph.model.elements.fields import defaults_of, is_part, part_fields
from kinemorph.model.parameter import Formula, Parameter, evaluate
from kinemorph.model.system import System
from kinemorph.model.units import KINDS
from kinemorph.sheet import Part, Said, Table, hidden, said, shown

FEW = 6  # largest number of values that are listed
ALIKE = "Elements of one kind with the same data share a row."

ACTING = (*shown("element"), *shown("kind", form="word"), *shown("acts on"))
DATA = (*shown("element"), *shown("quantity", form="code"), *shown("value", form=6), *shown("unit", form="unit"))
DATA = (*DATA, *shown("parameter"))
LINKS = (*shown("source"), *shown("signal", form="unit"), *shown("target"))
INNER = (*shown("element"), *shown("signals", "states", "memory", form="unit"), *shown("samples", form="sentence"))


def element_rows(system: System) -> list[dict[str, Any]]:
    """One row of data per element: its fields that JSON can represent, and the inputs, signals, states, memory, clocks
    and events of its law.
    """
    try:
        cast = ensemble(system.robot, system.members)
    except ModelError:  # an element has no law: only its fields are known
        return [{**_plain(element), "kind": kind_of(type(element).__name__)} for element in system.elements]
    return [_row(cast, index) for index, member in enumerate(cast.members) if member is not cast.automaton]


def _row(cast: Ensemble, index: int) -> dict[str, Any]:
    element, law = cast.members[index][:2]
    wired = {name: source for (member, name), source in cast.wired.items() if member == index}
    return {
        **_plain(element),
        "kind": kind_of(type(element).__name__),
        "acts_on": list(law.acts_on(element, cast.robot)),
        "numbers": numbers_of(element),
        "inputs": [{**_slot(slot, cast), "from": wired.get(slot.name)} for slot in law.inputs(element)],
        "signals": [_slot(slot, cast, element.name) for owner, slot in cast.signals.values() if owner == index],
        "reads": [choice.split("|")[-1] for choice in law.reads(element)],
        "drives": [target for target in law.drives(element)],
        "states": [_slot(slot, cast) for slot in law.states(element)],
        "memory": [_slot(slot, cast) for slot in law.memory(element)],
        "clocks": [
            {"period": clock.period if clock.period < ONCE else None, "phase": clock.phase}
            for clock in law.clocks(element)
        ],
        "events": list(law.guards(element)),
    }


def _slot(slot: Slot, cast: Ensemble, element: str = "") -> dict[str, Any]:
    return {"name": slot.name or element, "unit": cast.unit(slot.unit)}


def _plain(element: Any) -> dict[str, Any]:
    """The fields of an element that JSON can represent: strings, integers and finite numbers."""
    named = {field.name: getattr(element, field.name) for field in fields(element)}
    return {
        key: value
        for key, value in named.items()
        if isinstance(value, (str, int)) or (isinstance(value, float) and math.isfinite(value))
    }


# ── numbers in a line ─────────────────────────────────────────────────────────────────────────────────────────────────


def numbers_of(part: Any) -> str:
    """The fields of an element that are neither names nor defaults, as text: `stiffness 40 N/m, rest 0.1 m`."""
    return ", ".join(
        f"{name} {_spelled(value)}{f' {unit}' if unit and not (is_part(type(value)) or callable(value)) else ''}"
        for name, value, unit in _given(part)
    )


def _given(part: Any) -> Iterator[tuple[str, Any, str]]:
    """(name of a field, its value, its unit) of all data of an element that are neither names nor defaults."""
    defaults = defaults_of(part)
    for row in part_fields(type(part)):
        value = getattr(part, row.name)
        names = isinstance(value, tuple) and bool(value) and all(isinstance(one, str) for one in value)
        if row.form in ("text", "pose") or value is None or value == defaults[row.name] or names:
            continue
        of_kind = isinstance(row.kind, str) and row.kind not in ("", "number")
        yield row.name, value, KINDS[str(row.kind)][0] if of_kind else ""


def _spelled(value: Any) -> str:
    """The text of a field's value in a table."""
    if isinstance(value, Parameter):
        return f"{value.name} = {evaluate(value):g}"
    if isinstance(value, Formula):
        return f"{evaluate(value):g}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float)):
        return f"{value:g}"
    if isinstance(value, tuple) and len(value) == 1:
        return _spelled(value[0])
    if isinstance(value, tuple):
        return f"({', '.join(map(_spelled, value))})" if len(value) <= FEW else f"{len(value)} of them"
    if is_part(type(value)):
        inside = numbers_of(value)
        return kind_of(type(value).__name__) + (f" ({inside})" if inside else "")
    return "a function" if callable(value) else type(value).__name__


# ── tables ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def element_parts(system: System) -> list[Part]:
    """The elements and their data, where those of one kind with the same data share a row, and what drives what."""
    rows = element_rows(system)
    named = {row["name"]: row for row in rows}
    acting, data = [], []
    for kind, group in _groups(system.elements):
        names = [element.name for element in group]
        acts = [target for name in names for key in ("acts_on", "drives") for target in named[name].get(key, ())]
        acting.append((names, kind, list(dict.fromkeys(acts))))
        data += [(() if k else names, *value) for k, value in enumerate(values_of(group[0]))]
    return [
        Table("", ACTING, acting, "Elements", ALIKE if len(acting) < len(rows) else ""),
        Table("", DATA, data, "Data of the elements"),
        Table("", LINKS, _links(rows), "What drives what"),
        Table("", INNER, _inner(rows), "Signals and states of elements"),
        hidden(elements=rows),
    ]


def _groups(elements: Sequence[Any]) -> list[tuple[str, list[Any]]]:
    """The elements by kind and data: those that differ only by names of parts are one group."""
    found: dict[tuple[str, str], list[Any]] = {}
    for element in elements:
        data = [(name, value) for name, value, _ in _given(element)]
        found.setdefault((kind_of(type(element).__name__), written(data) or repr(data)), []).append(element)
    return [(kind, group) for (kind, _), group in found.items()]


def values_of(part: Any, front: str = "") -> list[tuple[str, Any, str, str]]:
    """(field, value, unit, name of its parameter) of all data of an element that are neither names nor defaults.

    Fields of a part of the element, such as the law of a contact, follow with its name and a dot before theirs.
    """
    found: list[tuple[str, Any, str, str]] = []
    for name, value, unit in _given(part):
        if is_part(type(value)) and not isinstance(value, (Parameter, Formula)):
            found += [(front + name, type(value).__name__, "", ""), *values_of(value, f"{front}{name}.")]
        else:
            found.append((front + name, _shown(value), unit, value.name if isinstance(value, Parameter) else ""))
    return found


def _shown(value: Any) -> Any:
    """A value of a field as a sheet shows it: numbers and short lists in full, long lists counted."""
    if isinstance(value, (Parameter, Formula)):
        return float(evaluate(value))
    if isinstance(value, tuple):
        if len(value) == 1:
            return _shown(value[0])
        return [_shown(one) for one in value] if len(value) <= FEW else said("{n} values", n=len(value))
    if isinstance(value, (bool, int, float, str)):
        return value
    if callable(value):
        return said("a function")
    return said("{n} values", n=len(fields(value))) if is_part(type(value)) else type(value).__name__


def _links(rows: Sequence[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """(source, signal, target) of what drives what."""
    wired = {(slot["from"], row["name"]) for row in rows for slot in row.get("inputs", ())}  # named with their signal
    links: list[tuple[Any, ...]] = []
    for row in rows:
        if "clocks" not in row:
            continue
        links += [(slot["from"] or said("outside"), _unit(slot), row["name"]) for slot in row["inputs"]]
        links += [(list(dict.fromkeys(row["reads"])), "", row["name"])] if row["reads"] else []
        driven = [name for name in row["drives"] if (row["name"], name) not in wired]
        links += [(row["name"], "", driven)] if driven else []
    return links


def _inner(rows: Sequence[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """The signals, states, memory and clocks of elements; those with the same ones share a row."""
    alike: dict[str, tuple[list[str], list[Any]]] = {}
    for row in rows:
        cells: list[list[str | Said]] = [
            [_unit(slot) for slot in row.get(key, ())] for key in ("signals", "states", "memory")
        ]
        cells.append([_times(**clock) for clock in row.get("clocks", ())])
        if any(cells):
            alike.setdefault(repr(cells), ([], cells))[0].append(row["name"])
    return [(names, *cells) for names, cells in alike.values()]


def _times(period: float | None, phase: float) -> Said:
    """When a clock ticks: every 0.01 s from 0.5 s on."""
    if period is None:
        return said("at {t} s", t=float(phase)) if phase else said("at the start")
    every = said("every {t} s", t=float(period))
    return said("{every} from {t} s on", every=every, t=float(phase)) if phase else every


def _unit(slot: dict[str, Any]) -> str:
    return f"{slot['name']} [{slot['unit']}]" if slot["unit"] else str(slot["name"])
