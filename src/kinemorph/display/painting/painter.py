"""Renders scenes on pages: the floor with grid and shadow, the bodies, and the text over them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.display.cameras import CameraChoice
from kinemorph.display.canvas import Figure
from kinemorph.display.painting.floors import Floor
from kinemorph.display.painting.ground_picture import GroundPicture
from kinemorph.display.painting.lighting import BRIGHTEST, DARKEST, GLOSS, STEEP, Shadow, lamp_of, light_on
from kinemorph.display.painting.page import Page, checked_size
from kinemorph.display.painting.rasters import FINE, Reals, lay_over, nearest, planes, taken
from kinemorph.display.painting.triangles import Cast, Shot, path_of
from kinemorph.display.painting.view_window import Window, camera_lens, step_across, window_of
from kinemorph.display.scenes.building import Subjects, scene_of
from kinemorph.display.scenes.scene import Scene

if TYPE_CHECKING:
    from PIL.Image import Image

FINER = 1.5  # resolution of a still picture over that of a film
GHOST = 0.72  # share of white in the pale configurations behind a still picture
BEHIND = 0.18  # opacity of hidden parts of a trace
PALEST = 0.25  # opacity of the oldest part of a trace


def scene_for(subject: Subjects, camera: CameraChoice, **options: Any) -> Scene:
    """The scene that `scene_of` makes with `options`; in a flat view, several figures are placed side by side."""
    scene = scene_of(subject, **options)
    way = step_across(scene, camera_lens(scene, camera)[0])
    return scene if way is None else scene_of(subject, spread=way, **options)


class Painter:
    """Renders the triangles of a scene, seen through a window, on RGBA pixels (h, w, 4) from 0 to 255.

    Colors of pixels are premultiplied by their opacity, the fourth number.
    """

    def __init__(self, cast: Cast, window: Window) -> None:
        self.cast, self.window = cast, window
        self.floor = Floor(window, cast.scene.floor)
        self.lamp, self.high_lamp = lamp_of(window.azimuth), lamp_of(window.azimuth, STEEP)
        self.colors = cast.colors.astype(np.float32)
        self.dark = np.flatnonzero((cast.colors[:, 3] > 0.5) & ~cast.ground & ~cast.force)  # faces that cast shadows
        self.laid: GroundPicture | None = None  # what was painted of slopes and terrains

    def blank(self) -> Reals:
        """White pixels to render on; transparent in a flat view, where Matplotlib's axes are seen behind them."""
        width, height = self.window.size
        return np.full((height, width, 4), 0.0 if self.window.lens.flat else 255.0, dtype=np.float32)

    def show(self, axes: Any, pixels: Reals) -> None:
        """Shows rendered pixels in Matplotlib axes, whose units become meters to the right and up."""
        cover = np.maximum(pixels[..., 3:], 1.0) / 255.0
        straight = np.concatenate([pixels[..., :3] / cover, pixels[..., 3:]], axis=-1)
        (left, low), (right, high) = self.window.low, self.window.high
        axes.imshow(
            np.clip(straight + 0.5, 0.0, 255.0).astype(np.uint8),
            extent=(left, right, low, high),
            aspect="auto",
            zorder=2,
        )
        axes.autoscale(False)

    def lay_floor(self, pixels: Reals, k: int) -> None:
        """Renders the level floor, its grid and the shadow at time index k, if the camera looks down at the floor."""
        if not self.window.sees_floor or self.cast.ground.any():
            return
        shadow = self._shadow(self.cast.at(k))
        clear, lines = self.floor.laid(k)
        ground = pixels[..., :3]
        drawn = np.nonzero(lines)
        ground[drawn] += lines[drawn][:, None] * (self.floor.ink - ground[drawn])
        part = self._part(self.window.pixels(shadow.on_floor(self.floor.height), k))
        dark = shadow.on_map(*self.floor.seen_by(shadow.lamp, k, part))
        ground[part] *= 1.0 - np.float32(DARKEST) * (dark * clear[part])[..., None]

    def paint(self, pixels: Reals, k: int, *, fade: float = 0.0, of: Any = True) -> tuple[tuple[slice, slice], Array]:
        """Renders the scene at time index k over the pixels; `fade` from 0 to 1 mixes its colors with white.

        `of`, booleans (m,) or True for all, selects triangles. Returns the rows and columns that were changed, and the
        nearness to the viewer of the samples there [samples].
        """
        part, painted, near = self._painted(self.cast.at(k), k, of)
        if fade:
            painted[..., :3] += fade * (painted[..., 3:] - painted[..., :3])
        below = pixels[part]
        below *= 1.0 - painted[..., 3:]
        below += painted * np.float32(255.0)
        return part, near

    def _shadow(self, shot: Shot) -> Shadow:
        corners, lamp = shot.points[self.cast.faces[self.dark]], self.high_lamp
        right, up = (np.moveaxis(corners @ axis, 1, 0) for axis in lamp.axes[:2])
        lit = (right[1] - right[0]) * (up[2] - up[0]) > (right[2] - right[0]) * (up[1] - up[0])
        return Shadow(corners[lit | ~self.cast.closed[self.dark]], lamp, self.window.scale)

    def _part(self, places: Array) -> tuple[slice, slice]:
        """The rows and columns of the picture that contain points (n, >= 2) given in pixels right and down."""
        size = np.array(self.window.size)
        low = np.clip(np.floor(places[:, :2].min(axis=0, initial=np.inf)), 0, size).astype(int)
        high = np.clip(np.ceil(places[:, :2].max(axis=0, initial=-np.inf)), low, size).astype(int)
        return slice(int(low[1]), int(high[1])), slice(int(low[0]), int(high[0]))

    def _painted(self, shot: Shot, k: int, of: Any) -> tuple[tuple[slice, slice], Reals, Array]:
        """The rendered triangles at time index k: (rows and columns, RGBA (h, w, 4) from 0 to 1, nearness [samples]).

        Colors are premultiplied by opacity. `of` selects triangles as in `paint`.
        """
        cast = self.cast
        places = self.window.pixels(shot.points, k)
        grounded = bool((cast.ground & cast.solid & of).any())
        rows, columns = (slice(0, n) for n in self.window.size[::-1]) if grounded else self._part(places)
        width, height = FINE * (columns.stop - columns.start), FINE * (rows.stop - rows.start)
        corners = ((places - [columns.start, rows.start, 0.0]) * FINE)[cast.faces]
        a, b, c = np.moveaxis(corners[..., :2], 1, 0)
        facing = (b - a)[:, 0] * (c - a)[:, 1] < (b - a)[:, 1] * (c - a)[:, 0]  # y is downward
        light = self._light(shot, facing)
        shown = (facing | ~cast.closed | ~cast.solid) & of
        picture: Reals = np.zeros((width * height, 4), dtype=np.float32)
        if grounded:
            picture, behind = self._ground(shot, k)

        chosen = np.flatnonzero(shown & cast.solid & ~cast.ground)
        visible, near = nearest(corners[chosen], width, height)
        if grounded:
            visible = visible.only(np.flatnonzero(near[visible.place] > behind[visible.place]))
            near = np.maximum(near, behind)
        lit = planes(light[chosen], corners[chosen]).astype(np.float32)
        colors = self.colors[chosen[visible.triangle]]
        colors *= np.clip(taken(lit[:, 0], visible, width), 0.0, BRIGHTEST)[:, None]
        colors += np.clip(taken(lit[:, 1], visible, width), 0.0, GLOSS)[:, None]
        np.minimum(colors, 1.0, out=colors)
        colors[:, 3] = 1.0
        picture[visible.place] = colors

        through = np.flatnonzero(shown & ~cast.solid)
        if len(through):
            tints = cast.colors[through, None, :3] * light[through, :, :1] + light[through, :, 1:]
            lay_over(picture, near, corners[through], tints, cast.colors[through, 3], width, height)
        fine = picture.reshape(height, width, 4)
        coarse: Any = sum(fine[i::FINE, j::FINE] for i in range(FINE) for j in range(FINE))
        return (rows, columns), coarse / np.float32(FINE**2), near.reshape(height, width)

    def _ground(self, shot: Shot, k: int) -> tuple[Reals, Array]:
        """(RGBA (n, 4) from 0 to 1, nearness (n,)) of the solid ground at all samples of the picture at time index k.

        The ground is rendered once; only the shadow on it is rendered for every time.
        """
        part = self.laid.part(self.window, k) if self.laid else None
        if self.laid is None or part is None:
            self.laid = GroundPicture(self.cast, self.window, k)
            part = self.laid.part(self.window, k)
            assert part is not None
        colors, points = self.laid.colors[part].copy(), self.laid.points[part]
        shadow = self._shadow(shot)
        ends = np.concatenate([shadow.on_floor(height) for height in self.laid.heights])
        rows, columns = (slice(FINE * one.start, FINE * one.stop) for one in self._part(self.window.pixels(ends, k)))
        shade = colors[rows, columns]
        dark = shadow.at(points[rows, columns].astype(float).reshape(-1, 3)).reshape(shade.shape[:2])
        shade[..., :3] *= 1.0 - DARKEST * dark[..., None]
        np.minimum(colors, 1.0, out=colors)
        return colors.reshape(-1, 4), self.laid.near[part].reshape(-1)

    def _light(self, shot: Shot, facing: Any) -> Array:
        """(factor for the color, added gloss) at the corners of all faces, shape (m, 3, 2).

        Open surfaces that are seen from behind are lit with reversed normals.
        """
        cast, toward = self.cast, self.window.lens.axes[2]
        light = light_on(shot.normals, self.lamp, toward)[cast.faces]
        turned = ~facing & ~cast.closed
        if turned.any():
            light[turned] = light_on(-shot.normals, self.lamp, toward)[cast.faces[turned]]
        return light


class Painting:
    """A scene on a page, which can be rendered at each of its times.

    `size` is the longer side of the page, or its width and height [inch at 100 dpi]; `around` is extra room around the
    scene [m], and `ground` says whether a still picture has a floor with a shadow. Traces pass through every time of
    the scene, so times between the frames of a film make them smooth.
    """

    def __init__(
        self,
        scene: Scene,
        *,
        camera: CameraChoice = None,
        follow: str | None = None,
        size: float | tuple[float, float],
        around: float = 0.0,
        ground: bool = True,
        glide: bool = False,
        least: float = 0.0,
    ) -> None:
        self.scene, self.cast, self.ground = scene, Cast(scene), ground
        window = window_of(scene, self.cast, camera, follow, around, shadows=ground, glide=glide)
        self.page = Page(scene, window, checked_size(size), least)
        self.window = self.page.window
        self.painter = Painter(self.cast, self.window)
        self.ways = [(path_of(figure, trace.at), trace.color) for figure in scene.figures for trace in figure.traces]

    def frame(self, k: int, clock: str = "") -> Image:
        """The picture at time index k of the scene, with `clock` as the text in its upper right corner."""
        from PIL import Image

        inner = self.page.inner(self.page.blank(k))
        pixels = inner.astype(np.float32)
        self.painter.lay_floor(pixels, k)
        part, near = self.painter.paint(pixels, k)
        inner[...] = np.clip(pixels + 0.5, 0.0, 255.0)
        self.page.write(k, clock, self._traces(k, part, near))
        return Image.fromarray(np.ascontiguousarray(np.asarray(self.page.canvas.buffer_rgba())[..., :3]))

    def still(self) -> Figure:
        """A Matplotlib figure that shows the scene at its last time, and in pale colors at all times before."""
        window = replace(self.window, scale=FINER * self.window.scale)
        painter, last = Painter(self.cast, window), len(self.scene.times) - 1
        pixels = painter.blank()
        if self.ground:
            painter.lay_floor(pixels, last)
        if last:
            painter.paint(pixels, last, of=self.cast.ground)
        for k in range(last):
            painter.paint(pixels, k, fade=GHOST, of=~self.cast.ground)
        painter.paint(pixels, last, of=~self.cast.ground if last else True)
        painter.show(self.page.axes, pixels)
        figure: Figure = self.page.figure
        return figure

    def plot(self, points: Array, **look: Any) -> None:
        """Draws a line through points (n, 3) [m] over a still picture; `look` are options of Matplotlib's `plot`."""
        self.page.axes.plot(*self.window.lens.seen(points)[:, :2].T, zorder=5, clip_on=False, **look)

    def _traces(self, k: int, part: tuple[slice, slice], near: Array) -> list[tuple[Array, Array]]:
        """(points (k + 1, 3) [m], RGBA (k, 4) of the lines between them) of each trace up to time index k.

        Older and hidden lines are paler.
        """
        if k == 0:
            return []
        age = PALEST + (1.0 - PALEST) * np.arange(1, k + 1) / k
        found = []
        for way, color in self.ways:
            hidden = self._hidden(way[: k + 1], k, part, near)
            tints = np.tile(np.array(color, dtype=float), (k, 1))
            tints[:, 3] *= age * np.where(hidden[1:] & hidden[:-1], BEHIND, 1.0)
            found.append((way[: k + 1], tints))
        return found

    def _hidden(self, points: Array, k: int, part: tuple[slice, slice], near: Array) -> npt.NDArray[np.bool_]:
        """Whether each of the points (n, 3) [m] is hidden behind a body, shape (n,); never in a flat view.

        `part` and `near`, the rendered rows and columns and their nearness at time index k, come from `paint`.
        """
        hidden = np.zeros(len(points), dtype=bool)
        if self.window.lens.flat:
            return hidden
        x, y, z = ((self.window.pixels(points, k) - [part[1].start, part[0].start, 0.0]) * FINE).T
        inside = (x >= 0.0) & (y >= 0.0) & (x < near.shape[1]) & (y < near.shape[0])
        hidden[inside] = near[y[inside].astype(int), x[inside].astype(int)] > z[inside] + FINE
        return hidden
