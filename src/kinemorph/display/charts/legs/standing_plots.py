"""Efforts of legs and the leaning of ground reactions, over the angle errors of postures from stiff to soft."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.legs.standing import StandingCurve
from kinemorph.display.canvas import INK, LINES, PALE, Figure, blank, plain_axes, save

Published = Mapping[str, Sequence[tuple[float, float]]]


def plot_standing(
    curve: StandingCurve,
    *,
    legs: Sequence[str] = (),
    compare: Mapping[str, StandingCurve] | None = None,
    beside: Published | None = None,
    title: str | None = None,
    path: Path | str | None = None,
) -> Figure:
    """A figure with two panels over the mean angle error of each leg [deg], on a logarithmic axis.

    The left panel shows the effort of each leg, relative to that at the largest gain; the right one the horizontal
    force of each foot divided by its vertical force, with the bound of static friction.

    `legs`       the names of the legs to show, by default all
    `compare`    further curves by name, such as for another ground, drawn dashed
    `beside`     published points (error [deg], effort in any unit) by name; efforts are divided by the first one
    `path`       a file to write, .png, .svg or .pdf
    """
    from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter

    shown = tuple(legs) or curve.legs
    figure = blank(9.0, 4.8)
    left: Any = figure.add_axes((0.08, 0.12, 0.40, 0.62))
    right: Any = figure.add_axes((0.57, 0.12, 0.40, 0.62))
    rows = [("", curve, "-"), *((name, other, "--") for name, other in (compare or {}).items())]
    for suffix, one, style in rows:
        for k, leg in enumerate(shown):
            label = leg.replace("_", " ") + (f", {suffix}" if suffix else "")
            line: dict[str, Any] = {"color": LINES[k % len(LINES)], "linestyle": style, "linewidth": 1.7}
            degrees = np.degrees(one.errors[:, one.column(leg)])
            left.plot(degrees, one.relative_effort(leg), label=label, **line)
            right.plot(degrees, one.grips[:, one.column(leg)], **line)
    for k, (name, points) in enumerate((beside or {}).items()):
        error, effort = _columns(points)
        left.plot(error, effort / effort[0], "os^D"[k % 4], color=INK, markerfacecolor="white", label=name)
    bound = float(np.min(curve.static))
    if np.isfinite(bound):
        right.axhline(bound, color=PALE, linewidth=1.2, zorder=0)
        right.text(0.02, bound, "static friction", color=INK, fontsize=8, va="bottom", transform=_across(right))
    for axes, words in ((left, "effort of a leg, relative to stiff joints"), (right, "horizontal / vertical force")):
        plain_axes(axes)
        axes.set_xscale("log")
        axes.set_xlabel("mean angle error [deg]", fontsize=9, color=INK)
        axes.set_ylabel(words, fontsize=9, color=INK)
        axes.set_ylim(0.0, max(axes.get_ylim()[1], 0.05))  # forces of rounding alone are shown as 0
        low, high = axes.get_xlim()
        if high < 30.0 * low:  # decades alone would leave few ticks, and the ones between them long labels
            axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.xaxis.set_major_formatter(FormatStrFormatter("%g"))
        axes.xaxis.set_minor_formatter(NullFormatter())
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(0.07, 0.92), ncols=4)
    heading = title or f"{curve.name.replace('_', ' ')} stands, from stiff to soft joints"
    figure.text(0.08, 0.97, heading, fontsize=13, color=INK, va="top")
    if path is not None:
        save(figure, path)
    return figure


def _columns(points: Sequence[tuple[float, float]]) -> tuple[Array, Array]:
    """(errors, efforts) of published points."""
    table = np.array(points, dtype=float)
    return table[:, 0], table[:, 1]


def _across(axes: Any) -> Any:
    """The transform of texts whose x is a share of the axes and whose y is a value."""
    return axes.get_yaxis_transform()
