"""A convex problem: least squares and log-det terms, under equalities and linear matrix inequalities.

    minimize    1/2 |R x - z|^2  +  sum over blocks of  w (tr B(x) - log det B(x))
    such that   A x = b,    every block B(x) = sum_i x_i B_i  is positive (semi)definite

Blocks are small symmetric matrices, linear in x: pseudo-inertias of bodies (4, 4), numbers that are not negative
(1, 1), and conditions on centers of mass. A block with w > 0 is pulled to the identity and stays definite; one with
w = 0 is a constraint only. A block *owns* its unknowns where they are the entries of B themselves (`entries_of`); no
unknown has two owners.

The solution has multipliers y of the equalities and S of the constraints, positive semidefinite, with

    R^T (R x - z) + sum w <1 - B^-1, B_i> + A^T y - sum <S, B_i> = 0,     A x = b,     S B = 0

How far these hold is the residual that every solver is measured by.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import scipy.linalg

from kinemorph.algebra.arrays import Array

ROOT2 = float(np.sqrt(2.0))


@dataclass(frozen=True, eq=False)
class Block:
    """A symmetric matrix (s, s) that is linear in the unknowns and has to be positive (semi)definite.

    `name`        what messages call it, such as "body 'forearm'"
    `places`      the indices of its c unknowns
    `matrices`    (c, s, s): B = sum over the unknowns of x[places[i]] matrices[i]
    `owns`        whether its unknowns are `entries_of` B, so that any B is possible
    `weight`      w of its log-det term; 0 for a constraint only
    """

    name: str
    places: tuple[int, ...]
    matrices: Array
    owns: bool = False
    weight: float = 0.0

    @property
    def size(self) -> int:
        """The number of rows of the matrix."""
        return int(self.matrices.shape[-1])

    def value(self, x: Array) -> Array:
        """B at the unknowns x (n,)."""
        found: Array = np.einsum("i,ijk->jk", x[list(self.places)], self.matrices)
        return found

    def log_rows(self, x: Array) -> Array:
        """Rows K (s (s + 1) / 2, n) of log det B at x: its slope is  K^T entries_of(1),  its curvature  -K^T K."""
        found = np.zeros((self.size * (self.size + 1) // 2, len(x)))
        found[:, list(self.places)] = entries_of(self.turned(x)).T
        return found

    def turned(self, x: Array) -> Array:
        """The matrices W = L^-1 dB L^-T (c, s, s) for a unit of each unknown, with the Cholesky factor L of B at x."""
        inverse = np.linalg.inv(np.linalg.cholesky(self.value(x)))
        found: Array = inverse @ self.matrices @ inverse.T
        return found


@dataclass(frozen=True, eq=False)
class ConvexProblem:
    """The data of the problem: R (m, n), z (m,), A (e, n), b (e,) and the blocks; see above."""

    R: Array
    z: Array
    A: Array
    b: Array
    blocks: tuple[Block, ...]

    @property
    def n(self) -> int:
        """The number of unknowns."""
        return int(self.R.shape[1])

    @property
    def pulled(self) -> tuple[Block, ...]:
        """The blocks with log-det terms."""
        return tuple(block for block in self.blocks if block.weight > 0.0)

    @property
    def bounded(self) -> tuple[Block, ...]:
        """The blocks that are constraints only."""
        return tuple(block for block in self.blocks if block.weight == 0.0)


@dataclass(frozen=True, eq=False)
class Solution:
    """What a solver found: x (n,), the multipliers of the equalities (e,), and those of the constraints.

    `forces` are the multipliers S (s, s) of the blocks `ConvexProblem.bounded`, in their order. `iterations` counts the
    steps, `note` is empty or says why the solver ended early.
    """

    x: Array
    multipliers: Array
    forces: tuple[Array, ...]
    iterations: int
    note: str = ""


def residual(problem: ConvexProblem, solution: Solution) -> float:
    """How far the conditions of a solution are from being satisfied, in the size of x.

    It is the largest of: the Newton step that the slope, with all multipliers, asks for; the errors of the equalities;
    negative eigenvalues of blocks and of their multipliers; and the products of multipliers and blocks. Multipliers are
    relative to the least weight.
    """
    x = solution.x
    size = min((block.weight for block in problem.pulled), default=1.0)
    worst = [float(np.abs(problem.A @ x - problem.b).max(initial=0.0))]
    worst += [-float(np.linalg.eigvalsh(block.value(x))[0]) for block in problem.blocks]
    if any(np.linalg.eigvalsh(block.value(x))[0] <= 0.0 for block in problem.pulled) or not np.all(np.isfinite(x)):
        return np.inf
    slope = problem.A.T @ solution.multipliers
    for block, S in zip(problem.bounded, solution.forces, strict=True):
        slope[list(block.places)] -= np.einsum("ijk,jk->i", block.matrices, S)
        worst += [-float(np.linalg.eigvalsh(S)[0]) / size, abs(float(np.sum(S * block.value(x)))) / size]
    rows, right = [problem.R], [problem.z - problem.R @ x]
    for block in problem.pulled:
        slope[list(block.places)] += block.weight * np.einsum("ijj->i", block.matrices)
        rows.append(np.sqrt(block.weight) * block.log_rows(x))
        right.append(np.sqrt(block.weight) * entries_of(np.eye(block.size)))
    step = newton_step(np.concatenate(rows), np.concatenate(right), slope)[0]
    return max(0.0, *worst, float(np.abs(step).max(initial=0.0)))


def newton_step(M: Array, r: Array, slope: Array) -> tuple[Array, float]:
    """The minimizer d of  1/2 |M d - r|^2 + slope . d  and the decrease, twice, from d = 0, without squaring M."""
    n = M.shape[1]
    whole = scipy.linalg.qr(np.column_stack([M, r]), mode="r", check_finite=False)[0]
    T = whole[:n, :n]
    c = whole[:n, n] - scipy.linalg.solve_triangular(T, slope, trans="T", check_finite=False)
    return scipy.linalg.solve_triangular(T, c, check_finite=False), float(c @ c)


# ── symmetric matrices as vectors ─────────────────────────────────────────────────────────────────────────────────────


@cache
def entry_places(size: int) -> tuple[Array, Array, Array]:
    """(rows, columns, factors) of the entries of the upper triangle, column by column; factors are 1 or sqrt(2)."""
    places = [(i, j) for j in range(size) for i in range(j + 1)]
    rows, columns = np.array(places).T
    return rows, columns, np.where(rows == columns, 1.0, ROOT2)


def entries_of(B: Array) -> Array:
    """The s (s + 1) / 2 entries of symmetric matrices (..., s, s); their norm is that of the matrix."""
    rows, columns, factors = entry_places(B.shape[-1])
    found: Array = B[..., rows, columns] * factors
    return found


def from_entries(entries: Array, size: int) -> Array:
    """The symmetric matrix (size, size) that `entries_of` gives these entries."""
    rows, columns, factors = entry_places(size)
    B = np.zeros((size, size))
    B[rows, columns] = B[columns, rows] = entries / factors
    return B


@cache
def unit_matrices(size: int) -> Array:
    """The matrices (s (s + 1) / 2, s, s) of a block that owns its unknowns."""
    return np.array([from_entries(unit, size) for unit in np.eye(size * (size + 1) // 2)])
