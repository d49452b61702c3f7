"""The rows of `kinemorph bench hybrid`.

walk      ten steps of the compass beside Drake's `CompassGait`, at an error of 1e-9
impact    plastic impact maps of RABBIT and a humanoid beside Pinocchio's `impulseDynamics`
basin     the basin of attraction of the compass's gait
"""

from __future__ import annotations

from collections.abc import Iterator

from kinemorph.bench.hybrid.compass_basin import basin_row
from kinemorph.bench.hybrid.compass_walks import compare_walks
from kinemorph.bench.peers.robots import pinocchio
from kinemorph.bench.timing import Pace, Row, Say
from kinemorph.errors import MissingExtraError


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
