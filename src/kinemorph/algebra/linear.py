"""Symmetric positive definite systems, solved entry by entry over any scalar.

For matrices of known small size whose entries may be graph nodes: everything is written out, nothing is pivoted.
Structural zeros cost nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinemorph.algebra.scalar import S, div, minus, times


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
