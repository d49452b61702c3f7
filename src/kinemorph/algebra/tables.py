"""Curves through given points, as piecewise polynomials that can be evaluated at any scalar.

    curve = through([0.0, 0.5, 2.0], [1.0, 3.0, 2.0], kind="cubic", outside="hold")
    y = lookup(curve, x)            x a float, a batch, a dual number or an expression

The result is a `Table` of the block vocabulary: one op in the graph, whatever its length, with an exact derivative.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal, get_args

import numpy as np

from kinemorph.algebra.linear import applied
from kinemorph.algebra.scalar import S
from kinemorph.errors import ShapeError
from kinemorph.vocabulary.blocks import Table

Kind = Literal["linear", "cubic", "monotone"]
Outside = Literal["extend", "hold"]


def lookup(table: Table, x: S) -> S:
    """The value of a curve, made by `through`, at x: a scalar of any kind."""
    if not isinstance(table, Table):
        raise ShapeError(
            f"lookup: the first argument is {table!r}; expected a curve made by `through`. Write lookup(curve, x)."
        )
    if isinstance(x, (list, tuple, str)):
        raise ShapeError(f"lookup: x is {x!r}; expected one scalar. Look up entry by entry, or pass a NumPy array.")
    return applied(table, [x])[0]


def through(x: Sequence[float], y: Sequence[float], *, kind: Kind = "linear", outside: Outside = "extend") -> Table:
    """The curve through points (x, y), shape (n,) each; x has to increase.

    `kind`     "linear": straight between the points; "cubic": a spline with continuous curvature (not-a-knot);
               "monotone": piecewise cubic that never overshoots the points (Fritsch and Carlson)
    `outside`  "extend": beyond the end points, the first and the last piece continue; "hold": the curve is constant
               there
    """
    knots, values = _numbers("x", x), _numbers("y", y)
    _check(knots, values, kind, outside)
    rows = _PIECES[kind if len(knots) > 2 else "linear"](knots, values)
    breaks, origins = list(knots[1:-1]), list(knots[:-1])
    if outside == "hold":
        flat = np.zeros((1, rows.shape[1]))
        rows = np.concatenate([flat, rows, flat])
        rows[0, 0], rows[-1, 0] = values[0], values[-1]
        breaks, origins = list(knots), [knots[0], *origins, knots[-1]]
    return Table(tuple(map(float, breaks)), tuple(map(float, origins)), tuple(tuple(map(float, row)) for row in rows))


@lru_cache(maxsize=64)
def spline_basis(count: int, degree: int) -> tuple[Table, ...]:
    """`count` B-splines of the given degree over [0, 1], with uniform knots; their sum is 1 everywhere.

    The first one is 1 at 0 and the last one is 1 at 1. With count = degree + 1 they are Bernstein's polynomials, those
    of a Bezier curve. Outside of [0, 1] the first and the last piece continue.
    """
    from scipy.interpolate import BSpline

    inner = np.linspace(0.0, 1.0, count - degree + 1)
    knots = np.concatenate([np.zeros(degree), inner, np.ones(degree)])
    spline, rows, factor = BSpline(knots, np.eye(count), degree), [], 1.0
    for power in range(degree + 1):  # Taylor coefficients at the left end of each piece, for all B-splines
        rows.append(spline(inner[:-1]) / factor)
        factor *= power + 1
        spline = spline.derivative() if power < degree else spline
    pieces = np.stack(rows, axis=2)  # (pieces, count, degree + 1)
    breaks, origins = _floats(inner[1:-1]), _floats(inner[:-1])
    return tuple(Table(breaks, origins, tuple(map(_floats, pieces[:, k]))) for k in range(count))


def _floats(values: Any) -> tuple[float, ...]:
    return tuple(map(float, values))


def _linear(x: Any, y: Any) -> Any:
    return np.stack([y[:-1], np.diff(y) / np.diff(x)], axis=1)


def _cubic(x: Any, y: Any) -> Any:
    from scipy.interpolate import CubicSpline

    return CubicSpline(x, y).c[::-1].T


def _monotone(x: Any, y: Any) -> Any:
    from scipy.interpolate import PchipInterpolator

    return PchipInterpolator(x, y).c[::-1].T


_PIECES = {"linear": _linear, "cubic": _cubic, "monotone": _monotone}  # coefficients of each piece, lowest power first


def _numbers(name: str, points: Any) -> Any:
    try:
        return np.asarray(points, dtype=float)
    except (TypeError, ValueError):
        raise ShapeError(f"curve: {name} is {points!r}; expected a list of plain numbers.") from None


def _check(x: Any, y: Any, kind: str, outside: str) -> None:
    if x.ndim != 1 or x.shape != y.shape or len(x) < 2:
        raise ShapeError(
            f"curve: x has shape {x.shape} and y has shape {y.shape}; expected two lists of the same length, with 2 or "
            "more numbers each."
        )
    for name, points in (("x", x), ("y", y)):
        bad = np.flatnonzero(~np.isfinite(points))
        if len(bad):
            raise ShapeError(f"curve: {name}[{bad[0]}] is {points[bad[0]]}; expected a finite number. Drop that point.")
    steps = np.flatnonzero(np.diff(x) <= 0.0)
    if len(steps):
        k = int(steps[0])
        raise ShapeError(f"curve: x[{k + 1}] = {x[k + 1]:.6g} is not above x[{k}] = {x[k]:.6g}. Sort the points by x.")
    for word, given, known in (("kind", kind, get_args(Kind)), ("outside", outside, get_args(Outside))):
        if given not in known:
            raise ShapeError(f"curve: {word} is '{given}'; expected one of {', '.join(known)}.")
