"""Derivatives of blocks, by implicit differentiation of the equation that defines the result of the block.

    Solve           A X = B                     dX = A^-1 (dB - dA X)
    LeastSquares    X = A+ B, rank constant     dX = A+ (dB - dA X) + A+ A+^T dA^T (B - A X) + (I - A+ A) dA^T A+^T X
                                                (Golub and Pereyra, SIAM J. Numer. Anal. 10 (1973) 413-432)
    Complementarity A z + b = 0 where z > 0     dz = -A^-1 (dA z + db) on these rows and columns, else dz = 0
    CoulombCone     its equations               differentiated on the set of contacts that push and slide
    Table           y = p(x)                    dy = p'(x) dx, and p' is a table
    Bicubic         z = f(x, y)                 dz = f_x dx + f_y dy, with the partial derivatives of the next order
    NearestPoint    its two equations           differentiated by x, y and p, and solved for dx and dy

A+ is the pseudoinverse of A; p is a piecewise polynomial.

The rules work for any type of number: expressions, dual numbers, floats, batches. A rule evaluates the blocks that it
needs by the caller's function `evaluate(block, args)`. Derivatives in many directions are computed together, as more
right-hand sides of one block, so that the matrix is decomposed only once. An entry known to be zero is the float 0.0:
no operation is recorded for it, and a right-hand side that consists of such zeros is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

from kinemorph.vocabulary.blocks import Block, LeastSquares, Solve, Table
from kinemorph.vocabulary.complementarity import Complementarity
from kinemorph.vocabulary.coulomb_cone import CoulombCone, contact_slope, contact_state
from kinemorph.vocabulary.grid_surfaces import Bicubic, NearestPoint, partials

S = Any
Vector = Sequence[S]
Matrix = list[list[S]]
Evaluate = Callable[[Block, Sequence[S]], Sequence[S]]


class Rule(NamedTuple):
    """Derivatives of a block, forward and reverse.

    `forward(block, evaluate, args, values, tangents)` returns the tangents of the values, one list for each list of
    tangents of the arguments.
    `reverse(block, evaluate, args, values, adjoints, moving)` returns the adjoints of the arguments, one list for each
    list of adjoints of the values. `moving` holds True for each argument whose adjoint is needed; the adjoints
    of the other arguments are arbitrary.
    """

    forward: Callable[..., list[list[S]]]
    reverse: Callable[..., list[list[S]]]


# ── solve ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _solve_forward(
    block: Solve, evaluate: Evaluate, args: Vector, values: Vector, tangents: Sequence[Vector]
) -> list[list[S]]:
    n, k = block.n, block.k
    below = n * (n + 1) // 2
    X = _matrix(values, n, k)
    rest = [_minus(_matrix(t[below:], n, k), _product(_symmetric(t[:below], n), X)) for t in tangents]
    return [_flat(dX) for dX in _solved(evaluate, args[:below], rest, n)]


def _solve_reverse(
    block: Solve, evaluate: Evaluate, args: Vector, values: Vector, adjoints: Sequence[Vector], moving: Sequence[bool]
) -> list[list[S]]:
    n, k = block.n, block.k
    below = n * (n + 1) // 2
    X = _matrix(values, n, k)
    found = []
    for B_bar in _solved(evaluate, args[:below], [_matrix(row, n, k) for row in adjoints], n):
        A_bar = _product(B_bar, _transposed(X)) if any(moving[:below]) else _zeros(n, n)
        lower = [_minus_sum(A_bar[i][j], A_bar[j][i] if i != j else 0.0) for i in range(n) for j in range(i + 1)]
        found.append(lower + _flat(B_bar))
    return found


def _solved(evaluate: Evaluate, lower: Vector, right: Sequence[Matrix], n: int) -> list[Matrix]:
    """The product of the inverse of A with each matrix in `right`, by one `Solve` block.

    `lower` is the lower triangle of the symmetric (n, n) matrix A, row by row.
    """
    return _in_one(lambda columns, k: evaluate(Solve(n, k), [*lower, *columns]), right, n)


# ── least squares ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _least_squares_forward(
    block: LeastSquares, evaluate: Evaluate, args: Vector, values: Vector, tangents: Sequence[Vector]
) -> list[list[S]]:
    m, n, k = block.m, block.n, block.k
    A, B, X = _matrix(args, m, n), _matrix(args[m * n :], m, k), _matrix(values, n, k)
    dA, dB = [_matrix(t, m, n) for t in tangents], [_matrix(t[m * n :], m, k) for t in tangents]
    missed = _minus(B, _product(A, X))
    slopes = [_product(_transposed(part), missed) for part in dA]
    turned = [any(map(_is_there, _flat(part))) for part in dA]
    if any(turned):
        H, *lifted = _fitted(block, evaluate, _transposed(A), [X, *slopes])  # A+^T X, and A+^T dA^T (B - A X)
    else:
        H, lifted = _zeros(m, k), [_zeros(m, k) for _ in tangents]
    outside = [_product(_transposed(part), H) for part in dA]
    right = [
        _minus(_plus(b, w), _plus(_product(a, X), _product(A, e)))
        for a, b, w, e in zip(dA, dB, lifted, outside, strict=True)
    ]
    found = _fitted(block, evaluate, A, right)
    return [[*_flat(_plus(x, e)), 0.0] for x, e in zip(found, outside, strict=True)]


def _least_squares_reverse(
    block: LeastSquares,
    evaluate: Evaluate,
    args: Vector,
    values: Vector,
    adjoints: Sequence[Vector],
    moving: Sequence[bool],
) -> list[list[S]]:
    m, n, k = block.m, block.n, block.k
    A, B, X = _matrix(args, m, n), _matrix(args[m * n :], m, k), _matrix(values, n, k)
    X_bars = [_matrix(row, n, k) for row in adjoints]
    if not any(moving[: m * n]):
        return [_flat(_zeros(m, n)) + _flat(Y) for Y in _fitted(block, evaluate, _transposed(A), X_bars)]
    H, *Ys = _fitted(block, evaluate, _transposed(A), [X, *X_bars])
    missed = _minus(B, _product(A, X))
    found = []
    for X_bar, Y, Z in zip(X_bars, Ys, _fitted(block, evaluate, A, Ys), strict=True):
        outside = _minus(X_bar, _product(_transposed(A), Y))  # (I - A+ A) X_bar
        A_bar = _plus(_product(missed, _transposed(Z)), _product(H, _transposed(outside)))
        found.append(_flat(_minus(A_bar, _product(Y, _transposed(X)))) + _flat(Y))
    return found


def _fitted(block: LeastSquares, evaluate: Evaluate, A: Matrix, right: Sequence[Matrix]) -> list[Matrix]:
    """The product of the pseudoinverse of A with each matrix in `right`, by one `LeastSquares` block.

    The pseudoinverse is computed with the rank tolerance of `block`.
    """
    m, n = len(A), len(A[0])
    given = _flat(A)
    return _in_one(
        lambda columns, k: evaluate(LeastSquares(m, n, k, block.tolerance), [*given, *columns])[:-1], right, n
    )


# ── equations on an active set: G dz = right, with z and one number more as values of the block ───────────────────────


def _active_tangents(evaluate: Evaluate, G: Matrix, right: Sequence[Matrix]) -> list[list[S]]:
    """The tangents of the values, for each right-hand side (n, 1); that of the last value is 0."""
    return [[*_flat(dz), 0.0] for dz in _fitted(LeastSquares(len(G), len(G)), evaluate, G, right)]


def _active_adjoints(evaluate: Evaluate, G: Matrix, adjoints: Sequence[Vector]) -> list[list[S]]:
    """The adjoints (n,) of the right-hand side, for each list of adjoints of the values."""
    n = len(G)
    right = [[[x] for x in row[:n]] for row in adjoints]
    return [_flat(y) for y in _fitted(LeastSquares(n, n), evaluate, _transposed(G), right)]


def _linear_adjoints(b_bar: Sequence[S], z: Vector) -> list[S]:
    """The adjoints of A and then of b in  A z + b,  from those of the sum."""
    return [*(_times(row, x) for row in b_bar for x in z), *b_bar]


# ── complementarity ───────────────────────────────────────────────────────────────────────────────────────────────────


def _complementarity_forward(
    block: Complementarity, evaluate: Evaluate, args: Vector, values: Vector, tangents: Sequence[Vector]
) -> list[list[S]]:
    n = block.n
    z = values[:n]
    active, G = _active(block, args, z)
    right = [
        [
            [_times(on, _minus_sum(_dot(row, z), db))]
            for on, row, db in zip(active, _matrix(t, n, n), t[n * n :], strict=True)
        ]
        for t in tangents
    ]
    return _active_tangents(evaluate, G, right)


def _complementarity_reverse(
    block: Complementarity,
    evaluate: Evaluate,
    args: Vector,
    values: Vector,
    adjoints: Sequence[Vector],
    moving: Sequence[bool],
) -> list[list[S]]:
    n = block.n
    z = values[:n]
    active, G = _active(block, args, z)
    found = []
    for y in _active_adjoints(evaluate, G, adjoints):
        b_bar = [_minus_sum(_times(on, x), 0.0) for on, x in zip(active, y, strict=True)]
        found.append(_linear_adjoints(b_bar, z))
    return found


def _active(block: Complementarity, args: Vector, z: Vector) -> tuple[list[S], Matrix]:
    """(active (n,), G (n, n)): 1 for unknowns above zero; A on their rows and columns, 1 on the rest of the diagonal.

    dz solves  G dz = -active * (dA z + db).
    """
    n = block.n
    active = [(x > 0.0) * 1.0 for x in z]
    G = [
        [
            _times(_times(active[i], active[j]), args[i * n + j])
            if i != j
            else active[i] * args[i * n + i] + (1.0 - active[i])
            for j in range(n)
        ]
        for i in range(n)
    ]
    return active, G


# ── Coulomb's cone ────────────────────────────────────────────────────────────────────────────────────────────────────


def _cone_forward(
    block: CoulombCone, evaluate: Evaluate, args: Vector, values: Vector, tangents: Sequence[Vector]
) -> list[list[S]]:
    n, m = block.n, 3 * block.n
    p = values[:m]
    states, slope = _cone_equations(block, args, p)
    right = []
    for t in tangents:
        du = [_sum(_dot(row, p), db) for row, db in zip(_matrix(t, m, m), t[m * m :], strict=False)]
        dmu, dfloor = t[m * m + m : m * m + m + n], t[m * m + m + n :]
        rows: list[S] = []
        for i, (pushes, slides, r_n, r_t, x, y, _, ratio) in enumerate(states):
            d_n, d_x, d_y = du[3 * i : 3 * i + 3]
            across = _times(slides * ratio, _difference(_times(x, d_y), _times(y, d_x)))
            grown = _times(slides * p[3 * i] / r_t, dmu[i])
            rows.append(_difference(_times((1.0 - pushes) / r_n, dfloor[i]), _times(pushes, d_n)))
            for d, t_k, c in ((d_x, x, -y), (d_y, y, x)):
                rows.append(_difference(_times(t_k, grown), _sum(_times(1.0 - slides, d), _times(c, across))))
        right.append([[row] for row in rows])
    return _active_tangents(evaluate, slope, right)


def _cone_reverse(
    block: CoulombCone,
    evaluate: Evaluate,
    args: Vector,
    values: Vector,
    adjoints: Sequence[Vector],
    moving: Sequence[bool],
) -> list[list[S]]:
    m = 3 * block.n
    p = values[:m]
    states, slope = _cone_equations(block, args, p)
    found = []
    for column in _active_adjoints(evaluate, slope, adjoints):
        b_bar: list[S] = []
        mu_bar: list[S] = []
        floor_bar: list[S] = []
        for i, (pushes, slides, r_n, r_t, x, y, _, ratio) in enumerate(states):
            y_n, y_x, y_y = column[3 * i : 3 * i + 3]
            across = slides * ratio * (x * y_y - y * y_x)
            b_bar += [-(pushes * y_n), -((1.0 - slides) * y_x - y * across), -((1.0 - slides) * y_y + x * across)]
            mu_bar.append(slides * p[3 * i] / r_t * (x * y_x + y * y_y))
            floor_bar.append((1.0 - pushes) / r_n * y_n)
        found.append(_linear_adjoints(b_bar, p) + mu_bar + floor_bar)
    return found


def _cone_equations(block: CoulombCone, args: Vector, p: Vector) -> tuple[list[list[S]], Matrix]:
    """(the state of each contact, the derivative of its equations by the impulses p (m,), shape (m, m))."""
    n, m = block.n, 3 * block.n
    W, b, mu, floor = _matrix(args, m, m), args[m * m :], args[m * m + m :], args[m * m + m + n :]
    u = [_sum(_dot(row, p), x) for row, x in zip(W, b, strict=False)]

    def part(i: int, j: int) -> Matrix:
        return [W[3 * i + r][3 * j : 3 * j + 3] for r in range(3)]

    states = [
        contact_state(_ARITHMETIC, part(i, i), p[3 * i : 3 * i + 3], u[3 * i : 3 * i + 3], mu[i], floor[i])
        for i in range(n)
    ]
    slope = [[0.0] * m for _ in range(m)]
    for i in range(n):
        for j in range(n):
            for r, row in enumerate(contact_slope(states[i], part(i, j), mu[i], float(i == j))):
                slope[3 * i + r][3 * j : 3 * j + 3] = row
    return states, slope


_ARITHMETIC = SimpleNamespace(
    where=lambda c, a, b: c * a + (1.0 - c) * b, less=lambda a, b: (a < b) * 1.0, sqrt=lambda x: x**0.5
)


# ── table ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _table_forward(
    block: Table, evaluate: Evaluate, args: Vector, values: Vector, tangents: Sequence[Vector]
) -> list[list[S]]:
    (slope,) = evaluate(block.derivative, args)
    return [[_times(slope, tangent)] for (tangent,) in tangents]


def _table_reverse(
    block: Table, evaluate: Evaluate, args: Vector, values: Vector, adjoints: Sequence[Vector], moving: Sequence[bool]
) -> list[list[S]]:
    return _table_forward(block, evaluate, args, values, adjoints)  # one number in, one number out


# ── surfaces over a grid ──────────────────────────────────────────────────────────────────────────────────────────────


def _slopes(block: Bicubic, evaluate: Evaluate, args: Vector) -> list[tuple[S, S]]:
    """For each output of a `Bicubic` block its derivatives with respect to x and y."""
    higher = dict(zip(partials(block.order + 1), evaluate(Bicubic(block.grid, block.order + 1), args), strict=True))
    return [(higher[a + 1, b], higher[a, b + 1]) for a, b in partials(block.order)]


def _bicubic_forward(
    block: Bicubic, evaluate: Evaluate, args: Vector, values: Vector, tangents: Sequence[Vector]
) -> list[list[S]]:
    slopes = _slopes(block, evaluate, args)
    return [[_dot(slope, tangent) for slope in slopes] for tangent in tangents]


def _bicubic_reverse(
    block: Bicubic, evaluate: Evaluate, args: Vector, values: Vector, adjoints: Sequence[Vector], moving: Sequence[bool]
) -> list[list[S]]:
    by_x, by_y = zip(*_slopes(block, evaluate, args), strict=True)
    return [[_dot(by_x, row), _dot(by_y, row)] for row in adjoints]


def _nearest_equations(block: NearestPoint, evaluate: Evaluate, args: Vector, values: Vector) -> tuple[Vector, Vector]:
    """(A, b) of the linear equations  A [dx, dy] = [dp_x, dp_y] + b dp_z  of a nearest point (x, y).

    A is given by its lower triangle, row by row, (3,); b (2,). Where p is so far above the surface that no nearest
    point is searched, A = 1 and b = 0, because then x = p_x and y = p_y.
    """
    x, y, searched = values[:3]
    f, fx, fy, fxx, fxy, fyy = evaluate(Bicubic(block.grid, 2), [x, y])
    gap = f - args[2]
    a, b, d = (
        searched * (one * other + gap * bent) for one, other, bent in ((fx, fx, fxx), (fx, fy, fxy), (fy, fy, fyy))
    )
    return [1.0 + a, b, 1.0 + d], [searched * fx, searched * fy]


def _nearest_forward(
    block: NearestPoint, evaluate: Evaluate, args: Vector, values: Vector, tangents: Sequence[Vector]
) -> list[list[S]]:
    lower, lift = _nearest_equations(block, evaluate, args, values)
    right = [[[_sum(t[k], _times(lift[k], t[2]))] for k in (0, 1)] for t in tangents]
    moved = _solved(evaluate, lower, right, 2)
    below = _bicubic_forward(Bicubic(block.grid, 1), evaluate, args[:2], values[3:], [t[:2] for t in tangents])
    return [[*_flat(foot), 0.0, *under] for foot, under in zip(moved, below, strict=True)]


def _nearest_reverse(
    block: NearestPoint,
    evaluate: Evaluate,
    args: Vector,
    values: Vector,
    adjoints: Sequence[Vector],
    moving: Sequence[bool],
) -> list[list[S]]:
    lower, lift = _nearest_equations(block, evaluate, args, values)
    found = _solved(evaluate, lower, [[[row[0]], [row[1]]] for row in adjoints], 2)
    below = _bicubic_reverse(
        Bicubic(block.grid, 1), evaluate, args[:2], values[3:], [row[3:] for row in adjoints], moving
    )
    return [[*map(_sum, _flat(at), under), _dot(lift, _flat(at)), 0.0] for at, under in zip(found, below, strict=True)]


RULES: dict[type[Block], Rule] = {
    Solve: Rule(_solve_forward, _solve_reverse),
    LeastSquares: Rule(_least_squares_forward, _least_squares_reverse),
    Complementarity: Rule(_complementarity_forward, _complementarity_reverse),
    CoulombCone: Rule(_cone_forward, _cone_reverse),
    Table: Rule(_table_forward, _table_reverse),
    Bicubic: Rule(_bicubic_forward, _bicubic_reverse),
    NearestPoint: Rule(_nearest_forward, _nearest_reverse),
}


# ── matrices as lists of rows; entries known to be zero are skipped ───────────────────────────────────────────────────


def _in_one(evaluate: Callable[[list[S], int], Sequence[S]], right: Sequence[Matrix], n: int) -> list[Matrix]:
    """One result matrix, with n rows, for each matrix in `right`, by a single call of `evaluate(columns, k)`.

    The call gets the k columns of all matrices side by side, row by row; columns known to be zero are left out.
    """
    columns = [column for matrix in right for column in _transposed(matrix)]
    sent = [k for k, column in enumerate(columns) if any(map(_is_there, column))]
    results: Matrix = [[0.0] * n for _ in columns]
    if sent:
        given = _flat(_transposed([columns[k] for k in sent]))
        for row, entries in enumerate(_matrix(evaluate(given, len(sent)), n, len(sent))):
            for k, entry in zip(sent, entries, strict=True):
                results[k][row] = entry
    ends = iter(results)
    return [_transposed([next(ends) for _ in matrix[0]]) for matrix in right]


def _is_there(x: S) -> bool:
    """Whether `x` may be other than zero: everything except the float 0.0, which marks an entry known to be zero."""
    return not (type(x) is float and x == 0.0)


def _times(a: S, b: S) -> S:
    return a * b if _is_there(a) and _is_there(b) else 0.0


def _sum(a: S, b: S) -> S:
    if not _is_there(a):
        return b
    return a + b if _is_there(b) else a


def _difference(a: S, b: S) -> S:
    if not _is_there(b):
        return a
    return a - b if _is_there(a) else -b


def _minus_sum(a: S, b: S) -> S:
    total = _sum(a, b)
    return -total if _is_there(total) else 0.0


def _matrix(entries: Vector, rows: int, columns: int) -> Matrix:
    return [list(entries[i * columns : (i + 1) * columns]) for i in range(rows)]


def _symmetric(lower: Vector, n: int) -> Matrix:
    """The symmetric matrix, shape (n, n), whose lower triangle is given row by row."""
    return [[lower[max(i, j) * (max(i, j) + 1) // 2 + min(i, j)] for j in range(n)] for i in range(n)]


def _zeros(rows: int, columns: int) -> Matrix:
    return [[0.0] * columns for _ in range(rows)]


def _flat(matrix: Matrix) -> list[S]:
    return [entry for row in matrix for entry in row]


def _transposed(matrix: Matrix) -> Matrix:
    return [list(column) for column in zip(*matrix, strict=True)]


def _plus(a: Matrix, b: Matrix) -> Matrix:
    return [list(map(_sum, *rows)) for rows in zip(a, b, strict=True)]


def _minus(a: Matrix, b: Matrix) -> Matrix:
    return [list(map(_difference, *rows)) for rows in zip(a, b, strict=True)]


def _product(a: Matrix, b: Matrix) -> Matrix:
    columns = _transposed(b)
    return [[_dot(row, column) for column in columns] for row in a]


def _dot(a: Vector, b: Vector) -> S:
    total: S = 0.0
    for x, y in zip(a, b, strict=True):
        total = _sum(total, _times(x, y))
    return total
