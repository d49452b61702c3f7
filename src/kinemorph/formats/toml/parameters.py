"""Reads the parameters of a TOML file: named numbers, and named expressions of other parameters, in any order.

[parameters]
l1 = 0.3                                                   a number
m1 = "500 g"                                               a quantity: stored in SI, with its unit
l2 = { value = 0.9, unit = "m", symbol = "l_2" }           with the symbol for printed equations
half = "l1 / 2"                                            an expression of other parameters
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from kinemorph.errors import Problem
from kinemorph.formats.toml.fields import PARAMETER, WORDS
from kinemorph.formats.toml.values import At, Values
from kinemorph.model import units
from kinemorph.model.expressions import ExpressionError, in_order, names_in
from kinemorph.model.input_reader import short
from kinemorph.model.parameter import Parameter, Value
from kinemorph.vocabulary.typography.symbol_reader import symbol_problem


def read_parameters(table: dict[str, Any], values: Values) -> None:
    """Stores in `values.names` a Parameter for every number, and a Formula for every expression of other parameters."""
    waiting: dict[str, tuple[str, ...]] = {}
    for name, raw in table.items():
        at = At(("parameters", name), f"parameter '{name}'", "")
        if not name.strip() or not name.isprintable():
            values.error("name", at, f"the name is {short(name)}, expected printable text", "Rename the parameter.")
        needs = needs_of(raw, table)
        if needs:
            waiting[name] = needs
        else:
            values.names[name] = _independent(name, raw, at, values)
    _resolve(table, waiting, values)


def _independent(name: str, raw: Any, at: At, values: Values) -> Value:
    """The Parameter of a number, a quantity, or an expression without names such as "pi / 4"."""
    data = values.table(raw, at, PARAMETER[1:], skip=("value",)) if isinstance(raw, dict) else {}
    unit, number, symbol = data.get("unit", ""), raw, _symbol(data.get("symbol", ""), at.key("symbol"), values)
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
                found = (
                    f"both the value {short(number)} and the key 'unit' {short(unit)} give a unit, expected one unit"
                )
                values.error("unit", at, found, "Leave the key 'unit' out.")
            return Parameter(name or "?", value, unit or own, symbol)
        except ValueError as error:
            problem = Problem.of(error.args[0], "Correct the unit, or write a plain number in SI units.")
            values.error("unit", at, problem.what, problem.remedy)
            return Parameter(name or "?", 0.0)
    value = values.literal(number, at)
    if abs(value) == float("inf"):
        values.error("number", at, f"the value is {value}, expected a finite number", "Write a finite number.")
    return _with_unit(name or "?", value, unit, symbol, at.key("unit"), values)


def _symbol(symbol: str, at: At, values: Values) -> str:
    """The symbol of a parameter; "" with a warning for one that cannot be printed."""
    problem = symbol_problem(symbol) if symbol else ""
    if problem:
        found = f"the symbol {short(symbol)} {problem}; the parameter is printed with its name"
        remedy = r"Write one symbol in LaTeX, such as m_1 or \dot{\theta}, or leave it out."
        values.findings.warn("symbol", values.lines.line(at.path), at.element, found, remedy)
    return "" if problem else symbol


def _with_unit(name: str, value: float, unit: str, symbol: str, at: At, values: Values) -> Parameter:
    """The Parameter of a number with a unit, converted to SI. An unknown unit is only kept as text, with a warning."""
    try:
        if unit and not units.is_si(unit):
            return Parameter(name, units.in_si(value, units.parse_unit(unit)), units.si_unit(unit), symbol)
    except ValueError as error:
        line = values.lines.line(at.path)
        problem = f"{Problem.of(error.args[0]).what}; the value is used as written"
        values.findings.warn("unit", line, at.element, problem, "Write a known unit, or leave it out.")
    return Parameter(name, value, unit, symbol)


def _same(unit: str, own: str) -> bool:
    """Whether the key `unit` is an SI unit and equals `own`, the unit written behind the number ("2.5 kg")."""
    try:
        return units.is_si(unit) and units.parse_unit(unit) == units.parse_unit(own)
    except ValueError:
        return False


def _resolve(table: dict[str, Any], waiting: dict[str, tuple[str, ...]], values: Values) -> None:
    """Reads the parameters in `waiting`, each after the names that it depends on; reports parameters in a cycle."""
    ready, circle = in_order(waiting)
    for name in ready:
        values.names[name] = values.value(table[name], At(("parameters", name), f"parameter '{name}'", ""))
    for name in waiting:
        values.names.setdefault(name, Parameter(name or "?", 0.0))
    if circle:
        report_circle("parameters", circle, values)


def report_circle(section: str, circle: list[str], values: Values) -> None:
    """Reports that names of a section, such as "parameters", depend on each other in a circle."""
    word = WORDS[section]
    at = At((section, circle[0]), f"{word} '{circle[0]}'", "")
    path = " -> ".join(circle[:12])
    values.error("structure", at, f"it depends on itself: {path}", f"Write a number for one of these {section}.")


def needs_of(raw: Any, known: Container[str]) -> tuple[str, ...]:
    """The names that the expression `raw` contains; none for numbers and quantities. "pi" is one if it is `known`."""
    if not isinstance(raw, str) or units.is_quantity(raw):
        return ()
    try:
        return tuple(name for name in names_in(raw) if name != "pi" or "pi" in known)
    except ExpressionError:
        return ()  # reported when the expression is read
