"""The shape of the ground: the height of a point above it, and its normal.

Above terrain the nearest point of z = f(x, y) is found by Newton's method on

    (x - p_x) + (f - p_z) f_x = 0,   (y - p_y) + (f - p_z) f_y = 0

The nearest point is never farther away than the ground right below p, which bounds the search. With the nearest point,
the height is a distance whose gradient is the normal, so that springs in the ground conserve energy up to rounding.

HeightFunction    the user's function is traced: its derivatives are exact, by dual numbers, and the number of steps is
                  fixed, so that it stays an expression
HeightMap         blocks of `vocabulary.grid_surfaces`: cells are looked up by index in data, and Newton's method ends
                  when it has converged. For a body above the highest ground there is no search: its height is the
                  vertical distance to the ground below
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.dual import Direction
from kinemorph.algebra.linear import applied
from kinemorph.algebra.scalar import S, absolute, div, less, maximum, minimum, sqrt, where
from kinemorph.algebra.turns import Vec3
from kinemorph.algebra.vectors import dot, scale, sub
from kinemorph.mechanics.elements.checks import wrong
from kinemorph.model.elements.contact.grounds import HeightFunction, HeightMap, Plane
from kinemorph.model.input_reader import short
from kinemorph.model.parameter import evaluate_all
from kinemorph.vocabulary.frozen_array import FrozenArray
from kinemorph.vocabulary.grid_surfaces import STEPS, Bicubic, Grid, NearestPoint, newton_step

FOUND = 1e-6  # relative to the distance to the ground below: the largest error of a nearest point that is accepted


class Meeting(NamedTuple):
    """The height of a point over the ground, and the ground's normal."""

    height: S  # above the ground [m], below 0 inside it
    normal: Vec3  # of length 1, out of the ground, in world axes


class Surface(Protocol):
    """The height and the normal of the ground at a position in the world [m].

    `radius` [m]: the largest distance from the position at which the body can touch the ground.
    """

    def __call__(self, position: Sequence[S], radius: S = 0.0) -> Meeting: ...


def surface(ground: Any, value: Callable[[Any], Any] = evaluate_all) -> Surface:
    """The height over the ground as a function of position; `value` looks up parameters in the ground's data."""
    return _SURFACES[type(ground)](ground, value)


def _plane(ground: Plane, value: Callable[[Any], Any]) -> Surface:
    point, normal = value((ground.point, ground.normal))
    n = scale(div(1.0, sqrt(dot(normal, normal))), normal)
    level = dot(n, point)
    return lambda position, radius=0.0: Meeting(dot(n, position) - level, (n[0], n[1], n[2]))


def _function(ground: HeightFunction, value: Callable[[Any], Any]) -> Surface:
    return lambda position, radius=0.0: nearest(ground.height, position)


def _map(ground: HeightMap, value: Callable[[Any], Any]) -> Surface:
    grid, top = spline_grid(ground)
    lookup, search = Bicubic(grid, 1), NearestPoint(grid, top)

    def meeting(position: Sequence[S], radius: S = 0.0) -> Meeting:
        px, py, pz = position
        x, y, searched, *below = applied(search, [px, py, pz, radius])
        height, normal = _met(position, below, (x, y), applied(lookup, [x, y]))
        return Meeting(where(searched, height, pz - below[0]), normal)

    return meeting


_SURFACES: dict[type, Callable[[Any, Callable[[Any], Any]], Surface]] = {
    Plane: _plane,
    HeightFunction: _function,
    HeightMap: _map,
}


# ── terrain ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def nearest(height: Callable[[S, S], S], position: Sequence[S]) -> Meeting:
    """The height of a point over the terrain z = height(x, y), and the normal at the nearest point."""
    px, py, pz = position
    below = slopes(height, px, py)
    reach = absolute(pz - below[0])
    x, y = px, py
    for _ in range(STEPS):
        found = curvatures(height, x, y)
        x, y, *_ = newton_step(position, (x, y), found, reach, minimum=minimum, maximum=maximum)
    return _met(position, below, (x, y), slopes(height, x, y))


def _met(position: Sequence[S], below: Sequence[S], place: Sequence[S], foot: Sequence[S]) -> Meeting:
    """The height of a point over terrain, and the normal at `place`, which Newton's method found as the nearest point.

    `below` and `foot` are (f, f_x, f_y), the terrain's height and slopes, right below the point and at `place`. Where
    Newton's method has not converged, the height is that over the tangent plane right below the point.
    """
    (px, py, pz), (x, y) = position, place
    gap = pz - below[0]
    flat = div(gap, sqrt(1.0 + below[1] * below[1] + below[2] * below[2]))
    f, fx, fy = foot
    off = absolute(x - px + (f - pz) * fx) + absolute(y - py + (f - pz) * fy)
    length = div(1.0, sqrt(1.0 + fx * fx + fy * fy))
    n = (-fx * length, -fy * length, length)
    found = less(off, FOUND * (absolute(gap) + 1e-9))
    return Meeting(where(found, dot(n, sub(position, (x, y, f))), flat), n)


def slopes(height: Callable[[S, S], S], x: S, y: S) -> tuple[S, S, S]:
    """(f, f_x, f_y): the height function f = height(x, y) and its first derivatives."""
    along = Direction()
    along_x, along_y = height(along.moved(x), y), height(x, along.moved(y))
    return along.value(along_x), along.tangent(along_x), along.tangent(along_y)


def curvatures(height: Callable[[S, S], S], x: S, y: S) -> tuple[S, S, S, S, S, S]:
    """(f, f_x, f_y, f_xx, f_xy, f_yy): the height function f = height(x, y), its first and second derivatives."""
    along = Direction()
    along_x, along_y = slopes(height, along.moved(x), y), slopes(height, x, along.moved(y))
    f, fx, fy = along.values(along_x)
    return f, fx, fy, along.tangent(along_x[1]), along.tangent(along_x[2]), along.tangent(along_y[2])


def interpolated(ground: HeightMap) -> Callable[[S, S], S]:
    """The height of the ground as a function of x and y: a bicubic spline with continuous curvature."""
    lookup = Bicubic(spline_grid(ground)[0])
    return lambda x, y: applied(lookup, [x, y])[0]


@lru_cache(maxsize=32)
def spline_grid(ground: HeightMap) -> tuple[Grid, float]:
    """(the spline of a height map as heights and slopes at the grid points, a height that it does not exceed [m])."""
    heights = np.array(ground.heights, dtype=float)
    by_x, by_y = spline_slopes(heights, 0), spline_slopes(heights, 1)
    nodes = FrozenArray(np.stack([heights, by_x, by_y, spline_slopes(by_y, 0)], axis=-1))
    (dx, dy), (x0, y0) = ground.spacing, ground.corner
    grid = Grid(nodes, (float(dx), float(dy)), (float(x0), float(y0)))
    return grid, grid.top


def spline_slopes(values: Array, axis: int) -> Array:
    """The slopes s at the nodes of cubic splines along an axis, per grid line: zero at both ends, and in between

        s[i-1] + 4 s[i] + s[i+1] = 3 (f[i+1] - f[i-1])

    so that the curvature is continuous; f are the `values` at the nodes. The equations are solved by elimination, for
    all splines at once.
    """
    f = np.ascontiguousarray(np.moveaxis(values, axis, 0))
    last = len(f) - 1
    s, c = np.zeros_like(f), np.zeros(len(f))
    for i in range(1, last):
        c[i] = 1.0 / (4.0 - c[i - 1])
        s[i] = c[i] * (3.0 * (f[i + 1] - f[i - 1]) - s[i - 1])
    for i in range(last - 1, 0, -1):
        s[i] -= c[i] * s[i + 1]
    return np.moveaxis(s, 0, axis)


# ── checks ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def ground_problems(name: str, ground: Any, *, carried: bool = False) -> list[str]:
    """Problems of the ground of the element with this name, one sentence each.

    `carried` says that the ground may be a plane on a body, as for rigid contacts.
    """
    if isinstance(ground, Plane) and ground.on != "world" and not carried:
        problem = f"ground: the plane is on '{ground.on}'; expected 'world', except for rigid contacts"
        return [wrong(name, problem, "Use normal=Rigid(...), or leave `on` out.", "ground")]
    return _PROBLEMS[type(ground)](name, ground)


def _plane_problems(name: str, ground: Plane) -> list[str]:
    if not any(evaluate_all(ground.normal)):
        problem = "ground: the normal of the plane is zero; expected a direction out of the ground"
        return [wrong(name, problem, "Give (0, 0, 1) for a horizontal plane.", "ground")]
    return []


def _function_problems(name: str, ground: HeightFunction) -> list[str]:
    if not callable(ground.height):
        problem = f"ground: height is {ground.height!r}; expected a function of x and y that gives z"
        return [wrong(name, problem, "Write such a function, or use a HeightMap.", "ground")]
    return []


def _map_problems(name: str, ground: HeightMap) -> list[str]:
    heights = ground.heights
    if not isinstance(heights, FrozenArray):
        return [wrong(name, _ragged(heights), "Give every row the same number of heights.", "ground")]
    if min(heights.shape) < 2:
        nx, ny = heights.shape
        problem = f"ground has {nx} x {ny} heights; expected at least 2 x 2"
        return [wrong(name, problem, "Give more heights, or use a Plane.", "ground")]
    holes = np.argwhere(~np.isfinite(heights.array))
    if len(holes):
        i, j = holes[0].tolist()
        problem = f"ground has a hole: heights[{i}][{j}] is {heights[i][j]}; expected a finite height"
        return [wrong(name, problem, "Fill it in.", "ground")]
    return []


def _ragged(heights: Any) -> str:
    """The text of the problem of heights that do not form a 2-D array of numbers."""
    try:
        sizes = sorted({len(row) for row in heights})
    except TypeError:  # it has no rows
        sizes = []
    if len(sizes) > 1:
        return f"ground has rows of {sizes[0]} and of {sizes[-1]} heights; expected a regular grid"
    return f"ground has the heights {short(heights)}; expected rows of numbers [m], as many in each row"


_PROBLEMS: dict[type, Callable[[str, Any], list[str]]] = {
    Plane: _plane_problems,
    HeightFunction: _function_problems,
    HeightMap: _map_problems,
}
