"""Gauss-Newton steps for parameters that all pieces share, and for the initial state of each piece.

Residuals r of a piece depend on its own initial values by A and on the parameters by B. Of the rows [A B r] of each
measured column only a triangle is kept, so that memory does not grow with the number of samples. Another triangle of
these, divided by the deviations of their columns, eliminates the initial values:

    Q^T [A B r] = [[R_A, R_AB, z_A], [0, R_B, z_B]],       R_B of all pieces together determine the step of parameters
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.identification.information import triangle

UNSEEN = 1e-6  # singular values of scaled columns below this, relative to the largest, are zero
NOTHING = 1e-300


def triangles(r: Array, slopes: Array, initial: int) -> Array:
    """One triangle for each column of a piece, shape (c, d, d), of its rows [A B r] with d = k + 1.

    `r` (n, c) are residuals and `slopes` (n, c, k) their derivatives, of which the last `initial` are A.
    """
    k = slopes.shape[-1]
    rows = np.concatenate([slopes[..., k - initial :], slopes[..., : k - initial], r[..., None]], axis=-1)
    rows = np.moveaxis(rows, 1, 0)
    if rows.shape[1] < k + 1:
        rows = np.concatenate([rows, np.zeros((len(rows), k + 1 - rows.shape[1], k + 1))], axis=1)
    return _reduced(rows)


def _reduced(rows: Any) -> Array:
    """The triangles (..., d, d) of stacks of rows (..., m, d) with m >= d."""
    found: Any = np.linalg.qr(rows, mode="r")  # only R, for any number of axes
    return np.asarray(found)


class Step(NamedTuple):
    """A step of the variables (k,) and of the initial values of all pieces, (pieces, initial).

    `gain` is the decrease of the sum of squares that a linear model expects.
    """

    shared: Array
    own: Array
    gain: float


class Normal(NamedTuple):
    """The linearized least squares of all pieces, with residuals divided by the deviations of their columns.

    `own`       triangles of [A B r] of each piece, shape (pieces, d, d)
    `initial`   the number of initial values of a piece
    """

    own: Array
    initial: int

    def eliminated(self, damping: float = 0.0) -> tuple[Array, Array, Array]:
        """(R (k, k), z (k,), triangles of the pieces): |R dz + z|^2 is the sum of squares but for a constant.

        Initial values are chosen best for every dz; `damping` makes their steps shorter.
        """
        n, d = self.initial, self.own.shape[-1]
        pieces = self.own
        if n and damping:
            sizes = np.sqrt(damping) * np.linalg.norm(self.own[:, :, :n], axis=1)
            more = np.zeros((len(pieces), n, d))
            more[:, np.arange(n), np.arange(n)] = sizes
            pieces = _reduced(np.concatenate([pieces, more], axis=1))
        whole = triangle(pieces[:, n:, n:].reshape(-1, d - n))
        k = d - n - 1
        return whole[:k, :k], whole[:k, k], pieces

    def step(self, damping: float, limits: Array) -> Step:
        """The step of Levenberg and Marquardt with this damping.

        No variable moves by more than its limit, `limits` (k,): where one would, it moves by the limit, and the others
        are chosen best for that.
        """
        R, z, pieces = self.eliminated(damping)
        sizes = np.linalg.norm(R, axis=0)
        sizes = np.where(sizes > NOTHING, sizes, 1.0)
        damped = np.concatenate([R, np.sqrt(damping) * np.diag(sizes)])
        right = np.concatenate([-z, np.zeros(len(z))])
        shared, held = np.zeros(len(z)), np.zeros(len(z), dtype=bool)
        while not held.all():
            rest = right - damped[:, held] @ shared[held]
            shared[~held] = np.linalg.lstsq(damped[:, ~held] / sizes[~held], rest, rcond=UNSEEN)[0] / sizes[~held]
            over = np.abs(shared) > limits
            if not over.any():
                break
            shared[over] = np.sign(shared[over]) * limits[over]
            held |= over
        n = self.initial
        own = np.zeros((len(pieces), n))
        before = after = 0.0
        for k, T in enumerate(pieces):
            right = T[:n, n:-1] @ shared + T[:n, -1]
            if n:
                own[k] = -np.linalg.lstsq(T[:n, :n], right, rcond=1e-12)[0]
            step = np.concatenate([own[k], shared])
            before += float(np.sum(self.own[k, :, -1] ** 2))
            after += float(np.sum((self.own[k, :, :-1] @ step + self.own[k, :, -1]) ** 2))
        return Step(shared, own, before - after)


def normal(found: Sequence[Array], deviations: Array, initial: int) -> Normal:
    """The least squares of pieces whose columns have the triangles `found`, (c, d, d) each, and these deviations."""
    d = found[0].shape[-1]
    rows = np.stack(found) / deviations[None, :, None, None]
    return Normal(_reduced(rows.reshape(len(found), -1, d)), initial)


class Determined(NamedTuple):
    """What the residuals determine of k variables: the inverse of R^T R where it exists, and the directions that are
    left open, shape (open, k), each of length 1 in scaled variables.
    """

    inverse: Array
    open: Array


def without_each(own: Array, initial: int) -> Array:
    """The covariance of variables (k, k) from the changes that leaving out one piece after the other would make.

    Pieces have independent noise, whatever its color within a piece: forces that are measured with noise move a
    simulated robot for longer than any correlation time that its residuals show. `own` are triangles (pieces, d, d) of
    [A B r]; the changes are those of one Gauss-Newton step (Efron & Tibshirani 1993, chapter 11).
    """
    B, r = own[:, initial:, initial:-1], own[:, initial:, -1]
    squares = np.einsum("pij,pik->pjk", B, B)
    changes = [
        determined(scipy.linalg.cholesky(_raised(squares.sum(axis=0) - one))).inverse @ (left.T @ right)
        for one, left, right in zip(squares, B, r, strict=True)
    ]
    moved = np.array(changes)
    count = len(moved)
    found: Array = (count - 1.0) / count * moved.T @ moved
    return found


def _raised(square: Array) -> Array:
    """A symmetric matrix that is positive up to rounding, made positive definite."""
    sizes = np.maximum(np.diag(square), NOTHING)
    return square + 1e-14 * np.diag(sizes)


def determined(R: Array) -> Determined:
    """The inverse of R^T R on the directions that R (k, k) determines, and the others."""
    k = len(R)
    if not k:
        return Determined(np.zeros((0, 0)), np.zeros((0, 0)))
    sizes = np.linalg.norm(R, axis=0)
    seen = sizes > UNSEEN * UNSEEN * sizes.max(initial=NOTHING)
    scale = np.where(seen, sizes, 1.0)
    _, values, axes = scipy.linalg.svd(np.where(seen, R / scale, 0.0))
    kept = values > UNSEEN * values.max(initial=NOTHING)
    half = axes[kept] / values[kept][:, None] / scale
    return Determined(half.T @ half, axes[~kept])
