"""Solves M X = B for a matrix with branch-induced sparsity, by loops along the rows of X.

M = L^T D L is given by its factors (`branch_matrix`). Rows are processed run by run: first L^T and D upwards, from the
leaves to the roots; then L downwards, from the roots to the leaves:

    up      X[k] -= L[j, k] X[j]  for all ancestors k of j,  X[j] /= D[j]        only in columns related to j
    down    X[j] -= L[j, k] X[k]  for all ancestors k of j                       in all columns

For a short run, one loop over the columns processes the rows of the run and of its ancestors together: every entry is
read and written once, and a pass has enough work. A long run is processed a few rows at a time
(`branch_matrix_blocks`). Columns related to j are j, its ancestors and its descendants.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.graphs.tracing import trace
from kinemorph.codegen.loops.branch_matrix import Bounds, Forest, Run
from kinemorph.codegen.loops.branch_matrix_blocks import Rows, Span
from kinemorph.codegen.loops.loop_builder import LoopBuilder
from kinemorph.codegen.loops.loop_program import Affine, View, affine

TOGETHER = 128  # a run is short if it has at most this many factors


def solve_rows(loop: LoopBuilder, forest: Forest, L: View, *matrices: View) -> None:
    """Writes code that replaces each X of `matrices`, shape (n, m), by M^-1 X; `L` are M's factors, see `factor`.

    Either all X are square, with row i nonzero only in columns related to i (i, its ancestors and its descendants), or
    all are single columns.
    """
    m = matrices[0].shape[1]
    for run in reversed(forest.runs):
        with run.each(loop) as start:
            columns = run.related(start) if m > 1 else [(0, 1)]
            if _is_short(run):
                _along(loop, _up(run.length, _sizes(run), len(matrices)), run, start, L, matrices, columns)
            else:
                for X in matrices:
                    _up_in_blocks(loop, run, start, L, X, columns)
    for run in forest.runs:
        with run.each(loop) as start:
            if _is_short(run):
                _along(loop, _down(run.length, _sizes(run), len(matrices)), run, start, L, matrices, [(0, m)])
            else:
                for X in matrices:
                    _down_in_blocks(loop, run, start, L, X, m)


def _is_short(run: Run) -> bool:
    """Whether all rows of a run and of its ancestors are processed in one loop over the columns."""
    return run.length * (run.length + sum(_sizes(run))) <= TOGETHER


def _sizes(run: Run) -> tuple[int, ...]:
    """The lengths of the index ranges of the run's ancestors."""
    return tuple(high - low for low, high in run.above)


# ── short runs ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _along(
    loop: LoopBuilder,
    program: Program,
    run: Run,
    start: Affine,
    L: View,
    matrices: Sequence[View],
    columns: Sequence[Bounds],
) -> None:
    """Writes loops over ranges of `columns` that call `program` once per column c.

    It gets the entries in column c of all `matrices`, in the rows of the run (from `start` on) and of its ancestors,
    then the factors in L; its outputs replace the first of these entries.
    """
    rows = [*(start + k for k in range(run.length)), *(affine(k) for low, high in run.above for k in range(low, high))]
    factors = []
    for k in range(run.length):
        row = L[start + k]
        factors += [row.part(start, k + 1), *(row.part(low, high - low) for low, high in run.above)]
    for first, last in columns:
        with loop.repeat(first, last) as c:
            places = [[X[row, c] for row in rows] for X in matrices]
            changed = len(program.outputs) // len(matrices)
            outs = [place for column in places for place in column[:changed]]
            loop.call(program, outs, [*(place for column in places for place in column), *factors])


@cache
def _up(length: int, above: tuple[int, ...], columns: int) -> Program:
    """The program of the step up (see this file's docstring): new entries of X in `length` rows and their ancestors.

    It processes `columns` columns; `above` are the lengths of the index ranges of the ancestors.
    """

    def up(x: list[Any], own: list[Any], over: list[Any]) -> list[Any]:
        for j in reversed(range(length)):
            for k, factor in enumerate([*own[j][:-1], *(0.0 for _ in range(j, length)), *over[j]]):
                x[k] = x[k] - factor * x[j]
        return [*(x[k] * own[k][-1] for k in range(length)), *x[length:]]

    return _program(up, length, above, columns)


@cache
def _down(length: int, above: tuple[int, ...], columns: int) -> Program:
    """The program of the step down (see this file's docstring): new entries of X in `length` rows, one run.

    It processes `columns` columns; `above` are the lengths of the index ranges of the run's ancestors.
    """

    def down(x: list[Any], own: list[Any], over: list[Any]) -> list[Any]:
        for j in range(length):
            for k, factor in enumerate(over[j]):
                x[j] = x[j] - factor * x[length + k]
            for k in range(j):
                x[j] = x[j] - own[j][k] * x[k]
        return x[:length]

    return _program(down, length, above, columns)


def _program(step: Any, length: int, above: tuple[int, ...], columns: int) -> Program:
    """Traces the function `step` as a program, for a run of `length` rows.

    Its inputs are the entries, column by column, then the factors of L for the run and its ancestors, row by row.
    """
    each, count = length + sum(above), columns * (length + sum(above))
    shapes: dict[str, tuple[int, ...]] = {f"x{k}": () for k in range(count)}
    for j in range(length):
        shapes |= {f"own{j}": (j + 1,), **{f"above{j}_{k}": (size,) for k, size in enumerate(above)}}

    def run(*values: Any) -> dict[str, Any]:
        parts = 1 + len(above)
        rows = [values[count + parts * j : count + parts * (j + 1)] for j in range(length)]
        own, over = [row[0] for row in rows], [[factor for part in row[1:] for factor in part] for row in rows]
        solved = [step(list(values[k : k + each]), own, over) for k in range(0, count, each)]
        return {f"y{k}": y for k, y in enumerate(y for column in solved for y in column)}

    return trace(run, shapes, name=f"{step.__name__} {length} on {sum(above)}")


# ── long runs ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _up_in_blocks(loop: LoopBuilder, run: Run, start: Affine, L: View, X: View, columns: Sequence[Bounds]) -> None:
    """Writes code for the step up (see this file's docstring) of a long run."""
    up = Rows(loop, X, columns, lambda target, source: L[source, target])
    up.substitute_up(start, run.length)
    for low, high in run.above:
        up.update(Span(low, high - low), Span(start, run.length))
    with loop.repeat(start, start + run.length) as j:
        for first, last in columns:
            with loop.repeat(first, last) as c:
                loop.let(X[j, c], lambda x, d: x * d, X[j, c], L[j, j])


def _down_in_blocks(loop: LoopBuilder, run: Run, start: Affine, L: View, X: View, m: int) -> None:
    """Writes code for the step down (see this file's docstring) of a long run; X has m columns."""
    down = Rows(loop, X, [(0, m)], lambda target, source: L[target, source])
    for low, high in run.above:
        down.update(Span(start, run.length), Span(low, high - low))
    down.substitute_down(start, run.length)
