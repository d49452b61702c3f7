"""A pool of warm worker processes and a queue of jobs.

    pool = Pool()
    job = pool.submit("run", {"text": text, "path": path}, on_progress=print, on_result=print)
    job.cancel()

A worker that has ended, whatever the reason, is replaced by another one; its job gets a sentence. Workers end when the
pool is stopped, and also when the process of the pool ends in any other way, because their stdin is closed then.
"""

from __future__ import annotations

import json
import os
import threading
import time
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kinemorph.errors import KinemorphError, UnsupportedError
from kinemorph.studies.workers.child import Child, end_all, how_it_ended
from kinemorph.studies.workers.frames import Frame
from kinemorph.studies.workers.memory import BEYOND_CEILING, default_ceiling
from kinemorph.studio.tasks.work import KEEPING, WORK, check_kind
from kinemorph.studio.workers.job import Job, OnPart, OnProgress, Result
from kinemorph.studio.workers.process import beyond

GRACE = 0.6  # [s] that a cancelled job has to end by itself
SAVING = 300.0  # [s] that it has beyond that, where it has ended its work and saves what there is
GROWTH = 300 << 20  # bytes that a worker may keep after a job; one that keeps more is replaced
NICE = 10  # of workers by default: where all processors are busy, they get a tenth of what the server and pages get
MOST_WAITING = 100  # jobs in the queue
FAILURES = 3  # workers in a row that end before they are ready, after which no more are started
PROGRAM = "kinemorph.studio.workers.process"


class Pool:
    """Worker processes that wait for jobs; `size` of them, each with at most `memory` bytes."""

    def __init__(
        self,
        size: int | None = None,
        *,
        memory: int | None = None,
        warm: bool = True,
        work: Mapping[str, str] | None = None,
        load: Sequence[Path] = (),
        nice: int = NICE,
    ) -> None:
        """By default as many workers as the machine has processors, 2 to 4. With `warm`, they import and compile ahead.

        `work` are further kinds of work, as rows of the table `WORK`. `load` are Python files of the user, which
        every worker executes before its first job. `nice` is how much later than the server workers get the processor.
        """
        self.size = size or max(2, min(4, os.cpu_count() or 2))
        self.memory = default_ceiling() if memory is None else memory
        self.work = {**WORK, **(work or {})}
        self.configuration: dict[str, Any] = {"memory": self.memory, "nice": nice, "warm": warm, "work": self.work}
        self.configuration["load"] = [str(path) for path in load]
        self._lock = threading.RLock()
        self._waiting: deque[Job] = deque()
        self._workers: list[Child[Job]] = []
        self._count = self._failures = 0
        self._why = ""  # why the last worker that could not be started did not start
        self._stopped = False
        self._end = weakref.finalize(self, end_all, self._workers)
        with self._lock:
            self._fill()
            self._check_workers()

    def submit(
        self,
        kind: str,
        data: Mapping[str, Any],
        on_progress: OnProgress | None = None,
        on_result: Callable[[Result], None] | None = None,
        *,
        on_part: OnPart | None = None,
    ) -> Job:
        """Asks for work of a kind in `WORK` with data that JSON can express; returns at once.

        `on_progress(progress)` is called five times a second, `on_part(header, payload)` with parts of the result, and
        `on_result(result)` once, at the end.
        """
        check_kind(kind, self.work)
        try:
            json.dumps(data, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise UnsupportedError(f"the data for '{kind}' cannot be sent to a worker as JSON: {error}.") from None
        with self._lock:
            if self._stopped:
                raise UnsupportedError(f"'{kind}' cannot be started, since the studio has been stopped.")
            if len(self._waiting) >= MOST_WAITING:
                raise UnsupportedError(
                    f"'{kind}' cannot be started, since {len(self._waiting)} jobs are waiting. Cancel some of them."
                )
            self._failures = 0
            self._fill()
            self._check_workers()
            self._count += 1
            job = Job(self._count, kind, data, (on_progress, on_result, on_part), self._cancel, self._tell)
            self._waiting.append(job)
            self._assign()
        return job

    def ask(self, kind: str, data: Mapping[str, Any], seconds: float | None = None) -> Any:
        """Submits a job and waits for its data. Raises KinemorphError with its sentence where it fails.

        A job that takes longer than `seconds` is cancelled, and raises too.
        """
        job = self.submit(kind, data)
        result = job.wait(seconds)
        if result is None:
            job.cancel()
            raise KinemorphError(f"'{kind}' took longer than {seconds:g} s and was ended.")
        for note in result.warnings:
            warnings.warn(note, stacklevel=2)
        if result.state != "done":
            raise KinemorphError(result.sentence)
        return result.data

    @property
    def jobs(self) -> tuple[Job, ...]:
        """The jobs that are worked on, and after them those that wait, in their order."""
        with self._lock:
            return (*(worker.job for worker in self._workers if worker.job), *self._waiting)

    @property
    def processes(self) -> tuple[int, ...]:
        """The process ids of the workers."""
        with self._lock:
            return tuple(worker.process.pid for worker in self._workers)

    def wait_until_warm(self, seconds: float = 60.0) -> bool:
        """Waits until all workers are ready, for `seconds` at most; returns whether they are."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and not self._stopped:
            with self._lock:
                workers = list(self._workers)
                if not workers or self._failures >= FAILURES:
                    return False
            if all(worker.ready.wait(max(until - time.monotonic(), 0.0)) for worker in workers):
                with self._lock:
                    if workers == self._workers and len(workers) == self.size:
                        return True
        return False

    def stop(self) -> None:
        """Ends all jobs and all workers; returns when no process is left."""
        with self._lock:
            self._stopped = True
            left = [*self._waiting, *(worker.job for worker in self._workers if worker.job)]
            self._waiting.clear()
        self._end()
        for job in left:
            job.end(Result("cancelled", sentence="The studio was stopped before this was done."))

    # ── workers ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _fill(self) -> None:
        """Starts workers, as many as are missing."""
        while not self._stopped and self._failures < FAILURES and len(self._workers) < self.size:
            try:
                self._workers.append(Child(PROGRAM, self.configuration, self))
            except OSError as error:  # no memory, or too many processes
                self._failures += 1
                self._why = f"{error}. Close other programs."

    def _check_workers(self) -> None:
        """Raises UnsupportedError where there is no worker, because none can be started."""
        if not self._workers:
            raise UnsupportedError(f"Worker processes cannot be started: {self._why}")

    def _assign(self) -> None:
        """Gives waiting jobs to workers that are ready and have none.

        Jobs of one kind never take all workers: while long runs are computed, there is one for other work.
        """
        for worker in self._workers:
            if worker.job is not None or not worker.ready.is_set() or worker.is_ended:
                continue
            busy = [each.job.kind for each in self._workers if each.job]
            most = max(self.size - 1, 1)
            job = next((one for one in self._waiting if busy.count(one.kind) < most), None)
            if job is None:
                return
            self._waiting.remove(job)
            job.state, worker.job = "working", job
            worker.send({"job": job.number, "kind": job.kind, "data": dict(job.data)})

    def _cancel(self, job: Job) -> None:
        with self._lock:
            if job.result is not None:
                return
            job.is_cancelled = True
            is_waiting = job in self._waiting
            if is_waiting:
                self._waiting.remove(job)
            worker = next((each for each in self._workers if each.job is job), None)
            if worker is not None:
                worker.send({"cancel": job.number})
        if is_waiting:
            job.end(Result("cancelled", sentence="It was cancelled before it began."))
        elif worker is not None:  # else its worker has just ended it, and its result is on the way
            _after(GRACE, self._enforce, job, worker)

    def _tell(self, job: Job, message: Mapping[str, Any]) -> None:
        """Passes a message on to the worker of a job. Raises UnsupportedError where no worker is at it."""
        with self._lock:
            worker = next((each for each in self._workers if each.job is job), None)
        if worker is None:
            raise UnsupportedError(f"work '{job.kind}' is {job.state}, so that it does not listen. Start it again.")
        worker.send({"tell": job.number, "message": dict(message)})

    def _enforce(self, job: Job, worker: Child[Job], saving: float = SAVING) -> None:
        """Ends the worker of a job that was cancelled and has not ended by itself; one that saves gets `saving` [s]."""
        with self._lock:
            if worker.job is not job:
                return
            if job.progress.get("phase") != KEEPING or not saving:
                worker.kill()
                return
        _after(saving, self._enforce, job, worker, 0.0)

    def take(self, worker: Child[Job], frame: Frame) -> None:
        """Takes in a frame of a worker; called in the thread that reads from it."""
        header = frame.header
        if "ready" in header:
            with self._lock:
                self._failures = 0
                worker.memory = header["memory"]
                worker.ready.set()
                self._assign()
            return
        job = worker.job
        if job is None or header.get("job") != job.number:
            return
        if "part" in header:
            job.take(header["part"], frame.payload)
            return
        state = next((name for name in ("done", "cancelled", "failed") if name in header), None)
        if state is None:
            job.note(header["progress"])
            return
        with self._lock:
            worker.job = None
            if header["memory"] > worker.memory + GROWTH:  # caches of many models: a new process starts without them
                worker.send_end()
            self._assign()
        said, data = header[state], header[state]
        sentence = {"failed": said, "cancelled": "It was cancelled."}.get(state, "")
        job.end(
            Result(state, None if state == "failed" else data, sentence, tuple(header["warnings"]), header["progress"])
        )

    def lost(self, worker: Child[Job], status: int) -> None:
        """Replaces a worker that has ended, and ends its job with a sentence."""
        with self._lock:
            job, worker.job = worker.job, None
            if worker in self._workers:
                self._workers.remove(worker)
            if not worker.ready.is_set():
                self._failures += 1
                self._why = worker.said()
            worker.ready.set()  # so that `wait_until_warm` returns
            self._fill()
            self._assign()  # a worker that was free may take what had to wait for the lost one
            stuck = [] if self._workers or self._stopped else list(self._waiting)
            if stuck:
                self._waiting.clear()
        if job is not None:
            job.end(self._end_of(job, status))
        for each in stuck:
            each.end(Result("failed", sentence=f"Worker processes cannot be started: {self._why}"))

    def _end_of(self, job: Job, status: int) -> Result:
        """The result of a job whose worker has ended with a status."""
        if job.is_cancelled:
            return Result("cancelled", sentence="It was cancelled.", progress=job.progress)
        if self._stopped:
            return Result("cancelled", sentence="The studio was stopped before this was done.", progress=job.progress)
        if status == BEYOND_CEILING:
            return Result("failed", sentence=beyond(self.memory), progress=job.progress)
        name = how_it_ended(status).removeprefix("signal ")
        doing = job.progress.get("phase", "start")
        remedy = "Another one has taken its place: start" if self._workers else "Start"
        sentence = (
            f"The process that did the work has ended unexpectedly ({name}, phase '{doing}'). {remedy} the work again."
        )
        return Result("failed", sentence=sentence, progress=job.progress)


def _after(seconds: float, function: Callable[..., None], *values: Any) -> None:
    """Calls a function later, unless this program ends before."""
    timer = threading.Timer(seconds, function, values)
    timer.daemon = True
    timer.start()
