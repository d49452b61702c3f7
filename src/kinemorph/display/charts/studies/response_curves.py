"""`response_curve`: measures over one part of a study, one plot for each measure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.display.canvas import FAILURE, INK, LINES, PALE, Figure, shortened
from kinemorph.display.charts.studies import frames
from kinemorph.display.charts.studies.plotted_items import PartAxis, PlottedItems, axis_of, cells
from kinemorph.errors import UnsupportedError

WIDTH, HEIGHT, GAP = 6.0, 2.5, 0.22  # of one plot, and between plots [inch]
MOST = 4  # measures that are shown by default
JOINED = 300  # dots that are joined by lines


def response_curve(
    shown: PlottedItems,
    measures: str | Sequence[str] | None = None,
    *,
    x: str | None = None,
    log: tuple[str, ...] | None = None,
    title: str | None = None,
) -> Figure:
    """Measures over the part `x`, by default over the first one that varies, as dots: one for each item.

    Where only this part varies, a thin line joins the dots; where others vary, too, a line shows the medians. Failed
    items are marked on the lower edge.
    """
    names = [measures] if isinstance(measures, str) else list(measures or shown.names[:MOST])
    part = x or next(iter(shown.parts), None)
    if part is None:
        raise UnsupportedError(f"plot: the study '{shown.name}' varies no part, so there is nothing to plot over.")
    axis = axis_of(shown.column(part), None if log is None else part in log)
    values = [shown.measure(name) for name in names or [None]]  # type: ignore[list-item]
    spots, index = cells([axis])
    repeated = len(spots) < int((index >= 0).sum())
    others = [name for name in shown.parts if name != part]
    below = frames.bottom_room(axis)
    count = len(values)
    notes = [frames.counts(shown, "crosses on the lower edge")]
    notes += frames.also_varied(others)
    notes += ["The line shows medians."] if repeated else []
    heading = frames.heading(", ".join(name for name, _ in values), shown.name, title)
    figure = frames.paper(WIDTH + 1.0, below + count * (HEIGHT + GAP), heading, notes)
    for k, (name, column) in enumerate(values):
        bottom = below + (count - 1 - k) * (HEIGHT + GAP)
        axes = frames.placed(figure, 0.82, bottom, WIDTH, HEIGHT)
        _draw(axes, shown, axis, column, LINES[k % len(LINES)], (spots, index, repeated))
        frames.dress(axes, axis, "x")
        if k < count - 1:
            axes.set_xlabel("")
            axes.tick_params(labelbottom=False)
        axes.set_ylabel(shortened(shown.label(name), 36), fontsize=9)
    return figure


def _draw(
    axes: Any, shown: PlottedItems, axis: PartAxis, values: Array, color: str, groups: tuple[Array, Any, bool]
) -> None:
    """Dots of one measure, the line through them or their medians, and crosses for failed items."""
    spots, index, repeated = groups
    known = np.flatnonzero((index >= 0) & np.isfinite(values))
    order = known[np.argsort(axis.places[known], kind="stable")]
    places = axis.shown(frames.spread(axis.places[order], axis, repeated))
    many = len(order) > JOINED
    if repeated:
        axes.plot(
            places, values[order], ".", color=color, markersize=4, alpha=float(np.clip(200 / len(order), 0.15, 0.6))
        )
        groups_of = np.split(values[order], np.flatnonzero(np.diff(index[order])) + 1)
        here = axis.shown(spots[np.unique(index[order]), 0])
        style = (
            {"marker": "_", "markersize": 22, "linestyle": "none"} if axis.labels else {"marker": "o", "markersize": 4}
        )
        axes.plot(here, [np.median(group) for group in groups_of], color=INK, linewidth=1.2, **style)
    else:
        axes.plot(places, values[order], "." if many else "o", color=color, markersize=3 if many else 4, zorder=3)
        if not axis.labels and not many and len(shown.parts) == 1:
            axes.plot(places, values[order], color=PALE, linewidth=0.8, zorder=2)
    lost = axis.places[shown.failed & (index >= 0)]
    if len(lost):
        cross: dict[str, Any] = {"transform": axes.get_xaxis_transform(), "clip_on": False, "zorder": 5}
        axes.plot(axis.shown(lost), np.zeros(len(lost)), "x", color=FAILURE, markersize=5, **cross)
    if axis.labels:
        axes.set_xlim(-0.6, len(axis.labels) - 0.4)
