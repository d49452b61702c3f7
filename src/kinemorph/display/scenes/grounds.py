"""The ground under the figures of a scene: that of their contacts, or else a floor at their lowest point.

The lowest of all level planes is the floor, which is drawn as a grid. Slopes, terrains and higher level planes become
surfaces around their figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.display.scenes.scene import WORLD_OWNER, Color, Faces, Part, Surface
from kinemorph.mechanics.elements.contact.grounds import interpolated
from kinemorph.model.elements.contact.contacts import Contact
from kinemorph.model.elements.contact.grounds import HeightFunction, HeightMap, Plane
from kinemorph.model.elements.forces.legs import SpringLeg
from kinemorph.model.elements.forces.tires import Tire
from kinemorph.model.parameter import evaluate_all
from kinemorph.model.system import Element

GRID = 80  # squares along each side of a terrain
MARGIN = 0.6  # around a figure, as a fraction of the larger side of its box
STEEP = 1e-9  # a plane is level if the z component of its normal differs from 1 by less than this
EARTH: Color = (0.66, 0.58, 0.46, 1.0)
SLOPE: Color = (0.74, 0.74, 0.72, 1.0)

Height = Callable[[Array, Array], Any]


class Standing(NamedTuple):
    """A figure on its ground: its elements, its box (2, 3) [m] and its offset (3,) [m]."""

    elements: Sequence[Element]
    box: Array
    offset: Array


def grounds_of(standings: Sequence[Standing]) -> tuple[tuple[Part, ...], float]:
    """(the ground of all figures as parts, the height of the level floor [m])."""
    lowest = min(float(one.box[0, 2]) for one in standings)
    levels: list[float] = []
    parts: list[Part] = []
    for standing in standings:
        reach = _reach(standing, standings)
        for ground in _touched(standing.elements):
            height = level_of(ground)
            if height is None:
                parts.append(_surface(ground, reach, standing.offset))
            else:
                levels.append(height + float(standing.offset[2]))
    floor = min(levels) if levels else lowest
    if parts:  # the grid stays below slopes and terrains
        floor = min([floor, *(float(part.surface.points[:, 2].min()) for part in parts)])
    boxes = np.stack([one.box for one in standings])
    reach = _widened(np.stack([boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)]))
    raised = sorted({height for height in levels if height > floor + 1e-9})
    parts += [_surface(Plane((0.0, 0.0, height)), reach, np.zeros(3)) for height in raised]
    return tuple(parts), floor


def carried(elements: Sequence[Element]) -> bool:
    """Whether one of the elements touches a ground."""
    return any(True for _ in _touched(elements))


def _touched(elements: Sequence[Element]) -> Iterator[Any]:
    """The grounds that elements touch, each once."""
    seen: list[Any] = []
    for element in elements:
        row = GROUNDS.get(type(element))
        ground = None if row is None else row(element)
        if ground is not None and getattr(ground, "on", "world") == "world" and ground not in seen:
            seen.append(ground)
            yield ground


def level_of(ground: Any) -> float | None:
    """The height [m] of a level plane with its normal upward; None for other planes and for terrains."""
    if not isinstance(ground, Plane):
        return None
    normal = np.array(evaluate_all(ground.normal), dtype=float)
    normal /= np.linalg.norm(normal)
    return float(evaluate_all(ground.point)[2]) if normal[2] > 1.0 - STEEP else None


GROUNDS: dict[type[Any], Callable[[Any], Any]] = {
    Contact: lambda contact: contact.ground,
    SpringLeg: lambda leg: leg.ground,
    Tire: lambda tire: tire.ground,
}


# ── surfaces ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _reach(standing: Standing, standings: Sequence[Standing]) -> Array:
    """The box (2, 3) [m] in which a figure's ground is drawn: around the figure, at most half-way to its neighbors."""
    reach = _widened(standing.box)
    for other in standings:
        way = other.offset - standing.offset
        axis = int(np.argmax(np.abs(way)))
        if way[axis] > 0.0:
            reach[1, axis] = min(reach[1, axis], 0.5 * (standing.box[1, axis] + other.box[0, axis]))
        elif way[axis] < 0.0:
            reach[0, axis] = max(reach[0, axis], 0.5 * (standing.box[0, axis] + other.box[1, axis]))
    return reach


def _widened(box: Array) -> Array:
    low, high = box
    margin = MARGIN * max(float((high - low)[:2].max()), 0.5 * float(high[2] - low[2]))
    return np.stack([low - margin, high + margin])


def _surface(ground: Any, reach: Array, offset: Array) -> Part:
    """The part of a ground inside the box `reach` (2, 3) [m] of the scene, moved by a figure's offset (3,) [m]."""
    make, color = SURFACES[type(ground)]
    surface = make(ground, reach - offset)
    moved = Surface(surface.points + offset, surface.normals, surface.faces)
    return Part("ground", WORLD_OWNER, moved, color, "shapes")


def _plane(plane: Plane, box: Array) -> Surface:
    """The rectangle of a plane that spans the box (2, 3) [m] along the two axes to which the plane is most parallel."""
    point, normal = (np.array(evaluate_all(one), dtype=float) for one in (plane.point, plane.normal))
    normal /= np.linalg.norm(normal)
    across = int(np.argmax(np.abs(normal)))  # the coordinate that the plane gives as a function of the other two
    others = [axis for axis in range(3) if axis != across]
    corners = np.array([[box[i, others[0]], box[j, others[1]]] for i, j in ((0, 0), (1, 0), (1, 1), (0, 1))])
    points = np.empty((4, 3))
    points[:, others] = corners
    points[:, across] = point[across] - (corners - point[others]) @ normal[others] / normal[across]
    turn = np.cross(points[1] - points[0], points[2] - points[0]) @ normal
    faces = np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int32)
    return Surface(points, np.repeat(normal[None], 4, axis=0), faces if turn > 0.0 else faces[:, ::-1].copy())


def _terrain(height: Height, box: Array) -> Surface:
    """The surface z = height(x, y) over the box (2, 3) [m], as a grid, with normals from its slopes."""
    x, y = (np.linspace(box[0, k], box[1, k], GRID + 1) for k in (0, 1))
    X, Y = np.meshgrid(x, y, indexing="ij")
    Z = heights(height, X, Y)
    by_x, by_y = np.gradient(Z, x, y)
    normals = np.stack([-by_x, -by_y, np.ones_like(Z)], axis=-1).reshape(-1, 3)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return Surface(np.stack([X, Y, Z], axis=-1).reshape(-1, 3), normals, _grid_faces(GRID + 1, GRID + 1))


def heights(height: Height, X: Array, Y: Array) -> Array:
    """z = height(x, y) [m] for arrays X and Y of one shape; a function that rejects arrays is called point by point."""
    try:
        Z: Array = np.broadcast_to(np.asarray(height(X, Y), dtype=float), X.shape)
    except (TypeError, ValueError):
        pairs = zip(X.ravel().tolist(), Y.ravel().tolist(), strict=True)
        Z = np.array([float(height(x, y)) for x, y in pairs]).reshape(X.shape)  # type: ignore[arg-type]
    return Z


def _grid_faces(rows: int, columns: int) -> Faces:
    """The triangles (m, 3) of a grid of points, which are numbered row by row.

    Normals point up where the row index grows along x and the column index along y.
    """
    corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).reshape(-1)
    near, far = corner + columns, corner + columns + 1
    faces: Faces = np.concatenate([np.stack([corner, near, far], 1), np.stack([corner, far, corner + 1], 1)]).astype(
        np.int32
    )
    return faces


SURFACES: dict[type[Any], tuple[Callable[[Any, Array], Surface], Color]] = {
    Plane: (_plane, SLOPE),
    HeightMap: (lambda ground, box: _terrain(interpolated(ground), box), EARTH),
    HeightFunction: (lambda ground, box: _terrain(ground.height, box), EARTH),
}
