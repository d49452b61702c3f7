"""The table of docking: how long a run stands still when its topology changes.

From the instant of the event to the return of the first march of the new plant, which is done by then: the impact, the
new robot, the state on it, tracing, machine code, steps for 2 ms. By the clock on the wall, in fresh processes:

cold    nothing in the cache of compiled code, the topology is new
disk    the cache has what an earlier process has made
seen    the topology was met before in this process
step    time per step of the docked plant, the offset of the docking an input; `folded`: the same as a number
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kinemorph.bench.targets import judge_docking
from kinemorph.errors import KinemorphError

Row = dict[str, Any]
REPEATS = 5  # fresh processes for each figure
# what is docked in the middle of a run: how many modules there are, and whether a guard waits meanwhile
CASES = {"9 modules": (9, False), "9 modules, ports watched": (9, True), "40 modules": (40, False)}
QUICK = ("9 modules",)


def docking(*, quick: bool = False) -> Iterator[Row]:
    """Times until a run goes on after a docking [ms], one row for each case; medians, and minima."""
    for name in QUICK if quick else CASES:
        yield _row(name, 1 if quick else REPEATS)


def _row(name: str, repeats: int) -> Row:
    count, watched = CASES[name]
    with tempfile.TemporaryDirectory() as folder:
        caches = [Path(folder) / str(number) for number in range(repeats)]
        cold = [_measured(count, watched, cache) for cache in caches]
        disk = [_measured(count, watched, caches[-1]) for _ in range(repeats)]
    taken = {"cold": [found["first"] for found in cold], "disk": [found["first"] for found in disk]}
    taken["seen"] = [found["again"] for found in (*cold, *disk)]
    row: Row = {"case": name, "modules": count, "nv": cold[0]["nv"]}
    for key, seconds in taken.items():
        row |= {f"{key}_ms": 1e3 * statistics.median(seconds), f"{key}_min_ms": 1e3 * min(seconds)}
    for key in ("step", "folded"):
        row[f"{key}_us"] = 1e6 * min(found[key] for found in (*cold, *disk))
    verdict = judge_docking(count, row["cold_ms"], row["seen_ms"])
    return row | {"target": verdict.target, "verdict": verdict.verdict}


def _measured(count: int, watched: bool, cache: Path) -> dict[str, float]:
    """The times of one fresh process [s]."""
    cache.mkdir(mode=0o700, exist_ok=True)
    command = [sys.executable, "-m", "kinemorph.bench.docking_times", str(count), str(int(watched))]
    environment = {**os.environ, "KINEMORPH_CACHE": str(cache)}
    printed = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if printed.returncode:
        raise KinemorphError(f"docking in a process of its own failed: {printed.stderr.strip()[-300:]}")
    found: dict[str, float] = json.loads(printed.stdout)
    return found


def measure(count: int, watched: bool) -> dict[str, float]:
    """Two snakes that dock, part, and dock again: times from the event to the first steps [s]."""
    import time

    from kinemorph.algebra.groups import IDENTITY, Pose
    from kinemorph.model.modules import Assembly, Docking, Module, backbone
    from kinemorph.simulation.docking import Dock, Undock
    from kinemorph.simulation.run import simulate

    kind, middle = backbone(), count // 2
    placed = {0: 0.0, middle: middle * kind.pitch + 0.003}
    modules = tuple(
        Module(f"m{k}", kind, Pose(IDENTITY.R, (placed[k], 0.0, 0.0)) if k in placed else None) for k in range(count)
    )
    joined = (Docking(f"m{k}", 3, f"m{k + 1}", 4) for k in range(count - 1) if k != middle - 1)
    system = Assembly("snakes", modules, tuple(joined)).system(gravity=(0.0, 0.0, 0.0))
    ends = (f"m{middle - 1}", 3, f"m{middle}", 4)
    events: list[Any] = [Dock(*ends, at=0.01), Undock(*ends[:2], at=0.02), Dock(*ends, at=0.03)]
    events += [Dock("m0", 4, f"m{count - 1}", 3)] if watched else []
    stamps: list[tuple[float, float]] = []  # on the wall, in the run

    def stamp(t: float, h: float, so_far: int) -> None:
        stamps.append((time.perf_counter(), t))

    moving = {f"m{middle}_root.vx": -0.01, "m0_hinge": 0.3}
    run = simulate(system, 0.032, v=moving, events=events, sample=0.002, progress=stamp)
    assert [event.kind for event in run.events] == ["dock", "undock", "dock"], run.events

    def standing_still(t: float) -> float:
        there = next(k for k, (_, at) in enumerate(stamps) if at >= t)
        return next(wall for wall, at in stamps[there:] if at > t) - stamps[there][0]

    last = run.segments[-1]
    return {
        "first": standing_still(0.01),
        "again": standing_still(0.03),
        "nv": last.plant.nv,
        "step": _per_step(last.plant, last),
        "folded": _per_step(last.robot, last),
    }


def _per_step(model: Any, last: Any) -> float:
    """Time of one step [s] from the end of a run on."""
    import time

    from kinemorph.plants.robots import plant as as_plant
    from kinemorph.simulation.stepper import Stepper

    plant = as_plant(model, account=True) if model is last.robot else model
    state = {"q": last.q[-1], "v": last.v[-1]}
    stepper = Stepper(plant, **state, p=last.p if len(plant.p) else None, method="dop853", step=1e-4)
    best = float("inf")
    for _ in range(5):
        begun, before = time.perf_counter(), stepper.counts[0]
        stepper.advance(stepper.state.t + 0.1)
        best = min(best, (time.perf_counter() - begun) / (stepper.counts[0] - before))
    return best


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]), sys.argv[2] == "1")))
