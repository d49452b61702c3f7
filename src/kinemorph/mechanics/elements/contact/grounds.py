"""The shape of the ground: the height of a point above it, and its normal.

Above terrain the nearest point of z = f(x, y) is found by Newton's method on

    (x - p_x) + (f - p_z) f_x = 0,   (y - p_y) + (f - p_z) f_y = 0

in a fixed number of steps, so that it stays an expression. The nearest point is never farther away than the ground
right below p, which bounds the search. With the nearest point, the height is a distance whose gradient is the normal,
so that springs in the ground conserve energy to rounding. Derivatives of f are exact, by dual numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from kinemorph.algebra.dual import Dual
from kinemorph.algebra.scalar import S, absolute, div, floor, less, maximum, minimum, sqrt, where
from kinemorph.algebra.tables import lookup
from kinemorph.algebra.turns import Vec3
from kinemorph.algebra.vectors import dot, scale, sub
from kinemorph.mechanics.elements.checks import wrong
from kinemorph.mechanics.recursions.kinematics import tangent_of
from kinemorph.model.elements.contact.grounds import HeightFunction, HeightMap, Plane
from kinemorph.model.parameter import evaluate_all
from kinemorph.vocabulary.blocks import Table
from kinemorph.words import listed

STEPS = 5  # steps of Newton's method: enough for spheres of half the ground's radius of curvature
STEEP = 0.1  # the least determinant in a Newton step; it is small where the ground curves as sharply as the sphere
FOUND = 1e-6  # relative to the distance to the ground below: the largest error of a nearest point that is accepted


class Meeting(NamedTuple):
    """The height of a point over the ground, and the ground's normal."""

    height: S  # above the ground [m], below 0 inside it
    normal: Vec3  # of length 1, out of the ground, in world axes


Surface = Callable[[Sequence[S]], Meeting]  # position in the world [m] -> height and normal


def surface(ground: Any, value: Callable[[Any], Any] = evaluate_all) -> Surface:
    """The height over the ground as a function of position; `value` looks up parameters in the ground's data."""
    return _SURFACES[type(ground)](ground, value)


def _plane(ground: Plane, value: Callable[[Any], Any]) -> Surface:
    point, normal = value((ground.point, ground.normal))
    n = scale(div(1.0, sqrt(dot(normal, normal))), normal)
    level = dot(n, point)
    return lambda position: Meeting(dot(n, position) - level, (n[0], n[1], n[2]))


def _function(ground: HeightFunction, value: Callable[[Any], Any]) -> Surface:
    return lambda position: nearest(ground.height, position)


def _map(ground: HeightMap, value: Callable[[Any], Any]) -> Surface:
    return lambda position: nearest(interpolated(ground), position)


_SURFACES: dict[type, Callable[[Any, Callable[[Any], Any]], Surface]] = {
    Plane: _plane,
    HeightFunction: _function,
    HeightMap: _map,
}


# ── terrain ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def nearest(height: Callable[[S, S], S], position: Sequence[S]) -> Meeting:
    """The height of a point over the terrain z = height(x, y), and the normal at the nearest point.

    Where Newton's method has not converged, the height is that over the tangent plane right below the point.
    """
    px, py, pz = position
    f, fx, fy = slopes(height, px, py)
    below = pz - f
    reach = absolute(below)
    flat = div(below, sqrt(1.0 + fx * fx + fy * fy))
    x, y = px, py
    for _ in range(STEPS):
        f, fx, fy, fxx, fxy, fyy = curvatures(height, x, y)
        gap = f - pz
        rx, ry = x - px + gap * fx, y - py + gap * fy
        a, b, d = 1.0 + fx * fx + gap * fxx, fx * fy + gap * fxy, 1.0 + fy * fy + gap * fyy
        det = maximum(a * d - b * b, STEEP)
        x = px + _within(x - px - div(d * rx - b * ry, det), reach)
        y = py + _within(y - py - div(a * ry - b * rx, det), reach)
    f, fx, fy = slopes(height, x, y)
    off = absolute(x - px + (f - pz) * fx) + absolute(y - py + (f - pz) * fy)
    length = div(1.0, sqrt(1.0 + fx * fx + fy * fy))
    n = (-fx * length, -fy * length, length)
    found = less(off, FOUND * (reach + 1e-9))
    return Meeting(where(found, dot(n, sub(position, (x, y, f))), flat), n)


def _within(x: S, bound: S) -> S:
    return minimum(maximum(x, -bound), bound)


def slopes(height: Callable[[S, S], S], x: S, y: S) -> tuple[S, S, S]:
    """(f, f_x, f_y): the height function f = height(x, y) and its first derivatives."""
    level = 1 + max(getattr(x, "level", 0), getattr(y, "level", 0))
    along_x = height(Dual(x, 1.0, level), Dual(y, 0.0, level))
    along_y = height(Dual(x, 0.0, level), Dual(y, 1.0, level))
    return _value(along_x, level), tangent_of(along_x, level), tangent_of(along_y, level)


def curvatures(height: Callable[[S, S], S], x: S, y: S) -> tuple[S, S, S, S, S, S]:
    """(f, f_x, f_y, f_xx, f_xy, f_yy): the height function f = height(x, y), its first and second derivatives."""
    level = 1 + max(getattr(x, "level", 0), getattr(y, "level", 0))
    along_x = slopes(height, Dual(x, 1.0, level), Dual(y, 0.0, level))
    along_y = slopes(height, Dual(x, 0.0, level), Dual(y, 1.0, level))
    f, fx, fy = (_value(one, level) for one in along_x)
    return f, fx, fy, tangent_of(along_x[1], level), tangent_of(along_x[2], level), tangent_of(along_y[2], level)


def _value(x: S, level: int) -> S:
    return x.value if isinstance(x, Dual) and x.level == level else x


def interpolated(ground: HeightMap) -> Callable[[S, S], S]:
    """The height of the ground as a function of x and y: splines in x along the grid's rows, cubics in y between rows.

    Between the rows j and j + 1 it is Hermite's cubic of the heights h and the slopes m (by y) in these rows. All rows,
    of h and then of m, are stored one after another in one table, so that an offset in the argument selects the row.
    """
    table, (nx, ny) = _rows(ground), (len(ground.heights), len(ground.heights[0]))
    (dx, dy), (x0, y0) = ground.spacing, ground.corner

    def height(x: S, y: S) -> S:
        u, v = _between((x - x0) / dx, nx - 1.0), _between((y - y0) / dy, ny - 1.0)
        j = minimum(floor(v), ny - 2.0)
        t, at = v - j, u + j * float(nx)
        h0, h1, m0, m1 = (lookup(table, at + row * float(nx)) for row in (0, 1, ny, ny + 1))
        turned = 1.0 - t
        return turned * turned * ((1.0 + 2.0 * t) * h0 + t * m0) + t * t * ((3.0 - 2.0 * t) * h1 - turned * m1)

    return height


def _between(x: S, top: float) -> S:
    return minimum(maximum(x, 0.0), top)


@lru_cache(maxsize=32)
def _rows(ground: HeightMap) -> Table:
    """The splines in x of all rows of heights, then of slopes, one after another; the unit of x is one grid cell."""
    from scipy.interpolate import CubicSpline

    heights = np.array(ground.heights, dtype=float)
    nx, ny = heights.shape
    tilts = CubicSpline(np.arange(ny), heights, axis=1, bc_type="clamped")(np.arange(ny), 1)
    rows = np.concatenate([heights.T, tilts.T])
    pieces = []
    for row in rows:
        spline = CubicSpline(np.arange(nx), row, bc_type="clamped")
        pieces += [tuple(map(float, c)) for c in spline.c[::-1].T] + [(float(row[-1]), 0.0, 0.0, 0.0)]
    places = tuple(map(float, range(len(pieces))))
    return Table(places[1:], places, tuple(pieces))


# ── checks ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def ground_problems(name: str, ground: Any) -> list[str]:
    """Problems of the ground of the element with this name, one sentence each."""
    if type(ground) not in _SURFACES:
        known = listed(kind.__name__ for kind in _SURFACES)
        return [wrong(name, f"ground is {ground!r}; expected one of {known}", "Correct it.", "ground")]
    return _PROBLEMS[type(ground)](name, ground)


def _plane_problems(name: str, ground: Plane) -> list[str]:
    numbers = [float(x) for x in (*evaluate_all(ground.point), *evaluate_all(ground.normal))]
    if not all(map(math.isfinite, numbers)):
        return [wrong(name, f"ground: it is {ground}; expected finite numbers", "Correct them.", "ground")]
    if math.hypot(*numbers[3:]) == 0.0:
        problem = "ground: the normal of the plane is zero; expected a direction out of the ground"
        return [wrong(name, problem, "Correct it.", "ground")]
    return []


def _function_problems(name: str, ground: HeightFunction) -> list[str]:
    if not callable(ground.height):
        problem = f"ground: height is {ground.height!r}; expected a function of x and y that gives z"
        return [wrong(name, problem, "Correct it.", "ground")]
    return []


def _map_problems(name: str, ground: HeightMap) -> list[str]:
    heights = ground.heights
    sizes = sorted({len(row) for row in heights})
    if len(heights) < 2 or not sizes or sizes[0] < 2:
        shape = f"{len(heights)} x {sizes[0] if sizes else 0}"
        problem = f"ground has {shape} heights; expected at least 2 x 2"
        return [wrong(name, problem, "Give more heights, or use a Plane.", "ground")]
    if len(sizes) > 1:
        problem = f"ground has rows of {sizes[0]} and of {sizes[-1]} heights; expected a regular grid"
        return [wrong(name, problem, "Give every row the same number of heights.", "ground")]
    for i, row in enumerate(heights):
        for j, z in enumerate(row):
            if not isinstance(z, (int, float)) or not math.isfinite(z):
                problem = f"ground has a hole: heights[{i}][{j}] is {z}; expected a finite height"
                return [wrong(name, problem, "Fill it in.", "ground")]
    if not all(0.0 < step < math.inf for step in ground.spacing) or not all(map(math.isfinite, ground.corner)):
        problem = (
            f"ground has spacing {ground.spacing} and corner {ground.corner}; expected a spacing above 0 [m] and a "
            "finite corner [m]"
        )
        return [wrong(name, problem, "Correct it.", "ground")]
    return []


_PROBLEMS: dict[type, Callable[[str, Any], list[str]]] = {
    Plane: _plane_problems,
    HeightFunction: _function_problems,
    HeightMap: _map_problems,
}
