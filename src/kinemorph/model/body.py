"""A rigid body: mass, center of mass, rotational inertia about the center of mass, and shapes to draw.

All quantities are in the body's own frame. The class methods make uniform solids; each takes the position of the center
[m] of the solid, whose axis is along z unless `axis` says otherwise. They only fill in the numbers: whether
these are possible is checked when the robot is built.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, TypeAlias

from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.errors import ModelError, Problem
from kinemorph.frozen import dataclass
from kinemorph.model.parameter import Symbolic, Value, evaluate
from kinemorph.model.shapes import GRAPHITE, ORANGE, Box, Capsule, Cylinder, Line, Shape, Sphere

Vector: TypeAlias = tuple[Value, Value, Value]
Matrix: TypeAlias = tuple[Vector, Vector, Vector]

ORIGIN: Vector = (0.0, 0.0, 0.0)
NO_INERTIA: Matrix = (ORIGIN, ORIGIN, ORIGIN)
VECTORS = ("size", "center", "position")  # arguments of solids that are three numbers
AXES = {"x": 0, "y": 1, "z": 2}
# rotations that turn the z axis of a solid to the named body axis
STANDING = {
    "x": ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0)),
    "y": ((1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0)),
    "z": IDENTITY.R,
}


@dataclass(frozen=True)
class Body:
    """A rigid body. `mass` [kg], `com` [m] (3,), `inertia` [kg m^2] (3, 3) about the center of mass in body axes.

    `shapes` are drawn; `collisions` are the shapes for contact.
    """

    name: str
    mass: Value = 0.0
    com: Vector = ORIGIN
    inertia: Matrix = NO_INERTIA
    shapes: tuple[Shape, ...] = ()
    collisions: tuple[Shape, ...] = ()

    @classmethod
    def massless(cls, name: str) -> Body:
        """A body without mass, to build one joint out of several. A body with mass has to be attached to it."""
        return cls(name)

    @classmethod
    def point(cls, name: str, mass: Any, position: Any = ORIGIN, *, radius: Any = 0.05) -> Body:
        """A point `mass` [kg] at `position` [m], drawn as a ball of `radius` [m] on a line from the body's origin."""
        _check(name, mass=mass, position=position, radius=radius)
        ball = Sphere(radius, Pose(IDENTITY.R, tuple(position)), ORANGE)
        return cls(name, mass, tuple(position), NO_INERTIA, (Line(ORIGIN, tuple(position), color=GRAPHITE), ball))

    @classmethod
    def rod(
        cls, name: str, mass: Any, length: Any, center: Any = ORIGIN, *, axis: str = "z", radius: Any = None
    ) -> Body:
        """A thin uniform rod along `axis`: inertia m l^2 / 12 about the axes across it, none about its own axis.

        `radius` [m] is for drawing only; its default is 0.03, but at least 0.5 % and at most 15 % of the length.
        """
        _check(name, mass=mass, length=length, center=center, axis=axis, radius=0.0 if radius is None else radius)
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
        """A uniform solid cylinder along `axis`: inertia m r^2 / 2 about `axis`, m (3 r^2 + l^2) / 12 across it."""
        _check(name, mass=mass, radius=radius, length=length, center=center, axis=axis)
        across = mass * (3.0 * radius * radius + length * length) / 12.0
        moments = [across, across, across]
        moments[AXES[axis]] = 0.5 * mass * radius * radius
        solid = Cylinder(radius, length, Pose(STANDING[axis], tuple(center)))
        return cls(name, mass, tuple(center), diagonal(*moments), (solid,))

    @classmethod
    def box(cls, name: str, mass: Any, size: Any, center: Any = ORIGIN) -> Body:
        """A uniform cuboid with edge lengths `size` [m] along x, y, z."""
        _check(name, mass=mass, size=size, center=center)
        xx, yy, zz = (edge * edge for edge in size)
        moments = (mass * (yy + zz) / 12.0, mass * (xx + zz) / 12.0, mass * (xx + yy) / 12.0)
        solid = Box(tuple(size), Pose(IDENTITY.R, tuple(center)))
        return cls(name, mass, tuple(center), diagonal(*moments), (solid,))

    @classmethod
    def sphere(cls, name: str, mass: Any, radius: Any, center: Any = ORIGIN) -> Body:
        """A uniform solid ball: inertia 2 m r^2 / 5 about every axis."""
        _check(name, mass=mass, radius=radius, center=center)
        moment = 0.4 * mass * radius * radius
        solid = Sphere(radius, Pose(IDENTITY.R, tuple(center)))
        return cls(name, mass, tuple(center), diagonal(moment, moment, moment), (solid,))


def _check(body: Any, **data: Any) -> None:
    """Raises ModelError with one problem for each argument of a solid that is no number, vector or axis."""
    problems = []
    for key, raw in data.items():
        if key == "axis":
            what = "" if raw in ("x", "y", "z") else "expected 'x', 'y' or 'z'"
            remedy = "Name the body axis along which the solid lies."
        elif key in VECTORS:
            numbers = tuple(raw) if hasattr(raw, "__len__") and not isinstance(raw, str) else ()
            what = "" if len(numbers) == 3 and all(map(_is_number, numbers)) else "expected three numbers [m]"
            remedy = "Give them in brackets, along x, y and z."
        else:
            unit = "[kg]" if key == "mass" else "[m]"
            what = "" if _is_number(raw) else f"expected a number {unit}"
            remedy = "Give a float, a Parameter or a formula of them."
        if what:
            problems.append(Problem("body", body, f"{key} is {raw!r:.60}, {what}", remedy, key))
    if problems:
        raise ModelError(problems)


def _is_number(raw: Any) -> bool:
    return isinstance(raw, (Real, Symbolic))


def diagonal(xx: Any, yy: Any, zz: Any) -> Matrix:
    """The inertia matrix with these moments of inertia and no products of inertia."""
    return ((xx, 0.0, 0.0), (0.0, yy, 0.0), (0.0, 0.0, zz))
