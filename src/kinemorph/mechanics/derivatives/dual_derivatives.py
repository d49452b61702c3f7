"""Derivatives of any function of the state by dual numbers: exact, general, and not cheap.

For formulations without derivatives in closed form, and as the check on those that have them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kinemorph.algebra.dual import Dual
from kinemorph.algebra.scalar import S
from kinemorph.mechanics.recursions.kinematics import configuration_rate, tangent_of
from kinemorph.mechanics.trees.tree import Tree

LEVEL = 0  # below the levels that a function may open inside


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
