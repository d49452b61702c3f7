"""The equations of motion under constraints over any scalar type, from the M and h of a formulation.

See `Dynamics.under` and `Dynamics.accelerations`.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from kinemorph.deriving.making import Maker
from kinemorph.errors import UnsupportedError
from kinemorph.mechanics.constraints import driven_constraints
from kinemorph.mechanics.constraints.constrained import (
    MOST_ELIMINATED,
    Constrained,
    ConstraintRows,
    constrained_dynamics,
    eliminated_out,
    shared_out,
    with_locked_rows,
)
from kinemorph.mechanics.derivatives.branch_factor import branch_factor, ways_in, ways_to_root
from kinemorph.mechanics.trees.tree import Tree


def rest(maker: Maker, tree: Tree, q: Any, v: Any, tau: Any, *loads: Any) -> list[Any]:
    """The forces tau - h(q, v), shape (nv,), with the bias forces h."""
    bias = maker.recursion.bias_forces(tree, q, v, *loads)
    return [force - other for force, other in zip(tau, bias, strict=True)]


def under(maker: Maker, tree: Tree, q: Any, rest: Any, rows: ConstraintRows, *, shared: bool = False) -> Constrained:
    """The solution of  M(q) a - J^T lambda = rest,  J a = wanted;  `shared` asks for multipliers of least norm."""
    M = maker.recursion.mass_matrix(tree, q)
    ways = ways_to_root(tree) if tree.driving is None else ways_in(M)
    if shared or eliminated_out(ways, rows.J) > MOST_ELIMINATED:
        return shared_out(M, rest, rows)
    return constrained_dynamics(branch_factor(tree, M), rest, rows)


def constrained(
    maker: Maker,
    tree: Tree,
    q: Any,
    v: Any,
    tau: Any,
    *loads: Any,
    locked: Collection[int] = (),
    shared: bool = False,
) -> Constrained:
    """The accelerations and multipliers of a robot with constraints.

    `locked` are velocities with acceleration 0: each adds a row after the rows of the robot. `shared` asks for
    multipliers of least norm.
    """
    if maker.precision == "float32":
        raise UnsupportedError(
            f"robot '{maker.robot.name}' has closed chains or coupled joints, and float32 is not precise "
            "enough to find redundant constraints. Use precision='float64'."
        )
    rows = with_locked_rows(driven_constraints.constraint_rows(tree, q, v), locked, maker.robot.nv)
    return under(maker, tree, q, rest(maker, tree, q, v, tau, *loads), rows, shared=shared)
