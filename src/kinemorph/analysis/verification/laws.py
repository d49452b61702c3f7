"""The laws that equations of motion must obey, each a function from sampled states to a relative error.

A law gives the largest relative error it finds, or raises UnsupportedError where it does not apply. It calls the same
functions that the user will call, not special ones. Checks against the robot as it was declared are in `declared_laws`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.verification.declared_laws import (
    energy_as_declared,
    mass_as_declared,
    poses_as_declared,
    same_on_links_as_written,
)
from kinemorph.analysis.verification.sampling import Sample, WorstError, largest
from kinemorph.errors import UnsupportedError
from kinemorph.mechanics.recursions.kinematics import REFERENCES, Reference


def applied(matrices: Array, vectors: Array) -> Array:
    """Matrix times vector, state by state: (n, r, c), (n, c) -> (n, r)."""
    return np.asarray(np.einsum("nij,nj->ni", matrices, vectors))


# ── the mass matrix ───────────────────────────────────────────────────────────────────────────────────────────────────


def symmetric(s: Sample) -> WorstError:
    """M = M^T."""
    M = s.call(s.dynamics.mass_matrix)
    return s.worst(M - M.swapaxes(1, 2), M)


def positive_definite(s: Sample) -> WorstError:
    """Every eigenvalue of M is positive; the value is the largest condition number."""
    eigenvalues = _eigenvalues(s)
    smallest, largest = eigenvalues[:, 0], eigenvalues[:, -1]
    with np.errstate(all="ignore"):
        condition = np.where(smallest > 0.0, largest / smallest, np.where(np.isnan(smallest), np.nan, np.inf))
    note = f"smallest eigenvalue {smallest.min():.3g}, condition number {condition.max():.3g}"
    return WorstError(float(condition.max()), note=note)


def condition_numbers(s: Sample) -> Array:
    """cond(M), shape (n,); nan where M is not finite, negative where it is not positive definite."""
    eigenvalues = _eigenvalues(s)
    with np.errstate(all="ignore"):
        return np.asarray(eigenvalues[:, -1] / eigenvalues[:, 0])


def _eigenvalues(s: Sample) -> Array:
    """Eigenvalues of M, ascending, (n, nv); nan where M is not finite."""
    M = s.call(s.dynamics.mass_matrix)
    finite = np.isfinite(M).all(axis=(1, 2), keepdims=True)
    values = np.linalg.eigvalsh(np.where(finite, 0.5 * (M + M.swapaxes(1, 2)), 0.0))
    return np.where(finite[:, :, 0], values, np.nan)


# ── forces and accelerations ──────────────────────────────────────────────────────────────────────────────────────────


def inverse_is_affine(s: Sample) -> WorstError:
    """ID(q, v, a) = M a + h."""
    d = s.dynamics
    inertial, bias, tau = applied(s.call(d.mass_matrix), s.a), s.call(d.bias_forces), s.call(d.inverse_dynamics)
    return s.worst(inertial + bias - tau, inertial, bias, tau, floor=s.weight)


def forward_is_right(s: Sample) -> WorstError:
    """FD is the inverse of ID on an open tree; on a robot with loops or coupled joints it satisfies the constraints."""
    return forward_undoes_inverse(s) if s.dynamics.robot.is_open else constraints_hold(s)


def forward_undoes_inverse(s: Sample) -> WorstError:
    """FD(q, v, ID(q, v, a)) = a; the error is divided by the condition number of M, and relative to the acceleration
    under no forces.
    """
    d = s.dynamics
    forward = d.forward_dynamics
    again, fall = s.call(forward, tau=s.call(d.inverse_dynamics)), s.call(forward, tau=0.0 * s.a)
    return s.worst((again - s.a) / condition_numbers(s)[:, None], s.a, fall)


def constraints_hold(s: Sample) -> WorstError:
    """M a + h = tau + J^T lambda, and J a = gamma as nearly as possible, for a = FD(q, v, tau); the error is divided by
    cond(M).

    Away from a closed configuration, repeated constraints may contradict each other; then J a - gamma is the residual
    of least squares: J^T D (J a - gamma) = 0 with D = 1 / diag(J M^-1 J^T).
    """
    d = s.dynamics
    a, (shares, _) = s.call(d.forward_dynamics), s.call(d.constraint_forces)
    M, h = s.call(d.mass_matrix), s.call(d.bias_forces)
    J, gamma = s.call(d.constraint_jacobian), s.call(d.constraint_bias)
    inertial, held = applied(M, a), applied(J.swapaxes(1, 2), shares)
    condition = condition_numbers(s)[:, None]
    errors = [s.worst((inertial + h - s.a - held) / condition, inertial, h, held)]
    diagonal = np.einsum("nci,nci->nc", J, np.linalg.solve(M, J.swapaxes(1, 2)).swapaxes(1, 2))
    weight = np.where(diagonal > 0.0, 1.0 / np.where(diagonal > 0.0, diagonal, 1.0), 0.0)
    reached = applied(J, a)
    left = applied(J.swapaxes(1, 2), weight * (reached - gamma))
    terms = applied(np.abs(J), np.abs(a)), np.abs(gamma)  # the sizes of terms before they cancel
    sizes = [applied(np.abs(J).swapaxes(1, 2), weight * x) for x in terms]
    return largest([*errors, s.worst(left / condition, *sizes)])


def derivatives_are_rates(s: Sample) -> WorstError:
    """The rate of ID and of FD along the motion (q with v, v with a) by their derivatives = by dual numbers.

    Where M is constant and there is no gravity, the rate of FD is only rounding: then the error is relative to FD per
    second.
    """
    d = s.dynamics
    if d.robot.nv > DERIVATIVES_LIMIT:
        raise UnsupportedError(
            f"{d.robot.nv} degrees of freedom; derivatives take long to compile and are checked up to "
            f"{DERIVATIVES_LIMIT} dof."
        )
    dq, dv, _ = s.call(d.inverse_dynamics_derivatives)
    (rate,) = s.rates(d.inverse_dynamics)
    parts = applied(dq, s.v), applied(dv, s.a)
    errors = [s.worst(parts[0] + parts[1] - rate, *parts, rate, floor=s.weight)]
    dq, dv, _ = s.call(d.forward_dynamics_derivatives)
    (rate,) = s.rates(d.forward_dynamics)
    parts, pushed = (applied(dq, s.v), applied(dv, s.a)), s.call(d.forward_dynamics)
    off = (parts[0] + parts[1] - rate) / condition_numbers(s)[:, None]
    return largest([*errors, s.worst(off, *parts, rate, pushed)])


def wrenches_enter_by_jacobians(s: Sample) -> WorstError:
    """ID with wrenches = ID without - sum J^T w."""
    d = s.dynamics
    if not d.wrenches:
        raise UnsupportedError("this model was derived without outside wrenches.")
    loaded, free = s.call(d.inverse_dynamics), s.call(d.inverse_dynamics, still=True)
    jacobians = [s.call(d.jacobian(frame)) for frame in d.wrenches]
    pushed = sum(np.einsum("nij,ni->nj", J, s.wrenches[:, k]) for k, J in enumerate(jacobians))
    return s.worst(free - pushed - loaded, loaded, free, floor=s.weight)


def bias_splits(s: Sample) -> WorstError:
    """h = C v + g."""
    d = s.dynamics
    coriolis, gravity = applied(s.call(d.coriolis_matrix), s.v), s.call(d.gravity_forces)
    bias = s.call(d.bias_forces, still=True)
    return s.worst(coriolis + gravity - bias, coriolis, gravity, bias, floor=s.weight)


def passive(s: Sample) -> WorstError:
    """Mdot - 2 C is skew-symmetric."""
    (rate,) = s.rates(s.dynamics.mass_matrix)
    C = s.call(s.dynamics.coriolis_matrix)
    return s.worst(rate - C - C.swapaxes(1, 2), rate, C, s.call(s.dynamics.mass_matrix))


# ── energy and momentum ───────────────────────────────────────────────────────────────────────────────────────────────


def kinetic_energy_is_quadratic(s: Sample) -> WorstError:
    """T = v . M v / 2."""
    kinetic, _ = s.call(s.dynamics.energy)
    quadratic = 0.5 * np.einsum("ni,ni->n", s.v, applied(s.call(s.dynamics.mass_matrix), s.v))
    return s.worst(kinetic - quadratic, kinetic, quadratic)


def power_balances(s: Sample) -> WorstError:
    """d/dt (T + V) = v . tau."""
    kinetic, potential = s.rates(s.dynamics.energy)
    work = s.v * s.call(s.dynamics.inverse_dynamics, still=True)
    return s.worst(kinetic + potential - work.sum(axis=1), kinetic, potential, work, floor=s.weight)


def momentum_moves_the_center(s: Sample) -> WorstError:
    """Linear momentum = total mass times the velocity of the center of mass = A_G v."""
    d = s.dynamics
    (velocity,) = s.rates(d.center_of_mass)
    momentum, by_matrix = s.call(d.momentum), applied(s.call(d.centroidal_matrix), s.v)
    gap = np.concatenate([by_matrix - momentum, d.robot.total_mass * velocity - momentum[:, :3]], axis=1)
    return s.worst(gap, momentum, by_joint=False)


# ── kinematics ────────────────────────────────────────────────────────────────────────────────────────────────────────


def ends(s: Sample) -> list[str]:
    """The frames at which kinematics is checked: declared frames and the bodies that carry no other, three at most."""
    robot = s.dynamics.robot
    carrying = {joint.parent for joint in robot.joints}
    return [*(frame.name for frame in robot.frames), *(b for b in robot.body_names if b not in carrying)][:3]


def jacobians_give_twists(s: Sample) -> WorstError:
    """J v = twist from the pose's rate of change, in every reference."""
    errors = []
    for number, frame in enumerate(ends(s)):
        pose = s.dynamics.pose(frame)
        T, (rate,) = s.call(pose), s.rates(pose)
        for reference in REFERENCES if number == 0 else REFERENCES[:1]:
            twist = _twist(T, rate, reference)
            moved = applied(s.call(s.dynamics.jacobian(frame, reference)), s.v)
            error = s.worst(moved - twist, moved, twist, T[:, :3, 3], floor=1e-3, by_joint=False)
            errors.append(WorstError(error.worst, f"frame '{frame}', {reference}: {error.where}"))
    return largest(errors)


def jacobian_rates(s: Sample) -> WorstError:
    """The rate of J as derived = J differentiated."""
    frame = ends(s)[0]
    d = s.dynamics
    (exact,), rate = s.rates(d.jacobian(frame)), s.call(d.jacobian_rate(frame))
    return s.worst(rate - exact, rate, exact, s.call(d.jacobian(frame)), floor=1e-3, by_joint=False)


def _twist(T: Array, rate: Array, reference: Reference) -> Array:
    """[linear; angular] velocity (n, 6) of a frame from its pose (n, 4, 4) and the pose's rate of change."""
    R, p, velocity = T[:, :3, :3], T[:, :3, 3], rate[:, :3, 3]
    spin = rate[:, :3, :3] @ R.swapaxes(1, 2)
    angular = np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=1)
    if reference == "local":
        velocity, angular = applied(R.swapaxes(1, 2), velocity), applied(R.swapaxes(1, 2), angular)
    elif reference == "world":
        velocity = velocity + np.cross(p, angular)
    return np.concatenate([velocity, angular], axis=1)


# ── the table ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class Law(NamedTuple):
    """A row: the check's name, what it checks, the largest value that passes, and the function that measures it."""

    name: str
    says: str
    tolerance: float
    measure: Callable[[Sample], WorstError]


DERIVATIVES_LIMIT = 20  # dof up to which derivatives are checked
ROUNDING = 1e-11  # the error that a few thousand operations may leave; a correct model has 1e-15
LAWS = (
    Law("poses as declared", "Bodies and frames are where the Robot's data put them.", ROUNDING, poses_as_declared),
    Law("mass as declared", "M is the sum of J^T I J over the Robot's bodies.", ROUNDING, mass_as_declared),
    Law("energy as declared", "T and V are those of the Robot's bodies.", ROUNDING, energy_as_declared),
    Law("mass matrix symmetric", "M(q) equals its transpose.", 1e-13, symmetric),
    Law(
        "mass matrix positive definite",
        "M(q) has positive eigenvalues; the value is its condition number.",
        1e14,
        positive_definite,
    ),
    Law("inverse dynamics", "ID(q, v, a) = M a + h.", ROUNDING, inverse_is_affine),
    Law(
        "forward dynamics",
        "FD(q, v, ID(q, v, a)) = a; with loops M a + h = tau + J^T lambda and J a = gamma. Errors over cond(M).",
        1e-12,
        forward_is_right,
    ),
    Law(
        "derivatives",
        "d/dt ID = dq v + dv a + da j along the motion, and of FD alike.",
        ROUNDING,
        derivatives_are_rates,
    ),
    Law("outside wrenches", "A wrench w at a frame lowers ID by J^T w.", ROUNDING, wrenches_enter_by_jacobians),
    Law("links as written", "Recursions on the user's own links give the same.", ROUNDING, same_on_links_as_written),
    Law("bias forces", "h(q, v) = C v + g.", ROUNDING, bias_splits),
    Law("passivity", "dM/dt - 2 C is skew-symmetric.", ROUNDING, passive),
    Law("kinetic energy", "T = v . M v / 2.", ROUNDING, kinetic_energy_is_quadratic),
    Law("power balance", "d/dt (T + V) = v . tau.", ROUNDING, power_balances),
    Law("momentum", "Total mass times the velocity of its center is A_G v.", ROUNDING, momentum_moves_the_center),
    Law("jacobian", "J v is the twist of the frame's pose.", ROUNDING, jacobians_give_twists),
    Law("jacobian rate", "dJ/dt as derived equals J differentiated.", ROUNDING, jacobian_rates),
)
