"""Several contacts at once, in Coulomb's cone: impulses that push, and friction that opposes the velocity at the end.

    u = W p + b,     p_n >= floor  complements  u_n >= 0,     |p_t| <= mu p_n,     p_t = -mu p_n u_t / |u_t| if sliding

In a plane this is a linear complementarity problem, with the friction split into its two directions and the sliding
speed as a further unknown (Glocker and Pfeiffer; Stewart and Trinkle). In space it is a block op of its own, see
`vocabulary.coulomb_cone`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinemorph.algebra.linear import applied, complementarity
from kinemorph.algebra.scalar import S, absolute, less, maximum, times, where
from kinemorph.algebra.vectors import add, matvec
from kinemorph.vocabulary.coulomb_cone import CoulombCone

ROUNDING = 2e-12  # relative to the largest velocity: twice the ties of `vocabulary.complementarity`


class ConeSolution(NamedTuple):
    """Impulses p (m,), velocities u (m,), and the largest violation of the equations [m/s]; NaN if unsolved."""

    p: Sequence[S]
    u: Sequence[S]
    error: S


def in_coulomb_cone(
    W: Sequence[Sequence[S]], b: Sequence[S], mu: Sequence[S], floor: Sequence[S] | None = None
) -> ConeSolution:
    """The impulses of n contacts, normal first: W (m, m), b (m,), mu (n,), m = 2 n in a plane and 3 n in space.

    `floor` (n,) are normal impulses that act in any case, as in a phase of restitution; 0 by default.
    """
    n = len(mu)
    least = [0.0] * n if floor is None else floor
    if len(b) == 2 * n:
        p, error = _in_wedge(W, b, mu, least)
    else:
        *p, error = applied(CoulombCone(n), [*(x for row in W for x in row), *without_rounding(b), *mu, *least])
    return ConeSolution(p, add(matvec(W, p), b), error)


def without_rounding(b: Sequence[S]) -> list[S]:
    """Velocities b (m,) in which rounding errors of a velocity that should be 0 are 0.

    The pivots of a complementarity problem take differences of this size for ties: a contact that approaches at less
    would count as one that does not, and there would be no solution.
    """
    size: S = 0.0
    for x in b:
        size = maximum(size, absolute(x))
    return [where(less(ROUNDING * size, absolute(x)), x, 0.0) for x in b]


def _in_wedge(W: Sequence[Sequence[S]], b: Sequence[S], mu: Sequence[S], least: Sequence[S]) -> tuple[list[S], S]:
    """(impulses (2 n,), 0 or NaN) of planar contacts, from a linear complementarity problem.

    Its unknowns are, for each contact, the normal impulse above its floor, the friction along the tangent and against
    it, and the sliding speed. They complement the normal velocity, the velocities along both directions plus the
    speed, and the friction that is left.
    """
    n = len(mu)
    A: list[list[S]] = [[0.0] * (4 * n) for _ in range(4 * n)]
    right: list[S] = [0.0] * (4 * n)
    signs = ((0, 1.0), (1, 1.0), (1, -1.0))  # (row of the contact, sign) of the first three unknowns
    for i in range(n):
        for a, (r, sign) in enumerate(signs):
            start = b[2 * i + r]
            for j in range(n):
                start = start + times(W[2 * i + r][2 * j], least[j])
                for c, (s, other) in enumerate(signs):
                    A[4 * i + a][4 * j + c] = times(sign * other, W[2 * i + r][2 * j + s])
            right[4 * i + a] = times(sign, start)
        A[4 * i + 1][4 * i + 3] = A[4 * i + 2][4 * i + 3] = 1.0
        A[4 * i + 3][4 * i : 4 * i + 3] = [mu[i], -1.0, -1.0]
        right[4 * i + 3] = times(mu[i], least[i])
    z, solved = complementarity(A, without_rounding(right))
    p = [x for i in range(n) for x in (least[i] + z[4 * i], z[4 * i + 1] - z[4 * i + 2])]
    return p, where(solved, 0.0 * solved, z[0])
