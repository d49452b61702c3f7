"""Workers of a Dask cluster: one on this machine that ends with the study, or one that is running.

A cluster of our own consists of a process with the scheduler and of its workers, and can be reached from this machine
only. Chunks are computed in companions of the workers, so that an item that ends its process ends no worker. Dask
itself gives a chunk to other workers when one is lost, and tells `KilledWorker` when several were lost with it; workers
may leave and join at any time. When the scheduler is lost, Dask has forgotten everything: the study stops with a
sentence, and continues from its store when it is started again.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import time
import warnings
from typing import Any
from urllib.parse import urlsplit

from kinemorph.errors import KinemorphError, MissingExtraError, UnsupportedError
from kinemorph.studies.workers.child import Child, end_all, how_it_ended
from kinemorph.studies.workers.crew import Crew, cpus
from kinemorph.studies.workers.frames import Frame
from kinemorph.studies.workers.processes import ENVIRONMENT, places
from kinemorph.studies.workers.work import Limits, Trouble

PATIENCE = 5.0  # [s] in which a scheduler has to answer
STARTING = 60.0  # [s] in which a cluster of our own has to be ready
EVERY = 1.0  # [s] between two looks at how many workers there are
ENDING = 3.0  # [s] in which its workers have to end
QUIET = {"PYTHONWARNINGS": "ignore:resource_tracker:UserWarning"}  # which cleans up after the workers and says so
PROGRAM = "kinemorph.studies.workers.cluster_process"


class DaskCrew(Crew):
    """The workers of a Dask cluster at an address, or of one that is started here and ends with the study."""

    is_apart = True

    def __init__(self, given: Any, limits: Limits) -> None:
        """Joins the cluster that is `given`: an address, a cluster, client or executor of Dask; None starts one."""
        try:
            import distributed
        except ImportError:
            raise MissingExtraError("distributed", "cluster") from None
        self._killed: Any = distributed.KilledWorker
        self._cluster = None if given is not None else LocalCluster(cpus())
        given = self._cluster.address if self._cluster is not None else getattr(given, "_client", given)
        self.limits, self._is_joined = limits, not isinstance(given, distributed.Client)
        self._threads, self._looked, self._manned = 0, -EVERY, time.monotonic()
        self._has_warned = False
        try:
            self.client = _joined(given) if self._is_joined else given
        except BaseException:
            if self._cluster is not None:
                self._cluster.end()
            raise
        self.address = str(self.client.scheduler.address)
        self.executor = self.client.get_executor(pure=False)  # a chunk that is tried again is computed again

    @property
    def count(self) -> int:
        """The number of threads of all workers that are with the cluster now."""
        now = time.monotonic()
        if now - self._looked >= EVERY:
            self._looked = now
            with contextlib.suppress(Exception):  # `check` reports what is wrong with the scheduler
                found = self.client.sync(self.client.scheduler.ncores, callback_timeout=PATIENCE)
                self._threads = sum(found.values())
            self._manned = now if self._threads else self._manned
            if now - self._manned > PATIENCE and not self._has_warned:
                self._has_warned = True
                warnings.warn(
                    f"the Dask cluster at {self.address} has no workers. The study waits until some join it.",
                    stacklevel=2,
                )
        return max(self._threads, 1)

    def trouble_of(self, error: BaseException) -> Trouble | None:
        """Lost workers and connections, which Dask reports by exceptions."""
        if isinstance(error, (self._killed, OSError, TimeoutError)):
            return Trouble("died", "its Dask worker ended")
        return None

    def check(self) -> None:
        """Raises KinemorphError where the scheduler has gone; one that is back after a few seconds is taken."""
        until = time.monotonic() + PATIENCE
        while (self._cluster is None or not self._cluster.ending) and time.monotonic() < until:
            if self.client.status == "running":
                return
            if self.client.status != "connecting":
                break
            time.sleep(0.05)
        ending = f" ({self._cluster.ending})" if self._cluster is not None and self._cluster.ending else ""
        raise KinemorphError(
            f"the Dask scheduler at {self.address} does not answer any more{ending}. What had arrived is stored: start "
            "the study again when there is a cluster, and it goes on from there."
        )

    def renew(self, why: str) -> None:
        """Never needed: a cluster goes on without the workers that it has lost."""

    def end(self) -> None:
        """Leaves the cluster, and ends one that was started for the study."""
        with _silence(), contextlib.suppress(Exception):  # a scheduler that has gone does not answer
            if self._is_joined:
                self.client.close(timeout=2.0)
        if self._cluster is not None:
            self._cluster.end()


class LocalCluster:
    """A Dask cluster of this machine: a process with the scheduler, and its workers. All of them end with this process.

    `address`       where it can be reached, from this machine only
    `ending`        how it has ended, if it has: "signal SIGKILL"
    """

    def __init__(self, count: int) -> None:
        self.address = self.ending = ""
        self._child: Child[None] = Child(
            PROGRAM, {"count": count}, self, places=places(), environment=ENVIRONMENT | QUIET
        )
        try:
            self._child.ready.wait(STARTING)
        finally:
            if not self.address:
                self._child.kill()
        if not self.address:
            raise UnsupportedError(f"a Dask cluster cannot be started on this machine: {self._child.said()}")

    def take(self, child: Child[None], frame: Frame) -> None:
        """Takes in that the cluster is ready."""
        self.address = frame.header["address"]
        child.ready.set()

    def lost(self, child: Child[None], status: int) -> None:
        """Takes in that the cluster has ended."""
        self.ending = how_it_ended(status)
        child.ready.set()

    def end(self) -> None:
        """Ends the scheduler and its workers, which are a group of processes; returns when they have ended."""
        end_all([self._child])
        until = time.monotonic() + ENDING
        with contextlib.suppress(OSError, AttributeError):  # there is no such group any more, or there are no groups
            while time.monotonic() < until:
                os.killpg(self._child.process.pid, 0)
                time.sleep(0.01)
            self._child.kill()


def is_dask(workers: Any) -> bool:
    """Whether something is a cluster, a client or an executor of Dask."""
    return any(hasattr(workers, name) for name in ("scheduler_address", "get_executor", "_client"))


def _joined(address: Any) -> Any:
    """A client of the scheduler at an address, or of a cluster object of Dask.

    Raises UnsupportedError within seconds if no scheduler answers there.
    """
    from distributed import Client

    why = ""
    try:
        parts = urlsplit(address if isinstance(address, str) else "")
        if parts.scheme in ("tcp", "tls"):  # where no scheduler is, a client would try for ever
            socket.create_connection((parts.hostname or "", parts.port or 0), PATIENCE).close()
        with _silence():
            return Client(address, timeout=PATIENCE, set_as_default=False, name="kinemorph")
    except Exception as error:  # whatever answers there may not be a scheduler, and say anything
        why = str(error).strip().rstrip(".") or type(error).__name__
    raise UnsupportedError(
        f"no Dask scheduler answers at '{address}' ({why}). Start one with `dask scheduler`, correct the address, such "
        "as tcp://127.0.0.1:8786, or leave it to workers='dask' to start a cluster on this machine."
    )


@contextlib.contextmanager
def _silence() -> Any:
    """A context in which Dask does not log: one sentence says what went wrong."""
    logger = logging.getLogger("distributed")
    before, logger.disabled = logger.level, False
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(before)
