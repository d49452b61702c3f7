"""`Moments`: sums of recordings and of simulated runs, which instrumental variables need; see `instrumental`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.identification.recording import Recording

FLAT = 1e-12  # eigenvalues of Z^T W Z that are smaller, relative to the largest, are zero


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums over all samples of recordings and of simulated runs, for each channel; k base parameters, n unknowns.

    `recordings`    the simulated runs as recordings, one for each measured one
    `base`          P, shape (n, k): columns of base parameters are Y P
    `ZZ`, `ZY`      sums of Z^T Z (channels, k, k) and of Z^T Y (channels, k, n)
    `Zy`            sums of Z^T y, shape (channels, k)
    """

    recordings: tuple[Recording, ...]
    base: Array
    ZZ: Array
    ZY: Array
    Zy: Array

    def weighted(self, deviations: Array) -> tuple[Array, Array, float]:
        """(R (n, n), z (n,), 0): the estimate minimizes |R theta - z|^2; the last rows of R are zero."""
        W = np.asarray(deviations, dtype=float) ** -2.0
        n = self.ZY.shape[-1]
        half = self._inverse_root(W)
        R, z = np.zeros((n, n)), np.zeros(n)
        R[: len(half)] = half @ np.tensordot(W, self.ZY, 1)
        z[: len(half)] = half @ np.tensordot(W, self.Zy, 1)
        return R, z, 0.0

    def scores_of(self, deviations: Array) -> Array:
        """M (n, n): the scores of samples are the rows of Z, times weighted residuals, times M."""
        W = np.asarray(deviations, dtype=float) ** -2.0
        half = self._inverse_root(W)
        found: Array = self.base @ half.T @ half @ np.tensordot(W, self.ZY, 1)
        return found

    def _inverse_root(self, W: Array) -> Array:
        """L^-1, shape (seen, k), up to a rotation; directions that no run shows are left out."""
        square = np.tensordot(W, self.ZZ, 1)
        sizes = np.sqrt(np.maximum(np.diag(square), 1e-300))
        values, axes = np.linalg.eigh(square / np.outer(sizes, sizes))
        kept = values > FLAT * values.max(initial=0.0)
        found: Array = (axes[:, kept] / np.sqrt(values[kept])).T / sizes
        return found
