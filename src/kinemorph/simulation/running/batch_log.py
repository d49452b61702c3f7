"""The events of a batch in progress: rows of logs from all calls, and the runs that their events end.

Events of a guard that come ever faster are rest, and switches at one instant that do not stop are a failure, as in a
single run. Both are rare: arrays tell which runs may have such events, and only these are followed event by event.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.simulation.march.guards import RESOLUTION, Pace, Watch
from kinemorph.simulation.march.layout import Status
from kinemorph.simulation.results.event_log import EventLog, Whole
from kinemorph.simulation.results.outcome import comes_to_rest
from kinemorph.simulation.running.switches import Switches, log_format


class Ending(NamedTuple):
    """A run that its events end."""

    run: int  # its index in the batch
    status: Status
    t: float  # [s] the time of the last event that counts
    state: Array  # [q, v, x, m] there
    end: float  # [s] when the run ends: where it comes to rest, this is the limit of the times of its events
    message: str


class Followed(NamedTuple):
    """What is known of a run whose events follow each other closely: the pace of each guard, and its switches."""

    paces: dict[int, Pace]
    switches: Switches


class BatchLog:
    """The events of `count` runs; without `keep`, they are counted only."""

    def __init__(self, watch: Watch, count: int, *, keep: bool) -> None:
        self.format, self.keep = log_format(watch), keep
        self.counts, self.last = np.zeros(count, np.int64), np.full(count, -1, np.int64)
        self._parts: list[tuple[Whole, Array]] = []  # (indices of runs (n,), rows (n, width)) of each call
        self._resets = {k: guard.shortest for k, guard in enumerate(watch.guards) if guard.reset is not None}
        self._first_switch = len(watch.guards)
        self._first_rest = len(watch.guards) + len(watch.switches)
        self._times = np.full((count, len(self._resets), 2), -np.inf)  # [s] of the last two resets of each guard
        self._switched = np.full(count, -np.inf)  # [s] the time of the last switch or edge
        self._followed: dict[int, Followed] = {}
        self._is_followed = np.zeros(count, dtype=bool)

    def add(self, group: Whole, log: Array, logged: Whole) -> list[Ending]:
        """Adds the first `logged` (n,) rows of the `log` (n, rows, width) of each of the runs `group` (n,).

        Returns the runs that have to end; their later rows are left out.
        """
        log = log[:, : int(logged.max(initial=0))]
        earlier = self._times[group], self._switched[group]
        close = self._note_times(group, log, logged) | self._is_followed[group]
        logged, endings, rests = logged.copy(), [], []
        for k in np.flatnonzero(close & (logged > 0)).tolist():
            found = self._follow(int(group[k]), log[k, : logged[k]], earlier[0][k], float(earlier[1][k]))
            if found is not None:
                kept, ending = found
                if ending.status is Status.REST:
                    rests.append((ending, int(log[k, kept, 1])))
                logged[k] = kept
                endings.append(ending)
        some = logged > 0
        self.counts[group] += logged
        self.last[group[some]] = log[some, logged[some] - 1, 1].astype(np.int64)
        if self.keep:
            taken = np.arange(log.shape[1]) < logged[:, None]
            self._parts.append((np.repeat(group, logged), log[taken]))
        for ending, guard in rests:
            self.add_rest(ending.run, guard, ending.end, ending.state)
        return endings

    def add_rest(self, run: int, guard: int, end: float, state: Array) -> None:
        """Adds the event that a run comes to rest at `end` [s], after events of a guard, in a state [q, v, x, m]."""
        self.counts[run] += 1
        self.last[run] = guard + self._first_rest
        if self.keep:
            nothing = np.zeros(1 + len(self.format.constraints))
            row = np.concatenate([[end, float(self.last[run])], nothing, state, state])
            self._parts.append((np.array([run]), row[None]))

    def _note_times(self, group: Whole, log: Array, logged: Whole) -> npt.NDArray[np.bool_]:
        """Notes the times of events; returns which runs have events that follow each other closely, shape (n,)."""
        close = np.zeros(len(group), dtype=bool)
        times, switched = self._times[group], self._switched[group]
        for j in range(log.shape[1]):
            t, guard, there = log[:, j, 0], log[:, j, 1], j < logged
            for place, (index, shortest) in enumerate(self._resets.items()):
                mine = there & (guard == index)
                close |= mine & (t - times[:, place, 1] < shortest)
                times[mine, place] = np.stack([times[mine, place, 1], t[mine]], axis=1)
            mine = there & (guard >= self._first_switch)
            close |= mine & (t - switched < RESOLUTION)
            switched[mine] = t[mine]
        self._times[group], self._switched[group] = times, switched
        return close

    def _follow(self, run: int, rows: Array, times: Array, switched: float) -> tuple[int, Ending] | None:
        """Looks at events one by one; returns the end of the run and the number of rows that count, or None.

        `times` (guards, 2) and `switched` are those before these events.
        """
        if run not in self._followed:
            known = [[t for t in two if t > -np.inf] for two in times.tolist()]
            pairs = zip(self._resets.items(), known, strict=True)
            paces = {index: Pace(shortest, two) for (index, shortest), two in pairs}
            self._followed[run], self._is_followed[run] = Followed(paces, Switches(switched)), True
        followed = self._followed[run]
        for j, row in enumerate(rows):
            t, guard = float(row[0]), int(row[1])
            name = self.format.marks[guard].name
            if guard in followed.paces:
                pace = followed.paces[guard]
                end = pace.at_rest(t)
                if end is not None:
                    message = comes_to_rest(name, end, pace.last)
                    return j, Ending(run, Status.REST, t, self.format.jumped(row).before, end, message)
            elif guard >= self._first_switch:
                message = followed.switches.endless(t, name) or ""
                if message:
                    return j + 1, Ending(run, Status.GIVEN_UP, t, self.format.jumped(row).after, t, message)
        return None

    def finished(self) -> EventLog:
        """The events of all runs, those of each run together."""
        if not self.keep:
            return EventLog(self.format, self.counts, self.last, None)
        whose = np.concatenate([np.zeros(0, np.int64), *(runs for runs, _ in self._parts)])
        rows = np.concatenate([np.zeros((0, self.format.width)), *(rows for _, rows in self._parts)])
        return EventLog(self.format, self.counts, self.last, rows[np.argsort(whose, kind="stable")])
