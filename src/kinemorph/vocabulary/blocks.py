"""The block vocabulary: operations on whole arrays, which would take too many scalar ops.

A block is an op with fixed data (sizes, knots, a tolerance). It takes `n_in` numbers and gives `n_out` numbers:

    Solve           X with A X = B for a symmetric positive definite A
    LeastSquares    X = pinv(A) B, the least-squares solution of least norm, and the rank of A
    Table           a piecewise polynomial of one number: splines, terrain, measured curves

`meaning` is its definition over a batch of NumPy arrays, without warnings and without exceptions: a singular matrix
gives infinities or NaN as IEEE arithmetic does. Blocks compare and hash by `key`, a text of all their data.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.frozen import dataclass

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Item:
    """Entry `index` of the value of a block: what stands in the graph for one number of its result."""

    index: int

    @property
    def label(self) -> str:
        """Its name in printed programs."""
        return f"item {self.index}"


@dataclass(frozen=True, eq=False)
class Block:
    """An operation on arrays. Subclasses are final."""

    @property
    def n_in(self) -> int:
        """How many numbers it takes."""
        raise TypeError(f"{type(self).__name__} does not say how many numbers it takes; define `n_in`")

    @property
    def n_out(self) -> int:
        """How many numbers it gives."""
        raise TypeError(f"{type(self).__name__} does not say how many numbers it gives; define `n_out`")

    @cached_property
    def key(self) -> str:
        """A text of all fixed data: blocks with equal keys compute the same."""
        raise TypeError(f"{type(self).__name__} has no key; define `key`")

    @property
    def label(self) -> str:
        """A short name for printed programs."""
        return self.key

    @property
    def cost(self) -> int:
        """Its weight in flops."""
        raise TypeError(f"{type(self).__name__} does not say what it costs; define `cost`")

    def meaning(self, *args: Any) -> tuple[Any, ...]:
        """Its value on floats or on a batch of arrays, shape (n,) or (1,) each."""
        raise TypeError(f"{type(self).__name__} does not say what it computes; define `meaning`")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Block) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


@dataclass(frozen=True, eq=False)
class Solve(Block):
    """X, shape (n, k), with A X = B for a symmetric positive definite A, shape (n, n).

    Takes the lower triangle of A row by row, then B row by row; gives X row by row. It is computed by elimination
    without pivoting, which is safe for such matrices; where A is not positive definite, do not trust the result.
    """

    n: int
    k: int = 1

    @property
    def n_in(self) -> int:
        return self.n * (self.n + 1) // 2 + self.n * self.k

    @property
    def n_out(self) -> int:
        return self.n * self.k

    @cached_property
    def key(self) -> str:
        return f"solve {self.n}x{self.n}, {self.k} right"

    @property
    def cost(self) -> int:
        return self.n**3 // 3 + 2 * self.n**2 * self.k

    def meaning(self, *args: Any) -> tuple[Any, ...]:
        n, k = self.n, self.k
        entries = _stacked(args)
        A = np.empty((len(entries), n, n))
        below = np.tril_indices(n)
        A[:, below[0], below[1]] = A[:, below[1], below[0]] = entries[:, : len(below[0])]
        X = entries[:, len(below[0]) :].reshape(-1, n, k).copy()
        with np.errstate(all="ignore"):
            for j in range(n):
                factors = A[:, j + 1 :, j] / A[:, j, j, None]
                A[:, j + 1 :, j:] -= factors[:, :, None] * A[:, j, None, j:]
                X[:, j + 1 :] -= factors[:, :, None] * X[:, j, None]
            for j in range(n - 1, -1, -1):
                X[:, j] -= np.einsum("si,sik->sk", A[:, j, j + 1 :], X[:, j + 1 :])
                X[:, j] /= A[:, j, j, None]
        return tuple(X.reshape(-1, n * k).T)


RANK_TOLERANCE = 1e-10


@dataclass(frozen=True, eq=False)
class LeastSquares(Block):
    """X = pinv(A) B, shape (n, k), for any A, shape (m, n), and the rank of A.

    Takes A row by row, then B row by row; gives X row by row, then the rank as a number. It is computed by a complete
    orthogonal decomposition A = Q T Z: columns of A are chosen by size and made orthonormal (Q), then the rows of the
    remaining triangle (Z). A column counts while its rest is longer than `tolerance` times the longest column of A.
    """

    m: int
    n: int
    k: int = 1
    tolerance: float = RANK_TOLERANCE

    @property
    def n_in(self) -> int:
        return self.m * (self.n + self.k)

    @property
    def n_out(self) -> int:
        return self.n * self.k + 1

    @cached_property
    def key(self) -> str:
        return f"least squares {self.m}x{self.n}, {self.k} right, tolerance {self.tolerance.hex()}"

    @property
    def label(self) -> str:
        return f"least squares {self.m}x{self.n}, {self.k} right"

    @property
    def cost(self) -> int:
        return min(self.m, self.n) * (10 * self.m * (self.n + self.k) + 8 * self.n * min(self.m, self.n))

    def meaning(self, *args: Any) -> tuple[Any, ...]:
        m, n, k = self.m, self.n, self.k
        entries = _stacked(args)
        states = len(entries)
        rest = entries.reshape(states, -1)
        A = rest[:, : m * n].reshape(states, m, n).copy()
        B = rest[:, m * n :].reshape(states, m, k).copy()
        steps = min(m, n)
        R, Y = np.zeros((states, steps, n)), np.zeros((states, steps, k))
        rank = np.zeros(states)
        longest = np.zeros(states)
        each = np.arange(states)
        with np.errstate(all="ignore"):
            for j in range(steps):
                squares = np.einsum("smn,smn->sn", A, A)
                chosen = np.argmax(squares, axis=1)
                length = np.sqrt(squares[each, chosen])
                longest = length if j == 0 else longest
                kept = length > self.tolerance * longest
                rank += kept
                q = np.where(kept[:, None], A[each, :, chosen] / length[:, None], 0.0)
                for _ in range(2):  # twice is enough to be orthogonal to rounding
                    along = np.einsum("sm,smn->sn", q, A)
                    A -= q[:, :, None] * along[:, None]
                    R[:, j] += along
                Y[:, j] = np.einsum("sm,smk->sk", q, B)
                B -= q[:, :, None] * Y[:, j, None]
            for j in range(steps):  # R = T Z, solved forward as the rows of Z are made
                for _ in range(2):
                    for i in range(j):
                        along = np.einsum("sn,sn->s", R[:, i], R[:, j])
                        R[:, j] -= along[:, None] * R[:, i]
                        Y[:, j] -= along[:, None] * Y[:, i]
                length = np.sqrt(np.einsum("sn,sn->s", R[:, j], R[:, j]))
                scale = np.where(length > 0.0, 1.0 / length, 0.0)
                R[:, j] *= scale[:, None]
                Y[:, j] *= scale[:, None]
            X = np.einsum("sjn,sjk->snk", R, Y)
            size = np.sum(entries[:, : m * n] ** 2, axis=1)
            X += 0.0 * size[:, None, None]  # NaN, infinities and numbers too large to be squared in A show in X
        return (*X.reshape(states, n * k).T, rank)


@dataclass(frozen=True, eq=False)
class Table(Block):
    """A piecewise polynomial of x: piece i applies where i of the `breaks` are not above x.

    `breaks`, shape (pieces - 1,), rise; `origins`, shape (pieces,); `coefficients`, shape (pieces, degree + 1), lowest
    power first: the value is  sum over p of  coefficients[i][p] (x - origins[i])^p.  Outer pieces reach to infinity.
    """

    breaks: tuple[float, ...]
    origins: tuple[float, ...]
    coefficients: tuple[tuple[float, ...], ...]

    @property
    def n_in(self) -> int:
        return 1

    @property
    def n_out(self) -> int:
        return 1

    @property
    def pieces(self) -> int:
        """How many polynomials it joins."""
        return len(self.origins)

    @property
    def degree(self) -> int:
        """The degree of its pieces."""
        return len(self.coefficients[0]) - 1

    @cached_property
    def key(self) -> str:
        data = np.array([*self.breaks, *self.origins, *(c for row in self.coefficients for c in row)])
        return f"{self.label} {hashlib.sha256(data.tobytes()).hexdigest()}"

    @property
    def label(self) -> str:
        return f"table of {self.pieces} pieces, degree {self.degree}"

    @property
    def cost(self) -> int:
        return 2 * self.degree + 1 + self.pieces.bit_length()

    @cached_property
    def derivative(self) -> Table:
        """The table of its derivative; where the slope jumps, it is that of the piece to the right."""
        rows = tuple(tuple(p * c for p, c in enumerate(row) if p) or (0.0,) for row in self.coefficients)
        return Table(self.breaks, self.origins, rows)

    def meaning(self, *args: Any) -> tuple[Any, ...]:
        x = np.asarray(args[0], dtype=float)
        with np.errstate(all="ignore"):
            piece = np.where(x == x, np.searchsorted(np.array(self.breaks), x, side="right"), 0)  # a NaN is below all
            r = x - np.array(self.origins)[piece]
            rows = np.array(self.coefficients)[piece]
            y = rows[..., -1]
            for p in range(self.degree - 1, -1, -1):
                y = y * r + rows[..., p]
        return (y,)


def _stacked(args: Sequence[Any]) -> Array:
    """Arguments of shape (n,) or (1,) or plain numbers as one array (n, number of arguments)."""
    columns = np.broadcast_arrays(*(np.atleast_1d(np.asarray(arg, dtype=float)) for arg in args))
    return np.stack(columns, axis=-1)
