"""The results of a chunk while it is computed: measures by name, states, causes of failures and kept runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.simulation.files import npz
from kinemorph.simulation.files.run_record import record_of
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.studies.items import Indices
from kinemorph.studies.outcomes import Chunk, Outcome, State


class Collected:
    """Results of n items, by their places 0, ..., n - 1 in the chunk."""

    def __init__(self, chunk: Chunk, names: Iterable[str]) -> None:
        self.chunk = chunk
        self.values: dict[str, Array] = {name: self._empty() for name in names}
        self.declared = bool(self.values)
        self.causes: dict[int, str] = {}
        self.runs: dict[int, bytes] = {}
        self.batched = False  # whether machine code computed the items side by side

    def _empty(self) -> Array:
        return np.full(len(self.chunk.numbers), np.nan)

    def column(self, name: str) -> Array:
        """The values (n,) of a measure, to be written to; NaN for items without a value."""
        if name not in self.values:
            self.values[name] = self._empty()
        return self.values[name]

    def fail(self, k: int, cause: str) -> None:
        """Item k failed for this cause, a sentence."""
        self.causes[k] = cause

    def wants_run(self, k: int) -> bool:
        """Whether the run of item k is to be kept."""
        return self.chunk.keep == "all" or (self.chunk.keep == "failed" and k in self.causes)

    def keep(self, k: int, run: Trajectory) -> None:
        """Keeps the run of item k as the bytes of an .npz file. How a batch was cut into calls is not part of it."""
        record = record_of(run)
        record.meta["statistics"]["calls"] = 0
        self.runs[k] = npz.encode(record)

    def outcome(self, seconds: float, warned: Sequence[str]) -> Outcome:
        """All results. Where the user did not name the measures, they are in alphabetical order."""
        names = tuple(self.values) if self.declared else tuple(sorted(self.values))
        numbers = self.chunk.numbers
        states = np.full(len(numbers), int(State.DONE), dtype=np.int8)
        failed = sorted(self.causes)
        states[failed] = int(State.FAILED)
        measures = np.stack([self.values[name] for name in names], axis=1) if names else np.empty((len(numbers), 0))
        measures[failed] = np.nan
        causes = {int(numbers[k]): self.causes[k] for k in failed}
        runs = {int(numbers[k]): self.runs[k] for k in sorted(self.runs)}
        sentences = tuple(dict.fromkeys(warned))
        return Outcome(numbers, names, measures, states, causes, runs, seconds, sentences, self.batched)


class Places(NamedTuple):
    """Where m items of a chunk, which are computed together, put their results: item k at place `indices[k]`."""

    collected: Collected
    indices: Indices

    def taken(self, rows: Any) -> Places:
        """The places of some of the items, by indices or a slice."""
        return Places(self.collected, self.indices[rows])

    def write(self, name: str, rows: Any, values: Any) -> None:
        """Writes the values of a measure for some of the items, or for one."""
        self.collected.column(name)[self.indices[rows]] = values

    def fail(self, k: int, cause: str) -> None:
        """Item k of these failed for this cause, a sentence."""
        self.collected.fail(int(self.indices[k]), cause)

    def has_failed(self, k: int) -> bool:
        """Whether item k of these has failed."""
        return int(self.indices[k]) in self.collected.causes

    def wants_run(self, k: int) -> bool:
        """Whether the run of item k of these is to be kept."""
        return self.collected.wants_run(int(self.indices[k]))

    def keep(self, k: int, run: Trajectory) -> None:
        """Keeps the run of item k of these."""
        self.collected.keep(int(self.indices[k]), run)
