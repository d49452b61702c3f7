"""Closed chains in independent coordinates, and the fast dynamics that close them.

Kamidi, Williams & Ben-Tzvi, equations 3 to 8, corrected as in docs/errata.md (E003-2 to E003-9). The velocities v of
the tree, with its loops cut, are split into n independent velocities v_q and nz dependent velocities v_z (the paper's
qd and zd); phi are nz constraint rows, one for each dependent velocity:

    d phi/dt = J_q v_q + J_z v_z                              Gamma = [J; S_q]                            (5)
    v = rho v_q,   rho = Gamma^-1 [0; 1],                     rho_dot = -Gamma^-1 Gamma_dot rho           (6)
    H = rho^T H' rho,   C = rho^T (H' rho_dot + C' rho),      g = rho^T g'                                (7)
    H a_q = -C v_q - g + rho^T B tau,                         v_z = -J_z^-1 (phi/epsilon + J_q v_q)       (8), (4)

The last equation is the singular perturbation: phi decays as exp(-t/epsilon) from any initial value. Where phi = 0, v_z
follows from rho, whatever epsilon is. H', C', g' are those of the tree; S_q selects v_q from v. The equations hold
where J_z is regular; at a dead point of the mechanism another choice of v_q is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from kinemorph.algebra.dual import Direction
from kinemorph.algebra.linear import solve, solve_definite, solve_regular
from kinemorph.algebra.scalar import S, plus
from kinemorph.algebra.vectors import dot, mat_add, matmul, matvec, sub, transpose
from kinemorph.mechanics.constraints import closures
from kinemorph.mechanics.formulations.driven_dynamics import state_coriolis_matrix, state_form
from kinemorph.mechanics.formulations.formulation import Formulation
from kinemorph.mechanics.recursions.kinematics import configuration_rate
from kinemorph.mechanics.recursions.newton_euler import gravity_forces
from kinemorph.mechanics.trees.tree import Tree

Rows = list[list[S]]
WRITTEN = 6  # the largest number of independent velocities for which elimination of H is unrolled


class Partition(NamedTuple):
    """The indices in v of the independent and of the dependent velocities, and the constraint rows that determine the
    dependent velocities.
    """

    independent: tuple[int, ...]
    dependent: tuple[int, ...]
    rows: tuple[int, ...]


def closure_error(tree: Tree, q: Sequence[S], parts: Partition) -> list[S]:
    """The constraint error phi(q), shape (nz,) [m or rad], for the rows of the partition."""
    phi = closures.constraint_error(tree, tree.all_joints(q).q)
    return [phi[i] for i in parts.rows]


def split_jacobian(tree: Tree, q: Sequence[S], parts: Partition) -> tuple[Rows, Rows]:
    """(J_q, J_z), shapes (nz, n) and (nz, nz): the constraint Jacobian for independent and for dependent velocities."""
    J = _jacobian(tree, q)
    return (
        [[J[i][k] for k in parts.independent] for i in parts.rows],
        [[J[i][k] for k in parts.dependent] for i in parts.rows],
    )


def stacked_jacobian(tree: Tree, q: Sequence[S], parts: Partition) -> Rows:
    """Gamma = [J; S_q], shape (nv, nv): the constraint Jacobian J above S_q, which selects independent velocities."""
    J, nv = _jacobian(tree, q), len(parts.independent) + len(parts.dependent)
    return [J[i] for i in parts.rows] + [[float(j == k) for j in range(nv)] for k in parts.independent]


def _jacobian(tree: Tree, q: Sequence[S]) -> Rows:
    """The constraint Jacobian for the velocities of the state, shape (nc, nv)."""
    every = tree.all_joints(q)
    return every.columns(closures.constraint_jacobian(tree, every.q))


def velocity_map(tree: Tree, q: Sequence[S], parts: Partition) -> Rows:
    """rho(q), shape (nv, n): the velocities v = rho v_q keep the loops closed, for any independent velocities v_q."""
    J_q, J_z = split_jacobian(tree, q, parts)
    units = [[float(i == k) for k in range(len(parts.independent))] for i in range(len(parts.independent))]
    return _spread(parts, units, _solved(J_z, J_q))


def velocity_map_rate(tree: Tree, q: Sequence[S], v_q: Sequence[S], parts: Partition) -> Rows:
    """The rate d rho/dt of the velocity map, shape (nv, n), while the robot moves at the velocities v = rho v_q."""
    return velocity_map_and_rate(tree, q, v_q, parts)[1]


def velocity_map_and_rate(tree: Tree, q: Sequence[S], v_q: Sequence[S], parts: Partition) -> tuple[Rows, Rows]:
    """rho(q) and its rate d rho/dt at (q, v_q), each of shape (nv, n)."""
    rho = velocity_map(tree, q, parts)
    every = tree.all_joints(q, matvec(rho, v_q))
    rates = configuration_rate(tree, every.q, every.v)
    time = Direction()
    moving = time.all_moved(every.q, rates)
    slopes = [] if tree.driving is None else every.slope_rates()  # of driven joints, whose columns J_all has too
    J_all = closures.constraint_jacobian(tree, every.q) if slopes else []
    columns = []  # the columns of (dJ/dt) rho, with rho constant
    for along in zip(*rho, strict=True):
        turned = closures.constraint_rate(tree, moving, every.moved(along))
        column = [time.tangent(turned[i]) for i in parts.rows]
        if slopes:
            led = [dot([*slope.values()], [along[k] for k in slope]) for slope in slopes]
            column = [plus(x, dot(J_all[i][len(rho) :], led)) for x, i in zip(column, parts.rows, strict=True)]
        columns.append(column)
    _, J_z = split_jacobian(tree, q, parts)
    still: Rows = [[0.0] * len(parts.independent) for _ in parts.independent]
    return rho, _spread(parts, still, _solved(J_z, transpose(columns)))


def imposed_accelerations(tree: Tree, q: Sequence[S], v: Sequence[S], parts: Partition) -> list[S]:
    """a_0 = rho_dot v_q, shape (nv,): the accelerations that the loops impose where those of v_q are 0.

    v (nv,) are the velocities rho v_q.
    """
    _, J_z = split_jacobian(tree, q, parts)
    every = tree.all_joints(q, v)
    gamma = closures.constraint_bias(tree, every.q, every.v)
    if tree.driving is not None:
        gamma = every.less_bias(closures.constraint_jacobian(tree, every.q), gamma)
    led = solve_regular(J_z, [[gamma[i]] for i in parts.rows])
    return [row[0] for row in _spread(parts, [[0.0]] * len(parts.independent), led)]


def _solved(J_z: Rows, right: Any) -> Rows:
    """The product -J_z^-1 right, for the Jacobian J_z (nz, nz) of the dependent velocities."""
    return [[-x for x in row] for row in solve_regular(J_z, right)]


def _spread(parts: Partition, independent: Rows, dependent: Rows) -> Rows:
    """One matrix with a row per velocity, in the order of v, from the rows of independent and dependent velocities."""
    rows = dict(zip(parts.independent, independent, strict=True)) | dict(zip(parts.dependent, dependent, strict=True))
    return [rows[k] for k in sorted(rows)]


# ── reduced equations ─────────────────────────────────────────────────────────────────────────────────────────────────


def reduced_mass_matrix(tree: Tree, q: Sequence[S], parts: Partition, way: Formulation) -> Rows:
    """The mass matrix H = rho^T M rho of the independent velocities, shape (n, n); M is that of the open tree.

    rho is the velocity map; the formulation `way` computes M.
    """
    return _squeezed(velocity_map(tree, q, parts), way.mass_matrix(tree, q))


def _squeezed(rho: Rows, M: Any) -> Rows:
    return [list(row) for row in matmul(transpose(rho), matmul(M, rho))]


def reduced_coriolis_matrix(tree: Tree, q: Sequence[S], v_q: Sequence[S], parts: Partition, way: Formulation) -> Rows:
    """The Coriolis matrix of the independent velocities, C = rho^T (H' rho_dot + C' rho), shape (n, n).

    rho is the velocity map, H' and C' are the mass matrix and the Coriolis matrix of the open tree; the formulation
    `way` computes H'. With the reduced mass matrix H, dH/dt - 2 C is skew-symmetric.
    """
    rho, rate = velocity_map_and_rate(tree, q, v_q, parts)
    C = state_coriolis_matrix(tree, q, matvec(rho, v_q))
    inner = mat_add(matmul(way.mass_matrix(tree, q), rate), matmul(C, rho))
    return [list(row) for row in matmul(transpose(rho), inner)]


def reduced_gravity_forces(tree: Tree, q: Sequence[S], parts: Partition) -> list[S]:
    """The gravity forces along the independent velocities, rho^T g', shape (n,), with g' (nv,) of the open tree."""
    gravity = state_form(gravity_forces, 1, "forces")(tree, q)
    return list(matvec(transpose(velocity_map(tree, q, parts)), gravity))


def fast_dynamics(tree: Tree, q: Sequence[S], v_q: Sequence[S], parts: Partition, epsilon: float) -> list[S]:
    """The dependent velocities v_z = -J_z^-1 (phi / epsilon + J_q v_q), shape (nz,), which close the loops.

    `epsilon` [s] is the time constant with which phi decays.
    """
    J_q, J_z = split_jacobian(tree, q, parts)
    phi = closure_error(tree, q, parts)
    missing = [[open_by / epsilon + dot(row, v_q)] for open_by, row in zip(phi, J_q, strict=True)]
    return [row[0] for row in _solved(J_z, missing)]


def reduced_dynamics(
    tree: Tree, q: Sequence[S], v_q: Sequence[S], tau: Sequence[S], parts: Partition, way: Formulation, *loads: Any
) -> list[S]:
    """The independent accelerations a_q, shape (n,), under generalized forces tau (nv,).

    H a_q = rho^T (tau - h' - H' a_0)  with  a_0 = rho_dot v_q, the accelerations that the loops impose alone. rho is
    the velocity map and H the reduced mass matrix; H' and h' are the mass matrix and the bias forces of the open tree,
    which the formulation `way` computes. `loads` are further arguments of its `bias_forces`. The result is the same as
    with the reduced Coriolis matrix and gravity forces, which are not formed.
    """
    rho = velocity_map(tree, q, parts)
    v = matvec(rho, v_q)
    a_0 = imposed_accelerations(tree, q, v, parts)
    M = way.mass_matrix(tree, q)
    rest = sub(sub(tau, way.bias_forces(tree, q, v, *loads)), matvec(M, a_0))
    H, forces = _squeezed(rho, M), list(matvec(transpose(rho), rest))
    if len(forces) <= WRITTEN:
        return solve_definite(H, forces)
    return [row[0] for row in solve(H, [[x] for x in forces])]
