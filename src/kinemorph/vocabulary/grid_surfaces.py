"""Blocks of a smooth surface z = f(x, y) over a regular grid, and of its nearest points.

    Bicubic         f and its partial derivatives at (x, y), from one look-up of a cell
    NearestPoint    the point of the surface that is nearest to a point above or below it

With u = (x - x0) / dx and v = (y - y0) / dy, the point (x, y) lies in the cell with the indices floor(u) and floor(v),
so no search is needed. In a cell f is the bicubic Hermite polynomial of f, f_u, f_v and f_uv at its four corners.
Beyond an edge of the grid f is constant in the direction away from the edge. The numbers at the nodes are data outside
the programs, which refer to them.

The point of the surface that Newton's method has reached is called the foot, with coordinates (x, y).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from kinemorph.frozen import dataclass
from kinemorph.vocabulary.blocks import Block
from kinemorph.vocabulary.frozen_array import FrozenArray

S = Any

STEPS = 5  # most steps of Newton's method: enough for spheres of half the surface's radius of curvature
STEEP = 0.1  # the least determinant of a step, where the surface bends as sharply as the sphere does
NEAR = (
    1e-7  # of the distance to the surface below: after a step that is shorter than this, rounding is all that is left
)


class Grid(NamedTuple):
    """A regular grid: `corner` (x0, y0), `spacing` (dx, dy), and f, f_u, f_v, f_uv at its nodes, shape (nx, ny, 4)."""

    nodes: FrozenArray
    spacing: tuple[float, float]
    corner: tuple[float, float]

    @property
    def key(self) -> str:
        """A text that contains all data of the grid: the nodes by their hash, then spacing and corner."""
        places = (*self.spacing, *self.corner)
        return f"grid {self.nodes.digest} {' '.join(float(place).hex() for place in places)}"

    @property
    def size(self) -> str:
        """The number of nodes along x and y, such as "20 x 30", for printed programs."""
        nx, ny, _ = self.nodes.shape
        return f"{nx} x {ny}"

    @property
    def top(self) -> float:
        """A height that no point of the surface exceeds: the largest f + |f_u|/3 + |f_v|/3 + |f_uv|/9 of all nodes.

        It bounds the coefficients of the cells in Bernstein form, and so the surface.
        """
        weights = np.array([1.0 / 3.0, 1.0 / 3.0, 1.0 / 9.0])
        return float((self.nodes.array[..., 0] + np.abs(self.nodes.array[..., 1:]) @ weights).max())


def partials(order: int) -> list[tuple[int, int]]:
    """(order in x, order in y) of all partial derivatives up to a total order, as listed in `Bicubic`."""
    return [(total - by_y, by_y) for total in range(order + 1) for by_y in range(total + 1)]


@dataclass(frozen=True, eq=False)
class Bicubic(Block):
    """All partial derivatives of z = f(x, y) up to the total `order`: f; f_x, f_y; f_xx, f_xy, f_yy; ..."""

    grid: Grid
    order: int = 0

    @property
    def n_in(self) -> int:
        return 2

    @property
    def n_out(self) -> int:
        return len(partials(self.order))

    @cached_property
    def key(self) -> str:
        return f"bicubic to order {self.order}, {self.grid.key}"

    @property
    def label(self) -> str:
        return f"bicubic on {self.grid.size} nodes to order {self.order}"

    @property
    def cost(self) -> int:
        return 20 + 28 * (self.order + 1) + 7 * self.n_out

    def meaning(self, *args: Any) -> tuple[Any, ...]:
        x, y = np.broadcast_arrays(*(np.asarray(arg, dtype=float) for arg in args))
        with np.errstate(all="ignore"):
            return tuple(_looked_up(self.grid, x, y, self.order))


@dataclass(frozen=True, eq=False)
class NearestPoint(Block):
    """The point (x, y) of z = f(x, y) that is nearest to p, by Newton's method on

        (x - p_x) + (f - p_z) f_x = 0,   (y - p_y) + (f - p_z) f_y = 0

    Takes p_x, p_y, p_z and a radius r; returns x, y, 1.0, and then f, f_x, f_y at (p_x, p_y), right below p. If p is
    higher than `top`, a bound of the surface's height, by more than r, there is no search, and the first three outputs
    are p_x, p_y, 0.0.

    The nearest point is never farther from p than the point of the surface right below p, which bounds the search.
    """

    grid: Grid
    top: float

    @property
    def n_in(self) -> int:
        return 4

    @property
    def n_out(self) -> int:
        return 6

    @cached_property
    def key(self) -> str:
        return f"nearest point below {self.top.hex()}, {self.grid.key}"

    @property
    def label(self) -> str:
        return f"nearest point on {self.grid.size} nodes"

    @property
    def cost(self) -> int:
        return 3 * (Bicubic(self.grid, 2).cost + 40)

    def meaning(self, *args: Any) -> tuple[Any, ...]:
        px, py, pz, radius = np.broadcast_arrays(*(np.asarray(arg, dtype=float) for arg in args))
        with np.errstate(all="ignore"):
            searched = pz - radius <= self.top
            x, y, going = px, py, searched
            below = _looked_up(self.grid, px, py, 1)
            reach = np.abs(pz - below[0])
            for _ in range(STEPS):
                found = _looked_up(self.grid, x, y, 2)
                step = newton_step((px, py, pz), (x, y), found, reach, minimum=np.minimum, maximum=np.maximum)
                x, y = np.where(going, step.x, x), np.where(going, step.y, y)
                going = going & ~((step.moved <= NEAR * reach) & step.regular)
        return x, y, np.where(searched, 1.0, 0.0), *below


# ── formulas, over any scalar ─────────────────────────────────────────────────────────────────────────────────────────


class NewtonStep(NamedTuple):
    """The foot (x, y) after a step, the distance `moved` (|dx| + |dy|), and whether the step was `regular`.

    A step divides by the determinant of its equations. Where this is at most the constant STEEP, the step is not
    regular: it divides by STEEP instead.
    """

    x: S
    y: S
    moved: S
    regular: S


def newton_step(
    p: Sequence[S], foot: Sequence[S], found: Sequence[S], reach: S, *, minimum: Any, maximum: Any
) -> NewtonStep:
    """One step of Newton's method from `foot` (x, y) towards the point of the surface that is nearest to p.

    `found` are f, f_x, f_y, f_xx, f_xy, f_yy at the foot. The new foot differs from (p_x, p_y) by at most `reach` along
    each axis. `minimum` and `maximum` are those of the scalar type.
    """
    (px, py, pz), (x, y) = p, foot
    f, fx, fy, fxx, fxy, fyy = found
    gap = f - pz
    rx, ry = x - px + gap * fx, y - py + gap * fy
    a, b, d = 1.0 + fx * fx + gap * fxx, fx * fy + gap * fxy, 1.0 + fy * fy + gap * fyy
    det = a * d - b * b
    scale = 1.0 / maximum(det, STEEP)
    away_x, away_y = x - px - (d * rx - b * ry) * scale, y - py - (a * ry - b * rx) * scale
    new_x = px + minimum(maximum(away_x, -reach), reach)
    new_y = py + minimum(maximum(away_y, -reach), reach)
    return NewtonStep(new_x, new_y, abs(new_x - x) + abs(new_y - y), det > STEEP)


def hermite(t: S, order: int) -> list[S]:
    """The four cubic Hermite polynomials (of value at 0, slope at 0, value at 1, slope at 1) at t, or their derivatives
    of the given order.
    """
    r = 1.0 - t
    if order == 0:
        return [(1.0 + 2.0 * t) * (r * r), t * (r * r), (t * t) * (3.0 - 2.0 * t), -((t * t) * r)]
    if order == 1:
        return [-6.0 * (t * r), r * (1.0 - 3.0 * t), 6.0 * (t * r), t * (3.0 * t - 2.0)]
    if order == 2:
        return [12.0 * t - 6.0, 6.0 * t - 4.0, 6.0 - 12.0 * t, 6.0 * t - 2.0]
    return [12.0, 6.0, -12.0, 6.0] if order == 3 else [0.0] * 4


def cell_partials(near: Sequence[S], far: Sequence[S], s: S, t: S, rates: Sequence[S], order: int) -> list[S]:
    """The partial derivatives of f up to a total order at the point (s, t) of a cell, ordered as in `partials`.

    s and t run from 0 to 1 across the cell, along x and y. `near` (8,) has f, f_u, f_v, f_uv at the corner (0, 0), then
    at (0, 1); `far` (8,) has them at (1, 0), then at (1, 1). `rates` are du/dx and dv/dy, zero beyond the edges.
    """
    by_x = [hermite(s, k) for k in range(order + 1)]
    by_y = [hermite(t, k) for k in range(order + 1)]
    along = [  # f and f_v at both ends of the line v through the place, for each derivative by x
        [h[0] * near[k] + h[1] * near[k + 1] + h[2] * far[k] + h[3] * far[k + 1] for k in (0, 2, 4, 6)] for h in by_x
    ]
    found = []
    for a, b in partials(order):
        row, h = along[a], by_y[b]
        value = h[0] * row[0] + h[1] * row[1] + h[2] * row[2] + h[3] * row[3]
        for rate in (*[rates[0]] * a, *[rates[1]] * b):
            value = value * rate
        found.append(value)
    return found


def _looked_up(grid: Grid, x: Any, y: Any, order: int) -> list[Any]:
    """The partial derivatives of f up to a total order at the points (x, y): arrays of the shape of x and y."""
    sides = [
        _place((at - first) / step, count)
        for at, first, step, count in zip((x, y), grid.corner, grid.spacing, grid.nodes.shape[:2], strict=True)
    ]
    (i, s, inside_x), (j, t, inside_y) = sides
    nodes = grid.nodes.array
    near, far = (np.concatenate([nodes[k, j], nodes[k, j + 1]], axis=-1) for k in (i, i + 1))
    rates = [inside / step for inside, step in zip((inside_x, inside_y), grid.spacing, strict=True)]
    return cell_partials([*np.moveaxis(near, -1, 0)], [*np.moveaxis(far, -1, 0)], s, t, rates, order)


def _place(u: Any, count: int) -> tuple[Any, Any, Any]:
    """(index of the cell, position in the cell from 0 to 1, 1.0 inside the grid and 0.0 outside) of a coordinate u.

    u counts cells from the corner; `count` is the number of nodes. Outside the grid, the nearest edge is used.
    """
    kept = np.clip(u, 0.0, count - 1.0)
    cell = np.minimum(np.floor(np.where(np.isnan(kept), 0.0, kept)), count - 2.0).astype(np.int64)
    return cell, kept - cell, np.where((u >= 0.0) & (u <= count - 1.0), 1.0, 0.0)
