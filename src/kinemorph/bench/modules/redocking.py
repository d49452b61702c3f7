"""The time from a docking to the first step of the new topology.

The last module of the paper's organism undocks, and ten steps later it docks to another side. The tolerance of the
docking is wide, because the time does not depend on the gap, which is an input of the compiled plant. The time is
measured from the last step of the old plant to the first accepted step of the new one: impact, robot, plant, machine
code, state, step.

    cold    a new process that has made steps of the initial organism, and an empty cache folder
    disk    a new process, and a cache folder that another process has filled
    seen    a topology that this process has built before
"""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from kinemorph.bench.modules.models import organism
from kinemorph.bench.timing import Row, in_process
from kinemorph.errors import KinemorphError
from kinemorph.simulation.docking.changes import Change, Dock, Undock
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.simulation.simulate import simulate

Times = list[list[tuple[float, float]]]  # by run and change: CPU time and wall time [s]
STEP = 1e-3  # [s]
LATER = 1e-9  # [s]; times that differ by less are the same
CHANGES: tuple[Change, ...] = (
    Undock("m8", 5, at=10 * STEP),
    Dock("m5", 3, "m8", 4, at=20 * STEP, distance=10.0, angle=3.0),
)
NAMES = ("undock", "dock")
METHODS = ("rk4", "dop853")
AGAIN = 5  # runs in one process after the first
PROCESSES = 5
SCRIPT = """
import json, sys
from kinemorph.bench.modules.redocking import AGAIN, once
print(json.dumps([once(sys.argv[1]) for _ in range(AGAIN + 1)]))
"""


def changing_run(method: str, **options: Any) -> Trajectory:
    """A run of the organism in free fall in which its last module undocks and docks elsewhere.

    The steps of an adaptive method are limited to the constant step size of the others, so that steps are comparable.
    Raises KinemorphError where the run fails or a change does not happen.
    """
    settings: Row = {"step": STEP} if method == "rk4" else {"max_step": STEP, "rtol": 1e-3, "atol": 1e-3}
    system = organism().system()
    run = simulate(system, 21 * STEP, method=method, output_step=STEP, events=CHANGES, **settings, **options)
    done = [event.kind for event in run.events]
    if run.outcome.kind != "finished" or done != [*NAMES]:
        raise KinemorphError(
            f"bench modules: the events of the run are {done}; expected {[*NAMES]}. {run.outcome.message}"
        )
    return run


def once(method: str) -> list[tuple[float, float]]:
    """(CPU time, wall time) [s] from each change of a run to the first step after it."""
    stamps: list[tuple[float, float, float]] = []

    def stamp(t: float, h: float, events: int) -> None:
        stamps.append((t, time.process_time(), time.perf_counter()))

    changing_run(method, progress=stamp)
    found = []
    for change in CHANGES:
        assert change.at is not None
        before = next(stamp for stamp in stamps if stamp[0] > change.at - LATER)
        after = next(stamp for stamp in stamps if stamp[0] > change.at + LATER)
        found.append((after[1] - before[1], after[2] - before[2]))
    return found


def redocked(method: str, processes: int = PROCESSES) -> list[Row]:
    """One row per change: medians over processes of CPU time and wall time [ms]."""
    taken: dict[str, list[Times]] = {"cold": [], "disk": []}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(processes):
            for runs in taken.values():
                runs.append(json.loads(in_process(SCRIPT, method, Path(folder, str(number)), "docking")))
    rows = []
    for k, name in enumerate(NAMES):
        row: Row = {"change": name, "method": method}
        for j, clock in enumerate(("ms", "wall_ms")):
            for known, runs in taken.items():
                row[f"{known}_{clock}"] = 1e3 * statistics.median(run[0][k][j] for run in runs)
            again = [each[k][j] for runs in taken.values() for run in runs for each in run[1:]]
            row[f"seen_{clock}"] = 1e3 * statistics.median(again)
        rows.append(row)
    return rows
