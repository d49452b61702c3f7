"""The queue of a study: which items go together in the next chunk.

A chunk has items of one group, as many as take about a second by what was measured so far. Items that machine code
computes side by side, in the lanes of its vectors, take hardly longer together than one of them alone: their chunks
have a vector of them at least. Chunks that were lost are
divided and come first. Chunks that are suspected of having ended a worker, together with others, are tried while
nothing else is at work.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kinemorph.studies.items import Indices

TARGET = 1.0  # [s] of a chunk
LEAST = 0.02  # [s] of a chunk, even if some workers have nothing to do at the end
MOST = 20_000  # items of a chunk, so that results are stored often enough
KEPT = 64 << 20  # bytes of kept runs that count as a second, so that chunks do not fill the memory
GROWTH = 8  # times as many items as in the largest chunk of the group so far
FIRST = 64  # items in the first chunk of a group, where others have been measured
VECTOR = 8  # items that compiled code computes side by side
PARTS = 8  # of a chunk that is divided: fewer workers die than by halving until one item is alone


class Piece(NamedTuple):
    """Items that go together: `rows` (n,) among those to compute, and how often the item was lost alone."""

    group: int
    rows: Indices
    losses: int = 0


class ChunkQueue:
    """The items that wait. `longest` [s] is the time that a chunk may take before it is ended, if there is a limit."""

    def __init__(self, groups: Sequence[Indices], longest: float | None = None) -> None:
        self._groups = [np.asarray(rows, dtype=np.int64) for rows in groups]
        self._starts = [0] * len(self._groups)
        self._left = sum(map(len, self._groups))  # items that wait in groups
        self._open = deque(g for g, rows in enumerate(self._groups) if len(rows))
        self._longest = math.inf if longest is None else longest
        self._batched: dict[int, bool] = {}  # whether items are computed side by side, by group
        self._target = TARGET if longest is None else min(TARGET, longest / 4)
        self._pace: dict[int, float] = {}  # [s] of one item, by group
        self._largest: dict[int, int] = {}  # chunk that was computed, by group
        self._last_pace: float | None = None  # of any group
        self._returned: deque[Piece] = deque()
        self.suspects: deque[Piece] = deque()

    def __bool__(self) -> bool:
        return bool(self._open or self._returned or self.suspects)

    def next(self, workers: int) -> Piece | None:
        """The next piece, of a size that leaves work for all workers; suspects are taken from `suspects`."""
        if self._returned:
            return self._returned.popleft()
        if not self._open:
            return None
        group = self._open[0]
        rows, start = self._groups[group], self._starts[group]
        size = self._size(group, len(rows) - start, workers)
        self._starts[group], self._left = start + size, self._left - size
        if start + size >= len(rows):
            self._open.popleft()
        elif group not in self._largest:
            self._open.rotate(-1)  # other groups first, so that two workers do not compile the same program
        return Piece(group, rows[start : start + size])

    def _size(self, group: int, left: int, workers: int) -> int:
        """The number of items of the next chunk of a group, of which so many are left."""
        pace = self._pace.get(group, self._last_pace)
        if pace is None:
            return 1
        most = self._largest.get(group, 0) * GROWTH or FIRST
        share = -(-self._left // (2 * workers))  # the last chunks get smaller, so that workers end together
        by_time = min(self._target / pace, max(share, LEAST / pace)) if pace > 0 else share
        size = max(1, min(int(min(by_time, MOST)), most))
        if size < VECTOR and self._batched.get(group) and VECTOR / 2 * pace < self._longest:
            size = max(size, min(VECTOR, -(-self._left // workers)))
        return min(left, size if size < VECTOR else size // VECTOR * VECTOR)  # full vectors of compiled code

    def measured(self, piece: Piece, seconds: float, kept: int = 0, *, batched: bool = False) -> None:
        """Takes in the time [s] that a piece took, the bytes of its runs that are kept, and whether it was a batch."""
        count = len(piece.rows)
        pace, before = max(seconds, kept / KEPT) / count, self._pace.get(piece.group)
        # a first chunk warms up caches: larger ones say more than smaller ones
        if before is None or count >= self._largest[piece.group]:
            self._pace[piece.group] = pace
        else:
            self._pace[piece.group] = 0.5 * (pace + before)
        self._largest[piece.group] = max(count, self._largest.get(piece.group, 0))
        self._last_pace = self._pace[piece.group]
        self._batched.setdefault(piece.group, batched)

    def put_back(self, piece: Piece) -> None:
        """Puts back a piece that was not computed, for reasons that are not its own."""
        self._returned.append(piece)

    def divide(self, piece: Piece, *, suspected: bool = False) -> None:
        """Puts back the parts of a piece that was lost; `suspected` ones are tried while nothing else is at work."""
        self._batched[piece.group] = False  # a smaller chunk loses less
        target = self.suspects if suspected else self._returned
        for rows in np.array_split(piece.rows, min(PARTS, len(piece.rows))):
            target.append(Piece(piece.group, rows))

    def try_again(self, piece: Piece, *, suspected: bool = False) -> None:
        """Puts back one item that was lost alone."""
        (self.suspects if suspected else self._returned).append(piece._replace(losses=piece.losses + 1))
