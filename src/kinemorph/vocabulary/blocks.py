"""Blocks: operations on whole arrays, which would take too many scalar ops.

A block is an operation with constant data (sizes, knots, a tolerance). It takes `n_in` numbers and returns `n_out`:

    Solve           X with A X = B for a symmetric positive definite A
    LeastSquares    X = pinv(A) B, the least-squares solution of smallest norm, and the rank of A
    Table           a piecewise polynomial of one number: splines, terrain, measured curves

`complementarity`, `coulomb_cone` and `grid_surfaces` define more blocks.

The method `meaning` defines the result, for floats and for batches of NumPy arrays. It never warns or raises: a
singular matrix gives infinities or NaN, as IEEE arithmetic does. Blocks compare and hash by `key`, a text of all their
data.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from kinemorph.frozen import dataclass

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Item:
    """The op of the graph node that picks number `index` from the result of a block."""

    index: int

    @property
    def label(self) -> str:
        """The text for this op in printed programs."""
        return f"item {self.index}"


@dataclass(frozen=True, eq=False)
class Block:
    """An operation on arrays, such as solving linear equations. Each kind is a direct subclass of this class."""

    of_rows: ClassVar[bool] = False  # whether it is a sum over the rows of a table

    @property
    def n_in(self) -> int:
        """How many numbers the block takes."""
        raise TypeError(f"{type(self).__name__} does not say how many numbers it takes. Define `n_in`.")

    @property
    def n_out(self) -> int:
        """How many numbers the block returns."""
        raise TypeError(f"{type(self).__name__} does not say how many numbers it returns. Define `n_out`.")

    @cached_property
    def key(self) -> str:
        """A text of all constant data of the block: blocks with equal keys compute the same result."""
        raise TypeError(
            f"{type(self).__name__} has no key; expected a text of all its constant data. Define a property `key`."
        )

    @property
    def label(self) -> str:
        """A short name of the block for printed programs."""
        return self.key

    @property
    def cost(self) -> int:
        """The cost of the block in the op count [flops]."""
        raise TypeError(f"{type(self).__name__} does not say what it costs. Define `cost`.")

    def meaning(self, *args: Any) -> tuple[Any, ...]:
        """The result, `n_out` numbers, for `n_in` arguments: floats, or arrays of shape (n,) or (1,) for n states."""
        raise TypeError(f"{type(self).__name__} does not say what it computes. Define `meaning`.")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Block) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


@dataclass(frozen=True, eq=False)
class Solve(Block):
    """The solution X, shape (n, k), of A X = B for a symmetric positive definite A, shape (n, n).

    Takes the lower triangle of A row by row, then B row by row; returns X row by row. X is computed by Gaussian
    elimination without pivoting, which is stable for such A. If A is not positive definite, X may be inaccurate.
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
        entries = stacked(args)
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

    Takes A row by row, then B row by row; returns X row by row, then the rank as a number. X is computed by a complete
    orthogonal decomposition A = Q T Z, with Gram-Schmidt steps: the columns of A, longest first, are made orthonormal
    (Q), then the rows of the triangular factor (Z). A column counts towards the rank if the part of it that is
    orthogonal to the columns before it is longer than `tolerance` times the longest column of A.
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
        entries = stacked(args)
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
                for _ in range(2):  # the second pass makes q orthogonal up to rounding
                    along = np.einsum("sm,smn->sn", q, A)
                    A -= q[:, :, None] * along[:, None]
                    R[:, j] += along
                Y[:, j] = np.einsum("sm,smk->sk", q, B)
                B -= q[:, :, None] * Y[:, j, None]
            for j in range(steps):  # R = T Z: each row of Z is used as soon as it is computed
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
            X += 0.0 * size[:, None, None]  # X is NaN where A has NaN, infinities or numbers too large to be squared
        return (*X.reshape(states, n * k).T, rank)


@dataclass(frozen=True, eq=False)
class Table(Block):
    """A piecewise polynomial of x. Piece i applies from breaks[i - 1] up to, but not including, breaks[i].

    `breaks`, shape (pieces - 1,), increase; `origins`, shape (pieces,); `coefficients`, shape (pieces, degree + 1),
    lowest power first. In piece i the value is the sum over p of coefficients[i][p] (x - origins[i])^p. The first and
    the last piece extend to infinity.
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
        """The number of polynomial pieces."""
        return len(self.origins)

    @property
    def degree(self) -> int:
        """The degree of the polynomial of each piece; it is the same for all pieces."""
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
        """The table of dy/dx; at a break where the slope jumps, it is the slope of the piece to the right."""
        rows = tuple(tuple(p * c for p, c in enumerate(row) if p) or (0.0,) for row in self.coefficients)
        return Table(self.breaks, self.origins, rows)

    def meaning(self, *args: Any) -> tuple[Any, ...]:
        x = np.asarray(args[0], dtype=float)
        with np.errstate(all="ignore"):
            piece = np.where(x == x, np.searchsorted(np.array(self.breaks), x, side="right"), 0)  # NaN: first piece
            r = x - np.array(self.origins)[piece]
            rows = np.array(self.coefficients)[piece]
            y = rows[..., -1]
            for p in range(self.degree - 1, -1, -1):
                y = y * r + rows[..., p]
        return (y,)


def stacked(args: Sequence[Any]) -> Array:
    """The arguments (numbers, or arrays of shape (n,) or (1,)) as one array, shape (n, number of arguments)."""
    columns = np.broadcast_arrays(*(np.atleast_1d(np.asarray(arg, dtype=float)) for arg in args))
    return np.stack(columns, axis=-1)
