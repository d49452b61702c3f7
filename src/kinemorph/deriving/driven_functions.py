"""Functions of robots with driven joints: laws of all joints become laws of the state (q, v).

Most laws of mechanics are functions of a tree and of the coordinates and velocities of all its joints. `state_law`
gives the law that `Dynamics` compiles under a name. Without driven joints both are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kinemorph.algebra.scalar import minus, times
from kinemorph.mechanics.constraints import driven_constraints
from kinemorph.mechanics.formulations import driven_dynamics as driven
from kinemorph.mechanics.recursions.kinematics import configuration_rate
from kinemorph.mechanics.trees.driven import AllJoints
from kinemorph.mechanics.trees.tree import Tree

Law = Callable[..., Any]


def _stacked(law: Law) -> Law:
    """The law of `Dynamics.block_matrices` for a robot with driven joints.

    All matrices are those of all joints; only the columns of S are changed to those of the velocities in the state.
    """

    def seen(tree: Tree, q: Any, v: Any) -> dict[str, Any]:
        every = tree.all_joints(q, v)
        found: dict[str, Any] = law(tree, every.q, every.v)
        return {**found, "S": every.columns(found["S"])} if "S" in found else found

    return seen


def _regressor(law: Law) -> Law:
    """The law of `Dynamics.regressor` for a robot with driven joints: each column has the forces of all joints."""

    def seen(tree: Tree, q: Any, v: Any, a: Any) -> list[list[Any]]:
        every = tree.all_joints(q, v)
        return _forces(every, law(tree, every.q, every.v, every.accelerations(a)))

    return seen


def _momentum_regressor(law: Law) -> Law:
    """The law of `Dynamics.momentum_regressor` for a robot with driven joints.

    With the matrices P_all and H_all of all joints, and F, which maps v to the velocities of driven joints, they are
    P = [1, F^T] P_all  and  H = [1, F^T] H_all - [0, dF/dt^T] P_all.
    """

    def seen(tree: Tree, q: Any, v: Any) -> dict[str, Any]:
        every = tree.all_joints(q, v)
        found = law(tree, every.q, every.v)
        P, H = (_forces(every, found[name]) for name in ("momentum", "rest"))
        for row, slope in zip(found["momentum"][every.driving.nv :], every.slope_rates(), strict=True):
            for j, rate in slope.items():
                H[j] = [minus(x, times(rate, y)) for x, y in zip(H[j], row, strict=True)]
        return {"momentum": P, "rest": H}

    return seen


def _forces(every: AllJoints, rows: list[list[Any]]) -> list[list[Any]]:
    """A matrix with a row for each velocity of all joints, as the matrix with the rows of the generalized forces."""
    columns = [every.forces(column) for column in zip(*rows, strict=True)]
    return [list(row) for row in zip(*columns, strict=True)]


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
    "energy_regressor": (2, "same"),
    "wrench_regressor": (3, "same"),
}
OWN_FORMS: dict[str, Callable[[Law], Law]] = {
    "block_matrices": _stacked,
    "coordinate_sets": _stacked,
    "regressor": _regressor,
    "momentum_regressor": _momentum_regressor,
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
