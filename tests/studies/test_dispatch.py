"""Dispatch of a study: sizes of chunks, commits before reports, and losses of executors that stand in for real ones."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import BrokenExecutor, Future
from typing import Any

import numpy as np
import pytest

from kinemorph.errors import KinemorphError
from kinemorph.studies.dispatch import carry_out as carry_out_module
from kinemorph.studies.dispatch.carry_out import carry_out
from kinemorph.studies.dispatch.chunk_queue import MOST, PARTS, TARGET, ChunkQueue, Piece
from kinemorph.studies.dispatch.tally import Tally
from kinemorph.studies.outcomes import Chunk, Outcome
from kinemorph.studies.workers.crew import HereCrew
from kinemorph.studies.workers.open_workers import open_workers
from kinemorph.studies.workers.work import Trouble, computed
from support.studies.small_study import MemoryStore, Squares, numbered_items


def sizes(count: int, pace: float, workers: int = 2, *, batched: bool = False, **options: Any) -> list[int]:
    """The sizes of all chunks of one group whose items take `pace` [s] each; eight of a batch take as long as one."""
    queue, found, rows = ChunkQueue([np.arange(count)], **options), [], []
    while queue:
        piece = queue.next(workers)
        assert piece is not None
        queue.measured(piece, pace * (-(-len(piece.rows) // 8) if batched else len(piece.rows)), batched=batched)
        found.append(len(piece.rows))
        rows.append(piece.rows)
    assert np.concatenate(rows).tolist() == list(range(count))
    return found


def test_chunks_grow_to_a_second_and_shrink_at_the_end_so_that_all_workers_have_work() -> None:
    found = sizes(100_000, 1e-3)
    assert found[0] == 1 and max(found) == TARGET / 1e-3 == 1000
    assert found[found.index(1000) :] == sorted(found[found.index(1000) :], reverse=True)
    assert max(found[-3:]) <= 20  # no worker waits longer than 20 ms for the other one
    assert max(sizes(100, 10.0)) == 1  # items that take ten seconds go one by one
    fast = sizes(1_000_000, 1e-9)
    assert max(fast) == MOST and fast[:4] == [1, 8, 64, 512]  # eight times as many as were measured
    assert max(sizes(100_000, 1e-3, longest=0.4)) * 1e-3 <= 0.1  # far from the limit at which a chunk is ended


def test_slow_items_that_are_computed_side_by_side_fill_a_vector() -> None:
    assert sizes(60, 10.0, batched=True) == [1, 8, 8, 8, 8, 8, 8, 6, 3, 1, 1]  # one by one they would take 600 s
    assert max(sizes(60, 10.0, batched=True, longest=20.0)) == 1  # eight of them might take longer than permitted
    queue = ChunkQueue([np.arange(60)])
    queue.measured(Piece(0, np.arange(1)), 10.0, batched=True)
    queue.divide(Piece(0, np.arange(8)))  # a chunk of eight was lost: its parts come first
    assert [len(queue.next(1).rows) for _ in range(9)] == [1] * 9  # type: ignore[union-attr]


def test_runs_that_are_kept_make_chunks_smaller() -> None:
    queue = ChunkQueue([np.arange(100_000)])
    for _ in range(5):
        piece = queue.next(2)
        assert piece is not None
        queue.measured(piece, 1e-6, len(piece.rows) << 20)  # 1 MiB each
    assert len(piece.rows) == 64


def test_groups_take_turns_until_they_are_measured() -> None:
    queue = ChunkQueue([np.arange(0, 10), np.arange(10, 20)])
    first, second = queue.next(2), queue.next(2)
    assert first is not None and second is not None and (first.group, second.group) == (0, 1)
    queue.measured(second, 1e-6)
    assert queue.next(2).group == 0  # type: ignore[union-attr]
    queue = ChunkQueue([np.arange(1), np.arange(1, 1000)])
    queue.measured(queue.next(1), 1e-9)  # type: ignore[arg-type]
    assert len(queue.next(1).rows) == 64  # type: ignore[union-attr]  # of a group that may be slower
    queue.try_again(Piece(0, np.arange(1), 1))
    assert queue.next(1).losses == 2  # type: ignore[union-attr]


def test_a_lost_chunk_is_divided_until_one_item_is_alone() -> None:
    queue, lost = ChunkQueue([]), 0
    queue.put_back(Piece(0, np.arange(1000)))
    while queue:
        piece = queue.next(1)
        assert piece is not None
        if 637 in piece.rows:
            lost += 1
            if len(piece.rows) == 1:
                break
            queue.divide(piece)
    assert lost == 5 and PARTS == 8  # 1000, 125, 16, 2, 1


class Clock:
    """A clock of which every look takes 10 ms."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        self.now += 0.01
        return self.now


def test_results_are_reported_after_their_commit_which_comes_a_few_times_a_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock()
    monkeypatch.setattr(carry_out_module.time, "monotonic", clock.monotonic)
    monkeypatch.setattr("kinemorph.studies.dispatch.chunk_queue.MOST", 5)
    store, (numbers, items), reports = MemoryStore(), numbered_items(400), list[Tally]()

    def report(tally: Tally) -> None:
        assert len(store.squares) == tally.finished == tally.done
        reports.append(tally)

    with open_workers(0) as crew:
        tally = carry_out(Squares(), store, numbers, items, crew, progress=report)
    assert len(store.sizes) > 60 and len(reports) == len(store.commits) < clock.now / carry_out_module.COMMIT + 2
    assert reports[-1].finished == 400 and tally.seconds_left == 0.0 and not tally.is_interrupted
    assert Tally(10).seconds_left == float("inf") and Tally(10, done=5, seconds=2.0).seconds_left == 2.0


def test_a_store_that_fails_ends_the_study_and_is_not_asked_again() -> None:
    class Full(MemoryStore):
        def record(self, outcomes: Sequence[Outcome]) -> None:
            self.sizes.append(len(outcomes))
            raise OSError("no space left")

    store, (numbers, items) = Full(), numbered_items(100)
    with open_workers(0) as crew, pytest.raises(OSError, match="no space"):
        carry_out(Squares(), store, numbers, items, crew)
    assert len(store.sizes) == 1


def test_ctrl_c_in_an_item_or_in_a_commit_leaves_what_arrived_and_nothing_half(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(Squares):
        def compute(self, chunk: Any) -> Outcome:
            if chunk.numbers[-1] >= 50:
                raise KeyboardInterrupt
            return super().compute(chunk)

    store, (numbers, items) = MemoryStore(), numbered_items(100)
    with open_workers(0) as crew:
        tally = carry_out(Interrupted(), store, numbers, items, crew)
    assert tally.is_interrupted and 0 < tally.done == len(store.squares) < 100

    class Signalled(MemoryStore):
        moment = 0

        def record(self, outcomes: Sequence[Outcome]) -> None:
            if len(self.commits) == self.moment:
                carry_out_module.signal.raise_signal(carry_out_module.signal.SIGINT)
            super().record(outcomes)

    store = Signalled()
    with open_workers(0) as crew:
        tally = carry_out(Squares(), store, numbers, items, crew)
    assert tally.is_interrupted and tally.done == len(store.squares) == 1 and len(store.commits) == 1
    store, store.moment = Signalled(), 1  # the last commit
    monkeypatch.setattr(carry_out_module, "COMMIT", 60.0)
    with open_workers(0) as crew:
        tally = carry_out(Squares(), store, numbers, items, crew)
    assert tally.is_interrupted and tally.done == len(store.squares) == 100 and len(store.commits) == 2
    assert carry_out_module.signal.getsignal(2) is carry_out_module.signal.default_int_handler


class BusyCrew(HereCrew):
    """Workers that take two chunks at a time; at the second one Ctrl-C is pressed, or the first one is cancelled."""

    most_in_flight = 2

    def __init__(self, is_cancelled: bool) -> None:
        super().__init__()
        self.count_of_chunks, self.is_cancelled = 0, is_cancelled

    def submit(self, chunk: Chunk, **named: bool) -> Future[Any]:
        self.count_of_chunks += 1
        if self.count_of_chunks == 2 and not self.is_cancelled:
            raise KeyboardInterrupt
        if self.count_of_chunks == 1 and self.is_cancelled:
            future: Future[Any] = Future()
            future.cancel()
            future.set_running_or_notify_cancel()
            return future
        return super().submit(chunk)


def test_what_is_done_at_ctrl_c_is_recorded_and_what_was_cancelled_is_done_later() -> None:
    store, (numbers, items) = MemoryStore(), numbered_items(10)
    assert carry_out(Squares(), store, numbers, items, BusyCrew(False)).done == 1 == len(store.squares)
    store = MemoryStore()
    assert carry_out(Squares(), store, numbers, items, BusyCrew(True)).done == 10 == len(store.squares)


class FickleCrew(HereCrew):
    """Workers of which one is lost with the guilty item, by an executor that does not say whose fault it was.

    Chunks are computed when the executor is looked at; all of them are lost where the guilty item is among them.
    """

    is_exact, count, most_in_flight = False, 2, 4  # type: ignore[assignment]

    def __init__(self, error: Exception, is_killed: bool, guilty: int = 23, is_forgetful: bool = False) -> None:
        """With `is_forgetful`, workers have to be sent the data of the experiment again for every chunk."""
        self.error, self.is_killed, self.guilty, self.is_forgetful = error, is_killed, guilty, is_forgetful
        self.renewed, self.looks = 0, 0
        self.pending: list[tuple[Chunk, Future[Any]]] = []

    def submit(self, chunk: Chunk, *, asked: bool = False, alone: bool = False) -> Future[Any]:
        future: Future[Any] = Future()
        if self.is_forgetful and not asked:
            future.set_result(Trouble("unknown"))
        else:
            self.pending.append((chunk, future))
        return future

    def check(self) -> None:
        self.looks += 1
        assert self.looks < 1000, "a suspect is tried again without end"
        is_lost = any(self.guilty in chunk.numbers for chunk, _ in self.pending)
        for chunk, future in self.pending:
            if is_lost:
                future.set_exception(self.error)
            else:
                future.set_result(computed(self.experiment, chunk))
        self.pending.clear()

    def trouble_of(self, error: BaseException) -> Trouble | None:
        return Trouble("died", "so it is said") if self.is_killed else None

    def renew(self, why: str) -> None:
        self.renewed += 1


@pytest.mark.parametrize("is_forgetful", [False, True])
@pytest.mark.parametrize(("error", "is_killed"), [(BrokenExecutor("broken"), False), (OSError("killed"), True)])
def test_suspects_are_tried_while_nothing_else_is_at_work(
    error: Exception, is_killed: bool, is_forgetful: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(carry_out_module, "HEARTBEAT", 0.001)
    said = "so it is said" if is_killed else "its process ended"
    for guilty, tries in ((23, 3), (2, 1)):  # the second one is in flight beside others that are alone in their chunks
        monkeypatch.setitem(carry_out_module.TRIES, "died", tries)
        store, (numbers, items) = MemoryStore(), numbered_items(100)
        crew = FickleCrew(error, is_killed, guilty, is_forgetful)
        tally = carry_out(Squares(), store, numbers, items, crew)
        assert store.causes == {guilty: f"It killed its worker ({said}) each of the {tries} times it was tried alone."}
        assert tally.done == 99 and bool(crew.renewed) != is_killed


def test_an_executor_that_raises_something_else_ends_the_study_and_marks_nothing() -> None:
    store, (numbers, items) = MemoryStore(), numbered_items(200)
    with pytest.raises(KinemorphError, match="cannot take chunks of the study: TypeError: cannot pickle"):
        carry_out(Squares(), store, numbers, items, FickleCrew(TypeError("cannot pickle this"), False))
    assert not store.causes and 0 not in store.causes and len(store.squares) >= 1
