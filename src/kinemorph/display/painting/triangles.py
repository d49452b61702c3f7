"""A scene as triangles at each of its times: parts that move with bodies, marks that stretch between points.

The triangles are made once. At each time a corner is transformed by the matrix of its owner: a body, the ground or a
mark.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.display.looks.quaternions import rotated
from kinemorph.display.scenes.figures import positions_of
from kinemorph.display.scenes.scene import (
    LAYERS,
    LOADS,
    WORLD_OWNER,
    Attachment,
    Figure,
    Flags,
    Mark,
    Part,
    Scene,
    Surface,
)
from kinemorph.display.scenes.surfaces import look_surface

CLOSED = 1e-6  # a surface is closed if the sum of its area vectors is below this fraction of its area


class Shot(NamedTuple):
    """The corners [m] and unit normals of all triangles in the world at one time, each of shape (n, 3)."""

    points: Array
    normals: Array


class MovingMarks:
    """The marks of a scene: `starts` and `ends` (m, n, 3) [m] at its n times, and a direction `across` (m, 3).

    `across` is a world axis that is never near the mark's own direction; it fixes how the mark is turned about itself.
    """

    def __init__(self, placed: Sequence[tuple[Figure, Mark]], count: int) -> None:
        self.marks = [mark for _, mark in placed]
        starts = [
            path_of(figure, mark.start) + (0.0 if mark.shifts is None else mark.shifts) for figure, mark in placed
        ]
        ends = [_end_of(figure, mark, start) for (figure, mark), start in zip(placed, starts, strict=True)]
        self.starts = np.array(starts).reshape(-1, count, 3)
        self.ends = np.array(ends).reshape(-1, count, 3)
        along = np.abs(self.ends - self.starts).max(axis=1, initial=0.0)
        self.across = np.eye(3)[np.argmin(along, axis=1)]
        self.widths = np.array([mark.width for mark in self.marks])
        self.balls = np.array([mark.look == "ball" for mark in self.marks], dtype=bool)
        flags = [np.ones(count, dtype=bool) if mark.shown is None else mark.shown for mark in self.marks]
        self.shown = np.array(flags, dtype=bool).reshape(-1, count)

    def at(self, k: int) -> tuple[Array, Array]:
        """(matrices (m, 3, 3), translations (m, 3) [m]) that transform the looks of the marks at time index k."""
        starts, ways = self.starts[:, k], self.ends[:, k] - self.starts[:, k]
        lengths = np.linalg.norm(ways, axis=1)[:, None]
        shown = lengths > 1e-9 * self.widths[:, None]
        z = np.where(shown, ways / np.maximum(lengths, 1e-300), [0.0, 0.0, 1.0])
        x = np.cross(self.across, z)
        x = np.where(np.linalg.norm(x, axis=1)[:, None] < 1e-6, np.cross(np.roll(self.across, 1, axis=1), z), x)
        x /= np.linalg.norm(x, axis=1)[:, None]
        wide = np.where(shown, self.widths[:, None], 0.0)
        axes = np.stack([wide * x, wide * np.cross(z, x), np.where(shown, lengths, 0.0) * z], axis=2)
        axes[self.balls] = np.eye(3) * self.widths[self.balls, None, None]
        axes[~self.shown[:, k]] = 0.0
        return axes, np.where(self.balls[:, None], self.ends[:, k], starts)


def _end_of(figure: Figure, mark: Mark, start: Array) -> Array:
    if mark.end is not None:
        return path_of(figure, mark.end)
    end: Array = start + (np.zeros(3) if mark.vectors is None else mark.vectors)
    return end


class Cast:
    """The triangles of all layers that are shown by default: `faces` (m, 3) of corner indices, `colors` RGBA (m, 4).

    Booleans (m,) for each face: `solid`, nothing is seen through it; `closed`, its back is never seen; `ground`, it
    belongs to the ground; `force`, it belongs to an arrow; `still`, it is fixed to the ground, at least at one end.
    """

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        shown = [(figure, mark) for figure in scene.figures for mark in figure.marks if LAYERS[mark.layer].shown]
        self.marks = MovingMarks(shown, len(scene.times))
        parts: list[tuple[int, Surface, tuple[float, ...], str]] = []
        passing: dict[int, Flags] = {}  # at which times parts are shown, by their number
        first, grounds = 1, {0}  # 0 is the world
        for figure in scene.figures:
            for part in figure.parts:
                if LAYERS[part.layer].shown:
                    passing |= {} if part.shown is None else {len(parts): part.shown}
                    parts.append((figure_owner(part, first, figure), part.surface, part.color, "shapes"))
            first += len(figure.bodies) + 1
            grounds.add(first - 1)
        parts += [(first + k, look_surface(mark.look), mark.color, mark.layer) for k, (_, mark) in enumerate(shown)]
        parts += [(0, part.surface, part.color, "ground") for part in scene.grounds]
        surfaces = [surface for _, surface, _, _ in parts]
        corners, faces = [len(one.points) for one in surfaces], [len(one.faces) for one in surfaces]
        starts = np.cumsum([0, *corners])[:-1]
        self.points = np.concatenate([np.zeros((0, 3)), *(one.points for one in surfaces)])
        self.normals = np.concatenate([np.zeros((0, 3)), *(one.normals for one in surfaces)])
        self.passing = [(parts[number][0], shown) for number, shown in passing.items()]
        owners = np.array([owner for owner, _, _, _ in parts], dtype=int)
        owners[list(passing)] = first + len(shown) + np.arange(len(passing))  # own matrices, at the end
        self.owner = np.repeat(owners, corners)
        self.faces: npt.NDArray[np.int64] = np.concatenate(
            [np.zeros((0, 3), dtype=np.int64), *(one.faces + at for one, at in zip(surfaces, starts, strict=True))]
        )
        colors = np.array([color for _, _, color, _ in parts], dtype=float).reshape(-1, 4)
        self.colors = np.repeat(colors, faces, axis=0)
        self.solid = self.colors[:, 3] >= 1.0
        self.closed = np.repeat(np.array([is_closed(one) for one in surfaces], dtype=bool), faces)
        self.ground = np.repeat(np.array([kind == "ground" for _, _, _, kind in parts], dtype=bool), faces)
        still = np.array([False, *(mark_is_fixed(mark) for mark in self.marks.marks)], dtype=bool)
        resting = [owner in grounds or bool(still[max(owner - first + 1, 0)]) for owner, _, _, _ in parts]
        self.still = np.repeat(np.array(resting, dtype=bool), faces)
        self.force = np.repeat(np.array([kind in LOADS for _, _, _, kind in parts], dtype=bool), faces)

    def at(self, k: int) -> Shot:
        """The corners and normals of all triangles at time index k of the scene."""
        axes, places = [np.eye(3)[None]], [np.zeros((1, 3))]
        for figure in self.scene.figures:
            axes += [np.swapaxes(rotated(figure.quaternions[k][:, None], np.eye(3)[None]), 1, 2), np.eye(3)[None]]
            places += [figure.positions[k] + figure.offset, figure.offset[None]]
        marked = self.marks.at(k)
        A, p = np.concatenate([*axes, marked[0]]), np.concatenate([*places, marked[1]])
        if self.passing:
            carriers = [owner for owner, _ in self.passing]
            there = np.array([shown[k] for _, shown in self.passing], dtype=float)
            A, p = np.concatenate([A, A[carriers] * there[:, None, None]]), np.concatenate([p, p[carriers]])
        points = np.einsum("nij,nj->ni", A[self.owner], self.points) + p[self.owner]
        # columns are perpendicular, so the inverse transpose is the matrix with columns divided by their squared norms
        squares = np.maximum(np.sum(A**2, axis=1, keepdims=True), 1e-30)
        normals = np.einsum("nij,nj->ni", (A / squares)[self.owner], self.normals)
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
        return Shot(points, normals)


def figure_owner(part: Part, first: int, figure: Figure) -> int:
    """The index of the transformation that moves a part; `first` is the index of that of the figure's first body.

    Parts that are fixed to the ground are moved by the figure's offset, whose index follows those of the bodies.
    """
    return first + (len(figure.bodies) if part.owner == WORLD_OWNER else part.owner)


def mark_is_fixed(mark: Mark) -> bool:
    """Whether an end of a mark is fixed to the ground."""
    return WORLD_OWNER in (mark.start.owner, mark.start.owner if mark.end is None else mark.end.owner)


def path_of(figure: Figure, at: Attachment) -> Array:
    """The positions of a point of a body at all times of the scene, shape (n, 3) [m], with the figure's offset."""
    way: Array = positions_of(figure, at) + figure.offset
    return way


def is_closed(surface: Surface) -> bool:
    """Whether a surface is closed and its normals point outward, so that its inside is never seen.

    This must hold for every connected shell of the surface.
    """
    if not len(surface.faces):
        return True
    a, b, c = (surface.points[surface.faces[:, k]] for k in range(3))
    areas = np.cross(b - a, c - a)
    whole = float(np.linalg.norm(areas, axis=1).sum())
    volumes = np.bincount(_shells(surface), np.einsum("ij,ij->i", a - a.mean(axis=0), areas))
    return bool(np.linalg.norm(areas.sum(axis=0)) < CLOSED * whole and volumes.min() >= 0.0 < volumes.max())


def _shells(surface: Surface) -> npt.NDArray[np.intp]:
    """The number of the connected shell of every face, shape (m,)."""
    size = float(np.ptp(surface.points, axis=0).max()) or 1.0
    _, corner = np.unique(np.round(surface.points / (1e-6 * size)), axis=0, return_inverse=True)
    faces = corner.reshape(-1)[surface.faces]
    label = np.arange(faces.max() + 1)
    while True:  # each corner takes the least label of its neighbors, then the label of that corner
        before = label.copy()
        np.minimum.at(label, faces, label[faces].min(axis=1)[:, None])
        label = label[label]
        if np.array_equal(label, before):
            return label[faces[:, 0]]
