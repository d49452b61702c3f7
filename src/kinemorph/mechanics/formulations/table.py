"""The formulations: independent derivations of the same equations of motion, in one table.

Every row gives  M(q) a + h(q, v) = tau  in the robot's own (q, v). The rows check each other; `derive` uses one.
"""

from __future__ import annotations

from typing import Literal

from kinemorph.mechanics.derivatives import forward_derivatives, inverse_derivatives
from kinemorph.mechanics.formulations import closed_form, dalembert, incidence, lagrange, quasicoordinates
from kinemorph.mechanics.formulations.formulation import Formulation, dense_formulation
from kinemorph.mechanics.recursions import articulated_bodies, composite_bodies, newton_euler
from kinemorph.mechanics.trees.reframing import reframe, regroup

FormulationName = Literal["newton_euler", "lagrange", "closed_form", "dalembert", "incidence", "quasicoordinates"]

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
    "lagrange": dense_formulation(lagrange.mass_matrix, lagrange.inverse_dynamics, wrenches=False),
    "closed_form": dense_formulation(closed_form.mass_matrix, closed_form.inverse_dynamics),
    "dalembert": dense_formulation(dalembert.mass_matrix, dalembert.inverse_dynamics, direct=True),
    "incidence": dense_formulation(incidence.mass_matrix, incidence.inverse_dynamics),
    "quasicoordinates": dense_formulation(quasicoordinates.mass_matrix, quasicoordinates.inverse_dynamics),
}
