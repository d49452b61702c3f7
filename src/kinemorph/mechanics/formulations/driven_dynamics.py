"""The equations of motion of robots with driven joints, in the coordinates of the state.

A formulation gives M and h of all joints; `trees.driven` maps them to the state (q, v). Each function here has the
signature of that of a `Formulation`, with q, v, a and tau of the state, on a tree whose `driving` is not None.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any, Literal

from kinemorph.algebra.scalar import S, times
from kinemorph.algebra.vectors import sub
from kinemorph.mechanics.derivatives.branch_factor import branch_factor, solved
from kinemorph.mechanics.derivatives.forward_derivatives import ForwardDerivatives
from kinemorph.mechanics.derivatives.inverse_derivatives import Derivatives
from kinemorph.mechanics.formulations.formulation import Formulation, derivatives_by_duals
from kinemorph.mechanics.formulations.table import FORMULATIONS
from kinemorph.mechanics.recursions.coriolis import coriolis_matrix
from kinemorph.mechanics.recursions.kinematics import Reference, jacobian, jacobian_rate
from kinemorph.mechanics.trees.driven import AllJoints
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.model.robot import Robot

Law = Callable[..., Any]
Result = Literal["same", "forces", "columns"]


def of_state(row: Formulation) -> Formulation:
    """A formulation for robots with driven joints: its functions take and return values of the state."""
    if row.direct:
        return row
    return Formulation(
        partial(_mass_matrix, row),
        partial(_inverse_dynamics, row),
        partial(_bias_forces, row),
        partial(_forward_dynamics, row),
        partial(_inverse_derivatives, row),
        partial(_forward_derivatives, row),
        row.wrenches,
        row.prepare,
    )


def state_formulation(robot: Robot, name: str = "newton_euler") -> Formulation:
    """The formulation of this name, with functions of the state (q, v) of a robot, whether joints are driven or not."""
    return of_state(FORMULATIONS[name]) if robot.driven else FORMULATIONS[name]


def _mass_matrix(row: Formulation, tree: Tree, q: Sequence[S]) -> list[list[S]]:
    every = tree.all_joints(q)
    return every.masses(row.mass_matrix(tree, every.q))


def _inverse_dynamics(
    row: Formulation, tree: Tree, q: Sequence[S], v: Sequence[S], a: Sequence[S], *loads: Any
) -> list[S]:
    every = tree.all_joints(q, v)
    return every.forces(row.inverse_dynamics(tree, every.q, every.v, every.accelerations(a), *loads))


def _bias_forces(row: Formulation, tree: Tree, q: Sequence[S], v: Sequence[S], *loads: Any) -> list[S]:
    every = tree.all_joints(q, v)
    return every.forces(row.inverse_dynamics(tree, every.q, every.v, every.g, *loads))


def _forward_dynamics(
    row: Formulation,
    tree: Tree,
    q: Sequence[S],
    v: Sequence[S],
    tau: Sequence[S],
    *loads: Any,
    locked: Collection[int] = (),
) -> list[S]:
    rest = sub(tau, _bias_forces(row, tree, q, v, *loads))
    return state_accelerations(tree, _mass_matrix(row, tree, q), rest, locked)


def state_accelerations(
    tree: Tree, M: Sequence[Sequence[S]], rest: Sequence[S], locked: Collection[int] = ()
) -> list[S]:
    """The accelerations (nv,) with M a = rest, shape (nv,), for the mass matrix M of the state; 0 where `locked`."""
    free = [k for k in range(len(rest)) if k not in locked]
    found = solved(branch_factor(tree, [[M[i][j] for j in free] for i in free]), [rest[k] for k in free])
    a: list[S] = [0.0] * len(rest)
    for k, x in zip(free, found, strict=True):
        a[k] = x
    return a


def _inverse_derivatives(
    row: Formulation, tree: Tree, q: Sequence[S], v: Sequence[S], a: Sequence[S], *loads: Any
) -> Derivatives:
    def law(_: Tree, *state: Any) -> list[S]:
        return _inverse_dynamics(row, tree, *state, *loads)

    return Derivatives(*derivatives_by_duals(law, tree.of_state, q, v, a))


def _forward_derivatives(
    row: Formulation, tree: Tree, q: Sequence[S], v: Sequence[S], tau: Sequence[S], *loads: Any
) -> ForwardDerivatives:
    def law(_: Tree, *state: Any) -> list[S]:
        return _forward_dynamics(row, tree, *state, *loads)

    return ForwardDerivatives(*derivatives_by_duals(law, tree.of_state, q, v, tau))


# ── kinematics, and other functions of all joints ─────────────────────────────────────────────────────────────────────


def state_form(law: Law, takes: int, result: Result = "same") -> Law:
    """A law of the state, from a law of (tree, q, v, a, ...) of all joints.

    `takes` is how many of q, v and a the law takes, and `result` what it returns: "forces" on all joints, which become
    generalized forces (nv,); "columns", a matrix with a column for each velocity of all joints, which becomes one with
    nv columns; or something that stays the "same".
    """

    def seen(tree: Tree, *given: Any) -> Any:
        if tree.driving is None:
            return law(tree, *given)
        every = tree.all_joints(*given[: min(takes, 2)])
        state = [every.q, *([every.v] if takes > 1 else []), *([every.accelerations(given[2])] if takes > 2 else [])]
        found = law(tree, *state, *given[takes:])
        return found if result == "same" else every.forces(found) if result == "forces" else every.columns(found)

    return seen


def state_jacobian_rate(
    tree: Tree, q: Sequence[S], v: Sequence[S], frame: str, reference: Reference = "local"
) -> list[list[S]]:
    """dJ/dt of a frame along the motion, shape (6, nv): (dJ_all/dt) [1; F] + J_all [0; dF/dt], as J = J_all [1; F].

    J_all is the Jacobian for the velocities of all joints, and F maps v to the velocities of driven joints.
    """
    if tree.driving is None:
        return jacobian_rate(tree, q, v, frame, reference)
    every = tree.all_joints(q, v)
    rates = every.columns(jacobian_rate(tree, every.q, every.v, frame, reference))
    return _with_slope_rates(every, rates, jacobian(tree, every.q, frame, reference))


def state_coriolis_matrix(tree: Tree, q: Sequence[S], v: Sequence[S]) -> list[list[S]]:
    """C(q, v), shape (nv, nv), of the state: [1, F^T] (C_all [1; F] + M_all [0; dF/dt]).

    C_all and M_all are the matrices of all joints, and F maps v to the velocities of driven joints. dM/dt - 2 C is
    skew-symmetric, as for C_all. Where the time drives joints, C v is not all of the bias forces.
    """
    from kinemorph.mechanics.recursions.composite_bodies import mass_matrix

    if tree.driving is None:
        return coriolis_matrix(tree, q, v)
    every = tree.all_joints(q, v)
    inner = _with_slope_rates(every, every.columns(coriolis_matrix(tree, every.q, every.v)), mass_matrix(tree, every.q))
    columns = [every.forces(column) for column in zip(*inner, strict=True)]
    return [list(row) for row in zip(*columns, strict=True)]


def _with_slope_rates(every: AllJoints, rates: list[list[S]], rows: Sequence[Sequence[S]]) -> list[list[S]]:
    """The matrix rates + rows [0; dF/dt], shape (m, nv), where F maps v to the velocities of driven joints.

    `rates` is (m, nv), and `rows` has a column for each velocity of all joints.
    """
    slopes, n = every.slope_rates(), every.driving.nv
    for line, row in zip(rates, rows, strict=True):
        for k, slope in enumerate(slopes):
            for j, rate in slope.items():
                line[j] = line[j] + times(row[n + k], rate)
    return rates
