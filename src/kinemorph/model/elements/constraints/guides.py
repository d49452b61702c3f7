"""Constraints on points of bodies: a constant distance, or a plane, line, surface or curve, which may move too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from kinemorph.model.body import Vector
from kinemorph.model.elements.constraints.own_constraints import (
    Function,
    Known,
    as_known,
    as_rows,
    undeclared,
    with_known,
)
from kinemorph.model.elements.control.wiring import Names
from kinemorph.model.elements.declared import declaration, declared
from kinemorph.model.elements.forces.applied import Law, Table
from kinemorph.model.parameter import Value


@dataclass(frozen=True)
class DistanceConstraint:
    """A massless rod between two points, with a ball joint at each end: |b - a| = length.

    `length` [m] is a number above 0, a Table with one column, or a function of time t [s], as for a winch. `point_a`
    [m] is in the axes of `body_a`, `point_b` [m] in the axes of `body_b`.
    """

    name: str
    body_a: str
    body_b: str
    length: Value | Table | Law = field(metadata=declaration("length", above=0.0))
    point_a: Vector = declared((0.0, 0.0, 0.0), "length")
    point_b: Vector = declared((0.0, 0.0, 0.0), "length")


@dataclass(frozen=True)
class PointOnPlane:
    """`point` [m] of a body stays in the plane through `origin` [m] with the `normal` vector, of any length.

    `origin` and `normal` are in the axes of `on`: "world", or a body or frame that the plane moves with.
    """

    name: str
    body: str
    point: Vector = declared((0.0, 0.0, 0.0), "length")
    on: str = "world"
    origin: Vector = declared((0.0, 0.0, 0.0), "length")
    normal: Vector = declared((0.0, 0.0, 1.0), "number")


@dataclass(frozen=True)
class PointOnLine:
    """`point` [m] of a body stays on the line through `origin` [m] along the vector `direction`, of any length.

    `origin` and `direction` are in the axes of `on`: "world", or a body or frame that the line moves with.
    """

    name: str
    body: str
    point: Vector = declared((0.0, 0.0, 0.0), "length")
    on: str = "world"
    origin: Vector = declared((0.0, 0.0, 0.0), "length")
    direction: Vector = declared((1.0, 0.0, 0.0), "number")


@dataclass(frozen=True)
class PointOnSurface:
    """`point` [m] of a body stays where every expression in `surface` is 0.

    An expression contains x, y, z [m], the position of the point in the axes of `on`, and may contain t [s]. One
    expression gives a surface, such as "x**2 + y**2 - r**2"; two give the curve in which two surfaces intersect.
    `surface` may also be a function of t, x, y, z that returns one number. `known` gives the values of other names.
    """

    name: str
    body: str
    surface: Names | Function
    point: Vector = declared((0.0, 0.0, 0.0), "length")
    on: str = "world"
    known: Known = ()

    def __post_init__(self) -> None:
        as_rows(self, "surface")
        as_known(self)

    def knowing(self, names: Mapping[str, Value]) -> PointOnSurface:
        """The element, with the values from `names` added to `known` for further names that its text contains."""
        return replace(self, known=with_known(self.surface, self.known, names))

    def brief(self) -> PointOnSurface:
        """The element as it is written to a model file: `known` without the parameters that the file declares.

        The file has these in its table [parameters].
        """
        return replace(self, known=undeclared(self.known))


@dataclass(frozen=True)
class PointOnCurve:
    """`point` [m] of a body stays on a curve through `points`, rows (x, y, z) [m] in the axes of `on`, with rising x.

    The curve gives y and z as functions of x: by default a cubic spline with continuous curvature, or a "monotone"
    cubic, which does not overshoot. Its first and last piece extend beyond the points. With `planar` only the height z
    is constrained, and the point is free along y.
    """

    name: str
    body: str
    points: tuple[tuple[float, float, float], ...] = field(metadata=declaration("length"))
    point: Vector = declared((0.0, 0.0, 0.0), "length")
    on: str = "world"
    method: Literal["cubic", "monotone"] = "cubic"
    planar: bool = False
