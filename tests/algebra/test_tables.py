"""Curves through points: they pass them, and go on outside as asked."""

from __future__ import annotations

import numpy as np
import pytest

from kinemorph.algebra.tables import lookup, through
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.graphs.tracing import trace
from kinemorph.errors import ShapeError

X, Y = [-1.0, 0.0, 0.5, 2.0, 2.5], [0.0, 2.0, 1.0, 1.0, 4.0]


@pytest.mark.parametrize("kind", ["linear", "cubic", "monotone"])
@pytest.mark.parametrize("outside", ["extend", "hold"])
def test_curves_pass_their_points(kind: str, outside: str) -> None:
    curve = through(X, Y, kind=kind, outside=outside)
    assert [lookup(curve, x) for x in X] == pytest.approx(Y, abs=1e-14)
    assert isinstance(lookup(curve, 0.3), float)
    batch = lookup(curve, np.linspace(-2.0, 4.0, 7))
    assert batch.shape == (7,)
    ends = (lookup(curve, -3.0), lookup(curve, 9.0))
    assert (ends == (Y[0], Y[-1])) == (outside == "hold")
    traced = build(trace(lambda x: lookup(curve, x), {"x": ()}, name="curve"), "interpreter")
    assert np.array_equal(traced(np.linspace(-2.0, 4.0, 7)), batch)


def test_straight_curves_are_straight_and_cubic_ones_smooth() -> None:
    assert lookup(through(X, Y), 1.0) == 1.0 and lookup(through(X, Y), 2.25) == 2.5
    slope = through(X, Y, kind="cubic").derivative
    for x in X[1:-1]:
        assert lookup(slope, x - 1e-12) == pytest.approx(lookup(slope, x + 1e-12), abs=1e-9)
    monotone = lookup(through(X, Y, kind="monotone"), np.linspace(0.5, 2.0, 50))
    assert monotone.min() >= 1.0 - 1e-15 and monotone.max() <= 1.0 + 1e-15


@pytest.mark.parametrize(
    ("x", "y", "options", "says"),
    [
        ([0.0], [1.0], {}, "2 or more"),
        ([0.0, 1.0], [1.0], {}, "shape"),
        ([0.0, 0.0], [1.0, 2.0], {}, r"x\[1\] = 0 is not above"),
        ([0.0, np.nan], [1.0, 2.0], {}, r"x\[1\] is nan"),
        ([0.0, 1.0], [1.0, np.inf], {}, r"y\[1\] is inf"),
        ([0.0, 1.0], [1.0, 2.0], {"kind": "quintic"}, "linear, cubic, monotone"),
    ],
)
def test_bad_points_are_named(x: list, y: list, options: dict, says: str) -> None:
    with pytest.raises(ShapeError, match=says):
        through(x, y, **options)
