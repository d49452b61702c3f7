"""One frame after the other: the paper, the floor with grid and shadow, what moves, and what is written over it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.display.cameras import CameraChoice
from kinemorph.display.painting.floors import Floor
from kinemorph.display.painting.lighting import DARKEST, GLOSS, STEEP, Shadow, lamp_of, light_on
from kinemorph.display.painting.page import Paper
from kinemorph.display.painting.rasters import Reals, lay_over, nearest, planes, taken
from kinemorph.display.painting.triangles import Cast, Shot, way_of
from kinemorph.display.painting.view_window import camera_lens, way_across, window_of
from kinemorph.display.scenes.building import Subjects, scene_of
from kinemorph.display.scenes.scene import Scene

if TYPE_CHECKING:
    from PIL.Image import Image

FINE = 2  # samples for each pixel, right and down
BRIGHTEST = 1.3  # factor of a color
LINES = 0.88  # how bright lines on slopes and terrains are
BEHIND = 0.18  # of what of a trace is hidden
PALEST = 0.25  # of the oldest part of a trace


def scene_for(subject: Subjects, camera: CameraChoice, **options: Any) -> Scene:
    """The scene of `scene_of`; several figures stand so that a camera sees all of them."""
    scene = scene_of(subject, **options)
    way = way_across(scene, camera_lens(scene, camera)[0])
    return scene if way is None else scene_of(subject, spread=way, **options)


class Easel:
    """Paints a scene at any of its times; `size` is the longer side [inch at 100 dpi].

    Traces join every time of the scene, so those between the frames make them round.
    """

    def __init__(self, scene: Scene, *, camera: CameraChoice = None, follow: str | None = None, size: float) -> None:
        self.scene = scene
        self.cast = Cast(scene)
        self.window = window_of(scene, self.cast, camera, follow)
        self.paper = Paper(self.scene, self.window, size)
        self.floor = Floor(self.paper, scene.floor)
        self.lamp = lamp_of(self.window.azimuth)
        self.high_lamp = lamp_of(self.window.azimuth, STEEP)
        self.colors = self.cast.colors.astype(np.float32)
        self.ways = [(way_of(figure, trace.at), trace.color) for figure in scene.figures for trace in figure.traces]

    def frame(self, k: int, clock: str = "") -> Image:
        """The picture at time k of the scene."""
        from PIL import Image

        paper = self.paper
        pixels = paper.blank(k)
        inner = paper.inner(pixels)
        shot = self.cast.at(k)
        shadow = self._shadow(shot)
        ground = inner[..., :3].astype(np.float32)
        if self.window.sees_floor and not self.cast.ground.any():
            self._lay_floor(ground, k, shadow)
        (rows, columns), painted, near = self._painted(shot, k, shadow)
        below = ground[rows, columns]
        below *= 1.0 - painted[..., 3:]
        below += painted[..., :3] * 255.0
        inner[..., :3] = np.clip(ground + 0.5, 0.0, 255.0)
        paper.write(k, clock, self._traces(k, (rows, columns), near))
        return Image.fromarray(np.ascontiguousarray(np.asarray(paper.canvas.buffer_rgba())[..., :3]))

    def _shadow(self, shot: Shot) -> Shadow | None:
        """What is dark, where a ground is seen that can be."""
        if not (self.window.sees_floor or self.cast.ground.any()):
            return None
        solid = (self.cast.colors[:, 3] > 0.5) & ~self.cast.ground & ~self.cast.force
        return Shadow(shot.points[self.cast.faces[solid]], self.high_lamp, self.paper.scale)

    def _lay_floor(self, ground: Any, k: int, shadow: Shadow | None) -> None:
        points, clear, lines = self.floor.laid(k)
        ground += lines[..., None] * (self.floor.ink - ground)
        if shadow is not None:
            part = self._part(self.paper.pixels(shadow.on_floor(self.floor.height), k))
            dark = shadow.at(points[part].reshape(-1, 3)).reshape(clear[part].shape)
            ground[part] *= 1.0 - DARKEST * (dark * clear[part])[..., None]

    def _part(self, places: Array) -> tuple[slice, slice]:
        """The rows and columns of the picture that hold places (n, >= 2) [pixels]."""
        size = np.array([self.paper.width, self.paper.height])
        low = np.clip(np.floor(places[:, :2].min(axis=0, initial=np.inf)), 0, size).astype(int)
        high = np.clip(np.ceil(places[:, :2].max(axis=0, initial=-np.inf)), low, size).astype(int)
        return slice(int(low[1]), int(high[1])), slice(int(low[0]), int(high[0]))

    def _painted(self, shot: Shot, k: int, shadow: Shadow | None) -> tuple[tuple[slice, slice], Reals, Array]:
        """(rows and columns, RGBA (h, w, 4) there from 0 to 1, nearness [samples] of samples there) of what moves.

        Colors are multiplied by opacity.
        """
        cast = self.cast
        places = self.paper.pixels(shot.points, k)
        rows, columns = self._part(places)
        width, height = FINE * (columns.stop - columns.start), FINE * (rows.stop - rows.start)
        corners = ((places - [columns.start, rows.start, 0.0]) * FINE)[cast.faces]
        a, b, c = np.moveaxis(corners[..., :2], 1, 0)
        facing = (b - a)[:, 0] * (c - a)[:, 1] < (b - a)[:, 1] * (c - a)[:, 0]  # y is downward
        light = self._light(shot, facing)
        solid = cast.colors[:, 3] >= 1.0
        shown = facing | ~cast.closed | ~solid

        chosen = np.flatnonzero(shown & solid)
        visible, near = nearest(corners[chosen], width, height)
        lit = planes(light[chosen], corners[chosen]).astype(np.float32)
        colors = self.colors[chosen[visible.triangle]]
        colors *= np.clip(taken(lit[:, 0], visible, width), 0.0, BRIGHTEST)[:, None]
        colors += np.clip(taken(lit[:, 1], visible, width), 0.0, GLOSS)[:, None]
        if shadow is not None and cast.ground.any():  # slopes and terrains have their grid and their shadow
            dark = np.flatnonzero(cast.ground[chosen[visible.triangle]])
            spots = planes(shot.points[cast.faces[chosen]], corners[chosen])
            points = np.stack([taken(spots[:, axis], visible.only(dark), width) for axis in range(3)], axis=1)
            away = np.abs((points[:, :2] / self.paper.step + 0.5) % 1.0 - 0.5) * self.paper.step * self.paper.scale
            lines = np.where(away.min(axis=1) < 0.5, LINES, 1.0)
            colors[dark] *= (lines - DARKEST * shadow.at(points))[:, None]
        np.minimum(colors, 1.0, out=colors)
        colors[:, 3] = 1.0
        picture = np.zeros((width * height, 4), dtype=np.float32)
        picture[visible.place] = colors

        through = np.flatnonzero(shown & ~solid)
        if len(through):
            tints = cast.colors[through, None, :3] * light[through, :, :1] + light[through, :, 1:]
            lay_over(picture, near, corners[through], tints, cast.colors[through, 3], width, height)
        fine = picture.reshape(height, width, 4)
        coarse: Any = sum(fine[i::FINE, j::FINE] for i in range(FINE) for j in range(FINE))
        return (rows, columns), coarse / np.float32(FINE**2), near.reshape(height, width)

    def _light(self, shot: Shot, facing: Any) -> Array:
        """(factor, gloss) at the corners of all faces, shape (m, 3, 2); the inside of what is open is lit as well."""
        cast, toward = self.cast, self.window.lens.axes[2]
        light = light_on(shot.normals, self.lamp, toward)[cast.faces]
        turned = ~facing & ~cast.closed
        if turned.any():
            light[turned] = light_on(-shot.normals, self.lamp, toward)[cast.faces[turned]]
        return light

    def _traces(self, k: int, part: tuple[slice, slice], near: Array) -> list[tuple[Array, Array]]:
        """Ways so far and the RGBA of their pieces: older ones paler, and those behind what is seen."""
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
        """Whether points (n, 3) [m] lie behind what is seen; in a flat view all lies in one plane, and nothing does."""
        hidden = np.zeros(len(points), dtype=bool)
        if self.window.lens.flat:
            return hidden
        x, y, z = ((self.paper.pixels(points, k) - [part[1].start, part[0].start, 0.0]) * FINE).T
        inside = (x >= 0.0) & (y >= 0.0) & (x < near.shape[1]) & (y < near.shape[0])
        hidden[inside] = near[y[inside].astype(int), x[inside].astype(int)] > z[inside] + FINE
        return hidden
