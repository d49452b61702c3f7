"""Worker processes of our own, behind the interface of an executor.

Unlike the pool of the standard library, this one survives the death of a worker, says exactly whose call it was, ends
calls at limits of time and memory, and needs no `if __name__ == "__main__"`. Workers are started when they are needed.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, TypeVar

from kinemorph.errors import KinemorphError, UnsupportedError
from kinemorph.studies.workers.child import Child, end_all, how_it_ended
from kinemorph.studies.workers.frames import Frame
from kinemorph.studies.workers.memory import BEYOND_CEILING
from kinemorph.studies.workers.work import Limits, Trouble

FAILURES = 3  # workers in a row that end before they are ready, after which no more are started
EVERY = 0.05  # [s] between two looks at the limits of time
PROGRAM = "kinemorph.studies.workers.process"
THREADS = ("KINEMORPH_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
ENVIRONMENT = dict.fromkeys(THREADS, "1")  # there is a worker for each CPU
T = TypeVar("T")


def places() -> list[str]:
    """The folders from which workers import: those of this process."""
    return [place or os.getcwd() for place in sys.path]


class WorkerLost(Exception):
    """The worker of a call has ended before it answered; `trouble` says why."""

    def __init__(self, trouble: Trouble) -> None:
        super().__init__(trouble)
        self.trouble = trouble


class Raised(KinemorphError):
    """A function that was called in a worker raised an exception, which the message describes."""


class _Call:
    """A call that waits or is worked on, and the time that counts against its limit."""

    def __init__(self, payload: bytes, is_alone: bool) -> None:
        self.future: Future[Any] = Future()
        self.payload, self.is_alone = payload, is_alone
        self.began, self.made, self.making_since = 0.0, 0.0, 0.0  # [s]
        self.is_slow = False

    def seconds(self, now: float) -> float:
        """The time [s] that it has been worked on, without that of compilation."""
        return now - self.began - self.made - (now - self.making_since if self.making_since else 0.0)


class Processes(Executor):
    """`count` worker processes with limits. `idle` [s] is the time without work after which a worker ends, if any."""

    def __init__(self, count: int, limits: Limits = Limits(), *, idle: float | None = None) -> None:  # noqa: B008
        self.count, self.limits, self.idle = count, limits, idle
        self._lock = threading.RLock()
        self._waiting: deque[_Call] = deque()
        self._children: list[Child[_Call]] = []
        self._used: weakref.WeakKeyDictionary[Child[_Call], float] = weakref.WeakKeyDictionary()  # the last answer [s]
        self._failures, self._why, self._is_shut = 0, "", False
        self._end = weakref.finalize(self, end_all, self._children)
        if limits.seconds is not None or idle is not None:
            threading.Thread(target=_watch, args=(weakref.ref(self),), name="limits", daemon=True).start()

    @property
    def processes(self) -> tuple[int, ...]:
        """The process ids of the workers."""
        with self._lock:
            return tuple(child.process.pid for child in self._children)

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Calls a function in a worker, which finds it by its name in its module."""
        return self._submit(pickle.dumps((fn, args, kwargs), protocol=5), False)

    def submit_alone(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Calls a function in a worker that has done nothing else before."""
        return self._submit(pickle.dumps((fn, args, kwargs), protocol=5), True)

    def _submit(self, payload: bytes, is_alone: bool) -> Future[Any]:
        with self._lock:
            if self._is_shut:
                raise RuntimeError("cannot schedule new futures after shutdown")
            call = _Call(payload, is_alone)
            self._waiting.append(call)
            stuck = self._assign()
        self._give_up(stuck)
        return call.future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Ends all workers, and with `cancel_futures` or without `wait` at once; calls that are left are cancelled."""
        with self._lock:
            left = [*self._waiting, *(child.job for child in self._children if child.job)]
        if wait and not cancel_futures:
            for call in left:
                call.future.exception()
        with self._lock:
            self._is_shut = True
            left = [*self._waiting, *(child.job for child in self._children if child.job)]
            self._waiting.clear()
            busy = [child for child in self._children if child.job is not None]
        for child in busy:
            child.kill()
        self._end()
        for call in left:
            if not call.future.done():
                call.future.set_exception(WorkerLost(Trouble("died", "the executor was shut down")))

    # ── workers ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _assign(self) -> list[_Call]:
        """Gives waiting calls to workers, and starts workers where some are missing.

        Returns the calls that have to be given up, since no worker can be started.
        """
        while self._waiting:
            call = self._waiting[0]
            if call.future.cancelled():
                self._waiting.popleft()
                continue
            free = [child for child in self._children if child.job is None and not child.is_ended]
            ready = [child for child in free if child.ready.is_set()]
            fresh = [child for child in ready if child not in self._used]
            if call.is_alone and not fresh and free == ready and ready:
                ready[0].send_end()  # makes room for a worker that has done nothing yet
                return []
            chosen = fresh or ([] if call.is_alone else ready)
            if not chosen:
                return self._start_missing(len(self._waiting) - len(free))
            self._waiting.popleft()
            if call.future.set_running_or_notify_cancel():
                child, call.began = chosen[0], time.monotonic()
                child.job = call
                child.send({}, call.payload)
        return []

    def _start_missing(self, wanted: int) -> list[_Call]:
        """Starts workers that are wanted; returns the calls to give up where none can be started."""
        while wanted > 0 and len(self._children) < self.count and not self._is_shut and self._failures < FAILURES:
            configuration = {"memory": self.limits.memory, "seconds": self.limits.seconds}
            try:
                self._children.append(Child(PROGRAM, configuration, self, places=places(), environment=ENVIRONMENT))
                wanted -= 1
            except OSError as error:  # no memory, or too many processes
                self._failures += 1
                self._why = f"{error}. Close other programs."
        if self._children or self._is_shut:
            return []
        stuck = list(self._waiting)
        self._waiting.clear()
        return stuck

    def _give_up(self, calls: list[_Call]) -> None:
        for call in calls:
            call.future.set_exception(UnsupportedError(f"Worker processes cannot be started: {self._why}"))

    def take(self, child: Child[_Call], frame: Frame) -> None:
        """Takes in a frame of a worker; called in the thread that reads from it."""
        header, now = frame.header, time.monotonic()
        with self._lock:
            call = child.job
            if "ready" in header:
                self._failures, child.memory = 0, header["memory"]
                child.ready.set()
            elif call is None:
                return
            elif "making" in header:
                if header["making"]:
                    call.making_since = now
                elif call.making_since:
                    call.made, call.making_since = call.made + now - call.making_since, 0.0
                return
            else:
                child.job, self._used[child] = None, now
            self._give_up(self._assign())
        if call is not None and not call.future.done():
            if "failed" in header:
                call.future.set_exception(Raised(header["failed"]))
            else:
                call.future.set_result(pickle.loads(frame.payload))

    def lost(self, child: Child[_Call], status: int) -> None:
        """Takes in the end of a worker: its call is lost, and others take its place."""
        with self._lock:
            call, child.job = child.job, None
            if child in self._children:
                self._children.remove(child)
            if not child.ready.is_set():
                self._failures += 1
                self._why = child.said()
            self._give_up(self._assign())
        if call is not None and not call.future.done():
            call.future.set_exception(WorkerLost(self._trouble(call, status)))

    def _trouble(self, call: _Call, status: int) -> Trouble:
        """Why the worker of a call has ended with a status."""
        if call.is_slow:
            return Trouble("slow")
        return Trouble("memory") if status == BEYOND_CEILING else Trouble("died", how_it_ended(status))

    def check_limits(self) -> bool:
        """Ends workers that take too long or have been idle too long; returns whether to check again."""
        now, limit = time.monotonic(), self.limits.seconds
        with self._lock:
            for child in self._children:
                if child.job is not None and limit is not None and child.job.seconds(now) > limit:
                    child.job.is_slow = True
                    child.kill()
                elif child.job is None and self.idle is not None and now - self._used.get(child, now) > self.idle:
                    child.send_end()
            return not self._is_shut


def _watch(owner: weakref.ref[Processes]) -> None:
    """Looks at the limits regularly, as long as there is an executor."""
    while (processes := owner()) is not None and processes.check_limits():
        del processes
        time.sleep(EVERY)
