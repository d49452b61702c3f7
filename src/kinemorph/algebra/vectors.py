"""Small vectors and matrices: tuples of scalars, and tuples of row tuples.

They hold any scalar and mix kinds freely: a rotation about z is `((c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0))`,
whether c and s are floats, batches, graph nodes or dual numbers. The float 0.0 is a structural zero and stays one
through every function here, so sparse geometry gives sparse formulas without a special case. The unit matrix of a size
is one object, and products with it cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TypeAlias

from kinemorph.algebra.scalar import S, div, is_zero, less, sqrt, where
from kinemorph.algebra.scalar import minus as minus
from kinemorph.algebra.scalar import plus as plus
from kinemorph.algebra.scalar import times as times

Vec: TypeAlias = tuple[S, ...]
Vec3: TypeAlias = tuple[S, S, S]
Mat: TypeAlias = tuple[Vec, ...]
Mat3: TypeAlias = tuple[Vec3, Vec3, Vec3]


# ── vectors ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def zeros(n: int) -> Vec:
    """A vector of n structural zeros."""
    return (0.0,) * n


def add(a: Sequence[S], b: Sequence[S]) -> Vec:
    """a + b, shape (n,)."""
    return tuple([plus(x, y) for x, y in zip(a, b, strict=True)])


def sub(a: Sequence[S], b: Sequence[S]) -> Vec:
    """a - b, shape (n,)."""
    return tuple([minus(x, y) for x, y in zip(a, b, strict=True)])


def neg(a: Sequence[S]) -> Vec:
    """-a, shape (n,); zeros stay +0.0."""
    return tuple([0.0 if is_zero(x) else -x for x in a])


def scale(factor: S, a: Sequence[S]) -> Vec:
    """factor * a, shape (n,)."""
    return tuple([times(factor, x) for x in a])


def total(terms: Iterable[S]) -> S:
    """The sum of scalars; 0.0 where there are none."""
    result: S = 0.0
    for term in terms:
        result = plus(result, term)
    return result


def dot(a: Sequence[S], b: Sequence[S]) -> S:
    """Scalar product of two vectors of equal length; of a wrench and a twist, it is the power [W]."""
    result: S = 0.0
    for x, y in zip(a, b, strict=True):
        if (type(x) is float and x == 0.0) or (type(y) is float and y == 0.0):
            continue
        product = x * y
        result = result + product if type(result) is float is type(product) else plus(result, product)
    return result


def cross(a: Sequence[S], b: Sequence[S]) -> Vec3:
    """Vector product, shape (3,)."""
    a0, a1, a2 = a
    b0, b1, b2 = b
    return (
        minus(times(a1, b2), times(a2, b1)),
        minus(times(a2, b0), times(a0, b2)),
        minus(times(a0, b1), times(a1, b0)),
    )


def norm(a: Sequence[S]) -> S:
    """Euclidean length. At the zero vector, where it has no derivative, the derivative is taken as 0."""
    square = dot(a, a)
    positive = less(0.0, square)
    return where(positive, sqrt(where(positive, square, 1.0)), 0.0)


def normalize(a: Sequence[S]) -> Vec:
    """a / |a|, shape (n,), for a vector that is not zero."""
    return scale(div(1.0, sqrt(dot(a, a))), a)


# ── matrices ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@cache
def identity(n: int) -> Mat:
    """The unit matrix, shape (n, n)."""
    return tuple(tuple(1.0 if i == j else 0.0 for j in range(n)) for i in range(n))


_UNIT = identity(3)


def diagonal(a: Sequence[S]) -> Mat:
    """The matrix with `a` on its diagonal, shape (n, n)."""
    return tuple(tuple(x if i == j else 0.0 for j in range(len(a))) for i, x in enumerate(a))


def transpose(A: Sequence[Sequence[S]]) -> Mat:
    """The transposed matrix A^T."""
    return A if A is _UNIT else tuple(zip(*A, strict=True))


def matvec(A: Sequence[Sequence[S]], x: Sequence[S]) -> Vec:
    """The product A x of a matrix and a vector."""
    if A is _UNIT:
        return tuple(x)
    return tuple(dot(row, x) for row in A)


def matvec_transposed(A: Sequence[Sequence[S]], x: Sequence[S]) -> Vec:
    """The product A^T x of a transposed matrix and a vector."""
    if A is _UNIT:
        return tuple(x)
    return tuple(dot(column, x) for column in zip(*A, strict=True))


def matmul(A: Sequence[Sequence[S]], B: Sequence[Sequence[S]]) -> Mat:
    """The product A B of two matrices."""
    if A is _UNIT:
        return B if isinstance(B, tuple) else tuple(map(tuple, B))
    if B is _UNIT:
        return A if isinstance(A, tuple) else tuple(map(tuple, A))
    columns = tuple(zip(*B, strict=True))
    return tuple([tuple([dot(row, column) for column in columns]) for row in A])


def outer(a: Sequence[S], b: Sequence[S]) -> Mat:
    """a b^T, shape (len(a), len(b))."""
    return tuple(scale(x, b) for x in a)


def mat_add(A: Sequence[Sequence[S]], B: Sequence[Sequence[S]]) -> Mat:
    """The sum A + B of two matrices."""
    return tuple(add(a, b) for a, b in zip(A, B, strict=True))


def mat_sub(A: Sequence[Sequence[S]], B: Sequence[Sequence[S]]) -> Mat:
    """The difference A - B of two matrices."""
    return tuple(sub(a, b) for a, b in zip(A, B, strict=True))


def mat_neg(A: Sequence[Sequence[S]]) -> Mat:
    """The matrix -A."""
    return tuple(neg(row) for row in A)


def mat_scale(factor: S, A: Sequence[Sequence[S]]) -> Mat:
    """The matrix factor * A."""
    return tuple(scale(factor, row) for row in A)


def trace(A: Sequence[Sequence[S]]) -> S:
    """The sum of the diagonal entries of A."""
    return total(row[i] for i, row in enumerate(A))


def block(rows: Sequence[Sequence[Sequence[Sequence[S]]]]) -> Mat:
    """The matrix made up of a grid of matrices: block([[A, B], [C, D]])."""
    return tuple(tuple(x for part in parts for x in part) for row in rows for parts in zip(*row, strict=True))


def det3(A: Sequence[Sequence[S]]) -> S:
    """Determinant of a 3x3 matrix."""
    return dot(A[0], cross(A[1], A[2]))


# ── so(3) as matrices ─────────────────────────────────────────────────────────────────────────────────────────────────


def hat(w: Sequence[S]) -> Mat3:
    """The skew matrix with hat(w) x = w cross x, shape (3, 3)."""
    x, y, z = w
    nx, ny, nz = neg(w)
    return ((0.0, nz, y), (z, 0.0, nx), (ny, x, 0.0))
