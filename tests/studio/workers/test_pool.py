"""Worker processes: jobs and their results, progress, cancelling, memory, ends of workers and of the server."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from kinemorph.errors import KinemorphError, UnsupportedError
from kinemorph.studio.workers import pool as pool_module
from kinemorph.studio.workers.job import Job
from kinemorph.studio.workers.pool import Pool
from support.studio.chores import CHORES
from support.studio.noted_page import wait_for


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    found = Pool(2, memory=600 << 20, warm=False, work=CHORES)
    assert found.wait_until_warm()
    yield found
    found.stop()


def is_alive(process: int) -> bool:
    """Whether a process runs; one that has ended and waits for its parent does not count."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_results_parts_and_warnings_come_back(pool: Pool) -> None:
    parts: list[tuple[object, bytes]] = []
    job = pool.submit("add", {"numbers": [1, 2, 3]}, on_part=lambda header, payload: parts.append((header, payload)))
    result = job.wait(20.0)
    assert result is not None and (result.state, result.data, result.warnings) == ("done", 6, ("a note",))
    assert parts == [({"numbers": 3}, bytes([1, 2, 3]))]


@pytest.mark.slow
def test_progress_comes_five_times_a_second_with_the_time_of_each_phase(pool: Pool) -> None:
    """Deriving and compiling are phases, although the function says nothing of them itself."""
    seen: list[tuple[float, str, str]] = []
    began = time.perf_counter()
    job = pool.submit(
        "compile",
        {},
        on_progress=lambda progress: seen.append((time.perf_counter() - began, progress["phase"], progress["doing"])),
    )
    result = job.wait(20.0)
    assert result is not None and result.progress is not None
    spent = result.progress["spent"]
    assert [phase for phase in spent if spent[phase] > 0.1] == ["derive", "compile", "run"]
    assert spent["derive"] == pytest.approx(0.3, abs=0.1) and spent["compile"] == pytest.approx(0.2, abs=0.1)
    assert sum(spent.values()) == pytest.approx(result.progress["elapsed"], abs=0.01)
    assert {phase for _, phase, _ in seen} >= {"derive", "compile"} and seen[0][2] == "deriving a function"
    times = [0.0, *(t for t, *_ in seen)]
    assert max(after - before for before, after in pairwise(times)) < 0.3 and len(seen) >= 3


@pytest.mark.filterwarnings("ignore:a note")
@pytest.mark.parametrize("kind", ["count", "sleep"])
def test_a_job_is_cancelled_at_once_and_the_next_one_works(pool: Pool, kind: str) -> None:
    """Work that reports ends by itself and keeps its process; other work is ended with it, and another one starts."""
    before = pool.processes
    job = pool.submit(kind, {"seconds": 30.0})
    while job.state == "waiting":
        time.sleep(0.01)
    job.cancel()
    result = job.wait(5.0)  # 1 s on an idle machine: slow tests of runs, live runs and equations say so
    assert result is not None and result.state == "cancelled"
    assert (pool.processes == before) == (kind == "count")
    assert pool.ask("add", {"numbers": [1]}, 20.0) == 1


def test_jobs_of_a_kind_queue_while_other_work_is_done_and_a_waiting_one_is_cancelled_at_once(pool: Pool) -> None:
    """Long work of one kind never takes all workers: there is always one for something else."""
    assert pool.wait_until_warm()
    busy, waiting, last = (pool.submit("count", {"seconds": 30.0}) for _ in range(3))
    other = pool.submit("add", {"numbers": [2]}).wait(20.0)
    assert other is not None and other.data == 2
    assert pool.jobs == (busy, waiting, last)
    waiting.cancel()
    assert waiting.result is not None and waiting.result.state == "cancelled"
    busy.cancel()
    assert busy.wait(5.0) is not None
    while last.state == "waiting":
        time.sleep(0.01)
    last.cancel()
    assert last.wait(5.0) is not None


@pytest.mark.filterwarnings("ignore:a note")
@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("fail", "ZeroDivisionError: by zero"),
        ("swallow", "needs more than 600 MiB of memory"),
        pytest.param("crash", "SIGSEGV", marks=pytest.mark.slow),
        pytest.param("grow", "needs more than 600 MiB of memory", marks=pytest.mark.slow),
    ],
)
def test_failed_work_gives_a_sentence_and_the_next_job_works(pool: Pool, kind: str, expected: str) -> None:
    """An unexpected error, one array beyond the ceiling, a crash, memory that grows beyond the ceiling."""
    with pytest.raises(KinemorphError, match=expected):
        pool.ask(kind, {}, 20.0)
    assert pool.ask("add", {"numbers": [1]}, 20.0) == 1


def test_unknown_work_and_data_beyond_json_are_refused(pool: Pool) -> None:
    with pytest.raises(UnsupportedError, match="work 'os:system' is not known"):
        pool.submit("os:system", {})
    with pytest.raises(UnsupportedError, match="cannot be sent to a worker as JSON"):
        pool.submit("add", {"numbers": object()})


def test_a_queue_that_is_full_refuses_work(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "MOST_WAITING", 0)
    with pytest.raises(UnsupportedError, match=r"0 jobs are waiting\. Cancel some"):
        pool.submit("count", {"n": 1})


def test_a_job_that_ends_at_this_moment_can_be_cancelled(pool: Pool) -> None:
    """Its worker is free again, but its result is not there yet."""
    job = Job(10_000, "count", {}, (None, None, None), pool._cancel, pool._tell)
    job.cancel()
    assert job.is_cancelled and job.result is None


def test_a_function_that_follows_a_job_may_fail(pool: Pool) -> None:
    with pytest.warns(UserWarning, match="raised ZeroDivisionError"):
        job = pool.submit("add", {"numbers": [1]}, on_result=lambda result: 1 / 0)  # type: ignore[arg-type]
        assert job.wait(20.0) is not None


def test_pipes_of_a_stopped_pool_are_closed() -> None:
    pool = Pool(1, memory=600 << 20, warm=False)
    (worker,) = pool._workers
    pool.stop()
    pipes = worker.process.stdin, worker.process.stdout, worker.process.stderr
    wait_for(lambda: all(pipe is not None and pipe.closed for pipe in pipes))


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="processes are looked up in /proc")
@pytest.mark.parametrize("end", ["kill", *(pytest.param(end, marks=pytest.mark.slow) for end in ("stop", "exit"))])
def test_no_process_is_left(end: str) -> None:
    """When the pool is stopped, when its process ends without that, and when it is killed; busy workers end too."""
    script = f"""
        import os, signal, sys, time
        from support.studio.chores import CHORES
        from kinemorph.studio.workers.pool import Pool
        pool = Pool(1, warm=False, work=CHORES)
        job = pool.submit("count", {{"seconds": 60.0}})
        while not job.progress:
            time.sleep(0.01)
        print(*pool.processes, flush=True)
        if "{end}" == "stop":
            pool.stop()
            print(job.result.sentence, flush=True)
            os._exit(0)
        if "{end}" == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=60, env=environment
    )
    process, *said = done.stdout.splitlines()
    until = time.perf_counter() + 2.0
    while is_alive(int(process)) and time.perf_counter() < until:
        time.sleep(0.02)
    assert not is_alive(int(process)), done.stderr
    assert said == (["The studio was stopped before this was done."] if end == "stop" else [])
