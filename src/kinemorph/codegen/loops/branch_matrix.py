"""Matrices with branch-induced sparsity, such as the mass matrix of a kinematic tree, factored by loops.

The parent of index k is parents[k] < k, or -1 for a root. Entry (i, j) of such a matrix is zero unless one of i and j
is an ancestor of the other. Factorization without pivoting from the leaves to the roots, M = L^T D L with L unit lower
triangular, keeps this sparsity: there is no fill-in (Featherstone 2008, section 6.5). `branch_matrix_rows` solves
linear systems with the factors.

Consecutive indices, each of them the only child of the one before, form a *run*, so that loops have affine bounds and
innermost loops run along rows. Consecutive runs with the same length and the same parent, such as the legs of a robot,
are processed by one loop. Everything here writes statements into a `LoopBuilder`.
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
    """A run: indices start, ..., start + length - 1, each the parent of the next; or `count` equal runs in sequence."""

    start: int
    length: int
    above: tuple[Range, ...]  # index ranges of the ancestors of the first index, nearest first
    below: tuple[Range, ...] = ()  # index ranges of the descendants of the run; empty if count > 1
    count: int = 1  # number of consecutive runs with the same length and the same parent

    @contextmanager
    def each(self, loop: LoopBuilder) -> Iterator[Affine]:
        """A context for code on one run; it yields the first index of the run. If count > 1, it is a loop over all."""
        if self.count == 1:
            yield affine(self.start)
        else:
            with loop.repeat(self.count) as k:
                yield k * self.length + self.start

    def related(self, start: Affine) -> list[Bounds]:
        """The column ranges in which rows of the run at `start` may be nonzero: the run, its ancestors, descendants."""
        if self.count > 1:
            return [*sorted(self.above), (start, start + self.length)]
        return list(_joined(sorted([*self.above, (self.start, self.start + self.length), *self.below])))


@dataclass(frozen=True)
class Forest:
    """Indices arranged in trees: `parents[k]` is the parent of index k, or -1 for a root."""

    parents: tuple[int, ...]

    def __post_init__(self) -> None:
        for k, parent in enumerate(self.parents):
            if not -1 <= parent < k:
                raise ValueError(
                    f"index {k} has the parent {parent}; expected -1 or an index below {k}. "
                    "Number parents before children."
                )

    @property
    def size(self) -> int:
        """The number n of indices; the matrices are (n, n)."""
        return len(self.parents)

    @property
    def pairs(self) -> int:
        """The number of pairs (j, i) in which i is an ancestor of j."""
        return sum(run.count * (run.length * (run.length - 1) // 2 + _pairs_above(run)) for run in self.runs)

    @property
    def factors(self) -> int:
        """The number of entries of L that the loops over all rows refer to; equal runs are counted once."""
        return sum(run.length * run.length + _pairs_above(run) for run in self.runs)

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """The runs (consecutive indices, each the only child of the one before), roots first.

        Consecutive runs with the same length and parent, such as legs, are one Run with a `count`.
        """
        kinds: list[Run] = []
        for run in self._single_runs():
            last = kinds[-1] if kinds else None
            if last and not run.below and not last.below and (last.length, last.above) == (run.length, run.above):
                kinds[-1] = replace(last, count=last.count + 1)
            else:
                kinds.append(run)
        return tuple(kinds)

    def _single_runs(self) -> list[Run]:
        """The runs (consecutive indices, each the only child of the one before), roots first, each with count 1."""
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
        """Writes loops that call body(j, i) for every index j and each ancestor i; the innermost loop is over i."""
        for run in self.runs:
            with run.each(loop) as start, loop.repeat(start, start + run.length) as j:
                with loop.repeat(start, j) as i:
                    body(j, i)
                for low, high in run.above:
                    with loop.repeat(low, high) as i:
                        body(j, i)

    def by_columns(self, loop: LoopBuilder, body: Pair) -> None:
        """Writes loops that call body(i, j) for every index i and each descendant j; the innermost loop is over j."""
        for run in self.runs:
            with run.each(loop) as start:
                stop = start + run.length
                with loop.repeat(start, stop) as i, loop.repeat(i + 1, stop) as j:
                    body(i, j)
                for low, high in run.above:
                    with loop.repeat(low, high) as i, loop.repeat(start, stop) as j:
                        body(i, j)


def factor(loop: LoopBuilder, forest: Forest, M: View) -> None:
    """Writes code that factors M = L^T D L in place, shape (n, n): 1 / D is on the diagonal and L below it.

    Only the lower triangle of M is read and written.
    """
    share = loop.buffer("factor_share")

    def eliminate(j: Affine, i: Affine, *ranges: Bounds) -> None:
        """Writes code that subtracts M[j, i] / D[j] times row j from row i of M, in the given ranges of columns.

        D[j] is the pivot of row j, its diagonal entry after elimination.
        """
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
    """The ranges (first, last + 1) of the index `parent` and its ancestors, nearest first; () if `parent` is -1.

    `place` maps each index to the run that contains it.
    """
    if parent < 0:
        return ()
    run = place[parent]
    return ((run.start, parent + 1), *run.above)


def _below(run: Run, runs: Sequence[Run]) -> tuple[Range, ...]:
    """The index ranges of the runs that descend from `run`."""
    start, stop = run.start, run.start + run.length
    hanging = (other for other in runs if any(low >= start and high <= stop for low, high in other.above))
    return tuple((other.start, other.start + other.length) for other in hanging)


def _pairs_above(run: Run) -> int:
    """The number of pairs of an index of the run and an ancestor of the run."""
    return run.length * sum(high - low for low, high in run.above)


def _joined(spans: Sequence[Bounds]) -> list[Bounds]:
    """The sorted ranges `spans`, with adjacent ones joined."""
    joined: list[Bounds] = []
    for low, high in spans:
        if joined and joined[-1][1] == low:
            joined[-1] = (joined[-1][0], high)
        else:
            joined.append((low, high))
    return joined
