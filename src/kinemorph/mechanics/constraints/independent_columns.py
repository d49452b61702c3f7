"""Columns of a matrix that are linearly independent, found by elimination on plain numbers.

For a constraint Jacobian J (nc, nv) these columns are dependent velocities (the others may be chosen freely); for J.T
they are the constraint rows that do not repeat others; for the transpose of a basis of the motions that constraints
allow, they are velocities that can be prescribed together.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinemorph.algebra.arrays import Array


def independent_columns(
    A: Array,
    order: Sequence[int] | None = None,
    *,
    least: Array | float = 0.0,
    fair: float = 1.0,
    count: int | None = None,
    taken: Sequence[int] = (),
) -> list[int]:
    """The indices of linearly independent columns of A (m, n), in the order in which they are taken.

    Each step takes one column and subtracts its direction from all others; the remainder of a column is its rest.

    `order`   the candidates, by default all columns from left to right
    `least`   a rest of this length or shorter counts as zero: one number, or one per column (n,)
    `fair`    a step takes the first candidate whose rest is at least this share of the longest rest: 1 takes the
              longest (column pivoting), 0 follows `order` strictly
    `count`   the most columns to take, by default min(m, n)
    `taken`   columns to take before all others
    """
    rest, chosen, bounds = A, list(taken), np.broadcast_to(least, A.shape[1:])
    for k in chosen:
        rest = _without(rest, k)
    while len(chosen) < (min(A.shape) if count is None else count):
        sizes = np.linalg.norm(rest, axis=0)
        left = [k for k in (range(A.shape[1]) if order is None else order) if k not in chosen and sizes[k] > bounds[k]]
        if not left:
            break
        longest = max(sizes[k] for k in left)
        chosen.append(next(k for k in left if sizes[k] >= fair * longest))
        rest = _without(rest, chosen[-1])
    return chosen


def _without(rest: Array, k: int) -> Array:
    """All columns of `rest`, with their parts along column k removed."""
    unit = rest[:, k] / np.linalg.norm(rest[:, k])
    for _ in range(2):  # the second time removes the rounding errors of the first
        rest = rest - np.outer(unit, unit @ rest)
    return rest
