"""The ground as rendered for a window: its colors, nearness to the viewer, and points in the world.

The ground does not move, and the projection is parallel: where the camera follows a body, the picture is only shifted,
by whole samples (a pixel has FINE x FINE samples). So the ground is rendered once for a film, with its grid and without
shadows, as large as all pictures of the film together, and each frame takes a part of it. Where that would be too
large, only the surroundings of one picture are rendered, and again when the camera leaves them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.display.painting.lighting import BRIGHTEST, GLOSS, lamp_of, light_on
from kinemorph.display.painting.rasters import FINE, Reals, nearest, planes, taken
from kinemorph.display.painting.triangles import Cast
from kinemorph.display.painting.view_window import Window

LINES = 0.88  # how bright lines on slopes and terrains are
MOST_SAMPLES = 3_000_000  # of what is painted at once
AROUND = 0.5  # of a picture, if all pictures of a film are more than that: what is painted on each side of one of them


class GroundPicture:
    """The solid ground of a scene as rendered for the picture at time index k and its surroundings.

    `colors` (h, w, 4) are RGBA from 0 to 1, with opacity 1 where there is ground; `near` (h, w) [samples] is the
    nearness to the viewer, -inf where there is no ground; `points` (h, w, 3) [m] are the visible points of the ground.
    `first` is the position of the upper left sample, counted as by `Window.first_sample`.
    """

    def __init__(self, cast: Cast, window: Window, k: int) -> None:
        self.first, (width, height) = _painted_part(window, k)
        faces = np.flatnonzero(cast.ground & cast.solid)
        points, normals = cast.points[cast.faces[faces]], cast.normals[cast.faces[faces]]  # the ground is at rest
        corners = window.samples(points) - [*self.first, 0.0]
        a, b, c = np.moveaxis(corners[..., :2], 1, 0)
        facing = (b - a)[:, 0] * (c - a)[:, 1] < (b - a)[:, 1] * (c - a)[:, 0]  # y is downward
        shown = facing | ~cast.closed[faces]
        normals = np.where((facing | cast.closed[faces])[:, None, None], normals, -normals)
        faces, points, corners, normals = faces[shown], points[shown], corners[shown], normals[shown]
        light = light_on(normals.reshape(-1, 3), lamp_of(window.azimuth), window.lens.axes[2]).reshape(-1, 3, 2)
        visible, near = nearest(corners, width, height)
        lit = planes(light, corners).astype(np.float32)
        found = cast.colors[faces[visible.triangle]].astype(np.float32)
        found *= np.clip(taken(lit[:, 0], visible, width), 0.0, BRIGHTEST)[:, None]
        found += np.clip(taken(lit[:, 1], visible, width), 0.0, GLOSS)[:, None]
        spots = planes(points, corners)
        seen = np.stack([taken(spots[:, axis], visible, width) for axis in range(3)], axis=1)
        away = np.abs((seen[:, :2] / window.step + 0.5) % 1.0 - 0.5) * window.step * window.scale
        found *= np.where(away.min(axis=1) < 0.5, np.float32(LINES), np.float32(1.0))[:, None]
        found[:, 3] = 1.0
        colors, places = (np.zeros((width * height, n), dtype=np.float32) for n in (4, 3))
        colors[visible.place], places[visible.place] = found, seen
        self.colors: Reals = colors.reshape(height, width, 4)
        self.near: Array = near.reshape(height, width)
        self.points: Reals = places.reshape(height, width, 3)
        self.heights = (float(points[..., 2].min()), float(points[..., 2].max())) if len(points) else (0.0, 0.0)

    def part(self, window: Window, k: int) -> tuple[slice, slice] | None:
        """The rows and columns that the picture at time index k shows; None if it shows more than was rendered."""
        column, row = (int(n) for n in window.first_sample(k) - self.first)
        width, height = (FINE * n for n in window.size)
        inside = column >= 0 <= row and column + width <= self.near.shape[1] and row + height <= self.near.shape[0]
        return (slice(row, row + height), slice(column, column + width)) if inside else None


def _painted_part(window: Window, k: int) -> tuple[npt.NDArray[np.int64], tuple[int, int]]:
    """(position of the upper left sample, (width, height) [samples]) of the part to render.

    It contains all pictures of a film, or, where that is too large, the picture at time index k and its surroundings.
    """
    size = FINE * np.array(window.size)
    firsts = np.array([window.first_sample(number) for number in range(len(window.middles))])
    low, high = firsts.min(axis=0), firsts.max(axis=0) + size
    if np.prod((high - low).astype(float)) > MOST_SAMPLES:
        more = np.ceil(AROUND * size).astype(np.int64)
        low, high = firsts[k] - more, firsts[k] + size + more
    width, height = (int(n) for n in high - low)
    return low, (width, height)
