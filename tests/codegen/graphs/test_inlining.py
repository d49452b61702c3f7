"""Programs run on expressions of another trace."""

from __future__ import annotations

import numpy as np

from kinemorph.algebra.linear import solve
from kinemorph.algebra.scalar import sin, where
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.graphs.evaluation import inlined
from kinemorph.codegen.graphs.tracing import trace


def test_it_computes_what_the_program_computes() -> None:
    def law(x, k):  # type: ignore[no-untyped-def]
        (first,), (second,) = solve([[k + 2.0, 0.5], [0.5, 1.0]], [[sin(x[0])], [x[1]]])
        return [first - second, where(x[0] > 0.3, x[0] / k, -x[1]), 4.0]

    program = trace(law, {"x": (2,), "k": ()})
    outer = trace(lambda y: inlined(program, [[y[0] * y[1], y[2]], 3.0]), {"y": (3,)})
    y = np.array([[0.5, 0.8, -1.2], [0.1, 0.2, 0.7]])
    expected = build(program)(np.stack([y[:, 0] * y[:, 1], y[:, 2]], axis=1), np.full(2, 3.0))
    assert np.allclose(build(outer)(y), expected, rtol=1e-15)


def test_numbers_and_equal_expressions_fold_away() -> None:
    cross = trace(lambda a, b: [a[1] * b[2] - a[2] * b[1], a[0] * 5.0 + b[0]], {"a": (3,), "b": (3,)})
    same = trace(lambda v: inlined(cross, [v, v]), {"v": (3,)})
    assert same.graph.value_of(same.refs[0]) == 0.0 and same.ops == 2
    assert inlined(cross, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]) == [-3.0, 9.0]
