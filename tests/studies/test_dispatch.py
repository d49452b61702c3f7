"""Dispatch of a study: sizes of chunks, commits before reports, and losses of executors that stand in for real ones."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from typing import Any

import numpy as np
import pytest
from support.small_study import MemoryStore, Squares, numbered_items

from kinemorph.errors import KinemorphError
from kinemorph.studies.dispatch import carry_out as carry_out_module
from kinemorph.studies.dispatch.carry_out import carry_out
from kinemorph.studies.dispatch.chunk_queue import MOST, PARTS, TARGET, ChunkQueue, Piece
from kinemorph.studies.dispatch.tally import Tally
from kinemorph.studies.outcomes import Outcome
from kinemorph.studies.workers.crew import HereCrew
from kinemorph.studies.workers.open_workers import open_workers
from kinemorph.studies.workers.work import Trouble


def sizes(count: int, pace: float, workers: int = 2, **options: Any) -> list[int]:
    """The sizes of all chunks of one group whose items take `pace` [s] each."""
    queue, found, rows = ChunkQueue([np.arange(count)], **options), [], []
    while queue:
        piece = queue.next(workers)
        assert piece is not None
        queue.measured(piece, pace * len(piece.rows))
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
    assert max(sizes(1_000_000, 1e-9)) == MOST
    assert max(sizes(100_000, 1e-3, longest=0.4)) * 1e-3 <= 0.1  # far from the limit at which a chunk is ended


def test_groups_take_turns_until_they_are_measured() -> None:
    queue = ChunkQueue([np.arange(0, 10), np.arange(10, 20)])
    first, second = queue.next(2), queue.next(2)
    assert first is not None and second is not None and (first.group, second.group) == (0, 1)
    queue.measured(second, 1e-6)
    assert queue.next(2).group == 0  # type: ignore[union-attr]


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
        def record(self, outcomes: Sequence[Outcome]) -> None:
            carry_out_module.signal.raise_signal(carry_out_module.signal.SIGINT)
            super().record(outcomes)

    store = Signalled()
    with open_workers(0) as crew:
        tally = carry_out(Squares(), store, numbers, items, crew)
    assert tally.is_interrupted and tally.done == len(store.squares) == 1 and len(store.commits) == 1
    assert carry_out_module.signal.getsignal(2) is carry_out_module.signal.default_int_handler


class Fickle(Executor):
    """An executor that does as a plan says: an exception for a chunk, by how many are in flight and the items."""

    def __init__(self, crew: FickleCrew) -> None:
        self.crew = crew

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        chunk = args[1]
        if 23 in chunk.numbers:
            self.crew.met += 1
            future.set_exception(self.crew.error)
        else:
            future.set_result(fn(*args))
        return future


class FickleCrew(HereCrew):
    """Workers of which one is lost with item 23, as an executor tells it that does not say whose fault it was."""

    is_exact, count, most_in_flight = False, 2, 4  # type: ignore[assignment]

    def __init__(self, error: Exception, is_killed: bool) -> None:
        self.executor, self.error, self.is_killed, self.renewed, self.met = Fickle(self), error, is_killed, 0, 0

    def trouble_of(self, error: BaseException) -> Trouble | None:
        return Trouble("died", "so it is said") if self.is_killed else None

    def renew(self, why: str) -> None:
        self.renewed += 1


@pytest.mark.parametrize(("error", "is_killed"), [(BrokenExecutor("broken"), False), (OSError("killed"), True)])
def test_suspects_are_tried_while_nothing_else_is_at_work(error: Exception, is_killed: bool) -> None:
    store, (numbers, items), crew = MemoryStore(), numbered_items(200), FickleCrew(error, is_killed)
    tally = carry_out(Squares(), store, numbers, items, crew)
    said = "so it is said" if is_killed else "its process ended"
    assert store.causes == {23: f"It killed its worker ({said}) each of the 3 times it was tried alone."}
    assert tally.done == 199 and crew.renewed == (0 if is_killed else crew.met)


def test_an_executor_that_raises_something_else_ends_the_study_and_marks_nothing() -> None:
    store, (numbers, items) = MemoryStore(), numbered_items(200)
    with pytest.raises(KinemorphError, match="cannot take chunks of the study: TypeError: cannot pickle"):
        carry_out(Squares(), store, numbers, items, FickleCrew(TypeError("cannot pickle this"), False))
    assert not store.causes and 0 not in store.causes and len(store.squares) >= 1
