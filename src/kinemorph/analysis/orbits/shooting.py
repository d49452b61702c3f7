"""Single and multiple shooting: the equations that close a cycle, and Newton's method with a line search.

The nodes z_0 .. z_(N-1) are the starts of the N pieces of a cycle, and the unknowns are Y = [z_0, ..., z_(N-1)]:

    F_i = P_i(z_i, p) - z_(i+1) = 0,    z_N = z_0

The product of the slopes of all pieces is the monodromy matrix; its eigenvalues are the Floquet multipliers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.orbits.return_map import Piece, Return

HALVINGS = 12  # of a Newton step that does not bring the solution nearer
FRESH = 1e-9  # a Newton step is not searched along any more where the residual is smaller than this


class Closure(NamedTuple):
    """The equations F (N,) of a cycle, and their derivatives by the nodes (N, N) and by parameters (N, k)."""

    F: Array
    by_nodes: Array
    by_p: Array
    monodromy: Array
    period: float
    message: str = ""

    @property
    def size(self) -> float:
        """The largest entry of F; infinite where the motion does not return."""
        return float(np.abs(self.F).max(initial=0.0)) if not self.message else np.inf


def closure(pieces: Sequence[Piece], nodes: Sequence[Array], p: Array) -> Closure:
    """The equations of the cycle that consists of these pieces, at their nodes and at the parameters p."""
    sizes = [len(node) for node in nodes]
    ends = np.cumsum([0, *sizes])
    found: list[Return] = []
    for number, (piece, node) in enumerate(zip(pieces, nodes, strict=True)):
        one = piece(node, p)
        if one.message:
            where = f"piece {number + 1} of {len(pieces)}: " if len(pieces) > 1 else ""
            nothing = np.full((ends[-1], ends[-1]), np.nan)
            return Closure(
                np.full(ends[-1], np.nan), nothing, nothing[:, :0], nothing[:0, :0], np.nan, where + one.message
            )
        found.append(one)
    total = int(ends[-1])
    F, by_nodes, by_p = np.zeros(total), np.zeros((total, total)), np.zeros((total, found[0].by_p.shape[1]))
    monodromy = np.eye(sizes[0])
    for k, one in enumerate(found):
        after = (k + 1) % len(found)
        rows, here, there = (slice(ends[j], ends[j + 1]) for j in (after, k, after))
        F[rows] = one.z - nodes[after]
        by_nodes[rows, here] += one.by_z
        by_nodes[rows, there] -= np.eye(sizes[after])
        by_p[rows] = one.by_p
        monodromy = one.by_z @ monodromy
    return Closure(F, by_nodes, by_p, monodromy, float(sum(one.duration for one in found)))


def parted(Y: Array, nodes: Sequence[Array]) -> list[Array]:
    """The unknowns Y (N,) as a list of nodes, each as long as the given one."""
    return np.split(Y, np.cumsum([len(node) for node in nodes])[:-1])


class Solved(NamedTuple):
    """The end of a Newton iteration."""

    Y: Array
    here: Closure
    iterations: int
    converged: bool
    message: str


def newton(
    evaluate: Callable[[Array], Closure],
    Y: Array,
    *,
    tolerance: float,
    most: int,
    scale: Array | None = None,
) -> Solved:
    """Newton's method for F(Y) = 0 with a line search: a step is halved until the residual falls.

    It has converged where every entry of F is smaller than `tolerance` times `scale`. It then goes on as long as steps
    still halve the residual, so that the solution is as good as rounding allows.
    """
    scale = np.ones(len(Y)) if scale is None else scale
    here = evaluate(Y)
    if here.message:
        return Solved(Y, here, 0, False, here.message)
    size = _size(here, scale)
    for count in range(1, most + 1):
        step = np.linalg.lstsq(here.by_nodes, -here.F, rcond=1e-13)[0]
        share = 1.0
        new = evaluate(Y + step)
        while not _size(new, scale) < (1.0 - 0.1 * share) * size and size > FRESH and share > 0.5**HALVINGS:
            share *= 0.5
            new = evaluate(Y + share * step)
        better = _size(new, scale) < size
        met = size <= tolerance
        if met and not _size(new, scale) < 0.5 * size:  # rounding: no step improves it any more
            if better:
                Y, here = Y + share * step, new
            return Solved(Y, here, count, True, "")
        if not better:
            why = new.message or f"steps do not reduce the residual of {size:.3g} any more."
            return Solved(Y, here, count, False, why)
        Y, here, size = Y + share * step, new, _size(new, scale)
    return Solved(Y, here, most, size <= tolerance, f"the residual is {size:.3g} after {most} iterations.")


def _size(here: Closure, scale: Array) -> float:
    if here.message or not np.isfinite(here.F).all():
        return np.inf
    return float(np.abs(here.F / scale).max(initial=0.0))
