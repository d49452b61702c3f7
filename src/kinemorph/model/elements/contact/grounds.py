"""The ground that bodies touch: parts of contacts, all of them at rest in the world.

Plane             level or sloped, without end
HeightMap         terrain from heights on a regular grid
HeightFunction    terrain from a Python function z = f(x, y)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from kinemorph.model.body import Vector


@dataclass(frozen=True)
class Plane:
    """All points below the plane through `point` [m] are ground; `normal`, of any length, points out of it."""

    point: Vector = field(default=(0.0, 0.0, 0.0), metadata={"kind": "length"})
    normal: Vector = (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class HeightMap:
    """Terrain through heights on a regular grid: heights[i][j] [m] is that at x = x0 + i dx, y = y0 + j dy.

    `corner` is (x0, y0) and `spacing` (dx, dy) [m]. In between the height is a bicubic spline with continuous
    curvature, level across its edges, so that it continues level and without a kink beyond them.
    """

    heights: tuple[tuple[float, ...], ...] = field(metadata={"kind": "length"})
    spacing: tuple[float, float] = field(default=(1.0, 1.0), metadata={"kind": "length"})
    corner: tuple[float, float] = field(default=(0.0, 0.0), metadata={"kind": "length"})


@dataclass(frozen=True)
class HeightFunction:
    """Terrain of the height z = height(x, y) [m], a smooth function written for any scalar.

    It is traced, not called during a run: use the functions of kinemorph.algebra.scalar, and `where` for `if`.
    """

    height: Callable[[Any, Any], Any]


Ground: TypeAlias = Plane | HeightMap | HeightFunction
