"""A rigid body: mass, center of mass, rotational inertia about it, and shapes to draw.

All quantities are in the body's own frame. The helpers make the uniform solids of textbooks; each takes the position
of its center and stands along z unless told otherwise. A helper only fills in the numbers: the body is checked when
its robot is built.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.frozen import dataclass
from kinemorph.model.parameter import Value, evaluate
from kinemorph.model.shapes import GRAPHITE, ORANGE, Box, Capsule, Cylinder, Line, Shape, Sphere

Vector: TypeAlias = tuple[Value, Value, Value]
Matrix: TypeAlias = tuple[Vector, Vector, Vector]

ORIGIN: Vector = (0.0, 0.0, 0.0)
NO_INERTIA: Matrix = (ORIGIN, ORIGIN, ORIGIN)
AXES = {"x": 0, "y": 1, "z": 2}
# rotations that carry the z axis of a solid onto the named body axis
STANDING = {
    "x": ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0)),
    "y": ((1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0)),
    "z": IDENTITY.R,
}


@dataclass(frozen=True)
class Body:
    """A rigid body. `mass` [kg], `com` [m] (3,), `inertia` [kg m^2] (3, 3) about the center of mass in body axes.

    `shapes` are what it looks like, `collisions` what it touches with.
    """

    name: str
    mass: Value = 0.0
    com: Vector = ORIGIN
    inertia: Matrix = NO_INERTIA
    shapes: tuple[Shape, ...] = ()
    collisions: tuple[Shape, ...] = ()

    @classmethod
    def massless(cls, name: str) -> Body:
        """A body without mass, for composite joints: something with mass must hang below it."""
        return cls(name)

    @classmethod
    def point(cls, name: str, mass: Any, position: Any = ORIGIN, *, radius: Any = 0.05) -> Body:
        """A point mass at `position`, drawn as a ball of `radius` on a line from the body's origin."""
        ball = Sphere(radius, Pose(IDENTITY.R, tuple(position)), ORANGE)
        return cls(name, mass, tuple(position), NO_INERTIA, (Line(ORIGIN, tuple(position), color=GRAPHITE), ball))

    @classmethod
    def rod(
        cls, name: str, mass: Any, length: Any, center: Any = ORIGIN, *, axis: str = "z", radius: Any = None
    ) -> Body:
        """A thin uniform rod along `axis`: m l^2 / 12 across, nothing about itself.

        `radius` [m] is for drawing only: 0.03, within 0.5 % and 15 % of the length, where it is left out.
        """
        across = mass * length * length / 12.0
        moments = [across, across, across]
        moments[AXES[axis]] = 0.0
        if radius is None:
            extent = float(evaluate(length))
            radius = min(max(0.03, 0.005 * extent), 0.15 * extent) if extent > 0.0 else 0.03
        capsule = Capsule(radius, length, Pose(STANDING[axis], tuple(center)))
        return cls(name, mass, tuple(center), diagonal(*moments), (capsule,))

    @classmethod
    def cylinder(cls, name: str, mass: Any, radius: Any, length: Any, center: Any = ORIGIN, *, axis: str = "z") -> Body:
        """A uniform solid cylinder along `axis`: m r^2 / 2 about it, m (3 r^2 + l^2) / 12 across."""
        across = mass * (3.0 * radius * radius + length * length) / 12.0
        moments = [across, across, across]
        moments[AXES[axis]] = 0.5 * mass * radius * radius
        solid = Cylinder(radius, length, Pose(STANDING[axis], tuple(center)))
        return cls(name, mass, tuple(center), diagonal(*moments), (solid,))

    @classmethod
    def box(cls, name: str, mass: Any, size: Any, center: Any = ORIGIN) -> Body:
        """A uniform cuboid with edge lengths `size` along x, y, z."""
        xx, yy, zz = (edge * edge for edge in size)
        moments = (mass * (yy + zz) / 12.0, mass * (xx + zz) / 12.0, mass * (xx + yy) / 12.0)
        solid = Box(tuple(size), Pose(IDENTITY.R, tuple(center)))
        return cls(name, mass, tuple(center), diagonal(*moments), (solid,))

    @classmethod
    def sphere(cls, name: str, mass: Any, radius: Any, center: Any = ORIGIN) -> Body:
        """A uniform solid ball: 2 m r^2 / 5 about every axis."""
        moment = 0.4 * mass * radius * radius
        solid = Sphere(radius, Pose(IDENTITY.R, tuple(center)))
        return cls(name, mass, tuple(center), diagonal(moment, moment, moment), (solid,))


def diagonal(xx: Any, yy: Any, zz: Any) -> Matrix:
    """An inertia matrix with these moments and no products."""
    return ((xx, 0.0, 0.0), (0.0, yy, 0.0), (0.0, 0.0, zz))
