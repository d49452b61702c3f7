"""Sums over the rows of tables: against NumPy, in every backend, with their derivatives, and what they share."""

from __future__ import annotations

import numpy as np
import pytest

from kinemorph.algebra.rows import OPEN, Gate, columns, has_rows, summed_rows
from kinemorph.algebra.scalar import maximum, minimum, sqrt, where
from kinemorph.codegen.derivatives.differentiate import jacobian
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.graphs.row_sums import RowSum
from kinemorph.codegen.graphs.tracing import trace
from kinemorph.errors import ShapeError, TracingError
from kinemorph.vocabulary.blocks import Table
from support.references.derivative_oracles import run
from support.tools.program_runs import WAYS, all_ways, assert_agrees

CURVE = Table((0.0,), (0.0, 0.0), ((0.0, 1.0, 0.2), (0.0, 2.0, -0.1)))
ROWS = np.random.default_rng(5).normal(size=(19, 3))


def table_of(rows: np.ndarray) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(map(float, row)) for row in rows)


def summed(rows: np.ndarray, factor: float = 0.5) -> Program:
    """Forces of springs from the points of a table to the point (x, y), with ops of every kind, and a later sum."""

    def function(x: list) -> list:
        a, b, k = columns(table_of(rows), x)
        far = sqrt((x[0] - a) * (x[0] - a) + (b - x[1]) * (b - x[1]) + 1.0)
        pull = where(far < 1.5, k * far, factor * maximum(k, x[2])) / far
        first = summed_rows([a, b], [(x[0] - a) * pull, -(x[1] - b) * pull, x[2], 2.0, -k * x[1]])
        return [*first, *summed_rows([a], [minimum(first[0], a) * far, first[0]])]

    return trace(function, {"x": (3,)}, name="springs")


def expected(rows: np.ndarray, x: np.ndarray, factor: float = 0.5) -> np.ndarray:
    a, b, k = rows.T
    far = np.sqrt((x[0] - a) ** 2 + (b - x[1]) ** 2 + 1.0)
    pull = np.where(far < 1.5, k * far, factor * np.maximum(k, x[2])) / far
    n = len(rows)
    first = [((x[0] - a) * pull).sum(), -((x[1] - b) * pull).sum(), n * x[2], 2.0 * n, -(k * x[1]).sum()]
    return np.array([*first, (np.minimum(first[0], a) * far).sum(), n * first[0]])


@all_ways
@pytest.mark.parametrize("count", [1, 3, 8, 19])
def test_every_backend_sums_over_the_rows(way: str, count: int) -> None:
    rows, states = ROWS[:count], np.random.default_rng(count).normal(size=(11, 3))
    program = summed(rows)
    assert program.sums_rows and sum(isinstance(block, RowSum) for block in program.blocks) == 2
    (found,) = assert_agrees(way, program, [states], 1e-12)
    assert np.allclose(found, [expected(rows, x) for x in states], rtol=1e-12, atol=1e-12)


def pressed(gated: bool, rows: np.ndarray = ROWS) -> Program:
    """Forces of points that touch where they are lower than x[2]: the table has a gate, and so does each row."""

    def function(x: list) -> list:
        a, b, k = columns(table_of(rows), x)
        depth = maximum(x[2] - k, 0.0)
        lowest = float(rows[:, 2].min())
        gate = Gate(x[2] - lowest, x[2] - k + 1e-9) if gated else OPEN
        force = depth * depth * (1.0 + (x[0] - a) * (x[1] - b))
        return summed_rows([k], [force, force * a, depth * b / (1.0 + depth)], gate)

    return trace(function, {"x": (3,)}, name="pressed")


@all_ways
@pytest.mark.parametrize("count", [1, 19, pytest.param(530, marks=pytest.mark.slow)])
def test_gates_change_no_bit(way: str, count: int) -> None:
    rng = np.random.default_rng(count)
    rows, states = rng.normal(size=(count, 3)), rng.normal(size=(40, 3)) * [1.0, 1.0, 3.0]
    dense, gated = pressed(False, rows), pressed(True, rows)
    assert [block.gated for block in gated.blocks] == [True] and gated.key != dense.key
    for one, other in ((dense, gated), (jacobian(dense, "out", "x"), jacobian(gated, "out", "x"))):
        assert_agrees(way, other, [states], 1e-12)
        (wanted,), (found,) = (WAYS[way](program, [states]) for program in (one, other))
        assert found.any() and (found.reshape(40, -1) == 0.0).all(axis=1).any() and np.array_equal(found, wanted)


def test_rows_with_closed_gates_are_not_computed() -> None:
    """A formula that has no value where its gate is closed shows it."""

    def function(x: list) -> list:
        (a, *_) = columns(table_of(ROWS[:16]), x)
        return summed_rows([a], [1.0 / (x[0] * a)], Gate(x[0], x[1] - a))

    program = trace(function, {"x": (2,)}, name="divided")
    (open_,), (shut,), (low,) = (run(program, [np.array(x)]) for x in ((2.0, 9.0), (0.0, 9.0), (2.0, -9.0)))
    assert open_ == pytest.approx((0.5 / ROWS[:16, 0]).sum()) and shut == 0.0 and low == 0.0


@all_ways
def test_a_formula_of_rows_may_contain_other_blocks(way: str) -> None:
    def function(x: list) -> list:
        (a, b) = columns(table_of(ROWS[:5, :2]), x)
        (y,) = (a * x[0]).block(CURVE, [a * x[0] + b])
        return summed_rows([a], [y * x[1]])

    states = np.random.default_rng(1).normal(size=(7, 2))
    (found,) = assert_agrees(way, trace(function, {"x": (2,)}, name="curves"), [states], 1e-12)
    curve = np.array([[CURVE.meaning(a * x[0] + b)[0] * x[1] for a, b in ROWS[:5, :2]] for x in states])
    assert np.allclose(found[:, 0], curve.sum(axis=1), rtol=1e-12)


@all_ways
def test_signs_are_kept_inside_a_formula_of_rows(way: str) -> None:
    """Minus a column, and an expression of the outer graph together with its negative, inside ops that keep signs."""

    def function(x: list) -> list:
        (a, b) = columns(table_of(ROWS[:5, :2]), x)
        outer = x[0] * x[1]
        return summed_rows([a], [maximum(-a, b) * maximum(-outer, a), minimum(outer, -b)])

    states = np.random.default_rng(2).normal(size=(7, 2))
    (found,) = assert_agrees(way, trace(function, {"x": (2,)}, name="signs"), [states], 1e-12)
    (a, b), outer = ROWS[:5, :2].T, states.prod(axis=1)[:, None]
    sums = [(np.maximum(-a, b) * np.maximum(-outer, a)).sum(axis=1), np.minimum(outer, -b).sum(axis=1)]
    assert np.allclose(found, np.array(sums).T, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_derivatives_are_those_of_differences(mode: str) -> None:
    x, step = np.array([0.3, -0.4, 0.2]), 1e-6
    found = run(jacobian(summed(ROWS), "out", "x", mode=mode), x)
    apart = [(expected(ROWS, x + step * unit) - expected(ROWS, x - step * unit)) / (2 * step) for unit in np.eye(3)]
    assert np.allclose(found, np.array(apart).T, rtol=1e-7, atol=1e-7)


def test_tables_of_one_formula_share_its_program() -> None:
    programs = [block.program for rows in (ROWS, ROWS[:4]) for block in summed(rows).blocks]
    assert programs[0] is programs[2] and programs[1] is programs[3] and programs[0] is not programs[1]
    assert summed(ROWS).key == summed(ROWS.copy()).key
    assert len({summed(rows, factor).key for rows in (ROWS, ROWS + 1.0) for factor in (0.5, 0.6)}) == 4
    small, large = (summed(ROWS[:count]).ops for count in (4, 19))
    assert small == large


def test_numbers_have_no_tables() -> None:
    assert columns(((1.0,),), [0.5, np.zeros(3)]) is None
    assert not has_rows(0.5) and summed_rows([0.5], [1.0, 2.0]) == [1.0, 2.0]


def test_what_is_not_summed_is_refused() -> None:
    def unsummed(x: list) -> list:
        (a,) = columns(((1.0,), (2.0,)), x)
        return [a * x[0]]

    def nested(x: list) -> list:
        (a,) = columns(((1.0,), (2.0,)), x)
        return columns(((3.0,),), [a])

    for function, error in ((unsummed, TracingError), (nested, TracingError)):
        with pytest.raises(error):
            trace(function, {"x": (1,)})
    with pytest.raises(ShapeError, match="ragged"):
        trace(lambda x: columns(((1.0,), (2.0, 3.0)), x), {"x": (1,)})
