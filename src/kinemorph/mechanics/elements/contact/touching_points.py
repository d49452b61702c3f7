"""Where solids touch the ground: the points of a contact, and how deep each of them is.

A solid has one or more touching points, each the deepest point of a simple convex set in the ground. With the ground's
normal n, and the semi-axes e_k of the set around its center,

    point        the center                                                         corners of boxes
    corners      the deepest of several points                                      part of the vertices of a mesh
    sphere       center - r n
    ellipsoid    center + sum w_k e_k,  w_k = -e_k . n, scaled to |w| = 1           its support point
    half         the same with w_3 = max(w_3, 0)                                    the dome and the rim of half of one
    disc         the same without w_3                                               the rim of the end of a cylinder

A mesh of up to FEW vertices touches with each of them. The vertices of a larger one are divided into PARTS parts,
around as many vertices that are as far as possible from each other; each part touches with its deepest vertex. Where
several vertices of a part are deep to within BLEND, as on a flat face, it touches at their weighted mean: the point
would otherwise jump between them. The energy of its spring is then wrong by at most about the force times BLEND.

On a plane these are exact. The deepest point is a point of the body whose depth changes at the speed of the body there,
so that springs conserve energy. A disc that lies flat needs two points more to stand: those whose w is turned by a
third of a turn to both sides. They are equally deep, so that where the deepest point wanders along the rim, what one of
them gains by it the other loses, and energy is conserved with them, too. A disc that lies exactly flat has no deepest
point; then any three points a third of a turn apart will do.

Over terrain the normal is that below the center for spheres, and else that at the touching point, found by two passes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, reduce
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import Pose, act
from kinemorph.algebra.rows import columns
from kinemorph.algebra.scalar import S, div, is_zero, less, maximum, minimum, minus, sqrt, times, where
from kinemorph.algebra.vectors import add, dot, matvec, scale, sub
from kinemorph.mechanics.elements.checks import wrong
from kinemorph.mechanics.elements.contact.grounds import Meeting, Surface, surface
from kinemorph.mechanics.elements.contact.spheres import axis_problems
from kinemorph.model.elements.contact.contacts import Contact
from kinemorph.model.elements.contact.grounds import Plane
from kinemorph.model.parameter import evaluate_all
from kinemorph.model.shapes import (
    SHAPE_FIELDS,
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Frustum,
    HalfEllipsoid,
    Mesh,
    Solid,
    Sphere,
)

FLAT = 1e-9  # the sine of the angle between a disc and the ground below which any point of its rim is the deepest
FEW, PARTS = 16, 8  # a mesh of more than FEW vertices has PARTS touching points
BLEND = 1e-4  # [m]: corners that are no more than this higher than the deepest one take part
THIRD = 2.0 * math.pi / 3.0
NO_TURN = (1.0, 0.0)
# cosines and sines of the angles along the rim between the touching points of a disc and its deepest point
TURNS = (NO_TURN, *((math.cos(angle), math.sin(angle)) for angle in (THIRD, -THIRD)))
ALONG = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


class Spot(NamedTuple):
    """A convex set whose deepest point touches the ground, in the axes of a body, frame or link."""

    center: Any  # [m]
    radius: S = 0.0  # [m], of a sphere
    axes: tuple[Any, ...] = ()  # [m], semi-axes of an ellipsoid (3) or a disc (2)
    turn: tuple[S, S] = NO_TURN  # cosine and sine of the angle along the rim, from its deepest point
    half: bool = False  # only the half of an ellipsoid on the side of its third axis
    corners: tuple[Any, ...] = ()  # [m], points of which the deepest touches
    counts: tuple[S, ...] = ()  # for each corner 1, or 0 where it is there only to fill a row of a table

    @property
    def is_point(self) -> bool:
        """Whether it is a fixed point of the body."""
        return not self.axes and not self.corners and is_zero(self.radius)

    def moved(self, pose: Pose) -> Spot:
        """The same set in other axes."""
        axes, corners = tuple(matvec(pose.R, one) for one in self.axes), tuple(act(pose, one) for one in self.corners)
        return self._replace(center=act(pose, self.center), axes=axes, corners=corners)

    def deepest(self, normal: Sequence[S]) -> Any:
        """The deepest point [m] in a ground with this normal of length 1, in the same axes."""
        if self.corners:
            return self._deepest_corner(normal)
        if not self.axes:
            return sub(self.center, scale(self.radius, normal))
        w = [-dot(axis, normal) for axis in self.axes]
        if self.half:
            w[2] = maximum(w[2], 0.0)
        size = dot(self.axes[0], self.axes[0])
        squared = dot(w, w)
        flat = less(squared, FLAT * FLAT * size) if len(w) == 2 or self.half else 0.0
        length = sqrt(where(flat, 1.0, squared))
        w = [where(flat, at_rest, one / length) for one, at_rest in zip(w, ALONG[0], strict=False)]
        if self.turn is not NO_TURN:
            c, s = self.turn
            w = [c * w[0] - s * w[1], s * w[0] + c * w[1]]
        found = self.center
        for share, axis in zip(w, self.axes, strict=False):
            found = add(found, scale(share, axis))
        return found

    def _deepest_corner(self, normal: Sequence[S]) -> Any:
        """The deepest corner; where others are less than BLEND higher, the mean of them, weighted by what they lack."""
        heights = [dot(corner, normal) for corner in self.corners]
        lowest = reduce(minimum, heights)
        weights = [maximum(1.0 - (height - lowest) / BLEND, 0.0) for height in heights]
        if self.counts:
            weights = list(map(times, self.counts, weights))
        share, found = div(1.0, sum(weights)), (0.0, 0.0, 0.0)
        for weight, corner in zip(weights, self.corners, strict=True):
            found = add(found, scale(weight * share, corner))
        return found


class Touched(NamedTuple):
    """The touching point of a Spot, and its height over the ground."""

    point: Any  # [m], in the axes of the Spot
    meeting: Meeting


def touched(
    spot: Spot, ground: Surface, position: Callable[[Any], Sequence[S]], into: Callable[[Any], Sequence[S]], passes: int
) -> Touched:
    """The touching point of a Spot.

    `position` gives the position in the world [m] of a point in the axes of the Spot, and `into` turns a vector of the
    world into these axes. `passes` is 1 for a plane, whose normal is the same everywhere.
    """
    meeting = ground(position(spot.center), spot.radius)
    if spot.is_point:
        return Touched(spot.center, meeting)
    point = spot.deepest(into(meeting.normal))
    if not spot.axes and not spot.corners:
        return Touched(point, Meeting(minus(meeting.height, spot.radius), meeting.normal))
    for _ in range(passes - 1):
        point = spot.deepest(into(ground(position(point)).normal))
    return Touched(point, ground(position(point)))


def passes_over(ground: Any) -> int:
    """How often the touching point of a solid that is no sphere is looked for on this ground."""
    return 1 if isinstance(ground, Plane) else 3


class Course(NamedTuple):
    """A touching point at n poses of its body."""

    points: Array  # [m], in the axes of the body, (n, 3)
    heights: Array  # [m], over the ground, (n,)
    normals: Array  # of the ground, in world axes, (n, 3)


def touched_along(element: Contact, poses: Array) -> Iterator[Course]:
    """The touching points of a contact at the poses (n, 4, 4) of its body or frame in the world."""
    R, p = poses[:, :3, :3], poses[:, :3, 3]

    def position(point: Any) -> list[Array]:
        return list((np.einsum("nij,nj->ni", R, _rows(point, len(R))) + p).T)

    def into(vector: Any) -> list[Array]:
        return list(np.einsum("nji,nj->ni", R, _rows(vector, len(R))).T)

    ground, passes = surface(element.ground), passes_over(element.ground)
    for spot in spots(element):
        place, (height, normal) = touched(spot, ground, position, into, passes)
        yield Course(_rows(place, len(R)), np.broadcast_to(height, len(R)), _rows(normal, len(R)))


def _rows(vector: Any, count: int) -> Array:
    """A vector whose components are numbers or arrays (n,), as an array (n, 3)."""
    found: Array = np.stack([np.broadcast_to(np.asarray(part, dtype=float), count) for part in vector], axis=-1)
    return found


# ── the points of contacts ────────────────────────────────────────────────────────────────────────────────────────────


def spots(element: Contact, value: Callable[[Any], Any] = evaluate_all) -> list[Spot]:
    """The touching points of a contact in the axes of its body; `value` looks up parameters in its data."""
    if element.shape is not None:
        placement, solid = value(element.shape.placement), element.shape
        return [spot.moved(placement) for spot in _SPOTS[type(solid)](solid, value)]
    radius = value(element.radius)
    if element.end is None:
        return [Spot(value(tuple(element.point)), radius)]
    first, last = value((tuple(element.point), tuple(element.end)))
    parts = element.samples - 1
    return [
        Spot(tuple(a + (b - a) * (k / parts) for a, b in zip(first, last, strict=True)), radius)
        for k in range(element.samples)
    ]


def numbered(element: Contact) -> list[str]:
    """For each touching point the prefix of the names of its states and memory."""
    count = len(spots(element))
    return [""] if count == 1 else [f"{k + 1}." for k in range(count)]


def has_fixed_points(element: Contact) -> bool:
    """Whether the touching points are fixed points of the body, also while it turns.

    A radius that is a parameter may become other than 0.
    """
    plain = type(element.radius) in (int, float)
    return isinstance(element.ground, Plane) and plain and all(spot.is_point for spot in spots(element))


def _disc(center: Any, x: S, y: S) -> list[Spot]:
    """The points of a flat face with the radii x and y [m] across the z axis."""
    return [Spot(center, 0.0, ((x, 0.0, 0.0), (0.0, y, 0.0)), turn) for turn in TURNS]


def _box(shape: Box, value: Callable[[Any], Any]) -> list[Spot]:
    x, y, z = (0.5 * edge for edge in value(shape.size))
    return [Spot((i * x, j * y, k * z)) for i, j, k in product((-1.0, 1.0), repeat=3)]


def _sphere(shape: Sphere, value: Callable[[Any], Any]) -> list[Spot]:
    return [Spot((0.0, 0.0, 0.0), value(shape.radius))]


def _capsule(shape: Capsule, value: Callable[[Any], Any]) -> list[Spot]:
    radius, length = value((shape.radius, shape.length))
    return [Spot((0.0, 0.0, side * length), radius) for side in (-0.5, 0.5)]


def _cylinder(shape: Cylinder, value: Callable[[Any], Any]) -> list[Spot]:
    radius, length = value((shape.radius, shape.length))
    return [spot for side in (-0.5, 0.5) for spot in _disc((0.0, 0.0, side * length), radius, radius)]


def _frustum(shape: Frustum, value: Callable[[Any], Any]) -> list[Spot]:
    bottom, top, length = value((shape.bottom, shape.top, shape.length))
    found = []
    for side, radius in ((-0.5, bottom), (0.5, top)):
        center = (0.0, 0.0, side * length)
        found += [Spot(center)] if is_zero(radius) else _disc(center, radius, radius)
    return found


def _ellipsoid(shape: Ellipsoid, value: Callable[[Any], Any]) -> list[Spot]:
    return [Spot((0.0, 0.0, 0.0), 0.0, _semi_axes(value(shape.radii)))]


def _half_ellipsoid(shape: HalfEllipsoid, value: Callable[[Any], Any]) -> list[Spot]:
    x, y, z = value(shape.radii)
    origin = (0.0, 0.0, 0.0)
    return [Spot(origin, 0.0, _semi_axes((x, y, z)), half=True), *_disc(origin, x, y)[1:]]


def _mesh(shape: Mesh, value: Callable[[Any], Any]) -> list[Spot]:
    return [
        Spot(part[0]) if len(part) == 1 else Spot(tuple(np.mean(part, axis=0).tolist()), corners=part)
        for part in neighborhoods(shape.vertices)
    ]


@lru_cache(maxsize=256)
def neighborhoods(vertices: tuple[tuple[float, float, float], ...]) -> list[tuple[Any, ...]]:
    """The vertices of a mesh [m] in parts, each around one of the vertices that are farthest apart."""
    if len(vertices) <= FEW:
        return [(vertex,) for vertex in vertices]
    points = np.array(vertices, dtype=float).reshape(-1, 3)
    first = int(np.linalg.norm(points - points.mean(axis=0), axis=1).argmax())
    chosen, distances = [first], np.linalg.norm(points - points[first], axis=1)[:, None]
    while len(chosen) < PARTS:
        far = int(distances.min(axis=1).argmax())
        chosen.append(far)
        distances = np.column_stack([distances, np.linalg.norm(points - points[far], axis=1)])
    nearest = distances.argmin(axis=1)
    return [tuple(vertices[k] for k in np.flatnonzero(nearest == part)) for part in range(len(chosen))]


def _semi_axes(radii: Sequence[S]) -> tuple[Any, ...]:
    return tuple(tuple(scale(radius, axis)) for radius, axis in zip(radii, ALONG, strict=True))


_SPOTS: dict[type, Callable[[Any, Callable[[Any], Any]], list[Spot]]] = {
    Box: _box,
    Sphere: _sphere,
    Capsule: _capsule,
    Cylinder: _cylinder,
    Frustum: _frustum,
    Ellipsoid: _ellipsoid,
    HalfEllipsoid: _half_ellipsoid,
    Mesh: _mesh,
}


# ── points in a table ─────────────────────────────────────────────────────────────────────────────────────────────────

LEAST_ROWS = 3  # fewer points are computed one by one
FILLED = 16  # the number of corners of a part is filled up to a multiple of this, so that more parts share a formula


def in_tables(
    found: Sequence[tuple[Spot, Sequence[S]]], among: Iterable[S], least: int | None = None
) -> list[tuple[Spot, Sequence[S]]]:
    """Spots with numbers that belong to each of them; `least` (LEAST_ROWS) or more that are alike are one, whose own
    numbers and others are columns of a table (`algebra.rows`).

    They stay as they are where `among`, the numbers of the state, are not expressions, and where their own are.
    """
    alike: dict[tuple[int, bool, bool, int], list[tuple[Spot, Sequence[S]]]] = {}
    for spot, own in found:
        size = 0 if not spot.corners else 1 if len(spot.corners) <= FILLED else 2
        alike.setdefault((len(spot.axes), spot.half, is_zero(spot.radius), size), []).append((spot, own))
    among = list(among)
    joined: list[tuple[Spot, Sequence[S]]] = []
    for group in alike.values():
        most = -(-max(len(spot.corners) for spot, _ in group) // FILLED) * FILLED
        table = _table(group, most) if len(group) >= (LEAST_ROWS if least is None else least) else None
        numbers = None if table is None else columns(table, among)
        if numbers is None:
            joined += group
        else:
            count = len(group[0][1])
            joined.append((_from_row(group[0][0], numbers[count:]), numbers[:count]))
    return joined


def _table(group: Sequence[tuple[Spot, Sequence[S]]], most: int) -> tuple[tuple[float, ...], ...] | None:
    """The numbers of spots that are alike, with up to `most` corners, and those that belong to each, one row each; None
    where a number is not known yet.
    """
    rows = []
    for spot, more in group:
        row = [*more, *spot.center, spot.radius, *spot.turn, *(x for axis in spot.axes for x in axis)]
        missing = most - len(spot.corners)
        row += [x for corner in (*spot.corners, *[spot.corners[0]] * missing) for x in corner] if most else []
        row += [1.0] * len(spot.corners) + [0.0] * missing
        if not all(isinstance(x, (int, float)) for x in row):
            return None
        rows.append(tuple(map(float, row)))
    return tuple(rows)


def _from_row(like: Spot, numbers: Sequence[S]) -> Spot:
    """The spot with the numbers of a row of `_table`; `like` is one of the spots of the table."""
    center, rest, count = tuple(numbers[:3]), numbers[6:], len(like.axes)
    radius = 0.0 if is_zero(like.radius) else numbers[3]
    axes = tuple(tuple(rest[3 * k : 3 * k + 3]) for k in range(count))
    most = (len(rest) - 3 * count) // 4
    corners = tuple(tuple(rest[3 * k : 3 * k + 3]) for k in range(count, count + most))
    turn = (numbers[4], numbers[5]) if count == 2 else NO_TURN
    return Spot(center, radius, axes, turn, like.half, corners, tuple(rest[3 * (count + most) :]))


# ── checks ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def solid_problems(element: Contact) -> list[str]:
    """Problems of what touches the ground: the sphere, capsule or solid of a contact, one sentence each."""
    name, shape = element.name, element.shape
    if shape is None:
        found = axis_problems(name, element.point, element.end)
        if element.end is not None and element.samples < 2:
            problem = f"samples is {element.samples}; expected 2 or more spheres along a capsule"
            found.append(wrong(name, problem, "Give 2 or more, or leave `end` out.", "samples"))
        return found
    given = evaluate_all((tuple(element.point), element.radius))
    if any(given[0]) or given[1] or element.end is not None:
        problem = "it has a shape and also a point, radius or end; expected only one of the two"
        return [wrong(name, problem, "Place the shape by its placement.", "shape")]
    return _shape_problems(name, shape)


def _shape_problems(name: str, shape: Solid) -> list[str]:
    """Problems of the sizes of a solid."""
    row = SHAPE_FIELDS[type(shape)]
    for field in (*row.lengths, *row.points):
        size = evaluate_all(getattr(shape, field))
        least = min(size) if isinstance(size, tuple) else size
        if not (least > 0.0 if field in row.positive else least >= 0.0) or not least < math.inf:
            expected = "above 0" if field in row.positive else "of at least 0"
            problem = f"shape: {field} is {size}; expected finite lengths {expected}"
            return [wrong(name, problem, f"Give {field} in meters, each number {expected}.", "shape")]
    if isinstance(shape, Mesh) and not shape.vertices:
        return [wrong(name, "shape: the mesh has no vertices; expected at least one", "Leave it out.", "shape")]
    return []
