"""Planar linkages given by points of the closed mechanism, links of thin bars between these points, and hinges.

    points = {"A": (0.0, 0.0), "B": (0.3, 0.0), "C": meet((0.0, 0.0), 0.4, (0.3, 0.0), 0.5)}
    links = [Link("arm", "A-C", 1.0), Link("strut", "B-C", 1.2)]
    hinges = [Hinge("A", "world", "arm"), Hinge("B", "world", "strut"), Hinge("C", "arm", "strut")]
    robot = linkage(RobotBuilder("frame"), points, links, hinges).build()

All points are in the vertical x-z plane; positive angles turn +x toward +z. In the configuration given by the points,
all links have the axes of the world, so that this configuration is q = 0. Therefore a run without a given initial state
starts with closed loops.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from numbers import Real
from typing import NamedTuple, TypeAlias

from kinemorph.algebra.groups import Pose, translation
from kinemorph.algebra.inertia import Inertia, added
from kinemorph.errors import ModelError
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.joint import Axis
from kinemorph.model.shapes import STEEL, Capsule, Color
from kinemorph.model.topology import WORLD

Point: TypeAlias = tuple[float, float]  # x and z [m]
Place: TypeAlias = tuple[float, float, float]  # x, y and z [m]
HINGE: Axis = (0.0, -1.0, 0.0)  # positive angles turn +x toward +z
SLENDER = 0.012  # radius of a drawn bar, relative to the size of its linkage


class Link(NamedTuple):
    """A rigid body of thin bars between named points, "E-F-G"; its `mass` [kg] is distributed evenly over the bars."""

    name: str
    bars: str
    mass: float
    color: Color = STEEL


class Hinge(NamedTuple):
    """A hinge at a named point, between two links or between "world" and a link."""

    point: str
    parent: str
    child: str


def positive(owner: str, what: str, values: Sequence[float], count: int) -> tuple[float, ...]:
    """The values as a tuple, if they are `count` finite numbers above 0; otherwise raises ModelError.

    The message names the linkage, `owner`, and the data, `what`.
    """
    plain = all(isinstance(x, Real) for x in values)
    if len(values) != count or not plain or not all(0.0 < x < math.inf for x in values):
        given = ", ".join(f"{x:g}" if isinstance(x, Real) else repr(x) for x in values)
        numbers = f"{count} numbers above 0" if count > 1 else "a number above 0"
        raise ModelError(f"{owner}: {what} is {given or 'empty'}, expected {numbers}. Give {numbers}.")
    return tuple(values)


def meet(p: Point, a: float, q: Point, b: float, side: int = 1, *, name: str = "linkage") -> Point:
    """The point at the distance `a` [m] from p and `b` [m] from q, to the left (`side` 1) or right (-1) of p -> q.

    Raises ModelError if there is no such point, so that the linkage `name` cannot be closed.
    """
    ux, uz = q[0] - p[0], q[1] - p[1]
    apart = math.hypot(ux, uz)
    if not abs(a - b) <= apart <= a + b or not apart:
        raise ModelError(
            f"{name}: two bars of {a:.4g} m and {b:.4g} m cannot meet, because their other ends are {apart:.4g} m "
            f"apart, expected {abs(a - b):.4g} to {a + b:.4g} m. Change the lengths or the angle at q = 0."
        )
    ux, uz = ux / apart, uz / apart
    along = 0.5 * (apart + (a - b) * (a + b) / apart)
    across = side * math.sqrt(max(0.0, (a - along) * (a + along)))
    return p[0] + along * ux - across * uz, p[1] + along * uz + across * ux


def at_angle(p: Point, angle: float, along: float, across: float = 0.0) -> Point:
    """The point `along` [m] from p in the direction `angle` [rad], from +x toward +z, and `across` [m] to its left."""
    c, s = math.cos(angle), math.sin(angle)
    return p[0] + along * c - across * s, p[1] + along * s + across * c


def linkage(
    builder: RobotBuilder,
    points: Mapping[str, Point],
    links: Sequence[Link],
    hinges: Iterable[Hinge],
    *,
    carriers: Mapping[str, Point] | None = None,
    plane: float = 0.0,
) -> RobotBuilder:
    """The builder, with links and hinges added. The drawn thickness of bars depends on the extent of `points`.

    `carriers` are other bodies to which hinges are attached, with the origins of their frames; `plane` is the y [m] of
    the linkage in their frames and in the world. The first hinge whose child is a link is named
    `<link>_joint`, further ones `<parent>_<link>`.
    """
    radius = SLENDER * size(points.values())
    moving = {link.name for link in links}
    origins = {WORLD: (0.0, 0.0), **(carriers or {})}
    origins |= {link.name: points[link.bars.split("-")[0]] for link in links}
    for link in links:
        whole = bar_inertia(link, points)
        shapes = bar_shapes(link, points, radius)
        builder.body(link.name, whole.mass, com=whole.com, inertia=whole.moment, shapes=shapes)
    reached: set[str] = set()
    for point, parent, child in hinges:
        x, _, z = arm(origins[parent], points[point])
        builder.joint(
            f"{parent}_{child}" if child in reached else f"{child}_joint",
            "revolute",
            parent,
            child,
            translation=(x, 0.0 if parent in moving else plane, z),
            child_placement=translation(arm(origins[child], points[point])),
            axis=HINGE,
        )
        reached.add(child)
    return builder


def bar_inertia(link: Link, points: Mapping[str, Point]) -> Inertia:
    """The mass, center of mass and inertia of a link in its frame, which is at the first point in `link.bars`."""
    bars = list(_bars(link, points))
    whole = sum(math.dist(start, end) for start, end in bars)
    inertia = Inertia(0.0, (0.0, 0.0, 0.0), ((0.0,) * 3,) * 3)
    for (x, _, z), (x2, _, z2) in bars:
        dx, dz = x2 - x, z2 - z
        mass = link.mass * math.hypot(dx, dz) / whole
        xx, xz, zz = (mass / 12.0 * square for square in (dx * dx, dx * dz, dz * dz))
        moment = ((zz, 0.0, -xz), (0.0, xx + zz, 0.0), (-xz, 0.0, xx))
        inertia = added(inertia, Inertia(mass, (0.5 * (x + x2), 0.0, 0.5 * (z + z2)), moment))
    return inertia


def bar_shapes(link: Link, points: Mapping[str, Point], radius: float) -> tuple[Capsule, ...]:
    """The shapes of the bars of a link, in its frame; `radius` [m] of the bars."""
    shapes = []
    for (x, _, z), (x2, _, z2) in _bars(link, points):
        length = math.hypot(x2 - x, z2 - z)
        c, s = (x2 - x) / length, (z2 - z) / length
        middle = Pose(((s, 0.0, c), (0.0, 1.0, 0.0), (-c, 0.0, s)), (0.5 * (x + x2), 0.0, 0.5 * (z + z2)))
        shapes.append(Capsule(radius, length, middle, link.color))
    return tuple(shapes)


def _bars(link: Link, points: Mapping[str, Point]) -> Iterable[tuple[Place, Place]]:
    """The two ends of every bar of a link, in its frame."""
    names = link.bars.split("-")
    return pairwise(arm(points[names[0]], points[name]) for name in names)


def arm(origin: Point, point: Point) -> Place:
    """The vector (x, 0, z) [m] from `origin` to `point`."""
    return point[0] - origin[0], 0.0, point[1] - origin[1]


def size(points: Iterable[Point]) -> float:
    """The diagonal [m] of the bounding box of the points."""
    xs, zs = zip(*points, strict=True)
    return math.hypot(max(xs) - min(xs), max(zs) - min(zs))
