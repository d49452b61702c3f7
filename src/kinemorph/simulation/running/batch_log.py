"""The events of a batch in progress: rows of logs from all calls, and the runs that their events end.

Events of a guard that come ever faster, or after which it stays at zero, are rest; switches at one instant that do not
stop are a failure, as in a single run. Arrays tell which runs may end so, and only these are followed event by event.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.simulation.march.guards import RESOLUTION, Pace, Watch
from kinemorph.simulation.march.layout import Status
from kinemorph.simulation.results.event_log import EventLog, Whole
from kinemorph.simulation.results.outcome import comes_to_rest, stays_at_zero
from kinemorph.simulation.running.switches import Switches, log_format


class Ending(NamedTuple):
    """A run that its events end."""

    run: int  # its index in the batch
    status: Status
    kept: int  # the number of its new events that count
    guard: int  # the index of the guard of the last event
    t: float  # [s] the time of that event
    state: Array  # [q, v, x, m] at the end
    end: float  # [s] when the run ends: where events come ever faster, the limit of their times
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
        self._resets = watch.paced
        self._first_switch, self._first_rest = len(watch.guards), len(watch.guards) + len(watch.switches)
        self._times = np.full((count, len(self._resets), 2), -np.inf)  # [s] of the last two resets of each guard
        self._jumped = np.full(count, -np.inf)  # [s] the time of the last jump of any guard
        self._followed: dict[int, Followed] = {}
        self._is_followed = np.zeros(count, dtype=bool)

    def add(self, group: Whole, log: Array, logged: Whole) -> list[Ending]:
        """Adds the first `logged` (n,) rows of the `log` (n, rows, width) of each of the runs `group` (n,).

        Returns the runs that have to end; their later rows are left out.
        """
        log, logged = log[:, : int(logged.max(initial=0))], logged.copy()
        earlier = self._times[group], self._jumped[group]
        close = self._note_times(group, log, logged) | self._is_followed[group]
        endings = []
        for k in np.flatnonzero(close & (logged > 0)).tolist():
            ending = self._follow(int(group[k]), log[k, : logged[k]], earlier[0][k], float(earlier[1][k]))
            if ending is not None:
                logged[k] = ending.kept
                endings.append(ending)
        some = logged > 0
        self.counts[group] += logged
        self.last[group[some]] = log[some, logged[some] - 1, 1].astype(np.int64)
        if self.keep:
            taken = np.arange(log.shape[1]) < logged[:, None]
            self._parts.append((np.repeat(group, logged), log[taken]))
        for ending in endings:
            if ending.status is Status.REST:
                self._add_rest(ending)
        return endings

    def _add_rest(self, ending: Ending) -> None:
        """Adds the event that a run comes to rest."""
        mark = ending.guard + self._first_rest
        self.counts[ending.run] += 1
        self.last[ending.run] = mark
        if self.keep:
            numbers = np.zeros(4 + len(self.format.constraints))
            numbers[:2] = ending.end, mark
            self._parts.append((np.array([ending.run]), np.concatenate([numbers, ending.state, ending.state])[None]))

    def _note_times(self, group: Whole, log: Array, logged: Whole) -> npt.NDArray[np.bool_]:
        """Notes the times of jumps; returns which runs may have to end there, shape (n,).

        In these, jumps follow each other closely, or a guard stays at zero after its reset.
        """
        close = np.zeros(len(group), dtype=bool)
        times, jumped = self._times[group], self._jumped[group]
        for j in range(log.shape[1]):
            t, guard, there = log[:, j, 0], log[:, j, 1], j < logged
            jumps = there & (guard >= self._first_switch)
            for place, (index, own) in enumerate(self._resets.items()):
                mine = there & (guard == index)
                jumps |= mine
                close |= mine & ((t - times[:, place, 1] < own.shortest) | (log[:, j, 2] == 0.0))
                times[mine, place] = np.stack([times[mine, place, 1], t[mine]], axis=1)
            close |= jumps & (t - jumped < RESOLUTION)
            jumped[jumps] = t[jumps]
        self._times[group], self._jumped[group] = times, jumped
        return close

    def _follow(self, run: int, rows: Array, times: Array, jumped: float) -> Ending | None:
        """Looks at events one by one, as a single run does; returns the end of the run, or None if it goes on.

        `times` (guards, 2) and `jumped` are those before these events.
        """
        if run not in self._followed:
            known = [[t for t in two if t > -np.inf] for two in times.tolist()]
            pairs = zip(self._resets.items(), known, strict=True)
            paces = {index: one.pace(two) for (index, one), two in pairs}
            self._followed[run], self._is_followed[run] = Followed(paces, Switches(jumped)), True
        paces, switches = self._followed[run]
        for j, row in enumerate(rows):
            t, index, (_, before, after) = float(row[0]), int(row[1]), self.format.jumped(row)
            name = self.format.marks[index].name
            if index in paces:
                end = paces[index].at_rest(t)
                if end is not None:
                    message = comes_to_rest(name, end, paces[index].last)
                    return Ending(run, Status.REST, j, index, t, before, end, message)
                if row[2] == 0.0 and self._resets[index].stays:
                    return Ending(run, Status.REST, j + 1, index, t, after, t, stays_at_zero(name, t))
            if index in paces or index >= self._first_switch:
                endless = switches.endless(t, name)
                if endless is not None:
                    return Ending(run, Status.GIVEN_UP, j + 1, index, t, after, t, endless)
        return None

    def finished(self) -> EventLog:
        """The events of all runs, those of each run together."""
        if not self.keep:
            return EventLog(self.format, self.counts, self.last, None)
        whose = np.concatenate([np.zeros(0, np.int64), *(runs for runs, _ in self._parts)])
        rows = np.concatenate([np.zeros((0, self.format.width)), *(rows for _, rows in self._parts)])
        return EventLog(self.format, self.counts, self.last, rows[np.argsort(whose, kind="stable")])
