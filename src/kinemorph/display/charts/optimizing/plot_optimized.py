"""`plot_optimized`: all designs that a search measured, over time and over what was chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.optimizing.design_problem import MET, History
from kinemorph.analysis.optimizing.optimized import Optimized
from kinemorph.display.canvas import INK, LINES, PALE, Figure, blank, plain_axes, save
from kinemorph.errors import UnsupportedError
from kinemorph.words import did_you_mean, quoted

WIDTH, HEIGHT = 3.2, 3.9  # [inch], of one plot
MOST = 3  # numbers that are shown by default


def plot_optimized(
    optimized: Optimized,
    *,
    beside: Mapping[str, Optimized] | None = None,
    over: Sequence[str] | None = None,
    bound: float | None = None,
    title: str | None = None,
    path: Path | str | None = None,
) -> Figure:
    """The costs of all designs that a search measured, and the least one so far; then costs over each number.

    Crosses are designs that break a condition. `beside` are further results of the same problem by name, such as the
    best of random designs: their designs are shown in another color. `over` are the names of numbers to show, by
    default the first three. `bound` is a cost that no design is below, shown as a dashed line. `path` is a file to
    write, .png, .svg or .pdf.
    """
    if not np.isfinite(optimized.history.costs).any():
        raise UnsupportedError(f"there is no design to plot. {optimized.message}")
    shown = {optimized.search.replace("_", " "): optimized, **(beside or {})}
    known = optimized.unknowns.names
    names = known[:MOST] if over is None else tuple(over)
    for name in names:
        if name not in known:
            raise UnsupportedError(f"plot: '{name}' was not chosen.{did_you_mean(name, known)} Known: {quoted(known)}.")
    figure = blank(WIDTH * (1 + len(names)), HEIGHT)
    every: list[Any] = list(figure.subplots(1, 1 + len(names), sharey=True, squeeze=False)[0])
    figure.subplots_adjust(left=0.3 / (1 + len(names)), right=0.985, bottom=0.15, top=0.74, wspace=0.08)
    for axes in every:
        plain_axes(axes)
        axes.tick_params(labelsize=8, colors=PALE)
    for number, (label, one) in enumerate(shown.items()):
        color, history = LINES[number % len(LINES)], one.history
        counts = np.arange(1.0, len(history.costs) + 1.0)
        _dots(every[0], counts, history, color)
        every[0].plot(counts, history.best, color=color, linewidth=1.6, label=f"{label}: {one.cost:.6g}")
        for name, axes in zip(names, every[1:], strict=True):
            _dots(axes, history.values[:, known.index(name)], history, color)
            axes.plot(one.values[name], one.cost, "o", color=color, markeredgecolor=INK, markersize=7)
    for name, axes in zip(names, every[1:], strict=True):
        axes.set_xlabel(name.replace("_", " "), fontsize=9, color=INK)
        if optimized.unknowns.each[known.index(name)].log:
            axes.set_xscale("log")
    for axes in every if bound is not None else ():
        axes.axhline(bound, color=INK, linestyle="--", linewidth=1.0)
    costs = np.concatenate([one.history.costs for one in shown.values()])
    if np.nanmin(costs) > 0.0 and np.nanmax(costs) > 30.0 * np.nanmin(costs):
        every[0].set_yscale("log")
    _tidy_ticks(every)
    every[0].set_xlabel("design", fontsize=9, color=INK)
    every[0].set_ylabel("cost", fontsize=9, color=INK)
    if any((one.history.errors > MET).any() for one in shown.values()):
        every[0].plot([], [], "x", color=PALE, markersize=4, label="breaks a condition")
    figure.legend(*every[0].get_legend_handles_labels(), fontsize=8, frameon=False, ncols=3, loc=(0.012, 0.775))
    figure.text(0.02, 0.93, title or f"least cost of {optimized.name.replace('_', ' ')}", fontsize=13, color=INK)
    figure.text(0.02, 0.87, optimized.message, fontsize=8, color=PALE)
    if path is not None:
        save(figure, path)
    return figure


def _tidy_ticks(every: Sequence[Any]) -> None:
    """Labels logarithmic axes at 1, 2 and 5 times powers of ten."""
    from matplotlib.ticker import LogLocator

    for axis in (every[0].yaxis, *(axes.xaxis for axes in every)):
        if axis.get_scale() == "log":
            axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            axis.set_major_formatter("{x:g}")
            axis.set_minor_formatter("")


def _dots(axes: Any, x: Array, history: History, color: Any) -> None:
    """Costs over x (N,): dots where all conditions are met, crosses elsewhere."""
    met = history.errors <= MET
    for mark, some in ((".", met), ("x", ~met)):
        axes.plot(x[some], history.costs[some], mark, color=color, alpha=0.35, markersize=4, zorder=1)
