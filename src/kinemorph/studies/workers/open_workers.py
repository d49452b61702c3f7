"""Opens the workers of a study.

None                as many processes as this process may use CPUs
0, "here"           the calling process
4                   that many processes
"dask"              a Dask cluster on this machine, which ends with the study
"tcp://host:8786"   a Dask cluster that is running
an Executor         of concurrent.futures, loky, mpi4py.futures, ...; it is not shut down
a function          that makes an Executor, which is shut down, and made anew where it breaks
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any

from kinemorph.errors import UnsupportedError
from kinemorph.studies.packing import refuse_in_worker
from kinemorph.studies.workers.cluster import DaskCrew, is_dask
from kinemorph.studies.workers.crew import Crew, GivenCrew, HereCrew, ProcessCrew, cpus
from kinemorph.studies.workers.work import Limits

Workers = Any  # of the kinds above; objects of Dask have no types of their own here

LEAST_MEMORY = 64 << 20  # bytes


@contextmanager
def open_workers(workers: Workers = None, *, memory: int | None = None, seconds: float | None = None) -> Iterator[Crew]:
    """The workers of a study as a context. Workers that were started for it have ended when the context ends.

    `memory` [bytes] is the most that a worker process may use, and `seconds` [s] the longest time of one item, without
    that of compilation. See this module for `workers`.
    """
    refuse_in_worker()
    crew = _crew(workers, _limits(memory, seconds))
    try:
        yield crew
    finally:
        crew.end()


def _limits(memory: int | None, seconds: float | None) -> Limits:
    """The limits, checked."""
    if seconds is not None and not seconds > 0:
        raise UnsupportedError(
            f"seconds is {seconds!r}; expected the longest time of one item, more than 0 s, or None."
        )
    if memory is not None and not memory >= LEAST_MEMORY:
        raise UnsupportedError(
            f"memory is {memory!r}; expected the bytes that a worker process may use, at least {LEAST_MEMORY:,} "
            "(64 MiB), or None."
        )
    return Limits(None if memory is None else int(memory), None if seconds is None else float(seconds))


def _crew(workers: Workers, limits: Limits) -> Crew:
    """The crew that `workers` names."""
    wanted = cpus() if workers is None else workers
    if wanted == "here" or (isinstance(wanted, int) and wanted == 0 and wanted is not False):
        if limits != Limits():
            raise UnsupportedError(
                "limits of memory and time cannot be kept in the calling process, which cannot be ended at a limit. "
                "Choose workers=1, or leave `memory` and `seconds` out."
            )
        return HereCrew()
    if isinstance(wanted, int) and not isinstance(wanted, bool) and wanted > 0:
        return ProcessCrew(wanted, limits)
    if is_dask(wanted) or (isinstance(wanted, str) and (wanted == "dask" or "://" in wanted)):
        return DaskCrew(None if wanted == "dask" else wanted, limits)
    if isinstance(wanted, Executor) or callable(wanted):
        return GivenCrew(wanted, limits)
    raise UnsupportedError(
        f"workers is {workers!r}; expected a number of processes, 0 for the calling process, 'dask', the address of a "
        "Dask scheduler such as 'tcp://127.0.0.1:8786', an Executor, or a function that makes one."
    )
