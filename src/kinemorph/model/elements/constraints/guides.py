"""Guided points: at a distance, on a plane, a line, a surface or a curve, which another body may carry."""

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
from kinemorph.model.elements.forces.applied import Law, Table
from kinemorph.model.parameter import Value


@dataclass(frozen=True)
class DistanceConstraint:
    """A rod without mass between two points, with a ball joint at either end: |b - a| = length.

    The length [m] is a number above 0, a Table with rows of one, or a function of t, as that of a winch.
    """

    name: str
    body_a: str
    body_b: str
    length: Value | Table | Law = field(metadata={"kind": "length"})
    point_a: Vector = field(default=(0.0, 0.0, 0.0), metadata={"kind": "length"})
    point_b: Vector = field(default=(0.0, 0.0, 0.0), metadata={"kind": "length"})


@dataclass(frozen=True)
class PointOnPlane:
    """`point` [m] of a body stays in a plane through `origin` [m] with a `normal` of any length, both in axes of `on`.

    "world" is the ground; any body or frame may carry the plane.
    """

    name: str
    body: str
    point: Vector = field(default=(0.0, 0.0, 0.0), metadata={"kind": "length"})
    on: str = "world"
    origin: Vector = field(default=(0.0, 0.0, 0.0), metadata={"kind": "length"})
    normal: Vector = (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class PointOnLine:
    """`point` [m] of a body stays on a line through `origin` [m] along a `direction` of any length, in axes of `on`."""

    name: str
    body: str
    point: Vector = field(default=(0.0, 0.0, 0.0), metadata={"kind": "length"})
    on: str = "world"
    origin: Vector = field(default=(0.0, 0.0, 0.0), metadata={"kind": "length"})
    direction: Vector = (1.0, 0.0, 0.0)


@dataclass(frozen=True)
class PointOnSurface:
    """`point` [m] of a body stays where every expression of x, y, z [m] (and t) in `surface` is 0, in axes of `on`.

    One is a surface, "x**2 + y**2 - r**2"; two are the curve in which two surfaces meet. A function takes t, x, y, z
    and gives one number.
    """

    name: str
    body: str
    surface: Names | Function
    point: Vector = field(default=(0.0, 0.0, 0.0), metadata={"kind": "length"})
    on: str = "world"
    known: Known = ()

    def __post_init__(self) -> None:
        as_rows(self, "surface")
        as_known(self)

    def knowing(self, names: Mapping[str, Value]) -> PointOnSurface:
        """The element with meanings for the names in its text, where it has none of its own."""
        return replace(self, known=with_known(self.surface, self.known, names))

    def brief(self) -> PointOnSurface:
        """The element without what a model file says in its table of parameters."""
        return replace(self, known=undeclared(self.known))


@dataclass(frozen=True)
class PointOnCurve:
    """`point` [m] of a body stays on a rail through `points`, rows of three [m] in axes of `on` with rising x.

    The rail is a cubic spline over x (continuous curvature), or "monotone"; its end pieces extend beyond the points.
    With `planar` only its height z counts, and the point is free along y.
    """

    name: str
    body: str
    points: tuple[tuple[float, float, float], ...] = field(metadata={"kind": "length"})
    point: Vector = field(default=(0.0, 0.0, 0.0), metadata={"kind": "length"})
    on: str = "world"
    method: Literal["cubic", "monotone"] = "cubic"
    planar: bool = False
