"""The equations of motion from the kinematic graph: the incidence matrix, and everything seen from the world.

Escalera, Abu-Dakka, Alhama & Abderrahim on branched robots, equations 1 to 26, corrected as in docs/errata.md (E002-1
to E002-12), for joints of any kind. Vertices of the graph are the links, arcs the joints, each directed from the child
to the parent. All twists and wrenches are in world axes about the world's origin, [linear; angular]; the paper has
[angular; linear]. H_i is the pose of link i in the world:

    t_K = Ad S qd                          (7)     S     6 x k blocks on the diagonal: joint axes in the child's frame
    t_K = -B^T t_B                         (9)     Ad    diag(Ad(H_i))
    t_B = C t_K,  C = -B^-T               (10)     B     -1 at the child, +1 at the parent of each arc
    dM/dt = -ad^T M - M ad                (20)     M     diag(Ad(H_i^-1)^T M_i Ad(H_i^-1)): inertias seen from the world
    w_B = dM/dt t_B + M C ad t_K + M C Ad S qdd                                                             (21)
    w_K = C^T (w_B - M t_g - w_E)         (26)     ad    diag(ad(t_i)), t_i the twist of link i
    tau = S^T Ad^T w_K                             t_g   the acceleration of gravity, the same for each link
    M(q) = S^T Ad^T C^T M C Ad S                   w_E   outside wrenches

C has the block 1 where link j carries link i or is that link, so it is written down from the tree and no matrix is
inverted. w_B are the wrenches that the links need for their motion, and w_K are those that act on the children through
their joints (the paper's have the opposite sign, E002-11): constraint forces and actuation together.

A joint that closes a loop is one more column of B. Its wrench follows from the multipliers; it acts on the child, and
its opposite on the parent. The wrenches at every vertex then balance:  -B w_K = w_B - M t_g - w_E.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from kinemorph.algebra.groups import Ad, Pose, ad, bracket, cobracket, inverse, move_wrench
from kinemorph.algebra.inertia_blocks import Moments, dense_blocks, rigid_blocks
from kinemorph.algebra.scalar import S as Scalar
from kinemorph.algebra.vectors import (
    Mat,
    Vec,
    add,
    identity,
    mat_add,
    mat_neg,
    matmul,
    matvec,
    matvec_transposed,
    sub,
    transpose,
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
from kinemorph.mechanics.recursions.kinematics import link_poses
from kinemorph.mechanics.recursions.newton_euler import Wrench
from kinemorph.mechanics.trees.tree import WORLD, Tree


class Graph(NamedTuple):
    """The matrices of the kinematic graph of n links at (q, v), by blocks; all but S are seen from the world."""

    B: Pairs  # blocks 1 or -1 of size 6 at (link, arc); the arcs of loops follow those of the links
    C: Pairs  # blocks 1 of size 6 at (i, j) where link j is link i or carries it
    S: Diagonal  # n blocks 6 x k, k axes of the link's joint, in the link's frame
    Ad: Diagonal  # n blocks 6 x 6
    M: Diagonal  # n blocks 6 x 6
    M_rate: Diagonal  # n blocks 6 x 6, dM/dt
    ad: Diagonal  # n blocks 6 x 6
    t_K: list[Vec]  # n twists of the joints, each of the child relative to its parent
    t_B: list[Vec]  # n twists of the links


def graph(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar] | None = None) -> Graph:
    """The matrices of the kinematic graph at (q, v); without v the robot is at rest."""
    return _seen_from_world(tree, link_poses(tree, q), [0.0] * tree.nv if v is None else v)


def _seen_from_world(tree: Tree, poses: Sequence[Pose], v: Sequence[Scalar]) -> Graph:
    one = identity(6)
    C = {(i, j): one for i, line in enumerate(lines(tree)) for j in line}
    S = joint_axes(tree)
    moved = tuple(Ad(pose) for pose in poses)  # (5) with child frames: E002-4
    t_K = [matvec(*both) for both in zip(moved, along_axes(tree, S, v), strict=True)]
    t_B = _carried(C, t_K)
    rates = tuple(map(ad, t_B))
    M = tuple(_from_world(link.moments, pose) for link, pose in zip(tree.links, poses, strict=True))
    M_rate = tuple(
        mat_neg(mat_add(matmul(transpose(rate), inertia), matmul(inertia, rate)))  # E002-8
        for rate, inertia in zip(rates, M, strict=True)
    )
    return Graph(incidence(tree), C, S, moved, M, M_rate, rates, t_K, t_B)


def _near_roots(tree: Tree, q: Sequence[Scalar]) -> list[Pose]:
    """The poses of the links in world axes about the place where their root link is now.

    Forces do not depend on the point that is chosen. About the world's origin, the inertia of a robot far away grows
    with the square of the distance, and the differences that matter are lost by rounding.
    """
    poses = link_poses(tree, q)
    return [Pose(pose.R, sub(pose.p, poses[line[0]].p)) for pose, line in zip(poses, lines(tree), strict=True)]


def incidence(tree: Tree) -> Pairs:
    """B, the incidence matrix without the world's row: an arc for each link's joint, then one for each loop."""
    one, arcs = identity(6), [(i, link.parent) for i, link in enumerate(tree.links)]
    arcs += [(closure.child.link, closure.parent.link) for closure in tree.closures]
    parts: Pairs = {}
    for arc, (child, parent) in enumerate(arcs):
        if child != WORLD:
            parts[child, arc] = mat_neg(one)
        if parent != WORLD:
            parts[parent, arc] = one
    return parts


def dense_matrices(tree: Tree, blocks: Graph) -> dict[str, list[list[Scalar]]]:
    """The matrices as dense ones: B (6n, 6 arcs), C (6n, 6n), S (6n, nv), Ad, M, M_rate and ad (6n, 6n)."""
    n, arcs = len(tree.links), len(tree.links) + len(tree.closures)
    return {
        "B": dense_matrix({(i, 6 * arc): part for (i, arc), part in blocks.B.items()}, 6 * n, 6 * arcs),
        "C": dense_matrix({(i, 6 * j): part for (i, j), part in blocks.C.items()}, 6 * n, 6 * n),
        "S": dense_axes(tree, blocks.S),
        "Ad": dense_diagonal(blocks.Ad),
        "M": dense_diagonal(blocks.M),
        "M_rate": dense_diagonal(blocks.M_rate),
        "ad": dense_diagonal(blocks.ad),
    }


def complete_model(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], a: Sequence[Scalar]) -> dict[str, list[Any]]:
    """Every quantity of the complete model (26) at (q, v, a): the dense matrices, then twists and wrenches, (6n,) each.

    t_K, t_B      twists of the joints and of the links
    w_B, w_g      the wrenches that the links need for their motion (21), and their weights M t_g (24)
    w_K           the wrenches through the joints of the tree on their children; those of loops are not included
    tau           the generalized forces, shape (nv,), with those of the armatures
    """
    K = graph(tree, q, v)
    needed = net_wrenches(tree, K, a, falling=(0.0, 0.0, 0.0))
    weights = [matvec(M, (*tree.gravity, 0.0, 0.0, 0.0)) for M in K.M]
    through = _returned(K.C, [sub(*both) for both in zip(needed, weights, strict=True)])
    stacks = {"t_K": K.t_K, "t_B": K.t_B, "w_B": needed, "w_g": weights, "w_K": through}
    vectors = {name: [x for six in rows for x in six] for name, rows in stacks.items()}
    own = [matvec_transposed(*both) for both in zip(K.Ad, through, strict=True)]
    return {**dense_matrices(tree, K), **vectors, "tau": with_armatures(tree, onto_axes(tree, K.S, own), a)}


# ── the equations of motion ───────────────────────────────────────────────────────────────────────────────────────────


def inverse_dynamics(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    wrenches: Mapping[int, Wrench] | None = None,
) -> list[Scalar]:
    """Generalized forces, shape (nv,), that give the acceleration `a` at (q, v).

    `wrenches` are outside wrenches: link index -> wrench on the link, in its frame and about its origin.
    """
    poses = _near_roots(tree, q)
    K = _seen_from_world(tree, poses, v)
    outside = {i: _wrench(move_wrench(poses[i], (*f, *m))) for i, (f, m) in (wrenches or {}).items()}
    balance = without(net_wrenches(tree, K, a), outside)  # w_B - M t_g - w_E
    through = _returned(K.C, balance)  # (26)
    own = [matvec_transposed(*both) for both in zip(K.Ad, through, strict=True)]
    return with_armatures(tree, onto_axes(tree, K.S, own), a)


def net_wrenches(tree: Tree, K: Graph, a: Sequence[Scalar], falling: Vec | None = None) -> list[Vec]:
    """w_B - M t_g: for each link the wrench, shape (6,), that its motion at the accelerations `a` needs besides its
    weight (21), in world axes about the world's origin. `falling` is another gravity than the robot's.

    Products of a twist with itself are left out of (21), because they vanish: M ad t_B, and ad(t_K) t_K, so that
    ad t_K is that of the parent's twist. For a rotor that spins fast they would be large numbers that cancel.
    """
    gained = [matvec(*both) for both in zip(K.Ad, along_axes(tree, K.S, a), strict=True)]
    turned = [
        bracket(K.t_B[link.parent], own) if link.parent != WORLD else zeros(6)
        for link, own in zip(tree.links, K.t_K, strict=True)
    ]
    rates = _carried(K.C, [add(*both) for both in zip(turned, gained, strict=True)])  # C (ad t_K + Ad S qdd): E002-9
    t_g = (*(tree.gravity if falling is None else falling), 0.0, 0.0, 0.0)  # E002-10
    return [
        add(cobracket(twist, matvec(M, twist)), matvec(M, sub(rate, t_g)))
        for M, twist, rate in zip(K.M, K.t_B, rates, strict=True)
    ]


def mass_matrix(tree: Tree, q: Sequence[Scalar]) -> list[list[Scalar]]:
    """The mass matrix S^T Ad^T C^T M C Ad S, shape (nv, nv), with the armatures added to its diagonal."""
    K = _seen_from_world(tree, _near_roots(tree, q), [0.0] * tree.nv)
    seen = [matmul(*both) for both in zip(K.Ad, K.S, strict=True)]
    J = {(i, j): seen[j] for i, j in K.C}  # C Ad S
    return with_armature_masses(tree, squared(tree, J, from_left(K.M, J), symmetric=True))


# ── products with C ───────────────────────────────────────────────────────────────────────────────────────────────────


def _carried(C: Pairs, own: Sequence[Vec]) -> list[Vec]:
    """The product C own: for each link the sum over its own joint and those of all links that carry it."""
    found = [zeros(6)] * len(own)
    for i, j in C:
        found[i] = add(found[i], own[j])
    return found


def _returned(C: Pairs, needed: Sequence[Vec]) -> list[Vec]:
    """The product C^T needed: for each joint the sum over its child and all links that this carries."""
    found = [zeros(6)] * len(needed)
    for i, j in C:
        found[j] = add(found[j], needed[i])
    return found


def _from_world(moments: Moments, pose: Pose) -> Mat:
    """The inertia of a link about the world's origin and in its axes, shape (6, 6): (12) with E002-6 and E002-7."""
    moved = Ad(inverse(pose))
    return matmul(matmul(transpose(moved), dense_blocks(rigid_blocks(moments))), moved)


def _wrench(six: Vec) -> Wrench:
    return (six[0], six[1], six[2]), (six[3], six[4], six[5])
