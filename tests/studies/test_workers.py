"""Workers of a study: whoever dies, hangs or takes too much, the others go on and the item is named (VALIDATION 12)."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kinemorph.codegen.work_clock import at_work
from kinemorph.errors import KinemorphError, UnsupportedError
from kinemorph.studies.dispatch.carry_out import carry_out
from kinemorph.studies.dispatch.tally import Tally
from kinemorph.studies.outcomes import Chunk, Outcome
from kinemorph.studies.packing import packed
from kinemorph.studies.workers import child as child_module
from kinemorph.studies.workers import processes as processes_module
from kinemorph.studies.workers import work as work_module
from kinemorph.studies.workers.frames import Frame
from kinemorph.studies.workers.open_workers import open_workers
from kinemorph.studies.workers.processes import Processes, WorkerLost, _Call
from kinemorph.studies.workers.work import Limits, Trouble, computed, work
from support.studies.killed_studies import is_running, wait_for
from support.studies.small_study import MemoryStore, Squares, do, numbered_items

MIB = 1 << 20


def done(
    count: int, experiment: Squares, workers: Any, order: np.ndarray | None = None, **limits: Any
) -> tuple[MemoryStore, Tally]:
    """A study of `count` items; all items that are not named in its causes have their squares."""
    store, (numbers, items) = MemoryStore(), numbered_items(count)
    chosen = np.arange(count) if order is None else order
    with open_workers(workers, **limits) as crew:
        tally = carry_out(experiment, store, numbers[chosen], items.taken(chosen), crew)
    assert store.squares == {k: float(k * k) for k in range(count) if k not in store.causes}
    assert (tally.done, tally.failed) == (len(store.squares), len(store.causes))
    return store, tally


def test_items_that_kill_hang_or_raise_are_named_and_the_others_are_done(capfd: pytest.CaptureFixture[str]) -> None:
    deeds = {637: "kill", 0: "sleep", 5: "raise", 6: "print", 7: "warn", 8: "warn", 20: "read", 21: "quit"}
    store, tally = done(1000, Squares(deeds if sys.platform == "win32" else {**deeds, 22: "fork"}), 2, seconds=0.5)
    assert store.causes.pop(5).startswith("ArithmeticError: no such number (small_study.py, line ")
    assert store.causes.pop(21).startswith("SystemExit: 0 (")
    assert store.causes == {
        637: "It killed its worker (signal SIGKILL) each of the 3 times it was tried alone.",
        0: "It took longer than 0.5 s, the limit for one item.",
    }
    assert tally.lost_chunks < 30 and 4 <= tally.again < 2000
    assert tally.warnings == ("a worker warns",)
    assert "a worker prints" in capfd.readouterr().err


def test_an_item_that_needs_too_much_memory_is_named() -> None:
    store, _ = done(1, Squares({0: "memory"}), 1, memory=128 * MIB)
    assert store.causes == {0: "It needed more memory than 128 MiB, the limit for a worker."}


def test_neither_order_nor_groups_change_results() -> None:
    done(300, Squares(apart=7), 0, np.random.default_rng(1).permutation(300))


def test_a_large_experiment_goes_to_each_worker_once() -> None:
    with open_workers(1) as crew:
        store, (numbers, items) = MemoryStore(), numbered_items(200)
        experiment, sent = Squares(blob=b"x" * (1 << 20)), list[bool]()
        submit = crew.submit
        crew.submit = lambda chunk, **named: sent.append(named["asked"]) or submit(chunk, **named)  # type: ignore
        carry_out(experiment, store, numbers, items, crew)
    assert (
        1 <= sum(sent) <= 2 < len(sent) and len(store.squares) == 200
    )  # two chunks are sent before the worker can ask


def test_a_thread_pool_computes_in_companions_where_threads_meet(tmp_path: Path) -> None:
    log = tmp_path / "computed"
    with ThreadPoolExecutor(2) as pool:
        done(60, Squares({-1: "pause"}, log=str(log)), pool, np.random.default_rng(1).permutation(60))
    processes = {int(line.split()[0]) for line in log.read_text().splitlines()}
    assert os.getpid() in processes and len(processes) == 2


def broken_pool() -> Executor:
    return ProcessPoolExecutor(2, get_context("fork"))


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_a_pool_that_breaks_is_made_anew_where_a_function_makes_it() -> None:
    store, _ = done(40, Squares({17: "kill"}), broken_pool)
    assert store.causes == {17: "It killed its worker (its process ended) each of the 3 times it was tried alone."}


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_a_given_pool_that_breaks_ends_the_study_with_a_sentence_and_keeps_what_arrived() -> None:
    store, (numbers, items) = MemoryStore(), numbered_items(40)
    pool = broken_pool()
    sentence = r"the executor of the study is broken.*workers= a function"
    with pytest.raises(UnsupportedError, match=sentence), open_workers(pool) as crew:
        carry_out(Squares({39: "kill"}), store, numbers, items, crew)
    assert store.squares and 39 not in store.squares
    pool.shutdown()


@pytest.mark.parametrize(
    ("workers", "limits", "sentence"),
    [
        (0, {"seconds": 1.0}, "cannot be kept in the calling process"),
        ("here", {"memory": 1 << 30}, "cannot be kept in the calling process"),
        (-1, {}, "workers is -1; expected a number of processes"),
        (True, {}, "workers is True; expected"),
        ("many", {}, "workers is 'many'; expected"),
        (list, {}, "returned a list; expected a new Executor"),
        (1, {"seconds": 0.0}, "seconds is 0.0; expected"),
        (1, {"seconds": float("nan")}, "seconds is nan; expected"),
        (1, {"memory": 1000}, "memory is 1000; expected"),
    ],
)
def test_what_cannot_be_meant_is_refused(workers: Any, limits: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UnsupportedError, match=sentence), open_workers(workers, **limits):
        pass


def test_workers_that_cannot_start_end_the_study_with_their_words(monkeypatch: pytest.MonkeyPatch) -> None:
    pass_on = child_module._pass_on_words
    monkeypatch.setattr(child_module, "_pass_on_words", lambda child: (time.sleep(0.1), pass_on(child)))  # a busy CPU
    monkeypatch.setattr(processes_module, "PROGRAM", "no_such_program")
    with pytest.raises(UnsupportedError, match=r"cannot be started: (.|\n)*no_such_program"):
        done(10, Squares(), 1)


class _Unwilling(Squares):
    """An experiment that no worker can unpack."""

    def __reduce__(self) -> Any:
        return _fail, ()


def _fail() -> None:
    raise ValueError("not here")


def test_an_experiment_that_cannot_be_unpacked_ends_the_study_and_marks_nothing() -> None:
    store, (numbers, items) = MemoryStore(), numbered_items(10)
    with open_workers(_threads) as crew, pytest.raises(KinemorphError, match=r"cannot unpack the study: .*not here"):
        carry_out(_Unwilling(), store, numbers, items, crew)
    assert not store.causes


def _threads() -> Executor:
    return ThreadPoolExecutor(1)


# ── processes ─────────────────────────────────────────────────────────────────────────────────────────────────────────


OWNER_GONE = """
import os
from kinemorph.studies.workers.child import _end_with_owner
alive, owner = os.pipe()
os.close(owner)
_end_with_owner(alive)
print("it lives on")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")
def test_a_process_whose_owner_ended_while_it_started_ends_at_once() -> None:
    paths = os.pathsep.join(place for place in sys.path if place)
    around = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run([sys.executable, "-c", OWNER_GONE], capture_output=True, text=True, check=True, env=around)
    assert not done.stdout


def test_processes_call_functions_tell_deaths_exactly_and_leave_nothing_behind() -> None:
    with Processes(2, Limits(), idle=0.3) as executor:
        deed = executor.submit(os._exit, 5) if sys.platform == "win32" else executor.submit(do, "orphan")
        fatal, usual = deed, executor.submit(divmod, 17, 5)
        assert usual.result(10) == (3, 2)
        with pytest.raises(WorkerLost) as lost:
            fatal.result(10)
        assert lost.value.trouble == ("died", "exit status 5")
        with pytest.raises(KinemorphError, match="ZeroDivisionError"):
            executor.submit(divmod, 1, 0).result(10)
        (old,) = executor.processes
        assert executor.submit_alone(os.getpid).result(10) != old
        assert wait_for(lambda: not executor.processes)  # the idle one has ended by itself
        assert executor.submit(divmod, 7, 2).result(10) == (3, 1)
        executor.submit(time.sleep, 1000)
        left = executor.processes
        executor.shutdown(cancel_futures=True)
        assert left and not any(map(is_running, left))
        with pytest.raises(RuntimeError, match="after shutdown"):
            executor.submit(divmod, 1, 1)
    assert wait_for(lambda: not any(thread.name.startswith("limits") for thread in threading.enumerate()))


def test_a_process_keeps_the_experiments_that_it_used_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work_module, "_KNOWN", OrderedDict())
    monkeypatch.setattr(work_module, "MOST_KNOWN", 2)
    data = {digest: packed(Squares(apart=k)).data for k, digest in enumerate("abc", 1)}
    chunk = Chunk(*numbered_items(3))
    for digest in "ab":
        assert isinstance(work(digest, data[digest], chunk), Outcome)
    for digest in "ba":
        assert isinstance(work(digest, b"", chunk), Outcome)  # they are known
    assert isinstance(work("c", data["c"], chunk), Outcome)
    assert [isinstance(work(digest, b"", chunk), Outcome) for digest in "cab"] == [True, True, False]
    assert work("b", b"", chunk) == Trouble("unknown")


def test_time_of_compilation_is_no_time_of_an_item(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither in the time by which chunks are measured, nor in that by which a limit ends them."""
    clock = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: clock[0])

    class Compiled(Squares):
        def compute(self, chunk: Chunk) -> Outcome:
            clock[0] += 1.0
            with at_work("compiling", "squares"):
                clock[0] += 30.0
            return super().compute(chunk)

    outcome = computed(Compiled(), Chunk(*numbered_items(3)))
    assert isinstance(outcome, Outcome) and outcome.seconds == 1.0

    call, workers = _Call(b"", False), Processes(1)
    child: Any = SimpleNamespace(job=call, ready=None)
    for now, header in ((10.0, {"making": True}), (40.0, {"making": False}), (42.0, {"making": True})):
        monkeypatch.setattr("time.monotonic", lambda now=now: now)
        workers.take(child, Frame(header, b""))
    call.began = 9.0
    assert [call.seconds(now) for now in (42.0, 100.0)] == [3.0, 3.0]  # it is being compiled again
    monkeypatch.setattr("time.monotonic", lambda: 100.0)
    workers.take(child, Frame({"making": False}, b""))
    assert call.seconds(101.0) == 4.0
