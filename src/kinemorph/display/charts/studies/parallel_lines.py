"""`parallel_lines`: parallel coordinates, one upright axis for each part and for the measure, one line for each item.

Lines have the color of the measure. The best items are drawn in front and thicker, failed ones behind in red; these end
before the axis of the measure. Where a part does not apply to an item, its line passes below the axis, at a dash.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.display.canvas import FAILURE, INK, LONG, PALE, Figure, shortened
from kinemorph.display.charts.studies import frames
from kinemorph.display.charts.studies.plotted_items import PartAxis, PlottedItems, axis_of
from kinemorph.errors import UnsupportedError
from kinemorph.studies.items import Indices

EACH, HEIGHT = 1.35, 3.6  # between axes, and height of an axis [inch]
WIDEST = 16.0  # of the picture [inch]
MOST_AXES = 24
BEST, LEAST, MOST = 0.02, 3, 25  # the part of all items that is drawn in front, but at least, and at most
MOST_LINES = 6000  # of more items, an even sample is drawn behind the best ones
BELOW = -0.12  # the height at which lines of items pass to which a part does not apply; an axis is from 0 to 1
SLANT, LONG_NAME = 35.0, 34  # [deg] of long names above the axes, and the most characters of one
MOST_LABELS = 12  # labels of choices on one axis
SPREAD = 0.05  # how far the lines of one choice are spread


def parallel_lines(
    shown: PlottedItems,
    measure: str | None = None,
    *,
    parts: tuple[str, ...] | None = None,
    largest: bool = False,
    log: tuple[str, ...] | None = None,
    title: str | None = None,
) -> Figure:
    """The items of a study as lines over its parts, colored by a measure.

    `parts` are the names of the parts to show, in this order, by default all that vary. `largest` says whether the best
    items are those with the largest measure, or the smallest.
    """
    chosen, values = shown.measure(measure)
    names = shown.parts if parts is None else tuple(parts)
    if not names:
        raise UnsupportedError(f"plot: the study '{shown.name}' varies no part, so it has no axis to draw.")
    hidden = len(names) - MOST_AXES
    names = names[:MOST_AXES]
    axes_of = [axis_of(shown.column(name), None if log is None else name in log) for name in names]
    ranges = [_range(axis) for axis in axes_of]
    heights = np.column_stack([_heights(axis, span) for axis, span in zip(axes_of, ranges, strict=True)])
    colors = frames.color_scale(values)

    each = min(EACH, WIDEST / (len(names) + 1))
    left = max(0.35, 0.25 + frames.LETTER * _widest_label(axes_of[0]))
    captions = [
        f"{frames.counts(shown, 'red', 'not shown')}; {frames.best_text(shown, values, largest)}; the best items are "
        "thick lines",
        *_notes(shown, hidden),
    ]
    above = _name_room(axes_of, each)
    last = max(0.0, frames.LETTER * min(LONG_NAME, len(axes_of[-1].label)) - each) if above > 0.2 else 0.0
    width = left + each * len(names) + max(0.95, last)
    heading = frames.heading(chosen, shown.name, title)
    figure = frames.paper(max(width, 5.5), 0.3 + HEIGHT * 1.14 + above, heading, captions)
    bottom = 0.15
    axes = frames.placed(figure, left, bottom, each * len(names), HEIGHT * 1.14)
    axes.set_xlim(0.0, float(len(names)))
    axes.set_ylim(-0.14, 1.0)
    axes.axis("off")
    _lines(axes, shown, values, heights, colors.norm, largest)
    for k, (axis, span) in enumerate(zip(axes_of, ranges, strict=True)):
        _axis(axes, k, axis, span, each)
        _write_name(axes, k, axis.label, above > 0.2)
    _measure_axis(figure, axes, colors, shown.label(chosen), len(names), left + each * len(names), bottom)
    return figure


def _notes(shown: PlottedItems, hidden: int) -> Iterator[str]:
    """Sentences about lines that are not drawn, and about parts without an axis."""
    if max(shown.done.sum(), shown.failed.sum()) > MOST_LINES:
        yield f"Of the other items, and of failed ones, at most {MOST_LINES:,} are drawn: an even sample."
    if hidden > 0:
        yield f"{hidden} more parts vary; parts=(...) chooses those to show."


def _widest_label(axis: PartAxis) -> int:
    return max((min(LONG, len(label)) for label in axis.labels), default=6)


def _range(axis: PartAxis) -> tuple[float, float]:
    """The places at the lower and upper end of an axis."""
    places = axis.distinct
    if not len(places):
        return 0.0, 1.0
    low, high = float(places[0]), float(places[-1])
    if axis.labels:
        return -0.25, len(axis.labels) - 0.75
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _heights(axis: PartAxis, span: tuple[float, float]) -> Array:
    """The height of each line at an axis (n,), between 0 and 1; BELOW where the part does not apply."""
    found = (frames.spread(axis.places, axis) - axis.places) * SPREAD / frames.SIDEWAYS
    found = found + (axis.places - span[0]) / (span[1] - span[0])
    return np.where(np.isnan(found), BELOW, found)


def _lines(axes: Any, shown: PlottedItems, values: Array, heights: Array, norm: Any, largest: bool) -> None:
    from matplotlib import colormaps
    from matplotlib.collections import LineCollection

    count = heights.shape[1]
    lost = heights[_sample(np.flatnonzero(shown.failed))]
    across = np.arange(count + 1.0)
    if len(lost):
        paths = [np.column_stack([across[:-1], one]) for one in lost] if count > 1 else []
        fade = float(np.clip(60.0 / len(lost), 0.15, 0.7))
        axes.add_collection(
            LineCollection(paths, colors=FAILURE, linewidths=0.8, alpha=fade, rasterized=len(lost) > 500)
        )
        axes.plot(np.full(len(lost), count - 1.0), lost[:, -1], "x", color=FAILURE, markersize=4, clip_on=False)
    known = np.flatnonzero(np.isfinite(values))
    order = known[np.argsort(values[known] if largest else -values[known], kind="stable")]  # the best one is last
    front = min(len(order), max(LEAST, min(MOST, round(BEST * len(order)))))
    order = np.concatenate([_sample(order[: len(order) - front]), order[len(order) - front :]])
    back = len(order) - front
    ends = np.asarray(np.clip(norm(values[order]), 0.0, 1.0))
    paths = [np.column_stack([across, [*row, end]]) for row, end in zip(heights[order], ends, strict=True)]
    tints = colormaps[frames.COLORS](ends)
    fade = float(np.clip(90.0 / max(back, 1), 0.05, 0.6))
    many = len(order) > 1000
    axes.add_collection(LineCollection(paths[:back], colors=tints[:back], linewidths=0.8, alpha=fade, rasterized=many))
    thick: dict[str, Any] = {"linewidths": 1.0 if front > 40 else 1.6, "zorder": 3}
    if len(order) > LEAST:
        axes.add_collection(LineCollection(paths[back:], colors="white", linewidths=2.6, alpha=0.6, zorder=2.9))
    axes.add_collection(LineCollection(paths[back:], colors=tints[back:], **thick))


def _sample(indices: Indices) -> Indices:
    """At most MOST_LINES of some indices, evenly spread."""
    return indices[:: max(1, -(-len(indices) // MOST_LINES))]


def _axis(axes: Any, k: int, axis: PartAxis, span: tuple[float, float], each: float) -> None:
    """An upright line with ticks at round values, or at the labels of choices."""
    axes.plot([k, k], [0.0, 1.0], color=INK, linewidth=1.0, zorder=4, clip_on=False)
    marks = [((place - span[0]) / (span[1] - span[0]), text) for place, text in _marks(axis, span)]
    marks += [(BELOW, "–")] if np.isnan(axis.places).any() else []
    room = max(4, int(each / frames.LETTER) - 3) if k else LONG
    for height, text in marks:
        axes.plot([k - 0.02, k], [height, height], color=INK, linewidth=0.8, zorder=4, clip_on=False)
        clear = {"facecolor": "white", "edgecolor": "none", "pad": 0.8, "alpha": 0.78}
        look: dict[str, Any] = {"fontsize": 8, "color": INK, "ha": "right", "va": "center", "zorder": 5, "bbox": clear}
        axes.text(k - 0.045, height, shortened(text, room), **look)


def _marks(axis: PartAxis, span: tuple[float, float]) -> list[tuple[float, str]]:
    """(place, text) of the ticks of an axis."""
    if axis.labels:
        step = -(-len(axis.labels) // MOST_LABELS)
        return [(float(k), axis.labels[k]) for k in range(0, len(axis.labels), step)]
    if len(axis.distinct) == 1:
        return [(float(axis.distinct[0]), f"{axis.shown(axis.distinct)[0]:.4g}")]
    from matplotlib.ticker import LogLocator, MaxNLocator

    low, high = axis.shown(np.array(span))
    if axis.log:
        found = LogLocator(subs=(1.0,) if span[1] - span[0] > 1.5 else (1.0, 2.0, 5.0)).tick_values(low, high)
    else:
        found = MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    inside = [float(value) for value in found if low * (1 - 1e-9) <= value <= high * (1 + 1e-9) or low <= value <= high]
    return [(float(np.log10(value)) if axis.log else value, f"{value:.5g}") for value in inside]


def _name_room(axes_of: list[PartAxis], each: float) -> float:
    """The height that the names above the axes need [inch]: one row, or more where long names are slanted."""
    longest = max(min(LONG_NAME, len(axis.label)) for axis in axes_of)
    return 0.17 if longest * frames.LETTER < each else 0.17 + frames.LETTER * longest * float(np.sin(np.radians(SLANT)))


def _write_name(axes: Any, k: int, label: str, slanted: bool) -> None:
    """The name above an axis; where names are long, all are slanted."""
    look: dict[str, Any] = {"fontsize": 8.5, "color": INK, "va": "bottom", "clip_on": False}
    look |= (
        {"rotation": SLANT, "rotation_mode": "anchor", "ha": "left"} if slanted else {"ha": "center" if k else "left"}
    )
    offset = (0, 6) if slanted else (0 if k else -18, 8)
    axes.annotate(shortened(label, LONG_NAME), (k, 1.0), offset, textcoords="offset points", **look)


def _measure_axis(
    figure: Figure, axes: Any, colors: frames.ColorScale, name: str, count: int, left: float, bottom: float
) -> None:
    """The axis of the measure: its color bar, at which the lines end."""
    low = bottom + HEIGHT * 0.14
    frames.color_bar(figure, colors, name, left, low, HEIGHT)
    axes.plot([count, count], [0.0, 1.0], color=PALE, linewidth=0.8, zorder=4, clip_on=False)
