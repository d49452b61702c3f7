"""Scalars: the functions of the op vocabulary, for every type that can be used as a number.

A scalar is a `float`, a NumPy array (a batch of numbers, broadcast as usual), an expression of the graph, or a dual
number. Each function is computed according to the type of its argument only:

    float    -> `math`, with the results of IEEE 754: sqrt(-1) is nan, log(0) is -inf, div(1, 0) is inf; no exception
    ndarray  -> NumPy, without warnings
    others   -> the method of that name (`x.sin()`, `x.atan2(y)`, `abs(x)`, ...)

An `int` or a NumPy number counts as a float. Comparisons give 1.0 or 0.0, never a bool. The float 0.0 is a *structural
zero*: `times` gives 0.0 and `plus` the other argument, whatever that is, so that terms that a robot does not have are
absent from its equations too. Angles are in radians.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, TypeAlias

import numpy as np

from kinemorph.vocabulary.blocks import Block
from kinemorph.vocabulary.ops import OPS

S: TypeAlias = Any  # float | NDArray[float64] | Expr | Dual: any type with the operators and the methods below

NUMBERS = (int, float, np.number, np.bool_)  # what counts as one plain number
EXCEPTIONAL = (ValueError, OverflowError, ZeroDivisionError)  # where `math` raises and NumPy returns the IEEE value


class Lifted:
    """Base of scalars that are made of other scalars (dual numbers). Their methods take precedence over those of the
    scalars inside them.
    """

    __slots__ = ()

    def apply(self, name: str, *args: S) -> S:
        """The result of the op `name` of the vocabulary on `args`, at least one of which is a `Lifted`."""
        raise TypeError(f"{type(self).__name__} does not define its method `apply`, which op '{name}' needs")

    def block(self, block: Block, args: Sequence[S]) -> list[S]:
        """The outputs of a block op on `args`, at least one of which is a `Lifted`."""
        raise TypeError(
            f"{type(self).__name__} does not define its method `block`, which op '{type(block).__name__}' needs"
        )


def _quiet(name: str) -> Callable[..., Any]:
    """The NumPy function of the op `name`, with IEEE results (inf, nan) in place of warnings."""
    return np.errstate(all="ignore")(OPS[name].meaning)


def _unary(name: str, on_float: Callable[[float], float], method: str, doc: str) -> Callable[[S], S]:
    on_array, on_object = _quiet(name), operator.methodcaller(method)

    def function(x: S) -> S:
        if type(x) is float:
            try:
                return on_float(x)
            except EXCEPTIONAL:
                return float(on_array(x))
        if isinstance(x, np.ndarray):
            return on_array(x)
        if isinstance(x, NUMBERS):
            return function(float(x))
        return on_object(x)

    function.__name__, function.__doc__ = method.strip("_"), doc
    return function


def _binary(
    name: str, on_floats: Callable[[float, float], float], on_objects: Callable[[S, S], S], doc: str
) -> Callable[[S, S], S]:
    on_arrays = _quiet(name)

    def function(a: S, b: S) -> S:
        if type(a) is float and type(b) is float:
            try:
                return on_floats(a, b)
            except EXCEPTIONAL:
                return float(on_arrays(a, b))
        if isinstance(a, Lifted):
            return a.apply(name, a, b)
        if isinstance(b, Lifted):
            return b.apply(name, a, b)
        if isinstance(a, NUMBERS):
            a = float(a)
            if isinstance(b, NUMBERS):
                return function(a, float(b))
        elif isinstance(b, NUMBERS):
            b = float(b)
        if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
            return on_arrays(a, b)
        return on_objects(a, b)

    function.__name__, function.__doc__ = name, doc
    return function


def _sign(x: float) -> float:
    return x if x != x else float((x > 0.0) - (x < 0.0))


def _either(forward: str, reflected: str) -> Callable[[S, S], S]:
    """A function of (a, b) that returns a.forward(b), or b.reflected(a) where `a` is a float."""
    call_forward, call_reflected = operator.attrgetter(forward), operator.attrgetter(reflected)
    return lambda a, b: call_reflected(b)(a) if type(a) is float else call_forward(a)(b)


# ── functions of one argument ─────────────────────────────────────────────────────────────────────────────────────────

sin = _unary("sin", math.sin, "sin", "Sine of an angle [rad].")
cos = _unary("cos", math.cos, "cos", "Cosine of an angle [rad].")
tan = _unary("tan", math.tan, "tan", "Tangent of an angle [rad].")
asin = _unary("asin", math.asin, "asin", "Angle [rad] in [-pi/2, pi/2] whose sine is x; nan outside [-1, 1].")
acos = _unary("acos", math.acos, "acos", "Angle [rad] in [0, pi] whose cosine is x; nan outside [-1, 1].")
sqrt = _unary("sqrt", math.sqrt, "sqrt", "Square root; nan below zero.")
exp = _unary("exp", math.exp, "exp", "Exponential; inf where it overflows.")
log = _unary("log", math.log, "log", "Natural logarithm; -inf at zero, nan below.")
absolute = _unary("abs", abs, "__abs__", "Absolute value.")
sign = _unary("sign", _sign, "sign", "The sign of x: -1, 0 or 1.")
floor = _unary("floor", lambda x: float(math.floor(x)), "floor", "Largest whole number that is not above x.")

# ── functions of two arguments ────────────────────────────────────────────────────────────────────────────────────────

div = _binary("div", operator.truediv, operator.truediv, "a / b; inf or nan where b is zero.")
power = _binary("pow", math.pow, operator.pow, "a to the power b; nan for a non-integer power of a negative number.")
atan2 = _binary("atan2", math.atan2, _either("atan2", "ratan2"), "Angle [rad] of the point (x, y): atan2(y, x).")


def atan(x: S) -> S:
    """Angle [rad] in (-pi/2, pi/2) whose tangent is x."""
    return atan2(x, 1.0)


minimum = _binary(
    "min", lambda a, b: a if a <= b or a != a else b, _either("minimum", "minimum"), "Smaller of a and b."
)
maximum = _binary("max", lambda a, b: a if a >= b or a != a else b, _either("maximum", "maximum"), "Larger of a and b.")
less = _binary("lt", lambda a, b: 1.0 if a < b else 0.0, operator.lt, "1.0 where a < b, else 0.0.")
less_equal = _binary("le", lambda a, b: 1.0 if a <= b else 0.0, operator.le, "1.0 where a <= b, else 0.0.")
equal = _binary("eq", lambda a, b: 1.0 if a == b else 0.0, _either("equals", "equals"), "1.0 where a = b, else 0.0.")

_select = _quiet("where")


def where(condition: S, chosen: S, otherwise: S) -> S:
    """`chosen` where the condition is not zero, else `otherwise`.

    Both are computed, one is selected. The tangent of a dual number is selected too, not multiplied by 0, so that inf
    and nan of the other branch never enter the result.
    """
    if type(condition) is float:
        return chosen if condition != 0.0 else otherwise
    if isinstance(condition, Lifted):
        return condition.apply("where", condition, chosen, otherwise)
    if isinstance(condition, NUMBERS):
        return chosen if condition else otherwise
    for branch in (chosen, otherwise):
        if isinstance(branch, Lifted):
            return branch.apply("where", condition, chosen, otherwise)
    if isinstance(condition, np.ndarray):
        return _select(condition, chosen, otherwise)
    return condition.where(chosen, otherwise)


def sincos(x: S) -> tuple[S, S]:
    """(sin x, cos x) of an angle [rad]."""
    return sin(x), cos(x)


# ── arithmetic that keeps structural zeros ────────────────────────────────────────────────────────────────────────────


def is_zero(x: S) -> bool:
    """True for a structural zero: the float 0.0, known before anything is computed."""
    return type(x) is float and x == 0.0


def times(a: S, b: S) -> S:
    """a * b; 0.0 where one of them is a structural zero, even where the other is inf or nan."""
    if (type(a) is float and a == 0.0) or (type(b) is float and b == 0.0):
        return 0.0
    return a * b


def plus(a: S, b: S) -> S:
    """a + b; if one of them is the constant 0 of a program (a structural zero), the other is returned unchanged."""
    if type(a) is float and a == 0.0:
        return b
    if type(b) is float and b == 0.0:
        return a
    return a + b


def minus(a: S, b: S) -> S:
    """a - b; simply `a` where b is a structural zero, and -b where `a` is one."""
    if type(b) is float and b == 0.0:
        return a
    if type(a) is float and a == 0.0:
        return -b
    return a - b


# The functions of the vocabulary by op name, as the derivatives in `ops` call them.
f: Any = SimpleNamespace(
    **{"add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": div, "neg": operator.neg},
    **{"sqrt": sqrt, "pow": power, "exp": exp, "log": log},
    **{"sin": sin, "cos": cos, "tan": tan, "asin": asin, "acos": acos, "atan2": atan2},
    **{"abs": absolute, "sign": sign, "floor": floor, "min": minimum, "max": maximum},
    **{"lt": less, "le": less_equal, "eq": equal, "where": where},
)
