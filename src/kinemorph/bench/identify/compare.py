"""The rows of `kinemorph bench identify`.

regressor    tau = Y theta of Panda and of a hexapod beside Pinocchio's `computeJointTorqueRegressor`
triangle     a million samples of Panda to triangles, beside Pinocchio's regressors and LAPACK
"""

from __future__ import annotations

from collections.abc import Iterator

from kinemorph.bench.identify.regressors import compare_regressors
from kinemorph.bench.identify.triangles import compare_triangles
from kinemorph.bench.speed.evaluation_times import fastest_library
from kinemorph.bench.timing import Pace, Row, Say


def compare(pace: Pace, *, quick: bool, say: Say, note: Say) -> Iterator[Row]:
    """Yields the rows of regressors, then that of triangles."""
    library = fastest_library(note)
    yield from compare_regressors(pace, library, quick=quick, say=say)
    yield from compare_triangles(pace, library, quick=quick, say=say)
