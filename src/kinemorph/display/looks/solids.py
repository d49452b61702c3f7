"""Shapes as surfaces: every shape of the model becomes an array of four-cornered facets.

A facet has four corners, ordered so that its normal points outward; a triangle repeats its last corner. Round solids
are surfaces of revolution: a profile of (radius, z) points from bottom to top, turned about z.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.shapes import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Frustum,
    HalfEllipsoid,
    HalfSpace,
    Line,
    Mesh,
    Shape,
    Sphere,
    Terrain,
    Triangle,
)

Profile = list[tuple[float, float]]

MESH_LIMIT = 20_000  # faces; a larger mesh is left out of the picture
NOTHING: Array = np.zeros((0, 4, 3))


class Grain(NamedTuple):
    """How fine a surface is: `sides` facets around a round solid, `arc` points along a quarter circle.

    Lines become tubes of radius `thickness` [m].
    """

    thickness: float = 0.0
    sides: int = 28
    arc: int = 8


def facets(shape: Shape, grain: Grain) -> Array:
    """The surface of a shape in its body's frame, shape (n, 4, 3) [m].

    A mesh of more than MESH_LIMIT faces gives no facets at all.
    """
    make = SURFACES[type(shape)]
    placement = evaluate_all(shape.placement)
    return moved(make(shape, grain), np.array(placement.R, dtype=float), np.array(placement.p, dtype=float))


def opacity(shape: Shape) -> float:
    """1 for a solid shape, less for a translucent one: the fourth number of its color."""
    return float(shape.color[3]) if len(shape.color) == 4 else 1.0


def moved(surface: Array, R: Array, p: Array) -> Array:
    """Facets (n, 4, 3) [m] moved by a pose: R x + p for every corner x."""
    return surface @ R.T + p


def tube(start: Array, end: Array, grain: Grain) -> Array:
    """A closed tube with round ends between two points (3,) [m], as facets (n, 4, 3); its radius is grain.thickness."""
    along = end - start
    length = float(np.linalg.norm(along))
    if length < 1e-12:
        return moved(revolved(_ball(grain.thickness, grain), grain), np.eye(3), start)
    slender = grain._replace(sides=round(0.6 * grain.sides))
    surface = revolved(_capsule(grain.thickness, length, grain), slender)
    return moved(surface, z_toward(along / length), 0.5 * (start + end))


def normals(surface: Array) -> Array:
    """Outward unit normals of facets, shape (n, 3); zero where a facet has no area."""
    across = np.cross(surface[:, 2] - surface[:, 0], surface[:, 3] - surface[:, 1])
    lengths = np.linalg.norm(across, axis=1, keepdims=True)
    return across / np.where(lengths > 0.0, lengths, 1.0)


def revolved(profile: Profile, grain: Grain) -> Array:
    """The surface of revolution of a profile about z, as facets (n, 4, 3) [m]."""
    angle = np.linspace(0.0, 2.0 * np.pi, grain.sides + 1)
    r, z = np.array(profile).T
    ring = np.stack([np.outer(r, np.cos(angle)), np.outer(r, np.sin(angle)), np.outer(z, np.ones_like(angle))], axis=-1)
    return np.stack([ring[:-1, :-1], ring[:-1, 1:], ring[1:, 1:], ring[1:, :-1]], axis=2).reshape(-1, 4, 3)


def wire(line: Array, radius: float, sides: int) -> Array:
    """A closed round wire along a line (n, 3) [m], flat at both ends, as facets (m, 4, 3); it has `sides` sides.

    It is not twisted: its rings turn as little as possible from one point of the line to the next.
    """
    along = np.gradient(line, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    side = np.empty_like(line)
    side[0] = z_toward(along[0])[:, 0]
    for k in range(1, len(line)):
        across = side[k - 1] - (side[k - 1] @ along[k]) * along[k]
        side[k] = across / np.linalg.norm(across)
    other = np.cross(along, side)
    angle = np.linspace(0.0, 2.0 * np.pi, sides + 1)[None, :, None]
    ring = line[:, None] + radius * (np.cos(angle) * side[:, None] + np.sin(angle) * other[:, None])
    ends = np.broadcast_to(line[[0, -1]][:, None], (2, sides + 1, 3))
    grid = np.concatenate([ends[:1], ring, ends[1:]])
    return np.stack([grid[:-1, :-1], grid[:-1, 1:], grid[1:, 1:], grid[1:, :-1]], axis=2).reshape(-1, 4, 3)


def ribbon(line: Array, thickness: float, width: float) -> Array:
    """A closed band along a line (n, 3) in the x-y plane, as facets: `thickness` across it, `width` along z [m]."""
    along = np.gradient(line, axis=0)
    across = np.stack([along[:, 1], -along[:, 0], np.zeros(len(line))], axis=-1)  # to the right
    across *= 0.5 * thickness / np.linalg.norm(across, axis=1, keepdims=True)
    up = np.array([0.0, 0.0, 0.5 * width])
    ring = np.stack([line + across - up, line + across + up, line - across + up, line - across - up], axis=1)
    walls = [
        np.stack([ring[:-1, k], ring[1:, k], ring[1:, (k + 1) % 4], ring[:-1, (k + 1) % 4]], axis=1) for k in range(4)
    ]
    return np.concatenate([*walls, ring[:1], ring[-1:, ::-1]])


# ── profiles of round solids ──────────────────────────────────────────────────────────────────────────────────────────


def _arc(radius: float, z: float, first: float, last: float, grain: Grain) -> Profile:
    """An arc about (0, z) as points (radius, z), from angle `first` to `last` [rad] above the horizontal."""
    return [(radius * np.cos(a), z + radius * np.sin(a)) for a in np.linspace(first, last, grain.arc)]


def _ball(radius: float, grain: Grain) -> Profile:
    half = np.pi / 2.0
    return [*_arc(radius, 0.0, -half, 0.0, grain), *_arc(radius, 0.0, 0.0, half, grain)[1:]]


def _cone(bottom: float, top: float, length: float) -> Profile:
    half = 0.5 * length
    return [(0.0, -half), (bottom, -half), (top, half), (0.0, half)]


def _capsule(radius: float, length: float, grain: Grain) -> Profile:
    half = np.pi / 2.0
    return [*_arc(radius, -0.5 * length, -half, 0.0, grain), *_arc(radius, 0.5 * length, 0.0, half, grain)]


# ── one row per shape ─────────────────────────────────────────────────────────────────────────────────────────────────


def _box(box: Box, grain: Grain) -> Array:
    square = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])
    faces = []
    for axis in range(3):
        for side, corners in ((-0.5, square[::-1]), (0.5, square)):
            faces.append(np.roll(np.column_stack([np.full(4, side), corners]), axis, axis=1))
    surface: Array = np.array(faces) * np.array(evaluate_all(box.size), dtype=float)
    return surface


def _triangle(triangle: Triangle, grain: Grain) -> Array:
    """Two facets, the front and the back of a triangle, so that one of them always faces the viewer."""
    a, b, c = (np.array(evaluate_all(corner), dtype=float) for corner in (triangle.a, triangle.b, triangle.c))
    return np.array([[a, b, c, c], [c, b, a, a]])


def _mesh(mesh: Mesh, grain: Grain) -> Array:
    if not mesh.faces or len(mesh.faces) > MESH_LIMIT:
        return NOTHING
    corners = np.array(mesh.vertices, dtype=float)[np.array(mesh.faces, dtype=int)]
    a, b, c = np.moveaxis(corners - corners.mean(axis=(0, 1)), 1, 0)
    if np.einsum("ij,ij->", a, np.cross(b, c)) < 0.0:  # a file may list the corners of faces in either order
        corners = corners[:, ::-1]
    return np.concatenate([corners, corners[:, 2:]], axis=1)


def _point(point: Any) -> Array:
    return np.array(evaluate_all(point), dtype=float)


def _half_space(shape: HalfSpace, grain: Grain) -> Array:
    x, y = shape.size
    if not (x > 0.0 and y > 0.0):
        return NOTHING
    return np.array([[[-x, -y, 0.0], [x, -y, 0.0], [x, y, 0.0], [-x, y, 0.0]]])


def _terrain(shape: Terrain, grain: Grain) -> Array:
    heights = np.asarray(shape.heights, dtype=float)
    if heights.ndim != 2 or (heights.shape[0] - 1) * (heights.shape[1] - 1) > MESH_LIMIT:
        return NOTHING
    x, y = (step * (np.arange(n) - 0.5 * (n - 1)) for n, step in zip(heights.shape, shape.spacing, strict=True))
    grid = np.stack([*np.meshgrid(x, y, indexing="ij"), heights], axis=-1)
    return np.stack([grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]], axis=2).reshape(-1, 4, 3)


SURFACES: dict[type[Any], Callable[[Any, Grain], Array]] = {
    Box: _box,
    Cylinder: lambda s, g: revolved(_cone(evaluate(s.radius), evaluate(s.radius), evaluate(s.length)), g),
    Capsule: lambda s, g: revolved(_capsule(evaluate(s.radius), evaluate(s.length), g), g),
    Sphere: lambda s, g: revolved(_ball(evaluate(s.radius), g), g),
    Ellipsoid: lambda s, g: revolved(_ball(1.0, g), g) * _point(s.radii),
    HalfEllipsoid: lambda s, g: revolved([(0.0, 0.0), *_arc(1.0, 0.0, 0.0, np.pi / 2.0, g)], g) * _point(s.radii),
    Frustum: lambda s, g: revolved(_cone(evaluate(s.bottom), evaluate(s.top), evaluate(s.length)), g),
    Line: lambda s, g: tube(np.array(evaluate_all(s.start)), np.array(evaluate_all(s.end)), g),
    Triangle: _triangle,
    Mesh: _mesh,
    HalfSpace: _half_space,
    Terrain: _terrain,
}


def z_toward(direction: Array) -> Array:
    """A rotation matrix (3, 3) that turns the z axis to a unit vector (3,)."""
    x, y, z = (float(value) for value in direction)
    # x is perpendicular to the direction and to the world axis that is farthest from it
    side = min(((abs(x), 0, (0.0, -z, y)), (abs(y), 1, (z, 0.0, -x)), (abs(z), 2, (-y, x, 0.0))))[2]
    length = math.hypot(*side)
    a, b, c = (value / length for value in side)
    return np.array([[a, y * c - z * b, x], [b, z * a - x * c, y], [c, x * b - y * a, z]])
