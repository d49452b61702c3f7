"""The page around a picture: axes with numbers or the grid spacing, title, clock, names, notes and traces.

Matplotlib draws text and lines, on a canvas without a window. The parts that do not change are drawn once.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.display.canvas import INK, PALE, SHADOW, blank, said
from kinemorph.display.painting.view_window import Window, round_step
from kinemorph.display.scenes.loads import without_torques
from kinemorph.display.scenes.scene import Scene, Surface
from kinemorph.errors import UnsupportedError

Pixels = npt.NDArray[np.uint8]


DPI = 100.0
MARGINS = (12, 12, 24, 30)  # left, right, bottom, top [pixels]
AXES_MARGINS = (52, 14, 42, 30)
LETTER, SPACING = 5.3, 12  # width of a letter and height of a line of notes [pixels]
CLOCK, TITLE_LETTER = 130, 6.6  # width of the clock with its margins, and of a letter of the title [pixels]
SMALLEST, LARGEST = 1.0, 40.0  # limits of the sides that a user may ask for [inch at 100 dpi]
LEAST, LEAST_ROOM = (240, 180), 40  # smallest width and height of a page, and of the picture on it [pixels]
# units of the axes: name, units per meter, least span of the picture [m]
UNITS = (("km", 1e-3, 5e3), ("m", 1.0, 0.02), ("mm", 1e3, 2e-5), ("\N{MICRO SIGN}m", 1e6, 0.0))


class Page:
    """The page of a scene's pictures; the upper left corner of the window is at `left`, `top` [pixels].

    Where `size` is one number, the longer side, the page is at least `least` [inch] wide.
    Width and height are even numbers of pixels, as videos require.
    """

    def __init__(self, scene: Scene, window: Window, size: float | tuple[float, float], least: float = 0.0) -> None:
        self.scene, self.least = scene, np.maximum(LEAST, (least * DPI, 0.0))
        self.notes: list[str] = []
        self._arrange(window, size)
        self.notes = _lines(without_torques(scene.notes), int((self.size[0] - 95) / LETTER))
        if self.notes:
            self._arrange(window, size)
        (width, height), (inner_width, inner_height) = self.size, self.window.size
        # slightly more than these inches: versions of Matplotlib before 3.11 cut 4.6 * 100 off to 459 pixels
        wide, high = (math.nextafter(side / DPI, math.inf) for side in (width, height))
        self.figure: Any = blank(wide, high, DPI)
        bottom = height - self.top - inner_height
        place = (self.left / width, bottom / height, inner_width / width, inner_height / height)
        self.axes: Any = self.figure.add_axes(place)
        self._dress()
        self._place(0)
        self.canvas: Any = self.figure.canvas
        self.empty: Any = None

    def _arrange(self, window: Window, size: float | tuple[float, float]) -> None:
        """Sets the size of the page and the scale of its window, after subtracting the room for margins and notes."""
        left, right, bottom, top = AXES_MARGINS if window.lens.flat else MARGINS
        bottom += SPACING * max(len(self.notes) - (0 if window.lens.flat else 1), 0)
        around = np.array([left + right, bottom + top])
        span, room = window.high - window.low, np.maximum(np.array(size) * DPI - around, LEAST_ROOM)
        scale = float(np.min(room / span))
        inner = np.maximum(span * scale, self.least - around) if np.ndim(size) == 0 else room
        whole = 2 * np.ceil((inner + around) / 2.0 - 1e-6).astype(int)
        self.left, self.top = left, top
        self.size = (int(whole[0]), int(whole[1]))
        self.window = window.fitted(scale, whole - around)

    # ── frames ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def blank(self, k: int) -> Pixels:
        """The pixels of the page at time index k before rendering, RGBA (h, w, 4)."""
        if self.empty is None or (self.window.followed and self.window.lens.flat):
            self._place(k)
            self.canvas.draw()
            self.empty = self.canvas.copy_from_bbox(self.figure.bbox)
        else:
            self.canvas.restore_region(self.empty)
        return np.asarray(self.canvas.buffer_rgba())

    def inner(self, pixels: Pixels) -> Pixels:
        """The pixels of the page inside the window, as a view of `pixels`."""
        width, height = self.window.size
        return pixels[self.top : self.top + height, self.left : self.left + width]

    def write(self, k: int, clock: str, ways: Sequence[tuple[Array, Any]] = ()) -> None:
        """Draws traces, the names of figures and the clock on the page at time index k.

        `ways` are (points (n, 3) [m], RGBA (n - 1, 4) of the lines between them), one for each trace.
        """
        self._place(k)
        if ways:
            parts, colors = [], []
            for way, tints in ways:
                seen = self.window.lens.seen(way)[:, :2]
                parts += list(np.stack([seen[:-1], seen[1:]], axis=1))
                colors += list(tints)
            self.traces.set_segments(parts)
            self.traces.set_color(colors)
            self.figure.draw_artist(self.traces)
        for name, figure in zip(self.names, self.scene.figures, strict=False):
            number = k if self.window.followed else 0
            base = figure.positions[number, 0].copy() if len(figure.bodies) else np.zeros(3)
            base[2] = self.scene.floor
            x, y = self.window.lens.seen(figure.offset + base)[:2]
            name.set_position((float(x), 0.985 if self.window.lens.flat else float(y)))
            self.figure.draw_artist(name)
        self.clock.set_text(clock)
        self.figure.draw_artist(self.clock)

    def _place(self, k: int) -> None:
        low = self.window.corner(k)
        high = low + self.window.high - self.window.low
        self.axes.set_xlim(low[0], high[0])
        self.axes.set_ylim(low[1], high[1])

    # ── text and axes ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _dress(self) -> None:
        from matplotlib.collections import LineCollection

        height = self.figure.get_figheight()
        at = 1.0 - 0.08 / height
        letters = int((self.size[0] - CLOCK) / TITLE_LETTER)
        self.figure.text(12 / self.size[0], at, _cut(self.scene.title, letters), fontsize=9, color=INK, va="top")
        ending = {"fontsize": 9, "color": INK, "va": "top", "ha": "right", "animated": True}
        self.clock: Any = self.figure.text(1.0 - 12 / self.size[0], at, "", **ending)
        self.traces: Any = LineCollection([], linewidths=1.3, capstyle="butt", animated=True)
        self.axes.add_collection(self.traces, autolim=False)
        several = self.scene.figures if len(self.scene.figures) > 1 else ()
        named = {"fontsize": 8, "color": INK, "va": "top", "ha": "center", "animated": True, "clip_on": True}
        across = self.axes.get_xaxis_transform() if self.window.lens.flat else self.axes.transData
        self.names = [self.axes.text(0.0, 0.985, figure.name, transform=across, **named) for figure in several]
        for line, note in enumerate(reversed(self.notes)):
            up = (0.07 + line * SPACING / DPI) / height
            self.figure.text(12 / self.size[0], up, note, fontsize=7, color=PALE)
        if self.window.lens.flat:
            self._figures()
            self._profile()
        else:
            self.axes.axis("off")
            grid = said("grid {step} m", step=float(self.window.step)) if self.window.sees_floor else ""
            self.figure.text(1.0 - 12 / self.size[0], 0.07 / height, grid, fontsize=7, color=PALE, ha="right")

    @property
    def unit(self) -> tuple[str, float]:
        """(unit, units per meter) for the axes, chosen so that their numbers are short."""
        span = float((self.window.high - self.window.low).max())
        return next((name, each) for name, each, least in UNITS if span >= least)

    def _figures(self) -> None:
        """Gives the axes numbers and labels; each of several figures has its own numbers on the horizontal axis."""
        from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, MaxNLocator

        axes, (right, up, _) = self.axes, self.window.lens.axes @ self.scene.figures[0].turn  # the axes of the model
        unit, per_meter = self.unit
        axes.patch.set_visible(False)
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[["left", "bottom"]].set_color(PALE)
        axes.tick_params(labelsize=7, colors=PALE, length=2.0)
        for axis, direction in ((axes.xaxis, right), (axes.yaxis, up)):
            number = int(np.argmax(np.abs(direction)))
            straight = abs(direction[number]) > 0.999
            axis.set_label_text(f"{'xyz'[number]} [{unit}]" if straight else f"[{unit}]", fontsize=7, color=PALE)
            axis.labelpad = 1.0
            axis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]))
            sign = -1.0 if straight and direction[number] < 0.0 else 1.0
            axis.set_major_formatter(FuncFormatter(lambda value, _, each=sign * per_meter: figure_of(each * value)))
        if len(self.scene.figures) > 1:
            places, labels = self._own_figures()
            axes.xaxis.set_major_locator(FixedLocator(places))
            axes.xaxis.set_major_formatter(FixedFormatter(labels))
        axes.grid(True, color=SHADOW, linewidth=0.6)
        axes.set_axisbelow(True)

    def _profile(self) -> None:
        """Draws the ground as a line where the camera looks horizontally."""
        from matplotlib.collections import LineCollection

        if abs(self.window.lens.axes[2, 2]) > 0.5:
            return
        if self.scene.floor != self.scene.box[0, 2] and not self.scene.grounds:  # an element touches the ground
            self.axes.axhline(self.scene.floor, color=PALE, linewidth=1.2, zorder=1)
        for part in self.scene.grounds:
            lines = self.window.lens.seen(part.surface.points[rim_of(part.surface)])[..., :2]
            self.axes.add_collection(LineCollection(list(lines), colors=PALE, linewidths=1.2, zorder=1), autolim=False)

    def _own_figures(self) -> tuple[list[float], list[str]]:
        """(positions, labels) of the horizontal ticks of figures side by side, each with its own zero."""
        right = self.window.lens.axes[0]
        zeros = [float(figure.offset @ right) for figure in self.scene.figures]
        if len({round(zero, 9) for zero in zeros}) < len(zeros):
            return [], []
        step = round_step(float(np.diff(np.sort(zeros)).min()) / 3.0)
        sign = -1.0 if right[int(np.argmax(np.abs(right)))] < 0.0 else 1.0
        marks = [(zero + n * step, n * step * sign) for zero in zeros for n in (-1, 0, 1)]
        return [place for place, _ in marks], [figure_of(value * self.unit[1]) for _, value in marks]


def checked_size(size: Any) -> Any:
    """`size`, the longer side of a page or its (width, height) [inch at 100 dpi]; raises an error outside limits."""
    sides = np.ravel(np.asarray(size, dtype=object))
    sensible = all(isinstance(side, Real) and SMALLEST <= float(side) <= LARGEST for side in sides)
    if np.shape(size) not in ((), (2,)) or not sensible:
        raise UnsupportedError(
            f"size is {size!r}; expected the longer side, or (width, height), in inches at 100 dpi, each from "
            f"{SMALLEST:g} to {LARGEST:g}."
        )
    return size


def rim_of(surface: Surface) -> npt.NDArray[np.int64]:
    """The boundary edges (n, 2) of a surface, which belong to one face only, as indices of corners."""
    edges = np.sort(np.concatenate([surface.faces[:, [0, 1]], surface.faces[:, [1, 2]], surface.faces[:, [2, 0]]]), 1)
    found, counts = np.unique(edges, axis=0, return_counts=True)
    rim: npt.NDArray[np.int64] = found[counts == 1].astype(np.int64)
    return rim


def _lines(notes: Sequence[str], letters: int) -> list[str]:
    """The notes joined on one line of at most `letters` characters, or each wrapped on lines of its own."""
    words = "; ".join(note.rstrip(".") for note in notes)
    if len(words) <= letters:
        return [words] if words else []
    return [line for note in notes for line in textwrap.wrap(note.rstrip("."), letters)]


def _cut(text: str, letters: int) -> str:
    """The text, cut with an ellipsis after `letters` characters."""
    return text if len(text) <= letters else f"{text[: max(letters - 1, 1)]}\N{HORIZONTAL ELLIPSIS}"


def figure_of(value: float) -> str:
    """The text of a number on an axis."""
    return f"{round(value, 12) + 0.0:g}".replace("-", "\N{MINUS SIGN}")
