"""The main program of a Dask cluster on this machine: a scheduler and its workers, which end when stdin is closed."""

from __future__ import annotations

import logging
import os
from typing import Any

from kinemorph.studies.workers.child import opened_pipes
from kinemorph.studies.workers.frames import read_frame, write_frame

HOST = "127.0.0.1"
ATTEMPTS = 3


def _started(count: int, attempts: int) -> Any:
    """A cluster with `count` workers; one that loses a worker at its start is started again."""
    from distributed import LocalCluster

    try:
        return LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            processes=True,
            host=HOST,
            dashboard_address=None,
            memory_limit=0,  # limits are those of the study
            silence_logs=logging.CRITICAL,  # and so are the messages
        )
    except RuntimeError:
        if attempts <= 1:
            raise
        return _started(count, attempts - 1)


def main() -> None:
    """Starts the cluster, says its address, and waits until its owner ends it."""
    opened = opened_pipes()
    if opened is None:
        return
    source, target, configuration = opened
    import dask

    dask.config.set({"distributed.scheduler.allowed-failures": 0})  # the study itself finds out who is guilty
    cluster = _started(configuration["count"], ATTEMPTS)
    write_frame(target, {"address": cluster.scheduler_address})
    while read_frame(source) is not None:
        pass
    os._exit(0)  # the workers end with this process
