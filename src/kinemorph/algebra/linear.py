"""Linear systems over any scalar.

`solve_definite` is unrolled entry by entry, so that structural zeros cost nothing: for small or sparse matrices;
`solve_regular` does this for matrices that are not symmetric, block by block.
`solve`, `least_squares` and `complementarity` are one block op each (see `blocks`): the graph stores each as one op,
and backends compute it with loops.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinemorph.algebra.scalar import Lifted, S, div, is_zero, minus, times
from kinemorph.algebra.vectors import dot
from kinemorph.errors import ShapeError
from kinemorph.vocabulary.blocks import RANK_TOLERANCE, Block, LeastSquares, Solve
from kinemorph.vocabulary.complementarity import Complementarity

Matrix = Sequence[Sequence[S]]


def solve(A: Matrix, B: Matrix) -> list[list[S]]:
    """X, shape (n, k), with A X = B for a symmetric positive definite A, shape (n, n).

    The lower half of A is read; it may be given alone, as rows of 1, 2, ..., n entries.
    """
    n, k = _shape(B, "solve", "B")
    if not _are_rows(A) or [len(row) for row in A] not in ([n] * n, list(range(1, n + 1))):
        found = f"has rows of {[len(row) for row in A]} entries" if _are_rows(A) else "is not a list of rows"
        raise ShapeError(
            f"solve: A {found} and B is {n} x {k}; expected A of {n} x {n}, as B has {n} rows, or the lower half of "
            "such an A."
        )
    lower = [A[i][j] for i in range(n) for j in range(i + 1)]
    return _rows(applied(Solve(n, k), [*lower, *(entry for row in B for entry in row)]), k)


def least_squares(A: Matrix, B: Matrix, tolerance: float = RANK_TOLERANCE) -> tuple[list[list[S]], S]:
    """(X, rank): X = pinv(A) B, shape (n, k), for any A, shape (m, n), and the rank of A.

    A column counts towards the rank if its part orthogonal to the other columns that count is longer than `tolerance`
    times the longest column; see `vocabulary.blocks.LeastSquares`.
    """
    (m, n), (rows, k) = _shape(A, "least_squares", "A"), _shape(B, "least_squares", "B")
    if m != rows:
        raise ShapeError(
            f"least_squares: A is {m} x {n} and B {rows} x {k}; expected the same number of rows. "
            "Give B one row for each row of A."
        )
    *entries, rank = applied(
        LeastSquares(m, n, k, tolerance), [entry for rows in (A, B) for row in rows for entry in row]
    )
    return _rows(entries, k), rank


def complementarity(A: Matrix, b: Sequence[S]) -> tuple[list[S], S]:
    """(z, solved): z (n,) with  w = A z + b,  w >= 0,  z >= 0,  z . w = 0  for any A, shape (n, n).

    `solved` is 1, or 0 where Lemke's algorithm finds no solution; z is NaN there. See `vocabulary.complementarity`.
    """
    shape = _shape(A, "complementarity", "A")
    if shape != (len(b), len(b)):
        raise ShapeError(
            f"complementarity: A is {shape[0]} x {shape[1]} and b has {len(b)} entries; expected n x n and n."
        )
    *z, solved = applied(Complementarity(len(b)), [*(entry for row in A for entry in row), *b])
    return z, solved


def _are_rows(matrix: Matrix) -> bool:
    return hasattr(matrix, "__len__") and all(hasattr(row, "__len__") for row in matrix)


def _shape(matrix: Matrix, what: str, name: str) -> tuple[int, int]:
    """(rows, columns) of a matrix, each at least 1; raises ShapeError for anything but a list of equal rows."""
    widths = {len(row) for row in matrix} if _are_rows(matrix) else set()
    if len(widths) != 1 or 0 in widths:
        found = f"has rows of {sorted(widths)} entries" if widths else "is not a list of rows"
        raise ShapeError(f"{what}: {name} {found}; expected rows of equal length; write a vector as [[x], [y]].")
    return len(matrix), widths.pop()


def applied(block: Block, args: Sequence[S]) -> list[S]:
    """The outputs of a block op applied to `args`, which are scalars of any kind."""
    objects = [arg for arg in args if hasattr(arg, "block")]
    if objects:
        first = next((arg for arg in objects if isinstance(arg, Lifted)), objects[0])
        return list(first.block(block, args))
    values = block.meaning(*args)
    batch = any(isinstance(arg, np.ndarray) for arg in args)
    return list(values) if batch else [float(np.ravel(value)[0]) for value in values]


def _rows(entries: Sequence[S], width: int) -> list[list[S]]:
    return [list(entries[i : i + width]) for i in range(0, len(entries), width)]


def solve_definite(A: Sequence[Sequence[S]], b: Sequence[S]) -> list[S]:
    """x, shape (n,), with A x = b for a symmetric positive definite A, shape (n, n): the factorization L D L^T."""
    n = len(b)
    L: list[list[S]] = [[0.0] * n for _ in range(n)]
    D: list[S] = [0.0] * n
    for j in range(n):
        scaled = [times(L[j][k], D[k]) for k in range(j)]
        D[j] = A[j][j]
        for k in range(j):
            D[j] = minus(D[j], times(L[j][k], scaled[k]))
        for i in range(j + 1, n):
            entry = A[i][j]
            for k in range(j):
                entry = minus(entry, times(L[i][k], scaled[k]))
            L[i][j] = entry if type(entry) is float and entry == 0.0 else div(entry, D[j])
    x = list(b)
    for i in range(n):  # L y = b
        for k in range(i):
            x[i] = minus(x[i], times(L[i][k], x[k]))
    x = [div(value, pivot) for value, pivot in zip(x, D, strict=True)]
    for i in range(n - 1, -1, -1):  # L^T x = D^-1 y
        for k in range(i + 1, n):
            x[i] = minus(x[i], times(L[k][i], x[k]))
    return x


def solve_regular(A: Sequence[Sequence[S]], B: Matrix) -> list[list[S]]:
    """X, shape (n, k), with A X = B for a regular A, shape (n, n), which need not be symmetric.

    Where zeros of A allow it, some unknowns are found before others (block triangular form); blocks of up to three rows
    are solved by cofactors, larger blocks by `least_squares`. Where A is singular, the result is not finite or is
    meaningless.
    """
    n, k = _shape(B, "solve_regular", "B")
    X: list[list[S]] = [[0.0] * k for _ in range(n)]
    known: list[int] = []
    for rows, columns in _blocks(A):
        right = [
            [minus(B[i][c], dot([A[i][j] for j in known], [X[j][c] for j in known])) for c in range(k)] for i in rows
        ]
        own = [[A[i][j] for j in columns] for i in rows]
        part = _by_cofactors(own, right) if len(rows) == len(columns) <= 3 else least_squares(own, right)[0]
        for j, entries in zip(columns, part, strict=True):
            X[j] = entries
        known += columns
    return X


def _by_cofactors(A: list[list[S]], B: list[list[S]]) -> list[list[S]]:
    """A^-1 B for a matrix A of one, two or three rows."""
    n = len(A)
    if n == 1:
        return [[div(x, A[0][0]) for x in B[0]]]
    if n == 2:
        (a, b), (c, d) = A
        adjugate = [[d, -b], [-c, a]]
    else:

        def minor(i: int, j: int) -> S:
            (a, b), (c, d) = ([A[r][s] for s in range(3) if s != j] for r in range(3) if r != i)
            return minus(times(a, d), times(b, c))

        adjugate = [[minor(j, i) if (i + j) % 2 == 0 else -minor(j, i) for j in range(3)] for i in range(3)]
    whole = dot(A[0], [row[0] for row in adjugate])
    return [[div(dot(row, [b[c] for b in B]), whole) for c in range(len(B[0]))] for row in adjugate]


def _blocks(A: Sequence[Sequence[S]]) -> list[tuple[list[int], list[int]]]:
    """The rows and columns of each diagonal block of A in block triangular form, in the order of solution.

    The rows of a block have nonzeros only in its own columns and in those of earlier blocks.
    """
    n = len(A)
    filled = [[j for j in range(n) if not is_zero(A[i][j])] for i in range(n)]
    owner: dict[int, int] = {}  # column -> the row that is matched with it

    def matched(row: int, tried: set[int]) -> bool:
        for j in filled[row]:
            if j not in tried:
                tried.add(j)
                if j not in owner or matched(owner[j], tried):
                    owner[j] = row
                    return True
        return False

    if not all(matched(row, set()) for row in range(n)):
        return [(list(range(n)), list(range(n)))]  # structurally singular
    needs = {row: {owner[j] for j in filled[row]} for row in range(n)}
    for _ in range(n):  # adds the rows on which these rows depend in turn
        needs = {row: set().union(*(needs[other] for other in others)) for row, others in needs.items()}
    column = {row: j for j, row in owner.items()}
    blocks, placed = [], set[int]()
    for row in sorted(range(n), key=lambda row: len(needs[row])):
        if row not in placed:
            block = sorted(other for other in needs[row] if row in needs[other])
            placed.update(block)
            blocks.append((block, [column[other] for other in block]))
    return blocks
