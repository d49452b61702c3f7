"""Motion under constraints: the accelerations, velocities or small displacements that satisfy constraint rows and are
nearest to the unconstrained ones.

    M a - J^T lambda = rest,      J a = wanted

With M^-1 = N D^-1 N^T (branch_factor) and y = D N^-1 a, a row of J is a vector z = N^T J^T, and its condition on a is
one on y: <z, y> = wanted, in the inner product of D^-1. The vectors are made orthogonal one after the other (Gram and
Schmidt), so each condition is satisfied by moving y along one direction that does not disturb the earlier ones. The
accuracy is limited by the condition number of J; J M^-1 J^T, whose condition number is the square of that, is never
formed. Everything is unrolled entry by entry: loops that share no joint do not add to each other's cost.

The remainder u of a row is the part of its vector that earlier vectors do not span. Where it is zero, the row repeats
earlier rows, as in every planar mechanism of hinges in space, and it gets no multiplier. Where loops are slightly open,
rows that would repeat others in a closed configuration have a remainder of about the opening: so the larger the
opening, the larger a remainder has to be to count. Subtracting short remainders of earlier rows increases the error of
later ones. If a body is light, all rows that move it are nearly parallel in the metric of M, and so are their errors;
so there is a second estimate of the error of u, from the row without masses, times |D^-1 u| / |u|. A row counts as
independent if its remainder exceeds one of the two estimates.

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
from kinemorph.mechanics.derivatives.branch_factor import BranchFactor, gathered, spread

REPEATED = 1e-8  # a row whose remainder is below this share of its length repeats earlier rows
PER_OPENING = 30.0  # this share grows by so much for each unit of opening, see `ConstraintRows.opening`
MOST_REPEATED = 1e-3  # this share is never larger
SQUARED = 1e-13  # the share of squared lengths where products of rows are formed, which lose half of the digits
MOST_WRITTEN = 6_000  # multiplications for orthogonal vectors that are unrolled at most
MOST_ELIMINATED = 60_000  # multiplications of elimination; beyond that, matrices are solved in loop programs


class ConstraintRows(NamedTuple):
    """Constraint rows J a = wanted on accelerations, velocities or displacements `a`: J (nc, nv), wanted (nc,).

    `weights` (nc,) are 1 for a constraint, 0 for a row that is only rounding errors. `opening` is the sum of squares of
    the constraint errors, each relative to the change that a unit of motion could cause. The first `soft` rows (a
    number) are those that `softened` adds; they never repeat others.
    """

    J: Sequence[Sequence[S]]
    wanted: Sequence[S]
    weights: Sequence[S]
    opening: S = 0.0
    soft: int = 0


class Constrained(NamedTuple):
    """Accelerations (nv,), multipliers (nc,) [N or N m], the number of independent constraints; and for each row (nc,)
    1 where it was imposed, 0 where it is no constraint or repeats other rows.
    """

    a: list[S]
    multipliers: list[S]
    rank: S
    counts: list[S]


class Span(NamedTuple):
    """Orthogonal vectors u that span the rows: the vector of row j is  u_j + sum over i < j of shares[j][i] u_i."""

    vectors: list[list[S]]  # u_j, (nv,)
    weighted: list[list[S]]  # D^-1 u_j
    sizes: list[S]  # 1 / <u_j, u_j>, 0 for a row that repeats earlier rows
    counts: list[S]  # 1, or 0 for a row that repeats earlier rows
    shares: list[dict[int, S]]
    rank: S


def constrained_dynamics(metric: BranchFactor, rest: Sequence[S], rows: ConstraintRows) -> Constrained:
    """The solution of  M a - J^T lambda = rest,  J a = wanted.

    `metric` is the factored M, and `rest` (nv,) are the generalized forces tau - h. In long chains of loops the
    orthogonal vectors fill up with nonzeros, while products of rows couple neighbors only: there J M^-1 J^T is formed
    and solved by elimination.
    """
    long = written_out(metric.ways, rows.J) > MOST_WRITTEN
    return _of_real(rows, lambda real: (_eliminated if long else _met)(metric, rest, real))


def least_share(opening: S, least: float = REPEATED**2) -> S:
    """A constraint row counts as independent of earlier rows if (remainder / length)^2 is at least this number.

    The remainder is the part of the row that earlier rows do not span. The number is `least` where loops are closed,
    and grows with the `opening`, see `ConstraintRows`.
    """
    return minimum(least + times(PER_OPENING**2, opening), max(least, MOST_REPEATED**2))


def with_locked_rows(rows: ConstraintRows, locked: Collection[int], nv: int) -> ConstraintRows:
    """The rows, then a row a[k] = 0 for each index k in `locked`; `nv` is the number of velocities."""
    if not locked:
        return rows
    units = [[float(k == j) for k in range(nv)] for j in sorted(locked)]
    return ConstraintRows(
        [*rows.J, *units], [*rows.wanted, *[0.0] * len(units)], [*rows.weights, *[1.0] * len(units)], rows.opening
    )


def softened(
    metric: BranchFactor, rest: Sequence[S], rows: ConstraintRows, soft: Sequence[Sequence[S]]
) -> tuple[BranchFactor, list[S], ConstraintRows]:
    """(metric, rest, rows) of a system with the mass matrix M + sum of j^T j, over soft rows j (nv,).

    A soft row couples velocities of any branches, so that the sum cannot be part of the factored M. It is replaced by
    an additional velocity s of mass 1 and the constraint  j a = s.  The constraint force is -s, so that M a = rest -
    j^T j a.  Where j is zero, the row has no effect on the robot, and it is never a multiple of other rows. The
    accelerations of the larger system end with those of the additional velocities.
    """
    nv, more = len(metric.ways), len(soft)
    wider = BranchFactor(
        [*metric.ways, *([] for _ in soft)],
        [*metric.N, *({} for _ in soft)],
        [*metric.pivots, *[1.0] * more],
        metric.sums,
    )
    J = [[*row, *(-1.0 if k == n else 0.0 for k in range(more))] for n, row in enumerate(soft)]
    J += [[*row, *[0.0] * more] for row in rows.J]
    ones = [1.0] * more
    both = ConstraintRows(J, [*[0.0] * more, *rows.wanted], [*ones, *rows.weights], rows.opening, more)
    assert all(len(row) == nv + more for row in J)
    return wider, [*rest, *[0.0] * more], both


def span_of(metric: BranchFactor, rows: ConstraintRows, least: float = REPEATED) -> Span:
    """The vectors of all constraint rows, made orthogonal in the metric of the mass matrix; see `Span`.

    A row is independent of earlier rows where its remainder is longer than `least` times its length.
    """
    off = minimum(times(PER_OPENING**2, rows.opening), MOST_REPEATED**2)
    # squared error bounds of each u_j, in units of `off`: of z_j and of earlier short vectors; (with, without) masses
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


def masked(mask: Sequence[S]) -> BranchFactor:
    """A metric in place of the factored mass matrix, in which only velocities whose `mask` (nv,) is 1 can change."""
    return BranchFactor([[] for _ in mask], [{} for _ in mask], list(mask))


def _met(metric: BranchFactor, rest: Sequence[S], rows: ConstraintRows) -> Constrained:
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


def _eliminated(metric: BranchFactor, rest: Sequence[S], rows: ConstraintRows) -> Constrained:
    """The solution by factors L D L^T = J M^-1 J^T, which are sparse where few rows are neighbors.

    A row whose pivot is zero repeats earlier rows and is left out.
    """
    limit = least_share(rows.opening, SQUARED)
    z = [gathered(metric, row) for row in rows.J]
    heavy = [[times(x, pivot) for x, pivot in zip(row, metric.pivots, strict=True)] for row in z]
    y = gathered(metric, rest)
    L: list[dict[int, S]] = []  # the rows of L, without its unit diagonal
    inverses: list[S] = []
    solution: list[S] = []
    counted: list[S] = []
    rank: S = 0.0
    for j, row in enumerate(z):
        found = {i: dot(heavy[i], row) for i in range(j)}
        line: dict[int, S] = {}  # row j of L D
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


def _of_real(rows: ConstraintRows, solve: Callable[[ConstraintRows], Constrained]) -> Constrained:
    """The result of `solve` for the rows that are not structurally zero; the other rows get a multiplier of 0.

    Such rows occur, for example, where a hinge closes a planar loop: motion out of the plane is impossible anyway.
    """
    real = [j for j, row in enumerate(rows.J) if not all(map(is_zero, row))]
    J, wanted, weights = ([part[j] for j in real] for part in rows[:3])
    found = solve(ConstraintRows(J, wanted, weights, rows.opening, rows.soft))  # soft rows stay: they are never zero
    multipliers: list[S] = [0.0] * len(rows.J)
    counts: list[S] = [0.0] * len(rows.J)
    for j, share, one in zip(real, found.multipliers, found.counts, strict=True):
        multipliers[j], counts[j] = share, one
    return Constrained(found.a, multipliers, found.rank, counts)


def eliminated_out(ways: Sequence[Sequence[int]], J: Sequence[Sequence[S]]) -> int:
    """About how many multiplications unrolled elimination takes, estimated from the structural zeros.

    `ways` are the paths of all axes to the root, see `branch_factor.ways_to_root`.
    """
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
    """About how many multiplications `constrained_dynamics` takes when unrolled, estimated from the structural zeros.

    `ways` are the paths of all axes to the root, see `branch_factor.ways_to_root`.
    """
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


def shared_out(M: Sequence[Sequence[S]], rest: Sequence[S], rows: ConstraintRows) -> Constrained:
    """The solution of  M a - J^T lambda = rest,  J a = wanted  by (J M^-1 J^T) lambda = wanted - J M^-1 rest.

    Where rows repeat others, the multipliers have the least norm, so that these rows share the load. M (nv, nv) is the
    mass matrix. The solution consists of block ops, which backends compute in loops: for many constraints, and where
    the share of each row in the load matters. J M^-1 J^T is scaled to unit diagonal before its rank is found, so that
    meters and radians count alike.
    """
    return _of_real(rows, lambda real: _shared(M, rest, real))


def _shared(M: Sequence[Sequence[S]], rest: Sequence[S], rows: ConstraintRows) -> Constrained:
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
