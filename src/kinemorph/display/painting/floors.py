"""The level floor under a scene: its grid fades with the distance from the bodies and at the edges of the picture."""

from __future__ import annotations

import math

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.display.cameras import Lens
from kinemorph.display.canvas import GROUND
from kinemorph.display.painting.rasters import Reals
from kinemorph.display.painting.view_window import Window

REACH = 0.45  # distance over which the floor fades out around the bodies, as a fraction of their footprint
RIM = 30.0  # distance from the edges of the picture over which the floor fades out [pixels]
LINE = 0.8  # width of the grid lines [pixels]


class Floor:
    """The level floor under a scene at a height [m]: its points at all pixels, its opacity, and its grid lines."""

    def __init__(self, window: Window, height: float) -> None:
        self.window, self.height = window, height
        rise, turn = np.radians([window.elevation, window.azimuth])
        self.sine, self.cosine = float(np.sin(rise)), float(np.cos(rise))
        self.away = -np.array([np.cos(turn), np.sin(turn), 0.0])
        self.right = window.lens.axes[0]
        low, high = window.ground
        self.half = 0.5 * (high - low)
        self.center = 0.5 * (low + high)
        self.reach = REACH * float(max((high - low).max(), 1e-6))
        self.ink = np.array([int(GROUND[k : k + 2], 16) for k in (1, 3, 5)], dtype=np.float32)
        self.kept: tuple[Reals, Reals] | None = None
        across, down = (np.arange(count) + 0.5 for count in window.size)
        fades = [smooth(np.minimum(one, len(one) - one) / RIM) for one in (down, across)]
        self.rim = fades[0][:, None] * fades[1]  # opacity of the floor near the edges of the picture

    def seen_by(self, lens: Lens, k: int, part: tuple[slice, slice]) -> tuple[Array, Array]:
        """Where another lens sees the floor at the rows and columns `part` of the pixels: right and up (h, w) [m]."""
        u, along = self._ways(k)
        middle = lens.axes[:2, 2] * self.height
        rows, columns = (
            np.outer(lens.axes[:2] @ self.away, along[part[0]]),
            np.outer(lens.axes[:2] @ self.right, u[part[1]]),
        )
        right, up = middle[:, None, None] + rows[:, :, None] + columns[:, None]
        return right, up

    def _ways(self, k: int) -> tuple[Array, Array]:
        """How far the floor's points at the pixels are to the right (w,) and away from the viewer (h,) [m]."""
        low, (width, height) = self.window.corner(k), self.window.size
        u = low[0] + (np.arange(width) + 0.5) / self.window.scale
        v = low[1] + (height - np.arange(height) - 0.5) / self.window.scale
        return u, (v - self.height * self.cosine) / self.sine

    def points(self, k: int) -> Array:
        """The points (h, w, 3) [m] of the floor that are seen at the pixels at time index k."""
        u, along = self._ways(k)
        found: Array = u[None, :, None] * self.right + along[:, None, None] * self.away
        found[..., 2] = self.height
        return found

    def laid(self, k: int) -> tuple[Reals, Reals]:
        """(opacity of the floor (h, w), opacity of its grid lines (h, w)) at time index k."""
        if self.kept is not None and not self.window.followed:
            return self.kept
        points = self.points(k)
        outside = np.abs(points[..., :2] - self.window.middles[k, :2] - self.center) - self.half
        far = np.linalg.norm(np.maximum(outside, 0.0), axis=-1) / self.reach
        clear = smooth(1.0 - far) * self.rim
        lines = np.zeros(clear.shape)
        step, scale = self.window.step, self.window.scale
        for axis in (0, 1):
            # all lines are equally wide in the picture: the distance to the nearest line is taken in pixels
            slope = math.hypot(self.right[axis], self.away[axis] / self.sine) / scale
            way = np.abs((points[..., axis] / step + 0.5) % 1.0 - 0.5) * step / slope
            lines = np.maximum(lines, np.clip(0.5 * LINE + 0.5 - way, 0.0, 1.0))
        self.kept = (clear.astype(np.float32), (lines * clear).astype(np.float32))
        return self.kept


def smooth(share: Array) -> Array:
    """The smoothstep function: `share` limited to the range from 0 to 1, with zero slope at both ends."""
    within = np.clip(share, 0.0, 1.0)
    return within * within * (3.0 - 2.0 * within)
