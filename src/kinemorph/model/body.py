"""A rigid body: mass, center of mass, rotational inertia about the center of mass, and shapes to draw.

All quantities are in the body's own frame. The class methods make uniform solids; each takes the position of the center
[m] of the solid, whose axis is along z unless `axis` says otherwise. They only fill in the numbers: whether
these are possible is checked when the robot is built.
"""

from __future__ import annotations

from dataclasses import field, replace
from numbers import Real
from typing import Any, TypeAlias

from kinemorph.algebra.groups import IDENTITY, Pose, act, compose
from kinemorph.algebra.inertia import shifted
from kinemorph.algebra.vectors import mat_add, matmul, sub, total, transpose
from kinemorph.errors import ModelError, Problem
from kinemorph.frozen import dataclass
from kinemorph.model.parameter import Symbolic, Value, evaluate
from kinemorph.model.shapes import (
    GRAPHITE,
    ORANGE,
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    HalfEllipsoid,
    Line,
    Shape,
    Sphere,
)

Vector: TypeAlias = tuple[Value, Value, Value]
Matrix: TypeAlias = tuple[Vector, Vector, Vector]

ORIGIN: Vector = (0.0, 0.0, 0.0)
NO_INERTIA: Matrix = (ORIGIN, ORIGIN, ORIGIN)
VECTORS = ("size", "radii", "center", "position")  # arguments of solids that are three numbers
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
    mass: Value = field(default=0.0, metadata={"kind": "mass"})
    com: Vector = field(default=ORIGIN, metadata={"kind": "length"})
    inertia: Matrix = field(default=NO_INERTIA, metadata={"kind": "inertia"})
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

    @classmethod
    def ellipsoid(cls, name: str, mass: Any, radii: Any, center: Any = ORIGIN) -> Body:
        """A uniform ellipsoid with `radii` [m] along x, y, z: inertia m (b^2 + c^2) / 5 about x, and so on."""
        _check(name, mass=mass, radii=radii, center=center)
        solid = Ellipsoid(tuple(radii), Pose(IDENTITY.R, tuple(center)))
        return cls(name, mass, tuple(center), diagonal(*_ellipsoid_moments(mass, radii)), (solid,))

    @classmethod
    def half_ellipsoid(cls, name: str, mass: Any, radii: Any, center: Any = ORIGIN, *, axis: str = "z") -> Body:
        """A uniform half ellipsoid: `radii` [m] of its flat face along two axes, then its height along `axis`.

        `center` [m] is the middle of the flat face; the center of mass is 3/8 of the height away from it. For the axis
        "z" the radii are along x, y and z; for "x" along z, y and x; for "y" along x, z and y.
        """
        _check(name, mass=mass, radii=radii, center=center, axis=axis)
        lift = 0.375 * radii[2]
        across = mass * lift * lift
        one, two, along = _ellipsoid_moments(mass, radii)  # about the flat face as those of the whole ellipsoid
        places = {"x": (2, 1, 0), "y": (0, 2, 1), "z": (0, 1, 2)}[axis]
        moments = [(one - across, two - across, along)[k] for k in places]
        com = tuple(x + lift if k == AXES[axis] else x for k, x in enumerate(center))
        solid = HalfEllipsoid(tuple(radii), Pose(STANDING[axis], tuple(center)))
        return cls(name, mass, com, diagonal(*moments), (solid,))

    @classmethod
    def joined(cls, name: str, solids: Any) -> Body:
        """Several solids as one rigid body, with the shapes of all: a list of bodies, or of pairs (body, pose).

        A pose places the frame of its body in the frame of the new one; without a pose both are the same.
        """
        pairs = [_placed(name, one) for one in solids] if isinstance(solids, (list, tuple)) else []
        if not pairs:
            what = f"solids is {solids!r:.60}, expected a list of bodies"
            raise ModelError([Problem("body", name, what, "Give at least one body, such as Body.box(...).", "solids")])
        mass = total(body.mass for body, _ in pairs)
        centers = [act(pose, body.com) for body, pose in pairs]
        if evaluate(mass) == 0.0:
            com = centers[0]
        else:
            com = tuple(
                total(body.mass * x[k] for (body, _), x in zip(pairs, centers, strict=True)) / mass for k in range(3)
            )
        inertia: Any = NO_INERTIA
        for (body, pose), center in zip(pairs, centers, strict=True):
            turned = matmul(matmul(pose.R, body.inertia), transpose(pose.R)) if pose.R != IDENTITY.R else body.inertia
            inertia = mat_add(inertia, mat_add(turned, shifted(body.mass, sub(center, com))))
        shapes, collisions = (
            tuple(
                replace(shape, placement=compose(pose, shape.placement))
                for body, pose in pairs
                for shape in getattr(body, kind)
            )
            for kind in ("shapes", "collisions")
        )
        return cls(name, mass, com, inertia, shapes, collisions)


def _placed(name: str, raw: Any) -> tuple[Body, Pose]:
    """A solid of `Body.joined`, and its pose."""
    body, pose = raw if isinstance(raw, (list, tuple)) and len(raw) == 2 else (raw, IDENTITY)
    if not isinstance(body, Body) or not isinstance(pose, Pose):
        what = f"solids contains {raw!r:.60}, expected a body, or a pair of a body and a Pose"
        raise ModelError([Problem("body", name, what, "Make it by Body.box(...) or another solid.", "solids")])
    return body, pose


def _ellipsoid_moments(mass: Any, radii: Any) -> tuple[Any, Any, Any]:
    """The moments of inertia [kg m^2] of a uniform ellipsoid about its axes; of half of one, about its flat face."""
    xx, yy, zz = (radius * radius for radius in radii)
    return mass * (yy + zz) / 5.0, mass * (xx + zz) / 5.0, mass * (xx + yy) / 5.0


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
