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
    """The law of `Dynamics.block_matrices` for a robot with driven joints.

    All matrices are those of all joints; only the columns of S are changed to those of the velocities in the state.
    """

    def seen(tree: Tree, q: Any, v: Any) -> dict[str, Any]:
        every = tree.all_joints(q, v)
        found: dict[str, Any] = law(tree, every.q, every.v)
        return {**found, "S": every.columns(found["S"])}

    return seen


def _regressor(law: Law) -> Law:
    """The law of `Dynamics.regressor` for a robot with driven joints: each column has the forces of all joints."""

    def seen(tree: Tree, q: Any, v: Any, a: Any) -> list[list[Any]]:
        every = tree.all_joints(q, v)
        rows = law(tree, every.q, every.v, every.accelerations(a))
        columns = [every.forces(column) for column in zip(*rows, strict=True)]
        return [list(row) for row in zip(*columns, strict=True)]

    return seen


def _of_state_links(tree: Tree, q: Any, v: Any) -> Any:
    return configuration_rate(tree.of_state, q, v)


# function name -> how many of q, v and a its law takes, and what it returns (see `driven_dynamics.state_form`)
FORMS: dict[str, tuple[int, driven.Result]] = {
    "gravity_forces": (1, "forces"),
    "energy": (2, "same"),
    "forward_kinematics": (1, "same"),
    "pose": (1, "same"),
    "jacobian": (1, "columns"),
    "center_of_mass": (1, "same"),
    "centroidal_matrix": (1, "columns"),
    "momentum": (2, "same"),
    "constraint_error": (1, "same"),
    "constraint_jacobian": (1, "columns"),
    "multiplier_wrenches": (1, "same"),
}
OWN_FORMS: dict[str, Callable[[Law], Law]] = {
    "block_matrices": _stacked,
    "regressor": _regressor,
    "configuration_rate": lambda law: _of_state_links,
    "constraint_bias": lambda law: lambda tree, q, v: driven_constraints.constraint_rows(tree, q, v).wanted,
}


def state_law(name: str, law: Law) -> Law:
    """The function of (tree, q, v, ...) of the state, from `law`, a function of the coordinates of all joints.

    `name` is the function of `Dynamics` that it computes, perhaps with a frame in brackets: "jacobian[tool]".
    """
    key = name.partition("[")[0]
    if key in OWN_FORMS:
        return OWN_FORMS[key](law)
    return driven.state_form(law, *FORMS[key]) if key in FORMS else law
