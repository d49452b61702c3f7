"""Shapes of wheels and of bars between points, and a bump to drive over, for vehicles of the library."""

from __future__ import annotations

import math
from collections.abc import Sequence

from kinemorph.algebra.groups import Pose
from kinemorph.model.body import STANDING
from kinemorph.model.elements.contact.grounds import HeightMap
from kinemorph.model.library.bars import Place
from kinemorph.model.shapes import GRAPHITE, ORANGE, Capsule, Color, Cylinder, Shape


def between(origin: Sequence[float], point: Sequence[float]) -> Place:
    """The vector from one point to another [m]."""
    x, y, z = (float(b - a) for a, b in zip(origin, point, strict=True))
    return (x, y, z)


def bar(start: Sequence[float], end: Sequence[float], radius: float, color: Color) -> Capsule:
    """A bar of `radius` [m] between two points [m] in the axes of its body."""
    length = math.dist(start, end)
    z = [(v - u) / length for u, v in zip(start, end, strict=True)]
    least = min(range(3), key=lambda k: abs(z[k]))
    x = [float(k == least) - z[least] * z[k] for k in range(3)]  # normal to z
    size = math.hypot(*x)
    x = [part / size for part in x]
    y = (z[1] * x[2] - z[2] * x[1], z[2] * x[0] - z[0] * x[2], z[0] * x[1] - z[1] * x[0])
    R = tuple((x[k], y[k], z[k]) for k in range(3))
    middle = tuple(0.5 * (u + v) for u, v in zip(start, end, strict=True))
    return Capsule(radius, length, Pose(R, middle), color)


def wheel_shapes(radius: float, width: float) -> list[Shape]:
    """A wheel around the y axis, with a bar across it that shows how it turns."""
    spoke = bar((-0.9 * radius, 0.0, 0.0), (0.9 * radius, 0.0, 0.0), 0.55 * width, ORANGE)
    return [Cylinder(radius, width, Pose(STANDING["y"], (0.0, 0.0, 0.0)), GRAPHITE), spoke]


def ridge(height: float, width: float, rise: float = 0.0) -> HeightMap:
    """Ground with a smooth bump across x = 0: z = rise x + height exp(-x^2 / (2 width^2)) [m].

    Its points are width / 4 apart. Ground that rises does so over 200 widths to both sides, and is level beyond.
    """
    step, count = 0.25 * width, 800 if rise else 28
    places = [step * k for k in range(-count, count + 1)]
    heights = [rise * x + height * math.exp(-0.5 * (x / width) ** 2) for x in places]
    return HeightMap(tuple((z, z) for z in heights), (step, 1.0), (places[0], -0.5))
