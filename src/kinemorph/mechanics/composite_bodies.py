"""The mass matrix: the composite-rigid-body algorithm (CRBA).

Walker & Orin (1982), Featherstone (2008) table 6.2. Each link collects the moments of mass of all that hangs on it; one
unit of joint acceleration moves that composite body, and the force it needs is carried down to the root.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinemorph.mechanics.inertia_blocks import column, rigid_blocks
from kinemorph.mechanics.motions import Axis, Move, S, Vec3
from kinemorph.mechanics.newton_euler import Wrench, moved_wrench, project
from kinemorph.mechanics.tree import WORLD, Moments, Tree


def mass_matrix(tree: Tree, q: Sequence[S]) -> list[list[S]]:
    """M(q), shape (nv, nv), symmetric positive definite [kg m^2, kg m or kg by row and column]."""
    moves = tree.moves(q)
    composites = composite_moments(tree, moves)
    M: list[list[S]] = [[0.0] * tree.nv for _ in range(tree.nv)]
    for index, link in enumerate(tree.links):
        for k, axis in enumerate(link.axes):
            column = link.v + k
            load = momentum(composites[index], axis)
            for j in range(k + 1):
                M[link.v + j][column] = M[column][link.v + j] = project(link.axes[j], load)
            M[column][column] = M[column][column] + link.armature[k]
            below = index
            while tree.links[below].parent != WORLD:
                load = moved_wrench(moves[below], load)
                below = tree.links[below].parent
                for j, other in enumerate(tree.links[below].axes):
                    row = tree.links[below].v + j
                    M[row][column] = M[column][row] = project(other, load)
    return M


def composite_moments(tree: Tree, moves: Sequence[Move]) -> list[Moments]:
    """Moments of mass of every link with all its descendants, as one rigid body."""
    composites: list[Moments] = [link.moments for link in tree.links]
    for index in range(len(tree.links) - 1, -1, -1):
        parent = tree.links[index].parent
        if parent != WORLD:
            composites[parent] = joined_moments(composites[parent], moved_moments(moves[index], composites[index]))
    return composites


def moved_moments(move: Move, moments: Moments) -> Moments:
    """Moments about a link's origin, taken to the parent's frame and origin."""
    m, h, sigma = shifted_moments(moments, (0.0, 0.0, move.slide))
    return shifted_moments((m, move.out(h), move.out_symmetric(sigma)), move.p)


def shifted_moments(moments: Moments, p: Vec3) -> Moments:
    """Moments of the same mass after every point r has become r + p:  Sigma + p h^T + h p^T + m p p^T."""
    m, (hx, hy, hz), (xx, xy, xz, yy, yz, zz) = moments
    px, py, pz = p
    kx, ky, kz = hx + m * px, hy + m * py, hz + m * pz
    sigma = (
        xx + px * (hx + kx),
        xy + (px * hy + py * kx),
        xz + (px * hz + pz * kx),
        yy + py * (hy + ky),
        yz + (py * hz + pz * ky),
        zz + pz * (hz + kz),
    )
    return m, (kx, ky, kz), sigma


def momentum(moments: Moments, axis: Axis) -> Wrench:
    """Momentum of a rigid body at unit rate of a screw axis, about the same origin."""
    whole = column(rigid_blocks(moments), axis)
    return whole[:3], whole[3:]


def joined_moments(one: Moments, other: Moments) -> Moments:
    """Moments of two bodies together."""
    (m, (hx, hy, hz), s), (n, (kx, ky, kz), t) = one, other
    a, b, c, d, e, f = s
    u, v, w, x, y, z = t
    return m + n, (hx + kx, hy + ky, hz + kz), (a + u, b + v, c + w, d + x, e + y, f + z)
