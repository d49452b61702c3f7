"""Companions: processes beside a worker that others have started, such as one of a Dask cluster or of MPI.

A companion computes what needs a process of its own: chunks with limits, which can be ended without ending the worker,
chunks of further threads of a worker, and all chunks in a Dask cluster, whose workers have to answer their scheduler
meanwhile. Each thread has its own companion, which ends after a time without work.
"""

from __future__ import annotations

import threading

from kinemorph.errors import KinemorphError
from kinemorph.studies.outcomes import Chunk, Outcome
from kinemorph.studies.workers.processes import Processes, WorkerLost
from kinemorph.studies.workers.work import Limits, Trouble, work

IDLE = 60.0  # [s] without work after which a companion ends


class _Companions(threading.local):
    """The companion of a thread, and the limits that it was started with."""

    limits: Limits | None = None
    processes: Processes | None = None


_OF_THREAD = _Companions()


def work_apart(digest: str, data: bytes, chunk: Chunk, limits: Limits = Limits()) -> Outcome | Trouble:  # noqa: B008
    """Lets the companion of this thread compute a chunk, see `work`; where it ends, that is the trouble returned."""
    own = _OF_THREAD
    if own.processes is None or own.limits != limits:
        if own.processes is not None:
            own.processes.shutdown()
        own.processes, own.limits = Processes(1, limits, idle=IDLE), limits
    try:
        outcome: Outcome | Trouble = own.processes.submit(work, digest, data, chunk).result()
    except WorkerLost as lost:
        return lost.trouble
    except KinemorphError as error:  # no process can be started
        return Trouble("study", str(error))
    return outcome
