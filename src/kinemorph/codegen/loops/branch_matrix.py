"""Matrices whose places are related as in a forest, worked on by loops.

Index k hangs on index parents[k] < k, or on nothing (-1). Entry (i, j) of such a matrix is zero unless one of the two
hangs, perhaps over others, on the other. That structure survives factorization without pivoting from the leaves to the
roots, M = L^T D L with L unit lower triangular (Featherstone 2008, section 6.5): nothing fills in. `branch_matrix_rows`
solves with it.

Indices that follow each other, each hanging on the one before and alone on it, form a *run*, so that loops have affine
bounds and innermost loops go along rows. Runs of one length that hang on the same index, as legs do, go through one
loop. Everything here writes statements into a `LoopBuilder`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property

from kinemorph.codegen.loops.loop_builder import LoopBuilder
from kinemorph.codegen.loops.loop_program import Affine, View, affine

Range = tuple[int, int]
Bounds = tuple[Affine | int, Affine | int]
Pair = Callable[[Affine, Affine], None]


@dataclass(frozen=True)
class Run:
    """Indices start, ..., start + length - 1, each hanging on the one before, and how many more such runs follow."""

    start: int
    length: int
    above: tuple[Range, ...]  # ranges of what the first index hangs on, nearest first
    below: tuple[Range, ...] = ()  # ranges of what hangs on the run; empty where there are several of a kind
    count: int = 1  # runs one behind the other, of one length and hanging on the same index

    @contextmanager
    def each(self, loop: LoopBuilder) -> Iterator[Affine]:
        """The start of each run of the kind in turn."""
        if self.count == 1:
            yield affine(self.start)
        else:
            with loop.repeat(self.count) as k:
                yield k * self.length + self.start

    def related(self, start: Affine) -> list[Bounds]:
        """The columns in which rows of the run at `start` may differ from zero: its own, and those of its relatives."""
        if self.count > 1:
            return [*sorted(self.above), (start, start + self.length)]
        return list(_joined(sorted([*self.above, (self.start, self.start + self.length), *self.below])))


@dataclass(frozen=True)
class Forest:
    """A forest of indices: `parents[k]` is the index that k hangs on, or -1."""

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
        return sum(run.count * (run.length * (run.length - 1) // 2 + _pairs_above(run)) for run in self.runs)

    @property
    def factors(self) -> int:
        """How many factors the loops over all rows name, each kind of run counted once."""
        return sum(run.length * run.length + _pairs_above(run) for run in self.runs)

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """The runs, roots first, those of a kind as one."""
        kinds: list[Run] = []
        for run in self._single_runs():
            last = kinds[-1] if kinds else None
            if last and not run.below and not last.below and (last.length, last.above) == (run.length, run.above):
                kinds[-1] = replace(last, count=last.count + 1)
            else:
                kinds.append(run)
        return tuple(kinds)

    def _single_runs(self) -> list[Run]:
        found: list[Run] = []
        place: dict[int, Run] = {}  # index -> its run
        hanging = Counter(self.parents)
        start = 0
        for k in range(1, self.size + 1):
            if k < self.size and self.parents[k] == k - 1 and hanging[k - 1] == 1:
                continue
            run = Run(start, k - start, _above(self.parents[start], place))
            found.append(run)
            place.update(dict.fromkeys(range(start, k), run))
            start = k
        return [replace(run, below=_below(run, found)) for run in found]

    def by_rows(self, loop: LoopBuilder, body: Pair) -> None:
        """body(j, i) for every j and every i it hangs on; innermost along i."""
        for run in self.runs:
            with run.each(loop) as start, loop.repeat(start, start + run.length) as j:
                with loop.repeat(start, j) as i:
                    body(j, i)
                for low, high in run.above:
                    with loop.repeat(low, high) as i:
                        body(j, i)

    def by_columns(self, loop: LoopBuilder, body: Pair) -> None:
        """body(i, j) for every i and every j that hangs on it; innermost along j."""
        for run in self.runs:
            with run.each(loop) as start:
                stop = start + run.length
                with loop.repeat(start, stop) as i, loop.repeat(i + 1, stop) as j:
                    body(i, j)
                for low, high in run.above:
                    with loop.repeat(low, high) as i, loop.repeat(start, stop) as j:
                        body(i, j)


def factor(loop: LoopBuilder, forest: Forest, M: View) -> None:
    """M, shape (n, n), by its lower triangle, in place: 1 / D on the diagonal, L below it. The upper triangle stays."""
    share = loop.buffer("factor_share")

    def eliminate(j: Affine, i: Affine, *ranges: Bounds) -> None:
        """Takes the share of j from row i, over the given columns."""
        loop.let(share, lambda a, d: a * d, M[j, i], M[j, j])
        for low, high in ranges:
            with loop.repeat(low, high) as c:
                loop.let(M[i, c], lambda a, s, b: a - s * b, M[i, c], share, M[j, c])

    for run in reversed(forest.runs):
        with run.each(loop) as start, loop.repeat(run.length) as done:
            j = start + run.length - 1 - done
            loop.let(M[j, j], lambda d: 1.0 / d, M[j, j])
            with loop.repeat(start, j) as i:
                eliminate(j, i, (start, i + 1), *run.above)
            for k, (low, high) in enumerate(run.above):
                with loop.repeat(low, high) as i:
                    eliminate(j, i, (low, i + 1), *run.above[k + 1 :])
            above: list[Bounds] = [(start, j), *run.above]
            for first, last in above:
                with loop.repeat(first, last) as i:
                    loop.let(M[j, i], lambda a, d: a * d, M[j, i], M[j, j])


def _above(parent: int, place: dict[int, Run]) -> tuple[Range, ...]:
    if parent < 0:
        return ()
    run = place[parent]
    return ((run.start, parent + 1), *run.above)


def _below(run: Run, runs: Sequence[Run]) -> tuple[Range, ...]:
    start, stop = run.start, run.start + run.length
    hanging = (other for other in runs if any(low >= start and high <= stop for low, high in other.above))
    return tuple((other.start, other.start + other.length) for other in hanging)


def _pairs_above(run: Run) -> int:
    return run.length * sum(high - low for low, high in run.above)


def _joined(spans: Sequence[Bounds]) -> list[Bounds]:
    """Ranges, those that touch joined into one."""
    joined: list[Bounds] = []
    for low, high in spans:
        if joined and joined[-1][1] == low:
            joined[-1] = (joined[-1][0], high)
        else:
            joined.append((low, high))
    return joined
