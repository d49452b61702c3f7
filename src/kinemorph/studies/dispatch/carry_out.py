"""Carries out a study: sends chunks of its items to workers, and records their outcomes.

Results are recorded after they have arrived, at most a few times a second, and reported after that. A chunk whose
worker ends is divided until the guilty item is alone; an item that ends its worker each time it is tried alone is
marked as failed with that cause, and the study continues. Ctrl-C ends the study after outcomes that have arrived are
recorded.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

import numpy as np

from kinemorph.errors import KinemorphError, told
from kinemorph.studies.dispatch.chunk_queue import ChunkQueue, Piece
from kinemorph.studies.dispatch.tally import Progress, Tally
from kinemorph.studies.items import Indices, Items
from kinemorph.studies.outcomes import Chunk, Outcome, RunsKept, State, failed_outcome
from kinemorph.studies.workers.crew import Crew, Packable
from kinemorph.studies.workers.processes import Raised, WorkerLost
from kinemorph.studies.workers.work import Limits, Trouble

COMMIT = 0.2  # [s] between two commits, at least
HEARTBEAT = 0.5  # [s] of waiting after which the workers are looked at
# how often an item is tried alone before it is called guilty: a busy machine, or one that runs out of memory, may end
# the worker of an innocent item
TRIES = {"died": 3, "memory": 2, "slow": 2, "raised": 1}
MOST_WARNINGS = 100


class GroupedWork(Packable, Protocol):
    """What is done with each item, and which items share a program: an experiment."""

    def groups(self, items: Items) -> Sequence[Indices]: ...


class Recorder(Protocol):
    """Keeps outcomes, such as a store: `record` returns when they are kept."""

    def record(self, outcomes: Sequence[Outcome]) -> Any: ...


def carry_out(
    experiment: GroupedWork,
    recorder: Recorder,
    numbers: Indices,
    items: Items,
    crew: Crew,
    *,
    keep: RunsKept = "none",
    progress: Progress | None = None,
    what: str = "items",
) -> Tally:
    """Computes n items, which have the `numbers` (n,) in their store, and records their outcomes.

    `progress` is called after commits with a Tally, which counts `what`. Raises KinemorphError where the workers cannot
    continue, and errors of the recorder; outcomes that have arrived are recorded before.
    """
    return _Campaign(experiment, recorder, numbers, items, crew, keep, progress, Tally(len(numbers), what=what)).run()


class _Flight(NamedTuple):
    """A piece on its way.

    `asked`     whether the data of the experiment are with it, because a worker has asked for them
    `alone`     whether nothing else is in flight
    """

    piece: Piece
    asked: bool
    alone: bool


class _Campaign:
    """A study under way."""

    def __init__(
        self,
        experiment: GroupedWork,
        recorder: Recorder,
        numbers: Indices,
        items: Items,
        crew: Crew,
        keep: RunsKept,
        progress: Progress | None,
        tally: Tally,
    ) -> None:
        self.recorder, self.numbers, self.items, self.crew = recorder, numbers, items, crew
        self.keep, self.progress, self.tally = keep, progress, tally
        crew.begin(experiment)
        self.queue = ChunkQueue(experiment.groups(items), crew.limits.seconds)
        self.flying: dict[Future[Any], _Flight] = {}
        self.arrived: list[Outcome] = []
        self.began = time.monotonic()
        self.committed = 0.0  # when the last commit ended [s]
        self.warnings: dict[str, None] = {}
        self.is_committing = self.is_asked_to_end = False

    def run(self) -> Tally:
        """Computes until every item has a result, or until Ctrl-C; what has arrived is recorded in any case."""
        with self._interrupts():
            try:
                while self.queue or self.flying:
                    self._send()
                    self._take_in()
                    self._commit()
            except KeyboardInterrupt:
                self.tally = self.tally._replace(is_interrupted=True)
                self._take_in(0.0)
            finally:
                for future in self.flying:
                    future.cancel()
                self._commit(at_once=True)
        is_interrupted = self.tally.is_interrupted or self.is_asked_to_end  # the latter during the last commit
        return self.tally._replace(seconds=time.monotonic() - self.began, is_interrupted=is_interrupted)

    # ── chunks on their way ───────────────────────────────────────────────────────────────────────────────────────

    def _send(self) -> None:
        """Sends chunks until each worker has enough; a suspect is sent when nothing else is at work."""
        most, workers = self.crew.most_in_flight, self.crew.count
        while len(self.flying) < most:
            if self.queue.suspects:
                if not self.flying:
                    self._submit(self.queue.suspects.popleft(), alone=True)
                return
            piece = self.queue.next(workers)
            if piece is None:
                return
            self._submit(piece)

    def _submit(self, piece: Piece, *, asked: bool = False, alone: bool = False) -> None:
        """Sends the chunk of a piece to the workers."""
        chunk = Chunk(self.numbers[piece.rows], self.items.taken(piece.rows), self.keep)
        try:
            future = self.crew.submit(chunk, asked=asked, alone=piece.losses > 0)
        except BrokenExecutor as error:
            future = Future()
            future.set_exception(error)
        self.flying[future] = _Flight(piece, asked, alone)

    def _take_in(self, patience: float | None = None) -> None:
        """Waits for chunks, for `patience` [s] at most, and takes in those that are done or lost."""
        patience = HEARTBEAT if patience is None else patience
        if self.arrived:
            patience = max(min(patience, self.committed + COMMIT - time.monotonic()), 0.0)
        wait(self.flying, patience, FIRST_COMPLETED)
        done = [future for future in self.flying if future.done()]
        if not done:
            self.crew.check()
        broken: BaseException | None = None
        for future in done:
            flight = self.flying.pop(future)
            try:
                self._take(flight, future.result())
            except BrokenExecutor as error:
                broken = error
                self._suspect(flight)
            except CancelledError:
                self.crew.check()
                self.queue.put_back(flight.piece)
            except WorkerLost as error:
                self._lose(flight.piece, error.trouble)
            except Raised as error:
                self._lose(flight.piece, Trouble("raised", str(error)))
            except KinemorphError:
                raise
            except Exception as error:
                trouble = self.crew.trouble_of(error)
                if trouble is None:  # `work` itself raises nothing
                    raise KinemorphError(f"the workers cannot take chunks of the study: {told(error)}.") from error
                self._lose(flight.piece, trouble, is_certain=flight.alone)
        if broken is not None:  # whatever else was in flight is lost as well
            for flight in self.flying.values():
                self._suspect(flight)
            self.flying.clear()
            self.crew.renew(str(broken) or type(broken).__name__)

    def _take(self, flight: _Flight, answer: Outcome | Trouble) -> None:
        """Takes in the answer of a worker."""
        if isinstance(answer, Outcome):
            kept = sum(map(len, answer.runs.values()))
            self.queue.measured(flight.piece, answer.seconds, kept, batched=answer.batched)
            self.arrived.append(answer)
            for text in answer.warnings[: MOST_WARNINGS - len(self.warnings)]:
                self.warnings[text] = None
        elif answer.kind == "unknown" and not flight.asked:
            self._submit(flight.piece, asked=True, alone=flight.alone)
        elif answer.kind in ("unknown", "study"):
            raise KinemorphError(answer.text or "A worker does not keep the experiment that it was sent.")
        else:
            self._lose(flight.piece, answer)

    # ── losses ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _suspect(self, flight: _Flight) -> None:
        """Takes in that a piece was in flight when an executor broke, perhaps by another one."""
        if flight.alone:
            self._lose(flight.piece, Trouble("died", "its process ended"))
        else:
            self._count_loss(flight.piece)
            self.queue.suspects.append(flight.piece)

    def _lose(self, piece: Piece, trouble: Trouble, *, is_certain: bool = True) -> None:
        """Takes in that a piece has no outcome; `is_certain` where the reason is its own."""
        self._count_loss(piece)
        suspected = not self.crew.is_exact and trouble.kind == "died"
        if len(piece.rows) > 1:
            self.queue.divide(piece, suspected=suspected and is_certain)
        elif not is_certain:
            self.queue.suspects.append(piece)
        elif piece.losses + 1 < TRIES[trouble.kind]:
            self.queue.try_again(piece, suspected=suspected)
        else:
            chunk = Chunk(self.numbers[piece.rows], self.items.taken(piece.rows))
            self.arrived.append(failed_outcome(chunk, _cause(trouble, self.crew.limits)))

    def _count_loss(self, piece: Piece) -> None:
        chunks, again = self.tally.lost_chunks + 1, self.tally.again + len(piece.rows)
        self.tally = self.tally._replace(lost_chunks=chunks, again=again)

    # ── the store ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _commit(self, *, at_once: bool = False) -> None:
        """Records what has arrived, if it is time to; reports it afterwards."""
        now = time.monotonic()
        if not self.arrived or not (at_once or now - self.committed >= COMMIT):
            return
        self.is_committing = True
        try:
            outcomes, self.arrived = self.arrived, []
            self.recorder.record(outcomes)
        finally:
            self.is_committing = False
        self.committed = time.monotonic()
        done = sum(int(np.count_nonzero(outcome.states == State.DONE)) for outcome in outcomes)
        failed = sum(len(outcome.states) for outcome in outcomes) - done
        self.tally = self.tally._replace(
            done=self.tally.done + done,
            failed=self.tally.failed + failed,
            seconds=self.committed - self.began,
            warnings=tuple(self.warnings),
        )
        if self.progress is not None:
            self.progress(self.tally)
        if self.is_asked_to_end and not at_once:
            raise KeyboardInterrupt

    @contextmanager
    def _interrupts(self) -> Iterator[None]:
        """A context in which Ctrl-C waits for the end of a commit."""
        usual = signal.default_int_handler
        if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is not usual:
            yield
            return

        def interrupt(number: int, frame: Any) -> None:
            if self.is_committing:
                self.is_asked_to_end = True
            else:
                usual(number, frame)

        signal.signal(signal.SIGINT, interrupt)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, usual)


def _cause(trouble: Trouble, limits: Limits) -> str:
    """Why an item failed, as a sentence."""
    if trouble.kind == "slow":
        return f"It took longer than {limits.seconds:g} s, the limit for one item."
    if trouble.kind == "memory":
        most = f" than {limits.memory / 2**20:,.0f} MiB, the limit for a worker" if limits.memory else " than there is"
        return f"It needed more memory{most}."
    if trouble.kind == "died":
        return f"It killed its worker ({trouble.text}) each of the {TRIES['died']} times it was tried alone."
    return f"{trouble.text.rstrip('.')}."
