"""The mass matrix: the composite-rigid-body algorithm (CRBA).

Walker & Orin (1982), Featherstone (2008) table 6.2. Each link collects the moments of mass of all links that it
carries; one unit of joint acceleration moves that composite body, and the force it needs is transformed from link to
link down to the root. For long chains it is cheaper to express that force in the root link's frame once and to multiply
it with the axes there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kinemorph.algebra.groups import move_twist, move_wrench
from kinemorph.algebra.inertia_blocks import Axis, column, rigid_blocks
from kinemorph.algebra.scalar import S
from kinemorph.algebra.vectors import dot
from kinemorph.mechanics.recursions.kinematics import dense
from kinemorph.mechanics.recursions.newton_euler import Wrench, moved_wrench, project
from kinemorph.mechanics.trees.moments import joined_moments, moved_moments
from kinemorph.mechanics.trees.motions import Move
from kinemorph.mechanics.trees.root_frame import root_frame_pays, root_poses
from kinemorph.mechanics.trees.tree import WORLD, Moments, Tree


def mass_matrix(tree: Tree, q: Sequence[S]) -> list[list[S]]:
    """The mass matrix M(q), shape (nv, nv), symmetric positive definite; in kg m^2, kg m or kg by row and column."""
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
    """The entries of M for every axis and the axes nearer to the root, with momenta transformed from link to link."""
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
    """The entries of M for every axis and the axes nearer to the root, computed in the root link's frame."""
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
    """The moments of mass of every link together with all its descendants, as one rigid body, in the link's frame."""
    composites: list[Moments] = [link.moments for link in tree.links]
    for index in range(len(tree.links) - 1, -1, -1):
        parent = tree.links[index].parent
        if parent != WORLD:
            handed = tree.of_all(index, moved_moments(moves[index], composites[index]))
            composites[parent] = joined_moments(composites[parent], handed)
    return composites


def momentum(moments: Moments, axis: Axis) -> Wrench:
    """The (linear, angular) momentum of a rigid body that moves at unit rate along a screw axis."""
    whole = column(rigid_blocks(moments), axis)
    return whole[:3], whole[3:]
