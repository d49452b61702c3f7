"""The equations of motion in quasicoordinates: absolute and relative angular velocities, and true coordinates.

Nelson & Quinn, equations 1 to 50, corrected as in docs/errata.md (E004-1 to E004-12), for trees of bodies and joints of
any kind. The angular velocity w_i of body i is in its own axes; C_Ni turns these to world axes. The joint of body i is
at the place L_i in the axes of the body that carries it; rho_i is its center of mass, measured from the joint. x~ is
the matrix of the cross product with x. All bodies together:

    w = C^R Omega            (40)     C^R   blocks C_ij = C_Ni^T C_Nj where body j carries body i (41)
    Omega = D alphad         (43)     D     a block of each joint: its axes, in the axes of its body (44)
    pd = I_v Rd + Phi w      (10)     Phi   C_Nj L~^T where j carries i, with the L of the branch to i; C_Ni rho~^T
    Phid = -Phi W~^T - Chat Psi~ Q^T  (25)  the identity that eliminates Coriolis terms

    wd = C^R (D alphadd + xi)                                  xi = W~ Omega + Dd alphad                       (50)
    pdd - g = I_v Rdd + Phi C^R D alphadd + Gamma              Gamma = Phid w + Phi C^R xi - g                 (50)
    M = [I_v, Phi C^R D]^T m [I_v, Phi C^R D] + [0, C^R D]^T I* [0, C^R D]                                      (48)
    tau = [I_v, Phi C^R D]^T m (pdd - g) + [0, C^R D]^T (I* wd + W~ I* w)                                       (49)

The paper has hinges, spherical joints and joints of several turns, on a body that moves freely. A joint that slides is
our extension: its L moves, Ld = E alphad, so that velocities get the further columns I_v = C_Nj where body j carries
the joint. A free joint is a joint that slides from the world: its column is the paper's I_v, and E turns its velocity
to world axes. With E the rates of (22), (25) and (50) have further terms, which vanish where nothing slides.

The blocks of all matrices are in `quasi_matrices`, where a body of the paper is a `Segment`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from kinemorph.algebra.scalar import S as Scalar
from kinemorph.algebra.vectors import (
    Vec,
    add,
    block,
    cross,
    diagonal,
    identity,
    mat_add,
    matmul,
    matvec,
    matvec_transposed,
    scale,
    sub,
    zeros,
)
from kinemorph.mechanics.formulations.block_products import (
    Pairs,
    applied,
    applied_transposed,
    from_left,
    gram,
    multiplied,
    with_armature_masses,
    with_armatures,
)
from kinemorph.mechanics.formulations.quasi_matrices import (
    ZERO,
    Quasi,
    axes_of,
    curls,
    global_matrices,
    quasi,
    slide_columns,
)
from kinemorph.mechanics.recursions.newton_euler import Wrench
from kinemorph.mechanics.trees.tree import WORLD, Tree

CoordinateSet = Literal["absolute", "relative", "true"]


# ── the equations of motion ───────────────────────────────────────────────────────────────────────────────────────────


class Load(NamedTuple):
    """Forces and moments in the absolute or relative quasicoordinates."""

    force: dict[int, Vec]  # on the L of each segment that slides, in the axes of the segment that carries it [N]
    moment: list[Vec]  # on each segment, in its own axes [N m]


def needed(
    tree: Tree,
    K: Quasi,
    L_acceleration: Sequence[Vec],
    w_rate: Sequence[Vec],
    wrenches: Mapping[int, Wrench] | None = None,
) -> Load:
    """The forces and moments in absolute quasicoordinates that the rates of Ld and w need, with gravity (29, 38, 39).

    `wrenches` are outside wrenches: link index -> wrench on the link, in its axes and about its origin.
    """
    n, (Phi, Phi_rate), I_v = len(K.segments), global_matrices(K, K.centers), slide_columns(K)
    p = [add(*both) for both in zip(applied(Phi, w_rate, n), applied(Phi_rate, K.w, n), strict=True)]
    for (i, j), turn in I_v.items():
        carrier = K.segments[j].parent
        swept = zeros(3) if carrier == WORLD else cross(K.w[carrier], K.L_rate[j])  # the rate of I_v
        p[i] = add(p[i], matvec(turn, add(L_acceleration[j], swept)))
    forces, moments = [], []
    for i, inertia in enumerate(K.masses):
        forces.append(scale(inertia.mass, sub(p[i], tree.gravity)))
        moments.append(add(matvec(inertia.moment, w_rate[i]), cross(K.w[i], matvec(inertia.moment, K.w[i]))))
    for i, part in enumerate(K.segments):
        if wrenches and part.links[-1] in wrenches:
            axes = axes_of(tree, part.links[-1])
            force, torque = (matvec_transposed(axes, x) for x in wrenches[part.links[-1]])
            forces[i] = sub(forces[i], matvec(K.C[i], force))
            moments[i] = sub(moments[i], sub(torque, cross(K.centers[i], force)))
    turning = [add(*both) for both in zip(applied_transposed(Phi, forces, n), moments, strict=True)]
    slid = applied_transposed(I_v, forces, n)
    return Load({j: slid[j] for j, part in enumerate(K.segments) if part.slides}, turning)


def relative(K: Quasi, load: Load) -> Load:
    """Forces and moments in relative quasicoordinates, from those in absolute ones: C^R^T M (42)."""
    return Load(load.force, applied_transposed(K.C_R, load.moment, len(K.segments)))


def generalized(tree: Tree, K: Quasi, load: Load) -> list[Scalar]:
    """Generalized forces (nv,) of the true coordinates, from forces and moments in relative ones: D^T M_rel (45)."""
    tau: list[Scalar] = [0.0] * tree.nv
    for i, part in enumerate(K.segments):
        found = matvec_transposed(K.D[i], load.moment[i])
        if part.slides:
            found = add(found, matvec_transposed(K.E[i], load.force[i]))
        for k, x in zip(part.velocities, found, strict=True):
            tau[k] = x
    return tau


def inverse_dynamics(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    wrenches: Mapping[int, Wrench] | None = None,
) -> list[Scalar]:
    """Generalized forces, shape (nv,), that give the acceleration `a` at (q, v), by equations (46) to (50).

    `wrenches` are outside wrenches: link index -> wrench on the link, in its axes and about its origin.
    """
    K = quasi(tree, q, v)
    own = [[a[k] for k in part.velocities] for part in K.segments]
    turned = [add(matvec(D, rates), xi) for D, rates, xi in zip(K.D, own, curls(K), strict=True)]
    moved = [add(matvec(E, rates), bias) for E, rates, bias in zip(K.E, own, K.moved, strict=True)]
    load = needed(tree, K, moved, applied(K.C_R, turned, len(own)), wrenches)
    return with_armatures(tree, generalized(tree, K, relative(K, load)), a)


def mass_matrix(tree: Tree, q: Sequence[Scalar]) -> list[list[Scalar]]:
    """The mass matrix (48) of the true coordinates, shape (nv, nv), with the armatures added to its diagonal."""
    return with_armature_masses(tree, _masses(tree, quasi(tree, q), "true"))


def equations(
    tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], coordinates: CoordinateSet = "true"
) -> tuple[list[list[Scalar]], list[Scalar]]:
    """(M, b) of the equations  M x = forces - b  in one set of coordinates, related to the others by (46).

    absolute    x are the rates of Ld of each segment that slides, 3 each, then of the w of all n segments
    relative    x are the rates of Ld of each segment that slides, then of the Omega of all segments
    true        x are the accelerations of the robot's own velocities v (nv,)

    Armatures belong to true coordinates only, and are in M of these.
    """
    K = quasi(tree, q, v)
    M = _masses(tree, K, coordinates)
    still = [zeros(3)] * len(K.segments)
    if coordinates == "absolute":
        load = needed(tree, K, still, still)
    else:
        xi = curls(K) if coordinates == "true" else [cross(*both) for both in zip(K.w, K.Omega, strict=True)]
        moved = K.moved if coordinates == "true" else still
        load = relative(K, needed(tree, K, moved, applied(K.C_R, xi, len(still))))
    if coordinates == "true":
        return with_armature_masses(tree, M), generalized(tree, K, load)
    return M, [x for vector in (*load.force.values(), *load.moment) for x in vector]


def _masses(tree: Tree, K: Quasi, coordinates: CoordinateSet) -> list[list[Scalar]]:
    """The mass matrix in one set of coordinates, without armatures: (29), or (48).

    Its blocks are [linear; angular] velocities of the centers of mass in world axes and of the segments in their own.
    """
    Phi, _ = global_matrices(K, K.centers)
    I_v, n = slide_columns(K), len(K.segments)
    slides = [j for j, part in enumerate(K.segments) if part.slides]
    Jw: Pairs = {(i, i): identity(3) for i in range(n)} if coordinates == "absolute" else K.C_R
    Jp = Phi if coordinates == "absolute" else multiplied(Phi, K.C_R, K.above)
    J: Pairs = {}
    for i, line in enumerate(K.above):
        for j in line:
            turning = (*Jp[i, j], *Jw.get((i, j), ZERO))
            sliding = (*I_v[i, j], *ZERO) if (i, j) in I_v else None
            if coordinates == "true":
                J[i, j] = matmul(turning, K.D[j])
                J[i, j] = mat_add(J[i, j], matmul(sliding, K.E[j])) if sliding else J[i, j]
            else:
                J[i, j] = turning
                if sliding:
                    J[i, n + j] = sliding
    if coordinates == "true":
        places = {j: part.velocities for j, part in enumerate(K.segments)}
        size = tree.nv
    else:
        first = 3 * len(slides)
        places = {n + j: tuple(range(3 * k, 3 * k + 3)) for k, j in enumerate(slides)}
        places |= {j: tuple(range(first + 3 * j, first + 3 * j + 3)) for j in range(n)}
        size = first + 3 * n
    weights = [block([[diagonal((held.mass,) * 3), ZERO], [ZERO, held.moment]]) for held in K.masses]
    return gram(J, from_left(weights, J), places, size, symmetric=True)
