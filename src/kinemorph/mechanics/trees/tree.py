"""A Tree: a robot prepared for the recursions.

Parameters have become numbers (or graph nodes), bodies fixed to each other are one link, a universal joint is two
revolutes with a massless link between, and every joint axis is the z axis of its link's frame. Each link stands after
its parent. The user's bodies and frames are stored as attachments: a link and a fixed pose in it.

The pose of link B in its parent P is  T_PB = A Rz(q + offset) Tz(slide)  with A = `placement` (see motions.ELEMENTARY
for the other joint kinds). Inertia is stored as the moments of mass about the link's origin: mass m [kg], first moment
h [kg m] and second moment Sigma = integral r r^T dm [kg m^2], six numbers (xx, xy, xz, yy, yz, zz).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any, NamedTuple

from kinemorph.algebra.groups import Pose
from kinemorph.algebra.inertia_blocks import Axis
from kinemorph.algebra.inertia_blocks import Moments as Moments
from kinemorph.algebra.scalar import S, plus
from kinemorph.algebra.turns import Sym3, Turn, TurnFull, TurnX, TurnZ, Vec3
from kinemorph.algebra.vectors import Mat
from kinemorph.frozen import dataclass
from kinemorph.mechanics.trees.driven import AllJoints, Driving
from kinemorph.mechanics.trees.motions import ELEMENTARY, Move

WORLD = -1
TINY = 1e-15  # below this a direction cosine is a structural zero


@dataclass(frozen=True)
class Link:
    """One moving rigid body and the elementary joint that carries it."""

    name: str
    kind: str  # a row of motions.ELEMENTARY
    parent: int  # index of the parent link, or WORLD
    placement: Pose  # of the joint frame in the parent's frame
    q: int  # index where its coordinates begin in q
    v: int  # index where its velocities begin in v
    mass: S
    h: Vec3
    sigma: Sym3
    armature: tuple[S, ...]  # added to the diagonal of the mass matrix, one per velocity
    offset: S = 0.0  # [rad] added to the joint angle
    slide: S = 0.0  # [m] along z, after the turn
    pitch: S = 0.0  # [m/rad] of a helical joint
    turns: tuple[Turn, ...] | None = None  # in place of the placement's rotation, where that is not plain numbers

    @property
    def moments(self) -> Moments:
        """The mass [kg], the first [kg m] and the second moment [kg m^2] about the link's origin."""
        return (self.mass, self.h, self.sigma)

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The screw axes of its joint in this link's frame, one per velocity, as sparse twists."""
        return ELEMENTARY[self.kind].axes(self.pitch)

    @property
    def velocities(self) -> range:
        """The indices in v of the link's velocities, one per axis."""
        return range(self.v, self.v + len(self.axes))

    @cached_property
    def fixed_turns(self) -> tuple[tuple[Turn, ...], float]:
        """The placement's rotation as turns about x and z, and the last angle about z [rad].

        A joint that turns about its z axis (`axial`) adds that angle to its offset; for other joints it is 0.
        """
        if self.turns is not None:
            return self.turns, 0.0
        return turns_of(self.placement.R, axial=ELEMENTARY[self.kind].axial)

    def move(self, q: Sequence[S]) -> Move:
        """The pose of this link in its parent, at the configuration q of the whole robot, shape (nq,)."""
        row = ELEMENTARY[self.kind]
        turns, angle = self.fixed_turns
        shift, turn, slide = row.move(q[self.q : self.q + row.nq], self.offset + angle, self.slide, self.pitch)
        p = self.placement.p
        if not row.axial:
            for fixed in reversed(turns):
                shift = fixed.out(shift)
            p = (p[0] + shift[0], p[1] + shift[1], p[2] + shift[2])
        return Move(p, turns if turn is None else (*turns, turn), slide)


@dataclass(frozen=True)
class Attachment:
    """A user's body or frame: a fixed pose in a link's frame (or in the world)."""

    link: int
    pose: Pose


@dataclass(frozen=True)
class MassiveBody:
    """A user's body: its frame at the center of mass as a fixed pose in a link, its mass and its inertia there."""

    name: str
    link: int  # WORLD for a body that is fixed to the world
    pose: Pose
    mass: S
    inertia: Mat  # about the center of mass, in the axes of the body [kg m^2]


@dataclass(frozen=True)
class Closure:
    """A joint that closes a loop: the conditions it puts on the pose of its child frame in its parent frame.

    Both are frames whose z axis is the joint's axis; they coincide where the joint coordinate is 0.
    """

    name: str
    conditions: tuple[str, ...]  # names in joint.CLOSURE_ROWS
    parent: Attachment
    child: Attachment
    second: Vec3  # the second axis of a universal joint, in the child frame
    pitch: S  # [m/rad] of a helical joint


@dataclass(frozen=True)
class Follow:
    """A joint that follows another: q[joint] = multiplier * q[leader] + offset, by indices in q."""

    name: str
    joint: int
    leader: int
    multiplier: S
    offset: S


def _no_rows(tree: Tree, q: Sequence[S]) -> list[S]:
    return []


class HeldRows(NamedTuple):
    """Constraint rows phi(q) = 0 besides those of loops and coupled joints: their names, and (tree, q) -> values."""

    names: tuple[str, ...] = ()
    values: Callable[[Tree, Sequence[S]], list[S]] = _no_rows


@dataclass(frozen=True)
class Tree:
    """A robot prepared for the recursions: its links, each after its parent; gravity [m/s^2] in the world frame; its
    bodies and frames as attachments, by name.
    """

    name: str
    links: tuple[Link, ...]
    nq: int
    nv: int
    gravity: Vec3
    attachments: Mapping[str, Attachment] = field(repr=False)
    ground: Moments = (0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))  # moments of the bodies fixed to the world
    closures: tuple[Closure, ...] = ()
    follows: tuple[Follow, ...] = ()
    bodies: tuple[MassiveBody, ...] = field(default=(), repr=False)  # all bodies, in the links as the user wrote them
    driving: Driving | None = None  # the driven joints; nq and nv count them too, after all others
    # where one limb represents several alike limbs: its first link -> function that sums a scalar over all of them
    sums: Mapping[int, Callable[[S], S]] = field(default_factory=dict, repr=False)
    held: HeldRows = HeldRows()  # further constraints, whose rows come after those of closures and follows

    def of_all(self, index: int, value: Any) -> Any:
        """`value`, which link `index` passes to its parent, summed over all limbs that the link represents.

        `value` is a scalar or a nested tuple of scalars.
        """
        total = self.sums.get(index)
        return value if total is None else _mapped(total, value)

    @cached_property
    def link_sums(self) -> dict[int, Callable[[S], S]]:
        """For each link of a limb that represents several limbs, the function that sums a scalar over all of them."""
        found: dict[int, Callable[[S], S]] = {}
        for index, link in enumerate(self.links):
            total = self.sums.get(index, found.get(link.parent))
            if total is not None:
                found[index] = total
        return found

    @cached_property
    def velocity_sums(self) -> dict[int, Callable[[S], S]]:
        """The functions of `link_sums` by the index in v of each velocity of these links."""
        return {k: total for index, total in self.link_sums.items() for k in self.links[index].velocities}

    def total(self, terms: Iterable[tuple[int, S]]) -> S:
        """The sum of terms of all links, given as (index in v of one of the link's velocities, value).

        Terms of a limb that represents several limbs are summed over all of them.
        """
        return over_limbs((self.velocity_sums.get(k), x) for k, x in terms)

    def all_joints(self, q: Sequence[S], v: Sequence[S] | None = None) -> AllJoints:
        """The coordinates and velocities of all joints at the state (q, v), which is theirs if no joint is driven."""
        driving = Driving(self.nq, self.nv, (), {}, {}) if self.driving is None else self.driving
        return AllJoints(driving, q, v)

    def moves(self, q: Sequence[S]) -> list[Move]:
        """The pose of every link in its parent, at configuration q."""
        return [link.move(q) for link in self.links]

    @cached_property
    def of_state(self) -> Tree:
        """The tree with those links only whose joints have coordinates of their own, to move configurations q."""
        if self.driving is None:
            return self
        links = tuple(link for link in self.links if link.q < self.driving.nq)
        return replace(self, links=links, nq=self.driving.nq, nv=self.driving.nv, driving=None, attachments={})

    @cached_property
    def of_joints(self) -> Tree:
        """The tree in which driven joints count as joints with coordinates of their own."""
        return self if self.driving is None else replace(self, driving=None)

    def at_time(self, t: S) -> Tree:
        """The tree at the time t [s], on which the motion of driven joints may depend."""
        return self if self.driving is None else replace(self, driving=self.driving.at_time(t))

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """For each link the indices of the links that it carries directly."""
        below: list[list[int]] = [[] for _ in self.links]
        for index, link in enumerate(self.links):
            if link.parent != WORLD:
                below[link.parent].append(index)
        return tuple(map(tuple, below))


def over_limbs(terms: Iterable[tuple[Callable[[S], S] | None, S]]) -> S:
    """The sum of terms, each given with the function that sums it over all limbs that its limb represents.

    The function is None for a term that belongs to no such limb.
    """
    total: S = 0.0
    by_limb: dict[Callable[[S], S], S] = {}
    for function, x in terms:
        if function is None:
            total = plus(total, x)
        else:
            by_limb[function] = plus(by_limb.get(function, 0.0), x)
    for function, x in by_limb.items():
        total = plus(total, function(x))
    return total


def _mapped(function: Callable[[S], S], value: Any) -> Any:
    return tuple(_mapped(function, item) for item in value) if isinstance(value, tuple) else function(value)


def snapped(x: float) -> float:
    """A sine, a cosine or an entry of a rotation matrix, made exact where it is within rounding of 0 or +-1."""
    if abs(x) < TINY:
        return 0.0
    return math.copysign(1.0, x) if abs(abs(x) - 1.0) < TINY else float(x)


def turns_of(R: Any, *, axial: bool) -> tuple[tuple[Turn, ...], float]:
    """A rotation matrix R = Rz(a) Rx(b) Rz(c) as (turns, angle [rad]).

    For an `axial` joint the turns are a and b and the angle is c, which the joint adds to its own. Otherwise c is a
    third turn and the angle is 0.
    """
    if not all(isinstance(x, (float, int)) for row in R for x in row):
        return (TurnFull(R),), 0.0
    sin_b = math.hypot(R[0][2], R[1][2])
    turns: list[Turn] = []
    if sin_b < TINY:
        flipped = R[2][2] < 0.0
        c = math.atan2(-R[0][1], R[0][0]) if flipped else math.atan2(R[1][0], R[0][0])
        if flipped:
            turns.append(TurnX(-1.0, 0.0))
    else:
        sin_a, cos_a = snapped(R[0][2] / sin_b), snapped(-R[1][2] / sin_b)
        if cos_a < 0.0:  # of the two forms of the rotation, the one with the smaller first turn
            sin_a, cos_a, sin_b = -sin_a, -cos_a, -sin_b
        # from Rz(-a) R: where b is small, a is ill determined, and c makes up for its error
        c = math.atan2(-cos_a * R[0][1] - sin_a * R[1][1], cos_a * R[0][0] + sin_a * R[1][0])
        if sin_a != 0.0:
            turns.append(TurnZ(cos_a, sin_a))
        turns.append(TurnX(snapped(R[2][2]), snapped(sin_b)))
    if abs(c) < TINY:
        c = 0.0
    if axial:
        return tuple(turns), c
    if c != 0.0:
        turns.append(TurnZ(snapped(math.cos(c)), snapped(math.sin(c))))
    return tuple(turns), 0.0
