"""The picture of `kinemorph bench rigid`: errors over times."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinemorph.bench.timing import Row
from kinemorph.display.canvas import INK, LINES, SHADOW, blank, plain_axes, save
from kinemorph.errors import KinemorphError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARKERS = "oDsv^PX"
FLOOR = 1e-15  # smaller errors are drawn here
WIDTH, HEIGHT, LEGEND = 9.6, 3.3, 0.3  # [inch]


def draw_rigid(rows: Sequence[Row], path: Path | str | None = None) -> Figure:
    """Draws error over CPU time, a panel for each problem."""
    if not rows:
        raise KinemorphError("there is nothing to draw: no problem was simulated. Leave --picture out.")
    problems = list(dict.fromkeys(row["problem"] for row in rows))
    contestants = list(dict.fromkeys(row["contestant"] for row in rows))
    figure = blank(WIDTH, HEIGHT)
    lines: dict[str, Any] = {}
    for column, problem in enumerate(problems):
        each = WIDTH / len(problems)
        left, width = (0.62 + (each - 0.04) * column) / WIDTH, (each - 0.62) / WIDTH
        axes: Any = figure.add_axes((left, (LEGEND + 0.45) / HEIGHT, width, (HEIGHT - LEGEND - 0.78) / HEIGHT))
        plain_axes(axes)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.grid(True, which="major", color=SHADOW, linewidth=0.7)
        for k, contestant in enumerate(contestants):
            own = [row for row in rows if row["problem"] == problem and row["contestant"] == contestant]
            good = [row for row in own if row["error"] is not None]
            if good:
                looks = {"color": LINES[k % len(LINES)], "marker": MARKERS[k % len(MARKERS)], "markersize": 4}
                strong = {"linewidth": 1.2 if k else 2.2, "zorder": 4 if k else 5}
                errors = [max(row["error"], FLOOR) for row in good]
                (lines[contestant],) = axes.plot([row["ms"] for row in good], errors, **looks, **strong)
        axes.set_ylim(0.3 * FLOOR, 30.0)
        axes.set_title(problem, fontsize=9, color=INK, loc="left")
        axes.set_xlabel("CPU time [ms]", fontsize=8, color=INK)
        axes.tick_params(labelsize=7)
        if column == 0:
            axes.set_ylabel("largest error [m, rad]", fontsize=8, color=INK)
    figure.legend(
        list(lines.values()), list(lines), loc="lower center", ncols=len(lines), fontsize=7, frameon=False,
        labelcolor=INK, handlelength=2.0, columnspacing=1.2,
    )  # fmt: skip
    if path is not None:
        save(figure, path)
    return figure
