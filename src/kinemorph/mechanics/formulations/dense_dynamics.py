"""Accelerations and derivatives for formulations that have no recursion for them.

Accelerations come from the mass matrix. Derivatives come from dual numbers: they are exact for any function of the
state, cost more than formulas in closed form, and serve to check these.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from kinemorph.algebra.dual import Direction
from kinemorph.algebra.linear import solve_definite
from kinemorph.algebra.scalar import S
from kinemorph.mechanics.recursions.kinematics import configuration_rate
from kinemorph.mechanics.trees.tree import Tree


def accelerations_by(M: Sequence[Sequence[S]], rest: Sequence[S], locked: Collection[int] = ()) -> list[S]:
    """The accelerations a, shape (nv,), with M a = rest = tau - h; they are 0 where `locked`, whatever force that
    takes.

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
    """The derivatives of function(tree, q, *others) with respect to each argument, shape (n, nv) each.

    Column k of the derivative with respect to q is the derivative along the motion at unit velocity k.
    """
    along = Direction()
    groups = [list(q), *map(list, others)]
    units = [[1.0 if i == k else 0.0 for i in range(tree.nv)] for k in range(tree.nv)]
    result: list[list[list[S]]] = []
    for place in range(len(groups)):
        columns = []
        for unit in units:
            rate = configuration_rate(tree, q, unit) if place == 0 else unit
            moved = along.all_moved(groups[place], rate)
            columns.append(along.tangents(function(tree, *groups[:place], moved, *groups[place + 1 :])))
        result.append([list(row) for row in zip(*columns, strict=True)])
    return result
