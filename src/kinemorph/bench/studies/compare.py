"""The rows of `kinemorph bench studies`.

The trivial sweep is measured in wall-clock time, after one small sweep that starts what stays; starting processes and a
cluster counts. The memory is what the calling process needs beyond what it had, at its peak. The gaits are computed by
one worker and by all of them; their compiled code is in the cache.
"""

from __future__ import annotations

import gc
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from types import TracebackType

import numpy as np

from kinemorph.bench.studies.trivial import SWEEPERS, WORKERS, pairs
from kinemorph.bench.targets import judge_study
from kinemorph.bench.timing import Pace, Row, Say
from kinemorph.errors import KinemorphError, MissingExtraError
from kinemorph.model.elements.gaits.gaits import Rhythmic
from kinemorph.model.library.modular import crawler
from kinemorph.model.parameter import Parameter
from kinemorph.model.system import System
from kinemorph.studies.spaces.parts import Range
from kinemorph.studies.spaces.space import Space
from kinemorph.studies.sweeps.sweep import sweep
from kinemorph.studies.workers.memory import resident

GAITS, FEW_GAITS = 10_000, 200
EVERY = 0.02  # [s] between two looks at the memory
UNTIL, STEP = 1.0, 1e-3  # [s]
SWING = 0.5  # [rad], the largest amplitude


class Peak:
    """A context that watches how much memory this process uses: `grown` are the bytes beyond those at its start."""

    def __enter__(self) -> Peak:
        gc.collect()
        self.first = self.most = resident()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._ended.wait(EVERY):
            self.most = max(self.most, resident())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()

    @property
    def grown(self) -> int:
        """Bytes beyond those at the start, at the peak."""
        return self.most - self.first


def compare(pace: Pace, *, quick: bool, say: Say, note: Say) -> Iterator[Row]:
    """Yields the rows: the trivial sweep by every contestant, then the gaits by one worker and by several."""
    best: float | None = None
    found: list[Row] = []
    for name, (function, many, few) in SWEEPERS.items():
        count = few if quick else many
        say(f"{name}: {count:,} items")
        try:
            function(min(few, 20))
            with Peak() as peak:
                began = time.perf_counter()
                values = function(count)
                seconds = time.perf_counter() - began
        except MissingExtraError as missing:
            note(f"without {name}: {missing}")
            continue
        if not np.array_equal(values, np.prod(pairs(count), axis=0)):
            raise KinemorphError(f"{name} returns other values than those of the function.")
        each = seconds / count
        found.append({"kind": "trivial", "contestant": name, "items": count, "us": 1e6 * each, "mb": peak.grown / 1e6})
        if name != "Kinemorph":
            best = each if best is None else min(best, each)
    for row in found:
        ours = row["contestant"] == "Kinemorph"
        row["ratio"] = 1e6 * best / row["us"] if ours and best is not None else None
        yield {**row, **(judge_study(us=row["us"], mb=row["mb"]) if ours else judge_study())._asdict()}
    yield from _gaits(FEW_GAITS if quick else GAITS, say)


# ── gaits of the crawler ──────────────────────────────────────────────────────────────────────────────────────────────


def varied_crawler() -> tuple[System, Space, int]:
    """The crawler with a Parameter for the amplitude and the phase of each hinge, their space, and its dimension."""
    system = crawler()
    (gait,) = (element for element in system.elements if isinstance(element, Rhythmic))
    count = len(gait.joints)
    amplitudes = tuple(Parameter(f"amplitude{k}", 0.3) for k in range(count))
    phases = tuple(Parameter(f"phase{k}", 0.0) for k in range(count))
    varied = replace(gait, amplitude=amplitudes, phases=phases)
    elements = tuple(varied if element is gait else element for element in system.elements)
    parts = {amplitude.name: Range(0.0, SWING) for amplitude in amplitudes}
    parts |= {phase.name: Range(0.0, 2.0 * np.pi) for phase in phases}
    return replace(system, elements=elements), Space(parts, design="random", count=1), 2 * count


def seconds_of(count: int, workers: int) -> float:
    """The wall-clock time [s] of a study of `count` gaits, from the call to the study, processes included."""
    system, space, _ = varied_crawler()
    space = replace(space, count=count)
    began = time.perf_counter()
    study = sweep(system, space, {"x": "q.m0_root.x"}, until=UNTIL, step=STEP, workers=workers)
    assert study.status.done == count
    return time.perf_counter() - began


def _gaits(count: int, say: Say) -> Iterator[Row]:
    """The rows of the gaits: how much more work several workers do than one."""
    seconds_of(16, 1)  # compiles
    taken = {}
    for workers in (1, min(WORKERS, os.cpu_count() or 1)):
        say(f"{count:,} gaits by {workers} worker{'s' * (workers > 1)}")
        taken[workers] = seconds_of(count, workers)
        scaling = taken[1] / taken[workers] if workers > 1 else None
        yield {
            "kind": "gaits",
            "contestant": f"Kinemorph, {workers} worker{'s' * (workers > 1)}",
            "items": count,
            "seconds": taken[workers],
            "ms": 1e3 * taken[workers] / count,
            "scaling": scaling,
            **judge_study(scaling=scaling)._asdict(),
        }
