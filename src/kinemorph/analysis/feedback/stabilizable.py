"""The directions of a linear system that its inputs cannot stabilize, and the states that they consist of."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.words import quoted

SMALL = 1e-9  # of balanced matrices: a direction that is reached less than this is not reached
ROUNDING = 1e-13  # of the largest entry of A: a smaller one is an error of rounding
APART = 1e4  # largest factor by which balancing scales a state
DECAYS = 1e-7  # of the size of A: a pole nearer to the imaginary axis does not decay


def out_of_reach(A: Array, B: Array, keep: Callable[[complex, float], bool] | None = None) -> Array:
    """Directions W (n, k) of ds/dt = A s + B u, orthonormal, along which W^T s moves on its own and does not decay.

    W^T B = 0, and W^T A = F W^T with poles of F that do not decay; of the dual system they are directions that no
    output shows. `keep` chooses other poles of F, as a function of a pole and of the size of A.
    """
    from scipy.linalg import matrix_balance, schur

    n = len(A)
    size = float(np.abs(A).max(initial=0.0)) or 1.0
    whole = np.where(np.abs(A) > ROUNDING * size, A, 0.0)  # balancing would make rounding errors as large as the rest
    scale = np.clip(matrix_balance(whole, permute=False, separate=True)[1][0], 1.0 / APART, APART)
    balanced = whole * scale / scale[:, None]
    inputs = B / scale[:, None]
    sizes = np.linalg.norm(inputs, axis=0)
    reach = _range(inputs[:, sizes > 0.0] / sizes[sizes > 0.0])
    step = balanced / (np.abs(balanced).max(initial=0.0) or 1.0)
    while 0 < reach.shape[1] < n:
        wider = np.hstack([reach, _range(step @ reach - reach @ (reach.T @ step @ reach))])
        if wider.shape[1] == reach.shape[1]:
            break
        reach = np.linalg.qr(wider)[0][:, :n]
    rest = np.linalg.svd(reach, full_matrices=True)[0][:, reach.shape[1] :] if reach.size else np.eye(n)
    W = np.linalg.qr(rest / scale[:, None])[0]
    if not W.size:
        return np.zeros((n, 0))
    chosen = keep or (lambda pole, size: pole.real > -DECAYS * size)
    _, Z, count = schur((W.T @ A @ W).T, sort=lambda re, im=0.0: chosen(complex(re, im), size))
    return np.asarray(W @ Z[:, :count])


def _range(matrix: Array) -> Array:
    """An orthonormal basis of the range of a matrix; directions that are much smaller than 1 are rounding."""
    U, sizes, _ = np.linalg.svd(matrix, full_matrices=False)
    return np.asarray(U[:, sizes > SMALL])


def named(directions: Array, names: Sequence[str]) -> str:
    """The states that take most part in directions (ns, k), quoted."""
    parts = np.linalg.norm(directions, axis=1)
    return quoted([name for name, part in zip(names, parts, strict=True) if part > 0.5 * parts.max()], 12)
