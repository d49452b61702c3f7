"""Motion under constraints: the accelerations, velocities or small displacements nearest to free ones that satisfy
rows.

    M a - J^T lambda = rest,      J a = wanted

With M^-1 = N D^-1 N^T (branch_factor) and y = D N^-1 a, a row of J is a vector z = N^T J^T, and its condition on a is
one on y: <z, y> = wanted, in the inner product of D^-1. The vectors are made orthogonal one after the other (Gram and
Schmidt), so each condition is satisfied by moving y along one direction that does not disturb the earlier ones. The
accuracy is limited by the condition number of J; J M^-1 J^T, whose condition number is the square of that, is never
formed. All is written out entry by entry: loops that share no joint do not add to each other's cost.

A row whose vector is spanned by earlier ones repeats them, as in every planar mechanism of hinges in space; it gets no
multiplier. Where loops are slightly open, rows that would repeat others in a closed configuration differ from them by
about the opening: the larger the opening, the larger the remainder that still counts as repeated. The remainder of a
row has a larger error than the row itself where short remainders of earlier rows were subtracted. A light body makes
all rows that move it nearly parallel in this metric, and so their errors along it: their part in the remainder, along
u, is a share of the row without masses, times |D^-1 u| / |u|. A row counts where either measure says so.

The same method solves three more problems. With rest = 0 and wanted = -phi it gives the smallest displacement, measured
by M, that closes loops; with wanted = -J v the smallest change of velocity. With a mask in place of M^-1 only the
dependent velocities move.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from kinemorph.algebra.linear import least_squares, solve
from kinemorph.algebra.scalar import S, div, is_zero, less, maximum, minimum, minus, plus, sqrt, times, where
from kinemorph.algebra.vectors import dot
from kinemorph.mechanics.derivatives.branch_factor import BranchFactor

REPEATED = 1e-8  # a row whose remainder is below this share of its length repeats earlier ones
PER_OPENING = 30.0  # this share grows by so much for each unit of opening, see `Rows.opening`
MOST_REPEATED = 1e-3  # and is at most this
SQUARED = 1e-13  # the share of squares, where products of rows are formed: these have lost half of the digits
MOST_WRITTEN = 6_000  # products of orthogonal vectors that are written out at most
MOST_ELIMINATED = 60_000  # products of elimination; beyond that, matrices are solved in loop programs


class Rows(NamedTuple):
    """Conditions J a = wanted on accelerations, velocities or displacements: J (nc, nv), wanted (nc,).

    `weights` (nc,): 1 for a row that is a condition, 0 for one that is only rounding. `opening`: the sum of squares of
    how far constraints are off, each relative to what a unit of motion could do. The first `soft` rows are those of
    `softened`: they never repeat others.
    """

    J: Sequence[Sequence[S]]
    wanted: Sequence[S]
    weights: Sequence[S]
    opening: S = 0.0
    soft: int = 0


class Constrained(NamedTuple):
    """Accelerations (nv,), multipliers (nc,) [N or N m], the number of independent constraints; and 1 for each row that
    was satisfied, 0 for one that is no condition or repeats others, (nc,).
    """

    a: list[S]
    multipliers: list[S]
    rank: S
    counts: list[S]


class Span(NamedTuple):
    """The vectors of rows made orthogonal: row j is  u_j + sum over i < j of shares[j][i] u_i."""

    vectors: list[list[S]]  # u_j, (nv,)
    weighted: list[list[S]]  # D^-1 u_j
    sizes: list[S]  # 1 / <u_j, u_j>, 0 for a row that repeats earlier ones
    counts: list[S]  # 1, or 0 for such a row
    shares: list[dict[int, S]]
    rank: S


def constrained_dynamics(metric: BranchFactor, rest: Sequence[S], rows: Rows) -> Constrained:
    """Solves  M a - J^T lambda = rest,  J a = wanted  for the factor of M and rest (nv,).

    In long chains of loops the orthogonal vectors fill up, while products of rows couple neighbors only: there J M^-1
    J^T is eliminated.
    """
    long = written_out(metric.ways, rows.J) > MOST_WRITTEN
    return _of_real(rows, lambda real: (_eliminated if long else _met)(metric, rest, real))


def least_share(opening: S, least: float = REPEATED**2) -> S:
    """The square of the least remainder of a row, relative to its length, with which it counts; see `Rows.opening`."""
    return minimum(least + times(PER_OPENING**2, opening), max(least, MOST_REPEATED**2))


def held_rows(rows: Rows, locked: Collection[int], nv: int) -> Rows:
    """The rows, and one more for each locked velocity, by its index of nv."""
    if not locked:
        return rows
    units = [[float(k == j) for k in range(nv)] for j in sorted(locked)]
    return Rows(
        [*rows.J, *units], [*rows.wanted, *[0.0] * len(units)], [*rows.weights, *[1.0] * len(units)], rows.opening
    )


def softened(
    metric: BranchFactor, rest: Sequence[S], rows: Rows, soft: Sequence[Sequence[S]]
) -> tuple[BranchFactor, list[S], Rows]:
    """The metric, `rest` and rows of a system whose mass matrix M has grown by the sum of j^T j over soft rows j (nv,).

    Each of these couples velocities of any branches, so the sum cannot join the factor of M. A soft row is a condition
    on one velocity s more, of mass 1:  j a = s.  Its force is -s, and so  M a = rest - j^T j a.  Where j is zero the
    row moves nothing, and it is never a multiple of other rows. Accelerations of the larger system end with those of s.
    """
    nv, more = len(metric.ways), len(soft)
    wider = BranchFactor(
        [*metric.ways, *([] for _ in soft)], [*metric.N, *({} for _ in soft)], [*metric.pivots, *[1.0] * more]
    )
    J = [[*row, *(-1.0 if k == n else 0.0 for k in range(more))] for n, row in enumerate(soft)]
    J += [[*row, *[0.0] * more] for row in rows.J]
    ones = [1.0] * more
    both = Rows(J, [*[0.0] * more, *rows.wanted], [*ones, *rows.weights], rows.opening, more)
    assert all(len(row) == nv + more for row in J)
    return wider, [*rest, *[0.0] * more], both


def span_of(metric: BranchFactor, rows: Rows, least: float = REPEATED) -> Span:
    """The vectors of all rows, made orthogonal in the metric; a row counts whose remainder is at least `least` of its
    length.
    """
    off = minimum(times(PER_OPENING**2, rows.opening), MOST_REPEATED**2)
    # what `off` is a share of in u_j: z_j, and the errors of earlier short vectors; with masses, and without
    doubts: list[tuple[S, S]] = []
    vectors: list[list[S]] = []
    weighted: list[list[S]] = []
    sizes: list[S] = []
    shares: list[dict[int, S]] = []
    counted: list[S] = []
    rank: S = 0.0
    for n, (row, weight) in enumerate(zip(rows.J, rows.weights, strict=True)):
        z = u = gathered(metric, row)
        whole = _square(u, metric)
        share: dict[int, S] = {}
        for i, (earlier, heavy) in enumerate(zip(vectors, weighted, strict=True)):
            along = dot(heavy, u)
            if not is_zero(along):
                share[i] = times(along, sizes[i])
                u = [minus(x, times(share[i], y)) for x, y in zip(u, earlier, strict=True)]
        left = _square(u, metric) if share else whole
        along_u = [times(x, pivot) for x, pivot in zip(u, metric.pivots, strict=True)]
        doubt, bare = (0.0, 0.0) if n < rows.soft else (whole, dot(z, z))
        for i, x in share.items():
            doubt = plus(doubt, times(times(x, x), doubts[i][0]))
            bare = plus(bare, times(times(x, x), doubts[i][1]))
        own = minus(left, times(least**2, whole))
        said = less(times(off, doubt), own)
        if not is_zero(off):
            said = maximum(said, less(times(off, times(bare, dot(along_u, along_u))), times(left, own)))
        certain = n < rows.soft or (not share and isinstance(weight, float))
        counts = weight if certain else times(weight, said)
        doubts.append((doubt, bare))
        vectors.append(u)
        weighted.append(along_u)
        sizes.append(where(counts, div(1.0, left), 0.0))
        shares.append(share)
        counted.append(counts)
        rank = plus(rank, counts)
    return Span(vectors, weighted, sizes, counted, shares, rank)


def gathered(metric: BranchFactor, b: Sequence[S]) -> list[S]:
    """N^T b, shape (nv,)."""
    whole = list(b)
    for i, way in enumerate(metric.ways):
        if not is_zero(b[i]):
            for j in way:
                whole[j] = plus(whole[j], times(metric.N[i][j], b[i]))
    return whole


def spread(metric: BranchFactor, y: Sequence[S]) -> list[S]:
    """N D^-1 y, shape (nv,): the accelerations of y."""
    heavy = [times(x, pivot) for x, pivot in zip(y, metric.pivots, strict=True)]
    return [
        plus(heavy[i], dot([metric.N[i][j] for j in way], [heavy[j] for j in way])) for i, way in enumerate(metric.ways)
    ]


def masked(mask: Sequence[S]) -> BranchFactor:
    """The metric in which velocities with a mask (nv,) of 1 move, and those with 0 do not."""
    return BranchFactor([[] for _ in mask], [{} for _ in mask], list(mask))


def _met(metric: BranchFactor, rest: Sequence[S], rows: Rows) -> Constrained:
    span = span_of(metric, rows)
    y = gathered(metric, rest)
    goals: list[S] = []
    moved: list[S] = []
    for j, (u, heavy, size) in enumerate(zip(span.vectors, span.weighted, span.sizes, strict=True)):
        goal = rows.wanted[j]
        for i, share in span.shares[j].items():
            goal = minus(goal, times(share, goals[i]))
        goals.append(goal)
        step = times(size, minus(goal, dot(heavy, y)))
        moved.append(step)
        y = [plus(one, times(step, x)) for one, x in zip(y, u, strict=True)]
    for j in range(len(moved) - 1, -1, -1):  # from the orthogonal vectors to the rows
        for i, share in span.shares[j].items():
            moved[i] = minus(moved[i], times(share, moved[j]))
    return Constrained(spread(metric, y), moved, span.rank, span.counts)


def _eliminated(metric: BranchFactor, rest: Sequence[S], rows: Rows) -> Constrained:
    """Solves by L D L^T = J M^-1 J^T, which is sparse where few rows are neighbors; a pivot of zero leaves its
    row out.
    """
    limit = least_share(rows.opening, SQUARED)
    z = [gathered(metric, row) for row in rows.J]
    heavy = [[times(x, pivot) for x, pivot in zip(row, metric.pivots, strict=True)] for row in z]
    y = gathered(metric, rest)
    L: list[dict[int, S]] = []  # rows below the unit diagonal
    inverses: list[S] = []
    solution: list[S] = []
    counted: list[S] = []
    rank: S = 0.0
    for j, row in enumerate(z):
        found = {i: dot(heavy[i], row) for i in range(j)}
        line: dict[int, S] = {}  # of L D
        whole = dot(heavy[j], row)
        pivot, right = whole, minus(rows.wanted[j], dot(heavy[j], y))
        for i in range(j):
            entry = found[i]
            for k, x in line.items():
                entry = minus(entry, times(x, L[i].get(k, 0.0)))
            if not is_zero(entry):
                line[i] = entry
        below = {i: times(entry, inverses[i]) for i, entry in line.items()}
        for i, entry in below.items():
            pivot = minus(pivot, times(entry, line[i]))
            right = minus(right, times(entry, solution[i]))
        counts = times(rows.weights[j], 1.0 if j < rows.soft else less(times(limit, whole), pivot))
        L.append(below)
        inverses.append(where(counts, div(1.0, pivot), 0.0))
        solution.append(right)
        counted.append(counts)
        rank = plus(rank, counts)
    shares = [times(right, inverse) for right, inverse in zip(solution, inverses, strict=True)]
    for j in range(len(shares) - 1, -1, -1):
        for i, entry in L[j].items():
            shares[i] = minus(shares[i], times(entry, shares[j]))
    for share, row in zip(shares, z, strict=True):
        y = [plus(one, times(share, x)) for one, x in zip(y, row, strict=True)]
    return Constrained(spread(metric, y), shares, rank, counted)


def _square(u: Sequence[S], metric: BranchFactor) -> S:
    return dot([times(x, x) for x in u], metric.pivots)


def _of_real(rows: Rows, solve: Callable[[Rows], Constrained]) -> Constrained:
    """Leaves out rows that are zero by structure, such as those of a hinge that closes a planar loop in its plane."""
    real = [j for j, row in enumerate(rows.J) if not all(map(is_zero, row))]
    J, wanted, weights = ([part[j] for j in real] for part in rows[:3])
    found = solve(Rows(J, wanted, weights, rows.opening, rows.soft))  # a soft row is never zero
    multipliers: list[S] = [0.0] * len(rows.J)
    counts: list[S] = [0.0] * len(rows.J)
    for j, share, one in zip(real, found.multipliers, found.counts, strict=True):
        multipliers[j], counts[j] = share, one
    return Constrained(found.a, multipliers, found.rank, counts)


def eliminated_out(ways: Sequence[Sequence[int]], J: Sequence[Sequence[S]]) -> int:
    """About how many multiplications elimination writes out, by what is zero by structure."""
    reaches = [{j for i, x in enumerate(row) if not is_zero(x) for j in (*ways[i], i)} for row in J]
    lines: list[set[int]] = []
    count = sum(len(way) ** 2 for way in ways)
    for j, reach in enumerate(reaches):
        line = {i for i in range(j) if reaches[i] & reach}
        for i in range(j):
            if i not in line and lines[i] & line:
                line.add(i)
        count += len(reach) * (2 + sum(1 for i in line)) + sum(len(lines[i] & line) for i in line)
        lines.append(line)
    return count


def written_out(ways: Sequence[Sequence[int]], J: Sequence[Sequence[S]]) -> int:
    """About how many multiplications `constrained_dynamics` writes out, by what is zero by structure."""
    patterns: list[set[int]] = []
    count = sum(len(way) ** 2 for way in ways)
    for row in J:
        reach = {j for i, x in enumerate(row) if not is_zero(x) for j in (*ways[i], i)}
        for earlier in patterns:
            if earlier & reach:
                reach |= earlier
                count += 2 * len(earlier)
        patterns.append(reach)
        count += 4 * len(reach)
    return count


def shared_out(M: Sequence[Sequence[S]], rest: Sequence[S], rows: Rows) -> Constrained:
    """The solution by (J M^-1 J^T) lambda = wanted - J M^-1 rest, with multipliers of least norm where rows repeat
    others.

    M (nv, nv). It is made of blocks, which backends compute in loops: for many constraints, and where the share of each
    row in the load matters. Rows are scaled to unit diagonal before the rank is judged, so meters and radians weigh
    alike.
    """
    return _of_real(rows, lambda real: _shared(M, rest, real))


def _shared(M: Sequence[Sequence[S]], rest: Sequence[S], rows: Rows) -> Constrained:
    J, gamma, weights = rows[:3]
    nv, nc = len(M), len(J)
    if not nc:
        return Constrained([row[0] for row in solve(M, [[x] for x in rest])], [], 0.0, [])
    solved = solve(M, [[rest[i], *(J[c][i] for c in range(nc))] for i in range(nv)])
    free = [row[0] for row in solved]
    Y = [row[1:] for row in solved]  # M^-1 J^T
    A = [[dot(J[i], [Y[r][j] for r in range(nv)]) for j in range(nc)] for i in range(nc)]
    scale = [where(weights[i], div(1.0, sqrt(A[i][i])), 0.0) for i in range(nc)]
    missing = [[times(scale[i], gamma[i] - dot(J[i], free))] for i in range(nc)]
    scaled = [[times(times(scale[i], A[i][j]), scale[j]) for j in range(nc)] for i in range(nc)]
    shared, rank = least_squares(scaled, missing)
    multipliers = [times(scale[i], shared[i][0]) for i in range(nc)]
    a = [plus(free[i], dot(Y[i], multipliers)) for i in range(nv)]
    return Constrained(a, multipliers, rank, list(weights))
