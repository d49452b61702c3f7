"""The part of the world that a picture shows: the whole motion, or the surroundings of a followed body.

Lengths perpendicular to the line of sight are true to scale. A view along a world axis, or perpendicular to a plane of
motion, is flat: its picture has axes with numbers instead of a floor.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array, evenly
from kinemorph.display.cameras import CameraChoice, Lens, camera_of
from kinemorph.display.painting.lighting import STEEP, lamp_of
from kinemorph.display.painting.rasters import FINE
from kinemorph.display.painting.triangles import Cast, path_of
from kinemorph.display.scenes.scene import Scene
from kinemorph.display.scenes.usual_view import followed, plane_azimuth

LOOKED_AT = 40  # number of times at which the size of the scene is measured
MARGIN, FLOOR_MARGIN = 0.04, 0.08  # around the bodies, as a fraction of the longer side: without and with a floor
LOWEST = 2.0  # least elevation at which a floor is drawn [deg]
NEAREST = 0.3  # sides of a picture, at least, as a fraction of the largest robot: also for a view along a mechanism
HIGH = 1.5  # height above the floor, over the size of the robot, up to which the picture contains the shadow
NARROWEST = 0.44  # shorter side of a picture, at least, as a fraction of the longer one
GLIDE = 0.4  # standard deviation of the filter of a camera that follows smoothly [s]
GRID_STEPS = (1.0, 2.0, 5.0, 10.0)
SQUARES = 6.0  # squares of the grid along the bodies
GAP = 0.25  # between figures side by side, as a fraction of the widest one


@dataclass(frozen=True, eq=False)
class Window:
    """The rectangle that a picture shows: corners `low` and `high` (2,) [m right, m up] in the projection of `lens`.

    `middles` (n, 3) [m] is the position of the followed body at all times of the scene, zeros if none is followed; the
    corners and `ground` are relative to it. `ground` (2, 2) [m] are the corners of the footprint of the bodies in x and
    y. `scale` is in pixels per meter, angles are in degrees.
    """

    lens: Lens
    azimuth: float
    elevation: float
    low: Array
    high: Array
    middles: Array
    ground: Array
    followed: bool
    scale: float = 1.0

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the picture [pixels]."""
        width, height = np.rint((self.high - self.low) * self.scale)
        return int(width), int(height)

    @property
    def step(self) -> float:
        """The distance between the lines of the grid on the floor [m]."""
        footprint, extent = np.ptp(self.ground, axis=0).max(), (self.high - self.low).max()
        return round_step(float(max(footprint, extent / 2.0)) / SQUARES)

    @property
    def sees_floor(self) -> bool:
        """Whether the camera looks down at a floor."""
        return not self.lens.flat and self.elevation > LOWEST

    def first_sample(self, k: int) -> npt.NDArray[np.int64]:
        """The shift (2,) of the picture at time index k as its camera follows a body: whole samples, right and down.

        Because the shift is a whole number, things at rest cover the same samples at all times and are rendered once.
        """
        right, up = self.lens.seen(self.middles[k])[:2] * self.scale * FINE
        return np.rint([right, -up]).astype(np.int64)

    def corner(self, k: int) -> Array:
        """The lower left corner (2,) of the picture at time index k, in the projection [m right, m up]."""
        found: Array = self.low + self.first_sample(k) * [1.0, -1.0] / (self.scale * FINE)
        return found

    def samples(self, points: Array) -> Array:
        """World points (..., 3) [m] as (x right, y down, nearness) in samples of the picture without its shift."""
        seen, low = self.lens.seen(points) * self.scale, self.low * self.scale
        placed = [seen[..., 0] - low[0], self.size[1] - (seen[..., 1] - low[1]), seen[..., 2]]
        found: Array = np.stack(placed, axis=-1) * FINE
        return found

    def pixels(self, points: Array, k: int) -> Array:
        """World points (..., 3) [m] as (x right, y down, nearness) in pixels of the picture at time index k."""
        found: Array = (self.samples(points) - [*self.first_sample(k), 0.0]) / FINE
        return found

    def fitted(self, scale: float, size: Sequence[float]) -> Window:
        """The same view at a scale [pixels/m], widened on all sides to fill a picture of a size [pixels]."""
        more = 0.5 * (np.array(size) / scale - (self.high - self.low))
        return replace(self, low=self.low - more, high=self.high + more, scale=scale)


def camera_lens(scene: Scene, choice: CameraChoice) -> tuple[Lens, float]:
    """(lens, azimuth [deg]) of a camera; by default perpendicular to the vertical plane of motion, if there is one."""
    if choice is None:
        azimuth = plane_azimuth(*((figure.positions, figure.quaternions) for figure in scene.figures))
        if azimuth is not None:
            return Lens.toward(0.0, azimuth, flat=True), azimuth
    camera = camera_of(choice)
    straight = abs(camera.elevation) in (0.0, 90.0) and camera.azimuth % 90.0 == 0.0
    return Lens.toward(camera.elevation, camera.azimuth, flat=straight), camera.azimuth


def step_across(scene: Scene, lens: Lens) -> Array | None:
    """The step (3,) [m] from each figure to the next with which none hides another in a flat view.

    None where there is one figure only, or where the view is not flat.
    """
    if len(scene.figures) < 2 or not lens.flat:
        return None
    lows, highs = [], []
    for figure in scene.figures:
        alone = replace(scene, figures=(replace(figure, offset=np.zeros(3)),), grounds=())
        cast = Cast(alone)
        seen = [lens.seen(cast.at(k).points)[:, 0] for k in _looked_at(scene)]
        lows.append(min(float(one.min(initial=0.0)) for one in seen))
        highs.append(max(float(one.max(initial=0.0)) for one in seen))
    step = (1.0 + GAP) * max(high - low for low, high in zip(lows, highs, strict=True))
    way: Array = step * lens.axes[0]
    return way


def window_of(
    scene: Scene,
    cast: Cast,
    choice: CameraChoice,
    follow: str | None,
    around: float = 0.0,
    *,
    shadows: bool = False,
    glide: bool = False,
) -> Window:
    """The window in which a scene is shown, with `around` [m] of extra room. `follow` names a body to follow,
    or "world" for a camera at rest.

    With `glide` the camera follows smoothly: it does not bob with each step of the body. With `shadows`, the window
    also contains the shadow on the floor, where the camera looks down at one.
    """
    camera = camera_of(choice, followed(scene, follow), *(figure.robot for figure in scene.figures))
    lens, azimuth = camera_lens(scene, choice)
    middles = _middles(scene, camera.follow)
    if glide and len(middles) > 1:
        middles = _smooth(middles, scene.times)
    chosen = ~cast.ground & ~cast.force  # the long arrow of a short impact must not make the picture large
    if camera.follow is not None:
        chosen &= ~cast.still
    moving = np.unique(cast.faces[chosen])
    lows, highs, grounds = [], [], []
    size = max((figure.size for figure in scene.figures), default=0.0)
    lit = shadows and not lens.flat and camera.elevation > LOWEST and not cast.ground.any()
    light = lamp_of(azimuth, STEEP).axes[2] if lit else None
    for k in _looked_at(scene):
        points = cast.at(k).points[moving] - middles[k] if len(moving) else np.zeros((1, 3))
        shadow = points[:0] if light is None else _shadow(points, scene.floor - middles[k, 2], light, size)
        seen = lens.seen(np.concatenate([points, shadow]))[:, :2]
        lows.append(seen.min(axis=0))
        highs.append(seen.max(axis=0))
        grounds.append([points[:, :2].min(axis=0), points[:, :2].max(axis=0)])
    low, high = np.min(lows, axis=0), np.max(highs, axis=0)
    if camera.follow is not None and not glide:  # the followed body is in the middle
        high = np.maximum(high, -low)
        low = -high
    elif camera.follow is None:
        ways = [lens.seen(path_of(figure, trace.at))[:, :2] for figure in scene.figures for trace in figure.traces]
        low = np.min([low, *(way.min(axis=0) for way in ways)], axis=0)
        high = np.max([high, *(way.max(axis=0) for way in ways)], axis=0)
    ground = np.array([np.min([g[0] for g in grounds], axis=0), np.max([g[1] for g in grounds], axis=0)])
    low, high = _framed(low - around, high + around, MARGIN if lens.flat else FLOOR_MARGIN, NEAREST * size)
    elevation = 0.0 if lens.flat else camera.elevation
    return Window(lens, azimuth, elevation, low, high, middles, ground, camera.follow is not None)


def _shadow(points: Array, floor: float, light: Array, size: float) -> Array:
    """Points (n, 3) [m] projected on a floor at a height [m], along the unit vector `light` (3,) to the lamp.

    Points higher than HIGH robot sizes are left out: the floor under a flying robot is not in the picture.
    """
    heights = points[:, 2] - floor
    low = heights <= HIGH * size
    shadow: Array = points[low] - (heights[low] / light[2])[:, None] * light
    return shadow


def _looked_at(scene: Scene) -> list[int]:
    """The indices of at most LOOKED_AT times, spread evenly over the scene."""
    return [int(k) for k in evenly(len(scene.times), LOOKED_AT)]


def _middles(scene: Scene, follow: str | None) -> Array:
    """The position of a body at all times, shape (n, 3) [m]; the mean over all figures that have such a body."""
    if follow is None:
        return np.zeros((len(scene.times), 3))
    ways = [
        figure.positions[:, figure.bodies.index(follow)] + figure.offset
        for figure in scene.figures
        if follow in figure.bodies
    ]
    middle: Array = np.mean(ways, axis=0)
    return middle


def _smooth(way: Array, times: Array) -> Array:
    """A way (n, 3) [m] without what changes faster than GLIDE, the same at its ends."""
    from scipy.ndimage import gaussian_filter1d

    step = float(times[-1] - times[0]) / max(len(times) - 1, 1)
    steady = np.linspace(way[0], way[-1], len(way))  # a filter keeps a line only where it does not end
    found: Array = steady + gaussian_filter1d(way - steady, min(GLIDE / max(step, 1e-9), len(way)), axis=0)
    return found


def _framed(low: Array, high: Array, margin: float, least: float) -> tuple[Array, Array]:
    """The corners (2,) [m] of a picture that shows the rectangle from `low` to `high` (2,) [m] with a margin.

    The margin is a fraction of the longer side. Both sides are at least NARROWEST of the longer one, and at least
    `least` [m].
    """
    longest = max(float((high - low).max()), 1e-6)
    half = np.maximum(0.5 * (high - low) + margin * longest, 0.5 * max(NARROWEST * longest, least))
    middle = 0.5 * (low + high)
    return middle - half, middle + half


def round_step(length: float) -> float:
    """The smallest of 1, 2 or 5 times a power of ten that is not less than a length [m]."""
    power = 10.0 ** math.floor(math.log10(max(length, 1e-9)))
    return float(next(power * step for step in GRID_STEPS if power * step >= length * 0.999))
