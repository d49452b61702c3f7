"""Executors of other libraries: the standard library, loky, mpi4py.futures, and any other with the same interface.

Most of them break when a worker dies: everything in flight is lost, and they do not say which chunk caused it. Where a
function is given that makes the executor, it is made anew, and the chunks that were in flight are tried one at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any

from kinemorph.errors import UnsupportedError
from kinemorph.studies.workers.cpus import cpus
from kinemorph.studies.workers.crew import Crew
from kinemorph.studies.workers.work import Limits

SIZES = ("_max_workers", "num_workers")  # attributes that say how many workers: standard library and loky, mpi4py


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
