"""A lamp beside the viewer, light from the sky, and soft shadows on the ground.

Shadows are found with a shadow map: the silhouette of the robot as seen from the lamp, blurred. A point of the ground
is as dark as its projection on the map, on level ground, slopes and terrains alike.
"""

from __future__ import annotations

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.display.cameras import Lens
from kinemorph.display.painting.rasters import covered

BESIDE, ABOVE = -32.0, 44.0  # azimuth of the lamp from the viewer's, and its elevation [deg]
STEEP = 66.0  # elevation of the lamp for shadows [deg]: a higher lamp keeps shadows near the bodies
AMBIENT, SKY, LAMP, GLOSS = 0.54, 0.20, 0.40, 0.13  # shares of the light
SHARP = 24  # exponent of the gloss
DARKEST = 0.30  # share of the ground's brightness that a full shadow removes
BRIGHTEST = 1.3  # largest factor by which light brightens a color
BLUR = 2.2  # standard deviation of the blur of shadows [pixels]


def lamp_of(azimuth: float, above: float = ABOVE) -> Lens:
    """The view from the lamp beside a viewer at an azimuth [deg]; `above` is the elevation of the lamp [deg]."""
    return Lens.toward(above, azimuth + BESIDE)


def light_on(normals: Array, lamp: Lens, toward: Array) -> Array:
    """(factor for the surface color, gloss to add) for unit normals (n, 3), shape (n, 2).

    `toward` (3,) is the unit vector to the viewer.
    """
    facing = np.clip(normals @ lamp.axes[2], 0.0, 1.0)
    halfway = lamp.axes[2] + toward
    shine = np.clip(normals @ (halfway / np.linalg.norm(halfway)), 0.0, 1.0) ** SHARP
    factor = AMBIENT + SKY * (0.5 + 0.5 * normals[:, 2]) + LAMP * facing
    return np.column_stack([factor, GLOSS * shine * (facing > 0.0)])


class Shadow:
    """The shadow map of triangles with corners (m, 3, 3) [m], seen from a lamp; `scale` is in pixels per meter."""

    def __init__(self, corners: Array, lamp: Lens, scale: float) -> None:
        from scipy.ndimage import gaussian_filter

        self.lamp, self.scale = lamp, scale
        seen = lamp.seen(corners)[..., :2] * scale
        rim = np.ceil(4.0 * BLUR)
        points = seen.reshape(-1, 2)
        self.low = np.floor(points.min(axis=0)) - rim if len(points) else np.zeros(2)
        self.size = (np.ceil(points.max(axis=0)) - self.low + rim).astype(int) if len(points) else np.ones(2, dtype=int)
        width, height = (int(n) for n in self.size)
        drawn = np.zeros(width * height, dtype=np.float32)
        drawn[covered(seen - self.low, width, height).place] = 1.0
        self.map = gaussian_filter(drawn.reshape(height, width), BLUR, truncate=3.0)

    def on_floor(self, height: float) -> Array:
        """The corners (4, 3) [m] of the shadow map, projected by the lamp on a level floor at a height [m]."""
        u, v = (self.low + np.array([[0, 0], [1, 0], [0, 1], [1, 1]]) * self.size).T / self.scale
        right, up, toward = self.lamp.axes
        across = u[:, None] * right + v[:, None] * up
        found: Array = across + ((height - across[:, 2]) / toward[2])[:, None] * toward
        return found

    def at(self, points: Array) -> Array:
        """The darkness of the shadow, from 0 to 1, at points (n, 3) [m] of the ground, shape (n,)."""
        return self.on_map(*self.lamp.seen(points)[:, :2].T)

    def on_map(self, right: Array, up: Array) -> Array:
        """The darkness of the shadow where the lamp sees a point `right` and `up` [m], arrays of one shape."""
        width, height = (int(n) for n in self.size)
        x, y = (one.astype(np.float32) for one in (right * self.scale - self.low[0], up * self.scale - self.low[1]))
        x, y = np.clip(x - 0.5, 0.0, max(width - 1.01, 0.0)), np.clip(y - 0.5, 0.0, max(height - 1.01, 0.0))
        j, i = x.astype(np.int32), y.astype(np.int32)
        x, y, place = x - j, y - i, i * np.int32(width) + j
        dark, below, beside = self.map.ravel(), width if height > 1 else 0, 1 if width > 1 else 0
        upper, lower = (dark[at] + x * (dark[at + beside] - dark[at]) for at in (place, place + below))
        found: Array = upper + y * (lower - upper)
        return found
