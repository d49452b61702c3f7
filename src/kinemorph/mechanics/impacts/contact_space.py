"""Impacts seen from the contacts: which velocities their impulses cause, while other constraints hold on.

    u = u0 + W p,      W = J P J^T,      P = M^-1 - M^-1 G^T (G M^-1 G^T)^-1 G M^-1

J has the rows of the contacts, G those that hold: loops, coupled joints, locked joints, feet that cannot leave. With
M^-1 = N D^-1 N^T (branch_factor) a row is a vector N^T J^T; its part across the vectors of the rows that hold is all
that remains of it (constraints.constrained). W is formed from these parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinemorph.algebra.scalar import S, is_zero, less_equal, minus, plus, times, where
from kinemorph.algebra.vectors import add, dot, matvec, sub
from kinemorph.mechanics.constraints.constrained import ConstraintRows, constrained_dynamics, span_of
from kinemorph.mechanics.derivatives.branch_factor import BranchFactor, gathered

NONE = ConstraintRows([], [], [])
ROUNDING = 1e-12  # of a row: what the rows that hold leave of it counts as nothing where it is smaller


class ContactRows(NamedTuple):
    """The rows of n contacts, each a gap between two surfaces that touch.

    `rows` (n, 1 + t, nv): J v is the velocity [m/s] of the gap, normal first and positive where it opens, then one
    tangent (planar contacts) or two (contacts in space), orthogonal unit vectors. `friction` (n,) are the coefficients
    mu, finite; `weights` (n,) are 1, or 0 for contacts that take no part. `restitution` (n,) replaces that of the law.
    """

    rows: Sequence[Sequence[Sequence[S]]]
    friction: Sequence[S]
    weights: Sequence[S] | None = None
    restitution: Sequence[S] | None = None

    @property
    def width(self) -> int:
        """The number of rows per contact: 2 for planar contacts, 3 for contacts in space."""
        return len(self.rows[0])

    @property
    def J(self) -> list[Sequence[S]]:
        """All rows (n (1 + t), nv), contact by contact."""
        return [row for contact in self.rows for row in contact]


class ContactSpace(NamedTuple):
    """W (m, m) [1/kg] and u0 (m,) [m/s], the velocities of the contacts before their impulses act, m = n (1 + t).

    `moves` (m,) are 1, or 0 for rows that other constraints hold entirely; it is empty where nothing holds.
    """

    W: list[list[S]]
    u: list[S]
    moves: Sequence[S] = ()


class Settled(NamedTuple):
    """Velocities (nv,) after given impulses of the contacts, and the impulses (nc,) of the rows that hold."""

    v: list[S]
    held: list[S]


def holding(rows: ConstraintRows, v: Sequence[S]) -> ConstraintRows:
    """Rows that keep the rates J v that they have before an impact: loops and locks that hold on."""
    return rows._replace(wanted=[dot(row, v) for row in rows.J])


def contact_space(metric: BranchFactor, v: Sequence[S], contacts: ContactRows, holds: ConstraintRows) -> ContactSpace:
    """W and u0 of contacts, with `metric` the factored mass matrix and v (nv,) the velocities before the impact.

    `holds.wanted` are the rates of the rows that hold after the impact; u0 are the velocities at which they have them.
    """
    J = contacts.J
    vectors = [gathered(metric, row) for row in J]
    moves: list[S] = []
    if len(holds.J):
        before = [_squared(metric, vector) for vector in vectors]
        span = span_of(metric, holds)
        for _ in range(2):  # the second pass removes rounding errors
            for u, heavy, size in zip(span.vectors, span.weighted, span.sizes, strict=True):
                shares = [times(size, dot(heavy, vector)) for vector in vectors]
                vectors = [
                    vector if is_zero(share) else [minus(x, times(share, y)) for x, y in zip(vector, u, strict=True)]
                    for vector, share in zip(vectors, shares, strict=True)
                ]
        moves = [
            where(less_equal(_squared(metric, vector), ROUNDING * ROUNDING * size), 0.0, 1.0)
            for vector, size in zip(vectors, before, strict=True)
        ]
    heavy_vectors = [[times(x, pivot) for x, pivot in zip(vector, metric.pivots, strict=True)] for vector in vectors]
    m = len(J)
    W: list[list[S]] = [[0.0] * m for _ in range(m)]
    for i in range(m):
        for j in range(i + 1):
            W[i][j] = W[j][i] = dot(heavy_vectors[i], vectors[j])
    start = settled(metric, v, [], NONE, holds).v if len(holds.J) else v
    return ContactSpace(W, [dot(row, start) for row in J], moves)


def _squared(metric: BranchFactor, vector: Sequence[S]) -> S:
    """The square of the size of a row, W_ii [1/kg], from its vector N^T J^T."""
    return dot([times(x, pivot) for x, pivot in zip(vector, metric.pivots, strict=True)], vector)


def settled(
    metric: BranchFactor,
    v: Sequence[S],
    impulses: Sequence[S],
    contacts: ContactRows | ConstraintRows,
    holds: ConstraintRows,
) -> Settled:
    """The velocities after impulses (m,) of the contacts act at v, while the rows that hold get their wanted rates."""
    force: list[S] = [0.0] * len(v)
    for row, impulse in zip(contacts.J, impulses, strict=True):
        force = [plus(f, times(x, impulse)) for f, x in zip(force, row, strict=True)]
    missing = holds._replace(wanted=[minus(goal, dot(row, v)) for goal, row in zip(holds.wanted, holds.J, strict=True)])
    first = constrained_dynamics(metric, force, missing)
    if not len(holds.J):
        return Settled(list(add(v, first.a)), [])
    left = missing._replace(wanted=sub(missing.wanted, matvec(missing.J, first.a)))
    again = constrained_dynamics(metric, [0.0] * len(v), left)  # removes rounding errors
    return Settled(list(add(v, add(first.a, again.a))), list(add(first.multipliers, again.multipliers)))
