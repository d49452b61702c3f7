"""Constraints on velocities: blades that do not slip sideways, and discs and balls that roll."""

from __future__ import annotations

from dataclasses import dataclass, field

from kinemorph.model.body import Vector
from kinemorph.model.elements.declared import declaration, declared
from kinemorph.model.parameter import Value


@dataclass(frozen=True)
class KnifeEdge:
    """`point` [m] of a body does not move along `side`, a vector of any length in the body's axes: skates, keels.

    The motion is relative to `on`: "world" or a body. With `normal`, a vector in the axes of `on`, only the component
    of `side` in the plane with that normal is used, so that a blade may lean.
    """

    name: str
    body: str
    side: Vector = declared((0.0, 1.0, 0.0), "number")
    point: Vector = declared((0.0, 0.0, 0.0), "length")
    on: str = "world"
    normal: Vector | None = declared(None, "number")


@dataclass(frozen=True)
class RollingDisc:
    """A thin disc that rolls without slipping on a plane: a wheel, a coin. It may lean, but must not lie flat.

    Its `center` [m] and the vector `axle` (of any length) are in the axes of the body; the `origin` [m] and `normal` of
    the plane are in the axes of `on`. The constraint rows are `height`, a constraint on positions: the lowest point of
    the rim is on the plane; and `forward` and `sideways`: this point does not slip. Set `touching` to False to leave
    out `height`, for example for a planar base, and `sliding` to True to leave out `sideways`, for an omnidirectional
    wheel.
    """

    name: str
    body: str
    radius: Value = field(metadata=declaration("length", above=0.0))
    center: Vector = declared((0.0, 0.0, 0.0), "length")
    axle: Vector = declared((0.0, 1.0, 0.0), "number")
    on: str = "world"
    origin: Vector = declared((0.0, 0.0, 0.0), "length")
    normal: Vector = declared((0.0, 0.0, 1.0), "number")
    touching: bool = True
    sliding: bool = False


@dataclass(frozen=True)
class RollingSphere:
    """A ball of `radius` [m] around `center` [m] of a body that rolls without slipping on a plane fixed to `on`.

    The `origin` [m] and `normal` of the plane are in the axes of `on`. The constraint rows are `height`, a constraint
    on positions, which is left out if `touching` is False; and `first` and `second`, no slip in two directions of the
    plane. If `on` is a body that turns, the plane turns with it.
    """

    name: str
    body: str
    radius: Value = field(metadata=declaration("length", above=0.0))
    center: Vector = declared((0.0, 0.0, 0.0), "length")
    on: str = "world"
    origin: Vector = declared((0.0, 0.0, 0.0), "length")
    normal: Vector = declared((0.0, 0.0, 1.0), "number")
    touching: bool = True
