"""A four-bar for ten seconds, by everybody: how far its loop opens, how wrong its crank is, and how long that takes.

Holding a loop is not being right, and being fast is neither. So each run is judged by both errors at 100 samples, and
for each run of a peer the table has our fastest run that is no worse in either: no peer should be as accurate and as
fast. Errors below `ROUNDING` count as that: they are what is left when numbers are subtracted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.bench.loops import four_bar_motion, peers, simulators
from kinemorph.bench.loops.simulators import OURS, LoopWay
from kinemorph.bench.loops.speed import compare_loops
from kinemorph.bench.peers.pinocchio_cpp import Say
from kinemorph.bench.speed.speed import fastest_library
from kinemorph.bench.tables import Row
from kinemorph.bench.timing import Pace, take_turns
from kinemorph.errors import MissingExtraError

ROUNDING = {"loop_error": 1e-14, "angle_error": 1e-11}  # [m], [rad]: the second is what the reference is good for

PEERS: dict[str, Callable[[], list[LoopWay]]] = {
    "MuJoCo": peers.mujoco_ways,
    "Drake": peers.drake_ways,
    "Exudyn": peers.exudyn_ways,
}


def compare(pace: Pace, *, quick: bool, say: Say, note: Say) -> Iterator[Row]:
    """The rows of speed, then those of runs."""
    library = fastest_library(note)
    yield from compare_loops(pace, library, quick=quick, say=say)
    yield from compare_runs(pace, library, quick=quick, say=say, note=note)


def compare_runs(pace: Pace, library: Path | None, *, quick: bool, say: Say, note: Say) -> Iterator[Row]:
    """One row for each setting of each way of everybody. `quick`: the first two settings of each."""
    ways = simulators.kinemorph_ways() + simulators.pinocchio_ways(library)
    for name, make in PEERS.items():
        try:
            ways += make()
        except MissingExtraError as error:
            note(f"{name} takes no part: {error}")
    wanted = four_bar_motion.reference()
    tried = [(way, setting) for way in ways for setting in (way.settings[:2] if quick else way.settings)]
    rows = []
    for way, setting in tried:
        say(f"errors of {way.contestant}, {way.method}")
        rows.append(run_row(way, setting, wanted))
    say("timing runs")
    fewer = Pace(rounds=(pace.rounds + 1) // 2, seconds=pace.seconds)  # some take a second each
    seconds = take_turns([partial(way.run, setting) for way, setting in tried], fewer)
    yield from judged([{**row, "ms": 1e3 * taken} for row, taken in zip(rows, seconds, strict=True)])


def run_row(way: LoopWay, setting: float, wanted: Array) -> Row:
    """The errors of one run, without its time. `gaps` [m] and `errors` [rad] are at the samples."""
    motion = way.read(way.run(setting))
    gaps, errors = np.abs(motion.gap), np.abs(motion.crank - wanted)
    return {
        "kind": "run",
        "contestant": way.contestant,
        "method": way.method,
        "setting": way.says.format(setting),
        "loop_error": _largest(gaps),
        "angle_error": _largest(errors),
        "peer": way.contestant != OURS,
        "gaps": [_short(x) for x in gaps],
        "errors": [_short(x) for x in errors],
    }


def _largest(errors: Array) -> float | None:
    return float(errors.max()) if np.isfinite(errors).all() else None


def _short(x: float) -> float | None:
    return float(f"{x:.3g}") if np.isfinite(x) else None


def judged(rows: Sequence[Row]) -> list[Row]:
    """The rows, each of a peer with our fastest run that is no worse in either error, and how many times it takes."""
    ours = [row for row in rows if not row["peer"]]
    found = []
    for row in rows:
        best: Any = None
        if row["peer"]:
            good = [mine for mine in ours if all(_size(mine, key) <= _size(row, key) for key in ROUNDING)]
            best = min(good, key=lambda mine: float(mine["ms"]), default=None)
        found.append(
            {
                **row,
                "ours": f"{best['method']}, {best['setting']}" if best else None,
                "ours_ms": best["ms"] if best else None,
                "ratio": row["ms"] / best["ms"] if best else None,
            }
        )
    return found


def _size(row: Row, key: str) -> float:
    return float("inf") if row[key] is None else max(float(row[key]), ROUNDING[key])
