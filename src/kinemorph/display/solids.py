"""Shapes as surfaces: every shape of the model becomes an array of four-cornered facets.

A facet is four points, counted so that its normal points outward; a triangle repeats its last point. Round solids are
surfaces of revolution, so each is one row of `PROFILES`: the (radius, z) points of its outline from bottom to top.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.shapes import Box, Capsule, Cylinder, Frustum, Line, Mesh, Shape, Sphere, Triangle

Array = npt.NDArray[np.float64]
Profile = list[tuple[float, float]]

SIDES = 20  # facets around a round solid
MESH_LIMIT = 20_000  # faces; a larger mesh is left out of the picture
NOTHING: Array = np.zeros((0, 4, 3))


def facets(shape: Shape, thickness: float) -> Array:
    """The surface of a shape in its body's frame, shape (n, 4, 3) [m].

    Lines become tubes of radius `thickness` [m]. A mesh of more than MESH_LIMIT faces gives no facets at all.
    """
    make = SURFACES[type(shape)]
    placement = evaluate_all(shape.placement)
    return moved(make(shape, thickness), np.array(placement.R, dtype=float), np.array(placement.p, dtype=float))


def opacity(shape: Shape) -> float:
    """1 for a solid shape, less for a translucent one: the fourth number of its color."""
    return float(shape.color[3]) if len(shape.color) == 4 else 1.0


def moved(surface: Array, R: Array, p: Array) -> Array:
    """Facets carried by a pose: R x + p for every corner x."""
    return surface @ R.T + p


def tube(start: Array, end: Array, radius: float) -> Array:
    """A closed tube with round ends between two points [m]."""
    along = end - start
    length = float(np.linalg.norm(along))
    if length < 1e-12:
        return moved(revolved(_ball(radius)), np.eye(3), start)
    surface = revolved(_capsule(radius, length), sides=12)
    return moved(surface, z_toward(along / length), 0.5 * (start + end))


def normals(surface: Array) -> Array:
    """Outward unit normals of facets, shape (n, 3); zero where a facet has no area."""
    across = np.cross(surface[:, 2] - surface[:, 0], surface[:, 3] - surface[:, 1])
    lengths = np.linalg.norm(across, axis=1, keepdims=True)
    return across / np.where(lengths > 0.0, lengths, 1.0)


def revolved(profile: Profile, sides: int = SIDES) -> Array:
    """The surface of an outline turned about z."""
    angle = np.linspace(0.0, 2.0 * np.pi, sides + 1)
    r, z = np.array(profile).T
    ring = np.stack([np.outer(r, np.cos(angle)), np.outer(r, np.sin(angle)), np.outer(z, np.ones_like(angle))], axis=-1)
    return np.stack([ring[:-1, :-1], ring[:-1, 1:], ring[1:, 1:], ring[1:, :-1]], axis=2).reshape(-1, 4, 3)


# ── outlines of round solids ──────────────────────────────────────────────────────────────────────────────────────────


def _arc(radius: float, z: float, first: float, last: float) -> Profile:
    """A quarter or half circle about (0, z), from angle `first` to `last` above the horizontal."""
    return [(radius * np.cos(a), z + radius * np.sin(a)) for a in np.linspace(first, last, 6)]


def _ball(radius: float) -> Profile:
    half = np.pi / 2.0
    return [*_arc(radius, 0.0, -half, 0.0), *_arc(radius, 0.0, 0.0, half)[1:]]


def _cone(bottom: float, top: float, length: float) -> Profile:
    """A frustum, cut into a few rings so that long solids are sorted well by depth."""
    rings = max(2, min(17, 1 + round(length / max(bottom, top, 1e-9) / 0.7)))
    heights = np.linspace(-0.5, 0.5, rings)
    walls = [(bottom + (top - bottom) * (h + 0.5), h * length) for h in heights]
    return [(0.0, -0.5 * length), (0.5 * bottom, -0.5 * length), *walls, (0.5 * top, 0.5 * length), (0.0, 0.5 * length)]


def _capsule(radius: float, length: float) -> Profile:
    half = np.pi / 2.0
    walls = _cone(radius, radius, length)[3:-3]
    return [*_arc(radius, -0.5 * length, -half, 0.0), *walls, *_arc(radius, 0.5 * length, 0.0, half)]


# ── one row per shape ─────────────────────────────────────────────────────────────────────────────────────────────────


def _box(box: Box, thickness: float) -> Array:
    """Six faces, each cut into squares of about the shortest edge; a translucent box is not cut: its edges are seen."""
    size = np.array(evaluate_all(box.size), dtype=float)
    cuts = np.clip(np.round(size / size.min() / 0.7), 1, 9 if opacity(box) == 1.0 else 1).astype(int) + 1
    faces = []
    for axis in range(3):
        i, j = (axis + 1) % 3, (axis + 2) % 3
        u, v = np.meshgrid(np.linspace(-0.5, 0.5, cuts[i]), np.linspace(-0.5, 0.5, cuts[j]), indexing="ij")
        for side in (-0.5, 0.5):
            grid = np.zeros((*u.shape, 3))
            grid[..., axis], grid[..., i], grid[..., j] = side, u, v
            corners = [grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]]
            faces.append(np.stack(corners if side > 0 else corners[::-1], axis=2).reshape(-1, 4, 3))
    surface: Array = np.concatenate(faces) * size
    return surface


def _triangle(triangle: Triangle, thickness: float) -> Array:
    """Both sides, so that one always faces the viewer."""
    a, b, c = (np.array(evaluate_all(corner), dtype=float) for corner in (triangle.a, triangle.b, triangle.c))
    return np.array([[a, b, c, c], [c, b, a, a]])


def _mesh(mesh: Mesh, thickness: float) -> Array:
    if not mesh.faces or len(mesh.faces) > MESH_LIMIT:
        return NOTHING
    corners = np.array(mesh.vertices, dtype=float)[np.array(mesh.faces, dtype=int)]
    a, b, c = np.moveaxis(corners - corners.mean(axis=(0, 1)), 1, 0)
    if np.einsum("ij,ij->", a, np.cross(b, c)) < 0.0:  # a file's faces may be counted either way
        corners = corners[:, ::-1]
    return np.concatenate([corners, corners[:, 2:]], axis=1)


SURFACES: dict[type[Any], Callable[[Any, float], Array]] = {
    Box: _box,
    Cylinder: lambda s, t: revolved(_cone(evaluate(s.radius), evaluate(s.radius), evaluate(s.length))),
    Capsule: lambda s, t: revolved(_capsule(evaluate(s.radius), evaluate(s.length))),
    Sphere: lambda s, t: revolved(_ball(evaluate(s.radius))),
    Frustum: lambda s, t: revolved(_cone(evaluate(s.bottom), evaluate(s.top), evaluate(s.length))),
    Line: lambda s, t: tube(np.array(evaluate_all(s.start)), np.array(evaluate_all(s.end)), t),
    Triangle: _triangle,
    Mesh: _mesh,
}


def z_toward(direction: Array) -> Array:
    """A rotation, shape (3, 3), that carries z onto a unit vector."""
    helper = np.eye(3)[int(np.argmin(np.abs(direction)))]
    x = np.cross(helper, direction)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(direction, x), direction])
