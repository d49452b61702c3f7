"""What travels between a study and its workers: chunks of items, and their outcomes as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.frozen import dataclass
from kinemorph.studies.items import Indices, Items

RunsKept = Literal["none", "failed", "all"]


@dataclass(frozen=True)
class BestRuns:
    """A rule that says which runs are kept: the runs of the best items.

    `best`      how many runs are kept
    `of`        the measure by which items are compared
    `largest`   whether large values of the measure are good; by default small ones are
    """

    best: int
    of: str
    largest: bool = False


class State(IntEnum):
    """The state of an item that has a result; other items are waiting."""

    DONE = 1
    FAILED = 2  # its cause is a sentence


class Chunk(NamedTuple):
    """Some items that are computed together by one worker.

    `numbers` (n,) are the numbers of the items in their store. `keep` says of which items the worker returns runs.
    """

    numbers: Indices
    items: Items
    keep: RunsKept = "none"

    def taken(self, chosen: slice) -> Chunk:
        """A part of the chunk."""
        return Chunk(self.numbers[chosen], self.items.taken(chosen), self.keep)


class Outcome(NamedTuple):
    """The results of some items.

    `numbers` (n,)          the numbers of the items in their store
    `names`                 the names of the k measures
    `measures` (n, k)       NaN for items that failed
    `states` (n,)           a State for each item
    `causes`                why items failed, by number
    `runs`                  kept runs as the bytes of .npz files, by number
    `seconds`               the time that the worker needed [s]
    `warnings`              sentences that the worker's warnings said, without repetitions
    `batched`               whether machine code computed the items side by side
    """

    numbers: Indices
    names: tuple[str, ...]
    measures: Array
    states: npt.NDArray[np.int8]
    causes: Mapping[int, str]
    runs: Mapping[int, bytes]
    seconds: float
    warnings: tuple[str, ...] = ()
    batched: bool = False


def failed_outcome(chunk: Chunk, cause: str) -> Outcome:
    """The outcome of a chunk all of whose items failed for the same cause, such as the death of their worker."""
    count = len(chunk.numbers)
    return Outcome(
        chunk.numbers,
        (),
        np.empty((count, 0)),
        np.full(count, int(State.FAILED), dtype=np.int8),
        {int(number): cause for number in chunk.numbers},
        {},
        0.0,
    )
