"""The ground for contacts; it is at rest in the world, but a plane may also be a surface of a body.

Plane             an infinite plane, level or sloped
HeightMap         terrain from heights on a regular grid
HeightFunction    terrain from a Python function z = f(x, y)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from kinemorph.model.body import Vector
from kinemorph.model.elements.declared import declaration, declared
from kinemorph.vocabulary.frozen_array import FrozenArray

Heights: TypeAlias = tuple[tuple[float, ...], ...] | FrozenArray | np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Plane:
    """Ground below the plane through `point` [m]; the vector `normal`, of any length, points out of the ground.

    With `on`, the name of a body or frame, the plane moves with it: `point` and `normal` are in its axes, and a contact
    pushes this body back. This is for rigid contacts only.
    """

    point: Vector = declared((0.0, 0.0, 0.0), "length")
    normal: Vector = declared((0.0, 0.0, 1.0), "number")
    on: str = "world"


ALONG = "Heights go along growing x and y: turn descending ones around, as heights[::-1], and give the smallest corner."


@dataclass(frozen=True)
class HeightMap:
    """Terrain given by heights on a regular grid: heights[i][j] [m] is the height at x = x0 + i dx, y = y0 + j dy.

    `corner` is (x0, y0) and `spacing` is (dx, dy) [m]. Between the grid points the height is a bicubic spline with
    continuous curvature. Its slope across the edges of the grid is 0; beyond them the height stays constant.

    Heights may be given as nested tuples or lists, or as an array of shape (nx, ny). A read-only copy is kept. Programs
    refer to it and do not contain it, so that a map of millions of heights compiles as fast as a small one, and all
    robots of a batch share it.
    """

    heights: Heights = field(metadata=declaration("length"))
    spacing: tuple[float, float] = declared((1.0, 1.0), "length", above=0.0, give=ALONG)
    corner: tuple[float, float] = declared((0.0, 0.0), "length")

    def __post_init__(self) -> None:
        """Freezes the heights; those that are no regular grid of numbers stay as they are, and are reported later."""
        frozen = FrozenArray.read(self.heights, axes=2)
        if frozen is not None:
            object.__setattr__(self, "heights", frozen)


@dataclass(frozen=True)
class HeightFunction:
    """Terrain of height z = height(x, y) [m], a smooth function.

    The function is traced once, not called during a run: it has to use the functions of kinemorph.algebra.scalar, and
    `where` instead of `if`.
    """

    height: Callable[[Any, Any], Any]


Ground: TypeAlias = Plane | HeightMap | HeightFunction
