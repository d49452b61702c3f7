"""Covariances of estimates whose residuals are coloured: neighboring samples have similar errors.

Least squares with independent residuals has the covariance A^-1, A = sum of y_t y_t^T / deviation^2. Residuals of
recordings are not independent: unmodeled friction, flexible gears and filters leave errors that last. Then

    cov = A^-1 S A^-1,      S = sum over t and u of  w(t - u) s_t s_u^T,      s_t = Y_t^T r_t / deviation^2,

with the scores s_t of the samples and Bartlett's weights  w = 1 - |t - u| / L  (Newey & West 1987). This sum is that of
the outer products of all moving sums of L scores, divided by L. So it needs L scores at a time, and is never negative.
L is ten times the correlation time of the residuals, which is the sum of their autocorrelations up to the first lag
that is five times as long as that sum (Sokal 1997). Forces of several channels at one time are one score: their
residuals may depend on each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import scipy.linalg

from kinemorph.algebra.arrays import Array

LAGS = 10.0  # correlation times that scores are summed over
WINDOW = 5.0  # correlation times up to which autocorrelations are added
ROUNDING = 1e-10  # singular values that are smaller, relative to the largest, are zero
SHARE = 0.1  # the longest sums, as a share of a recording


def correlation_time(residuals: Array) -> float:
    """The correlation time of residuals, shape (n,), in samples: 1 for independent ones.

    1 + 2 (rho_1 + ... + rho_m), with the first m >= WINDOW times this sum; rho are autocorrelations.
    """
    n = len(residuals)
    x = residuals - residuals.mean() if n else residuals
    power = float(x @ x)
    if n < 4 or power == 0.0:
        return 1.0
    size = 1 << (2 * n - 1).bit_length()
    spectrum = np.fft.rfft(x, size)
    rho = np.fft.irfft(spectrum * spectrum.conj(), size)[: n // 2] / power
    sums = 2.0 * np.cumsum(rho) - 1.0
    enough = np.flatnonzero(np.arange(len(sums)) >= WINDOW * sums)
    return max(1.0, float(sums[enough[0]] if len(enough) else sums[-1]))


class MovingSums:
    """The sum of outer products of moving sums of scores that arrive in blocks; one for each recording.

    `length` L is the number of scores in a sum; `size` the number of parameters.
    """

    def __init__(self, size: int, length: int) -> None:
        self._length = length
        self._last = np.zeros((length, size))  # the last scores, zeros before the first
        self._total = np.zeros((size, size))

    def add(self, scores: Array) -> None:
        """Adds scores, shape (b, size)."""
        whole = np.concatenate([self._last, scores])
        sums = np.cumsum(whole, axis=0)
        moving = sums[self._length :] - sums[: -self._length]
        self._total += moving.T @ moving
        self._last = whole[-self._length :]

    def value(self) -> Array:
        """S, shape (size, size)."""
        if self._length > 1:
            self.add(np.zeros((self._length - 1, self._last.shape[1])))
        return self._total / self._length


def lengths(times: Sequence[float], samples: Sequence[int]) -> list[int]:
    """L of each recording, for the longest correlation time of its channels, shape (recordings,) each."""
    found = []
    for time, count in zip(times, samples, strict=True):
        wanted = 1 if time < 1.5 else int(np.ceil(LAGS * time))
        found.append(max(1, min(wanted, int(SHARE * count))))
    return found


def score_sums(recordings: Iterable[tuple[int, Iterable[Array]]], size: int) -> Array:
    """S of several recordings: (L, blocks of scores) of each."""
    found = np.zeros((size, size))
    for length, blocks in recordings:
        sums = MovingSums(size, length)
        for scores in blocks:
            sums.add(scores)
        found += sums.value()
    return found


def sandwich(rows: Array, S: Array, D: Array) -> Array:
    """The covariance  A^-1 S A^-1,  A = rows^T rows,  shape (n, n), for rows (m, n) and S (n, n).

    It is computed in unknowns in which D^T D is the identity, for a regular D. Directions that no row sees have no
    variance.
    """
    T = np.linalg.qr(D)[1]
    _, values, axes = np.linalg.svd(scipy.linalg.solve_triangular(T, rows.T, trans="T").T, full_matrices=False)
    kept = values > ROUNDING * values.max(initial=0.0)
    M = scipy.linalg.solve_triangular(T, axes[kept].T) / values[kept]
    half = M @ (M.T @ _root(S))
    found: Array = half @ half.T
    return found


def _root(S: Array) -> Array:
    """A matrix whose square with its transpose is the positive semidefinite S (n, n)."""
    sizes = np.sqrt(np.maximum(np.diag(S), 0.0))
    sizes = np.where(sizes > 0.0, sizes, 1.0)
    values, axes = np.linalg.eigh(S / np.outer(sizes, sizes))
    found: Array = sizes[:, None] * axes * np.sqrt(np.maximum(values, 0.0))
    return found
