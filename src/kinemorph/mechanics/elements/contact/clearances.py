"""How far the touching points of a contact are from the ground, at least: a bound that costs little for many points.

A box around the points, in the axes of the link, with center c and half edges e, is above a plane by at least

    height(c) - sum_k e_k |gradient_k|

where heights are linear in the place, as at a state itself, and after a motion of the link (`steps.gates`). It is
exactly so where a corner of the box is a touching point. Above the ground a soft contact has no force, stores no energy
and loses none (`normal_forces`), so that its points need not be computed there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.scalar import S, absolute, minus, plus, times
from kinemorph.algebra.turns import Vec3
from kinemorph.algebra.vectors import dot
from kinemorph.mechanics.elements.contact.grounds import spline_grid
from kinemorph.mechanics.elements.contact.touching_points import Spot
from kinemorph.mechanics.steps.gates import Moved
from kinemorph.mechanics.steps.point_states import Sight
from kinemorph.model.elements.contact.grounds import HeightMap, Plane
from kinemorph.model.parameter import parameters_of


class Clearance(NamedTuple):
    """A box around touching points, in link axes, and the plane that they touch."""

    center: Vec3  # [m]
    half: Vec3  # [m]
    normal: Sequence[S]  # of the plane, of length 1, in world axes
    level: S  # [m], of the plane along its normal

    def lowest(self, sight: Sight, link: int, moved: Moved) -> S:
        """A lower bound [m] of the heights of all points, after a motion of the link."""
        found, gradient = moved.height(sight, link, self.normal)
        found = plus(minus(found, self.level), dot(gradient, self.center))
        for half, slope in zip(self.half, gradient, strict=True):
            found = minus(found, times(half, absolute(slope)))
        return found


def clearance(spots: Sequence[Spot], ground: Any) -> Clearance | None:
    """The clearance of touching points in link axes; None where the ground is a function, or where parameters move it.

    That over a map is the one over the plane at a height which the map does not exceed.
    """
    if isinstance(ground, HeightMap):
        ground = Plane((0.0, 0.0, spline_grid(ground)[1]))
    if not isinstance(ground, Plane) or parameters_of(ground) or not all(map(_is_plain, spots)):
        return None
    low, high = bounds(spots)
    center, half = (tuple(x.tolist()) for x in (0.5 * (low + high), 0.5 * (high - low)))
    normal = np.array(ground.normal, dtype=float) / np.linalg.norm(np.array(ground.normal, dtype=float))
    return Clearance(center, half, tuple(normal.tolist()), float(normal @ np.array(ground.point, dtype=float)))


def _is_plain(spot: Spot) -> bool:
    numbers = [*spot.center, spot.radius, *(x for part in (*spot.axes, *spot.corners) for x in part)]
    return all(isinstance(x, (int, float)) for x in numbers)


def bounds(found: Sequence[Spot]) -> tuple[Array, Array]:
    """The lowest and the highest corner [m], (3,) each, of a box around touching points."""
    lows, highs = [], []
    for spot in found:
        places = np.array(spot.corners or (spot.center,), dtype=float)
        reach = np.array([math.hypot(*(float(axis[k]) for axis in spot.axes)) for k in range(3)]) + float(spot.radius)
        lows.append(places.min(axis=0) - reach)
        highs.append(places.max(axis=0) + reach)
    return np.min(lows, axis=0), np.max(highs, axis=0)
