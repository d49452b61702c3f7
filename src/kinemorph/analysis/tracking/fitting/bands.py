"""Normal matrices of a whole recording as band matrices, which are factored in one call of LAPACK.

The unknowns are the velocities of one group (m of them), frame after frame. A frame fills an (m, m) block on the
diagonal; smoothness connects a coordinate with itself in the next two frames. Entry (j + d, j) of the matrix is stored
at [d, j] (LAPACK's lower form). Unknowns are scaled by the reach of their velocity, so that all are lengths [m].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.tracking.fitting.marker_problem import Linearized, MarkerProblem
from kinemorph.analysis.tracking.fitting.smoothness import Smoothness
from kinemorph.deriving.marker_functions import Places


class Band(NamedTuple):
    """The scaled normal equations of one group over n frames: `data` and `prior` (width + 1, n m), `right` (n m,).

    `data` comes from the markers and `prior` from smoothness; their sum times the scaled step is `right`.
    """

    data: Array
    prior: Array | None
    right: Array

    @property
    def whole(self) -> Array:
        """The sum of data and prior, a new array."""
        return self.data.copy() if self.prior is None else self.data + self.prior


def band_of(problem: MarkerProblem, group: int, at: Linearized, smooth: Smoothness | None, q: Array) -> Band:
    """The scaled normal equations of one group about the configurations q (n, nq)."""
    own = np.flatnonzero(problem.model.groups.velocities == group)
    n, m = len(q), len(own)
    local = np.full(problem.robot.nv, -1, dtype=np.intp)
    local[own] = np.arange(m)
    reach = problem.model.reach[own]
    inverse = np.divide(1.0, reach, out=np.zeros(m), where=reach > 0.0)
    width = m - 1 if smooth is None else 2 * m + smooth.widest - 1
    mine = np.flatnonzero(problem.model.groups.entries == group)
    rows, columns = local[problem.model.triangle.rows[mine]], local[problem.model.triangle.columns[mine]]
    data = np.zeros((width + 1, n, m))
    data[rows - columns, :, columns] = (at.matrix[:, mine] * inverse[rows] * inverse[columns]).T
    push, prior = at.push[:, own], None
    if smooth is not None:
        added = np.zeros((width + 1, n, m))
        for lag, a, b, values in smooth.entries(q, own):
            added[lag * m + a - b, : n - lag, b] += values * (inverse[a] * inverse[b])[:, None]
        push = push + smooth.push(q)[:, own]
        prior = added.reshape(width + 1, n * m)
    right = (push * inverse).reshape(n * m)
    data[0, :, inverse == 0.0] = 1.0  # velocities that move no marker stay where they are
    return Band(data.reshape(width + 1, n * m), prior, right)


def solved(matrix: Array, right: Array, fixed: Places) -> Array | None:
    """The solution x (N,) of a positive definite band matrix, 0 at the places `fixed`; None if it is not definite.

    `matrix` (width + 1, N) is overwritten.
    """
    from scipy.linalg import LinAlgError, solveh_banded

    right = right.copy()
    for d in range(1, len(matrix)):
        above = fixed[fixed >= d] - d
        matrix[d, above] = 0.0
    matrix[:, fixed] = 0.0
    matrix[0, fixed], right[fixed] = 1.0, 0.0
    try:
        return np.asarray(solveh_banded(matrix, right, lower=True, overwrite_ab=True, check_finite=False))
    except LinAlgError:
        return None


def inverse_band(matrix: Array) -> Array:
    """The entries of the inverse of a positive definite band matrix (width + 1, N) that are inside the band.

    With the Cholesky factor L, entries of a column follow from those of later columns (Takahashi, Fagan & Chen 1973):
    with l = L[j+1:, j] / L[j, j], they are Z[j+1:, j] = -Z[j+1:, j+1:] l and Z[j, j] = 1 / L[j, j]^2 - l . Z[j+1:, j].
    """
    from scipy.linalg import cholesky_banded

    factor = cholesky_banded(matrix, lower=True, check_finite=False)
    width, size = len(matrix) - 1, matrix.shape[1]
    found = np.zeros_like(matrix)
    window = np.zeros((width + 1, width + 1))  # the inverse at rows and columns j ... j + width
    for j in range(size - 1, -1, -1):
        window[1:, 1:] = window[:-1, :-1].copy()
        down = factor[1:, j] / factor[0, j]
        below = -window[1:, 1:] @ down
        window[1:, 0] = window[0, 1:] = below
        window[0, 0] = 1.0 / factor[0, j] ** 2 - down @ below
        found[:, j] = window[:, 0]
    return found
