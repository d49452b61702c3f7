"""Spatial inertia: mass, center of mass and moments of a rigid body, over any scalar.

A body is stored as mass [kg], center of mass c [m] and moment [kg m^2] about the center of mass, all in the axes of one
frame. There are equivalent forms, each linear in the mass distribution and so additive for bodies that are welded
together:

    first moment    h = m c
    second moment   Sigma = integral of r r^T dm
    about origin    I_o = tr(Sigma) 1 - Sigma = moment + m (c.c 1 - c c^T)
    parameters      (m, hx, hy, hz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz), the ten inertial parameters: m, h and I_o
    pseudo-inertia  [[Sigma, h], [h^T, m]], shape (4, 4): positive (semi)definite exactly for mass distributions
    spatial         [[m 1, -hat(h)], [hat(h), I_o]], shape (6, 6): momentum [p; L] = spatial [v; w]
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from kinemorph.algebra.groups import Pose, act
from kinemorph.algebra.scalar import S, div, equal, minus, plus, times, where
from kinemorph.algebra.vectors import (
    Mat,
    Vec,
    add,
    block,
    cross,
    diagonal,
    dot,
    hat,
    identity,
    mat_add,
    mat_neg,
    mat_scale,
    mat_sub,
    matmul,
    matvec,
    outer,
    scale,
    sub,
    trace,
    transpose,
)
from kinemorph.frozen import dataclass

SYMMETRY_TOLERANCE = 1e-9  # of the largest entry
NANOMETER = 1e-9  # [m] mass this near to an axis counts as on it: smaller moments are rounding in the file
CONSISTENCY_TOLERANCE = 1e-6  # of the largest principal moment: files round their numbers


@dataclass(frozen=True)
class Inertia:
    """The inertia of a body, in its own axes: mass [kg], center of mass [m], shape (3,), and the rotational inertia
    `moment` about the center of mass [kg m^2], shape (3, 3).
    """

    mass: S
    com: Vec
    moment: Mat


def shifted(mass: S, arm: Sequence[S]) -> Mat:
    """Rotational inertia [kg m^2], shape (3, 3), of a point mass [kg] at `arm` [m] (the parallel-axis term)."""
    return mat_scale(mass, mat_sub(diagonal((dot(arm, arm),) * 3), outer(arm, arm)))


def about_origin(inertia: Inertia) -> tuple[Vec, Mat]:
    """(h, I_o): first moment [kg m], shape (3,), and rotational inertia about the origin [kg m^2], shape (3, 3)."""
    return scale(inertia.mass, inertia.com), mat_add(inertia.moment, shifted(inertia.mass, inertia.com))


def from_origin(mass: S, first_moment: Sequence[S], about: Sequence[Sequence[S]]) -> Inertia:
    """The inertia of a body with a mass [kg] > 0, a first moment [kg m], and a rotational inertia `about` the origin
    [kg m^2].
    """
    com = scale(div(1.0, mass), first_moment)
    return Inertia(mass, com, mat_sub(about, shifted(mass, com)))


def spatial(inertia: Inertia) -> Mat:
    """The spatial inertia about the origin in the order [linear; angular], shape (6, 6)."""
    h, about = about_origin(inertia)
    return block([[diagonal((inertia.mass,) * 3), mat_neg(hat(h))], [hat(h), about]])


def momentum(inertia: Inertia, V: Sequence[S]) -> Vec:
    """[p; L] = spatial V, shape (6,): momentum [N s] and angular momentum about the origin [N m s] at twist V."""
    v, w = V[:3], V[3:]
    p = scale(inertia.mass, add(v, cross(w, inertia.com)))
    return (*p, *add(matvec(inertia.moment, w), cross(inertia.com, p)))


def kinetic_energy(inertia: Inertia, V: Sequence[S]) -> S:
    """Kinetic energy [J] at twist V, shape (6,)."""
    return times(0.5, dot(V, momentum(inertia, V)))


def transformed(inertia: Inertia, T_ab: Pose) -> Inertia:
    """The inertia of a body, given in frame b, expressed in frame a. As 6x6 matrices: M_a = Ad(T_ba)^T M_b Ad(T_ba)."""
    R = T_ab.R
    return Inertia(inertia.mass, act(T_ab, inertia.com), matmul(matmul(R, inertia.moment), transpose(R)))


def added(first: Inertia, second: Inertia) -> Inertia:
    """The inertia of two bodies, given in one frame, that are welded together.

    Where both are massless, the center of mass is that of the first.
    """
    mass = plus(first.mass, second.mass)
    massless = equal(mass, 0.0)
    share = where(massless, 0.0, div(second.mass, where(massless, 1.0, mass)))
    between = sub(second.com, first.com)
    moment = mat_add(mat_add(first.moment, second.moment), shifted(times(first.mass, share), between))
    return Inertia(mass, add(first.com, scale(share, between)), moment)


# ── second moments ────────────────────────────────────────────────────────────────────────────────────────────────────


def second_moment(inertia: Inertia) -> Mat:
    """Sigma = integral of r r^T dm about the origin [kg m^2], shape (3, 3)."""
    mass, com, half = inertia.mass, inertia.com, times(0.5, trace(inertia.moment))
    return tuple(
        [
            tuple(
                [plus(minus(half if i == j else 0.0, x), times(mass, times(com[i], com[j]))) for j, x in enumerate(row)]
            )
            for i, row in enumerate(inertia.moment)
        ]
    )


def from_second_moment(mass: S, first_moment: Sequence[S], sigma: Sequence[Sequence[S]]) -> Inertia:
    """The inertia of a body with a mass [kg] > 0, a first moment [kg m] and a second moment `sigma` about the origin
    [kg m^2].
    """
    return from_origin(mass, first_moment, mat_sub(mat_scale(trace(sigma), identity(3)), sigma))


# ── inertial parameters and pseudo-inertia ────────────────────────────────────────────────────────────────────────────

PAIRS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))  # the entries of I_o that are parameters, in this order


def inertial_parameters(inertia: Inertia) -> Vec:
    """The ten parameters (m, hx, hy, hz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz) of a body [kg, kg m, kg m^2], shape (10,)."""
    h, about = about_origin(inertia)
    return (inertia.mass, *h, *(about[i][j] for i, j in PAIRS))


def from_inertial_parameters(parameters: Sequence[S]) -> Inertia:
    """The inertia of a body with these ten parameters, in the order of `inertial_parameters`, with mass > 0."""
    return from_origin(parameters[0], parameters[1:4], symmetric(parameters[4:]))


def pseudo_inertia(parameters: Sequence[S]) -> Mat:
    """The pseudo-inertia [[Sigma, h], [h^T, m]], shape (4, 4), of ten parameters in the order of `inertial_parameters`.

    It is a linear function of them; Sigma is the second moment, h the first moment, m the mass.
    """
    about, h = symmetric(parameters[4:]), tuple(parameters[1:4])
    sigma = mat_sub(mat_scale(times(0.5, trace(about)), identity(3)), about)
    return (*((*row, x) for row, x in zip(sigma, h, strict=True)), (*h, parameters[0]))


def from_pseudo_inertia(pseudo: Sequence[Sequence[S]]) -> Vec:
    """The ten parameters, in the order of `inertial_parameters`, of a pseudo-inertia, shape (4, 4); it is linear."""
    sigma = tuple(tuple(row[:3]) for row in pseudo[:3])
    about = mat_sub(mat_scale(trace(sigma), identity(3)), sigma)
    return (pseudo[3][3], *pseudo[3][:3], *(about[i][j] for i, j in PAIRS))


def symmetric(entries: Sequence[S]) -> Mat:
    """The symmetric matrix, shape (3, 3), with these six entries in the order of PAIRS."""
    xx, xy, xz, yy, yz, zz = entries
    return ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))


# ── floats only ───────────────────────────────────────────────────────────────────────────────────────────────────────


def inertia_problems(mass: float, com: Sequence[float], moment: Sequence[Sequence[float]]) -> list[str]:
    """The reasons why no rigid body has these numbers, one sentence each; empty where there are none. Floats only.

    mass [kg], com [m], shape (3,), moment [kg m^2] about the center of mass, shape (3, 3). Zero principal moments are
    legal: a point mass has three, a thin rod one. The triangle inequality has its own check, `triangle_doubts`.
    """
    entries = tuple(x for row in moment for x in row)
    numbers = {"mass": (mass,), "center of mass": tuple(com), "moment of inertia": entries}
    problems = [
        f"{name} contains {bad[0]}, expected finite numbers"
        for name, values in numbers.items()
        if (bad := [x for x in values if not math.isfinite(x)])
    ]
    if problems:
        return problems
    if mass <= 0.0:
        problems.append(f"mass is {mass:.6g} kg, expected more than 0")
    tolerance = SYMMETRY_TOLERANCE * max(map(abs, entries))
    skewed = [(i, j) for i, j in ((0, 1), (0, 2), (1, 2)) if abs(moment[i][j] - moment[j][i]) > tolerance]
    for i, j in skewed:
        one, other = "xyz"[i] + "xyz"[j], "xyz"[j] + "xyz"[i]
        problems.append(
            f"moment of inertia is not symmetric: I{one} is {moment[i][j]:.6g}, I{other} is {moment[j][i]:.6g} kg m^2; "
            "a product of inertia is one number, write it twice"
        )
    if not skewed and min(moment[i][i] for i in range(3)) < -NANOMETER * NANOMETER * abs(mass):
        a, b, c = _principal_moments(moment)  # they exist only for a symmetric matrix
        if a < -CONSISTENCY_TOLERANCE * max(abs(a), abs(c)):
            problems.append(
                f"principal moments are {a:.6g}, {b:.6g}, {c:.6g} kg m^2, expected none below 0; check the signs of "
                "the moment of inertia about the center of mass"
            )
    return problems


def triangle_doubts(moment: Sequence[Sequence[float]], mass: float = 0.0) -> list[str]:
    """A list with one warning if no mass distribution has this symmetric moment of inertia [kg m^2], shape (3, 3).

    The list is empty if some mass distribution has it. A body that gets the warning still has equations of motion, and
    many published models contain such bodies. The diagonal entries have to be at least 0, which `inertia_problems`
    checks. Violations that are small for the `mass` [kg] of the body count as rounding errors.
    """
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = moment
    half = 0.5 * (xx + yy + zz)  # the triangle inequality holds where this, less the moments, is not negative
    if _positive(((half - xx, -xy, -xz), (-xy, half - yy, -yz), (-xz, -yz, half - zz))):
        return []
    a, b, c = _principal_moments(moment)
    slack = CONSISTENCY_TOLERANCE * max(abs(a), abs(c)) + NANOMETER * NANOMETER * mass
    if a < -slack:
        return [
            f"principal moments are {a:.6g}, {b:.6g}, {c:.6g} kg m^2, expected none below 0; the products of inertia "
            "are too large; check that they are about the center of mass and in the body's axes"
        ]
    if a + b >= c - slack:
        return []
    return [
        f"principal moments are {a:.6g}, {b:.6g}, {c:.6g} kg m^2: the triangle inequality fails, {a:.6g} + {b:.6g} < "
        f"{c:.6g}; no mass distribution has these; check that the moment is about the center of mass and in the body's "
        "axes"
    ]


def _positive(moment: Sequence[Sequence[float]]) -> bool:
    """Whether all leading minors of a symmetric matrix, shape (3, 3), are above 0, so that it is positive definite.

    Because of rounding, a matrix with an eigenvalue of -1e-8 times its largest moment may pass; files round their
    numbers by more.
    """
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = moment
    minor = xx * yy - xy * xy
    return xx > 0.0 and minor > 0.0 and zz * minor + xz * (xy * yz - yy * xz) > yz * (xx * yz - xy * xz)


def _principal_moments(moment: Sequence[Sequence[float]]) -> tuple[float, float, float]:
    matrix = np.asarray(moment, dtype=float)
    size = float(np.abs(matrix).max()) or 1.0  # scaled by the largest entry, against overflow
    a, b, c = (size * np.linalg.eigvalsh(matrix / size)).tolist()
    return a, b, c
