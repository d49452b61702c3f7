"""Derivatives through blocks: solve, least squares of any rank, tables. Against differentiated closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from kinemorph.codegen.derivatives.differentiate import forward, hessian, jacobian, pattern, reverse, sparse_jacobian
from kinemorph.codegen.graphs.ports import detached
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.graphs.tracing import trace
from kinemorph.vocabulary.blocks import LeastSquares, Solve, Table
from support.references.derivative_oracles import by_duals, run
from support.tools.each_case import each_case

MODES = ("forward", "reverse")
STEP = 1e-30


def complex_step(function, x):
    """d function / d x of an analytic function of an array, shape (outputs, inputs)."""
    return np.array([np.ravel(function(x + 1j * STEP * unit)).imag / STEP for unit in np.eye(len(x))]).T


# ── solve ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def solve_program(n: int = 3, k: int = 2) -> Program:
    """X of A(x) X = B(x), with every entry of both a function of x."""

    def function(x):
        lower, B = solve_entries(x, n, k, lambda a: a.sin())
        return lower[0].block(Solve(n, k), [*lower, *B])

    return trace(function, {"x": (5,)}, name="solve")


def solve_entries(x, n, k, sin):
    """A dominant diagonal; the other entries vary with x."""
    lower = [sin(x[(i + 2 * j) % 5] * (1 + j)) * 0.4 + (n + 2.0) * (i == j) for i in range(n) for j in range(i + 1)]
    return lower, [x[c % 5] * x[(c * c + 1) % 5] - 0.3 * c for c in range(n * k)]


def solve_closed(x, n: int = 3, k: int = 2):
    lower, B = solve_entries(x, n, k, np.sin)
    A = np.zeros((n, n), dtype=x.dtype)
    A[np.tril_indices(n)] = lower
    A = A + np.tril(A, -1).T
    return np.linalg.solve(A, np.array(B).reshape(n, k)).ravel()


X5 = np.array([0.3, -0.7, 1.1, 0.4, -0.2])


@pytest.mark.parametrize("mode", MODES)
def test_solve_by_the_implicit_rule(mode):
    program = solve_program()
    derived = jacobian(program, "out", "x", mode=mode)
    np.testing.assert_allclose(run(derived, X5), complex_step(solve_closed, X5), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(by_duals(program, X5), complex_step(solve_closed, X5), rtol=1e-12, atol=1e-13)


def test_all_directions_of_a_solve_are_one_block():
    """The matrix is decomposed once for the value and once for the whole Jacobian, not once for each column."""
    program = detached(solve_program())
    for mode, columns in (("forward", 5 * 2), ("reverse", 6 * 2 - 6)):  # a row weighs one entry: one column of Xbar
        derived = jacobian(detached(program), "out", "x", mode=mode)
        assert [block.k for block in derived.blocks if isinstance(block, Solve)] == [2, columns]
        assert sum(isinstance(node[0], Solve) for _, node in derived.steps) == 2


def test_only_right_sides_that_move_are_solved_for():
    """B depends on one input, A on none: one more column, and A^-1 alone on the way back."""

    def function(x):
        return x[0].block(Solve(2, 2), [2.0, 0.5, 3.0, x[0], 1.0, 0.0, x[1] * x[1]])

    program = trace(function, {"x": (2,)})
    assert pattern(program, "out", "x").all()  # structure is seen by block, not by column
    for mode in MODES:
        derived = jacobian(detached(program), "out", "x", mode=mode)
        inverse = np.linalg.inv([[2.0, 0.5], [0.5, 3.0]])
        expected = np.zeros((2, 2, 2))
        expected[:, 0, 0], expected[:, 1, 1] = inverse[:, 0], inverse[:, 1] * 3.0
        np.testing.assert_allclose(run(derived, [0.7, 1.5]), expected.reshape(4, 2), rtol=1e-14, atol=1e-16)
    assert [block.k for block in jacobian(detached(program), "out", "x", mode="forward").blocks] == [2]


def test_second_derivatives_of_a_solve():
    program = solve_program(2, 1)
    found = run(hessian(program, "out", "x"), X5)
    first = jacobian(detached(program), "out", "x", mode="forward")
    expected = by_duals(first, X5).reshape(2, 5, 5)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-11)
    small = 1e-6
    differences = [(run(first, X5 + small * unit) - run(first, X5 - small * unit)) / (2 * small) for unit in np.eye(5)]
    np.testing.assert_allclose(found, np.moveaxis(differences, 0, -1), rtol=1e-7, atol=1e-8)


# ── least squares ─────────────────────────────────────────────────────────────────────────────────────────────────────


def factors(x, m, n, r, sin):
    """U (m, r) and V (r, n), functions of x: their product has rank r whatever x is."""
    U = [[sin(x[(i + j) % 5]) * 0.5 + (1.5 + 0.2 * i) * (i == j) + 0.1 * i for j in range(r)] for i in range(m)]
    V = [[x[(2 * i + j) % 5] * 0.3 + (2.0 - 0.1 * j) * (i == j) - 0.2 * j for j in range(n)] for i in range(r)]
    return U, V


def right_side(x, m, k):
    return [x[(i * i + 1) % 5] * x[i % 5] + 0.2 * i for i in range(m * k)]


def least_squares_program(m, n, r, k=2) -> Program:
    def function(x):
        U, V = factors(x, m, n, r, lambda a: a.sin())
        A = [sum((U[i][c] * V[c][j] for c in range(r)), 0.0) for i in range(m) for j in range(n)]
        *X, rank = A[0].block(LeastSquares(m, n, k), [*A, *right_side(x, m, k)])
        return {"X": X, "rank": rank}

    return trace(function, {"x": (5,)}, name="least squares")


@each_case("mode", MODES)
@each_case(("m", "n", "r"), [(4, 3, 3), (3, 4, 3), (4, 3, 2), (3, 3, 1), (3, 3, 3)])
def test_least_squares_of_constant_rank(m, n, r, mode):
    def closed(x):
        U, V = (np.array(part) for part in factors(x, m, n, r, np.sin))
        B = np.array(right_side(x, m, 2)).reshape(m, 2)
        return V.T @ np.linalg.solve(V @ V.T, np.linalg.solve(U.T @ U, U.T @ B))

    program = least_squares_program(m, n, r)
    expected = complex_step(closed, X5)
    value, found = run(jacobian(program, "X", "x", mode=mode, values=True), X5)
    np.testing.assert_allclose(value, closed(X5).ravel(), rtol=1e-12)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(by_duals(program, X5)[:-1], expected, rtol=1e-11, atol=1e-11)
    assert run(program, X5)[1] == r
    assert not pattern(program, "rank", "x").any()
    assert jacobian(program, "rank", "x", mode=mode).refs == (0,) * 5  # a rank does not move


def test_least_squares_takes_two_blocks_for_all_directions():
    for mode in MODES:
        derived = jacobian(least_squares_program(4, 3, 3), "X", "x", mode=mode)
        assert sum(isinstance(node[0], LeastSquares) for _, node in derived.steps) == 3  # the value, A^T, A


# ── tables ────────────────────────────────────────────────────────────────────────────────────────────────────────────

CUBIC = Table((0.0, 1.0), (-1.0, 0.0, 1.0), ((0.5, 1.0, -0.3, 0.2), (1.4, 1.0, 0.3, -0.1), (2.6, 1.3, 0.0, 0.0)))


@pytest.mark.parametrize("x", [-1.7, -0.2, 0.0, 0.6, 1.0, 3.0])
def test_table_has_a_table_as_derivative(x):
    program = trace(lambda x: (2.0 * x).block(CUBIC, [x])[0] * x, {"x": ()})
    (y,), (slope,), (bend,) = (table.meaning(x) for table in (CUBIC, CUBIC.derivative, CUBIC.derivative.derivative))
    for mode in MODES:
        np.testing.assert_allclose(run(jacobian(program, "out", "x", mode=mode), x), y + x * slope, rtol=1e-14)
    np.testing.assert_allclose(run(hessian(program, "out", "x"), x), 2.0 * slope + x * bend, rtol=1e-13, atol=1e-14)


# ── all ways together ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_all_ways_agree_through_blocks():
    """A program that goes through a table, a solve and a least squares one after the other, and round them."""

    def function(x):
        bent = [x[0].block(CUBIC, [a])[0] for a in x]
        lower, B = solve_entries(bent, 3, 1, lambda a: a.cos())
        X = lower[0].block(Solve(3, 1), [*lower, *B])
        Y = X[0].block(LeastSquares(3, 2, 1), [*X, *bent[:3], x[4], x[0] * X[1], 1.0])[:2]
        return [Y[0] * X[2], Y[1].sin() + x[2], X[0] / (2.0 + Y[0] * Y[0])]

    program = trace(function, {"x": (5,)})
    expected = by_duals(program, X5)
    for mode in (*MODES, "auto"):
        np.testing.assert_allclose(run(jacobian(program, "out", "x", mode=mode), X5), expected, rtol=1e-10, atol=1e-11)
    sparse = sparse_jacobian(program, "out", "x")
    dense = np.zeros((3, 5))
    dense[sparse.rows, sparse.cols] = run(sparse.program, X5)
    np.testing.assert_allclose(dense, expected, rtol=1e-10, atol=1e-11)
    direction, weights = np.array([0.4, 1.0, -0.3, 0.2, 0.9]), np.array([1.0, -0.6, 0.3])
    np.testing.assert_allclose(run(forward(program), X5, direction), expected @ direction, rtol=1e-10)
    np.testing.assert_allclose(run(reverse(program), X5, weights), weights @ expected, rtol=1e-10)


def test_a_block_in_a_branch_not_taken_gives_nothing():
    """Where A is singular the solution is not finite; the other branch does not hear of it."""

    def function(x):
        X = x[0].block(Solve(2, 1), [x[0], x[1], x[0], 1.0, x[1]])
        return (abs(x[1]) < x[0]).where(X[0] * X[1] * x[1], 3.0 * x[1])

    program = trace(function, {"x": (2,)})
    for mode in MODES:
        assert run(jacobian(program, "out", "x", mode=mode), [0.0, 0.0]).tolist() == [0.0, 3.0]
    a, b = 2.0, 0.5
    taken = np.linalg.solve([[a, b], [b, a]], [1.0, b])
    assert run(program, [a, b]) == pytest.approx(taken[0] * taken[1] * b)
    np.testing.assert_allclose(
        run(jacobian(program, "out", "x", mode="reverse"), [a, b]), by_duals(program, [a, b])[0], rtol=1e-12
    )
