"""Volume, principal moments per mass and center of mass of uniform solids, for links whose inertia is computed.

Each function takes a radius, a length and three spans [m], which are the edges of a box or the radii of an ellipsoid,
and uses those that its solid has. The axis of a solid is z.
"""

from __future__ import annotations

import math
from collections.abc import Callable

# volume [m^3], principal moments per mass [m^2], height of the center of mass [m]
Solid = tuple[float, tuple[float, float, float], float]
SPANS = {"box": "size", "ellipsoid": "radii"}  # the elements of SDF that give the three spans


def _box(radius: float, length: float, size: tuple[float, ...]) -> Solid:
    xx, yy, zz = (edge * edge / 12.0 for edge in size)
    return math.prod(size), (yy + zz, xx + zz, xx + yy), 0.0


def _ellipsoid(radius: float, length: float, radii: tuple[float, ...]) -> Solid:
    xx, yy, zz = (r * r / 5.0 for r in radii)
    return 4.0 / 3.0 * math.pi * math.prod(radii), (yy + zz, xx + zz, xx + yy), 0.0


def _sphere(radius: float, length: float, spans: tuple[float, ...]) -> Solid:
    return _ellipsoid(radius, length, (radius, radius, radius))


def _cylinder(radius: float, length: float, spans: tuple[float, ...]) -> Solid:
    across = (3.0 * radius**2 + length**2) / 12.0
    return math.pi * radius**2 * length, (across, across, radius**2 / 2.0), 0.0


def _cone(radius: float, length: float, spans: tuple[float, ...]) -> Solid:
    across = 3.0 / 80.0 * (4.0 * radius**2 + length**2)
    return math.pi * radius**2 * length / 3.0, (across, across, 0.3 * radius**2), -length / 4.0


def _capsule(radius: float, length: float, spans: tuple[float, ...]) -> Solid:
    """A cylinder with a half ball at each end, whose center of mass is 3/8 of the radius outside the end."""
    tube, ball = math.pi * radius**2 * length, 4.0 / 3.0 * math.pi * radius**3
    volume = tube + ball
    if not volume > 0.0:
        return volume, (0.0, 0.0, 0.0), 0.0
    along = (tube * radius**2 / 2.0 + ball * 0.4 * radius**2) / volume
    # half balls: 83/320 r^2 about their own centers of mass, then shifted to the center of the capsule
    ends = ball * (83.0 / 320.0 * radius**2 + (length / 2.0 + 0.375 * radius) ** 2)
    across = (tube * (3.0 * radius**2 + length**2) / 12.0 + ends) / volume
    return volume, (across, across, along), 0.0


SOLIDS: dict[str, Callable[[float, float, tuple[float, ...]], Solid]] = {
    "box": _box,
    "ellipsoid": _ellipsoid,
    "sphere": _sphere,
    "cylinder": _cylinder,
    "cone": _cone,
    "capsule": _capsule,
}
