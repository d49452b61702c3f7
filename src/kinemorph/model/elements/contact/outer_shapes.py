"""Shapes that can touch a plane: those that are not hidden inside the others of the same rigid part.

A plane touches a rigid part at its convex hull. Files often give a body many shapes, such as the convex pieces of a
mesh and shapes of bodies that are fixed to it. What lies inside the convex hull of all of them by more than they sink
into the ground does not touch any plane, and needs no contact.

The hull is that of points inside or on the shapes; what is left out is judged by points with a radius around all of a
shape. Both err on the safe side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import Pose
from kinemorph.disk_cache import kept_data
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.shapes import Box, Cylinder, Ellipsoid, Frustum, HalfEllipsoid, Mesh

RIM = 12  # points on the rim of a cylinder
SIGNS = np.array(list(product((-1.0, 1.0), repeat=3)))
DIRECTIONS = np.array([d for d in product((-1.0, 0.0, 1.0), repeat=3) if any(d)], dtype=float)
DIRECTIONS /= np.linalg.norm(DIRECTIONS, axis=1, keepdims=True)


class Extent(NamedTuple):
    """How far a shape reaches, in the axes of its rigid part."""

    inner: Array  # [m], points inside or on it, (n, 3)
    outer: Array  # [m], points that contain it in their hull, each with the radius, (m, 3)
    radius: float  # [m]


def extent(data: dict[str, Any], pose: Pose) -> Extent:
    """The extent of what touches by the fields `point`, `end`, `radius` or `shape` of a Contact; `pose` is its body's
    in the rigid part.
    """
    shape = data.get("shape")
    if shape is None:
        ends = [data["point"], *([data["end"]] if data.get("end") is not None else [])]
        radius = float(evaluate(data["radius"]))
        centers = _moved(np.array(evaluate_all(tuple(ends)), dtype=float), pose)
        return Extent(np.concatenate([center + radius * DIRECTIONS for center in centers]), centers, radius)
    inner, outer = _of_solid(shape)
    placed = [_moved(_moved(points, shape.placement), pose) for points in (inner, outer)]
    return Extent(placed[0], placed[1], 0.0)


def hidden(extents: Sequence[Extent], depth: float) -> list[Array]:
    """For each extent of a rigid part which of its outer points, (m,) of bool, are deeper [m] than `depth` inside the
    hull of all extents.
    """
    planes = _planes(np.concatenate([one.inner for one in extents]))
    if not len(planes):
        return [np.zeros(len(one.outer), dtype=bool) for one in extents]
    return [(one.outer @ planes[:, :3].T + planes[:, 3]).max(axis=1) + one.radius < -depth for one in extents]


def _planes(points: Array) -> Array:
    """The planes of the hull of points (n, 3): outer normals and negative distances [m], (m, 4). None where the points
    are in one plane or on one line. They are kept on disk, because the import of what finds them takes half a second.
    """

    def made() -> bytes:
        from scipy.spatial import ConvexHull, QhullError

        try:
            return bytes(ConvexHull(points).equations.tobytes())
        except (QhullError, ValueError):
            return b""

    return np.frombuffer(kept_data([Path(__file__).read_bytes(), points.tobytes()], made) or b"").reshape(-1, 4)


def _moved(points: Array, pose: Pose) -> Array:
    R, p = (np.array(evaluate_all(one), dtype=float) for one in (pose.R, pose.p))
    return np.asarray(points @ R.T + p)


def _of_solid(shape: Any) -> tuple[Array, Array]:
    """Points (n, 3) [m] inside or on a solid, and points whose hull contains it, in its own frame."""
    if isinstance(shape, Mesh):
        vertices = np.array(shape.vertices, dtype=float).reshape(-1, 3)
        return vertices, vertices
    if isinstance(shape, Box):
        corners = 0.5 * SIGNS * np.array(evaluate_all(shape.size), dtype=float)
        return corners, corners
    if isinstance(shape, (Ellipsoid, HalfEllipsoid)):
        radii = np.array(evaluate_all(shape.radii), dtype=float)
        around, within = SIGNS * radii, DIRECTIONS * radii
        if isinstance(shape, HalfEllipsoid):
            around, within = (points * (1.0, 1.0, 1.0) for points in (around, within))
            around[:, 2], within[:, 2] = np.maximum(around[:, 2], 0.0), np.maximum(within[:, 2], 0.0)
        return within, around
    assert isinstance(shape, (Cylinder, Frustum))
    length = float(evaluate(shape.length))
    ends = (shape.radius, shape.radius) if isinstance(shape, Cylinder) else (shape.bottom, shape.top)
    inner, outer = [], []
    for side, radius in zip((-0.5, 0.5), map(float, evaluate_all(ends)), strict=True):
        for k in range(RIM):
            angle = 2.0 * math.pi * k / RIM
            inner.append((radius * math.cos(angle), radius * math.sin(angle), side * length))
        outer += [(x * radius, y * radius, side * length) for x, y in product((-1.0, 1.0), repeat=2)]
    return np.array(inner), np.array(outer)
