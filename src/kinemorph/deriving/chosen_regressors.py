"""Some rows and columns of the regressor, and the gradient of a weighted sum of their entries.

`analysis.identification.excitation` searches for motions that show parameters well, and needs both.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.deriving.driven_functions import state_law
from kinemorph.deriving.making import Law, Maker
from kinemorph.deriving.parameter_functions import moving_bodies
from kinemorph.mechanics.recursions import regressors
from kinemorph.mechanics.trees.tree import Tree


def chosen_regressor(maker: Maker, rows: Sequence[int], columns: Sequence[int]) -> CompiledFunction:
    """The function of some rows and columns of the regressor at (q, v, a), shape (rows, columns)."""
    name, law, shape = _chosen(maker, rows, columns)
    return maker.function(name, ("q", "v", "a"), law, {"out": shape})


def chosen_regressor_gradient(maker: Maker, rows: Sequence[int], columns: Sequence[int]) -> CompiledFunction:
    """The gradients by q, v, a of the sum of all entries of `chosen_regressor`, each times a weight.

    The function takes (q, v, a, weights), where the weights have the shape of the regressor, and returns g_q (nq,), g_v
    and g_a (nv,). One reverse sweep computes all three, which is some three times the work of the regressor itself.
    """
    name, law, shape = _chosen(maker, rows, columns)
    return maker.weighted_gradient(name, ("q", "v", "a"), law, {"out": shape})


def _chosen(maker: Maker, rows: Sequence[int], columns: Sequence[int]) -> tuple[str, Law, tuple[int, int]]:
    """The name, the law and the shape of some rows and columns of the regressor."""
    names = [body.name for body in moving_bodies(maker.robot)]
    picked = sha256(repr((tuple(rows), tuple(columns))).encode()).hexdigest()[:12]

    def whole(tree: Tree, q: Any, v: Any, a: Any) -> list[list[Any]]:
        return regressors.regressor(tree, q, v, a, names)

    of_state = state_law("regressor", whole) if maker.robot.driven else whole

    def law(tree: Tree, q: Any, v: Any, a: Any) -> list[list[Any]]:
        entries = of_state(tree, q, v, a)
        return [[entries[row][column] for column in columns] for row in rows]

    return f"chosen_regressor_{picked}", law, (len(rows), len(columns))
