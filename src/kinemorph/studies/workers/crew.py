"""The workers of a study, of whatever kind: they take chunks, and say what became of them.

Most executors of other libraries (the standard library, loky, mpi4py.futures) break when a worker dies: everything in
flight is lost, and they do not say which chunk caused it. Where a function is given that makes the executor, it is made
anew, and the chunks that were in flight are tried one at a time.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, Protocol, TypeVar

from kinemorph.errors import UnsupportedError
from kinemorph.studies.outcomes import Chunk
from kinemorph.studies.packing import Packed
from kinemorph.studies.workers.companions import work_apart
from kinemorph.studies.workers.processes import Processes
from kinemorph.studies.workers.work import Computing, Limits, Trouble, computed, work

T = TypeVar("T")
SMALL = 1 << 16  # bytes of an experiment that travels with every chunk; larger ones go to workers that ask for them
SIZES = ("_max_workers", "num_workers")  # attributes that say how many workers: standard library and loky, mpi4py


class Here(Executor):
    """An executor in this process, which calls each function when it is submitted.

    Ctrl-C ends the function, and passes through.
    """

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Calls the function; the future is done when this returns."""
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class Packable(Computing, Protocol):
    """An experiment: it computes chunks, and can be sent to workers."""

    @property
    def packed(self) -> Packed: ...


class Crew(ABC):
    """Workers behind an executor.

    `executor`      who gets the chunks
    `limits`        the limits of its workers
    `is_exact`      whether the executor names the one chunk that was worked on when a worker is lost
    `is_apart`      whether chunks are computed in companions of the workers, see `companions`
    """

    executor: Executor
    limits: Limits = Limits()
    is_exact = is_apart = False
    packed: Packed

    def begin(self, experiment: Packable) -> None:
        """Takes in the experiment of the chunks that will be submitted."""
        self.packed = experiment.packed

    @property
    @abstractmethod
    def count(self) -> int:
        """The number of chunks that the workers can work on at the same time, at this moment."""

    @property
    def most_in_flight(self) -> int:
        """The number of chunks that may be submitted and not done: each worker finds the next one at once."""
        return 2 * self.count

    def submit(self, chunk: Chunk, *, asked: bool = False, alone: bool = False) -> Future[Any]:
        """Sends a chunk to a worker: a future of its Outcome, or of a Trouble.

        `asked`     whether a worker has asked for the data of the experiment
        `alone`     whether the chunk is under suspicion, and should have a worker that has done nothing else
        """
        data = self.packed.data if asked or len(self.packed.data) <= SMALL else b""
        if self.is_apart or self.limits != Limits():
            return self.executor.submit(work_apart, self.packed.digest, data, chunk, self.limits)
        return self.executor.submit(work, self.packed.digest, data, chunk)

    def trouble_of(self, error: BaseException) -> Trouble | None:
        """What an exception of the executor says about a chunk; None if it is not one of a lost worker."""
        return None

    def check(self) -> None:  # noqa: B027  (most executors tell every end by their futures)
        """Raises KinemorphError where the workers will never answer."""

    @abstractmethod
    def renew(self, why: str) -> None:
        """Makes a broken executor anew, or raises UnsupportedError with a sentence."""

    @abstractmethod
    def end(self) -> None:
        """Ends the workers that were started for the study; returns when they have ended."""


class HereCrew(Crew):
    """The calling process."""

    is_exact, count, most_in_flight = True, 1, 1

    def __init__(self) -> None:
        self.executor = Here()

    def begin(self, experiment: Packable) -> None:
        """Takes in the experiment as it is: nothing has to be packed."""
        self.experiment = experiment

    def submit(self, chunk: Chunk, *, asked: bool = False, alone: bool = False) -> Future[Any]:
        """Computes a chunk; the future is done when this returns."""
        return self.executor.submit(computed, self.experiment, chunk)

    def renew(self, why: str) -> None:
        """Never needed: this executor does not break."""

    def end(self) -> None:
        """Nothing was started."""


class ProcessCrew(Crew):
    """Processes of our own, which keep the limits and survive the death of a worker."""

    is_exact = True

    def __init__(self, count: int, limits: Limits) -> None:
        self.executor: Processes = Processes(count, limits)
        self.limits = limits

    @property
    def count(self) -> int:
        """The number of processes."""
        return self.executor.count

    def submit(self, chunk: Chunk, *, asked: bool = False, alone: bool = False) -> Future[Any]:
        """Sends a chunk to a process, whose limits are kept from here."""
        data = self.packed.data if asked or alone or len(self.packed.data) <= SMALL else b""
        submit = self.executor.submit_alone if alone else self.executor.submit
        return submit(work, self.packed.digest, data, chunk)

    def renew(self, why: str) -> None:
        """Never needed: processes that end are replaced."""

    def end(self) -> None:
        """Ends the processes at once, with what they work on."""
        self.executor.shutdown(cancel_futures=True)


# ── executors of other libraries ──────────────────────────────────────────────────────────────────────────────────────


class GivenCrew(Crew):
    """An executor that was given, or one that a given function has made and which ends with the study."""

    def __init__(self, given: Executor | Callable[[], Executor], limits: Limits) -> None:
        self._make = None if isinstance(given, Executor) else given
        self.executor, self.limits = given if isinstance(given, Executor) else self._made(), limits

    def _made(self) -> Executor:
        assert self._make is not None
        made: Any = self._make()
        if not isinstance(made, Executor):
            raise UnsupportedError(
                f"the function given as workers returned a {type(made).__name__}; expected a new Executor, such as "
                "concurrent.futures.ProcessPoolExecutor()."
            )
        return made

    @property
    def count(self) -> int:
        """The number of workers as the executor says it, else that of CPUs."""
        found = (getattr(self.executor, name, None) for name in SIZES)
        return next((count for count in found if isinstance(count, int) and count > 0), cpus())

    def renew(self, why: str) -> None:
        """Makes a broken executor anew by the function that was given."""
        if self._make is None:
            first = why.split(". ")[0].split("\n")[0].rstrip(".")
            raise UnsupportedError(
                f"the executor of the study is broken, because one of its workers has ended ({first}), and it cannot "
                "be made anew from here. What had arrived is stored. Start the study again with workers= a "
                "function that makes the executor, or a number of processes: then the guilty item is found and marked."
            )
        self.executor.shutdown(wait=False)
        self.executor = self._made()

    def end(self) -> None:
        """Ends an executor that was made for the study, whatever its processes work on; one that was given stays."""
        if self._make is not None:
            processes = dict(getattr(self.executor, "_processes", None) or {})
            self.executor.shutdown(wait=False)
            for process in processes.values():
                process.kill()


def cpus() -> int:
    """The number of CPUs that this process may use, which is less than that of the machine in many containers."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
