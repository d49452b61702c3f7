"""Triangles with normals, made from facets and shapes; and the looks (surfaces) of marks.

Faces that meet at an angle below CREASE share a smooth normal; at larger angles there is an edge: balls look round and
boxes have edges.

A look is a surface about the z axis from z = 0 to 1 with radius 1; it is stretched from the start of its mark to the
end.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.display.looks.solids import Grain, facets, revolved, wire
from kinemorph.display.scenes.scene import Look, Surface
from kinemorph.model.shapes import Shape

FINE = Grain()
CREASE = np.radians(38.0)
MARKED = Grain(0.0, sides=14, arc=6)
THIN = 10  # sides of ropes, rods and wires, of which there may be hundreds
COILS, COIL_STEPS = 8, 16
SLENDER = 11.0  # length over radius of a spring at which its wire has a round cross section
WELD = 1e-7  # corners nearer than this fraction of the surface's size are merged
SMALL = 1000  # surfaces with at most this many facets are cached
MIXED = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93], dtype=np.uint64)


@lru_cache(maxsize=512)
def shape_surface(shape: Shape, grain: Grain = FINE) -> Surface:
    """The surface of a shape in its body's frame."""
    return surface_of(facets(shape, grain))


def surface_of(quads: Array) -> Surface:
    """The triangles with normals of facets (n, 4, 3) [m], without those that have no area.

    Corners keep the order of the facets, so that similar shapes have the same face indices. Small surfaces are cached,
    because robots have many equal shapes.
    """
    return _kept_surface(np.ascontiguousarray(quads).tobytes()) if len(quads) <= SMALL else _surface(quads)


@lru_cache(maxsize=256)
def _kept_surface(quads: bytes) -> Surface:
    return _surface(np.frombuffer(quads).reshape(-1, 4, 3))


def _surface(quads: Array) -> Surface:
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    across = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])  # twice the area
    size = float(np.ptp(triangles.reshape(-1, 3), axis=0).max()) if len(triangles) else 0.0
    real = np.linalg.norm(across, axis=1) > 1e-12 * size**2
    triangles, across = triangles[real], across[real]
    if not len(triangles):
        return Surface(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int32))
    corners = triangles.reshape(-1, 3)
    cells = np.round(corners / (WELD * size)).astype(np.int64)
    vertex = _distinct(cells)[1]
    normals = _smooth(vertex, np.repeat(across, 3, axis=0))
    keys = np.column_stack([vertex, np.round(normals * 500.0).astype(np.int64)])
    first, faces = _distinct(keys)
    return Surface(corners[first], normals[first], faces.reshape(-1, 3).astype(np.int32))


def _distinct(rows: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """(indices of the first of each group of equal rows, in order; for every row, the number of its group).

    Rows are compared by a 64-bit hash, a sum of products with odd numbers; a collision is practically impossible.
    """
    keys = (rows.astype(np.uint64) * MIXED[: rows.shape[1]]).sum(axis=1)
    first, like = np.unique(keys, return_index=True, return_inverse=True)[1:]
    order = np.argsort(first)
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    return first[order], places[like.reshape(-1)]


def _smooth(vertex: npt.NDArray[np.intp], across: Array) -> Array:
    """The unit normal of every corner (n, 3): the mean over all faces at its vertex that are smooth with its own face.

    Two faces are smooth with each other where the angle between their normals is below CREASE.

    `vertex` (n,) is the vertex number of each corner, `across` (n, 3) the area vector of its face.
    """
    order = np.argsort(vertex, kind="stable")
    counts = np.bincount(vertex)
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    # pair every corner with all corners of its vertex, itself included
    meets = counts[vertex]
    mine = np.repeat(np.arange(len(vertex)), meets)
    within = np.arange(len(mine)) - np.repeat(np.cumsum(meets) - meets, meets)
    theirs = order[np.repeat(starts[vertex], meets) + within]
    unit = across / np.linalg.norm(across, axis=1, keepdims=True)
    near = np.einsum("ij,ij->i", unit[mine], unit[theirs]) > np.cos(CREASE)
    mine, met = mine[near], across[theirs[near]]
    total = np.stack([np.bincount(mine, met[:, axis], len(vertex)) for axis in range(3)], axis=1)
    smooth: Array = total / np.linalg.norm(total, axis=1, keepdims=True)
    return smooth


# ── looks of marks ────────────────────────────────────────────────────────────────────────────────────────────────────


@cache
def look_surface(look: Look) -> Surface:
    """The surface of a look, to be stretched along z; its edges are found at the usual ratio of length to radius."""
    seen, squash = surface_of(LOOKS[look]()), np.array([1.0, 1.0, SLENDER if look == "spring" else 1.0])
    normals = seen.normals * squash
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return Surface(seen.points / squash, normals, seen.faces)


def _turned(*outline: tuple[float, float], sides: int = MARKED.sides) -> Array:
    return revolved(list(outline), MARKED._replace(sides=sides))


def _spring() -> Array:
    """A coil of round wire, SLENDER times as long as its radius, whose ends lead to the axis; facets (n, 4, 3)."""
    turns = np.linspace(0.0, 2.0 * np.pi * COILS, COILS * COIL_STEPS + 1)
    lead = np.clip(np.minimum(turns, turns[-1] - turns) / np.pi, 0.0, 1.0)  # half a turn from the axis to the coil
    radius = 0.8 * np.sin(0.5 * np.pi * lead)
    heights = np.linspace(0.1, 0.9, len(turns))
    coil = np.stack([radius * np.cos(turns), radius * np.sin(turns), heights], axis=-1)
    line = np.concatenate([[[0.0, 0.0, 0.0]], coil, [[0.0, 0.0, 1.0]]])
    return wire(line * [1.0, 1.0, SLENDER], 0.2, THIN)


def _damper() -> Array:
    """A cylinder and the thinner rod that slides in it, as facets (n, 4, 3)."""
    cylinder = _turned((0.0, 0.15), (1.0, 0.15), (1.0, 0.6), (0.0, 0.6))
    return np.concatenate([cylinder, _turned((0.0, 0.0), (0.3, 0.0), (0.3, 1.0), (0.0, 1.0))])


def _ball() -> Array:
    """A ball of radius 1 about the origin, as facets (n, 4, 3); it is scaled, not stretched, and moved to the mark's
    end.
    """
    angle = np.linspace(-np.pi / 2.0, np.pi / 2.0, 11)
    return revolved([(float(np.cos(a)), float(np.sin(a))) for a in angle], MARKED._replace(sides=18))


LOOKS: dict[Look, Callable[[], Array]] = {
    "spring": _spring,
    "damper": _damper,
    "rope": lambda: _turned((0.0, 0.0), (0.35, 0.0), (0.35, 1.0), (0.0, 1.0), sides=THIN),
    "rod": lambda: _turned((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0), sides=THIN),
    "arrow": lambda: _turned((0.0, 0.0), (0.4, 0.0), (0.4, 0.74), (1.0, 0.74), (0.0, 1.0)),
    "ball": _ball,
}
