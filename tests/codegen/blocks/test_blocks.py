"""Block ops: their definitions against linear algebra, and every backend against the definitions."""

from __future__ import annotations

import numpy as np
import pytest

from kinemorph.codegen.backends.c.export import export_c
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.graphs.tracing import trace
from kinemorph.codegen.loops.block_routines import routine
from kinemorph.errors import UnsupportedError
from kinemorph.vocabulary.blocks import Block, LeastSquares, Solve, Table
from support.tools.each_case import each_case
from support.tools.program_runs import WAYS, all_ways, assert_agrees, interpreted
from support.tools.some_slow import first

STATES = 11


def definite_entries(n: int, k: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng([seed, n, k])
    rows = []
    for _ in range(STATES):
        Q = rng.normal(size=(n, n))
        A = Q @ Q.T + 0.1 * np.eye(n)
        rows.append(np.concatenate([A[np.tril_indices(n)], rng.normal(size=n * k)]))
    return np.array(rows)


def dense(block: Solve, row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    A = np.zeros((block.n, block.n))
    A[np.tril_indices(block.n)] = row[: block.n * (block.n + 1) // 2]
    return A + np.tril(A, -1).T, row[block.n * (block.n + 1) // 2 :].reshape(block.n, block.k)


def spline(pieces: int, degree: int, seed: int = 0) -> Table:
    rng = np.random.default_rng([seed, pieces, degree])
    breaks = np.sort(rng.uniform(-3.0, 3.0, size=pieces - 1))
    origins = np.concatenate([breaks[:1] - 0.5, breaks]) if pieces > 1 else np.array([0.2])
    rows = rng.normal(size=(pieces, degree + 1))
    return Table(tuple(breaks), tuple(origins), tuple(map(tuple, rows)))


SOLVES = [Solve(1), Solve(2, 3), Solve(5), Solve(9, 4)]
FITS = [LeastSquares(1, 1), LeastSquares(4, 4), LeastSquares(6, 3, 2), LeastSquares(3, 6, 2), LeastSquares(5, 2)]


def even(pieces: int, degree: int, shaken: float = 0.0) -> Table:
    """A table with breaks at equal distances of 0.3, each moved by up to `shaken` distances."""
    rng = np.random.default_rng([pieces, degree])
    breaks = -1.1 + 0.3 * (np.arange(pieces - 1) + shaken * rng.uniform(-1.0, 1.0, size=pieces - 1))
    rows = rng.normal(size=(pieces, degree + 1))
    return Table(tuple(breaks), (breaks[0] - 0.5, *breaks), tuple(map(tuple, rows)))


TABLES = [spline(1, 2), spline(2, 0), spline(3, 1), spline(17, 3), even(4, 1), even(17, 3), even(30, 3, 0.2)]


@pytest.mark.parametrize("block", SOLVES, ids=lambda block: block.label)
def test_solve_solves(block: Solve) -> None:
    entries = definite_entries(block.n, block.k)
    found = np.stack(block.meaning(*entries.T), axis=-1)
    for row, x in zip(entries, found, strict=True):
        A, B = dense(block, row)
        assert np.allclose(A @ x.reshape(B.shape), B, atol=1e-12 * np.linalg.cond(A))


def fit_entries(block: LeastSquares, rank: int | None = None) -> np.ndarray:
    rng = np.random.default_rng([block.m, block.n])
    rows = []
    for _ in range(STATES):
        A = rng.normal(size=(block.m, block.n))
        if rank is not None:
            A = rng.normal(size=(block.m, rank)) @ rng.normal(size=(rank, block.n))
        rows.append(np.concatenate([A.ravel(), rng.normal(size=block.m * block.k)]))
    return np.array(rows)


@each_case("block", FITS, ids=lambda block: block.label)
@each_case("rank", [None, 0, 1, 2])
def test_least_squares_is_the_pseudoinverse(block: LeastSquares, rank: int | None) -> None:
    full = min(block.m, block.n)
    if rank is not None and rank > full:
        rank = full
    entries = fit_entries(block, rank)
    *found, ranks = block.meaning(*entries.T)
    assert (np.asarray(ranks) == (full if rank is None else rank)).all()
    for row, x in zip(entries, np.stack(found, axis=-1), strict=True):
        A, B = row[: block.m * block.n].reshape(block.m, block.n), row[block.m * block.n :].reshape(block.m, block.k)
        right = np.linalg.pinv(A, rcond=1e-9) @ B
        assert np.abs(x.reshape(right.shape) - right).max() < 1e-9 * max(1.0, np.abs(right).max())


def test_rank_follows_the_tolerance() -> None:
    A = np.diag([1.0, 1e-4, 1e-8])
    for tolerance, rank in ((1e-3, 1), (1e-6, 2), (1e-10, 3)):
        assert LeastSquares(3, 3, 1, tolerance).meaning(*A.ravel(), 1.0, 1.0, 1.0)[-1] == rank


def test_what_is_not_finite_stays_seen() -> None:
    for block in (Solve(2), LeastSquares(2, 2), LeastSquares(3, 2)):
        entries = np.ones(block.n_in) + np.arange(block.n_in)
        entries[1] = np.nan
        assert np.isnan(block.meaning(*entries)[0]).all()


@all_ways
def test_a_column_that_is_not_finite_leaves_the_others_alone(way: str) -> None:
    block = LeastSquares(3, 2, 2)
    entries = fit_entries(block)
    exact = np.stack(block.meaning(*entries.T), axis=-1)
    entries[4, -1] = np.nan  # in the second column of B
    entries[7, :6] *= 1e200  # too big to be squared
    whole = trace(lambda x: x[0].block(block, x), {"x": (block.n_in,)}, name=block.label)
    exact[4, [1, 3]], exact[7, :4] = np.nan, np.nan
    for run in (interpreted, WAYS[way]):
        (found,) = run(whole, [entries])
        assert np.allclose(found[:, :4], exact[:, :4], rtol=1e-12, atol=1e-12, equal_nan=True)


@all_ways
@pytest.mark.parametrize("shaken", [0.0, 0.2])
def test_breaks_at_equal_distances_are_found_without_a_search(way: str, shaken: float) -> None:
    """At breaks, one rounding error beside them, far outside and where x is no number: as the definition has it."""
    table = even(40, 2, shaken)
    at = np.array(table.breaks)
    x = np.concatenate([at, np.nextafter(at, 9.0), np.nextafter(at, -9.0), [np.nan, np.inf, -np.inf, 1e300, -1e300]])
    whole = trace(lambda x: x[0].block(table, x), {"x": (1,)}, name="even")
    with np.errstate(all="ignore"):
        wanted = table.meaning(x)[0]
    for run in (interpreted, WAYS[way]):
        (found,) = run(whole, [x[:, None]])
        assert np.allclose(found[:, 0], wanted, rtol=1e-12, atol=1e-12, equal_nan=True)


def test_table_is_its_pieces_and_its_derivative_theirs() -> None:
    table = spline(17, 3)
    x = np.linspace(-4.0, 4.0, 200)
    y = table.meaning(x)[0]
    for value, at in zip(y, x, strict=True):
        i = sum(edge <= at for edge in table.breaks)
        assert value == pytest.approx(np.polyval(table.coefficients[i][::-1], at - table.origins[i]), rel=1e-14)
    h = 1e-6
    slope = (table.meaning(x + h)[0] - table.meaning(x - h)[0]) / (2 * h)
    smooth = np.array([np.abs(np.array(table.breaks) - at).min() > 2 * h for at in x])
    assert np.allclose(slope[smooth], table.derivative.meaning(x)[0][smooth], atol=1e-6)


def test_blocks_are_equal_where_they_compute_the_same() -> None:
    assert Solve(3, 2) == Solve(3, 2) and Solve(3, 2) != Solve(3, 1) and hash(Solve(3)) == hash(Solve(3))
    assert spline(3, 1) == spline(3, 1) and spline(3, 1) != spline(3, 1, seed=1)
    assert LeastSquares(2, 2) != LeastSquares(2, 2, 1, 1e-6)


@all_ways
@pytest.mark.parametrize(
    "block", [*first(SOLVES, 3), *first(FITS, 3), *first(TABLES, 3)], ids=lambda block: block.label
)
def test_every_backend_computes_blocks_alike(way: str, block: Block) -> None:
    if isinstance(block, Solve):
        entries = definite_entries(block.n, block.k)
    elif isinstance(block, LeastSquares):
        entries = np.concatenate([fit_entries(block), fit_entries(block, 1)])
    else:
        entries = np.concatenate([np.linspace(-4.0, 4.0, 40), block.breaks, [np.nan, np.inf, -np.inf]])[:, None]
    whole = trace(lambda x: x[0].block(block, x), {"x": (block.n_in,)}, name=block.label)
    (expected,) = assert_agrees(way, whole, [entries], 1e-10)
    by_loops = assert_agrees(way, routine(block), [entries], 1e-10)[0]
    assert np.allclose(by_loops, expected, rtol=1e-10, atol=1e-10, equal_nan=True)


@all_ways
def test_blocks_in_the_middle_of_a_program(way: str) -> None:
    table = spline(5, 2)

    def function(x: list) -> list:
        a, b = x[0].block(Solve(2), [2.0 + x[0] * x[0], x[1].sin(), 3.0 + x[2] ** 2, -x[0], x[1]])
        (y,) = (a * b).block(table, [a - b])
        *z, rank = y.block(LeastSquares(2, 2), [y, a, b, x[2], 1.0, y])
        return [a, b, y, *z, rank, -z[0]]

    program = trace(function, {"x": (3,)}, name="mixed")
    assert program.op_counts[Solve(2).label] == 1 and len(program.blocks) == 3
    rng = np.random.default_rng(0)
    assert_agrees(way, program, [rng.normal(size=(STATES, 3))], 1e-11)


def test_a_block_of_numbers_is_numbers() -> None:
    program = trace(lambda x: x.block(Solve(2), [2.0, 0.0, 4.0, 1.0, 2.0]), {"x": ()})
    assert program.ops == 0


def test_the_number_of_arguments_is_checked() -> None:
    with pytest.raises(ValueError, match="takes 5 numbers; 2 were given"):
        trace(lambda x: x.block(Solve(2), [x, x]), {"x": ()})


def test_single_precision_refuses_a_rank_it_cannot_tell() -> None:
    def fit(tolerance: float) -> Program:
        block = LeastSquares(2, 2, 1, tolerance)
        return trace(lambda x: x[0].block(block, [*x, 1.0, 2.0]), {"x": (4,)}, name="fit")

    with pytest.raises(UnsupportedError, match="tolerance of 1e-10, which float32 cannot resolve"):
        build(fit(1e-10), precision="float32")
    with pytest.raises(UnsupportedError, match="float32 cannot resolve"):
        export_c([fit(1e-10)], "fit", precision="float32")
    *_, rank = build(fit(1e-4), precision="float32")(np.float32([[1.0, 2.0, 2.0, 4.0]]))[0]
    assert rank == 1.0


def test_least_squares_keeps_graded_columns_apart() -> None:
    """Columns nearly in one direction: orthogonalized once, the second would keep a part of the first."""
    rng = np.random.default_rng(3)
    base = rng.normal(size=8)
    A = np.stack([base + 1e-6 * rng.normal(size=8), base, 1e-3 * base + 1e-8 * rng.normal(size=8)], axis=1)
    B = A @ np.array([1.0, -2.0, 3.0])
    block = LeastSquares(8, 3)
    for found in (block.meaning(*A.ravel(), *B), interpreted(routine(block), [np.array([[*A.ravel(), *B]])])[0][0]):
        x = np.ravel(found[:3])
        assert np.abs(A @ x - B).max() < 1e-14 and np.ravel(found[3])[0] == 3.0
