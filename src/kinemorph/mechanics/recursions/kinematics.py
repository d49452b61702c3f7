"""Kinematics: poses as products of exponentials, frame Jacobians and their rates.

Poses are in the *local* form (MODUROB eqs. 18-20): products of the pose of each link in its parent. The *spatial* form,
which costs more, is in `formulations.exponentials`.

Jacobians are 6 x nv, order [linear; angular], in one of three references:

    local                 the frame's own axes, velocity of its origin
    local_world_aligned   world axes, velocity of the frame's origin
    world                 world axes, velocity of the point of the body that passes the world's origin
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

from kinemorph.algebra.dual import Direction
from kinemorph.algebra.groups import Pose, compose, inverse, move_twist
from kinemorph.algebra.inertia_blocks import Axis
from kinemorph.algebra.scalar import S
from kinemorph.algebra.turns import Vec3
from kinemorph.algebra.vectors import Vec, add, cross, matvec, neg, zeros
from kinemorph.errors import UnsupportedError
from kinemorph.mechanics.trees.motions import ELEMENTARY, Move
from kinemorph.mechanics.trees.tree import WORLD, Attachment, Tree
from kinemorph.words import listed

Reference = Literal["local", "world", "local_world_aligned"]
REFERENCES: tuple[Reference, ...] = get_args(Reference)


# ── poses ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def forward_kinematics(tree: Tree, q: Sequence[S], frames: Sequence[str]) -> list[Pose]:
    """The poses T_WF in the world of the bodies or frames with these names."""
    poses: dict[int, Pose] = {}
    for index in _carrying(tree, frames):
        link = tree.links[index]
        local = pose_of_move(link.move(q))
        poses[index] = local if link.parent == WORLD else compose(poses[link.parent], local)
    return attached_poses(tree, poses, frames)


def _carrying(tree: Tree, frames: Sequence[str]) -> list[int]:
    """The indices of the links on the paths from the world to these frames, parents first."""
    found: set[int] = set()
    for name in frames:
        index = tree.attachments[name].link
        while index != WORLD and index not in found:
            found.add(index)
            index = tree.links[index].parent
    return sorted(found)


def link_poses(tree: Tree, q: Sequence[S]) -> list[Pose]:
    """The pose T_WB of every link in the world, as the product of the poses of links in their parents."""
    return poses_of_moves(tree, tree.moves(q))


def poses_of_moves(tree: Tree, moves: Sequence[Move]) -> list[Pose]:
    """The pose T_WB of every link in the world, from the poses of links in their parents."""
    poses: list[Pose] = []
    for link, move in zip(tree.links, moves, strict=True):
        local = pose_of_move(move)
        poses.append(local if link.parent == WORLD else compose(poses[link.parent], local))
    return poses


def attached_poses(tree: Tree, poses: Sequence[Pose] | Mapping[int, Pose], frames: Sequence[str]) -> list[Pose]:
    """The world poses of the bodies or frames with these names, from the world poses of the links, by index."""
    placed = []
    for name in frames:
        at = tree.attachments[name]
        placed.append(at.pose if at.link == WORLD else compose(poses[at.link], at.pose))
    return placed


def pose_of_move(move: Move) -> Pose:
    """The pose of a link in its parent as rotation matrix and origin."""
    columns = [move.out(unit) for unit in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))]
    return Pose(tuple(zip(*columns, strict=True)), move.origin())


# ── velocities ────────────────────────────────────────────────────────────────────────────────────────────────────────


def configuration_rate(tree: Tree, q: Sequence[S], v: Sequence[S]) -> list[S]:
    """The rate qdot of the configuration, shape (nq,), at velocity v.

    It is v itself for joints with one axis; otherwise it is made up of rotated velocities and quaternion rates.
    """
    rate: list[S] = [0.0] * tree.nq
    for link in tree.links:
        row = ELEMENTARY[link.kind]
        rate[link.q : link.q + row.nq] = row.rate(q[link.q : link.q + row.nq], v[link.v : link.v + row.nv])
    return rate


def link_twists(tree: Tree, moves: Sequence[Move], v: Sequence[S]) -> list[tuple[Vec3, Vec3]]:
    """(velocity of the origin, angular velocity) of every link, in its own frame."""
    twists: list[tuple[Vec3, Vec3]] = []
    for link, move in zip(tree.links, moves, strict=True):
        u, w = ((0.0,) * 3, (0.0,) * 3) if link.parent == WORLD else twists[link.parent]
        u, w = move.into(add(u, cross(w, move.p))), move.into(w)
        u = (u[0] + w[1] * move.slide, u[1] - w[0] * move.slide, u[2])
        twist = [*u, *w]
        for k, axis in enumerate(link.axes):
            for component, coefficient in axis:
                twist[component] = twist[component] + coefficient * v[link.v + k]
        twists.append(((twist[0], twist[1], twist[2]), (twist[3], twist[4], twist[5])))
    return twists


# ── Jacobians ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def jacobian(tree: Tree, q: Sequence[S], frame: str, reference: Reference = "local") -> list[list[S]]:
    """The Jacobian J(q) of a frame, shape (6, nv): its twist is J v, order [linear; angular]."""
    if not isinstance(reference, str) or reference not in REFERENCES:
        given = f"'{reference}'" if isinstance(reference, str) else f"a {type(reference).__name__}"
        raise UnsupportedError(
            f"jacobian: the reference is {given}, expected one of {listed(REFERENCES)}. "
            f"Dynamics.jacobian(frame, reference) gives a function of q: write jacobian('{frame}')(q)."
        )
    at = tree.attachments[frame]
    seen = _SEEN_FROM[reference](tree, q, at)
    columns: list[Vec] = [(0.0,) * 6] * tree.nv
    index = at.link
    while index != WORLD:
        link = tree.links[index]
        for k, axis in enumerate(link.axes):
            columns[link.v + k] = move_twist(seen[index], dense(axis))
        index = link.parent
    return [[column[row] for column in columns] for row in range(6)]


def _from_world(tree: Tree, q: Sequence[S], at: Attachment) -> dict[int, Pose]:
    """The poses T_WB of all links in the world, by index."""
    return dict(enumerate(link_poses(tree, q)))


def _from_frame(tree: Tree, q: Sequence[S], at: Attachment) -> dict[int, Pose]:
    """The poses T_FB of the links that carry a frame F, as seen from F: precise also far from the world's origin."""
    poses: dict[int, Pose] = {}
    T_FB, index = inverse(at.pose), at.link
    while index != WORLD:
        poses[index] = T_FB
        T_FB = compose(T_FB, inverse(pose_of_move(tree.links[index].move(q))))
        index = tree.links[index].parent
    return poses


def _from_frame_aligned(tree: Tree, q: Sequence[S], at: Attachment) -> dict[int, Pose]:
    """The poses of the links that carry a frame, as seen from its origin, in world axes."""
    world = link_poses(tree, q)
    poses: dict[int, Pose] = {}
    index, step, arm = at.link, at.pose.p, zeros(3)  # arm: from the link's origin to the frame's, in world axes
    while index != WORLD:
        arm = add(arm, matvec(world[index].R, step))
        poses[index] = Pose(world[index].R, neg(arm))
        step = tree.links[index].move(q).origin()
        index = tree.links[index].parent
    return poses


_SEEN_FROM = {"world": _from_world, "local": _from_frame, "local_world_aligned": _from_frame_aligned}


def jacobian_rate(
    tree: Tree, q: Sequence[S], v: Sequence[S], frame: str, reference: Reference = "local"
) -> list[list[S]]:
    """dJ/dt along v, shape (6, nv): the frame's acceleration is J a + (dJ/dt) v."""
    along = Direction()
    moving = along.all_moved(q, configuration_rate(tree, q, v))
    return [along.tangents(row) for row in jacobian(tree, moving, frame, reference)]


def dense(axis: Axis) -> Vec:
    """A sparse screw axis as a twist, shape (6,)."""
    twist: list[S] = [0.0] * 6
    for component, coefficient in axis:
        twist[component] = coefficient
    return tuple(twist)
