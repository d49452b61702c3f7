"""Solves M X = B for a matrix with branch-induced sparsity, by loops along the rows of X.

M = L^T D L is given by its factors (`branch_matrix`). Rows are processed run by run: first L^T and D upwards, from the
leaves to the roots; then L downwards, from the roots to the leaves:

    up      X[k] -= L[j, k] X[j]  for all ancestors k of j,  X[j] /= D[j]        only in columns related to j
    down    X[j] -= L[j, k] X[k]  for all ancestors k of j                       in all columns

For a short run, one loop over the columns processes the rows of the run and of its ancestors together: every entry is
read and written once, and a pass has enough work. A long run is processed a few rows at a time: multiples of some rows
are subtracted from others. Columns related to j are j, its ancestors and its descendants.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.graphs.tracing import trace
from kinemorph.codegen.loops.branch_matrix import Bounds, Forest, Run
from kinemorph.codegen.loops.loop_builder import LoopBuilder
from kinemorph.codegen.loops.loop_program import Affine, View, affine

TOGETHER = 128  # a run is short if it has at most this many factors
BLOCK = 4  # the number of rows that one pass over the columns processes together


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
    up = _Rows(loop, X, columns, lambda target, source: L[source, target])
    up.substitute_up(start, run.length)
    for low, high in run.above:
        up.update(_Span(low, high - low), _Span(start, run.length))
    with loop.repeat(start, start + run.length) as j:
        for first, last in columns:
            with loop.repeat(first, last) as c:
                loop.let(X[j, c], lambda x, d: x * d, X[j, c], L[j, j])


def _down_in_blocks(loop: LoopBuilder, run: Run, start: Affine, L: View, X: View, m: int) -> None:
    """Writes code for the step down (see this file's docstring) of a long run; X has m columns."""
    down = _Rows(loop, X, [(0, m)], lambda target, source: L[target, source])
    for low, high in run.above:
        down.update(_Span(start, run.length), _Span(low, high - low))
    down.substitute_down(start, run.length)


# ── several rows at a time ────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class _Span:
    """Consecutive rows from `start` on: `more` blocks of BLOCK rows (it may be a loop counter), then `count` rows."""

    start: Affine | int
    count: int
    more: Affine | int = 0


@dataclass(frozen=True)
class _Rows:
    """Writes code that subtracts factor * (row `source`) from rows `target` of the matrix X, in ranges of columns.

    Several rows are processed together, so that there are fewer passes over the columns. `factor(target, source)`
    returns the view of the number by which row `source` is multiplied before it is subtracted from row `target`.
    """

    loop: LoopBuilder
    X: View
    columns: Sequence[Bounds]
    factor: Callable[[Affine, Affine], View]

    def substitute_down(self, start: Affine, length: int) -> None:
        """Writes code for `length` rows from `start` on: from each, it subtracts factor * (each row before it there).

        It begins with the first row, so that every row is subtracted in its final form.
        """
        whole, rest = divmod(length, BLOCK)
        with self.loop.repeat(whole) as b:
            first = b * BLOCK + start
            self.update(_Span(first, BLOCK), _Span(start, 0, more=b))
            for r in range(1, BLOCK):
                self._pass([first + r], [first + k for k in range(r)])
        last = start + whole * BLOCK
        for r in range(rest):
            self.update(_Span(last + r, 1), _Span(start, whole * BLOCK + r))

    def substitute_up(self, start: Affine, length: int) -> None:
        """Writes code for `length` rows from `start` on: from each, it subtracts factor * (each row after it there).

        It begins with the last row, so that every row is subtracted in its final form.
        """
        whole, rest = divmod(length, BLOCK)
        last = start + whole * BLOCK
        for r in reversed(range(rest - 1)):
            self._pass([last + r], [last + k for k in range(r + 1, rest)])
        with self.loop.repeat(whole) as done:
            first = (whole - 1 - done) * BLOCK + start
            if rest:
                self.update(_Span(first, BLOCK), _Span(last, rest))
            self.update(_Span(first, BLOCK), _Span(first + BLOCK, 0, more=done))
            for r in reversed(range(BLOCK - 1)):
                self._pass([first + r], [first + k for k in range(r + 1, BLOCK)])

    def update(self, targets: _Span, sources: _Span) -> None:
        """Writes code that subtracts factor(target, source) * (row `source`) from each target row, for all sources."""
        whole, rest = divmod(targets.count, BLOCK)
        with self.loop.repeat(whole) as b:
            self._gather(targets.start + b * BLOCK, BLOCK, sources)
        if rest:
            self._gather(affine(targets.start) + whole * BLOCK, rest, sources)

    def _gather(self, first: Affine, count: int, sources: _Span) -> None:
        """Writes the code of `update` for `count` <= BLOCK target rows, from row `first` on."""
        rows = [first + r for r in range(count)]
        whole, rest = divmod(sources.count, BLOCK)
        with self.loop.repeat(affine(sources.more) + whole) as b:
            self._pass(rows, [b * BLOCK + sources.start + k for k in range(BLOCK)])
        if rest:
            start = affine(sources.start) + (affine(sources.more) + whole) * BLOCK
            self._pass(rows, [start + k for k in range(rest)])

    def _pass(self, targets: Sequence[Affine], sources: Sequence[Affine]) -> None:
        """Writes the code of `update` for a few target and source rows, in a single pass over the columns."""
        program = _less(len(targets), len(sources))
        factors = [self.factor(target, source) for target in targets for source in sources]
        for low, high in self.columns:
            with self.loop.repeat(low, high) as c:
                places = [self.X[row, c] for row in targets]
                self.loop.call(program, places, [*places, *(self.X[row, c] for row in sources), *factors])


@cache
def _less(T: int, N: int) -> Program:
    """The program of one column: from entries of T rows it subtracts multiples of entries of N other rows.

    Its inputs are the T entries, the N entries, and T rows of N factors.
    """

    def less(*values: Any) -> dict[str, Any]:
        old, rows, factors = values[:T], values[T : T + N], values[T + N :]
        shares = [[f * row for f, row in zip(factors[t * N : (t + 1) * N], rows, strict=True)] for t in range(T)]
        return {f"row{t}": old[t] - sum(shares[t][1:], shares[t][0]) for t in range(T)}

    return trace(less, {f"x{k}": () for k in range(T + N + T * N)}, name=f"rows {T} less {N}")
