"""Shapes of bodies: simple solids, lines, triangles and meshes, each with a placement on its body.

Sizes are Values in meters, so that a drawing follows the parameters of its robot. A solid is centered on its own frame
(a half ellipsoid stands on it), and the axis of a cylinder, capsule or frustum is the z axis of that frame. `placement`
is the pose of the shape's frame in the body frame. Colors are RGB or RGBA between 0 and 1. Shapes have no mass: mass is
given on the body. Shapes for contact may have a `surface`, which says how they touch. Half spaces and terrains are
ground, on which other shapes stand.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import Any, NamedTuple, TypeAlias

from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.frozen import dataclass
from kinemorph.model.parameter import Value
from kinemorph.vocabulary.frozen_array import FrozenArray

Point: TypeAlias = tuple[Value, Value, Value]
Color: TypeAlias = tuple[float, ...]

STEEL: Color = (0.55, 0.60, 0.66)
ORANGE: Color = (0.90, 0.49, 0.13)
GRAPHITE: Color = (0.22, 0.24, 0.27)


@dataclass(frozen=True)
class Surface:
    """How a shape touches, as its file says it; `elements.contacts` makes contacts of it.

    `friction`     coefficient of sliding friction; None if the file gives none
    `normal`       normal-force law on the ground of the file: HuntCrossley, EasyDynNormal or ImpedanceNormal; or None
    `groups`       bits of the groups that the shape is in, and `meets` those that it touches: a and b touch where
                   a.groups & b.meets or b.groups & a.meets is not 0
    `priority`     of two shapes that touch, the one with the higher priority gives the friction; else the larger counts
    `margin`       [m]: forces begin where the distance of two shapes is the sum of their margins
    `gap`          [m]: MuJoCo finds contacts already at this distance more; they have no force there
    `name`         the name of the shape in its file, after which its contact is called
    """

    friction: float | None = field(default=None, metadata={"kind": "number"})
    normal: Any = None
    groups: int = 1
    meets: int = 1
    priority: int = 0
    margin: float = field(default=0.0, metadata={"kind": "length"})
    gap: float = field(default=0.0, metadata={"kind": "length"})
    name: str = ""

    def touches(self, other: Surface) -> bool:
        """Whether two surfaces touch, by their groups."""
        return bool(self.groups & other.meets or other.groups & self.meets)

    def friction_on(self, other: Surface) -> float | None:
        """The friction of a contact with another surface: of the one with the higher priority, if it has any, else the
        larger; None if neither has any.
        """
        stated = [one.friction for one in sorted((self, other), key=lambda one: -one.priority)]
        known = [friction for friction in stated if friction is not None]
        if self.priority != other.priority:
            return next(iter(known), None)
        return max(known, default=None)


def _color(usual: Color) -> Any:
    return field(default=usual, metadata={"kind": "number"})


def _surface() -> Any:
    return field(default=None, metadata={"in_files": False})


@dataclass(frozen=True)
class Box:
    """A cuboid with edge lengths `size` [m] along x, y, z."""

    size: Point = field(metadata={"kind": "length"})
    placement: Pose = IDENTITY
    color: Color = _color(STEEL)
    surface: Surface | None = _surface()


@dataclass(frozen=True)
class Cylinder:
    """A cylinder of `radius` and `length` [m] along z."""

    radius: Value = field(metadata={"kind": "length"})
    length: Value = field(metadata={"kind": "length"})
    placement: Pose = IDENTITY
    color: Color = _color(STEEL)
    surface: Surface | None = _surface()


@dataclass(frozen=True)
class Capsule:
    """A cylinder of `radius` and `length` [m] along z with a half sphere added at each end."""

    radius: Value = field(metadata={"kind": "length"})
    length: Value = field(metadata={"kind": "length"})
    placement: Pose = IDENTITY
    color: Color = _color(STEEL)
    surface: Surface | None = _surface()


@dataclass(frozen=True)
class Sphere:
    """A ball of `radius` [m]."""

    radius: Value = field(metadata={"kind": "length"})
    placement: Pose = IDENTITY
    color: Color = _color(STEEL)
    surface: Surface | None = _surface()


@dataclass(frozen=True)
class Ellipsoid:
    """An ellipsoid with `radii` [m] along x, y and z: half its extents."""

    radii: Point = field(metadata={"kind": "length"})
    placement: Pose = IDENTITY
    color: Color = _color(STEEL)
    surface: Surface | None = _surface()


@dataclass(frozen=True)
class HalfEllipsoid:
    """The half of an ellipsoid above its x-y plane: `radii` [m] along x and y, and its height [m] along z.

    Its frame is at the middle of its flat face.
    """

    radii: Point = field(metadata={"kind": "length"})
    placement: Pose = IDENTITY
    color: Color = _color(STEEL)
    surface: Surface | None = _surface()


@dataclass(frozen=True)
class Frustum:
    """A truncated cone: radius `bottom` [m] at z = -length/2 and radius `top` [m] at z = +length/2."""

    bottom: Value = field(metadata={"kind": "length"})
    top: Value = field(metadata={"kind": "length"})
    length: Value = field(metadata={"kind": "length"})
    placement: Pose = IDENTITY
    color: Color = _color(STEEL)
    surface: Surface | None = _surface()


@dataclass(frozen=True)
class Line:
    """A straight line from `start` to `end` [m]."""

    start: Point = field(metadata={"kind": "length"})
    end: Point = field(metadata={"kind": "length"})
    placement: Pose = IDENTITY
    color: Color = _color(GRAPHITE)


@dataclass(frozen=True)
class Triangle:
    """A flat triangle with corners `a`, `b`, `c` [m]."""

    a: Point = field(metadata={"kind": "length"})
    b: Point = field(metadata={"kind": "length"})
    c: Point = field(metadata={"kind": "length"})
    placement: Pose = IDENTITY
    color: Color = _color(STEEL)


@dataclass(frozen=True)
class Mesh:
    """A surface of triangles: corner points [m], and three corner indices per face; `source` names its file."""

    vertices: tuple[tuple[float, float, float], ...] = field(metadata={"kind": "length"})
    faces: tuple[tuple[int, int, int], ...]
    source: str = ""
    placement: Pose = IDENTITY
    color: Color = _color(STEEL)
    surface: Surface | None = _surface()


@dataclass(frozen=True)
class MeshFile:
    """A surface in a mesh file, which is read when it is drawn.

    `source` is the name of the file in the model (`package://arm/link1.stl`), `path` the file that was found, empty if
    none was found. `scale` converts the coordinates of the file to meters.
    """

    source: str
    path: str = ""
    scale: tuple[float, float, float] = field(default=(1.0, 1.0, 1.0), metadata={"kind": "length"})
    placement: Pose = IDENTITY
    color: Color = _color(STEEL)
    surface: Surface | None = _surface()


@dataclass(frozen=True)
class HalfSpace:
    """Ground: everything below the x-y plane of its frame, without end.

    `size` [m] are half the edges of the rectangle that is drawn, along x and y; 0 for none.
    """

    size: tuple[float, float] = field(default=(0.0, 0.0), metadata={"kind": "length"})
    placement: Pose = IDENTITY
    color: Color = _color(STEEL)
    surface: Surface | None = _surface()


@dataclass(frozen=True)
class Terrain:
    """Ground: hills with heights[i][j] [m] along z at the points of a regular grid, whose middle is the frame's origin.

    `spacing` [m] is the distance of neighboring points along x (i) and y (j).
    """

    heights: tuple[tuple[float, ...], ...] | FrozenArray = field(metadata={"kind": "length"})
    spacing: tuple[float, float] = field(default=(1.0, 1.0), metadata={"kind": "length"})
    placement: Pose = IDENTITY
    color: Color = _color(STEEL)
    surface: Surface | None = _surface()

    def __post_init__(self) -> None:
        """Freezes the heights; those that are no regular grid of numbers stay as they are, and are reported later."""
        frozen = FrozenArray.read(self.heights, axes=2)
        if frozen is not None:
            object.__setattr__(self, "heights", frozen)


Solid: TypeAlias = Box | Cylinder | Capsule | Sphere | Ellipsoid | HalfEllipsoid | Frustum | Mesh
Shape: TypeAlias = Solid | Line | Triangle | MeshFile | HalfSpace | Terrain


class Fields(NamedTuple):
    """The names of a shape's fields that are lengths, of those that are vectors, and of those that must be above 0."""

    lengths: tuple[str, ...]
    points: tuple[str, ...]
    positive: tuple[str, ...]


SHAPE_FIELDS: dict[type[Any], Fields] = {
    Box: Fields((), ("size",), ("size",)),
    Cylinder: Fields(("radius", "length"), (), ("radius", "length")),
    Capsule: Fields(("radius", "length"), (), ("radius", "length")),
    Sphere: Fields(("radius",), (), ("radius",)),
    Ellipsoid: Fields((), ("radii",), ("radii",)),
    HalfEllipsoid: Fields((), ("radii",), ("radii",)),
    Frustum: Fields(("bottom", "top", "length"), (), ("length",)),
    Line: Fields((), ("start", "end"), ()),
    Triangle: Fields((), ("a", "b", "c"), ()),
    Mesh: Fields((), (), ()),
    MeshFile: Fields((), (), ()),
    HalfSpace: Fields((), (), ()),
    Terrain: Fields((), (), ()),
}


def with_surface(shape: Shape, surface: Surface | None) -> Shape:
    """The shape with a surface; lines and triangles touch nothing and stay as they are."""
    return shape if isinstance(shape, (Line, Triangle)) else replace(shape, surface=surface)


def shape_values(shape: Shape) -> tuple[Any, ...]:
    """All Values of a shape, in nested tuples, to find its parameters."""
    row = SHAPE_FIELDS[type(shape)]
    return (*(getattr(shape, name) for name in (*row.lengths, *row.points)), shape.placement)
