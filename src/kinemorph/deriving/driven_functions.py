"""Functions of robots with driven joints: laws of all joints become laws of the state (q, v).

Most laws of mechanics are functions of a tree and of the coordinates and velocities of all its joints. `state_law`
gives the law that `Dynamics` compiles under a name. Without driven joints both are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kinemorph.mechanics.constraints import driven_constraints
from kinemorph.mechanics.formulations import driven_dynamics as driven
from kinemorph.mechanics.recursions.kinematics import configuration_rate
from kinemorph.mechanics.trees.tree import Tree

Law = Callable[..., Any]


def _stacked(law: Law) -> Law:
    """The law of `stacked_matrices`: in S only the columns depend on the velocities that are chosen."""

    def seen(tree: Tree, q: Any, v: Any) -> dict[str, Any]:
        every = driven.all_joints(tree, q, v)
        found: dict[str, Any] = law(tree, every.q, every.v)
        return {**found, "S": every.columns(found["S"])}

    return seen


def _of_state_links(tree: Tree, q: Any, v: Any) -> Any:
    return configuration_rate(tree.of_state, q, v)


FORMS: dict[str, Callable[[Law], Law]] = {  # function name -> from its law of all joints to that of the state
    "gravity_forces": driven.to_forces,
    "energy": driven.of_motion,
    "stacked_matrices": _stacked,
    "forward_kinematics": driven.of_positions,
    "pose": driven.of_positions,
    "jacobian": driven.to_columns,
    "center_of_mass": driven.of_positions,
    "centroidal_matrix": driven.to_columns,
    "momentum": driven.of_motion,
    "configuration_rate": lambda law: _of_state_links,
    "constraint_error": driven.of_positions,
    "constraint_jacobian": driven.to_columns,
    "constraint_bias": lambda law: lambda tree, q, v: driven_constraints.constraint_rows(tree, q, v).wanted,
    "multiplier_wrenches": driven.of_positions,
}


def state_law(name: str, law: Law) -> Law:
    """The law of the state for the function `name`, which may end with a frame in brackets: "jacobian[tool]"."""
    form = FORMS.get(name.partition("[")[0])
    return law if form is None else form(law)
