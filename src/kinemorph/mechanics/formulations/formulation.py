"""What every derivation of the equations of motion provides, and how two of its functions give all others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

from kinemorph.algebra.scalar import S
from kinemorph.algebra.vectors import sub
from kinemorph.mechanics.derivatives.forward_derivatives import ForwardDerivatives
from kinemorph.mechanics.derivatives.inverse_derivatives import Derivatives
from kinemorph.mechanics.formulations.dense_dynamics import accelerations_by, derivatives_by_duals
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
        return accelerations_by(mass_matrix(tree, q), sub(tau, bias_forces(tree, q, v, *loads)), locked)

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
