"""The rows of `kinemorph bench identify`.

regressor    tau = Y theta of Panda and of a hexapod beside Pinocchio's `computeJointTorqueRegressor`
"""

from __future__ import annotations

from collections.abc import Iterator

from kinemorph.bench.identify.regressors import compare_regressors
from kinemorph.bench.speed.evaluation_times import fastest_library
from kinemorph.bench.timing import Pace, Row, Say


def compare(pace: Pace, *, quick: bool, say: Say, note: Say) -> Iterator[Row]:
    """Yields the rows of regressors."""
    yield from compare_regressors(pace, fastest_library(note), quick=quick, say=say)
