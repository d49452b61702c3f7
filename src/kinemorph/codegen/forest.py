"""Matrices whose places are related as in a forest, worked on by loops.

Index k hangs on index parents[k] < k, or on nothing (-1). Entry (i, j) of such a matrix is zero unless one of the two
hangs, perhaps over others, on the other. That structure survives factorization without pivoting from the leaves to the
roots, M = L^T D L with L unit lower triangular (Featherstone 2008, section 6.5): nothing fills in.

Indices that follow each other and hang on each other form a *run*, so that loops have affine bounds and innermost loops
go along rows. Everything here writes statements into a `LoopBuilder`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from kinemorph.codegen.loops import Affine, LoopBuilder, View, affine
from kinemorph.codegen.tracing import trace

Range = tuple[int, int]
Bounds = tuple[Affine | int, Affine | int]
Pair = Callable[[Affine, Affine], None]


@dataclass(frozen=True)
class Run:
    """Indices start, ..., stop - 1, each hanging on the one before; `above`: ranges of what the first one hangs on."""

    start: int
    stop: int
    above: tuple[Range, ...]  # nearest first


@dataclass(frozen=True)
class Forest:
    """Who hangs on whom."""

    parents: tuple[int, ...]

    def __post_init__(self) -> None:
        for k, parent in enumerate(self.parents):
            if not -1 <= parent < k:
                raise ValueError(f"index {k} hangs on {parent}; expected -1 or a smaller index.")

    @property
    def size(self) -> int:
        """How many indices there are."""
        return len(self.parents)

    @property
    def pairs(self) -> int:
        """How many pairs (j, i) there are where j hangs on i."""
        return sum((run.stop - run.start) * (run.stop - run.start - 1) // 2 + _pairs_above(run) for run in self.runs)

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """The runs, roots first."""
        found: list[Run] = []
        place: dict[int, Run] = {}  # index -> its run
        start = 0
        for k in range(1, self.size + 1):
            if k < self.size and self.parents[k] == k - 1:
                continue
            run = Run(start, k, _above(self.parents[start], place))
            found.append(run)
            place.update(dict.fromkeys(range(start, k), run))
            start = k
        return tuple(found)

    def by_rows(self, loop: LoopBuilder, body: Pair) -> None:
        """body(j, i) for every j and every i it hangs on; innermost along i."""
        for run in self.runs:
            with loop.repeat(run.start, run.stop) as j:
                with loop.repeat(run.start, j) as i:
                    body(j, i)
                for low, high in run.above:
                    with loop.repeat(low, high) as i:
                        body(j, i)

    def by_columns(self, loop: LoopBuilder, body: Pair) -> None:
        """body(i, j) for every i and every j that hangs on it; innermost along j."""
        for run in self.runs:
            with loop.repeat(run.start, run.stop) as i, loop.repeat(i + 1, run.stop) as j:
                body(i, j)
            for low, high in run.above:
                with loop.repeat(low, high) as i, loop.repeat(run.start, run.stop) as j:
                    body(i, j)

    def related(self, run: Run) -> tuple[Range, ...]:
        """The columns in which rows of a run may differ from zero: what hangs on the run, the run, what it hangs on."""
        below = [
            other for other in self.runs if any(low >= run.start and high <= run.stop for low, high in other.above)
        ]
        ranges = sorted([*run.above, (run.start, run.stop), *((other.start, other.stop) for other in below)])
        joined = [ranges[0]]
        for low, high in ranges[1:]:
            if low == joined[-1][1]:
                joined[-1] = (joined[-1][0], high)
            else:
                joined.append((low, high))
        return tuple(joined)


def factor(loop: LoopBuilder, forest: Forest, M: View) -> None:
    """M, shape (n, n), by its lower triangle, in place: D on the diagonal, L below it. The upper triangle stays."""
    inverse, share = loop.buffer("factor_inverse"), loop.buffer("factor_share")

    def eliminate(j: Affine, i: Affine, *ranges: Bounds) -> None:
        """Takes the share of j from row i, over the given columns."""
        loop.let(share, lambda a, d: a * d, M[j, i], inverse)
        for low, high in ranges:
            with loop.repeat(low, high) as c:
                loop.let(M[i, c], lambda a, s, b: a - s * b, M[i, c], share, M[j, c])

    for run in reversed(forest.runs):
        with loop.repeat(run.stop - run.start) as done:
            j = run.stop - 1 - done
            loop.let(inverse, lambda d: 1.0 / d, M[j, j])
            with loop.repeat(run.start, j) as i:
                eliminate(j, i, (run.start, i + 1), *run.above)
            for k, (low, high) in enumerate(run.above):
                with loop.repeat(low, high) as i:
                    eliminate(j, i, (low, i + 1), *run.above[k + 1 :])
            for first, last in _above_in(run, j):
                with loop.repeat(first, last) as i:
                    loop.let(M[j, i], lambda a, d: a * d, M[j, i], inverse)


BLOCK = 4  # rows that one pass over the columns takes together


def solve_rows(loop: LoopBuilder, forest: Forest, L: View, X: View, blocks: Sequence[int]) -> None:
    """X, shape (n, m), becomes M^-1 X, for M factored in L.

    The columns of X come in blocks that begin at the columns `blocks` and are n wide each; in each, row i may differ
    from zero only in the columns related to i.
    """
    m = X.shape[1]
    for run in reversed(forest.runs):  # L^T, from the leaves to the roots: only related columns are touched
        spans = _joined([(start + low, start + high) for start in blocks for low, high in forest.related(run)])
        up = _Rows(loop, X, spans, lambda target, source: L[source, target])
        up.substitute_up(run)
        for low, high in run.above:
            up.update(_Span(low, high - low), _Span(run.start, run.stop - run.start))
    inverse = loop.buffer("solve_inverse")
    with loop.repeat(forest.size) as j:
        loop.let(inverse, lambda d: 1.0 / d, L[j, j])
        with loop.repeat(m) as c:
            loop.let(X[j, c], lambda x, d: x * d, X[j, c], inverse)
    down = _Rows(loop, X, [(0, m)], lambda target, source: L[target, source])
    for run in forest.runs:  # L, from the roots to the leaves
        for low, high in run.above:
            down.update(_Span(run.start, run.stop - run.start), _Span(low, high - low))
        down.substitute_down(run)


@dataclass(frozen=True)
class _Span:
    """Rows that follow each other: `more` blocks of rows (a number that may run through a loop), then `count` rows."""

    start: Affine | int
    count: int
    more: Affine | int = 0


@dataclass(frozen=True)
class _Rows:
    """Rows of X from which multiples of other rows are taken, a few at a time: each pass over the columns does more."""

    loop: LoopBuilder
    X: View
    columns: Sequence[Range]
    factor: Callable[[Affine, Affine], View]  # of (target, source)

    def substitute_down(self, run: Run) -> None:
        """From each row of a run, the multiples of the rows before it."""
        whole, rest = divmod(run.stop - run.start, BLOCK)
        with self.loop.repeat(whole) as b:
            first = b * BLOCK + run.start
            self.update(_Span(first, BLOCK), _Span(run.start, 0, more=b))
            for r in range(1, BLOCK):
                self._pass([first + r], [first + k for k in range(r)])
        last = affine(run.start + whole * BLOCK)
        for r in range(rest):
            self.update(_Span(last + r, 1), _Span(run.start, whole * BLOCK + r))

    def substitute_up(self, run: Run) -> None:
        """From each row of a run, the multiples of the rows after it."""
        whole, rest = divmod(run.stop - run.start, BLOCK)
        last = affine(run.start + whole * BLOCK)
        for r in reversed(range(rest - 1)):
            self._pass([last + r], [last + k for k in range(r + 1, rest)])
        with self.loop.repeat(whole) as done:
            first = (whole - 1 - done) * BLOCK + run.start
            if rest:
                self.update(_Span(first, BLOCK), _Span(last, rest))
            self.update(_Span(first, BLOCK), _Span(first + BLOCK, 0, more=done))
            for r in reversed(range(BLOCK - 1)):
                self._pass([first + r], [first + k for k in range(r + 1, BLOCK)])

    def update(self, targets: _Span, sources: _Span) -> None:
        """From every target row, the multiples of all source rows."""
        whole, rest = divmod(targets.count, BLOCK)
        with self.loop.repeat(whole) as b:
            self._gather(targets.start + b * BLOCK, BLOCK, sources)
        if rest:
            self._gather(affine(targets.start) + whole * BLOCK, rest, sources)

    def _gather(self, first: Affine, count: int, sources: _Span) -> None:
        rows = [first + r for r in range(count)]
        whole, rest = divmod(sources.count, BLOCK)
        with self.loop.repeat(affine(sources.more) + whole) as b:
            self._pass(rows, [b * BLOCK + sources.start + k for k in range(BLOCK)])
        if rest:
            start = affine(sources.start) + (affine(sources.more) + whole) * BLOCK
            self._pass(rows, [start + k for k in range(rest)])

    def _pass(self, targets: Sequence[Affine], sources: Sequence[Affine]) -> None:
        """One pass over the columns."""
        T, N = len(targets), len(sources)

        def less(*values: Any) -> dict[str, Any]:
            old, rows, factors = values[:T], values[T : T + N], values[T + N :]
            shares = [[f * row for f, row in zip(factors[t * N : (t + 1) * N], rows, strict=True)] for t in range(T)]
            return {f"row{t}": old[t] - sum(shares[t][1:], shares[t][0]) for t in range(T)}

        program = trace(less, {f"x{k}": () for k in range(T + N + T * N)}, name=f"rows {T} less {N}")
        factors = [self.factor(target, source) for target in targets for source in sources]
        for low, high in self.columns:
            with self.loop.repeat(low, high) as c:
                places = [self.X[row, c] for row in targets]
                self.loop.call(program, places, [*places, *(self.X[row, c] for row in sources), *factors])


def _above_in(run: Run, j: Affine) -> list[Bounds]:
    """Ranges of everything that index j of a run hangs on."""
    return [(run.start, j), *run.above]


def _above(parent: int, place: dict[int, Run]) -> tuple[Range, ...]:
    if parent < 0:
        return ()
    run = place[parent]
    return ((run.start, parent + 1), *run.above)


def _pairs_above(run: Run) -> int:
    return (run.stop - run.start) * sum(high - low for low, high in run.above)


def _joined(spans: Sequence[Range]) -> list[Range]:
    """Ranges that touch, as one."""
    joined: list[Range] = []
    for low, high in spans:
        if joined and joined[-1][1] == low:
            joined[-1] = (joined[-1][0], high)
        else:
            joined.append((low, high))
    return joined
