"""The Coriolis matrix whose  Mdot - 2 C  is skew-symmetric.

Echeandia & Wensing (2021); erratum E000-13 of the MODUROB paper. With the Jacobian J_i of body i in a frame at rest,
its spatial inertia I_i and momentum (f, n) = I_i V_i,

    C = sum_i J_i^T (I_i Jdot_i + B_i J_i),    B = (Idot + N) / 2
    Idot = V x* I - I V x,    N = [[0, -f^], [-f^, -n^]]

N is skew and B V = V x* (I V), so C v is the Coriolis force and Idot - 2 B is skew. With one frame for a whole tree the
sums over the bodies that a joint carries need no change of frame. Any frame at rest can be used; the one that coincides
with the root link's frame at this instant keeps the numbers small wherever the robot stands, and the axes of a base are
unit vectors in it.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinemorph.algebra.groups import ad, bracket, coad, move_twist
from kinemorph.algebra.inertia_blocks import dense_blocks, rigid_blocks
from kinemorph.algebra.scalar import S
from kinemorph.algebra.vectors import (
    Mat,
    Vec,
    add,
    block,
    dot,
    hat,
    mat_add,
    mat_neg,
    mat_scale,
    mat_sub,
    matmul,
    matvec,
    matvec_transposed,
    scale,
    zeros,
)
from kinemorph.mechanics.recursions.kinematics import dense
from kinemorph.mechanics.recursions.momentum import world_moments
from kinemorph.mechanics.trees.root_frame import root_poses
from kinemorph.mechanics.trees.tree import WORLD, Tree


def coriolis_matrix(tree: Tree, q: Sequence[S], v: Sequence[S]) -> list[list[S]]:
    """The Coriolis matrix C(q, v), shape (nv, nv): C v are the Coriolis and centrifugal forces, Mdot - 2 C is skew."""
    poses = root_poses(tree, tree.moves(q))
    screws: list[Vec] = [()] * tree.nv  # joint axes in the frame at rest, and their rates
    rates: list[Vec] = [()] * tree.nv
    twists: list[Vec] = []
    inertias: list[Mat] = []
    couplings: list[Mat] = []
    for index, link in enumerate(tree.links):
        own = [move_twist(poses[index], dense(axis)) for axis in link.axes]
        V = zeros(6) if link.parent == WORLD else twists[link.parent]
        for k, screw in enumerate(own):
            V = add(V, scale(v[link.v + k], screw))
        for k, screw in enumerate(own):
            screws[link.v + k], rates[link.v + k] = screw, bracket(V, screw)
        inertia = dense_blocks(rigid_blocks(world_moments(link.moments, poses[index])))
        twists.append(V)
        inertias.append(inertia)
        couplings.append(_coupling(inertia, V))
    for index in range(len(tree.links) - 1, -1, -1):
        parent = tree.links[index].parent
        if parent != WORLD:
            inertias[parent] = mat_add(inertias[parent], inertias[index])
            couplings[parent] = mat_add(couplings[parent], couplings[index])

    C: list[list[S]] = [[0.0] * tree.nv for _ in range(tree.nv)]
    for index, link in enumerate(tree.links):
        inertia, coupling = inertias[index], couplings[index]
        for column in link.velocities:
            down = add(matvec(inertia, rates[column]), matvec(coupling, screws[column]))
            across, back = matvec(inertia, screws[column]), matvec_transposed(coupling, screws[column])
            below = index
            while below != WORLD:
                other = tree.links[below]
                for row in range(other.v, other.v + len(other.axes)):
                    C[row][column] = dot(screws[row], down)
                    if below != index:
                        C[column][row] = dot(rates[row], across) + dot(screws[row], back)
                below = other.parent
    return C


def _coupling(inertia: Mat, V: Vec) -> Mat:
    """B = (Idot + N) / 2, shape (6, 6), for a body with spatial inertia I and twist V; N = [[0, -f^], [-f^, -n^]].

    (f, n) = I V is the momentum of the body, and f^ the matrix of the cross product with f.
    """
    momentum = matvec(inertia, V)
    f, n = mat_neg(hat(momentum[:3])), mat_neg(hat(momentum[3:]))
    N = block([[(zeros(3),) * 3, f], [f, n]])
    rate = mat_sub(matmul(coad(V), inertia), matmul(inertia, ad(V)))
    return mat_scale(0.5, mat_add(rate, N))
