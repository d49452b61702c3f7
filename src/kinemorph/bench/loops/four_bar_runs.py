"""The rows of `kinemorph bench loops`: forward dynamics, and ten seconds of a four-bar in several simulators.

A run is measured by the gap of the four-bar's loop, the error of its crank, and its time. A closed loop does not make a
run accurate, so each run of a peer is compared with our fastest run that has no larger error of either kind at 100
samples. Errors below `ROUNDING` count as `ROUNDING`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.bench.contestants import Entry, gathered
from kinemorph.bench.loops import entries, four_bar_motion, simulator_entries
from kinemorph.bench.loops.entries import OURS
from kinemorph.bench.loops.forward_dynamics import compare_loops
from kinemorph.bench.speed.evaluation_times import fastest_library
from kinemorph.bench.timing import Pace, Row, Say, take_turns

ROUNDING = {"loop_error": 1e-14, "angle_error": 1e-11}  # [m], [rad]; the second is the accuracy of the reference

PEERS: dict[str, Callable[[], list[Entry]]] = {
    "MuJoCo": simulator_entries.mujoco_entries,
    "Drake": simulator_entries.drake_entries,
    "Exudyn": simulator_entries.exudyn_entries,
}


def compare(pace: Pace, *, quick: bool, say: Say, note: Say) -> Iterator[Row]:
    """Yields the rows of forward dynamics, then the rows of runs."""
    library = fastest_library(note)
    yield from compare_loops(pace, library, quick=quick, say=say)
    yield from compare_runs(pace, library, quick=quick, say=say, note=note)


def compare_runs(pace: Pace, library: Path | None, *, quick: bool, say: Say, note: Say) -> Iterator[Row]:
    """Yields one row per setting of each entry; if `quick`, for the first two settings of each entry."""
    listed = entries.kinemorph_entries() + entries.pinocchio_entries(library) + gathered(PEERS, note)
    wanted = four_bar_motion.reference()
    tried = [(entry, setting) for entry in listed for setting in (entry.settings[:2] if quick else entry.settings)]
    rows = []
    for entry, setting in tried:
        say(f"measuring errors of {entry.contestant}, {entry.method}")
        rows.append(run_row(entry, setting, wanted))
    say("timing runs")
    fewer = Pace(rounds=(pace.rounds + 1) // 2, seconds=pace.seconds)  # some runs take a second
    seconds = take_turns([partial(entry.run, setting) for entry, setting in tried], fewer)
    yield from judged([{**row, "ms": 1e3 * taken} for row, taken in zip(rows, seconds, strict=True)])


def run_row(entry: Entry, setting: float, wanted: Array) -> Row:
    """The row of one run, without its time. `wanted` (n,) are the exact angles of the crank [rad].

    `gaps` [m] and `errors` [rad] are lists with one number per sample.
    """
    motion = entry.read(entry.run(setting))
    gaps, errors = np.abs(motion.gap), np.abs(motion.crank - wanted)
    return {
        "kind": "run",
        "contestant": entry.contestant,
        "method": entry.method,
        "setting": entry.says.format(setting),
        "loop_error": _largest(gaps),
        "angle_error": _largest(errors),
        "peer": entry.contestant != OURS,
        "gaps": [_short(x) for x in gaps],
        "errors": [_short(x) for x in errors],
    }


def _largest(errors: Array) -> float | None:
    return float(errors.max()) if np.isfinite(errors).all() else None


def _short(x: float) -> float | None:
    return float(f"{x:.3g}") if np.isfinite(x) else None


def judged(rows: Sequence[Row]) -> list[Row]:
    """The rows with a comparison: each row of a peer names our fastest run with no larger errors, and has the ratio of
    the peer's time to ours.
    """
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
