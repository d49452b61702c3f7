"""The results of a run while it is carried out: what all its pieces have stored, and who gets to know of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar

from kinemorph.codegen.work_clock import seconds_at_work
from kinemorph.simulation.files.storage import Checkpoints
from kinemorph.simulation.results.outcome import Outcome
from kinemorph.simulation.results.trajectory import Event, Segment, Statistics, Trajectory
from kinemorph.simulation.running.execution import Place, Progress, Run

EVERY = 0.1  # [s] of wall-clock time between two calls of `watch`
T = TypeVar("T")
Watch = Callable[[Trajectory], None]  # takes the samples and events since its last call


class Ledger:
    """The results of a run so far: segments and events of its finished pieces, the number of steps and their time."""

    def __init__(
        self,
        settings: Mapping[str, Any],
        progress: Progress | None = None,
        checkpoints: Checkpoints | None = None,
        watch: Watch | None = None,
    ) -> None:
        """`settings` are the options of the run; the others are called regularly while it is carried out."""
        self.settings, self.progress, self.checkpoints, self.watch = settings, progress, checkpoints, watch
        self.inner: Collection[str] = ()  # names of events that are no results: the run ends its own pieces by them
        self._place, self._shown, self._due = Place(), 0, 0.0  # what `watch` has got so far, and when it is due [s]
        self.segments: list[Segment] = []
        self.events: list[Event] = []
        self.method: Any = None
        self._steps = [0, 0, 0]  # accepted, rejected, calls
        self._began, self._began_work = time.perf_counter(), seconds_at_work()
        self._preparing = 0.0  # [s] in `timed`, without the work that the clock of deriving and compiling counts

    def timed(self, make: Callable[[], T]) -> T:
        """The object that `make` returns; the time that `make` takes counts as compilation."""
        began, worked = time.perf_counter(), seconds_at_work()
        made = make()
        self._preparing += time.perf_counter() - began - (seconds_at_work() - worked)
        return made

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

        outcome = run.carry_out(report if self.progress or self.checkpoints or self.watch else None)
        if self.watch:
            self._hand_over(run, all_of_it=True)
            self._place = Place()
        self.take(run)
        return outcome

    def take(self, run: Run) -> None:
        """Stores the results of a finished piece of the run here."""
        self.method = run.stepper.method
        self.segments += run.segments()
        self.events += run.events
        self._steps = self._counted(run)

    def _hand_over(self, run: Run, *, all_of_it: bool = False) -> None:
        """Calls `watch` with the samples and events that are new; where there are no samples, events wait for them."""
        assert self.watch is not None
        segments, place = run.since(self._place, all_of_it=all_of_it)
        if not segments:
            return
        events = [event for event in (*self.events, *run.events) if event.name not in self.inner]
        new, self._shown, self._place = events[self._shown :], len(events), place
        began, worked = time.perf_counter(), seconds_at_work()
        self.watch(self._trajectory(self._unfinished(run), segments, new, self._counted(run)))
        self._began += time.perf_counter() - began  # this time is not that of the run
        self._began_work += seconds_at_work() - worked

    def finished(self, outcome: Outcome) -> Trajectory:
        """The Trajectory of the whole run, after all pieces are finished."""
        return self._trajectory(outcome, self.segments, self.events, self._steps)

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
        self, outcome: Outcome, segments: Sequence[Segment], events: Sequence[Event], steps: Sequence[int]
    ) -> Trajectory:
        compiling = self._preparing + seconds_at_work() - self._began_work
        seconds = time.perf_counter() - self._began - compiling
        name = self.method.name
        statistics = Statistics(name, steps[0], steps[1], steps[2], seconds, compiling)
        return Trajectory(tuple(segments), tuple(events), outcome, statistics, {"method": name, **self.settings})
