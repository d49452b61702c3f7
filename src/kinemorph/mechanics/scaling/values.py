"""Numbers, parameters, formulas and texts in other units.

A formula keeps its form if it is homogeneous: if all its parts have matching dimensions, such as m * l**2, then scaled
parameters give the scaled result. Otherwise it contains numbers of unstated dimensions, as in foot.z - 0.01.
It is then evaluated in the old units, foot.z / 4 - 0.01, and its result is scaled, so that it stays exact.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kinemorph.model.expressions import names_in, parse_expression, written
from kinemorph.model.parameter import Coordinate, Formula, Parameter, Value, applied, worked_out
from kinemorph.model.scales import Scales

ANY = 0.0  # stands for the factor of a number that is 0 or infinite, which no factor changes
SAME = ("add", "sub", "min", "max")  # ops whose arguments and result have the same dimension
COMPARED = ("lt", "le", "eq", "atan2")  # ops whose arguments have the same dimension, and whose result is a number
_PLAIN_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")


def near(a: Any, b: float) -> bool:
    """Whether two factors are the same number up to rounding; a factor that is a formula differs from all numbers."""
    return isinstance(a, (int, float)) and math.isclose(a, b, rel_tol=1e-12)


def times(value: Value, factor: Value) -> Value:
    """The product, in which factors 1 vanish and numbers before a formula are multiplied."""
    if near(factor, 1.0):
        return value
    if isinstance(factor, float) and isinstance(value, Formula) and value.op == "mul":
        before, rest = value.args
        if isinstance(before, float):
            return times(rest, factor * before)
    return applied("mul", factor, value)


@dataclass
class Names:
    """The factors of parameters, coordinates and signals by name; parameters without a unit are found by their use.

    `uses` collects the factors of all fields that hold a parameter without a unit, by its name.
    """

    scales: Scales
    factors: Mapping[str, float] = field(default_factory=dict)  # of coordinates, the time, and parameters without unit
    uses: dict[str, list[float]] = field(default_factory=dict)

    def factor(self, leaf: Parameter) -> float:
        """The factor of a parameter or coordinate."""
        if leaf.name in self.factors:
            return self.factors[leaf.name]
        return unit_factor(self.scales, leaf.unit)

    def new(self, leaf: Parameter) -> Parameter:
        """The parameter with its scaled nominal value."""
        return replace(leaf, value=leaf.value * self.factor(leaf))

    def use(self, value: Any, factor: Value) -> None:
        """Notes that a field with this factor holds `value`, if that is a parameter without a unit."""
        lonely = isinstance(value, Parameter) and not isinstance(value, Coordinate)
        if lonely and not has_unit(value.unit) and isinstance(factor, float):
            self.uses.setdefault(value.name, []).append(factor)

    def found(self) -> dict[str, float]:
        """The factors of parameters without a unit that all fields agree on."""
        return {name: all_of[0] for name, all_of in self.uses.items() if all(near(x, all_of[0]) for x in all_of)}


def has_unit(unit: str) -> bool:
    """Whether a text is the name of a unit that is known."""
    try:
        return bool(unit.strip()) and Scales().factor(unit) > 0.0
    except ValueError:
        return False


def unit_factor(scales: Scales, unit: str) -> float:
    """The factor of a unit; 1 for a text that is not a unit, because a number without a unit stays the same."""
    return scales.factor(unit) if has_unit(unit) else 1.0


# ── values ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def scaled_value(value: Value, factor: Value, names: Names) -> Value:
    """A number, parameter or formula of a field whose quantities have this factor."""
    if not isinstance(value, (Parameter, Formula)):
        return times(float(value), factor)
    names.use(value, factor)
    own = homogeneous(value, names.factor)
    if own is not None:
        return times(_replaced(value, names, divided=False), applied("div", factor, 1.0 if own == ANY else own))
    return times(_replaced(value, names, divided=True), factor)


def homogeneous(value: Value, factor_of: Callable[[Parameter], float]) -> float | None:
    """The factor of a value whose parameters have the given factors; None if its parts do not match."""
    found: float | None = _folded(value, lambda leaf: _leaf_factor(leaf, factor_of), _op_factor)
    return found


def _leaf_factor(leaf: Value, factor_of: Callable[[Parameter], float]) -> float:
    if isinstance(leaf, Parameter):
        return factor_of(leaf)
    return ANY if leaf == 0.0 or not math.isfinite(float(leaf)) else 1.0


def _op_factor(formula: Formula, parts: list[float | None]) -> float | None:
    """The factor of an op's result; None where its arguments do not match."""
    op = formula.op
    if None in parts:
        return None
    known: list[float] = [part for part in parts if part is not None]
    if op == "mul":
        return known[0] * known[1]
    if op == "div":
        return known[0] / known[1] if known[1] != ANY else None
    if op in ("neg", "abs"):
        return known[0]
    if op == "sqrt":
        return math.sqrt(known[0])
    if op == "pow" and isinstance(formula.args[1], float):
        return known[0] ** formula.args[1] if known[0] != ANY else None
    if op == "sign":
        return 1.0
    if op in SAME:
        return _same(*known)
    if op in COMPARED:
        return None if _same(*known) is None else 1.0
    if op == "where":
        return _same(*known[1:])
    return 1.0 if all(near(part, 1.0) or part == ANY for part in known) else None


def _same(a: float, b: float) -> float | None:
    if a == ANY:
        return b
    return a if b == ANY or near(a, b) else None


def _replaced(value: Value, names: Names, *, divided: bool) -> Value:
    """The value with its scaled parameters; `divided` converts each of them to the old unit."""

    def leaf(one: Value) -> Value:
        if not isinstance(one, Parameter):
            return one
        return over(names.new(one), names.factor(one)) if divided else names.new(one)

    def op(formula: Formula, parts: list[Value]) -> Value:
        first, *rest = formula.args
        if divided and formula.op == "div" and isinstance(first, Parameter) and isinstance(rest[0], float):
            return over(names.new(first), names.factor(first) * rest[0])  # it was converted before
        return applied(formula.op, *parts)

    return _folded(value, leaf, op)  # type: ignore[no-any-return]


def over(leaf: Parameter, factor: float) -> Value:
    """The quotient of a parameter and a number; the parameter itself if the number is 1."""
    return leaf if near(factor, 1.0) else Formula("div", (leaf, factor))


def _folded(value: Value, leaf: Callable[[Value], Any], op: Callable[[Formula, list[Any]], Any]) -> Any:
    """The result of `op` at a formula, from those of its arguments, and of `leaf` at numbers and parameters."""
    return worked_out(value, leaf, op) if isinstance(value, Formula) else leaf(value)


# ── texts ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def scaled_text(text: str, factor: float | None, names: Mapping[str, float], scales: Scales) -> str:
    """An expression in other units; `names` are the factors of its names.

    Its value has this factor; None if only its sign counts, or where it is 0. The text is unchanged where it is
    homogeneous.
    """
    leaves = {name: Parameter(name, 0.0) for name in names_in(text) if name != "pi" or name in names}
    value = parse_expression(text, leaves)
    own = homogeneous(value, lambda leaf: names[leaf.name])
    if own is not None and (factor is None or own == ANY or near(own, factor)):
        return text
    new = scaled_value(value, 1.0 if factor is None else factor, Names(scales, names))
    spelled = {leaf: name for name, leaf in leaves.items() if _PLAIN_NAME.fullmatch(name)}
    return written(new, spelled)  # type: ignore[arg-type]
