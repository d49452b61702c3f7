"""The elements of a system as data and as tables: on which bodies or joints they act, their numbers, their signals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from kinemorph.display.faces.grid import Data, Grid, Parts, grid_of
from kinemorph.errors import ModelError
from kinemorph.mechanics.elements.ensemble import Ensemble, ensemble
from kinemorph.mechanics.elements.law import ONCE, Slot
from kinemorph.model.elements import kind_of
from kinemorph.model.elements.fields import defaults_of, is_part, part_fields
from kinemorph.model.parameter import Formula, Parameter, evaluate
from kinemorph.model.system import System
from kinemorph.model.units import KINDS
from kinemorph.words import listed

FEW = 6  # largest number of values or names that are listed


def element_rows(system: System) -> list[Data]:
    """One row of data per element: its fields that JSON can represent, and the inputs, signals, states, memory, clocks
    and events of its law.
    """
    try:
        cast = ensemble(system.robot, system.members)
    except ModelError:  # an element has no law: only its fields are known
        return [{**_plain(element), "kind": kind_of(type(element).__name__)} for element in system.elements]
    return [_row(cast, index) for index, member in enumerate(cast.members) if member is not cast.automaton]


def _row(cast: Ensemble, index: int) -> Data:
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


def _slot(slot: Slot, cast: Ensemble, element: str = "") -> Data:
    return {"name": slot.name or element, "unit": cast.unit(slot.unit)}


def _plain(element: Any) -> Data:
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
    defaults = defaults_of(part)
    told = []
    for row in part_fields(type(part)):
        value = getattr(part, row.name)
        if row.form in ("text", "pose") or value is None or value == defaults[row.name] or is_list_of_names(value):
            continue
        unit = KINDS[row.kind][0] if isinstance(row.kind, str) and row.kind not in ("", "number") else ""
        told.append(f"{row.name} {spelled(value)}{f' {unit}' if unit and not _is_rich(value) else ''}")
    return ", ".join(told)


def is_list_of_names(value: Any) -> bool:
    """Whether a value is a list of names."""
    return isinstance(value, tuple) and bool(value) and all(isinstance(x, str) for x in value)


def _is_rich(value: Any) -> bool:
    return is_part(type(value)) or callable(value)


def spelled(value: Any) -> str:
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
        return spelled(value[0])
    if isinstance(value, tuple):
        return f"({', '.join(map(spelled, value))})" if len(value) <= FEW else f"{len(value)} of them"
    if is_part(type(value)):
        inside = numbers_of(value)
        return kind_of(type(value).__name__) + (f" ({inside})" if inside else "")
    return "a function" if callable(value) else type(value).__name__


# ── tables ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def element_tables(rows: Sequence[Data]) -> Parts:
    """The table of all elements, and a table of the inputs, signals, states, memory and clocks of those that have any.

    `rows` are those of `element_rows`.
    """
    if not rows:
        return []
    acting: dict[str, Any] = {"element": "{name}", "kind": "{kind}"}
    acting |= {"acts on": lambda row: _listed(row.get("acts_on", [])), "numbers": lambda row: row.get("numbers", "")}
    tables: Parts = [grid_of("elements", rows, acting)]
    columns = ("element", "inputs", "reads", "signals", "states", "memory", "clocks")
    having = [(row["name"], *_traffic(row)) for row in rows if "clocks" in row]
    having = [row for row in having if any(row[1:])]
    if having:
        tables.append(Grid("signals, states and clocks of elements", columns, having))
    return tables


def _traffic(row: Data) -> tuple[str, ...]:
    inputs = [f"{_unit(slot)} from {slot['from'] or 'outside'}" for slot in row["inputs"]]
    targets = f" to {_listed(row['drives'])}" if row["drives"] else ""
    clocks = [_times(**clock) for clock in row["clocks"]]
    names = [_listed([_unit(slot) for slot in row[key]]) for key in ("signals", "states", "memory")]
    return _listed(inputs), _listed(row["reads"]), f"{names[0]}{targets}", names[1], names[2], _listed(clocks)


def _times(period: float | None, phase: float) -> str:
    if period is None:
        return "at the start" if not phase else f"at {phase:g} s"
    return f"every {period:g} s" + (f" from {phase:g} s" if phase else "")


def _unit(slot: Data) -> str:
    return f"{slot['name']} [{slot['unit']}]" if slot["unit"] else str(slot["name"])


def _listed(names: Sequence[str]) -> str:
    return listed(names, FEW) if names else ""
