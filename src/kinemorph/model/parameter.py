"""Named parameters, which can stand for floats in the description of a robot.

A `Parameter` always has a nominal value, so that every check can be made. Arithmetic on parameters builds a `Formula`,
a frozen tree of ops (`vocabulary.ops`). A `Value` is a float, a Parameter or a Formula. Only plain numbers simplify the
equations: `0.0 * m` is 0.0 and drops out; a parameter with the nominal value 0 does not.

`evaluate` computes a Value with the nominal values of its parameters, or with other scalars (arrays, graph nodes, dual
numbers) given by parameter name.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import field, fields, is_dataclass, replace
from functools import cached_property
from typing import Any, NoReturn, TypeAlias

import numpy as np

from kinemorph.algebra import scalar
from kinemorph.errors import ModelError
from kinemorph.frozen import dataclass
from kinemorph.vocabulary.typography.symbol_reader import symbol_problem

Lookup: TypeAlias = Mapping[str, Any]
FLOATS = {float}  # the types in a tuple of plain numbers


class Symbolic:
    """The operators and functions that parameters and formulas share. Each returns a Value."""

    __slots__ = ()
    __array_ufunc__ = None  # so that NumPy scalars use the operators of this class

    def __add__(self, other: Any) -> Any:
        return _apply("add", self, other)

    def __radd__(self, other: Any) -> Any:
        return _apply("add", other, self)

    def __sub__(self, other: Any) -> Any:
        return _apply("sub", self, other)

    def __rsub__(self, other: Any) -> Any:
        return _apply("sub", other, self)

    def __mul__(self, other: Any) -> Any:
        return _apply("mul", self, other)

    def __rmul__(self, other: Any) -> Any:
        return _apply("mul", other, self)

    def __truediv__(self, other: Any) -> Any:
        return _apply("div", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _apply("div", other, self)

    def __pow__(self, other: Any) -> Any:
        return _apply("pow", self, other)

    def __rpow__(self, other: Any) -> Any:
        return _apply("pow", other, self)

    def __neg__(self) -> Any:
        return _apply("neg", self)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return _apply("abs", self)

    def __lt__(self, other: Any) -> Any:
        return _apply("lt", self, other)

    def __le__(self, other: Any) -> Any:
        return _apply("le", self, other)

    def __gt__(self, other: Any) -> Any:
        return _apply("lt", other, self)

    def __ge__(self, other: Any) -> Any:
        return _apply("le", other, self)

    def __bool__(self) -> NoReturn:
        raise TypeError(
            f"whether {self} is true depends on its parameters. Compare numbers, such as the `value` of a Parameter."
        )

    def __float__(self) -> NoReturn:
        raise TypeError(f"{self} is not a plain number. Give a number, such as the `value` of a Parameter.")

    def sin(self) -> Any:
        return _apply("sin", self)

    def cos(self) -> Any:
        return _apply("cos", self)

    def tan(self) -> Any:
        return _apply("tan", self)

    def asin(self) -> Any:
        return _apply("asin", self)

    def acos(self) -> Any:
        return _apply("acos", self)

    def atan2(self, x: Any) -> Any:
        return _apply("atan2", self, x)

    def ratan2(self, y: Any) -> Any:
        """atan2(y, self) for a plain number y."""
        return _apply("atan2", y, self)

    def sqrt(self) -> Any:
        return _apply("sqrt", self)

    def exp(self) -> Any:
        return _apply("exp", self)

    def log(self) -> Any:
        return _apply("log", self)

    def sign(self) -> Any:
        return _apply("sign", self)

    def floor(self) -> Any:
        return _apply("floor", self)

    def minimum(self, other: Any) -> Any:
        return _apply("min", self, other)

    def maximum(self, other: Any) -> Any:
        return _apply("max", self, other)

    def equals(self, other: Any) -> Any:
        """1.0 if the values are equal, else 0.0. The operator `==` compares the formulas, not their values."""
        return _apply("eq", self, other)

    def where(self, chosen: Any, otherwise: Any) -> Any:
        """`chosen` if this value is not zero, else `otherwise`."""
        return _apply("where", self, chosen, otherwise)


@dataclass(frozen=True)
class Parameter(Symbolic):
    """A named number with a nominal value. `unit` is text such as "kg"; `symbol` is its LaTeX in printed equations."""

    name: str
    value: float
    unit: str = ""
    symbol: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ModelError(f"a parameter has the name {self.name!r}, expected text that is not empty. Name it.")
        if isinstance(self.value, bool) or not isinstance(self.value, (float, int, np.number)):
            raise ModelError(f"parameter '{self.name}' is {self.value!r}, expected a number. Give its nominal value.")
        object.__setattr__(self, "value", float(self.value))
        problem = symbol_problem(self.symbol) if isinstance(self.symbol, str) else "is no text"
        if problem and self.symbol != "":
            raise ModelError(
                f"parameter '{self.name}': the symbol {self.symbol!s:.60} {problem}; expected one symbol in LaTeX, "
                r"such as m_1 or \dot{\theta}. Write another symbol, or leave it out."
            )

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Coordinate(Parameter):
    """A coordinate in a formula, called by its name in q; or the time, `TIME`.

    It is not a parameter of a robot: its value follows from the state. `value` is used where no state is given.
    Coordinates of the same name are equal.
    """

    value: float = field(default=0.0, compare=False)
    unit: str = field(default="", compare=False)
    symbol: str = field(default="", compare=False)


TIME = Coordinate("t", 0.0, "s")


@dataclass(frozen=True)
class Formula(Symbolic):
    """The op named `op` of `vocabulary.ops`, applied to the Values `args`."""

    op: str
    args: tuple[Value, ...]

    @cached_property
    def extent(self) -> tuple[int, int]:
        """The depth of the formula's tree and its number of ops; a shared part counts wherever it appears."""
        known: dict[int, tuple[int, int]] = {}
        waiting = [self]
        while waiting:
            here = waiting[-1]
            parts = [arg for arg in here.args if isinstance(arg, Formula)]
            known |= {id(part): part.__dict__["extent"] for part in parts if "extent" in part.__dict__}
            unknown = [part for part in parts if id(part) not in known]
            if unknown:
                waiting += unknown
                continue
            waiting.pop()
            sizes = [known[id(part)] for part in parts]
            known[id(here)] = 1 + max((size[0] for size in sizes), default=0), 1 + sum(size[1] for size in sizes)
        return known[id(self)]

    def __str__(self) -> str:
        return f"{self.op}({', '.join(str(arg) for arg in self.args)})"


Value: TypeAlias = float | Parameter | Formula


def _apply(op: str, *args: Any) -> Any:
    """The op applied to `args`, simplified for plain zeros and ones; NotImplemented if an argument is not a Value."""
    values: list[Value] = []
    for arg in args:
        if isinstance(arg, (Parameter, Formula)):
            values.append(arg)
        elif isinstance(arg, (float, int)):
            values.append(float(arg))
        else:
            return NotImplemented
    folded = _folded(op, values)
    return Formula(op, tuple(values)) if folded is None else folded


def applied(op: str, *args: Value) -> Value:
    """The op applied to Values: a float if all of them are floats, else a Value, in which zeros and ones are
    simplified.
    """
    if any(isinstance(arg, (Parameter, Formula)) for arg in args):
        value: Value = _apply(op, *args)
        return value
    return float(getattr(scalar.f, op)(*map(float, args)))


def _folded(op: str, values: list[Value]) -> Value | None:
    """The simplified result of 0 + x, x - 0, 0 - x, 0 x, 1 x, 0 / x, x / 1, x ** 1 or -(-x); None in other cases."""
    first, last = values[0], values[-1]
    if op == "add" and (first == 0.0 or last == 0.0):
        return last if first == 0.0 else first
    if op == "sub" and last == 0.0:
        return first
    if op == "sub" and first == 0.0:
        folded: Value = -last
        return folded
    if op == "mul" and (first == 0.0 or last == 0.0):
        return 0.0
    if op == "mul" and (first == 1.0 or last == 1.0):
        return last if first == 1.0 else first
    if op == "div" and first == 0.0:
        return 0.0
    if op in ("div", "pow") and last == 1.0:
        return first
    if op == "neg" and isinstance(first, Formula) and first.op == "neg":
        return first.args[0]
    return None


def evaluate(value: Value, lookup: Lookup | None = None) -> Any:
    """The scalar of a Value. `lookup` gives scalars by parameter name; other parameters have their nominal values."""
    known = lookup or {}
    if isinstance(value, Formula):
        return worked_out(value, lambda leaf: _leaf(leaf, known), lambda part, args: getattr(scalar.f, part.op)(*args))
    return _leaf(value, known)


def _leaf(value: Value, lookup: Lookup) -> Any:
    """The scalar of a number or a parameter."""
    if isinstance(value, Parameter):
        found = lookup.get(value.name)
        return float(value.value) if found is None else found
    return float(value)


def worked_out(formula: Formula, leaf: Callable[[Value], Any], op: Callable[[Formula, list[Any]], Any]) -> Any:
    """The result of `op` at a formula, from those of its arguments, and of `leaf` at numbers and parameters.

    Each part is worked out once, without recursion.
    """
    known: dict[int, Any] = {}
    waiting = [formula]
    while waiting:
        here = waiting[-1]
        parts = [arg for arg in here.args if isinstance(arg, Formula) and id(arg) not in known]
        if parts:
            waiting += parts
            continue
        waiting.pop()
        if id(here) not in known:
            known[id(here)] = op(here, [known[id(arg)] if isinstance(arg, Formula) else leaf(arg) for arg in here.args])
    return known[id(formula)]


def evaluate_all(nested: Any, lookup: Lookup | None = None) -> Any:
    """The scalars of nested tuples of Values (vectors, matrices, poses), nested alike; text and None are unchanged."""
    if type(nested) is float:
        return nested
    if isinstance(nested, tuple):
        if {*map(type, nested)} == FLOATS:
            return nested
        items = [evaluate_all(item, lookup) for item in nested]
        if all(map(operator.is_, items, nested)):  # plain numbers throughout
            return nested
        return nested.__class__(*items) if hasattr(nested, "_fields") else tuple(items)
    if nested is None or isinstance(nested, str):
        return nested
    return evaluate(nested, lookup)


def nominal_part(part: Any, lookup: Lookup | None = None) -> Any:
    """A copy of a dataclass (or tuple) with every Value in it evaluated, also in nested parts, as by `evaluate`."""
    if isinstance(part, (Parameter, Formula)):
        return evaluate(part, lookup)
    if isinstance(part, tuple):
        items = [nominal_part(item, lookup) for item in part]
        return part.__class__(*items) if hasattr(part, "_fields") else tuple(items)
    if is_dataclass(part) and not isinstance(part, type):
        return replace(
            part,
            **{field.name: nominal_part(getattr(part, field.name), lookup) for field in fields(part) if field.init},
        )
    return part


def parameters_of(nested: Any) -> tuple[Parameter, ...]:
    """The parameters in a Value, or in nested tuples and dataclasses of Values, each once, in order of appearance."""
    return tuple(leaf for leaf in _leaves(nested) if not isinstance(leaf, Coordinate))


def coordinates_of(nested: Any) -> tuple[Coordinate, ...]:
    """The coordinates in a Value, or in nested tuples and dataclasses of Values, each once, in order of appearance."""
    return tuple(leaf for leaf in _leaves(nested) if isinstance(leaf, Coordinate))


def _leaves(nested: Any) -> tuple[Parameter, ...]:
    """The parameters and coordinates in nested tuples and dataclasses of Values, each once, in order of appearance."""
    found: dict[Parameter, None] = {}
    seen: set[int] = set()
    waiting = [nested]  # a stack: the next item is the last
    while waiting:
        item = waiting.pop()
        if isinstance(item, Parameter):
            found[item] = None
        elif isinstance(item, Formula):
            if id(item) not in seen:  # a shared part is searched once
                seen.add(id(item))
                waiting.extend(reversed(item.args))
        elif isinstance(item, tuple):
            waiting.extend(reversed(item))
        elif is_dataclass(item) and not isinstance(item, type):
            waiting.extend(getattr(item, field.name) for field in reversed(fields(item)))
    return tuple(found)
