"""Moving pictures: a robot in one configuration after the other, written as a gif that runs at the right speed.

What stands still is drawn once; of every frame only the robot, its shadow, the traces and the clock are painted over
it. Frames share one palette, and the times between them are whole hundredths of a second, as the format wants them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinemorph.display.canvas import GROUND, INK, PALE, SHADOW, blank
from kinemorph.display.puppets import Lens, Poses, Puppet, box_of, lit
from kinemorph.display.solids import Array
from kinemorph.errors import KinemorphError, UnsupportedError

if TYPE_CHECKING:
    from PIL.Image import Image

Progress = Callable[[int, int], None]  # (frames done, frames in all)
COLORS = 96  # of the palette
TRACE = "#d55e00"
TRACED = 4  # points of a trace for each frame: what moves fast goes a long way from one to the next
LOOKED_AT = 40  # configurations from which the size of the picture is taken
MARGINS = (0.12, 0.12, 0.3, 0.34)  # left, right, bottom, top [inch]
AXES_MARGINS = (0.58, 0.12, 0.45, 0.34)
GRID_STEPS = (1.0, 2.0, 5.0, 10.0)


@dataclass(frozen=True)
class Book:
    """What is to be painted: a puppet, its poses, a text for every frame, and the ways of traced points.

    `traces` hold TRACED points (n, 3) [m] from each frame to the next.
    """

    puppet: Puppet
    poses: Poses
    texts: Sequence[str]
    title: str = ""
    traces: tuple[Array, ...] = ()


def frame_time(fps: float) -> float:
    """The time between frames [s], whole hundredths, that comes nearest to a rate [1/s]."""
    if not 0.0 < fps <= 50.0:
        raise UnsupportedError(f"fps is {fps:g}; expected a number above 0 and up to 50, which is what a gif can show.")
    return max(2, round(100.0 / fps)) / 100.0


def write_gif(
    book: Book, path: Path | str, lens: Lens, *, period: float, size: float = 4.6, progress: Progress | None = None
) -> Path:
    """Paints all frames and writes them; `size` [inch at 100 dpi] is the longer side of the picture."""
    path = gif_path(path)
    easel = Easel(book, lens, size)
    frames = []
    for number in range(book.poses.count):
        frames.append(easel.frame(number))
        if progress:
            progress(number + 1, book.poses.count)
    from PIL.Image import Dither

    palette = _palette(frames)
    small = [frame.quantize(palette=palette, dither=Dither.NONE) for frame in frames]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        timing: dict[str, Any] = {"duration": round(1000.0 * period), "loop": 0}
        small[0].save(path, save_all=True, append_images=small[1:], disposal=1, **timing)
    except OSError as error:
        raise KinemorphError(f"cannot write '{path}': {error.strerror or error}. Choose another place.") from error
    return path


def gif_path(path: Path | str) -> Path:
    """The path of a gif; another ending is refused."""
    if Path(path).suffix.lower() != ".gif":
        raise UnsupportedError(f"'{path}': moving pictures are written as gif. Use a name that ends in .gif.")
    return Path(path)


def _palette(frames: Sequence[Image]) -> Image:
    """One palette for all: that of some frames side by side."""
    from PIL import Image

    some = [frames[k] for k in np.unique(np.linspace(0, len(frames) - 1, 5).astype(int))]
    width, height = some[0].size
    sheet = Image.new("RGB", (width, height * len(some)))
    for k, frame in enumerate(some):
        sheet.paste(frame, (0, k * height))
    found = sheet.quantize(colors=COLORS, method=Image.Quantize.MEDIANCUT)
    entries = np.array(found.getpalette() or [255, 255, 255])
    entries[entries > 249] = 255  # paper stays white
    found.putpalette([int(entry) for entry in entries])
    return found


class Easel:
    """The picture with all that stands still, and what is painted anew for every frame."""

    def __init__(self, book: Book, lens: Lens, size: float) -> None:
        from matplotlib.collections import LineCollection, PolyCollection

        self.book, self.lens = book, lens
        numbers = np.unique(np.linspace(0, book.poses.count - 1, LOOKED_AT).astype(int))
        low, high = box_of(book.puppet, book.poses, [int(k) for k in numbers])
        for trace in book.traces:
            low, high = np.minimum(low, trace.min(axis=0)), np.maximum(high, trace.max(axis=0))
        self.floor, self.step = float(low[2]), _round_step(float((high - low)[:2].max()) / 5.0)
        if not lens.flat:  # the floor is whole squares
            low[:2], high[:2] = np.floor(low[:2] / self.step) * self.step, np.ceil(high[:2] / self.step) * self.step
        self.figure, self.axes = _paper(self._window(low, high), size, lens)
        if not lens.flat:
            self._add_grid(low, high)
        self.figure.text(0.02, 1.0 - 0.09 / self.figure.get_figheight(), book.title, fontsize=9, color=INK, va="top")
        kept: dict[str, Any] = {"closed": True, "animated": True}
        self.shadow: Any = PolyCollection([], facecolors=SHADOW, edgecolors=SHADOW, linewidths=0.4, zorder=1, **kept)
        self.robot: Any = PolyCollection([], linewidths=0.3, zorder=3, **kept)
        self.trace = LineCollection([], linewidths=1.3, zorder=4, animated=True)
        for artist in (self.shadow, self.robot, self.trace):
            self.axes.add_collection(artist, autolim=False)
        place = (0.98, 1.0 - 0.09 / self.figure.get_figheight())
        self.clock = self.figure.text(*place, "", fontsize=9, color=INK, va="top", ha="right", animated=True)
        self.canvas: Any = self.figure.canvas
        self.canvas.draw()
        self.empty = self.canvas.copy_from_bbox(self.figure.bbox)

    def frame(self, number: int) -> Image:
        """One frame."""
        from PIL import Image

        self.canvas.restore_region(self.empty)
        surface = self.book.puppet.posed(self.book.poses, number)
        colors = lit(surface, self.book.puppet.colors)
        if not self.lens.flat and len(surface):
            flat = surface.copy()
            flat[..., 2] = self.floor
            self.shadow.set_verts(self.lens.seen(flat)[..., :2])
            self.figure.draw_artist(self.shadow)
        outlines, shown = self.lens.painted(surface, colors)
        self.robot.set_verts(outlines)
        self.robot.set_facecolor(shown)
        self.robot.set_edgecolor(shown)
        self.figure.draw_artist(self.robot)
        self._draw_traces(number)
        self.clock.set_text(self.book.texts[number])
        self.figure.draw_artist(self.clock)
        return Image.fromarray(np.asarray(self.canvas.buffer_rgba())[..., :3])

    def _draw_traces(self, number: int) -> None:
        """The way of traced points so far, older parts paler."""
        from matplotlib.colors import to_rgba

        if not self.book.traces or number == 0:
            return
        parts, colors = [], []
        for trace in self.book.traces:
            seen = self.lens.seen(trace[: TRACED * number + 1])[:, :2]
            parts += [seen[k : k + TRACED + 1] for k in range(0, TRACED * number, TRACED)]
            colors += [to_rgba(TRACE, 0.25 + 0.75 * (k + 1) / number) for k in range(number)]
        self.trace.set_segments(parts)
        self.trace.set_color(colors)
        self.figure.draw_artist(self.trace)

    def _window(self, low: Array, high: Array) -> tuple[Array, Array]:
        """Lower left and upper right corner of the picture, as seen [m]."""
        corners = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
        seen = self.lens.seen(corners)[:, :2]
        first, last = seen.min(axis=0), seen.max(axis=0)
        longest = max(float((last - first).max()), 1e-6)
        half = np.maximum(0.5 * (last - first) + 0.03 * longest, [0.22 * longest, 0.22 * longest])
        middle = 0.5 * (first + last)
        return middle - half, middle + half

    def _add_grid(self, low: Array, high: Array) -> None:
        """Lines on the floor a round number of meters apart, and what that number is."""
        from matplotlib.collections import LineCollection

        (x0, y0, z), (x1, y1, _), step = low, high, self.step
        xs, ys = np.arange(x0, x1 + 0.5 * step, step), np.arange(y0, y1 + 0.5 * step, step)
        lines = [[(x, y0, z), (x, y1, z)] for x in xs] + [[(x0, y, z), (x1, y, z)] for y in ys]
        seen = self.lens.seen(np.array(lines))[..., :2]
        self.axes.add_collection(LineCollection(list(seen), colors=GROUND, linewidths=0.7, zorder=0), autolim=False)
        height = self.figure.get_figheight()
        self.figure.text(0.98, 0.08 / height, f"grid {step:g} m", fontsize=7, color=PALE, ha="right", va="bottom")


def _paper(view: tuple[Array, Array], size: float, lens: Lens) -> tuple[Any, Any]:
    """A figure whose longer side has a size [inch], with axes of equal scales; figures on them in a flat view."""
    left, right, bottom, top = AXES_MARGINS if lens.flat else MARGINS
    span = view[1] - view[0]
    scale = float(np.min((size - np.array([left + right, bottom + top])) / span))
    width, height = span * scale + [left + right, bottom + top]
    width, height = max(width, 2.4), max(height, 1.8)
    figure = blank(width, height)
    figure.set_dpi(100.0)
    inner = (width - left - right, height - bottom - top)
    axes: Any = figure.add_axes((left / width, bottom / height, inner[0] / width, inner[1] / height))
    half = 0.5 * np.array(inner) / scale
    middle = 0.5 * (view[0] + view[1])
    axes.set_xlim(middle[0] - half[0], middle[0] + half[0])
    axes.set_ylim(middle[1] - half[1], middle[1] + half[1])
    if not lens.flat:
        axes.axis("off")
        return figure, axes
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(PALE)
    axes.tick_params(labelsize=7, colors=PALE, length=2.0)
    axes.locator_params(nbins=5)
    across = lens.axes[0]
    name = "x " if across[0] > 0.999 else "y " if across[1] > 0.999 else ""
    axes.set_xlabel(f"{name}[m]", fontsize=7, color=PALE, labelpad=1.0)
    axes.set_ylabel("z [m]", fontsize=7, color=PALE, labelpad=1.0)
    axes.grid(True, color=SHADOW, linewidth=0.6)
    axes.set_axisbelow(True)
    return figure, axes


def _round_step(length: float) -> float:
    """1, 2 or 5 times a power of ten, not less than a length."""
    power = 10.0 ** math.floor(math.log10(max(length, 1e-9)))
    return float(next(power * step for step in GRID_STEPS if power * step >= length * 0.999))
