"""What every derivation of the equations of motion provides, and how two of its functions give all others.

Where a formulation has no recursion for them, accelerations come from the mass matrix, and derivatives from dual
numbers: they are exact for any function of the state, cost more than formulas in closed form, and serve to check these.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

from kinemorph.algebra.dual import Direction
from kinemorph.algebra.linear import solve_definite
from kinemorph.algebra.scalar import S
from kinemorph.algebra.vectors import sub
from kinemorph.mechanics.derivatives.forward_derivatives import ForwardDerivatives
from kinemorph.mechanics.derivatives.inverse_derivatives import Derivatives
from kinemorph.mechanics.recursions.kinematics import configuration_rate
from kinemorph.mechanics.trees.tree import Tree


class Formulation(NamedTuple):
    """One derivation of the equations of motion M(q) a + h(q, v) = tau, in the robot's own (q, v)."""

    mass_matrix: Callable[..., Any]
    inverse_dynamics: Callable[..., Any]
    bias_forces: Callable[..., Any]
    forward_dynamics: Callable[..., Any]
    inverse_dynamics_derivatives: Callable[..., Derivatives]
    forward_dynamics_derivatives: Callable[..., ForwardDerivatives]
    wrenches: bool  # whether it takes external wrenches
    prepare: Callable[..., Tree]  # (tree, points where forces act by link, or None) -> tree that it works on
    direct: bool = False  # whether q, v, a and tau are those of the state even where joints are driven


def dense_formulation(
    mass_matrix: Callable[..., list[list[S]]],
    inverse_dynamics: Callable[..., list[S]],
    *,
    wrenches: bool = True,
    direct: bool = False,
) -> Formulation:
    """A formulation without recursions: accelerations by a dense solve with M, derivatives by dual numbers.

    `mass_matrix` is a function of (tree, q), and `inverse_dynamics` one of (tree, q, v, a), and of external wrenches
    where it takes them.
    """

    def bias_forces(tree: Tree, q: Sequence[S], v: Sequence[S], *loads: Any) -> list[S]:
        return inverse_dynamics(tree, q, v, [0.0] * len(v), *loads)

    def forward_dynamics(
        tree: Tree, q: Sequence[S], v: Sequence[S], tau: Sequence[S], *loads: Any, locked: Collection[int] = ()
    ) -> list[S]:
        return _accelerations_by(mass_matrix(tree, q), sub(tau, bias_forces(tree, q, v, *loads)), locked)

    def differentiated(law: Callable[..., list[S]], tree: Tree, state: Sequence[Any], loads: Sequence[Any]) -> Any:
        space = tree.of_state if direct else tree
        return derivatives_by_duals(lambda _, *moved: law(tree, *moved, *loads), space, *state)

    def inverse_derivatives(tree: Tree, q: Any, v: Any, a: Any, *loads: Any) -> Derivatives:
        return Derivatives(*differentiated(inverse_dynamics, tree, (q, v, a), loads))

    def forward_derivatives(tree: Tree, q: Any, v: Any, tau: Any, *loads: Any) -> ForwardDerivatives:
        return ForwardDerivatives(*differentiated(forward_dynamics, tree, (q, v, tau), loads))

    return Formulation(
        mass_matrix,
        inverse_dynamics,
        bias_forces,
        forward_dynamics,
        inverse_derivatives,
        forward_derivatives,
        wrenches,
        prepare=lambda tree, points=None: tree,
        direct=direct,
    )


# ── formulations without recursions ───────────────────────────────────────────────────────────────────────────────────


def _accelerations_by(M: Sequence[Sequence[S]], rest: Sequence[S], locked: Collection[int] = ()) -> list[S]:
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
