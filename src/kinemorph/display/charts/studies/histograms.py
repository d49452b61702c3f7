"""The distribution of a measure: a histogram with its mean and quantiles, or the shares of true and false."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.display.canvas import FAILURE, INK, LINES, PALE, Figure, shortened
from kinemorph.display.charts.studies import frames

WIDTH, HEIGHT, LEFT = 6.0, 3.2, 0.85  # of the axes, and their distance from the left edge [inch]
MOST_BARS = 80
CLEAR = 0.24  # labels of quantiles that are nearer to each other than this part of the width are in different rows
MEAN = "mean"  # the name of the mark that is red


class Mark(NamedTuple):
    """A value that is marked in a picture, with its confidence interval; `low` and `high` are the value without one."""

    name: str
    value: float
    low: float
    high: float


def histogram(values: Array, marks: Sequence[Mark], *, measure: str, heading: str, captions: list[str]) -> Figure:
    """A histogram of values (n,) with lines at marked values, such as quantiles, and bands for their intervals."""
    edges = _edges(values)
    marks = sorted(marks, key=lambda mark: mark.value)
    rows = _rows([(mark.value - edges[0]) / (edges[-1] - edges[0]) for mark in marks])
    above = 0.19 * (1 + max(rows, default=0))
    figure = frames.paper(LEFT + WIDTH + 0.25, 0.55 + HEIGHT, heading, captions, above)
    axes = frames.placed(figure, LEFT, 0.55, WIDTH, HEIGHT)
    axes.hist(values, edges, color=LINES[0], alpha=0.75, edgecolor="white", linewidth=0.4)
    axes.set_xlim(edges[0], edges[-1])
    axes.set_ylim(bottom=0.0)
    for mark, row in zip(marks, rows, strict=True):
        _write(axes, mark, row, (edges[0], edges[-1]))
    axes.set_xlabel(shortened(measure, 60), fontsize=9, color=INK)
    axes.set_ylabel("items", fontsize=9, color=INK)
    return figure


def _edges(values: Array) -> Array:
    """The edges of the bars, after Freedman and Diaconis; equal values have one bar."""
    low, high = float(values.min()), float(values.max())
    if low == high:
        half = 0.5 * (abs(low) or 1.0)
        return np.array([low - half, low + half])
    width = 2.0 * float(np.subtract(*np.quantile(values, (0.75, 0.25)))) / len(values) ** (1.0 / 3.0)
    count = int(np.clip((high - low) / width, 5, MOST_BARS)) if width > 0.0 else MOST_BARS // 2
    found: Array = np.linspace(low, high, count + 1)
    return found


def _rows(places: list[float]) -> list[int]:
    """The row of each label, whose sorted places are parts of the width: the first one in which it is clear."""
    last: list[float] = []  # where the last label of each row is
    rows = []
    for place in places:
        row = next((k for k, other in enumerate(last) if place - other > CLEAR), len(last))
        last[row:] = [place, *last[row + 1 :]]
        rows.append(row)
    return rows


def _write(axes: Any, mark: Mark, row: int, ends: tuple[float, float]) -> None:
    """The line of a mark, its interval as a band, and its label above in a row."""
    color, dashes = (FAILURE, "-") if mark.name == MEAN else (INK, (0, (4, 2)))
    if mark.high > mark.low:
        axes.axvspan(*np.clip([mark.low, mark.high], *ends), color=color, alpha=0.16, linewidth=0, zorder=2)
    axes.axvline(mark.value, color=color, linewidth=1.1, linestyle=dashes, zorder=3)
    place = (mark.value - ends[0]) / (ends[1] - ends[0])
    side = "left" if place < 0.06 else "right" if place > 0.94 else "center"
    across: dict[str, Any] = {"transform": axes.get_xaxis_transform(), "fontsize": 8, "color": color, "va": "bottom"}
    axes.text(mark.value, 1.015 + 0.058 * row, f"{mark.name}: {mark.value:.4g}", ha=side, **across)


def shares(true: Mark, *, measure: str, heading: str, captions: list[str]) -> Figure:
    """The share of items for which a measure is true, with its confidence interval, beside that of the others."""
    figure = frames.paper(LEFT + 4.0, 0.55 + 2.6, heading, captions)
    axes = frames.placed(figure, LEFT, 0.55, 3.7, 2.6)
    heights = [1.0 - true.value, true.value]
    below, above = true.value - true.low, true.high - true.value
    axes.bar([0, 1], heights, width=0.55, color=[PALE, LINES[0]])
    if true.high > true.low:  # what is true more often is false less often
        sides = [[above, below], [below, above]]
        axes.errorbar([0, 1], heights, yerr=sides, fmt="none", ecolor=INK, elinewidth=1.2, capsize=5)
    for k, height in enumerate(heights):
        axes.text(k + 0.06, height, f" {height:.4g}", va="bottom", fontsize=9, color=INK)
    axes.set_xticks([0, 1], ["false (0)", "true (1)"], fontsize=9)
    axes.set_xlim(-0.6, 1.75)
    axes.set_ylim(0.0, 1.08 * max(*heights, true.high, 1.0 - true.low))
    axes.set_ylabel(shortened(f"share of {measure}", 44), fontsize=9, color=INK)
    return figure
