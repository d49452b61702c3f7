"""Work-precision diagrams: error over computing time for several methods. Lower and further left is better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kinemorph.display.canvas import INK, LINES, PALE, SHADOW, Figure, blank, plain_axes, save

WIDTH, HEIGHT = 3.3, 2.7  # of one plot [inch]
MARKERS = "osDv^P"
COLUMNS = 4  # columns of the legend
WRITTEN = 2  # number of lines that are labeled with their settings; more labels would overlap


@dataclass(frozen=True)
class Work:
    """The results of a method on one problem for several settings (step sizes): computing times, and errors by
    component.
    """

    problem: str
    method: str
    settings: tuple[str, ...]
    seconds: tuple[float, ...]  # computing time [s] per second of motion
    errors: Mapping[str, tuple[float, ...]]  # by component, "base position [m]"


def work_precision(works: Sequence[Work], *, title: str, path: Path | str | None = None) -> Figure:
    """A figure of error over computing time, both logarithmic: a row for each problem, a column for each component.

    The first two lines are labeled with their first and last setting. Values that are not finite are left out.
    """
    problems = list(dict.fromkeys(work.problem for work in works))
    methods = list(dict.fromkeys(work.method for work in works))
    components = list(dict.fromkeys(name for work in works for name in work.errors))
    width, height = WIDTH * len(components) + 0.5, HEIGHT * len(problems) + 0.75
    figure = blank(width, height)
    for row, problem in enumerate(problems):
        for column, component in enumerate(components):
            place = (
                (0.72 + WIDTH * column) / width,
                (0.55 + HEIGHT * (len(problems) - 1 - row)) / height,
                (WIDTH - 0.72) / width,
                (HEIGHT - 0.75) / height,
            )
            axes: Any = figure.add_axes(place)
            plain_axes(axes)
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.grid(True, which="major", color=SHADOW, linewidth=0.7)
            axes.margins(0.08, 0.14)
            for work in works:
                if work.problem == problem and component in work.errors:
                    _add_line(axes, work, component, methods.index(work.method))
            axes.set_ylabel(component, fontsize=8, color=INK)
            if row == len(problems) - 1:
                axes.set_xlabel("time per second of motion [s]", fontsize=8, color=INK)
            if column == 0:
                axes.set_title(problem, fontsize=9, color=INK, loc="left")
    figure.text(0.72 / width, 1.0 - 0.22 / height, title, fontsize=12, color=INK, va="center")
    handles = figure.axes[0].get_legend_handles_labels()
    place_of_legend: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (0.66 / width, 1.0 - 0.36 / height)}
    figure.legend(
        *handles, fontsize=8, frameon=False, ncols=COLUMNS, labelcolor=INK, borderaxespad=0.0, **place_of_legend
    )
    if path is not None:
        save(figure, path)
    return figure


def _add_line(axes: Any, work: Work, component: str, number: int) -> None:
    color, errors = LINES[number % len(LINES)], work.errors[component]
    axes.plot(
        work.seconds,
        errors,
        color=color,
        marker=MARKERS[number % len(MARKERS)],
        markersize=4,
        linewidth=1.3,
        label=work.method,
    )
    for k, offset, side in ((0, 5, "left"), (-1, -9, "right")) if number < WRITTEN else ():
        axes.annotate(
            work.settings[k],
            (work.seconds[k], errors[k]),
            textcoords="offset points",
            xytext=(0, offset),
            ha=side,
            fontsize=6.5,
            color=PALE,
        )
