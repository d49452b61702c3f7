"""General square matrices, factored and solved in loops, on every backend that runs loops."""

from __future__ import annotations

import numpy as np

from kinemorph.codegen.building.compile import build
from kinemorph.codegen.loops.elimination import factored, substituted
from kinemorph.codegen.loops.loop_builder import LoopBuilder
from kinemorph.codegen.loops.loop_program import LoopProgram
from support.tools.each_case import each_case
from support.tools.program_runs import all_ways, assert_agrees

STATES = 21  # two full vectors of 8 and a rest


def solved(n: int) -> LoopProgram:
    loop = LoopBuilder("solved", {"A": (n, n), "b": (n,)}, {"x": (n,), "regular": ()})
    LU, order = loop.buffer("LU", (n, n)), loop.buffer("order", (n,))
    loop.call(factored(n), [LU, order, loop["regular"]], [loop["A"]])
    loop.call(substituted(n), [loop["x"]], [LU, order, loop["b"]])
    return loop.program()


def matrices(n: int, rng: np.random.Generator) -> np.ndarray:
    """Each with another order of pivots; zeros on the diagonal, badly scaled rows."""
    A = rng.normal(size=(STATES, n, n)) * 10.0 ** rng.uniform(-3, 3, size=(STATES, n, 1))
    for k in range(0, STATES, 2):
        np.fill_diagonal(A[k], 0.0)
    return A if n > 1 else A + 1.0


@all_ways
@each_case("n", [1, 2, 5, 12])
def test_every_backend_solves(way: str, n: int) -> None:
    rng = np.random.default_rng(n)
    A, b = matrices(n, rng), rng.normal(size=(STATES, n))
    x, regular = assert_agrees(way, solved(n), [A, b], 1e-10)
    assert (regular == 1.0).all()
    off = np.abs(np.einsum("kij,kj->ki", A, x) - b).max(axis=1)  # against what rounding alone does
    assert (off <= 1e-14 * n * (np.abs(A) @ np.abs(x)[..., None]).max(axis=(1, 2))).all()


def test_pivots_are_the_largest() -> None:
    A = np.random.default_rng(3).normal(size=(9, 9))
    LU, order, regular = build(factored(9))(A)
    L = np.tril(LU, -1) + np.eye(9)
    U = np.triu(LU, 1) + np.diag(1.0 / np.diag(LU))
    assert np.abs(L).max() <= 1.0 and regular == 1.0
    assert np.allclose(L @ U, A[order.astype(int)], atol=1e-14)


@all_ways
def test_singular_is_said(way: str) -> None:
    A = np.array([np.eye(3), [[1, 2, 3], [2, 4, 6], [0, 0, 1]], np.full((3, 3), np.nan), np.zeros((3, 3))])
    program = factored(3)
    regular = assert_agrees(way, program, [A])[2]
    assert regular.tolist() == [1.0, 0.0, 0.0, 0.0]


def test_an_infinite_pivot_is_singular_in_both_precisions() -> None:
    """The bound of finite pivots, 1e300, is infinity itself in float32."""
    for precision in ("float32", "float64"):
        assert build(factored(1), precision=precision)([[[2.0]], [[np.inf]]])[2].tolist() == [1.0, 0.0]
