"""`bifurcation_diagram`: where a motion settles, for many values of a parameter at once.

Every value of the parameter has its own run, from the same start; after a transient the returns are recorded. A motion
that repeats leaves as many points as it has cycles, a chaotic one leaves many. A walker falls from most starts: a
motion that is lost starts again from where the motion of the nearest value settled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.orbits.flow_map import as_map
from kinemorph.analysis.orbits.return_map import ReturnMap, Steps, edges_of, named_values, place_of
from kinemorph.analysis.small_motions.linearize import Model
from kinemorph.errors import ShapeError, UnsupportedError
from kinemorph.sheet import Field, Note, Sheet, Table, Text, hidden, said
from kinemorph.shown import ShownOrbits
from kinemorph.words import counted

SAME = 1e-4  # returns that differ by less than this, relative to their size, are the same on a sheet
REPEATS = Field("", "repeats after", form="sentence")


@dataclass(frozen=True, eq=False, repr=False)
class BifurcationDiagram(ShownOrbits):
    """The returns of a motion after transients, for B values of a parameter. Made by `bifurcation_diagram`.

    `values` (B,)           the values of the parameter
    `z` (B, keep, n)        coordinates at the last `keep` returns; NaN where the motion does not return
    `messages`              by the index of a value: why the motion does not return
    """

    map: ReturnMap
    parameter: str
    values: Array
    z: Array
    messages: Mapping[int, str]

    def __repr__(self) -> str:
        lost = f", {len(self.messages)} do not return" if self.messages else ""
        count = counted(len(self.values), "value")
        return f"<BifurcationDiagram of '{self.map.name}': {count} of '{self.parameter}'{lost}>"

    def sheet(self) -> Sheet:
        """The ranges of values whose motions repeat after equally many cycles, and why motions are lost."""
        counts = self.periods(SAME)
        spans = []
        for count, group in groupby(range(len(counts)), counts.__getitem__):
            first, *others = group
            spans.append((self.values[first], self.values[[first, *others][-1]], 1 + len(others), _repeating(count)))
        columns = (Field("", "from", form=6), Field("", "to", form=6), Field("", "values"), REPEATS)
        each = zip(self.values, counts, self.z, strict=True)
        values = [
            {"value": value, "cycles": count, "z": [] if count < 0 else z, "message": self.messages.get(k, "")}
            for k, (value, count, z) in enumerate(each)
        ]
        names = [column.name for column in self.map.columns]
        return Sheet(
            "Bifurcation diagram of",
            self.map.name,
            (
                hidden(parameter=self.parameter, coordinates=names, edges=edges_of(self.map), values=values),
                Table("", columns, spans, said("Values of {name}", name=self.parameter)),
                *(
                    Note(said("{n} value is lost: {why}", "{n} values are lost: {why}", n=n, why=why), "warning")
                    for why, n in Counter(self.messages.values()).most_common(1)
                ),
            ),
        )

    def __getitem__(self, name: str) -> Array:
        """One coordinate at the recorded returns, shape (B, keep)."""
        found: Array = self.z[:, :, place_of(self.map.columns, name, "coordinate")]
        return found

    def periods(self, tolerance: float = 1e-6) -> npt.NDArray[np.int64]:
        """The number of cycles after which the motion repeats, shape (B,); 0 where it does not, -1 where it is lost.

        At most half of the recorded returns are compared. `tolerance` is relative to the size of each coordinate.
        """
        return repeats(self.z, tolerance)


def _repeating(cycles: int) -> Text:
    return {0: "does not repeat", -1: "lost"}.get(cycles) or said("{n} cycle", "{n} cycles", n=int(cycles))


def repeats(z: Array, tolerance: float) -> npt.NDArray[np.int64]:
    """The number of cycles after which returns z (B, keep, n) repeat; 0 for none up to keep / 2, -1 for NaN."""
    found = np.zeros(len(z), dtype=np.int64)
    size = np.maximum(1e-3, np.abs(z).max(axis=1))
    for k in range(z.shape[1] // 2, 0, -1):
        with np.errstate(invalid="ignore"):
            same = (np.abs(z[:, k:] - z[:, :-k]) <= tolerance * size[:, None, :]).all(axis=(1, 2))
        found[same] = k
    found[~np.isfinite(z).all(axis=(1, 2))] = -1
    return found


def bifurcation_diagram(
    model: Model | ReturnMap,
    parameter: str,
    values: Any,
    *,
    z: Any = None,
    p: Any = None,
    transient: int = 200,
    keep: int = 64,
    rounds: int = 30,
    threads: int | None = None,
    progress: Steps | None = None,
    **motion: Any,
) -> BifurcationDiagram:
    """Where a motion settles for each of many values of a parameter, all of them simulated at once.

    `model`         a robot, system or plant, or a return map
    `parameter`     the name of a parameter, and its `values` (B,)
    `z`             coordinates (n,) where all motions start, by name or in order; or an array (B, n)
    `p`             values of the other parameters, by name or in order
    `transient`     cycles before returns are recorded; `keep` is the number of recorded returns
    `rounds`        how often values whose motions are lost start again, each from the last return of the nearest value
                    whose motion is not lost; 0 starts all motions at `z` only
    `threads`       the number of threads that share the work; by default as many as there are CPUs
    `progress`      a function progress(done, all), with numbers of values
    `**motion`      for a robot, system or plant, the arguments of `return_map`, such as `period` or `section`
    """
    cycle = as_map(model, p, motion, "bifurcation_diagram", rtol=1e-8, atol=1e-10).varying([parameter])
    chosen = np.asarray(values, dtype=float)
    if chosen.ndim != 1 or not len(chosen) or not np.isfinite(chosen).all():
        raise ShapeError(f"values has shape {chosen.shape}; expected (B,), finite values of '{parameter}'.")
    if transient < 0 or keep < 1:
        raise UnsupportedError(f"transient is {transient} and keep {keep}; expected at least 0 cycles and 1 return.")
    rows = np.tile(named_values(cycle.parameters, cycle.p, p, "parameter"), (len(chosen), 1))
    rows[:, place_of(cycle.parameters, parameter, "parameter")] = chosen
    if np.ndim(z) == 2:
        starts = np.asarray(z, dtype=float)
        if starts.shape != (len(chosen), len(cycle.columns)):
            raise ShapeError(f"z has shape {starts.shape}; expected ({len(chosen)}, {len(cycle.columns)}).")
    else:
        starts = np.tile(named_values(cycle.columns, cycle.start, z, "coordinate"), (len(chosen), 1))
    found = cycle.many(starts, rows, transient + keep, keep, threads=threads, progress=progress)
    z, messages = found.z, dict(found.messages)
    used = np.full(len(chosen), -1)  # by value, the index of the value from whose motion it started
    for _ in range(rounds):
        settled = np.array([k for k in range(len(chosen)) if k not in messages], dtype=np.intp)
        lost = np.array(sorted(messages), dtype=np.intp)
        if not len(settled) or not len(lost):
            break
        near = settled[np.abs(chosen[lost, None] - chosen[settled]).argmin(axis=1)]
        lost, near = lost[near != used[lost]], near[near != used[lost]]
        if not len(lost):
            break
        used[lost] = near
        again = cycle.many(z[near, -1], rows[lost], transient + keep, keep, threads=threads)
        z[lost] = again.z
        for k, number in enumerate(lost.tolist()):
            messages.pop(number)
            if k in again.messages:
                messages[number] = again.messages[k]
    return BifurcationDiagram(cycle, parameter, chosen, z, messages)
