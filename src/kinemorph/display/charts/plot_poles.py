"""Poles in the complex plane, with lines of constant damping and constant natural frequency.

The upper half is shown: poles are real or come in conjugate pairs. Where the ratio of their magnitudes is above
FAR_APART, both axes are logarithmic away from zero (symlog).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.small_motions.poles import Poles
from kinemorph.display.canvas import FAILURE, INK, LINES, PALE, Figure, blank, plain_axes, said, save
from kinemorph.sheet import Points

WIDTH, HEIGHT = 7.0, 5.6  # [inch]
FRAME = (0.115, 0.115, 0.75, 0.73)
RATIOS = (0.1, 0.2, 0.4, 0.6, 0.8, 0.95)  # damping ratios with a line
FAR_APART = 100.0  # ratio of the largest to the smallest magnitude above which the axes are logarithmic
NOTHING = 1e-6  # a magnitude below this fraction of the largest counts as zero
NEAR = 0.16  # a label closer than this to another is left out [inch]
GRID = "#c3cad2"


def plot_poles(
    poles: Poles, *, labels: bool = True, title: str | None = None, path: Path | str | None = None
) -> Figure:
    """A figure of poles, as `plot_points` draws those of a sheet, with their number and a title."""
    count, name = len(poles.values), poles.plant.name.replace("_", " ")
    points = next((part for part in poles.sheet().parts if isinstance(part, Points)), Points((), (), ""))
    growth = said("{n} grow", n=len(points.marked)) if points.marked else said("none grows")
    caption = said("{n} poles, conjugates left out; {growth}", n=count, growth=growth)
    figure = plot_points(points, labels=labels, told=caption)
    heading = said("poles of {name}", name=name) if title is None else title
    figure.text(FRAME[0], 0.955, heading, fontsize=13, color=INK, va="center")
    if path is not None:
        save(figure, path)
    return figure


def plot_points(points: Points, *, labels: bool = True, told: str = "") -> Figure:
    """A figure of poles as crosses: real part [1/s] and imaginary part [rad/s].

    Rays are lines of constant damping ratio, arcs of constant natural frequency; the half plane where motions grow is
    tinted, and poles in it are red. `labels` adds the numbers of poles, as in the table of poles, and frequencies.
    `told` is written above.
    """
    values = np.asarray(points.values, dtype=complex)
    sizes = np.abs(values)[np.abs(values) > NOTHING * np.abs(values).max(initial=0.0)]
    spread = bool(len(sizes)) and bool(sizes.max() > FAR_APART * sizes.min())
    growing = np.isin(np.arange(len(values)), points.marked)
    figure = blank(WIDTH, HEIGHT)
    axes: Any = figure.add_axes(FRAME)
    plain_axes(axes)
    axes.grid(False)
    (left, right), top = _window(values)
    least: float | None = None
    if spread:
        least = float(10.0 ** np.floor(np.log10(sizes.min())))
        axes.set_xscale("symlog", linthresh=least, linscale=0.5)
        axes.set_yscale("symlog", linthresh=least, linscale=0.5)
        left, right, top = 1.6 * left, max(2.0 * values.real.max(), 1.5 * least), 1.6 * top
    axes.set_xlim(left, right)
    axes.set_ylim(0.0, top)
    axes.axvspan(0.0, right, color=FAILURE, alpha=0.05, linewidth=0)
    axes.axvline(0.0, color=PALE, linewidth=0.9)
    _add_rays(axes, (left, top), spread)
    _add_arcs(axes, (left, top), least)
    _add_poles(axes, values, growing)
    if labels:
        _add_numbers(axes, values)
    axes.set_xlabel(f"{said('real part')} [1/s]", fontsize=9, color=INK)
    axes.set_ylabel(f"{said('imaginary part')} [rad/s]", fontsize=9, color=INK)
    note = said(points.note) if isinstance(points.note, str) and points.note else ""
    figure.text(FRAME[0], 0.925, f"{told}\n{note}".strip(), fontsize=8, color=PALE, va="top")
    return figure


def _window(values: np.ndarray[Any, Any]) -> tuple[tuple[float, float], float]:
    """((left, right), top): the part of the complex plane that contains the poles, from imaginary part 0 up."""
    size = float(np.abs(values).max(initial=0.0)) or 1.0
    top = max(1.12 * float(values.imag.max(initial=0.0)), 0.15 * size)
    left = min(1.12 * float(values.real.min(initial=0.0)), -0.35 * size if top > 0.4 * size else -0.2 * size)
    right = max(1.15 * float(values.real.max(initial=0.0)), 0.12 * (top - left) * 0.5)
    return (left, right), top


def _radii(limit: float, spread: bool) -> Array:
    return np.geomspace(1e-9 * limit, 2.0 * limit, 600) if spread else np.array([0.0, 2.0 * limit])


def _add_rays(axes: Any, corner: tuple[float, float], spread: bool) -> None:
    """Draws lines of constant damping ratio, labeled at the edge of the plot; `corner` is its upper left one.

    `spread` says whether the axes are logarithmic.
    """
    left, top = corner
    size = float(np.hypot(left, top))
    taken: list[Array] = []
    for ratio in RATIOS:
        away = np.array([-ratio, np.sqrt(1.0 - ratio**2)])
        line = _radii(size, spread)[:, None] * away
        axes.plot(*line.T, color=GRID, linewidth=0.6, linestyle=(0, (4, 3)), zorder=0.6, label="_damping")
        reach = min(top / away[1], left / away[0])
        x, y = 0.985 * reach * away
        place = axes.transData.transform((x, y)) / axes.figure.dpi
        clear = all(np.abs(place - other).max() > 2.5 * NEAR for other in taken)
        if 0.0 < y <= top and x >= left and clear:
            taken.append(place)
            at_top = reach == top / away[1]
            look = {"ha": "center" if at_top else "left", "va": "top" if at_top else "center"}
            axes.text(x, y, f" ζ {ratio:g} ", fontsize=7, color=PALE, zorder=0.7, clip_on=True, **look)


def _add_arcs(axes: Any, corner: tuple[float, float], least: float | None) -> None:
    """Draws lines of constant natural frequency, labeled in Hz at the right; `corner` is the upper left of the plot.

    `least` is the magnitude [rad/s] from which logarithmic axes start, None for linear ones.
    """
    left, top = corner
    limit = float(np.hypot(left, top))
    angles = np.linspace(0.5 * np.pi, np.pi, 181)
    for hertz in _round_frequencies(max(top, -left) / (2.0 * np.pi), least):
        radius = 2.0 * np.pi * hertz
        if radius > limit:
            continue
        arc = radius * np.array([np.cos(angles), np.sin(angles)])
        axes.plot(*arc, color=GRID, linewidth=0.6, zorder=0.6, label="_frequency")
        if radius <= top:
            place = {"xycoords": ("axes fraction", "data"), "annotation_clip": False}
            axes.annotate(f" {hertz:g} Hz", (1.0, radius), fontsize=7, color=PALE, va="center", **place)


def _round_frequencies(largest: float, least: float | None) -> Array:
    if least is not None:
        first, last = np.ceil(np.log10([least / (2.0 * np.pi), largest]))
        return np.asarray(10.0 ** np.arange(first, last + 1))
    from matplotlib.ticker import MaxNLocator

    ticks = np.asarray(MaxNLocator(nbins=6, steps=[1, 2, 2.5, 5, 10]).tick_values(0.0, largest), dtype=float)
    return ticks[ticks > 0.0]


def _add_poles(axes: Any, values: np.ndarray[Any, Any], growing: np.ndarray[Any, Any]) -> None:
    for chosen, color, label in ((~growing, LINES[0], "poles"), (growing, FAILURE, "growing")):
        if chosen.any():
            look = {"marker": "x", "s": 44.0, "linewidths": 1.6, "zorder": 4, "clip_on": False}
            axes.scatter(values.real[chosen], values.imag[chosen], color=color, label=label, **look)


def _add_numbers(axes: Any, values: np.ndarray[Any, Any]) -> None:
    """Labels each pole with its number and frequency, where there is room."""
    from matplotlib.patheffects import withStroke

    axes.figure.draw_without_rendering()
    taken: list[Array] = []
    for number, value in enumerate(values, start=1):
        place = axes.transData.transform((value.real, value.imag)) / axes.figure.dpi
        if any(abs(place[1] - other[1]) < NEAR and abs(place[0] - other[0]) < 5.0 * NEAR for other in taken):
            continue
        taken.append(place)
        text = f"{number}: {value.imag / (2.0 * np.pi):.3g} Hz" if value.imag > 0.0 else f"{number}"
        crowded = place[0] < FRAME[0] * WIDTH + 0.9  # at the left edge
        shift = ((7.0 if crowded else -7.0), 0.0) if value.imag > 0.0 else (0.0, 9.0)
        align = {"ha": ("left" if crowded else "right") if value.imag > 0.0 else "center", "va": "center"}
        label = axes.annotate(
            text, (value.real, value.imag), shift, textcoords="offset points", fontsize=8, color=INK, zorder=5, **align
        )
        label.set_path_effects([withStroke(linewidth=2.5, foreground="white")])
