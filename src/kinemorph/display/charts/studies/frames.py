"""The paper of pictures of studies: title, caption, axes with room for long names, and a color bar."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.display.canvas import INK, LONG, PALE, Figure, blank, plain_axes, shortened
from kinemorph.display.charts.studies.plotted_items import PartAxis, PlottedItems

COLORS = "viridis"  # for measures; readable by the color-blind and in gray
FAILED_FACE = "#f5d9d6"  # cells of failed items
LETTER = 0.068  # width of a character of 8 points [inch]
MOST_LABELS = 40  # labels of choices on one axis; of more, some are shown
MOST_MARKED = 8  # values of a part that each have a tick
SIDEWAYS, GOLDEN = 0.6, 0.6180339887498949  # how far dots are spread about a choice, and the step between neighbors
WIDE_COUNT = 20.0  # numbers of items that span more than this factor have a logarithmic axis
MOST_OTHERS = 4  # parts without an axis that a caption names
CLIPPED = 5.0  # colors leave out the outermost values where these widen the range by more than this factor


def paper(width: float, height: float, title: str, captions: Sequence[str], above: float = 0.0) -> Figure:
    """A figure with title and captions above `height`, with `above` between them for labels; sizes in inches."""
    lines = [line for text in captions for line in textwrap.wrap(text, int(width * 15.0))]
    whole = height + 0.58 + 0.17 * len(lines) + above
    figure = blank(width, whole)
    left = 0.16 / width
    figure.text(left, 1.0 - 0.14 / whole, shortened(title, int(width * 9.5)), fontsize=13, color=INK, va="top")
    for k, line in enumerate(lines):
        place = 1.0 - (0.43 + 0.17 * k) / whole
        figure.text(left, place, line.replace("$", r"\$"), fontsize=8.5, color=PALE, va="top")
    return figure


def placed(figure: Figure, left: float, bottom: float, width: float, height: float) -> Any:
    """Axes in the style of all plots, at a place in inches."""
    across, up = figure.get_size_inches()
    axes = figure.add_axes((left / across, bottom / up, width / across, height / up))
    plain_axes(axes)
    return axes


def label_room(axis: PartAxis) -> float:
    """The room for labels of choices on an axis [inch]; that of numbers where it has numbers."""
    return 0.12 + LETTER * min(LONG, max(map(len, axis.labels))) if axis.labels else 0.42


def dress(axes: Any, axis: PartAxis, side: str) -> None:
    """Gives the x or y axis its name, unit, scale and, for choices, labels."""
    name, which = getattr(axes, f"set_{side}label"), getattr(axes, f"{side}axis")
    name(shortened(axis.label, 60), fontsize=9, color=INK)
    if axis.labels:
        step = -(-len(axis.labels) // MOST_LABELS)
        marks = range(0, len(axis.labels), step)
        rotation: dict[str, Any] = {}
        if side == "x" and upright_labels(axis):
            rotation = {"rotation": 90}
        which.set_ticks(list(marks), [shortened(axis.labels[k]) for k in marks], fontsize=8, **rotation)
        which.set_tick_params(length=0)
        return
    if axis.log:
        from matplotlib.ticker import LogLocator, NullFormatter

        getattr(axes, f"set_{side}scale")("log")
        wide = float(np.ptp(axis.distinct)) > 2.5
        which.set_major_locator(LogLocator(subs=(1.0,) if wide else (1.0, 2.0, 5.0)))
        which.set_major_formatter("{x:g}")
        which.set_minor_formatter(NullFormatter())
        return
    from matplotlib.ticker import MaxNLocator

    which.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 2.5, 5, 10]))


def spread(places: Array, axis: PartAxis, wanted: bool = True) -> Array:
    """Places beside those of choices, so that dots do not hide each other: evenly, and the same at every call."""
    if not axis.labels or not wanted:
        return places
    found: Array = places + SIDEWAYS * (np.modf(GOLDEN * np.arange(len(places)))[0] - 0.5)
    return found


def mark_values(which: Any, axis: PartAxis) -> None:
    """Puts the ticks of a Matplotlib axis at the values of a part, where these are few and not close together."""
    places = axis.distinct
    if axis.labels or not 1 < len(places) <= MOST_MARKED or np.diff(places).min() < 0.08 * np.ptp(places):
        return
    which.set_ticks(axis.shown(places), [f"{value:.4g}" for value in axis.shown(places)])
    which.set_ticks([], minor=True)


def upright_labels(axis: PartAxis) -> bool:
    """Whether labels of choices along a horizontal axis need to be upright."""
    return bool(axis.labels) and sum(min(LONG, len(label)) + 2 for label in axis.labels) > 72


def bottom_room(axis: PartAxis) -> float:
    """The room below a horizontal axis for its labels and its name [inch]."""
    return 0.36 + label_room(axis) if upright_labels(axis) else 0.56


class ColorScale(NamedTuple):
    """Colors of a measure: Matplotlib's norm, which maps values to 0 ... 1, and which ends of its bar have arrows."""

    norm: Any
    extend: str


def color_scale(values: Array) -> ColorScale:
    """The colors of values (n,).

    The outermost two percent on either side are beyond the colors where they would leave one color for all others.
    """
    from matplotlib.colors import Normalize

    known = values[np.isfinite(values)]
    low, high = float(known.min()), float(known.max())
    inner = [float(np.quantile(known, part)) for part in (0.02, 0.98)]
    extend = "neither"
    if len(known) >= 20 and inner[1] > inner[0] and high - low > CLIPPED * (inner[1] - inner[0]):
        below, above = low < inner[0], high > inner[1]
        extend = "both" if below and above else "min" if below else "max"
        low, high = inner
    if low == high:
        low, high = low - 0.5 * (abs(low) or 1.0), high + 0.5 * (abs(high) or 1.0)
    return ColorScale(Normalize(low, high), extend)


def color_bar(figure: Figure, colors: ColorScale, name: str, left: float, bottom: float, height: float) -> None:
    """A color bar with the name of its measure, at a place in inches."""
    from matplotlib.cm import ScalarMappable

    across, up = figure.get_size_inches()
    spot = figure.add_axes((left / across, bottom / up, 0.17 / across, height / up))
    bar = figure.colorbar(ScalarMappable(colors.norm, COLORS), cax=spot, extend=colors.extend)
    bar.set_label(shortened(name, 48), color=INK, fontsize=9)
    bar.ax.tick_params(labelsize=8, colors=PALE, labelcolor=INK, length=2.5)
    bar.outline.set_visible(False)


def legend(axes: Any, place: str) -> None:
    """A legend on a white ground, so that it can be read over dots."""
    box = axes.legend(fontsize=8, loc=place, frameon=True, framealpha=0.85, edgecolor="white")
    box.set_zorder(8)


def counts(shown: PlottedItems, failed: str = "", waiting: str = "") -> str:
    """How many items there are, failed and wait; `failed` and `waiting` say how these are drawn."""
    lost, left = int(shown.failed.sum()), int((~shown.done & ~shown.failed).sum())
    parts = [f"{len(shown):,} item{'s' * (len(shown) != 1)}"]
    parts += [f"{lost:,} failed{f' ({failed})' if failed else ''}"] if lost else []
    parts += [f"{left:,} waiting{f' ({waiting})' if waiting else ''}"] if left else []
    return ", ".join(parts)


def also_varied(others: Sequence[str]) -> list[str]:
    """A list with a sentence about the parts that vary and have no axis; empty where all parts have one."""
    more = " and others" if len(others) > MOST_OTHERS else ""
    return [f"Also varied, and not shown: {', '.join(others[:MOST_OTHERS])}{more}."] if others else []


def best_text(shown: PlottedItems, values: Array, largest: bool) -> str:
    """A sentence part about the best item: `largest 0.52 (item 17)`."""
    k = shown.best(values, largest)
    return f"{'largest' if largest else 'smallest'}: {values[k]:.4g} (item {shown.numbers[k]:,})"


def heading(measure: str, name: str, title: str | None) -> str:
    """The title of a picture: `title`, or the measure and the name of the study."""
    if title is not None:
        return title
    return f"{measure} of {name}" if name else measure
