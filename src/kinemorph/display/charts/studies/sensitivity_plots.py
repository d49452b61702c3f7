"""What a measure depends on: Sobol indices as bars with intervals, Morris' elementary effects as a plane."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.display.canvas import INK, LINES, PALE, Figure, shortened
from kinemorph.display.charts.studies import frames
from kinemorph.studies.statistics.sobol import Bounded

EACH, WIDTH = 0.42, 5.2  # height of a part, width of the axes [inch]
MOST = 30  # parts that are shown; the others are counted
PLANE = (5.4, 4.4)  # width and height of the plane of Morris [inch]
ABOVE = "Above the line, effects differ more than their mean size: the part acts nonlinearly or together with others."
NAMED = 15  # parts that are named in it: those with the largest effects


def sensitivity_bars(
    parts: Sequence[str], indices: Mapping[str, Bounded], *, heading: str, captions: list[str], label: str
) -> Figure:
    """A row for each part with one bar for each index, and its interval as a line; most important parts first.

    `indices` are ordered: the last one, the total index, sorts the rows. `label` is written below the bars.
    """
    last = list(indices.values())[-1].value
    order = np.argsort(-np.nan_to_num(last, nan=-np.inf), kind="stable")
    hidden = len(order) - MOST
    order = order[:MOST]
    captions = captions + ([f"{hidden} parts with smaller indices are not shown."] if hidden > 0 else [])
    left = 0.3 + frames.LETTER * min(36, max(len(parts[k]) for k in order))
    height = EACH * len(order) + 0.1
    figure = frames.paper(left + WIDTH + 0.25, 0.55 + height, heading, captions, 0.22)
    axes = frames.placed(figure, left, 0.55, WIDTH, height)
    axes.grid(False, axis="y")
    places, thick = np.arange(len(order), dtype=float), 0.78 / len(indices)
    for k, (name, index) in enumerate(indices.items()):
        here = places + (k - 0.5 * (len(indices) - 1)) * thick
        value = index.value[order]
        sides = np.array([value - index.low[order], index.high[order] - value])
        sides = np.where(np.isfinite(sides), np.maximum(sides, 0.0), 0.0)
        axes.barh(here, np.nan_to_num(value), height=0.92 * thick, color=LINES[k], label=name)
        axes.errorbar(np.nan_to_num(value), here, xerr=sides, fmt="none", ecolor=INK, elinewidth=1.0, capsize=2.2)
    axes.axvline(0.0, color=INK, linewidth=0.8)
    axes.set_yticks(places, [shortened(parts[k], 36) for k in order], fontsize=8.5)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(order) - 0.45, -0.55)
    axes.set_xlabel(label, fontsize=9, color=INK)
    across, up = figure.get_size_inches()
    spot = (left / across, (0.55 + height + 0.02) / up)
    figure.legend(
        *axes.get_legend_handles_labels(),
        fontsize=8,
        frameon=False,
        ncols=3,
        loc="lower left",
        bbox_to_anchor=spot,
        borderaxespad=0.0,
    )
    return figure


def morris_plane(
    parts: Sequence[str], mu_star: Bounded, sigma: Bounded, *, heading: str, captions: list[str]
) -> Figure:
    """The mean size of elementary effects of each part, and how much they differ.

    Parts at the left do not matter. A part above the line, where sigma is larger than mu*, acts in opposite directions
    in different places, or together with other parts.
    """
    width, height = PLANE
    figure = frames.paper(0.85 + width + 0.35, 0.55 + height, heading, [*captions, ABOVE])
    axes = frames.placed(figure, 0.85, 0.55, width, height)
    sides = [
        np.array([np.maximum(index.value - index.low, 0.0), np.maximum(index.high - index.value, 0.0)])
        for index in (mu_star, sigma)
    ]
    sides = [np.where(np.isfinite(side), side, 0.0) for side in sides]
    look: dict[str, Any] = {"fmt": "o", "color": LINES[0], "ecolor": PALE, "elinewidth": 0.9, "markersize": 5}
    axes.errorbar(mu_star.value, sigma.value, xerr=sides[0], yerr=sides[1], **look)
    right = float(np.nanmax(mu_star.value + sides[0][1])) * 1.12 or 1.0
    top = float(np.nanmax(sigma.value + sides[1][1])) * 1.12 or 1.0
    reach = min(right, top)
    axes.plot([0.0, reach], [0.0, reach], color=PALE, linewidth=0.9, linestyle=(0, (4, 3)))
    axes.set_xlim(-0.02 * right, right)
    axes.set_ylim(-0.02 * top, top)
    axes.set_xlabel("mean size of elementary effects, μ*", fontsize=9, color=INK)
    axes.set_ylabel("their standard deviation, σ", fontsize=9, color=INK)
    _write_names(axes, parts, mu_star.value, sigma.value, (right, top))
    return figure


Box = tuple[float, float, float, float]  # left, bottom, right, top [inch]


def _write_names(axes: Any, parts: Sequence[str], x: Array, y: Array, ends: tuple[float, float]) -> None:
    """The names of the most important parts, each where it covers no other name and, if possible, no dot."""
    width, height = PLANE
    known = np.isfinite(x) & np.isfinite(y)
    spots = {int(k): (width * x[k] / ends[0], height * y[k] / ends[1]) for k in np.flatnonzero(known)}
    dots = [(a - 0.05, b - 0.05, a + 0.05, b + 0.05) for a, b in spots.values()]
    names: list[Box] = []
    for k in sorted(spots, key=lambda k: -x[k])[:NAMED]:
        text = shortened(parts[k], 30)
        boxes = list(_boxes(spots[k], 0.072 * len(text)))
        free = [box for box in boxes if not any(_overlap(box, name) for name in names)]
        clear = [box for box in free if not any(_overlap(box, dot) for dot in dots)]
        if not free:
            continue  # no room is left: the table of indices has the name
        box = (clear or free)[0]
        names.append(box)
        offset = 72.0 * (box[0] - spots[k][0]), 72.0 * (box[1] - spots[k][1])
        look: dict[str, Any] = {"fontsize": 8.5, "color": INK, "va": "bottom"}
        axes.annotate(text, (x[k], y[k]), offset, textcoords="offset points", **look)


def _boxes(spot: tuple[float, float], long: float) -> Iterator[Box]:
    """Boxes beside a dot for a name with this length that lie inside of the plane."""
    for up in (0.09, -0.2, 0.27, -0.38, 0.45):
        for across in (0.08, -0.08 - long):
            box = (spot[0] + across, spot[1] + up, spot[0] + across + long, spot[1] + up + 0.15)
            if box[0] > 0.0 and box[2] < PLANE[0] + 0.3 and box[1] > 0.0 and box[3] < PLANE[1]:
                yield box


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
