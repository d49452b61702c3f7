"""The checks by laws of mechanics, each a function from sampled states to a relative error.

A check returns the largest relative error that it finds, or raises UnsupportedError where it does not apply. It calls
the functions that users call. Checks against the robot as it was declared are in `declared_laws`. Symbols:

    M mass matrix, h bias forces, C Coriolis matrix, g gravity forces, J Jacobian, A_G centroidal momentum matrix,
    T and V kinetic and potential energy, ID(q, v, a) inverse dynamics, FD(q, v, tau) forward dynamics
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
from kinemorph.analysis.verification.quasicoordinate_law import coriolis_terms_cancel
from kinemorph.analysis.verification.sampling import Sample, WorstError, largest
from kinemorph.codegen.loops.loop_program import LoopProgram
from kinemorph.errors import UnsupportedError
from kinemorph.mechanics.recursions.kinematics import REFERENCES, Reference


def applied(matrices: Array, vectors: Array) -> Array:
    """The products of n matrices (n, r, c) and n vectors (n, c), shape (n, r)."""
    return np.asarray(np.einsum("nij,nj->ni", matrices, vectors))


# ── the mass matrix ───────────────────────────────────────────────────────────────────────────────────────────────────


def symmetric(s: Sample) -> WorstError:
    """The error of M = M^T, for the mass matrix M."""
    M = s.call(s.dynamics.mass_matrix)
    return s.worst(M - M.swapaxes(1, 2), M)


def positive_definite(s: Sample) -> WorstError:
    """The largest condition number of the mass matrix M; infinite where M is not positive definite."""
    eigenvalues = _eigenvalues(s)
    smallest, largest = eigenvalues[:, 0], eigenvalues[:, -1]
    with np.errstate(all="ignore"):
        condition = np.where(smallest > 0.0, largest / smallest, np.where(np.isnan(smallest), np.nan, np.inf))
    note = f"smallest eigenvalue {smallest.min():.3g}, condition number {condition.max():.3g}"
    return WorstError(float(condition.max()), note=note)


def condition_numbers(s: Sample) -> Array:
    """The condition numbers of the mass matrix M, shape (n,).

    They are nan where M is not finite, and not positive where M is not positive definite.
    """
    eigenvalues = _eigenvalues(s)
    with np.errstate(all="ignore"):
        return np.asarray(eigenvalues[:, -1] / eigenvalues[:, 0])


def _eigenvalues(s: Sample) -> Array:
    """Eigenvalues of the mass matrix M in ascending order, shape (n, nv); nan where M is not finite."""
    M = s.call(s.dynamics.mass_matrix)
    finite = np.isfinite(M).all(axis=(1, 2), keepdims=True)
    values = np.linalg.eigvalsh(np.where(finite, 0.5 * (M + M.swapaxes(1, 2)), 0.0))
    return np.where(finite[:, :, 0], values, np.nan)


# ── forces and accelerations ──────────────────────────────────────────────────────────────────────────────────────────


def inverse_is_affine(s: Sample) -> WorstError:
    """The error of ID(q, v, a) = M a + h: inverse dynamics from the mass matrix and the bias forces."""
    d = s.dynamics
    inertial, bias, tau = applied(s.call(d.mass_matrix), s.a), s.call(d.bias_forces), s.call(d.inverse_dynamics)
    return s.worst(inertial + bias - tau, inertial, bias, tau, floor=s.weight)


def forward_is_right(s: Sample) -> WorstError:
    """The error of forward dynamics: against inverse dynamics on an open tree, otherwise against the constraints."""
    return forward_undoes_inverse(s) if s.dynamics.laws.maker.is_open else constraints_hold(s)


def forward_undoes_inverse(s: Sample) -> WorstError:
    """The error of FD(q, v, ID(q, v, a)) = a: forward dynamics is the inverse of inverse dynamics.

    The error is divided by the condition number of M, and is relative to a and to the acceleration without forces.
    """
    d = s.dynamics
    forward = d.forward_dynamics
    again, fall = s.call(forward, tau=s.call(d.inverse_dynamics)), s.call(forward, tau=0.0 * s.a)
    return s.worst((again - s.a) / condition_numbers(s)[:, None], s.a, fall)


def constraints_hold(s: Sample) -> WorstError:
    """The error of M a + h = tau + J^T lambda and J a = gamma, for a = FD(q, v, tau), divided by cond(M).

    J a = gamma are the constraints on accelerations, lambda the constraint forces. At configurations that are not
    closed, redundant constraints may contradict each other; then J a - gamma is the residual of least squares:
    J^T D (J a - gamma) = 0 with D = 1 / diag(J M^-1 J^T).
    """
    d = s.dynamics
    a, (shares, _) = s.call(d.forward_dynamics), s.call(d.constraint_forces)
    M, h = s.call(d.mass_matrix), s.call(d.bias_forces)
    J, gamma = s.call(d.constraint_jacobian), s.call(d.constraint_bias)
    inertial, held = applied(M, a), applied(J.swapaxes(1, 2), shares)
    condition = condition_numbers(s)[:, None]
    uncanceled = applied(np.abs(J).swapaxes(1, 2), np.abs(shares))  # near a singularity, shares are large and cancel
    errors = [s.worst((inertial + h - s.a - held) / condition, inertial, h, uncanceled)]
    diagonal = np.einsum("nci,nci->nc", J, np.linalg.solve(M, J.swapaxes(1, 2)).swapaxes(1, 2))
    weight = np.where(diagonal > 0.0, 1.0 / np.where(diagonal > 0.0, diagonal, 1.0), 0.0)
    reached = applied(J, a)
    left = applied(J.swapaxes(1, 2), weight * (reached - gamma))
    terms = applied(np.abs(J), np.abs(a)), np.abs(gamma)  # the sizes of terms before they cancel
    sizes = [applied(np.abs(J).swapaxes(1, 2), weight * x) for x in terms]
    return largest([*errors, s.worst(left / condition, *sizes)])


def derivatives_are_rates(s: Sample) -> WorstError:
    """The error of the derivatives of inverse and forward dynamics, ID and FD.

    The rates of change of ID and FD while q moves with v and v with a are computed from the derivatives and by dual
    numbers. Where M is constant and there is no gravity, the rate of FD is only rounding; so the error is relative to
    FD per second as well.
    """
    d = s.dynamics
    if d.robot.nv > DERIVATIVES_LIMIT:
        raise UnsupportedError(
            f"the robot has {d.robot.nv} degrees of freedom; this check compiles derivatives, which takes long, and is "
            f"skipped for robots with more than {DERIVATIVES_LIMIT}."
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
    """The error of: inverse dynamics with wrenches w = inverse dynamics without them - sum over frames of J^T w."""
    d = s.dynamics
    if not d.wrenches:
        raise UnsupportedError("the model was derived without outside wrenches, so this check does not apply.")
    loaded, free = s.call(d.inverse_dynamics), s.call(d.inverse_dynamics, still=True)
    jacobians = [s.call(d.jacobian(frame)) for frame in d.wrenches]
    pushed = sum(np.einsum("nij,ni->nj", J, s.wrenches[:, k]) for k, J in enumerate(jacobians))
    return s.worst(free - pushed - loaded, loaded, free, floor=s.weight)


def bias_splits(s: Sample) -> WorstError:
    """The error of h = C v + g: bias forces from the Coriolis matrix and the gravity forces."""
    d = s.dynamics
    coriolis, gravity = applied(s.call(d.coriolis_matrix), s.v), s.call(d.gravity_forces)
    bias = s.call(d.bias_forces, still=True)
    return s.worst(coriolis + gravity - bias, coriolis, gravity, bias, floor=s.weight)


def passive(s: Sample) -> WorstError:
    """The error of dM/dt = C + C^T, so that dM/dt - 2 C is skew-symmetric (M mass matrix, C Coriolis matrix)."""
    looped = isinstance(s.dynamics.mass_matrix.program, LoopProgram)
    unrolled = s.dynamics._maker.unrolled_mass_matrix() if looped else s.dynamics.mass_matrix
    (rate,), M = s.rates(unrolled), s.call(s.dynamics.mass_matrix)
    C = s.call(s.dynamics.coriolis_matrix)
    same = s.worst(M - s.call(unrolled), M)
    return largest([same, s.worst(rate - C - C.swapaxes(1, 2), rate, C, M)])


# ── energy and momentum ───────────────────────────────────────────────────────────────────────────────────────────────


def kinetic_energy_is_quadratic(s: Sample) -> WorstError:
    """The error of T = v . M v / 2: kinetic energy from the mass matrix."""
    kinetic, _ = s.call(s.dynamics.energy)
    quadratic = 0.5 * np.einsum("ni,ni->n", s.v, applied(s.call(s.dynamics.mass_matrix), s.v))
    return s.worst(kinetic - quadratic, kinetic, quadratic)


def power_balances(s: Sample) -> WorstError:
    """The error of d/dt (T + V) = v . tau: the energy of the robot changes by the power of the joint forces."""
    kinetic, potential = s.rates(s.dynamics.energy)
    work = s.v * s.call(s.dynamics.inverse_dynamics, still=True)
    return s.worst(kinetic + potential - work.sum(axis=1), kinetic, potential, work, floor=s.weight)


def momentum_moves_the_center(s: Sample) -> WorstError:
    """The error of: momentum = A_G v (centroidal matrix), linear momentum = mass times center-of-mass velocity."""
    d = s.dynamics
    (velocity,) = s.rates(d.center_of_mass)
    momentum, by_matrix = s.call(d.momentum), applied(s.call(d.centroidal_matrix), s.v)
    gap = np.concatenate([by_matrix - momentum, d.robot.total_mass * velocity - momentum[:, :3]], axis=1)
    return s.worst(gap, momentum, by_joint=False)


# ── kinematics ────────────────────────────────────────────────────────────────────────────────────────────────────────


def ends(s: Sample) -> list[str]:
    """Names of at most 3 frames at which kinematics is checked: declared frames, then bodies without children."""
    robot = s.dynamics.robot
    carrying = {joint.parent for joint in robot.joints}
    return [*(frame.name for frame in robot.frames), *(b for b in robot.body_names if b not in carrying)][:3]


def jacobians_give_twists(s: Sample) -> WorstError:
    """The error of J v against the twist that follows from the rate of change of the pose, in every reference."""
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
    """The error of `jacobian_rate` against the exact derivative of the Jacobian with respect to time."""
    frame = ends(s)[0]
    d = s.dynamics
    (exact,), rate = s.rates(d.jacobian(frame)), s.call(d.jacobian_rate(frame))
    return s.worst(rate - exact, rate, exact, s.call(d.jacobian(frame)), floor=1e-3, by_joint=False)


def _twist(T: Array, rate: Array, reference: Reference) -> Array:
    """The twist [linear; angular] (n, 6) of a frame, from its pose T (n, 4, 4) and the rate of change of the pose."""
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
    """A row of the table of checks: name, the rule as a sentence, the largest value that passes, and the function."""

    name: str
    says: str
    tolerance: float
    measure: Callable[[Sample], WorstError]


DERIVATIVES_LIMIT = 20  # dof up to which derivatives are checked
ROUNDING = 1e-11  # an upper bound of rounding errors after a few thousand operations; a correct model has about 1e-15
LAWS = (
    Law("poses as declared", "Bodies and frames are where the Robot's data put them.", ROUNDING, poses_as_declared),
    Law("mass as declared", "M is the sum of J^T I J over the Robot's bodies.", ROUNDING, mass_as_declared),
    Law("energy as declared", "T and V are the energies of the Robot's bodies.", ROUNDING, energy_as_declared),
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
        "d/dt ID = dID/dq v + dID/dv a along a motion, and the same for FD.",
        ROUNDING,
        derivatives_are_rates,
    ),
    Law("outside wrenches", "A wrench w at a frame lowers ID by J^T w.", ROUNDING, wrenches_enter_by_jacobians),
    Law(
        "links as written",
        "Recursions on the links as declared give the same M and ID.",
        ROUNDING,
        same_on_links_as_written,
    ),
    Law("bias forces", "h(q, v) = C v + g.", ROUNDING, bias_splits),
    Law("passivity", "dM/dt - 2 C is skew-symmetric.", ROUNDING, passive),
    Law("kinetic energy", "T = v . M v / 2.", ROUNDING, kinetic_energy_is_quadratic),
    Law("power balance", "d/dt (T + V) = v . tau.", ROUNDING, power_balances),
    Law(
        "momentum",
        "Total mass times the velocity of the center of mass is the linear part of A_G v.",
        ROUNDING,
        momentum_moves_the_center,
    ),
    Law("jacobian", "J v is the twist of the frame, from its pose's rate of change.", ROUNDING, jacobians_give_twists),
    Law("jacobian rate", "jacobian_rate is the time derivative of the Jacobian.", ROUNDING, jacobian_rates),
    Law(
        "Coriolis terms",
        "Nelson & Quinn's identity (25): Phid + Phi W~^T + Chat Psi~ Q^T = 0 at random points of all bodies.",
        1e-13,
        coriolis_terms_cancel,
    ),
)
