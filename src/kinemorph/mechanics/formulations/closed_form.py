"""The equations of motion in closed form: all links in one stack of block matrices.

Park, Bobrow & Ploen (1995), Chen & Yang (1998); equations 30-39 of the MODUROB paper, corrected as in docs/errata.md
(E000-4 to E000-13) and applied to a tree. Links are numbered in the order of the tree; H_ji is the pose of link i seen
from link j, H_0i from the world. Twists and wrenches are [linear; angular], each in its own link's frame:

    V    = T S qd                                            (30)     S      6 x k blocks on the diagonal: joint axes
    Vd   = T_H0 Vd_0 + T S qdd + T ad_Sqd V                  (31)     T      Ad(H_ji^-1) where j carries i (35)
    F    = T^T (M Vd + ad*_V M V - F^e)                      (32)     T_H0   Ad(H_0i^-1), a column of blocks (34)
    tau  = S^T F                                             (33)     M      inertias about the links' origins

    M(q) qdd + C(q, qd) qd + N(q) = tau                      (36)     ad_Sqd  diag(-ad(S_i qd_i))
    M(q) = S^T T^T M T S                                     (37)     ad*_V   diag(-ad(V_i)^T)
    C    = S^T T^T (M T ad_Sqd + ad*_V M) T S                (38)     F^e     external wrenches
    N    = S^T T^T (M T_H0 Vd_0 - F^e)                       (39)     Vd_0    minus gravity

Joints may have several axes, since axes are constant in the link's frame: a free base and virtual joints need no
special treatment. qd stands for v. Blocks that are structurally zero are never formed, so the work grows with the
number of pairs of links of which one carries the other; forces are computed from right to left, as products of matrices
and vectors, and M and C as products of blocks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kinemorph.algebra.groups import Ad, Pose, ad, coad, compose, inverse
from kinemorph.algebra.inertia_blocks import dense_blocks, rigid_blocks
from kinemorph.algebra.scalar import S as Scalar
from kinemorph.algebra.vectors import (
    Mat,
    Vec,
    add,
    block,
    hat,
    identity,
    mat_add,
    mat_neg,
    matmul,
    matvec,
    matvec_transposed,
    neg,
    zeros,
)
from kinemorph.mechanics.formulations.block_products import (
    Diagonal,
    Pairs,
    along_axes,
    dense_axes,
    dense_diagonal,
    dense_matrix,
    from_left,
    joint_axes,
    lines,
    onto_axes,
    squared,
    with_armature_masses,
    with_armatures,
    without,
)
from kinemorph.mechanics.recursions.kinematics import pose_of_move
from kinemorph.mechanics.recursions.newton_euler import Wrench
from kinemorph.mechanics.trees.tree import WORLD, Tree


class Stacked(NamedTuple):
    """The stacked matrices of a tree of n links at (q, v), by blocks: one per link, or one per pair in T."""

    S: Diagonal  # n blocks 6 x k, k axes of the link's joint
    T: Pairs  # blocks 6 x 6 at (i, j) where link j is link i or carries it
    T_H0: Diagonal  # n blocks 6 x 6, one below the other
    M: Diagonal  # n blocks 6 x 6
    ad_Sqd: Diagonal  # n blocks 6 x 6, minus signs included
    ad_V: Diagonal  # n blocks 6 x 6, minus signs included: ad*_V of the paper


# ── the stacked matrices ──────────────────────────────────────────────────────────────────────────────────────────────


def stacked(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar] | None = None) -> Stacked:
    """The stacked matrices at (q, v), by blocks; see `Stacked`. Without v, its blocks `ad_Sqd` and `ad_V` are zero."""
    H = transformations(tree, q)
    above = lines(tree)
    S = joint_axes(tree)
    T = {
        (i, j): identity(6) if i == j else Ad(inverse(H[j, i]))  # (35), zero where j does not carry i: E000-12
        for i, line in enumerate(above)
        for j in line
    }
    T_H0 = tuple(Ad(inverse(H[WORLD, i])) for i in range(len(tree.links)))  # (34)
    M = tuple(dense_blocks(rigid_blocks(link.moments)) for link in tree.links)  # (29): [linear; angular], E000-4
    own = along_axes(tree, S, [0.0] * tree.nv if v is None else v)
    V = carried(above, T, own)  # (30)
    return Stacked(S, T, T_H0, M, tuple(mat_neg(ad(twist)) for twist in own), tuple(map(coad, V)))


def transformations(tree: Tree, q: Sequence[Scalar]) -> dict[tuple[int, int], Pose]:
    """The poses H_ji of every link i, seen from each link j that carries it and from the world, by (j, i).

    Seen from the parent p, the pose is that of the joint; seen from other links, it is H_ji = H_jp H_pi, with H_jp
    found before.
    """
    H: dict[tuple[int, int], Pose] = {}
    above = lines(tree)
    for i, (link, move) in enumerate(zip(tree.links, tree.moves(q), strict=True)):
        p = link.parent
        H[p, i] = pose_of_move(move)
        if p != WORLD:
            for j in (WORLD, *above[p][:-1]):
                H[j, i] = compose(H[j, p], H[p, i])
    return H


def carried(above: Sequence[Sequence[int]], T: Pairs, own: Sequence[Vec]) -> list[Vec]:
    """The twists of all links, from the twists `own` of their joints: the product T own.

    T[i, j] transforms a twist from the frame of link j to that of link i; `above` comes from `lines`.
    """
    found = []
    for i, line in enumerate(above):
        total = zeros(6)
        for j in line:
            total = add(total, matvec(T[i, j], own[j]))
        found.append(total)
    return found


def dense_matrices(tree: Tree, blocks: Stacked) -> dict[str, list[list[Scalar]]]:
    """The stacked matrices as dense matrices: S (6n, nv), T (6n, 6n), T_H0 (6n, 6), M, ad_Sqd and ad_V (6n, 6n)."""
    n = 6 * len(tree.links)
    return {
        "S": dense_axes(tree, blocks.S),
        "T": dense_matrix({(i, 6 * j): part for (i, j), part in blocks.T.items()}, n, n),
        "T_H0": dense_matrix({(i, 0): part for i, part in enumerate(blocks.T_H0)}, n, 6),
        "M": dense_diagonal(blocks.M),
        "ad_Sqd": dense_diagonal(blocks.ad_Sqd),
        "ad_V": dense_diagonal(blocks.ad_V),
    }


# ── the equations of motion ───────────────────────────────────────────────────────────────────────────────────────────


def inverse_dynamics(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    wrenches: Mapping[int, Wrench] | None = None,
) -> list[Scalar]:
    """Generalized forces, shape (nv,), that give the acceleration `a` at (q, v), by equations (30)-(33).

    `wrenches` are external wrenches: link index -> wrench on the link, in its frame and about its origin.
    """
    K, above = stacked(tree, q, v), lines(tree)
    V = carried(above, K.T, along_axes(tree, K.S, v))  # (30)
    pushed = along_axes(tree, K.S, a)
    turned = [add(own, matvec(rate, twist)) for own, rate, twist in zip(pushed, K.ad_Sqd, V, strict=True)]
    Vd = [add(*both) for both in zip(_lifted(tree, K), carried(above, K.T, turned), strict=True)]  # (31): E000-7
    needed = []  # the bracket after T^T in (32): E000-8, E000-9
    for inertia, rate, twist, acceleration in zip(K.M, K.ad_V, V, Vd, strict=True):
        needed.append(add(matvec(inertia, acceleration), matvec(rate, matvec(inertia, twist))))
    return with_armatures(tree, _projected(tree, K, without(needed, wrenches)), a)  # (33)


def mass_matrix(tree: Tree, q: Sequence[Scalar]) -> list[list[Scalar]]:
    """The mass matrix M(q) = S^T T^T M T S (37), shape (nv, nv), with the armatures added to its diagonal."""
    K = stacked(tree, q)
    J = _jacobian(K)
    return with_armature_masses(tree, squared(tree, J, from_left(K.M, J), symmetric=True))


def coriolis_matrix(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[list[Scalar]]:
    """The Coriolis matrix C = S^T T^T (M T ad_Sqd + ad*_V M) T S, shape (nv, nv): (38) with the factor M of E000-10.

    C v are the Coriolis forces, and v^T (Mdot - 2 C) v = 0; Mdot - 2 C itself is not skew.
    """
    K = stacked(tree, q, v)
    J = _jacobian(K)
    moved = from_left(K.M, _turned(tree, K, J))
    turned = from_left(K.ad_V, from_left(K.M, J))
    return squared(tree, J, {pair: mat_add(part, turned[pair]) for pair, part in moved.items()})


def skew_coriolis_matrix(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[list[Scalar]]:
    """The Coriolis matrix C = J^T (M Jdot + B J), shape (nv, nv), for which Mdot - 2 C is skew (E000-13).

    J = T S and Jdot = T ad_Sqd (T - 1) S. B_i = [[0, -p~], [-p~, -h~]] with the momentum [p; h] = M_i V_i, so that
    B V = ad*_V M V; B is skew, ad*_V M is not. The term -1 in Jdot matters for joints with several axes, because the
    axes of one joint do not turn each other: ad_Sqd S is 0 only for one axis, or when it is multiplied by qd.
    """
    K = stacked(tree, q, v)
    J = _jacobian(K)
    hung = {(i, j): tuple(zeros(len(row)) for row in part) if i == j else part for (i, j), part in J.items()}
    moved = from_left(K.M, _turned(tree, K, hung))
    twists = carried(lines(tree), K.T, along_axes(tree, K.S, v))
    turned = from_left([_gyration(matvec(*both)) for both in zip(K.M, twists, strict=True)], J)
    return squared(tree, J, {pair: mat_add(part, turned[pair]) for pair, part in moved.items()})


# ── products of blocks ────────────────────────────────────────────────────────────────────────────────────────────────


def _jacobian(K: Stacked) -> Pairs:
    """J = T S: block (i, j), 6 x k, has the twists of link i at unit rates of the axes of link j's joint."""
    return {(i, j): matmul(part, K.S[j]) for (i, j), part in K.T.items()}


def _turned(tree: Tree, K: Stacked, parts: Pairs) -> Pairs:
    """The product of T ad_Sqd and a matrix given by the blocks `parts`."""
    turned = from_left(K.ad_Sqd, parts)
    found: Pairs = {}
    for i, line in enumerate(lines(tree)):
        for place, j in enumerate(line):
            total = turned[i, j]
            for x in line[place:-1]:
                total = mat_add(total, matmul(K.T[i, x], turned[x, j]))
            found[i, j] = total
    return found


def _projected(tree: Tree, K: Stacked, needed: Sequence[Vec]) -> list[Scalar]:
    """The product of S^T T^T and a stack of wrenches, one per link: generalized forces, shape (nv,)."""
    loads = [zeros(6)] * len(tree.links)
    for i, j in K.T:
        loads[j] = add(loads[j], matvec_transposed(K.T[i, j], needed[i]))
    return onto_axes(tree, K.S, loads)


def _lifted(tree: Tree, K: Stacked) -> list[Vec]:
    """The product T_H0 Vd_0, one vector per link: the base accelerates upward in place of gravity (23)."""
    up = (*neg(tree.gravity), 0.0, 0.0, 0.0)
    return [matvec(part, up) for part in K.T_H0]


def _gyration(momentum: Vec) -> Mat:
    """The matrix B = [[0, -p~], [-p~, -h~]] of E000-13, shape (6, 6), of a momentum [p; h]."""
    p, h = mat_neg(hat(momentum[:3])), mat_neg(hat(momentum[3:]))
    return block([[(zeros(3),) * 3, p], [p, h]])
