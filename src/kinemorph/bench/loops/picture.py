"""The picture of the four-bar runs: both errors over the ten seconds of motion, and over the time that a run takes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinemorph.bench.loops.four_bar_motion import TIMES
from kinemorph.bench.timing import Row
from kinemorph.display.canvas import INK, LINES, PALE, SHADOW, blank, plain_axes, save
from kinemorph.errors import KinemorphError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ERRORS = (("loop_error", "gaps", "loop open by up to [m]"), ("angle_error", "errors", "crank wrong by up to [rad]"))
STROKES = ("-", (0, (5, 2)), (0, (1, 1.4)), (0, (6, 2, 1, 2)), (0, (2, 2)), (0, (9, 2)))
MARKERS = "oDsv^P"
FLOOR = 1e-17  # smaller values are drawn here
WIDTH, HEIGHT, LEGEND = 9.6, 8.2, 1.98  # [inch]


def draw_loops(rows: Sequence[Row], path: Path | str | None = None) -> Figure:
    """Draws the largest errors up to each time, one run per method; below, the errors of all runs over their times."""
    entries: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row["kind"] == "run":
            entries.setdefault((row["contestant"], row["method"]), []).append(row)
    if not entries:
        raise KinemorphError("there is nothing to draw: the four-bar was not simulated. Leave --picture out.")
    figure = blank(WIDTH, HEIGHT)
    room = HEIGHT - LEGEND - 0.38
    for column, (largest, series, label) in enumerate(ERRORS):
        left, width = (0.75 + 0.5 * WIDTH * column) / WIDTH, (0.5 * WIDTH - 0.95) / WIDTH
        for row_number in range(2):
            bottom = (LEGEND + 0.5 + 0.5 * room * (1 - row_number)) / HEIGHT
            axes: Any = figure.add_axes((left, bottom, width, (0.5 * room - 0.62) / HEIGHT))
            plain_axes(axes)
            axes.set_yscale("log")
            axes.grid(True, which="major", color=SHADOW, linewidth=0.7)
            axes.set_ylabel(label, fontsize=8, color=INK)
            if row_number == 0:
                _over_time(axes, entries, series)
            else:
                _over_work(axes, entries, largest)
    figure.text(0.12 / WIDTH, 1.0 - 0.2 / HEIGHT, TITLE, fontsize=12, color=INK, va="center")
    _legend(figure, entries)
    if path is not None:
        save(figure, path)
    return figure


TITLE = "a four-bar swings for 10 s: is its loop closed, is its crank right, and at what price?"


def _looks(entries: dict[tuple[str, str], list[Row]], entry: tuple[str, str]) -> dict[str, Any]:
    """The line style of an entry: a color per contestant, a dash pattern and a marker per method.

    The first entry, our default method, is thicker and in front.
    """
    names = list(dict.fromkeys(name for name, _ in entries))
    number = [method for name, method in entries if name == entry[0]].index(entry[1])
    first = entry == next(iter(entries))
    return {
        "color": LINES[names.index(entry[0])],
        "linestyle": STROKES[number % len(STROKES)],
        "linewidth": 2.4 if first else 1.2,
        "marker": MARKERS[number % len(MARKERS)],
        "markersize": 5.5 if first else 4.0,
        "zorder": 5 if first else 3,
    }


def shown(rows: Sequence[Row]) -> Row:
    """The run of a method that is drawn over time: the run with the middle setting."""
    return rows[len(rows) // 2]


def _over_time(axes: Any, entries: dict[tuple[str, str], list[Row]], series: str) -> None:
    for entry, rows in entries.items():
        values = list(accumulate((math.inf if x is None else max(x, FLOOR) for x in shown(rows)[series]), max))
        axes.plot(TIMES, values, **_looks(entries, entry) | {"marker": None})
    axes.set_xlim(0.0, TIMES[-1])
    axes.set_xlabel("time [s]", fontsize=8, color=INK)


def _over_work(axes: Any, entries: dict[tuple[str, str], list[Row]], largest: str) -> None:
    for entry, rows in entries.items():
        good = [row for row in rows if row[largest] is not None]
        values = [max(row[largest], FLOOR) for row in good]
        axes.plot([row["ms"] for row in good], values, **_looks(entries, entry))
    axes.set_xscale("log")
    axes.set_xlabel("time for the run, one core [ms]", fontsize=8, color=INK)
    axes.annotate(
        "better", (0.42, 0.08), (0.52, 0.19), "axes fraction", "axes fraction",
        {"arrowstyle": "->", "color": PALE}, color=PALE, fontsize=8, ha="center", va="center",
    )  # fmt: skip


def _legend(figure: Any, entries: dict[tuple[str, str], list[Row]]) -> None:
    """Draws the legend: a column per contestant, and for each method the setting that is drawn over time."""
    from matplotlib.lines import Line2D

    names = list(dict.fromkeys(name for name, _ in entries))
    for number, name in enumerate(names):
        own = [entry for entry in entries if entry[0] == name]
        handles = [Line2D([], [], **_looks(entries, entry)) for entry in own]
        labels = [f"{entry[1]}\n({shown(entries[entry])['setting']})" for entry in own]
        place = ((0.1 + number * (WIDTH - 0.2) / len(names)) / WIDTH, (LEGEND + 0.02) / HEIGHT)
        made = figure.legend(
            handles, labels, title=name, loc="upper left", bbox_to_anchor=place, fontsize=6.8, title_fontsize=8.5,
            frameon=False, labelcolor=INK, borderaxespad=0.0, handlelength=2.6, alignment="left",
        )  # fmt: skip
        made.get_title().set_color(LINES[number])
