"""The rules of a pool, with workers that are stood in for: who gets which job, who is replaced, who is ended, when."""

from __future__ import annotations

import io
import mmap
import sys
import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from kinemorph.studies.workers import memory as memory_module
from kinemorph.studies.workers.frames import Frame, read_frame
from kinemorph.studio.tasks.work import KEEPING, Report
from kinemorph.studio.workers import pool as pool_module
from kinemorph.studio.workers import process as process_module
from kinemorph.studio.workers.job import Job
from kinemorph.studio.workers.pool import GRACE, GROWTH, SAVING, Pool

MIB = 1 << 20


class Worker:
    """Stands in for a worker process: it keeps what it is sent, and says what the test lets it say."""

    def __init__(self, program: str, configuration: dict[str, Any], pool: Pool) -> None:
        self.pool, self.job, self.ready, self.is_ended = pool, None, threading.Event(), False
        self.memory, self.sent, self.killed = 0, list[dict[str, Any]](), False

    def send(self, header: dict[str, Any]) -> None:
        self.sent.append(header)

    def send_end(self) -> None:
        self.is_ended = True

    def kill(self) -> None:
        self.is_ended = self.killed = True

    def said(self) -> str:
        return "no numpy"

    def says(self, **header: Any) -> None:
        """Lets the pool take a frame."""
        self.pool.take(self, Frame(header))  # type: ignore[arg-type]

    def ends(self, job: Job, memory: int = 0) -> None:
        """Ends a job with a result."""
        self.says(job=job.number, done=1, memory=memory, warnings=[], progress={})


@pytest.fixture
def timers(monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, Callable[[], None]]]:
    """What a pool wants to do later: after how many seconds, and the call."""
    found: list[tuple[float, Callable[[], None]]] = []
    monkeypatch.setattr(
        pool_module, "_after", lambda seconds, call, *given: found.append((seconds, lambda: call(*given)))
    )
    return found


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Iterator[Pool]:
    monkeypatch.setattr(pool_module, "Child", Worker)
    monkeypatch.setattr(pool_module, "end_all", lambda workers: None)
    yield Pool(2, memory=600 * MIB, work={"long": "", "short": ""})


def workers(pool: Pool) -> list[Worker]:
    return list(pool._workers)  # type: ignore[arg-type]


def ready(pool: Pool, memory: int = 0) -> list[Worker]:
    for worker in workers(pool):
        worker.says(ready=0.1, memory=memory)
    return workers(pool)


def test_a_worker_that_keeps_too_much_memory_gets_no_further_job_and_is_replaced(pool: Pool) -> None:
    """What counts is the growth since it was ready, and the limit itself is allowed."""
    one, two = ready(pool, 100 * MIB)
    first = pool.submit("long", {})
    one.ends(first, 100 * MIB + GROWTH)
    second = pool.submit("long", {})
    assert not one.is_ended and one.job is second
    waiting = pool.submit("long", {})
    one.ends(second, 101 * MIB + GROWTH)
    assert one.is_ended and two.job is waiting and second.state == "done"
    assert pool.submit("short", {}).state == "waiting"
    pool.lost(one, 0)  # type: ignore[arg-type]
    assert one not in workers(pool) and len(workers(pool)) == 2


def test_a_cancelled_job_has_its_time_to_end_and_one_that_saves_has_more(pool: Pool, timers: list[Any]) -> None:
    one, two = ready(pool)
    job = pool.submit("long", {})
    job.cancel()
    assert one.sent[-1] == {"cancel": job.number} and not one.killed
    (wait, enforce), *_ = timers
    assert wait == GRACE == 0.6
    one.says(job=job.number, progress={"phase": KEEPING})
    enforce()
    assert not one.killed and timers[1][0] == SAVING == 300.0
    timers[1][1]()
    assert one.killed and len(timers) == 2
    other = pool.submit("short", {})
    other.cancel()
    timers[2][1]()
    assert two.killed


def test_a_job_that_has_ended_by_itself_costs_no_worker(pool: Pool, timers: list[Any]) -> None:
    one, _ = ready(pool)
    job = pool.submit("long", {})
    job.cancel()
    one.says(job=job.number, cancelled=None, memory=0, warnings=[], progress={})
    following = pool.submit("long", {})
    timers[0][1]()
    assert job.state == "cancelled" and one.job is following and not one.killed


def test_a_job_that_waits_for_its_kind_begins_when_the_worker_before_is_lost(pool: Pool) -> None:
    """The other worker is free, and the new one may take long to start, or never be ready."""
    one, two = ready(pool)
    first, second = pool.submit("long", {}), pool.submit("long", {})
    assert (one.job, two.job) == (first, None)
    pool.lost(one, -9)  # type: ignore[arg-type]
    assert first.state == "failed" and "SIGKILL" in first.result.sentence  # type: ignore[union-attr]
    assert two.job is second


def test_workers_that_never_get_ready_are_not_started_for_ever(pool: Pool) -> None:
    job = pool.submit("long", {})
    for _ in range(pool_module.FAILURES):
        pool.lost(workers(pool)[0], 1)  # type: ignore[arg-type]
    assert len(workers(pool)) == 1 and job.state == "waiting" and not pool.wait_until_warm(0.1)
    pool.lost(workers(pool)[0], 1)  # type: ignore[arg-type]
    assert workers(pool) == [] and job.result is not None
    assert job.result.sentence == "Worker processes cannot be started: no numpy"
    later = pool.submit("long", {})  # each job is another attempt
    ready(pool)
    assert later.state == "working"


def test_jobs_end_with_a_sentence_where_no_process_can_be_started(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The job of the lost worker, those that wait, and a new one, which is refused and does not wait."""

    def refused(*given: Any) -> None:
        raise OSError("Resource temporarily unavailable")

    one, two = ready(pool)
    first, second = pool.submit("long", {}), pool.submit("long", {})
    monkeypatch.setattr(pool_module, "Child", refused)
    for worker in (two, one):
        pool.lost(worker, -9)  # type: ignore[arg-type]
    sentences = [job.result.sentence for job in (first, second) if job.result]
    assert (
        sentences[0].endswith("(SIGKILL, phase 'start'). Start the work again.")
        and "cannot be started: Resource temporarily unavailable" in sentences[1]
    )
    with pytest.raises(pool_module.UnsupportedError, match="cannot be started: Resource"):
        pool.submit("long", {})
    assert pool.jobs == ()


def test_frames_of_an_earlier_job_are_not_those_of_the_present_one(pool: Pool) -> None:
    one, _ = ready(pool)
    first = pool.submit("long", {})
    one.ends(first)
    second = pool.submit("long", {})
    one.says(job=first.number, progress={"phase": "run"})
    one.ends(first)
    assert second.progress == {} and one.job is second


def test_a_queue_takes_as_many_jobs_as_it_says(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "MOST_WAITING", 2)
    for _ in range(2):
        pool.submit("long", {})
    with pytest.raises(pool_module.UnsupportedError, match="2 jobs are waiting"):
        pool.submit("long", {})


# ── memory ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("pages", "expected"), [(1 << 18, 512 * MIB), (1 << 22, 4096 * MIB), (1 << 20, 2048 * MIB)])
def test_a_worker_may_use_four_gibibytes_or_half_of_the_memory(
    pages: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_module.os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": pages}.get)
    assert memory_module.default_ceiling() == expected


def test_resident_memory_is_that_of_pages_that_are_used() -> None:
    """Pages that are reserved do not count; once they are filled, they do. An array might get pages used before."""
    before = memory_module.resident()
    with mmap.mmap(-1, 64 * MIB) as reserved:
        assert memory_module.resident() - before < 16 * MIB
        for _ in range(64):
            reserved.write(bytes(MIB))
        filled = memory_module.resident()
    assert 60 * MIB < filled - before < 80 * MIB


def test_where_there_is_no_proc_the_largest_use_so_far_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Linux counts it in KiB, macOS in bytes."""
    resource = pytest.importorskip("resource")

    def missing(name: str) -> None:
        raise FileNotFoundError(name)

    monkeypatch.setattr(memory_module, "Path", missing)
    monkeypatch.setattr(resource, "getrusage", lambda who: SimpleNamespace(ru_maxrss=3000))
    for platform, expected in (("linux", 3000 * 1024), ("darwin", 3000)):
        monkeypatch.setattr(memory_module.sys, "platform", platform)
        assert memory_module.resident() == expected


def test_addresses_end_a_gibibyte_beyond_the_ceiling(monkeypatch: pytest.MonkeyPatch) -> None:
    resource, limits = pytest.importorskip("resource"), list[tuple[int, int]]()
    monkeypatch.setattr(resource, "setrlimit", lambda what, limit: limits.append(limit))
    monkeypatch.setattr(memory_module, "Path", lambda name: SimpleNamespace(read_text=lambda: "1000 10 5 1 0 1 0"))
    memory_module.bound_addresses(600 * MIB)
    page = memory_module.os.sysconf("SC_PAGE_SIZE")
    assert limits == [(1000 * page + 600 * MIB + 1024 * MIB, resource.RLIM_INFINITY)]


def test_a_worker_ends_itself_as_soon_as_it_uses_more_than_its_ceiling(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ceiling itself is allowed; until then it reports the progress of its job."""
    use = iter([600 * MIB - 1, 600 * MIB, 600 * MIB + 1])
    monkeypatch.setattr(process_module.time, "sleep", lambda seconds: None)
    monkeypatch.setattr(process_module, "resident", lambda: next(use))
    monkeypatch.setattr(process_module.os, "_exit", lambda status: sys.exit(status))
    target = io.BytesIO()
    worker = process_module.Worker(io.BytesIO(), target, {"memory": 600 * MIB, "work": {}})
    worker.report = Report(7, worker.send)
    with pytest.raises(SystemExit) as end:
        worker.beat()
    assert end.value.code == process_module.BEYOND_CEILING
    target.seek(0)
    frames = [read_frame(target), read_frame(target), read_frame(target)]
    assert [frame and frame.header["progress"]["memory"] for frame in frames] == [600 * MIB - 1, 600 * MIB, None]


def test_the_sentence_of_too_much_memory_counts_in_mebibytes() -> None:
    assert "needs more than 1,536 MiB of memory" in process_module.beyond(1536 * MIB)
