"""Row operations on a matrix, several rows at a time: multiples of some rows are subtracted from others.

`branch_matrix_rows` uses them for long runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.graphs.tracing import trace
from kinemorph.codegen.loops.branch_matrix import Bounds
from kinemorph.codegen.loops.loop_builder import LoopBuilder
from kinemorph.codegen.loops.loop_program import Affine, View, affine

BLOCK = 4  # the number of rows that one pass over the columns processes together


@dataclass(frozen=True)
class Span:
    """Consecutive rows from `start` on: `more` blocks of BLOCK rows (it may be a loop counter), then `count` rows."""

    start: Affine | int
    count: int
    more: Affine | int = 0


@dataclass(frozen=True)
class Rows:
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
            self.update(Span(first, BLOCK), Span(start, 0, more=b))
            for r in range(1, BLOCK):
                self._pass([first + r], [first + k for k in range(r)])
        last = start + whole * BLOCK
        for r in range(rest):
            self.update(Span(last + r, 1), Span(start, whole * BLOCK + r))

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
                self.update(Span(first, BLOCK), Span(last, rest))
            self.update(Span(first, BLOCK), Span(first + BLOCK, 0, more=done))
            for r in reversed(range(BLOCK - 1)):
                self._pass([first + r], [first + k for k in range(r + 1, BLOCK)])

    def update(self, targets: Span, sources: Span) -> None:
        """Writes code that subtracts factor(target, source) * (row `source`) from each target row, for all sources."""
        whole, rest = divmod(targets.count, BLOCK)
        with self.loop.repeat(whole) as b:
            self._gather(targets.start + b * BLOCK, BLOCK, sources)
        if rest:
            self._gather(affine(targets.start) + whole * BLOCK, rest, sources)

    def _gather(self, first: Affine, count: int, sources: Span) -> None:
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
