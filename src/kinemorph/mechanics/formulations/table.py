"""The formulations: independent derivations of the same equations of motion, in one table.

Every row gives  M(q) a + h(q, v) = tau  in the robot's own (q, v). The rows check each other; `derive` uses one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from kinemorph.mechanics.derivatives import forward_derivatives, inverse_derivatives
from kinemorph.mechanics.derivatives.forward_derivatives import ForwardDerivatives
from kinemorph.mechanics.derivatives.inverse_derivatives import Derivatives
from kinemorph.mechanics.formulations import closed_form, dalembert, lagrange
from kinemorph.mechanics.recursions import articulated_bodies, composite_bodies, newton_euler
from kinemorph.mechanics.trees.reframing import reframe, regroup
from kinemorph.mechanics.trees.tree import Tree

FormulationName = Literal["newton_euler", "lagrange", "closed_form", "dalembert"]


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


FORMULATIONS: dict[str, Formulation] = {
    "newton_euler": Formulation(
        composite_bodies.mass_matrix,
        newton_euler.inverse_dynamics,
        newton_euler.bias_forces,
        articulated_bodies.forward_dynamics,
        inverse_derivatives.inverse_dynamics_derivatives,
        forward_derivatives.forward_dynamics_derivatives,
        wrenches=True,
        prepare=lambda tree, points=None: regroup(reframe(tree, points)),
    ),
    "lagrange": Formulation(
        lagrange.mass_matrix,
        lagrange.inverse_dynamics,
        lagrange.bias_forces,
        lagrange.forward_dynamics,
        lagrange.inverse_dynamics_derivatives,
        lagrange.forward_dynamics_derivatives,
        wrenches=False,
        prepare=lambda tree, points=None: tree,
    ),
    "closed_form": Formulation(
        closed_form.mass_matrix,
        closed_form.inverse_dynamics,
        closed_form.bias_forces,
        closed_form.forward_dynamics,
        closed_form.inverse_dynamics_derivatives,
        closed_form.forward_dynamics_derivatives,
        wrenches=True,
        prepare=lambda tree, points=None: tree,
    ),
    "dalembert": Formulation(
        dalembert.mass_matrix,
        dalembert.inverse_dynamics,
        dalembert.bias_forces,
        dalembert.forward_dynamics,
        dalembert.inverse_dynamics_derivatives,
        dalembert.forward_dynamics_derivatives,
        wrenches=True,
        prepare=lambda tree, points=None: tree,
        direct=True,
    ),
}
