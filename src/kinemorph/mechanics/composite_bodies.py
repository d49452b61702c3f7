"""The mass matrix: the composite-rigid-body algorithm (CRBA).

Walker & Orin (1982), Featherstone (2008) table 6.2. Each link collects the moments of mass of all that hangs on it; one
unit of joint acceleration moves that composite body, and the force it needs is carried down to the root; or, where that
takes less (long chains), put into the root link's frame once and multiplied with the axes there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kinemorph.algebra.groups import move_twist, move_wrench
from kinemorph.algebra.inertia_blocks import Axis, column, rigid_blocks
from kinemorph.algebra.scalar import S
from kinemorph.algebra.turns import Vec3
from kinemorph.algebra.vectors import dot
from kinemorph.mechanics.kinematics import dense
from kinemorph.mechanics.motions import Move
from kinemorph.mechanics.newton_euler import Wrench, moved_wrench, project
from kinemorph.mechanics.root_frame import root_frame_pays, root_poses
from kinemorph.mechanics.tree import WORLD, Moments, Tree


def mass_matrix(tree: Tree, q: Sequence[S]) -> list[list[S]]:
    """M(q), shape (nv, nv), symmetric positive definite [kg m^2, kg m or kg by row and column]."""
    moves = tree.moves(q)
    composites = composite_moments(tree, moves)
    M: list[list[S]] = [[0.0] * tree.nv for _ in range(tree.nv)]
    pairs = _root_pairs if root_frame_pays(tree, moves, turned=2, shifted=1, local=0, dots=1) else _local_pairs
    for i, j, entry in pairs(tree, moves, composites):
        M[i][j] = M[j][i] = entry
    for link in tree.links:
        for k, armature in enumerate(link.armature):
            M[link.v + k][link.v + k] = M[link.v + k][link.v + k] + armature
    return M


Entry = tuple[int, int, S]  # row, column, value


def _local_pairs(tree: Tree, moves: Sequence[Move], composites: Sequence[Moments]) -> Iterator[Entry]:
    """Entries for every axis and those nearer to the root: its momentum is carried from link to link."""
    for index, link in enumerate(tree.links):
        for k, axis in enumerate(link.axes):
            load = momentum(composites[index], axis)
            yield from ((link.v + j, link.v + k, project(link.axes[j], load)) for j in range(k + 1))
            below = index
            while tree.links[below].parent != WORLD:
                load = moved_wrench(moves[below], load)
                below = tree.links[below].parent
                other = tree.links[below]
                yield from ((other.v + j, link.v + k, project(axis, load)) for j, axis in enumerate(other.axes))


def _root_pairs(tree: Tree, moves: Sequence[Move], composites: Sequence[Moments]) -> Iterator[Entry]:
    """The same entries in the root link's frame."""
    poses = root_poses(tree, moves)
    screws = [
        [move_twist(pose, dense(axis)) for axis in link.axes] for link, pose in zip(tree.links, poses, strict=True)
    ]
    for index, link in enumerate(tree.links):
        for k, axis in enumerate(link.axes):
            load = momentum(composites[index], axis)
            yield from ((link.v + j, link.v + k, project(link.axes[j], load)) for j in range(k + 1))
            whole, below = move_wrench(poses[index], (*load[0], *load[1])), link.parent
            while below != WORLD:
                other = tree.links[below]
                yield from ((other.v + j, link.v + k, dot(screw, whole)) for j, screw in enumerate(screws[below]))
                below = other.parent


def composite_moments(tree: Tree, moves: Sequence[Move]) -> list[Moments]:
    """Moments of mass of every link with all its descendants, as one rigid body."""
    composites: list[Moments] = [link.moments for link in tree.links]
    for index in range(len(tree.links) - 1, -1, -1):
        parent = tree.links[index].parent
        if parent != WORLD:
            handed = tree.of_all(index, moved_moments(moves[index], composites[index]))
            composites[parent] = joined_moments(composites[parent], handed)
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
