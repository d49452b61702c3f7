"""The ground for contacts; all grounds are at rest in the world.

Plane             an infinite plane, level or sloped
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
    """Ground below the plane through `point` [m]; the vector `normal`, of any length, points out of the ground."""

    point: Vector = field(default=(0.0, 0.0, 0.0), metadata={"kind": "length"})
    normal: Vector = (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class HeightMap:
    """Terrain given by heights on a regular grid: heights[i][j] [m] is the height at x = x0 + i dx, y = y0 + j dy.

    `corner` is (x0, y0) and `spacing` is (dx, dy) [m]. Between the grid points the height is a bicubic spline with
    continuous curvature. Its slope across the edges of the grid is 0; beyond them the height stays constant.
    """

    heights: tuple[tuple[float, ...], ...] = field(metadata={"kind": "length"})
    spacing: tuple[float, float] = field(default=(1.0, 1.0), metadata={"kind": "length"})
    corner: tuple[float, float] = field(default=(0.0, 0.0), metadata={"kind": "length"})


@dataclass(frozen=True)
class HeightFunction:
    """Terrain of height z = height(x, y) [m], a smooth function.

    The function is traced once, not called during a run: it has to use the functions of kinemorph.algebra.scalar, and
    `where` instead of `if`.
    """

    height: Callable[[Any, Any], Any]


Ground: TypeAlias = Plane | HeightMap | HeightFunction
