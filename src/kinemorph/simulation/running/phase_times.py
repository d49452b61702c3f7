"""What the wall-clock time of a run is spent on: preparation, checks, deriving and compiling, and the run itself."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Literal

from kinemorph.codegen.work_clock import seconds_at_work
from kinemorph.simulation.results.trajectory import Statistics

Phase = Literal["preparation", "check", "run", "outside"]  # outside: in a function of the user, or waiting for one


class PhaseTimes:
    """A clock that counts for one phase at a time, at first for the preparation.

    The time that this thread spends on deriving and compiling counts apart.
    """

    def __init__(self) -> None:
        self._phase: Phase = "preparation"
        self._spent = dict.fromkeys(("preparation", "check", "run", "outside", "compile"), 0.0)  # [s]
        self._since, self._worked = time.perf_counter(), seconds_at_work()

    @contextmanager
    def within(self, phase: Phase) -> Iterator[None]:
        """A context whose time counts for a phase."""
        outer = self._phase
        self.enter(phase)
        try:
            yield
        finally:
            self.enter(outer)

    def added_to(self, known: Statistics) -> Statistics:
        """Statistics with the times up to now added to those that they have."""
        self.enter(self._phase)
        return replace(
            known,
            seconds=known.seconds + self._spent["run"],
            compile_seconds=known.compile_seconds + self._spent["compile"],
            preparation_seconds=known.preparation_seconds + self._spent["preparation"],
            check_seconds=known.check_seconds + self._spent["check"],
        )

    def enter(self, phase: Phase) -> None:
        """From now on, time counts for this phase."""
        now, worked = time.perf_counter(), seconds_at_work()
        compiling = worked - self._worked
        self._spent["compile"] += compiling
        self._spent[self._phase] += now - self._since - compiling
        self._phase, self._since, self._worked = phase, now, worked
