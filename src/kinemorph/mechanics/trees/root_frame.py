"""One common frame for a whole tree: that of its root link.

In the links' own frames a joint axis is a unit vector and projecting on it is free, but vectors have to be transformed
from link to link down to the root. In one common frame no transforms are needed, but each pair of axes takes full
scalar products. The first is cheaper for short branches, the second for long chains. The common frame is that of the
root link: there the axes of a free base are unit vectors, and no distance is measured from a world that may be far
away. Where links are far from the root link, compared with their own lengths, digits would be lost in it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.algebra.scalar import is_zero
from kinemorph.algebra.turns import TurnFull, TurnZ
from kinemorph.algebra.vectors import add, matvec, scale
from kinemorph.mechanics.trees.motions import Move
from kinemorph.mechanics.trees.tree import WORLD, Link, Tree

# numbers of operations
PLANE_TURN, FULL_TURN = 6, 15  # to turn a 3-vector
SHIFT = 4  # to shift a wrench along one coordinate
POSE, PLACE, DOT = 42, 60, 11  # a link's pose in the root's frame; a wrench and a twist in that frame; their product
FAR = 64.0  # a step of this many times the lengths of all that it carries costs too many digits
AFLOAT = ("free", "planar", "pose")  # joints that move as far as they like
PARALLEL = 0.5  # the share of these numbers where a link's axis is parallel to the root's


def root_poses(tree: Tree, moves: Sequence[Move]) -> list[Pose]:
    """The pose of every link in the frame of its root link, the link that joins its tree to the world."""
    poses: list[Pose] = []
    for link, move in zip(tree.links, moves, strict=True):
        if link.parent == WORLD:
            poses.append(IDENTITY)
            continue
        R, p = poses[link.parent]
        turned = tuple(move.into(row) for row in R)  # the rows of R_0P R_PB
        slid = scale(move.slide, tuple(row[2] for row in turned))
        poses.append(Pose(turned, add(add(p, matvec(R, move.p)), slid)))
    return poses


def root_frame_pays(tree: Tree, moves: Sequence[Move], *, turned: int, shifted: int, local: int, dots: int) -> bool:
    """Whether an algorithm over pairs of axes takes fewer operations in the root link's frame than in the links' own.

    In the links' own frames, `turned` 3-vectors are turned and `shifted` wrenches are shifted for every axis at every
    step towards the root, and a pair takes `local` operations; in the root's frame a pair takes `dots` products of
    six-vectors. The root's frame never pays where it would cost digits; see `_near_the_root`.
    """
    if not _near_the_root(tree):
        return False
    carried = rooted = 0.0
    carrying, pairing, depth = ([0.0] * len(tree.links) for _ in range(3))  # sums from one axis down to the root
    share = [PARALLEL] * len(tree.links)
    for index, (link, move) in enumerate(zip(tree.links, moves, strict=True)):
        if link.parent == WORLD:
            continue  # pairs with the root link are cheap in both frames
        above, parent, count = tree.links[link.parent], link.parent, len(link.axes)
        share[index] = share[parent] if all(isinstance(turn, TurnZ) for turn in move.turns) else 1.0
        carrying[index] = carrying[parent] + turned * _turning(move) + shifted * _shifting(move)
        if above.parent != WORLD:
            depth[index] = depth[parent] + len(above.axes)
            pairing[index] = pairing[parent] + len(above.axes) * dots * DOT * share[parent]
        carried += count * (carrying[index] + local * depth[index])
        rooted += POSE * share[index] + count * (pairing[index] + PLACE * share[index] * turned / 2)
    return rooted < carried


def _near_the_root(tree: Tree) -> bool:
    """Whether no link is far from its root link, compared with the lengths of the links beyond it.

    An inertia about a point at the distance D has the rounding errors of m D^2; links of the length L need m L^2.
    """
    beyond = [0.0] * len(tree.links)  # the longest step [m] farther out
    for index in range(len(tree.links) - 1, -1, -1):
        link = tree.links[index]
        if link.parent == WORLD:
            continue
        step = _step(link)
        if link.kind in AFLOAT or step > FAR * beyond[index] > 0.0:
            return False
        beyond[link.parent] = max(beyond[link.parent], beyond[index], step)
    return True


def _step(link: Link) -> float:
    """The distance [m] of a link's joint frame from the frame of its parent; 0 where it is symbolic."""
    lengths = (*link.placement.p, link.slide)
    return math.hypot(*lengths) if all(isinstance(x, (int, float)) for x in lengths) else 0.0


def _turning(move: Move) -> int:
    """The number of operations that turn a 3-vector from a link to its parent; right angles cost nothing."""
    total = 0
    for turn in move.turns:
        if isinstance(turn, TurnFull):
            total += FULL_TURN
        elif not is_zero(turn.c) and not is_zero(turn.s):
            total += PLANE_TURN
    return total


def _shifting(move: Move) -> int:
    return SHIFT * sum(not is_zero(x) for x in (*move.p, move.slide))
