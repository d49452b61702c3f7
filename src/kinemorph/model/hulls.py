"""Convex hulls of meshes, with as few points as keep them within a tolerance.

Points are chosen one after the other, always the one that is farthest outside the hull of those chosen, until none is
farther outside than the tolerance. The hull of the chosen points is inside the whole hull, and no point of the whole
hull is farther from it than the tolerance: this is their Hausdorff distance, and the most by which they differ in any
direction.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.errors import ModelError

FINE, SHARE = 1e-3, 0.01  # default tolerance: the larger of FINE [m] and SHARE of the size of the mesh
THIN = 1e-9  # relative to the size of a mesh: a smaller extent counts as none


def hull_points(points: Array, tolerance: float | None = None) -> Array:
    """The chosen points (m, 3) [m] of the convex hull of points (n, 3) [m], within a tolerance [m] of at least 0.

    Points in one plane or on one line are chosen by the hull in that plane or on that line. Raises ModelError if there
    is no point, or one that is not finite.
    """
    points = _unique(np.asarray(points, dtype=float).reshape(-1, 3))
    if not len(points) or not np.isfinite(points).all():
        raise ModelError(
            f"a mesh has {len(points)} points, expected at least one, all of them finite. Correct the mesh."
        )
    if tolerance is None:
        tolerance = max(FINE, SHARE * float(np.linalg.norm(np.ptp(points, axis=0))))
    middle = points.mean(axis=0)
    _, _, axes = np.linalg.svd(points - middle, full_matrices=False)
    flat = np.ptp((points - middle) @ axes.T, axis=0)
    kept = [k for k in range(len(axes)) if flat[k] > THIN * max(float(flat.max()), 1e-300)]
    inner = (points - middle) @ axes[kept].T
    if len(kept) == 0:
        return points[:1]
    if len(kept) == 1:
        return points[[int(inner[:, 0].argmin()), int(inner[:, 0].argmax())]]
    return points[_chosen(inner, tolerance)]


def _chosen(points: Array, tolerance: float) -> list[int]:
    """The indices of the chosen points of the hull of points (n, d), d = 2 or 3, which are not in one line or plane."""
    from scipy.spatial import ConvexHull

    corners = np.sort(ConvexHull(points).vertices)
    rest = points[corners]
    chosen, outside = _first(rest), np.arange(len(rest))
    while len(outside):
        hull = ConvexHull(rest[chosen])
        planes = rest[outside] @ hull.equations[:, :-1].T + hull.equations[:, -1]
        beyond = planes.max(axis=1)
        there = beyond > 0.0  # as the hull grows, what is inside it stays inside
        outside, beyond = outside[there], beyond[there]
        if not len(outside):
            break
        far = int(outside[beyond.argmax()])
        if beyond.max() <= tolerance:  # the distance from a plane is the least that the distance can be
            faces = planes[there].argmax(axis=1)
            outside = outside[_distances_from(rest[outside], hull, faces) > tolerance]  # few are left
            distances = _distances(rest[outside], hull)
            outside = outside[distances > tolerance]  # as the hull grows, no other point gets farther away than that
            if not len(outside):
                break
            far = int(outside[distances[distances > tolerance].argmax()])
        chosen.append(far)
        outside = outside[outside != far]
    return [int(corners[k]) for k in chosen]


def _first(points: Array) -> list[int]:
    """The indices of d + 1 points (n, d) that span the space: extreme ones, each as far as possible from the others."""
    chosen = [int(points[:, 0].argmin())]
    base = np.zeros((0, points.shape[1]))
    for _ in range(points.shape[1]):
        off = points - points[chosen[0]]
        off = off - off @ base.T @ base
        far = int(np.linalg.norm(off, axis=1).argmax())
        chosen.append(far)
        base = np.vstack([base, off[far] / np.linalg.norm(off[far])])
    return chosen


def _distances(points: Array, hull: Any) -> Array:
    """The distances (n,) of points (n, d) outside a hull from it: the least over its edges (d = 2) or triangles."""
    nearest = _nearest(points[:, None], hull.points[hull.simplices][None])
    found: Array = np.linalg.norm(points[:, None] - nearest, axis=-1).min(axis=1)
    return found


def _distances_from(points: Array, hull: Any, faces: Array) -> Array:
    """The distances (n,) of points (n, d) from one edge or triangle of a hull each, given by number (n,)."""
    found: Array = np.linalg.norm(points - _nearest(points, hull.points[hull.simplices[faces]]), axis=-1)
    return found


def _nearest(points: Array, corners: Array) -> Array:
    """The points (..., d) of segments or triangles with these corners (..., 2 or 3, d) that are nearest to points."""
    start, sides = corners[..., 0, :], corners[..., 1:, :] - corners[..., :1, :]
    off = points - start
    if sides.shape[-2] == 1:
        along = sides[..., 0, :]
        share = np.clip((off * along).sum(axis=-1) / (along * along).sum(axis=-1), 0.0, 1.0)
        return np.asarray(start + share[..., None] * along)
    shares = np.einsum("...d,...ds->...s", off, np.linalg.pinv(sides))
    inside = (shares >= 0.0).all(axis=-1) & (shares.sum(axis=-1) <= 1.0)
    best = start + np.einsum("...s,...sd->...d", shares, sides)
    least = np.where(inside, np.linalg.norm(points - best, axis=-1), np.inf)
    for pair in ((0, 1), (1, 2), (2, 0)):
        edge = _nearest(points, corners[..., pair, :])
        distance = np.linalg.norm(points - edge, axis=-1)
        nearer = distance < least
        best, least = np.where(nearer[..., None], edge, best), np.where(nearer, distance, least)
    return np.asarray(best)


def _unique(points: Array) -> Array:
    """The different rows of points (n, d), in the order of their numbers."""
    ordered = points[np.lexsort(points.T[::-1])]
    found: Array = ordered[np.concatenate([[True], (ordered[1:] != ordered[:-1]).any(axis=1)])[: len(ordered)]]
    return found
