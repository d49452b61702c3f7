"""The rows of `kinemorph bench hybrid`.

walk      ten steps of the compass beside Drake's `CompassGait`, at an error of 1e-9
impact    plastic impact maps of RABBIT and a humanoid beside Pinocchio's `impulseDynamics`
basin     the basin of attraction of the compass's gait: many starts, 30 steps each, on all cores. On a machine that is
          busy with other work, the CPU time of all threads divided by the number of cores says more than the wall-clock
          time
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from kinemorph.analysis.orbits.basin import FELL, basin
from kinemorph.analysis.orbits.flow_map import return_map
from kinemorph.bench.hybrid.compass_walks import compare_walks
from kinemorph.bench.peers.robots import pinocchio
from kinemorph.bench.targets import judge_basin
from kinemorph.bench.timing import Pace, Row, Say, timed
from kinemorph.codegen.backends.threads import default_threads
from kinemorph.errors import MissingExtraError
from kinemorph.model.library.walkers.straight_legs import compass_walker

SIDE, QUICK_SIDE = 512, 64  # starts along each axis
CYCLES = 30
STARTS = {"q.right": (-0.34, -0.20), "v.left": (-1.35, -0.90)}  # [rad], [rad/s] after a strike


def compare(pace: Pace, *, quick: bool, say: Say, note: Say) -> Iterator[Row]:
    """Yields the rows of walks, of impacts and of the basin."""
    yield from compare_walks(pace, say=say, note=note)
    try:
        pinocchio()
    except MissingExtraError as error:
        note(f"impacts are not compared: {error}")
    else:
        from kinemorph.bench.hybrid.impact_maps import compare_impacts
        from kinemorph.bench.speed.evaluation_times import fastest_library

        yield from compare_impacts(pace, fastest_library(note), quick=quick, say=say)
    say("measuring a basin of attraction")
    yield basin_row(quick=quick)


def basin_row(*, quick: bool) -> Row:
    """The row of the basin; if `quick`, with fewer starts, which are measured and not extrapolated."""
    side = QUICK_SIDE if quick else SIDE
    cycle = return_map(compass_walker())
    grid = {name: np.linspace(*ends, side) for name, ends in STARTS.items()}
    few = {name: values[:: side // 8] for name, values in grid.items()}
    basin(cycle, few, cycles=CYCLES)  # compiles
    began = time.process_time()
    seconds, found = timed(lambda: basin(cycle, grid, cycles=CYCLES), time.perf_counter)
    worked = time.process_time() - began
    return {
        "kind": "basin",
        "robot": "compass_walker",
        "starts": side * side,
        "cycles": CYCLES,
        "cores": default_threads(),
        "walk": found.share(1),
        "fell": found.share(FELL),
        "seconds": seconds,
        "cpu_s": worked,
        **({"target": "", "verdict": ""} if quick else judge_basin(seconds)._asdict()),
    }
