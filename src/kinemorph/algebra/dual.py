"""Dual numbers: a value and its tangent, carried together through any formula.

`Dual(x, dx)` stands for x + dx e with e^2 = 0. Value and tangent are scalars of any kind: floats give a derivative at
a point, batches give many derivatives at once, graph nodes the derivative as an expression, dual numbers the second
derivative. The derivatives of ops and block ops are those of the op vocabulary; only the plain arithmetic is repeated
here, for speed.

Each dual number has a *level*, which tells nested derivatives apart: an operation works at the highest level among its
arguments and takes everything of a lower level as constant, so that d/dx (x d/dy (x + y)) is 1 and not 2. Nobody
chooses a level. A `Direction` opens one above all levels before it, makes dual numbers, and reads what results carry
along it; `derivative` does this for a function. So a derivative that is taken inside another one lies above it, in
whatever law, and the two cannot meet. Levels exist only while formulas are evaluated: graphs and programs have none.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from kinemorph.algebra import scalar
from kinemorph.algebra.linear import applied
from kinemorph.algebra.scalar import Lifted, S, f, is_zero, minus, plus, times
from kinemorph.vocabulary.block_derivatives import RULES
from kinemorph.vocabulary.blocks import Block
from kinemorph.vocabulary.ops import OPS

_next_level = itertools.count(1000).__next__  # tests nest levels below by hand


class Dual(Lifted):
    """A scalar with its derivative along one direction."""

    __slots__ = ("level", "tangent", "value")
    __array_ufunc__ = None  # NumPy arrays leave the operators to us
    level: int

    def __init__(self, value: S, tangent: S, level: int) -> None:
        if (type(value) is Dual and value.level >= level) or (type(tangent) is Dual and tangent.level >= level):
            raise TypeError(
                f"a dual number of level {level} is made of one of level {max(_level(value), _level(tangent))}; "
                "expected lower levels. Use `derivative`, or open the Direction after those of the numbers inside."
            )
        self.value = value
        self.tangent = tangent
        self.level = level

    def apply(self, name: str, *args: S) -> S:
        """The result of the op `name` of the vocabulary on `args`.

        Its tangent is the sum of the op's partial derivatives times the tangents of `args`.
        """
        if name == "where":
            return _select(*args)
        level = max(map(_level, args))
        values = [_value(x, level) for x in args]
        row = OPS[name]
        result = getattr(f, name)(*values)
        if name in COMPARISONS:
            return result  # a condition is a constant
        tangent: S = 0.0
        if row.derivative is not None:
            for partial, x in zip(row.derivative(f, *values, result), args, strict=True):
                tangent = plus(tangent, times(partial, _tangent(x, level)))
        return Dual(result, tangent, level)

    def block(self, block: Block, args: Sequence[S]) -> list[S]:
        """The outputs of a block op on `args` as dual numbers; their tangents come from the block's derivative rule."""
        level = max(map(_level, args))
        given, rates = [_value(x, level) for x in args], [_tangent(x, level) for x in args]
        values = applied(block, given)
        (tangents,) = RULES[type(block)].forward(block, applied, given, values, [rates])
        return [Dual(value, tangent, level) for value, tangent in zip(values, tangents, strict=True)]

    # ── arithmetic ────────────────────────────────────────────────────────────────────────────────────────────────────

    def __add__(self, other: S) -> Dual:
        level = max(self.level, _level(other))
        tangent = plus(_tangent(self, level), _tangent(other, level))
        return Dual(_value(self, level) + _value(other, level), tangent, level)

    __radd__ = __add__

    def __sub__(self, other: S) -> Dual:
        level = max(self.level, _level(other))
        tangent = minus(_tangent(self, level), _tangent(other, level))
        return Dual(_value(self, level) - _value(other, level), tangent, level)

    def __rsub__(self, other: S) -> Dual:
        return Dual(other - self.value, minus(0.0, self.tangent), self.level)

    def __mul__(self, other: S) -> Dual:
        level = max(self.level, _level(other))
        a, b = _value(self, level), _value(other, level)
        tangent = plus(times(b, _tangent(self, level)), times(a, _tangent(other, level)))
        return Dual(a * b, tangent, level)

    __rmul__ = __mul__

    def __neg__(self) -> Dual:
        return Dual(-self.value, minus(0.0, self.tangent), self.level)

    def __pos__(self) -> Dual:
        return self

    def __truediv__(self, other: S) -> S:
        return self.apply("div", self, other)

    def __rtruediv__(self, other: S) -> S:
        return self.apply("div", other, self)

    def __pow__(self, other: S) -> S:
        return 1.0 if isinstance(other, (int, float)) and other == 0 else self.apply("pow", self, other)

    def __rpow__(self, other: S) -> S:
        return self.apply("pow", other, self)

    # ── functions: the methods that `algebra.scalar` calls ────────────────────────────────────────────────────────────

    def sin(self) -> S:
        return self.apply("sin", self)

    def cos(self) -> S:
        return self.apply("cos", self)

    def tan(self) -> S:
        return self.apply("tan", self)

    def asin(self) -> S:
        return self.apply("asin", self)

    def acos(self) -> S:
        return self.apply("acos", self)

    def sqrt(self) -> S:
        return self.apply("sqrt", self)

    def exp(self) -> S:
        return self.apply("exp", self)

    def log(self) -> S:
        return self.apply("log", self)

    def sign(self) -> S:
        return self.apply("sign", self)

    def floor(self) -> S:
        return self.apply("floor", self)

    def __abs__(self) -> S:
        return self.apply("abs", self)

    def __lt__(self, other: S) -> S:
        return self.apply("lt", self, other)

    def __le__(self, other: S) -> S:
        return self.apply("le", self, other)

    def __gt__(self, other: S) -> S:
        return self.apply("lt", other, self)

    def __ge__(self, other: S) -> S:
        return self.apply("le", other, self)

    def __bool__(self) -> NoReturn:
        raise TypeError("a dual number is neither true nor false; use where(condition, a, b), or test its .value")

    def __float__(self) -> NoReturn:
        raise TypeError("a dual number cannot become a float without losing its derivative; use its .value or .tangent")

    def __repr__(self) -> str:
        return f"Dual({self.value!r}, {self.tangent!r}, level={self.level})"


COMPARISONS = frozenset({"lt", "le", "eq"})


class Direction:
    """A direction of differentiation. It makes dual numbers along itself, and reads what others carry along it.

    A Direction is opened for one derivative, where that is taken, after everything that the derivative depends on.
    """

    __slots__ = ("level",)

    def __init__(self) -> None:
        self.level = _next_level()

    def moved(self, x: S, dx: S = 1.0) -> S:
        """x as a number that changes at the rate dx; x itself where dx is a structural zero."""
        return x if is_zero(dx) else Dual(x, dx, self.level)

    def all_moved(self, x: Iterable[S], dx: Iterable[S]) -> list[S]:
        """Numbers x that change at the rates dx."""
        return [self.moved(one, rate) for one, rate in zip(x, dx, strict=True)]

    def value(self, y: S) -> S:
        """y without its rate of change along this direction."""
        return _value(y, self.level)

    def tangent(self, y: S) -> S:
        """The rate of change of y along this direction; 0 where y does not change."""
        return _tangent(y, self.level)

    def values(self, y: Iterable[S]) -> list[S]:
        """The numbers y without their rates of change along this direction."""
        return [_value(one, self.level) for one in y]

    def tangents(self, y: Iterable[S]) -> list[S]:
        """The rates of change of the numbers y along this direction."""
        return [_tangent(one, self.level) for one in y]


def with_derivative(function: Callable[[S], S], slope: Callable[[S], S], x: S) -> S:
    """function(x), where the derivative of the function is known to be `slope`.

    This takes fewer operations than differentiating its formula by x. What the function depends on besides x is
    differentiated as usual.
    """
    if type(x) is not Dual:
        return function(x)
    here = with_derivative(function, slope, x.value)
    return plus(here, times(slope(x.value), Dual(0.0, x.tangent, x.level)))


def _level(x: S) -> int:
    return x.level if type(x) is Dual else -1


def _value(x: S, level: int) -> S:
    return x.value if type(x) is Dual and x.level == level else x


def _tangent(x: S, level: int) -> S:
    return x.tangent if type(x) is Dual and x.level == level else 0.0


def _select(condition: S, chosen: S, otherwise: S) -> S:
    """`where` for dual numbers: value and tangent are selected, so the other branch adds nothing, not even 0 * inf."""
    while type(condition) is Dual:
        condition = condition.value
    level = max(_level(chosen), _level(otherwise))
    if level < 0 or type(condition) is float:
        return scalar.where(condition, chosen, otherwise)
    value = scalar.where(condition, _value(chosen, level), _value(otherwise, level))
    tangents = _tangent(chosen, level), _tangent(otherwise, level)
    return Dual(value, 0.0 if all(map(is_zero, tangents)) else scalar.where(condition, *tangents), level)


# ── derivatives of functions ──────────────────────────────────────────────────────────────────────────────────────────


def value_and_derivative(function: Callable[..., Any], x: Any, dx: Any = 1.0) -> tuple[Any, Any]:
    """(y, dy): the value of a function at x and its derivative along dx; x and y are scalars or nested tuples."""
    along = Direction()
    y = function(_seeded(x, dx, along))
    return _mapped(along.value, y), _mapped(along.tangent, y)


def derivative(function: Callable[..., Any], x: Any, dx: Any = 1.0) -> Any:
    """The derivative of a function at x along dx; for a scalar x simply f'(x)."""
    return value_and_derivative(function, x, dx)[1]


def gradient(function: Callable[..., S], x: Sequence[S]) -> tuple[Any, ...]:
    """The derivatives of a function of a vector x, shape (n,): entry k is d function / d x[k]."""
    n = len(x)
    return tuple(derivative(function, tuple(x), tuple(float(i == k) for i in range(n))) for k in range(n))


def _seeded(x: Any, dx: Any, along: Direction) -> Any:
    """x as dual numbers with the tangent dx; entries whose tangent is a structural zero stay as they are."""
    if isinstance(x, tuple):
        return _rebuilt(x, [_seeded(part, tangent, along) for part, tangent in zip(x, dx, strict=True)])
    return along.moved(x, dx)


def _mapped(pick: Callable[[S], S], y: Any) -> Any:
    if isinstance(y, tuple):
        return _rebuilt(y, [_mapped(pick, part) for part in y])
    return pick(y)


def _rebuilt(like: tuple[Any, ...], parts: list[Any]) -> Any:
    return type(like)(*parts) if hasattr(like, "_fields") else tuple(parts)
