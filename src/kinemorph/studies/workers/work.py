"""What a worker does: it computes chunks of items, and answers with arrays or with what went wrong.

`work` is what is submitted to executors. It raises nothing, because some executors break by an
exception that cannot be pickled. The experiment is unpacked once in each process, and known by its digest afterwards.
"""

from __future__ import annotations

import threading
import time
import warnings
from collections import OrderedDict
from typing import Any, Literal, NamedTuple, Protocol

from kinemorph.codegen.work_clock import at_work, seconds_at_work
from kinemorph.errors import KinemorphError, told
from kinemorph.studies.outcomes import Chunk, Outcome
from kinemorph.studies.packing import unpacked

MOST_KNOWN = 4  # experiments that a process keeps
MOST_WARNINGS = 100  # different sentences of warnings that a chunk may return


class Computing(Protocol):
    """What computes a chunk: an experiment."""

    def compute(self, chunk: Chunk) -> Outcome: ...


class Limits(NamedTuple):
    """The limits of a worker: memory [bytes] of its process, and time [s] of one item; None where there is none."""

    memory: int | None = None
    seconds: float | None = None


class Trouble(NamedTuple):
    """Why a chunk has no outcome.

    "unknown"   the worker does not know the experiment yet, and has to be sent its data
    "study"     the worker cannot unpack the experiment; `text` is a sentence, and no worker will do better
    "raised"    the computation raised an exception, which `text` describes
    "died"      the worker has ended, `text` says how: "signal SIGSEGV"
    "memory"    it needed more memory than a worker may use
    "slow"      it took longer than the limit
    """

    kind: Literal["unknown", "study", "raised", "died", "memory", "slow"]
    text: str = ""


_KNOWN: OrderedDict[str, Computing] = OrderedDict()
_COMPUTING = threading.Lock()


def work(digest: str, data: bytes, chunk: Chunk) -> Outcome | Trouble:
    """Computes a chunk by the experiment with this digest; `data` may be empty where it is known.

    While another thread of this process computes, a companion does it: warnings belong to a whole process.
    """
    if not _COMPUTING.acquire(blocking=False):
        from kinemorph.studies.workers.companions import work_apart

        return work_apart(digest, data, chunk)
    try:
        experiment = _known(digest, data)
        return experiment if isinstance(experiment, Trouble) else computed(experiment, chunk)
    finally:
        _COMPUTING.release()


def _known(digest: str, data: bytes) -> Computing | Trouble:
    """The experiment with this digest, unpacked where it is new."""
    if digest not in _KNOWN:
        if not data:
            return Trouble("unknown")
        try:
            with at_work("loading", "the study"):  # imports and scripts do not count as time of items
                _KNOWN[digest] = unpacked(data)
        except (KinemorphError, OSError) as error:
            return Trouble("study", str(error))
        while len(_KNOWN) > MOST_KNOWN:
            _KNOWN.popitem(last=False)
    _KNOWN.move_to_end(digest)
    return _KNOWN[digest]


def computed(experiment: Computing, chunk: Chunk) -> Outcome | Trouble:
    """The outcome of a chunk with the time that it took, without that of compilation, and the warnings of it."""
    began, making, said = time.perf_counter(), seconds_at_work(), dict[str, None]()

    def note(message: Warning | str, *rest: Any, **named: Any) -> None:
        if len(said) < MOST_WARNINGS:
            said[str(message)] = None

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = note
            outcome = experiment.compute(chunk)
    except MemoryError as error:
        return Trouble("memory", str(error))
    except Exception as error:
        return Trouble("raised", str(error) if isinstance(error, KinemorphError) else told(error))
    seconds = max(time.perf_counter() - began - (seconds_at_work() - making), 0.0)
    return outcome._replace(seconds=seconds, warnings=tuple(dict.fromkeys((*outcome.warnings, *said))))
