"""Ops: every operation on single numbers, one row each.

A row states the name, the number of arguments, the NumPy function that defines the result, the partial derivatives and
the cost in the op count. Dual numbers, the expression graph and every backend read this table; no operation is defined
anywhere else.

A derivative is written in terms of a namespace `f` of the same operations (`f.cos`, `f.div`, ...), so that one formula
serves dual numbers and graph nodes. It takes `f`, the arguments and the result `y`, and returns one partial derivative
per argument. Comparisons return 1.0 or 0.0; `where(c, a, b)` is a where c is not zero, and b elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kinemorph.frozen import dataclass

Partials = Callable[..., tuple[Any, ...]]


@dataclass(frozen=True)
class Op:
    """One operation. `cost` is its cost [flops]: 1 for an addition or a product, 0 for a change of sign."""

    name: str
    arity: int
    meaning: Callable[..., Any]
    derivative: Partials | None  # None: the op is piecewise constant, all its derivatives are zero
    cost: int


def _truth(compare: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The comparison as a function that returns 1.0 where it is true and 0.0 where it is false."""
    return lambda a, b: np.where(compare(a, b), 1.0, 0.0)


def _where(c: Any, a: Any, b: Any) -> Any:
    return np.where(np.not_equal(c, 0.0), a, b)


ROWS = (
    # arithmetic
    Op("add", 2, np.add, lambda f, a, b, y: (1.0, 1.0), 1),
    Op("sub", 2, np.subtract, lambda f, a, b, y: (1.0, -1.0), 1),
    Op("mul", 2, np.multiply, lambda f, a, b, y: (b, a), 1),
    Op("div", 2, np.divide, lambda f, a, b, y: (f.div(1.0, b), -f.div(y, b)), 1),
    Op("neg", 1, np.negative, lambda f, a, y: (-1.0,), 0),
    # roots, powers, exponentials
    Op("sqrt", 1, np.sqrt, lambda f, a, y: (f.div(0.5, y),), 1),
    Op("pow", 2, np.power, lambda f, a, b, y: (b * f.pow(a, b - 1.0), y * f.log(a)), 20),
    Op("exp", 1, np.exp, lambda f, a, y: (y,), 10),
    Op("log", 1, np.log, lambda f, a, y: (f.div(1.0, a),), 10),
    # trigonometry
    Op("sin", 1, np.sin, lambda f, a, y: (f.cos(a),), 8),
    Op("cos", 1, np.cos, lambda f, a, y: (-f.sin(a),), 8),
    Op("tan", 1, np.tan, lambda f, a, y: (1.0 + y * y,), 16),
    Op("asin", 1, np.arcsin, lambda f, a, y: (f.div(1.0, f.sqrt(1.0 - a * a)),), 16),
    Op("acos", 1, np.arccos, lambda f, a, y: (f.div(-1.0, f.sqrt(1.0 - a * a)),), 16),
    Op("atan2", 2, np.arctan2, lambda f, a, b, y: (f.div(b, a * a + b * b), f.div(-a, a * a + b * b)), 20),
    # kinks and steps
    Op("abs", 1, np.abs, lambda f, a, y: (f.sign(a),), 0),
    Op("sign", 1, np.sign, None, 1),
    Op("floor", 1, np.floor, None, 1),
    Op("min", 2, np.minimum, lambda f, a, b, y: (f.where(f.le(a, b), 1.0, 0.0), f.where(f.le(a, b), 0.0, 1.0)), 1),
    Op("max", 2, np.maximum, lambda f, a, b, y: (f.where(f.le(b, a), 1.0, 0.0), f.where(f.le(b, a), 0.0, 1.0)), 1),
    # comparisons and choice
    Op("lt", 2, _truth(np.less), None, 1),
    Op("le", 2, _truth(np.less_equal), None, 1),
    Op("eq", 2, _truth(np.equal), None, 1),
    Op("where", 3, _where, lambda f, c, a, b, y: (0.0, f.where(c, 1.0, 0.0), f.where(c, 0.0, 1.0)), 1),
)

OPS: dict[str, Op] = {row.name: row for row in ROWS}
