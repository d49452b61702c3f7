"""Accelerations and derivatives for formulations that have no recursion of their own for them.

Accelerations come from the mass matrix. Derivatives come from dual numbers: they are exact for any function of the
state, cost more than a closed form, and serve to check it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from kinemorph.algebra.dual import Dual
from kinemorph.algebra.linear import solve_definite
from kinemorph.algebra.scalar import S
from kinemorph.mechanics.recursions.kinematics import configuration_rate, tangent_of
from kinemorph.mechanics.trees.tree import Tree

LEVEL = 0  # below the levels that a function may use inside


def accelerations_by(M: Sequence[Sequence[S]], rest: Sequence[S], locked: Collection[int] = ()) -> list[S]:
    """a, shape (nv,), with M a = rest = tau - h; 0 where `locked`, whatever force that needs.

    Velocities are eliminated from the last to the first, tips before the links that carry them, so that separate
    branches stay separate.
    """
    free = [k for k in reversed(range(len(rest))) if k not in locked]
    found = solve_definite([[M[i][j] for j in free] for i in free], [rest[k] for k in free])
    accelerations: list[S] = [0.0] * len(rest)
    for k, a in zip(free, found, strict=True):
        accelerations[k] = a
    return accelerations


def derivatives_by_duals(
    function: Callable[..., Sequence[S]], tree: Tree, q: Sequence[S], *others: Sequence[S]
) -> list[list[list[S]]]:
    """d function(tree, q, v, ...) by each argument, shape (n, nv) each; by q along the motion at each unit velocity."""
    groups = [list(q), *map(list, others)]
    units = [[1.0 if i == k else 0.0 for i in range(tree.nv)] for k in range(tree.nv)]
    result: list[list[list[S]]] = []
    for place in range(len(groups)):
        columns = []
        for unit in units:
            rate = configuration_rate(tree, q, unit) if place == 0 else unit
            moved = [Dual(x, dx, level=LEVEL) for x, dx in zip(groups[place], rate, strict=True)]
            values = function(tree, *groups[:place], moved, *groups[place + 1 :])
            columns.append([tangent_of(x, LEVEL) for x in values])
        result.append([list(row) for row in zip(*columns, strict=True)])
    return result
