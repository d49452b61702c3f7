"""Springs, dampers, ropes and bumpers between two points; their force acts along the line through the points.

`point_a` [m] is in the axes of `body_a` and `point_b` [m] in the axes of `body_b`; both may be bodies, frames or
"world".
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kinemorph.model.body import Vector
from kinemorph.model.elements.declared import declaration, declared
from kinemorph.model.parameter import Value


@dataclass(frozen=True)
class Spring:
    """A spring between two points: it pulls with  stiffness (length - rest) + damping d(length)/dt  [N].

    `length` is the distance of the points, `rest` the free length [m]. `point_a` [m] is in the axes of `body_a` and
    `point_b` [m] in the axes of `body_b`; each may be a body, a frame or "world".
    """

    name: str
    body_a: str
    body_b: str
    stiffness: Value = field(metadata=declaration("stiffness", least=0.0))
    rest: Value = declared(0.0, "length", least=0.0)
    damping: Value = declared(0.0, "damping", least=0.0)
    point_a: Vector = declared((0.0, 0.0, 0.0), "length")
    point_b: Vector = declared((0.0, 0.0, 0.0), "length")


@dataclass(frozen=True)
class Damper:
    """A damper between two points: it pulls with  damping d(length)/dt  [N]."""

    name: str
    body_a: str
    body_b: str
    damping: Value = field(metadata=declaration("damping", least=0.0))
    point_a: Vector = declared((0.0, 0.0, 0.0), "length")
    point_b: Vector = declared((0.0, 0.0, 0.0), "length")


@dataclass(frozen=True)
class Rope:
    """A rope between two points: slack up to the length `rest` [m], a spring with a damper beyond; it never pushes.

    With the stretch  s = length - rest > 0  it pulls with  max(0, stiffness s + damping r ds/dt)  [N]. The factor
    r = min(s / onset, 1) increases the damping over the stretch `onset` [m], so that the force does not jump.
    """

    name: str
    body_a: str
    body_b: str
    stiffness: Value = field(metadata=declaration("stiffness", least=0.0))
    rest: Value = field(metadata=declaration("length", least=0.0))
    damping: Value = declared(0.0, "damping", least=0.0)
    onset: Value = declared(0.001, "length", above=0.0)
    point_a: Vector = declared((0.0, 0.0, 0.0), "length")
    point_b: Vector = declared((0.0, 0.0, 0.0), "length")


@dataclass(frozen=True)
class Bumper:
    """A bumper between two points: no force beyond the length `rest` [m], a spring with a damper below; it never pulls.

    The force is that of a rope (see `Rope`) with the compression  s = rest - length,  and pushes.
    """

    name: str
    body_a: str
    body_b: str
    stiffness: Value = field(metadata=declaration("stiffness", least=0.0))
    rest: Value = field(metadata=declaration("length", above=0.0))
    damping: Value = declared(0.0, "damping", least=0.0)
    onset: Value = declared(0.001, "length", above=0.0)
    point_a: Vector = declared((0.0, 0.0, 0.0), "length")
    point_b: Vector = declared((0.0, 0.0, 0.0), "length")
