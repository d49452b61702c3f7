"""Events as arrays: one row for each event, in the form in which the march logs jumps.

    [t, mark, side, energy lost, impulses (nc,), q, v, x, m before, q, v, x, m after]

A mark is the number of what happened, see `Mark`; the side is the sign of the guard afterwards, 0 where it stays zero.
Batches keep their events in this form, since millions of Event objects would take too much memory; an Event is made
where one is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.errors import UnsupportedError
from kinemorph.simulation.results.event import Event, EventKind, Quantity
from kinemorph.words import counted

GROUPS = ("q", "v", "x", "m")
Whole = npt.NDArray[np.int64]


class Mark(NamedTuple):
    """What can happen in a run: the events of one guard, or rest after them."""

    name: str
    kind: EventKind
    jumps: bool = False  # whether the state may jump, so that another segment starts
    note: str = ""
    impact: bool = False  # whether the energy lost is one of the numbers of the event


class Jumped(NamedTuple):
    """A jump of the state: its time [s], and the rows [q, v, x, m] before and after."""

    t: float
    before: Array
    after: Array


@dataclass(frozen=True)
class LogFormat:
    """How rows of a log are read and written.

    `sizes` are the lengths of q, v, x and m; `constraints` (nc,) are the names of those whose impulses are logged.
    """

    marks: tuple[Mark, ...]
    sizes: tuple[int, int, int, int]
    constraints: tuple[str, ...] = ()

    @property
    def width(self) -> int:
        """The length of a row."""
        return 4 + len(self.constraints) + 2 * sum(self.sizes)

    @cached_property
    def _groups(self) -> dict[str, slice]:
        """Where each group is in a row [q, v, x, m]."""
        ends = [0, *accumulate(self.sizes)]
        return {group: slice(*ends[k : k + 2]) for k, group in enumerate(GROUPS)}

    def mark(self, row: Array) -> Mark:
        """What happened, according to a row: an event of rigid contacts without impulses is a switch of their modes."""
        mark = self.marks[int(row[1])]
        if mark.kind == "impact" and not np.any(row[4 : 4 + len(self.constraints)]):
            return mark._replace(kind="switch", jumps=False, impact=False)
        return mark

    def jumped(self, row: Array) -> Jumped:
        """The jump of a row."""
        first, size = 4 + len(self.constraints), sum(self.sizes)
        return Jumped(float(row[0]), row[first : first + size], row[first + size :])

    def event(self, row: Array) -> Event:
        """The event of a row; impulses that are not zero become its numbers [N s or N m s]."""
        mark, nc = self.mark(row), len(self.constraints)
        t, *halves = self.jumped(row)
        before, after = ({group: half[part] for group, part in self._groups.items()} for half in halves)
        numbers = [Quantity("energy_loss", float(row[3]), "J")] if mark.impact else []
        for name, impulse in zip(self.constraints, row[4 : 4 + nc].tolist(), strict=True):
            numbers += [Quantity(f"impulse.{name}", impulse)] if impulse else []
        return Event(t, mark.name, mark.kind, before, after, mark.note, tuple(numbers))

    def row(
        self,
        t: float,
        mark: int,
        states: tuple[Mapping[str, Array], Mapping[str, Array]],
        lost: float = 0.0,
        impulses: Array | None = None,
    ) -> Array:
        """The row of an event; `states` are those before and after, by group."""
        pushes = np.zeros(len(self.constraints)) if impulses is None else impulses
        values = [state[group] for state in states for group in GROUPS]
        return np.concatenate([[t, float(mark), 1.0, lost], pushes, *values])


@dataclass(frozen=True, eq=False)
class EventLog(Mapping[int, tuple[Event, ...]]):
    """The events of all runs of a batch, by the index of the run; runs without events are left out.

    `counts` (B,) is the number of events of each run, and `last` (B,) the mark of the last one, -1 for none. `rows`
    (N, width) are the rows of all runs, one run after the other, or None where events were counted and not kept.
    """

    format: LogFormat
    counts: Whole
    last: Whole
    rows: Array | None

    @classmethod
    def empty(cls, count: int, sizes: tuple[int, int, int, int]) -> EventLog:
        """The log of `count` runs in which nothing can happen."""
        form = LogFormat((), sizes)
        return cls(form, np.zeros(count, np.int64), np.full(count, -1, np.int64), np.zeros((0, form.width)))

    @cached_property
    def _starts(self) -> Whole:
        return np.concatenate([[0], np.cumsum(self.counts)])

    def rows_of(self, k: int) -> Array:
        """The rows of run k, shape (events, width)."""
        if self.rows is None:
            if not self.counts[k]:
                return np.zeros((0, self.format.width))
            raise UnsupportedError(
                f"run {k} of the batch had {counted(int(self.counts[k]), 'event')}, which were counted and not kept. "
                "Simulate with keep_events=True, or read the columns of the batch, event_counts and final."
            )
        return self.rows[self._starts[k] : self._starts[k + 1]]

    def __getitem__(self, k: int) -> tuple[Event, ...]:
        if not 0 <= k < len(self.counts) or not self.counts[k]:
            raise KeyError(k)
        return tuple(map(self.format.event, self.rows_of(k)))

    def __iter__(self) -> Iterator[int]:
        return iter(np.flatnonzero(self.counts).tolist())

    def __len__(self) -> int:
        return int(np.count_nonzero(self.counts))

    def jumps(self, k: int) -> list[Jumped]:
        """The jumps of run k, at each of which another segment starts."""
        return [self.format.jumped(row) for row in self.rows_of(k) if self.format.mark(row).jumps]

    def last_name(self, k: int) -> str:
        """The name of the last event of run k."""
        return self.format.marks[int(self.last[k])].name

    def some(self, chosen: Whole) -> EventLog:
        """The events of the runs with the indices `chosen` (n,)."""
        rows = self.rows
        if rows is not None:
            spans = [np.arange(self._starts[k], self._starts[k + 1]) for k in chosen]
            rows = rows[np.concatenate([np.zeros(0, np.int64), *spans])]
        return replace(self, counts=self.counts[chosen], last=self.last[chosen], rows=rows)


def cut_at_jumps(times: Array, rows: Array, jumps: Iterable[Jumped]) -> list[tuple[Array, Array]]:
    """Samples at `times` (n,) [s], with `rows` (n, width), in pieces between jumps: (times, rows) of each piece.

    A piece ends with the state before the jump, and the next one begins with the state after it; a sample at the very
    time of a jump is one of these.
    """
    pieces: list[tuple[Array, Array]] = []
    for t, before, after in jumps:
        earlier, later = (int(np.searchsorted(times, t, side=side)) for side in ("left", "right"))
        if pieces and times[0] == t:  # another jump at the same instant
            pieces.append((times[:1], rows[:1]))
        else:
            pieces.append((np.append(times[:earlier], t), np.concatenate([rows[:earlier], before[None]])))
        times = np.concatenate([[t], times[later:]])
        rows = np.concatenate([after[None], rows[later:]])
    return [*pieces, (times, rows)]
