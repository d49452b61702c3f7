"""The block of a linear complementarity problem: forces that push and never pull, where something may open.

    w = A z + b,      w >= 0,      z >= 0,      z_i w_i = 0 for every i

Either a force z_i acts and its gap w_i stays closed, or the gap opens and no force acts. Lemke's algorithm solves it by
pivots of a table, as the simplex algorithm does (Cottle, Pang and Stone, The Linear Complementarity Problem, 1992,
chapter 4.4). It finds a solution where A is positive semidefinite or copositive and one exists: contacts without
friction, contacts in Coulomb's polyhedral cones, and redundant contacts, where only w is unique.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from kinemorph.frozen import dataclass
from kinemorph.vocabulary.blocks import Array, Block, stacked

LEAST_PIVOT = 1e-9  # a smaller entry of the scaled table counts as zero: nothing is divided by it
TIE = 1e-12  # ratios that differ by less are equal, and the next column decides
REFINEMENTS = 2  # how often rounding errors of the pivots are removed at the end


def most_pivots(n: int) -> int:
    """After so many pivots a problem of n unknowns counts as unsolved; most problems take fewer than 2 n."""
    return 10 * n + 50


@dataclass(frozen=True, eq=False)
class Complementarity(Block):
    """The solution z, shape (n,), of  w = A z + b,  w >= 0,  z >= 0,  z . w = 0  for any A, shape (n, n).

    Takes A row by row, then b; returns z, then the status as a number: 1 where the problem is solved, 0 where Lemke's
    algorithm ends on a ray or after `most_pivots`; z is NaN there. A ray means that there is no solution if A is
    positive semidefinite. Ties are resolved by lexicographic order, so that degenerate problems do not cycle.
    """

    n: int

    @property
    def n_in(self) -> int:
        return self.n * (self.n + 1)

    @property
    def n_out(self) -> int:
        return self.n + 1

    @cached_property
    def key(self) -> str:
        return f"complementarity {self.n}x{self.n}"

    @property
    def cost(self) -> int:
        return 2 * self.n * self.n * (2 * self.n + 2)  # n pivots of the table

    def meaning(self, *args: Any) -> tuple[Any, ...]:
        n = self.n
        entries = stacked(args)
        states = len(entries)
        A, b = entries[:, : n * n].reshape(states, n, n), entries[:, n * n :]
        with np.errstate(all="ignore"):
            rows, columns, size = _scales(A, b)
            A, b = rows[:, :, None] * A * columns[:, None], rows * b / size[:, None]
            table, basis, solved = _lemke(A, b)
            z = _refined(A, b, table, basis) * columns * size[:, None]
            z += 0.0 * np.sum(entries**2, axis=1)[:, None]  # z is NaN where an entry is not finite
            z = np.where(solved[:, None], z, np.nan)
        return (*z.T, 1.0 * solved)


def _scales(A: Array, b: Array) -> tuple[Array, Array, Array]:
    """Factors of the rows (s, n) and columns (s, n) that make the largest entry of each 1, and the size of b (s,)."""

    def inverse(largest: Array) -> Array:
        return np.where(largest > 0.0, 1.0 / largest, 1.0)

    rows = inverse(np.abs(A).max(axis=2))
    columns = inverse((rows[:, :, None] * np.abs(A)).max(axis=1))
    size = np.abs(rows * b).max(axis=1)
    return rows, columns, np.where(size > 0.0, size, 1.0)


def _lemke(A: Array, b: Array) -> tuple[Array, Any, Any]:
    """(table (s, n, 2n + 2), basis (s, n), solved (s,)) after Lemke's pivots.

    The table has the columns [w, z, z0, right side] of  w - A z - z0 = b.  The unknown z0 makes b feasible; it enters
    first, and the problem is solved when it leaves.
    """
    states, n = b.shape
    each = np.arange(states)
    identity = np.broadcast_to(np.eye(n), A.shape)
    table = np.concatenate([identity, -A, np.full((states, n, 1), -1.0), b[:, :, None]], axis=2)
    basis = np.tile(np.arange(n), (states, 1))
    entering = np.full(states, 2 * n)
    going: Any = (b < 0.0).any(axis=1)
    solved: Any = (b >= 0.0).all(axis=1)
    for step in range(most_pivots(n)):
        if not going.any():
            break
        column = table[each, :, entering] if step else np.ones((states, n))
        tied = (column > LEAST_PIVOT) & going[:, None]
        going = tied.any(axis=1)
        for key in (2 * n + 1, *range(n)):  # the right side, then the columns of the inverse of the basis
            ratio = np.where(tied, table[:, :, key] / column, np.inf)
            least = ratio.min(axis=1)[:, None]
            tied &= ratio <= least + TIE * (1.0 + np.abs(least))
            if key == 2 * n + 1:  # z0 leaves as soon as it can
                ends = tied & (basis == 2 * n)
                tied = np.where(ends.any(axis=1)[:, None], ends, tied)
        row = np.argmax(tied, axis=1)
        leaving = basis[each, row]
        pivot_row = table[each, row]
        pivot_row = pivot_row / pivot_row[each, entering][:, None]
        after = table - table[each, :, entering][:, :, None] * pivot_row[:, None]
        after[each, row] = pivot_row
        table = np.where(going[:, None, None], after, table)
        basis[each[going], row[going]] = entering[going]
        done = going & (leaving == 2 * n)
        solved |= done
        going &= ~done
        entering = np.where(leaving < n, leaving + n, leaving - n)
        entering = np.where(going, entering, 0)
    return table, basis, solved


def _refined(A: Array, b: Array, table: Array, basis: Any) -> Array:
    """z (s, n) of a basis: its unknowns x satisfy B x = b. The first n columns of the table are the inverse of B."""
    states, n = b.shape
    each = np.arange(states)[:, None]
    columns = np.concatenate([np.broadcast_to(np.eye(n), A.shape), -A, np.full((states, n, 1), -1.0)], axis=2)
    B = np.swapaxes(columns, 1, 2)[each, basis]  # (s, place in the basis, row)
    x = table[:, :, -1]
    for _ in range(REFINEMENTS):
        x = x + np.einsum("sij,sj->si", table[:, :, :n], b - np.einsum("sij,si->sj", B, x))
    found = np.zeros((states, 2 * n + 1))
    found[each, basis] = x
    return np.maximum(found[:, n : 2 * n], 0.0)
