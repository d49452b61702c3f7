"""The mass matrix of a tree, factored and inverted without fill-in.

Featherstone (2005), "Efficient factorization of the joint-space inertia matrix for branched kinematic trees". M couples
an axis only with the axes on its path to the root and with the axes that it carries. Eliminated from the tips to the
root,

    M = L^T D L        L unit lower triangular, L[i][j] = 0 unless j is on the path from i to the root

keeps exactly that pattern, and so does N = L^-1. With N, every solution is a product:

    M^-1 = N D^-1 N^T          M^-1 B = N (D^-1 (N^T B))

Where the tree has one limb of each kind (`tree.sums`), what its axes pass to axes that carry it is summed over limbs.

A column of B that belongs to one branch affects the others only through the axes that they share. The axes of one link
count as a chain here, the first nearest to the root.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from kinemorph.algebra.scalar import S, is_zero, minus, plus, times
from kinemorph.algebra.vectors import dot
from kinemorph.mechanics.recursions.articulated_bodies import meets_no_inertia
from kinemorph.mechanics.trees.tree import WORLD, Tree

Place = TypeVar("Place")


class BranchFactor(NamedTuple):
    """The factors of the mass matrix M = L^T D L, inverted: M^-1 = N D^-1 N^T.

    N is L^-1 without its unit diagonal.
    """

    ways: list[list[int]]  # the path of each axis: the axes between it and the root, root first
    N: list[dict[int, S]]  # for each row the entries by column; the columns are the row's path
    pivots: list[S]  # 1 / D
    sums: Mapping[int, Callable[[S], S]] = {}  # by axis of a limb that represents several: the sum over all of them


def branch_factor(tree: Tree, M: Sequence[Sequence[S]]) -> BranchFactor:
    """The factors of the tree's mass matrix M, shape (nv, nv); with driven joints, of the mass matrix of the state."""
    if tree.driving is not None:
        ways, order = ways_in(M), list(range(len(M)))
    else:
        ways, order = ways_to_root(tree), [k for link in tree.links for k in link.velocities]
    H = [{j: M[i][j] for j in (*way, i)} for i, way in enumerate(ways)]
    L: list[dict[int, S]] = [{} for _ in ways]
    pivots: list[S] = [0.0] * len(ways)
    sums = tree.velocity_sums
    passed = _Passed[tuple[int, int]](sums)
    for i in reversed(order):
        if i not in sums:
            for (j, m), x in passed.over_all_limbs():
                H[j][m] = minus(H[j][m], x)
        if is_zero(H[i][i]):
            link = next(link for link in tree.links if i in link.velocities)
            raise meets_no_inertia(link, i - link.v)
        pivots[i] = 1.0 / H[i][i]
        for n, j in enumerate(ways[i]):
            L[i][j] = times(H[i][j], pivots[i])
            for m in ways[i][: n + 1]:
                if passed.between(i, j):
                    passed.add(i, (j, m), times(L[i][j], H[i][m]))
                else:
                    H[j][m] = minus(H[j][m], times(L[i][j], H[i][m]))
    N: list[dict[int, S]] = [{} for _ in ways]
    for i in order:
        for n, j in enumerate(ways[i]):
            between: S = L[i][j]
            for m in ways[i][n + 1 :]:
                between = plus(between, times(L[i][m], N[m][j]))
            N[i][j] = minus(0.0, between)
    return BranchFactor(ways, N, pivots, sums)


class _Passed(Generic[Place]):
    """Scalars that the axes of a limb pass to entries (`Place`) of axes that carry it, added up before they are summed
    over all limbs.
    """

    def __init__(self, sums: Mapping[int, Callable[[S], S]]) -> None:
        self._sums, self._found = sums, dict[tuple[Callable[[S], S], Place], S]()

    def between(self, i: int, j: int) -> bool:
        """Whether axis i is in a limb that represents several, and axis j is not in that limb."""
        return i in self._sums and self._sums.get(j) is not self._sums[i]

    def add(self, i: int, place: Place, x: S) -> None:
        """Adds x, which the limb of axis i passes to `place`."""
        key = (self._sums[i], place)
        self._found[key] = plus(self._found.get(key, 0.0), x)

    def over_all_limbs(self) -> list[tuple[Place, S]]:
        """The sums over all limbs of everything that was added since the last call."""
        found = [(place, total(x)) for (total, place), x in self._found.items()]
        self._found.clear()
        return found


def ways_to_root(tree: Tree) -> list[list[int]]:
    """For each axis (index in v) its path: the axes that carry it, root first."""
    ways: list[list[int]] = [[] for _ in range(tree.nv)]
    for link in tree.links:
        way: list[int] = []
        if link.parent != WORLD:
            parent = tree.links[link.parent]
            last = parent.v + len(parent.axes) - 1
            way = [*ways[last], last]
        for k in range(len(link.axes)):
            ways[link.v + k] = way
            way = [*way, link.v + k]
    return ways


def ways_in(M: Sequence[Sequence[S]]) -> list[list[int]]:
    """For each row of M the earlier rows that it couples with when M is eliminated from the last row to the first.

    They are found from the structural zeros of M. Where coordinates of a base come before those of its limbs, limbs
    stay separate. The path of a row includes the path of every row on it, as in a tree.
    """
    found = [{j for j in range(i) if not is_zero(M[i][j])} for i in range(len(M))]
    for row in reversed(found):
        if row:
            last = max(row)
            found[last] |= row - {last}
    for row in found:
        if row:
            row |= found[max(row)]
    return [sorted(row) for row in found]


def inverse_of(factor: BranchFactor) -> list[list[S]]:
    """The inverse M^-1 of the factored mass matrix, shape (nv, nv)."""
    ways, N, pivots, _ = factor
    n = len(ways)
    whole = [{**row, i: 1.0} for i, row in enumerate(N)]
    weighted = [{j: times(x, pivots[j]) for j, x in row.items()} for row in whole]
    result: list[list[S]] = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            shared = [k for k in whole[i] if k in whole[j]]
            result[i][j] = result[j][i] = dot([whole[i][k] for k in shared], [weighted[j][k] for k in shared])
    return result


def solved(factor: BranchFactor, b: Sequence[S]) -> list[S]:
    """M^-1 b of one column b, shape (nv,), for a factored mass matrix M; structural zeros are skipped."""
    return spread(factor, gathered(factor, b))


def gathered(factor: BranchFactor, b: Sequence[S]) -> list[S]:
    """The product N^T b, shape (nv,), where the mass matrix is factored as M^-1 = N D^-1 N^T."""
    whole = list(b)
    passed = _Passed[int](factor.sums)
    for i, way in enumerate(factor.ways):
        if not is_zero(b[i]):
            for j in way:
                if passed.between(i, j):
                    passed.add(i, j, times(factor.N[i][j], b[i]))
                else:
                    whole[j] = plus(whole[j], times(factor.N[i][j], b[i]))
    for j, x in passed.over_all_limbs():
        whole[j] = plus(whole[j], x)
    return whole


def spread(factor: BranchFactor, y: Sequence[S]) -> list[S]:
    """The accelerations a = N D^-1 y, shape (nv,), of a vector y, where the mass matrix is M^-1 = N D^-1 N^T."""
    heavy = [times(x, pivot) for x, pivot in zip(y, factor.pivots, strict=True)]
    return [
        plus(heavy[i], dot([factor.N[i][j] for j in way], [heavy[j] for j in way])) for i, way in enumerate(factor.ways)
    ]
