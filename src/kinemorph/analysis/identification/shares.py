"""`data_shares`: how much of each number comes from data, and how much from a prior.

Near a solution both are quadratic: the data have the curvature H_d, the prior H_p. With the prior alone, the variance
of a number t . x is  t^T H_p^-1 t;  with both it is  t^T (H_d + H_p)^-1 t.  The share of the data is the part of the
variance that they remove, a number from 0 (the data say nothing) to 1 (the prior does not matter).
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from kinemorph.algebra.arrays import Array

ROUNDING = 1e-15  # smaller curvatures of the prior, relative to the largest, are rounding errors
FIXED = 1e-24  # relative variance of a number that equalities fix


def data_shares(data: Array, prior: Array, numbers: Array, equalities: Array | None = None) -> Array:
    """The share of the data in each number, shape (k,), from 0 to 1; the rest is that of the prior.

    `data`          rows R (m, n) with H_d = R^T R
    `prior`         the curvature H_p of the prior (n, n), positive definite where the equalities leave motion
    `numbers`       (k, n): the numbers are numbers @ x
    `equalities`    rows A (e, n) that x keeps: A dx = 0. A number that they fix has the share 0
    """
    N = np.eye(data.shape[1]) if equalities is None or not len(equalities) else scipy.linalg.null_space(equalities)
    # unknowns in which the prior has unit curvature
    H = N.T @ prior @ N
    sizes = np.sqrt(np.diag(H))
    curvatures, turned = np.linalg.eigh(H / np.outer(sizes, sizes))
    whitened = N @ (turned / np.sqrt(np.maximum(curvatures, ROUNDING * curvatures[-1])) / sizes[:, None])
    T, W = numbers @ whitened, data @ whitened
    _, values, axes = np.linalg.svd(W, full_matrices=False)
    alone = np.sum(T * T, axis=1)
    # (1 + W^T W)^-1 = 1 - axes^T diag(values^2 / (1 + values^2)) axes
    removed = np.sum((T @ axes.T) ** 2 * (values**2 / (1.0 + values**2)), axis=1)
    loose = alone > FIXED * np.sum(numbers * numbers, axis=1)
    return np.where(loose, np.clip(removed / np.where(loose, alone, 1.0), 0.0, 1.0), 0.0)
