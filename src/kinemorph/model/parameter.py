"""Named numbers: a robot may be written with parameters in place of plain floats.

A `Parameter` always has a nominal value, so every check can be made. Arithmetic on parameters builds a `Formula`, a
small frozen tree over the op vocabulary. A `Value` is any of the three: a float, a Parameter or a Formula. Structure
comes from literals only: `0.0 * m` is the literal 0.0 and vanishes from the equations, a parameter whose nominal
value happens to be 0 does not.

`evaluate` turns a Value into a number with the nominal values, or into any other scalar (an array, a graph node, a dual
number) through a lookup by parameter name.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cached_property
from typing import Any, NoReturn, TypeAlias

import numpy as np

from kinemorph.algebra import scalar
from kinemorph.errors import ModelError
from kinemorph.frozen import dataclass

Lookup: TypeAlias = Mapping[str, Any]
FLOATS = {float}  # the types in a tuple of plain numbers


class Symbolic:
    """Abstract: the operators and functions that parameters and formulas share. Each gives a Value."""

    __slots__ = ()
    __array_ufunc__ = None  # NumPy scalars leave the operators to us

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
        raise TypeError(f"the truth of {self} depends on its parameters; use evaluate(value) to get a number")

    def __float__(self) -> NoReturn:
        raise TypeError(f"{self} is not a plain number; use evaluate(value) to get its nominal value")

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
        """1.0 where both are the same number. `==` compares the formulas themselves."""
        return _apply("eq", self, other)

    def where(self, chosen: Any, otherwise: Any) -> Any:
        """`chosen` where this value is not zero, else `otherwise`."""
        return _apply("where", self, chosen, otherwise)


@dataclass(frozen=True)
class Parameter(Symbolic):
    """A named number with a nominal value. `unit` is text such as "kg"; `symbol` is what equations print (LaTeX)."""

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

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Formula(Symbolic):
    """An op of the vocabulary applied to Values."""

    op: str
    args: tuple[Value, ...]

    @cached_property
    def extent(self) -> tuple[int, int]:
        """(depth, number of ops) of the tree; a shared part counts wherever it appears."""
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
    """The op on Values, with literal zeros and ones folded; NotImplemented where an argument is no Value."""
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
    """The op on Values: a number where all of them are numbers, else what the operators of parameters give."""
    if any(isinstance(arg, (Parameter, Formula)) for arg in args):
        value: Value = _apply(op, *args)
        return value
    return float(getattr(scalar.f, op)(*map(float, args)))


def _folded(op: str, values: list[Value]) -> Value | None:
    """The simple cases that keep structural zeros: 0 + x, x - 0, 0 x, 1 x, 0 / x, x / 1, -(-x), x ** 1."""
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
    """A Value as a scalar: `lookup` gives scalars by parameter name, the other parameters take their nominal value."""
    if isinstance(value, Formula):
        return _evaluate(value, lookup or {})
    return _leaf(value, lookup or {})


def _leaf(value: Value, lookup: Lookup) -> Any:
    """A number or a parameter as a scalar."""
    if isinstance(value, Parameter):
        found = lookup.get(value.name)
        return float(value.value) if found is None else found
    return float(value)


def _evaluate(formula: Formula, lookup: Lookup) -> Any:
    """A formula as a scalar. Its parts come first, each once, without recursion."""
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
            arguments = [known[id(arg)] if isinstance(arg, Formula) else _leaf(arg, lookup) for arg in here.args]
            known[id(here)] = getattr(scalar.f, here.op)(*arguments)
    return known[id(formula)]


def evaluate_all(nested: Any, lookup: Lookup | None = None) -> Any:
    """Nested tuples of Values (vectors, matrices, poses) as the same nesting of scalars; text and None pass through."""
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
    """A dataclass of Values, and of parts that hold some, with all parameters as numbers: those of `lookup` by name,
    the others at their nominal values.
    """
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
    """The parameters in a Value, or in nested tuples and dataclasses of Values, in order of appearance, each once."""
    found: dict[Parameter, None] = {}
    seen: set[int] = set()
    waiting = [nested]  # the next one last
    while waiting:
        item = waiting.pop()
        if isinstance(item, Parameter):
            found[item] = None
        elif isinstance(item, Formula):
            if id(item) not in seen:  # a shared part is walked once
                seen.add(id(item))
                waiting.extend(reversed(item.args))
        elif isinstance(item, tuple):
            waiting.extend(reversed(item))
        elif is_dataclass(item) and not isinstance(item, type):
            waiting.extend(getattr(item, field.name) for field in reversed(fields(item)))
    return tuple(found)
