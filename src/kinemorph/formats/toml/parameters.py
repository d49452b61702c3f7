"""The parameters of a TOML file: named numbers, and names for expressions of other names, in any order.

[parameters]
l1 = 0.3                                                   a number
m1 = "500 g"                                               a quantity: kept in SI, with its unit
l2 = { value = 0.9, unit = "m", symbol = "l_2" }           with what equations print
half = "l1 / 2"                                            depends on others: stands for the expression
"""

from __future__ import annotations

from collections import deque
from typing import Any

from kinemorph.errors import Problem
from kinemorph.formats.toml.fields import PARAMETER
from kinemorph.formats.toml.values import At, Values
from kinemorph.model import units
from kinemorph.model.expressions import ExpressionError, names_in
from kinemorph.model.input_reader import short
from kinemorph.model.parameter import Parameter, Value


def read_parameters(table: dict[str, Any], values: Values) -> None:
    """Fills `values.names`: a Parameter for every number, a Formula for what depends on others."""
    waiting: dict[str, tuple[str, ...]] = {}
    for name, raw in table.items():
        at = At(("parameters", name), f"parameter '{name}'", "")
        if not name.strip() or not name.isprintable():
            values.error("name", at, f"the name is {short(name)}, expected printable text", "Rename it.")
        needs = _needs(raw, table)
        if needs:
            waiting[name] = needs
        else:
            values.names[name] = _independent(name, raw, at, values)
    _resolve(table, waiting, values)


def _needs(raw: Any, table: dict[str, Any]) -> tuple[str, ...]:
    """The names that a parameter depends on; none for numbers and quantities."""
    if not isinstance(raw, str) or units.is_quantity(raw):
        return ()
    try:
        return tuple(name for name in names_in(raw) if name != "pi" or "pi" in table)
    except ExpressionError:
        return ()  # told when it is read


def _independent(name: str, raw: Any, at: At, values: Values) -> Value:
    """A named number. A text without names is one too: a quantity, or a constant such as "pi / 4"."""
    data = values.table(raw, at, PARAMETER[1:], skip=("value",)) if isinstance(raw, dict) else {}
    unit, number = data.get("unit", ""), raw
    if isinstance(raw, dict):
        if "value" not in raw:
            values.missing(at, "value", PARAMETER[0])
            return Parameter(name or "?", 0.0)
        number = raw["value"]
        at = at.key("value")
    if isinstance(number, str) and units.is_quantity(number):
        try:
            value, own = units.read_quantity(number)
            if unit and not _same(unit, own):
                found = f"the value is {short(number)} and the unit {short(unit)}, expected one unit"
                values.error("unit", at, found, "Leave the key 'unit' out.")
            return Parameter(name or "?", value, unit or own, data.get("symbol", ""))
        except ValueError as error:
            problem = Problem.of(error.args[0], "Correct the unit.")
            values.error("unit", at, problem.what, problem.remedy)
            return Parameter(name or "?", 0.0)
    value = values.literal(number, at)
    if abs(value) == float("inf"):
        values.error("number", at, f"the value is {value}, expected a finite number", "Write a finite number.")
    return _with_unit(name or "?", value, unit, data.get("symbol", ""), at.key("unit"), values)


def _with_unit(name: str, value: float, unit: str, symbol: str, at: At, values: Values) -> Parameter:
    """A number of a unit, kept in SI. A unit that is not known stays as text, with a warning."""
    try:
        if unit and not units.is_si(unit):
            return Parameter(name, units.in_si(value, units.parse_unit(unit)), units.si_unit(unit), symbol)
    except ValueError as error:
        line = values.lines.line(at.path)
        problem = f"{Problem.of(error.args[0]).what}; its value is taken as it is"
        values.findings.warn("unit", line, at.element, problem, "Write a known unit, or leave it out.")
    return Parameter(name, value, unit, symbol)


def _same(unit: str, own: str) -> bool:
    try:
        return units.is_si(unit) and units.parse_unit(unit) == units.parse_unit(own)
    except ValueError:
        return False


def _resolve(table: dict[str, Any], waiting: dict[str, tuple[str, ...]], values: Values) -> None:
    """Reads parameters after those that they depend on; parameters left over depend on themselves."""
    missing = {name: len(needs) for name, needs in waiting.items()}
    waiters: dict[str, list[str]] = {}
    ready: deque[str] = deque()
    for name, needs in waiting.items():
        for need in needs:
            if need in waiting:
                waiters.setdefault(need, []).append(name)
            else:
                missing[name] -= 1  # a number, or a name that is not there: told when it is read
        if not missing[name]:
            ready.append(name)
    while ready:
        name = ready.popleft()
        at = At(("parameters", name), f"parameter '{name}'", "")
        values.names[name] = values.value(table[name], at)
        for waiter in waiters.get(name, ()):
            missing[waiter] -= 1
            if not missing[waiter]:
                ready.append(waiter)
    circle = [name for name in waiting if missing[name]]
    for name in circle:
        values.names[name] = Parameter(name or "?", 0.0)
    if circle:
        round_trip = _circle(circle[0], waiting, missing)
        at = At(("parameters", round_trip[0]), f"parameter '{round_trip[0]}'", "")
        way = " -> ".join(round_trip[:12])
        values.error("structure", at, f"it depends on itself: {way}", "Give one of them a number.")


def _circle(start: str, waiting: dict[str, tuple[str, ...]], missing: dict[str, int]) -> list[str]:
    """A path from a name back to itself among the names that wait for each other."""
    way: dict[str, None] = {}
    here = start
    while here not in way:
        way[here] = None
        here = next(need for need in waiting[here] if missing.get(need))
    names = list(way)
    return [*names[names.index(here) :], here]
