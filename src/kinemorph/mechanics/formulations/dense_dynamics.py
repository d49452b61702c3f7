"""Forward dynamics by the mass matrix: for formulations that have no recursion of their own for it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from kinemorph.algebra.linear import solve_definite
from kinemorph.algebra.scalar import S


def accelerations_by(M: Sequence[Sequence[S]], rest: Sequence[S], locked: Collection[int] = ()) -> list[S]:
    """a, shape (nv,), with M a = rest = tau - h; 0 where `locked`, by whatever force that takes.

    Eliminated from the last velocity to the first: tips before what carries them, so branches that do not meet stay
    apart.
    """
    free = [k for k in reversed(range(len(rest))) if k not in locked]
    found = solve_definite([[M[i][j] for j in free] for i in free], [rest[k] for k in free])
    accelerations: list[S] = [0.0] * len(rest)
    for k, a in zip(free, found, strict=True):
        accelerations[k] = a
    return accelerations
