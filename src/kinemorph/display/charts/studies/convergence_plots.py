"""How results develop with the number of items: the best item so far, or an estimate and its confidence interval."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.display.canvas import INK, LINES, PALE, Figure, shortened
from kinemorph.display.charts.studies import frames
from kinemorph.display.charts.studies.plotted_items import PlottedItems

WIDTH, HEIGHT = 6.0, 3.4  # of the axes [inch]
MANY = 2000  # dots from which on they are pale and small
LEFT = 0.85  # [inch]


def best_so_far(
    shown: PlottedItems, measure: str | None = None, *, largest: bool = False, title: str | None = None
) -> Figure:
    """A measure of all items in the order of their numbers, and the best one so far, largest or smallest, as a line."""
    name, values = shown.measure(measure)
    known = np.flatnonzero(np.isfinite(values))
    counts = shown.numbers[known] + 1.0
    best = (np.maximum if largest else np.minimum).accumulate(values[known])
    rises = np.flatnonzero(np.diff(best, prepend=np.nan) != 0.0)
    caption = f"{frames.counts(shown)}; {frames.best_text(shown, values, largest)}; {_improved(len(rises) - 1)}"
    figure = frames.paper(LEFT + WIDTH + 0.25, 0.55 + HEIGHT, frames.heading(name, shown.name, title), [caption])
    axes = frames.placed(figure, LEFT, 0.55, WIDTH, HEIGHT)
    many = len(known) > MANY
    look: dict[str, Any] = {"markersize": 2 if many else 4, "alpha": 0.25 if many else 0.5, "rasterized": many}
    axes.plot(counts, values[known], ".", color=LINES[0], zorder=2, label="items", **look)
    end = float(shown.numbers.max() + 1)
    axes.step(
        [*counts, end], [*best, best[-1]], where="post", color=LINES[1], linewidth=1.8, zorder=3, label="best so far"
    )
    axes.plot(counts[rises], best[rises], "o", color=LINES[1], markersize=4, zorder=4)
    _scale(axes, values[known], best)
    _name(axes, "number of items", shown.label(name))
    frames.legend(axes, "lower right" if largest else "upper right")
    return figure


def _improved(count: int) -> str:
    return f"improved {count:,} times" if count != 1 else "improved once"


def _scale(axes: Any, values: Array, best: Array) -> None:
    """Leaves the worst items out of the picture where they would flatten the line of the best."""
    low, high = (float(np.quantile(values, part)) for part in (0.02, 0.98))
    low, high = min(low, float(best.min())), max(high, float(best.max()))
    if high > low and np.ptp(values) > frames.CLIPPED * (high - low):
        axes.set_ylim(low - 0.05 * (high - low), high + 0.05 * (high - low))


def estimate_so_far(
    counts: Array,
    value: Array,
    low: Array,
    high: Array,
    *,
    measure: str,
    heading: str,
    captions: list[str],
    goal: float | None = None,
) -> Figure:
    """An estimate (m,) after `counts` items (m,) with its confidence interval, `low` to `high`.

    `goal` is a stated error: two dashed lines about the last estimate.
    """
    figure = frames.paper(LEFT + WIDTH + 0.25, 0.55 + HEIGHT, heading, captions)
    axes = frames.placed(figure, LEFT, 0.55, WIDTH, HEIGHT)
    sides = [np.where(np.isfinite(curve), curve, np.nan) for curve in (low, high)]
    if len(counts) > 1:
        axes.fill_between(counts, *sides, color=LINES[0], alpha=0.2, linewidth=0, label="confidence interval")
        axes.plot(counts, value, color=LINES[0], linewidth=1.8, label="estimate")
        axes.set_xlim(float(counts[0]), float(counts[-1]))
    else:
        reach = np.nan_to_num([value - sides[0], sides[1] - value])
        axes.errorbar(counts, value, yerr=reach, fmt="o", color=LINES[0], capsize=4, label="estimate and interval")
    if goal is not None:
        for k, side in enumerate((-1.0, 1.0)):
            label = "stated error" if not k else None
            axes.axhline(value[-1] + side * goal, color=INK, linestyle=(0, (4, 3)), linewidth=1.0, label=label)
    axes.axhline(value[-1], color=PALE, linewidth=0.8)
    if counts[-1] > frames.WIDE_COUNT * counts[0]:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:,.0f}")
    start = len(counts) // 8  # the first intervals are so wide that they would hide the others
    seen = np.concatenate([curve[start:][np.isfinite(curve[start:])] for curve in (*sides, value)])
    if len(seen) and np.ptp(seen) > 0.0:
        axes.set_ylim(seen.min() - 0.05 * np.ptp(seen), seen.max() + 0.05 * np.ptp(seen))
    _name(axes, "number of items", measure)
    frames.legend(axes, "best")
    return figure


def _name(axes: Any, x: str, y: str) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.set_xlabel(x, fontsize=9, color=INK)
    if axes.get_xscale() == "linear":
        axes.xaxis.set_major_locator(MaxNLocator(nbins=7, integer=True, steps=[1, 2, 5, 10], min_n_ticks=1))
        axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_ylabel(shortened(y, 44), fontsize=9, color=INK)
