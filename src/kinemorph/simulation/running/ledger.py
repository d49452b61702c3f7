"""The results of a run while it is carried out: what all its pieces have stored, and who gets to know of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from kinemorph.simulation.files.storage import Checkpoints
from kinemorph.simulation.results.kept import Kept
from kinemorph.simulation.results.outcome import Outcome
from kinemorph.simulation.results.trajectory import Event, Segment, Statistics, Trajectory
from kinemorph.simulation.running.execution import Place, Progress, Run
from kinemorph.simulation.running.phase_times import PhaseTimes

EVERY = 0.1  # [s] of wall-clock time between two calls of `watch`
Watch = Callable[[Trajectory], None]  # takes the samples and events since its last call


class Ledger:
    """The results of a run so far: segments and events of its finished pieces, the number of steps and their time."""

    def __init__(
        self,
        settings: Mapping[str, Any],
        progress: Progress | None = None,
        checkpoints: Checkpoints | None = None,
        watch: Watch | None = None,
        times: PhaseTimes | None = None,
    ) -> None:
        """`settings` are the options of the run; the next three are called regularly while it is carried out. `times`
        counts since the preparation began.
        """
        self.settings, self.progress, self.checkpoints, self.watch = settings, progress, checkpoints, watch
        self.times = times or PhaseTimes()
        self.inner: Collection[str] = ()  # names of events that are no results: the run ends its own pieces by them
        self._place, self._shown, self._due = Place(), 0, 0.0  # what `watch` has got so far, and when it is due [s]
        self.segments: list[Segment] = []
        self.events: list[Event] = []
        self.method: Any = None
        self._steps = [0, 0, 0]  # accepted, rejected, calls

    def carry_out(self, run: Run) -> Outcome:
        """Carries out one piece of the run and stores its results here."""
        self.method = run.stepper.method

        def report(t: float, h: float, events: int) -> None:
            if self.progress:
                self.progress(t, h, len(self.events) + events)
            if self.checkpoints:
                self.checkpoints.note(lambda: self._so_far(run))
            if self.watch and time.perf_counter() >= self._due:
                self._hand_over(run)
                self._due = time.perf_counter() + EVERY

        with self.times.within("run"):
            outcome = run.carry_out(report if self.progress or self.checkpoints or self.watch else None)
            if self.watch:
                self._hand_over(run, outcome)
                self._place = Place()
            self.take(run)
        return outcome

    def take(self, run: Run) -> None:
        """Stores the results of a finished piece of the run here."""
        self.method = run.stepper.method
        self.segments += run.segments()
        self.events += run.events
        self._steps = self._counted(run)

    def _hand_over(self, run: Run, outcome: Outcome | None = None) -> None:
        """Calls `watch` with the samples and events that are new; where there are no samples, events wait for them.

        With the `outcome` of a piece that has ended, these are all of its last samples.
        """
        assert self.watch is not None
        segments, place = run.since(self._place, all_of_it=outcome is not None)
        if not segments:
            return
        events = [event for event in (*self.events, *run.events) if event.name not in self.inner]
        new, self._shown, self._place = events[self._shown :], len(events), place
        with self.times.within("outside"):
            self.watch(self._trajectory(outcome or self._unfinished(run), segments, new, self._counted(run)))

    def finished(self, outcome: Outcome, kept: Kept | None = None) -> Trajectory:
        """The Trajectory of the whole run, after all pieces are finished; `kept` is for a run that continues it."""
        return self._trajectory(outcome, self.segments, self.events, self._steps, kept)

    @property
    def statistics(self) -> Statistics:
        """The numbers of steps of all finished pieces, and the times up to now."""
        return self.times.added_to(Statistics(self.method.name, *self._steps))

    def _counted(self, run: Run) -> list[int]:
        own = (*run.stepper.counts, run.stepper.calls)
        return [before + now for before, now in zip(self._steps, own, strict=True)]

    def _so_far(self, run: Run) -> Trajectory:
        return self.until_now(run, self._unfinished(run))

    def until_now(self, run: Run, outcome: Outcome) -> Trajectory:
        """The Trajectory of the finished pieces and of one that is still in progress."""
        self.method = run.stepper.method
        return self._trajectory(
            outcome, [*self.segments, *run.segments()], [*self.events, *run.events], self._counted(run)
        )

    def _unfinished(self, run: Run) -> Outcome:
        t, until = run.stepper.t, self.settings["until"]
        return Outcome("unfinished", t, f"The run had reached t = {t:.9g} s of {until:g} s when it was saved.")

    def _trajectory(
        self,
        outcome: Outcome,
        segments: Sequence[Segment],
        events: Sequence[Event],
        steps: Sequence[int],
        kept: Kept | None = None,
    ) -> Trajectory:
        name = self.method.name
        statistics = self.times.added_to(Statistics(name, *steps))
        settings = {"method": name, **self.settings}
        return Trajectory(tuple(segments), tuple(events), outcome, statistics, settings, kept)
