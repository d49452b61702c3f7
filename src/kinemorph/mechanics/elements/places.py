"""Points and frames of bodies at which elements act, and their motion.

A point is given in the axes of the link that carries it (`PointState`): laws of contact and of springs need no other
axes. Values are computed on demand, so that the height over a plane costs one row of a rotation matrix and not three.

    T_WL    pose of the link in the world         V    (velocity of the link's origin, angular velocity), link axes
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from kinemorph.algebra.groups import Pose, act, compose
from kinemorph.algebra.scalar import S, plus
from kinemorph.algebra.turns import Vec3
from kinemorph.algebra.vectors import add, cross, dot, identity, matvec, matvec_transposed
from kinemorph.frozen import dataclass
from kinemorph.mechanics.recursions.kinematics import link_twists
from kinemorph.mechanics.steps.point_states import PointState, Sight
from kinemorph.mechanics.trees.motions import ZERO3, Move
from kinemorph.mechanics.trees.tree import WORLD, Attachment, Tree

STILL: tuple[Vec3, Vec3] = (ZERO3, ZERO3)
HOME = Pose(identity(3), ZERO3)


class Motions:
    """Poses and velocities of the links of a tree at (q, v), each computed when it is first asked for."""

    def __init__(self, tree: Tree, q: Sequence[S], v: Sequence[S]) -> None:
        self.tree, self.q, self.v = tree, q, v

    @cached_property
    def moves(self) -> list[Move]:
        """The pose of every link in its parent."""
        return self.tree.moves(self.q)

    @cached_property
    def _twists(self) -> list[tuple[Vec3, Vec3]]:
        return link_twists(self.tree, self.moves, self.v)

    @cached_property
    def sight(self) -> Sight:
        """The world's axes and the positions of the links' origins, in the axes of the links."""
        return Sight(self.tree, self.moves)

    def pose(self, link: int) -> Pose:
        """The pose T_WL of a link in the world."""
        rows = [self.sight.row(link, k) for k in range(3)]
        return Pose(tuple(axis for axis, _ in rows), tuple(coordinate for _, coordinate in rows))

    def point(self, link: int, r: Sequence[S]) -> PointState:
        """The point of a link at r [m] in its axes, at this instant."""
        u, w = self.twist(link)
        return PointState(link, (r[0], r[1], r[2]), add(u, cross(w, r)), 0.0, self.sight)

    def speed(self, link: int, r: Sequence[S], direction: Sequence[S]) -> S:
        """The velocity along a direction of the point of a link at r [m], both in the link's axes.

        Points of one link and one direction share most of its operations.
        """
        u, w = self.twist(link)
        return plus(dot(direction, u), dot(r, cross(direction, w)))

    def twist(self, link: int) -> tuple[Vec3, Vec3]:
        """(velocity of the origin [m/s], angular velocity [rad/s]) of a link, in its axes."""
        return STILL if link == WORLD else self._twists[link]

    def attachment(self, name: str) -> Attachment:
        """The link that carries the body or frame with this name (or "world"), and its fixed pose in that link."""
        return Attachment(WORLD, HOME) if name == "world" else self.tree.attachments[name]


@dataclass(frozen=True, eq=False)
class Frame:
    """The motion of a body, or of a frame fixed to one. `pose` is T_WF; velocities are in the frame's own axes."""

    motions: Motions
    at: Attachment

    @property
    def origin(self) -> PointState:
        """The state of the frame's origin, which is a point of the link that carries the frame."""
        return self.motions.point(self.at.link, self.at.pose.p)

    @cached_property
    def pose(self) -> Pose:
        """The pose T_WF of the frame in the world."""
        return self.at.pose if self.at.link == WORLD else compose(self.motions.pose(self.at.link), self.at.pose)

    @cached_property
    def velocity(self) -> Any:
        """The velocity of the frame's origin [m/s], in the frame's own axes."""
        return matvec_transposed(self.at.pose.R, self.origin.velocity)

    @cached_property
    def turning(self) -> Any:
        """The angular velocity of the frame [rad/s], in its own axes."""
        return matvec_transposed(self.at.pose.R, self.motions.twist(self.at.link)[1])

    def to_link(self, vector: Sequence[S]) -> Any:
        """A vector, given in the frame's axes, expressed in the axes of the link that carries the frame."""
        return matvec(self.at.pose.R, vector)


def point_of(motions: Motions, body: str, offset: Sequence[S]) -> PointState:
    """The state of the point at `offset` [m] in the axes of a body or frame."""
    at = motions.attachment(body)
    return motions.point(at.link, act(at.pose, offset))
