"""Plots of runs over time: one axis for each group of columns and unit, events as thin lines, and the outcome.

Several runs have different line styles on the same axes. Where there are more lines than distinct colors, they are
split into small multiples (small axes side by side), one for each leg or arm; many numbered joints (q1 ... q36) share
one color scale. References can be drawn over measurements, on the same axes (`overlay`). Of a batch with many runs, the
median and bands of quantiles are drawn (`batch_bands`).
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.display import series
from kinemorph.display.canvas import (
    FAILURE,
    INK,
    LINES,
    PALE,
    Figure,
    blank,
    factor_out,
    plain_axes,
    said,
    save,
    shortened,
    units_of,
)
from kinemorph.display.charts.batch_bands import (
    batch_caption,
    batch_failures,
    draw_bands,
    few_runs,
    first_run,
    shown_bands,
)
from kinemorph.display.charts.event_marks import Mark, event_marks, name_events, show_events
from kinemorph.display.charts.runs import (
    Compared,
    Runs,
    failure_lines,
    line_style,
    named_runs,
    run_caption,
    several,
    show_ends,
)
from kinemorph.display.series import Block, Family
from kinemorph.errors import UnsupportedError
from kinemorph.simulation.results.batch_run import BatchRun
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.words import counted

# all in inches
WIDTH, LEFT, RIGHT = 9.0, 0.85, 0.35
HANDLE, LETTER, WIDEST = 0.42, 0.062, 2.2  # a legend: the width of its lines, of a letter, and at most
LETTER_UP = 0.066  # the width of a letter in the label of a vertical axis
HEIGHT, LOW, SMALL = 1.9, 1.5, 1.25  # height of an axis, of one among panels, and of a small multiple
GAP, BETWEEN = 0.3, 0.32  # space below each row, and between small multiples
HEAD, BARE, BOTTOM, LEADING = 0.72, 0.3, 0.55, 0.17

SHADES = (0.0, 0.86)  # part of the color scale for numbered joints; its yellow end is hard to see on white
MOST_ROWS = 3  # of a figure of panels, of which two fit on a page
MOST_NAMES = 12  # largest number of names in one legend
LONGEST_NAME = round((WIDEST - HANDLE) / LETTER)  # characters
RUNS_ABREAST = 4  # names of runs per line
GROWN = 10.0  # for a failed run, values beyond this multiple of its first values are cut off
TOTAL = "total"
OVER: dict[str, Any] = {"linestyle": (0, (3.5, 1.5)), "linewidth": 1.1, "zorder": 3.0}  # lines drawn over others


@dataclass(frozen=True)
class Row:
    """A row of axes, one for each of the `families` (columns that share an axis) of a block, columns of one unit.

    `cells` is the number of axes that fit in a row.
    """

    block: Block
    families: tuple[Family, ...]
    cells: int = 1
    height: float = HEIGHT  # [inch]
    shared: bool = False  # whether all rows of the block share one legend, beside the first row
    first: bool = True  # whether it is the first row of its block
    last: bool = True
    difference: bool = False
    legend: float = 0.0  # the width of legends in the figure [inch]; 0 where there are none


@dataclass(frozen=True, eq=False)
class Subject:
    """What is plotted: runs by name, each as lines; or a batch as bands, and the run that represents it."""

    runs: Runs
    batch: BatchRun | None = None
    bands: Sequence[tuple[float, float]] = ()  # see `batch_bands.shown_bands`


def plot(
    trajectory: Trajectory | BatchRun | Sequence[Trajectory] | Mapping[str, Trajectory],
    *columns: str | Sequence[str],
    compare: Compared = None,
    overlay: str | Sequence[str] = (),
    name: str | None = None,
    difference: bool = False,
    degrees: bool = False,
    title: str | None = None,
    path: Path | str | None = None,
) -> Figure:
    """Plots columns of a run, or of a batch of runs, over time, and returns a Matplotlib Figure without a window.

    Several runs, given as a list or by name, {"rk4": run}, are drawn over each other, as with `compare`.
    Of a batch, up to four runs are drawn as lines, up to eight where one column is named; of more runs the median and
    the bands in which the middle 50 % and 90 % of them lie. `plot(batch[[3, 8]], ...)` shows the runs that you choose.

    `columns`      names ("q.elbow"), groups ("q", "v", "a", "u", "tau", "x", "y", "energy") or patterns ("q.leg1*"),
                   one by one or in lists; by default q, v, states of elements, and energies
    `compare`      further runs of the same system, by name, {"rk4": other}, or in a list
    `overlay`      columns to draw dashed over those of the same unit, on the same axes: plot("q", overlay="path.*")
                   shows references over measurements
    `name`         the name of this run beside the others; its integration method by default
    `difference`   also plots the difference of each further run from the first, at their common times, on a log scale
    `degrees`      shows angles in degrees
    `title`        the title; the name of the system by default. With "", for documents, which say themselves why a run
                   failed, the figure does not say it either
    `path`         a file to write, .png, .svg or .pdf
    """
    if not isinstance(trajectory, Trajectory | BatchRun):
        trajectory, compare, name = several(trajectory, compare, name)
    beside = () if isinstance(trajectory, BatchRun) else tuple(named_runs(trajectory, compare, name).values())[1:]
    chosen, idle = series.chosen_blocks(trajectory, series.flat(columns), beside)
    shown = _subject(trajectory, chosen, compare, name)
    runs = shown.runs
    first = next(iter(runs.values()))
    if difference and (len(runs) < 2 or shown.batch):
        raise UnsupportedError(
            "difference=True needs a second run. Pass it with compare=."
            if shown.batch is None
            else "difference=True compares single runs. Choose a few runs, as plot(batch[[0, 5]], difference=True)."
        )
    if overlay and shown.batch:
        raise UnsupportedError(
            "overlay= is drawn over single runs. Choose a few runs, as plot(batch[[0, 5]], overlay=...)."
        )
    blocks = series.overlaid(first, chosen, series.flat(overlay))
    note = f", {counted(idle, 'contact')} without a force left out" if idle else ""
    figure = _drawn(blocks, shown, difference, degrees, title, note)
    if path is not None:
        save(figure, path)
    return figure


def plot_panels(trajectory: Trajectory, names: Sequence[str]) -> list[Figure]:
    """Figures of many columns of a run in small panels, as `series.panel_blocks` sorts them; each has a few rows.

    All panels of one unit have one width: two abreast, or each in a row of its own where their number is odd.
    """
    rows = [
        replace(block, families=block.families[k : k + step])
        for block in series.panel_blocks(trajectory, names)
        for step in (1 if len(block.families) % 2 else 2,)
        for k in range(0, len(block.families), step)
    ]
    count = -(-len(rows) // MOST_ROWS)
    cuts = [round(k * len(rows) / max(count, 1)) for k in range(count + 1)]
    shown = Subject(named_runs(trajectory))
    return [_drawn(rows[a:b], shown, False, False, "") for a, b in pairwise(cuts)]


def _drawn(
    blocks: Sequence[Block], shown: Subject, difference: bool, degrees: bool, title: str | None, note: str = ""
) -> Figure:
    """The figure of blocks of columns, with a `note` in its caption; the other arguments are those of `plot`."""
    runs = shown.runs
    first = next(iter(runs.values()))
    legend = max((_legend_width(block) for block in blocks), default=0.0)
    rows = [replace(row, legend=legend) for block in blocks for row in _rows(block, difference)]
    right = max(legend, RIGHT)
    marks = event_marks(first, _width(rows[0], right), WIDTH - LEFT - right)
    # names of events are above the title of small multiples; panels have neither title nor caption
    titled = LEADING * (rows[0].cells > 1 and bool(marks)) if blocks[0].alike else BARE - HEAD
    failures = batch_failures(shown.batch, 128) if shown.batch else failure_lines(runs, 128)
    failures = [] if title == "" and not shown.batch else failures
    top = (
        HEAD
        + titled
        + 0.2 * ((len(runs) - 1) // RUNS_ABREAST)
        + LEADING * (1 + max((mark.row for mark in marks), default=-1))
    )
    bottom = BOTTOM + LEADING * len(failures)
    height = top + sum(row.height + _gap(row) for row in rows) - _gap(rows[-1]) + bottom
    figure = blank(WIDTH, height)

    y = height - top
    for row in rows:
        y -= row.height
        _draw_row(figure, row, y, right, shown, degrees, last=row is rows[-1])
        y -= _gap(row)
    _finish(figure, runs, marks, right)
    caption = batch_caption(shown.batch, shown.bands) if shown.batch else run_caption(first)
    if blocks[0].alike:
        _head(figure, first.name.replace("_", " ") if title is None else title, caption + note, runs)
    for k, line in enumerate(failures):
        figure.text(LEFT / WIDTH, (bottom - BOTTOM - LEADING * k) / height, line, color=FAILURE, fontsize=8)
    return figure


def _subject(
    trajectory: Trajectory | BatchRun, blocks: Sequence[Block], compare: Compared, name: str | None
) -> Subject:
    """The runs or the batch to draw, from the arguments of `plot`."""
    if not isinstance(trajectory, BatchRun):
        return Subject(named_runs(trajectory, compare, name))
    if compare is not None or name is not None:
        raise UnsupportedError(
            "compare and name are for single runs, and a batch is given. Take a run of it: plot(batch[0], compare=...)."
        )
    first = first_run(trajectory)
    few = few_runs(trajectory, blocks)
    return Subject(few) if few else Subject({first.statistics.method: first}, trajectory, shown_bands(blocks))


# ── rows of axes ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _rows(block: Block, difference: bool) -> list[Row]:
    """The rows of axes for a block, columns of one group and unit.

    They are one axis; or three small multiples per row, two where each has its own legend. With `difference`, as many
    rows for the differences of runs follow.
    """
    made = []
    for differs in (False, True) if difference else (False,):
        if len(block.families) == 1:
            made.append(Row(block, block.families, height=HEIGHT if block.alike else LOW, difference=differs))
            continue
        shared = block.alike and len(_all_labels(block)) <= len(LINES)
        cells = 3 if shared else 2
        parts = [block.families[k : k + cells] for k in range(0, len(block.families), cells)]
        made += [Row(block, part, cells, SMALL, shared, part is parts[0], part is parts[-1], differs) for part in parts]
    return made


def _gap(row: Row) -> float:
    """The space below a row [inch]; the last row of small multiples needs more for its tick labels."""
    return GAP + (0.12 if row.cells > 1 and row.last else 0.0)


def _all_labels(block: Block) -> list[str]:
    return list(dict.fromkeys(label for family in block.families for label in family.labels))


def _has_legend(row: Row) -> bool:
    return _legend_width(row.block) > 0.0 and not row.difference


def _legend_width(block: Block) -> float:
    """The width of the legend of a block of columns [inch], by its longest name; 0 where there is only one line."""
    over = [name for family in block.families for name in family.over_names.values()]
    if len(block.names) == 1 and not over:
        return 0.0
    longest = max(map(len, [*_all_labels(block), *over, *([TOTAL] if block.group == "energy" else [])]))
    return min(HANDLE + LETTER * longest + 0.1, WIDEST)


def _between(row: Row) -> float:
    """The space between the axes of a row [inch], with room for legends where each axis has its own."""
    if not row.block.alike:
        return row.legend + BETWEEN
    return BETWEEN if row.shared or row.cells == 1 else max(row.legend, BETWEEN)


def _width(row: Row, right: float) -> float:
    """The width of an axis in a row [inch]; `right` is the right margin of the figure [inch]."""
    return (WIDTH - LEFT - right - (row.cells - 1) * _between(row)) / row.cells


def _draw_row(figure: Figure, row: Row, y: float, right: float, shown: Subject, degrees: bool, *, last: bool) -> None:
    """Draws a row with its lower edge at y [inch]. All axes share the time axis, small multiples also the y axis.

    `right` [inch] is the right margin of the figure; the `last` row of the figure has the label of the time axis.
    """
    between, width = _between(row), _width(row, right)
    unit, factor = series.scaled(row.block.unit, degrees)
    for k, family in enumerate(row.families):
        left = LEFT + k * (width + between)
        height = figure.get_figheight()
        place = (left / WIDTH, y / height, width / WIDTH, row.height / height)
        alike = figure.axes[-1] if row.block.alike and row.cells > 1 and not (row.first and k == 0) else None
        axes: Any = figure.add_axes(place, sharex=figure.axes[0] if figure.axes else None, sharey=alike)
        plain_axes(axes)
        _draw_family(axes, row, family, shown, factor)
        if row.cells > 1:
            axes.set_title(shortened(family.word, round(width / LETTER)), fontsize=8, color=INK, loc="left", pad=3.0)
        if k == 0:
            axes.set_ylabel(_y_label(row, unit), fontsize=9, color=INK, linespacing=1.0)
            axes.yaxis.set_label_coords(-0.58 / width, 0.5)
        if last:
            axes.set_xlabel("t [s]", fontsize=9, color=INK)
        lowest = row.cells > 1 and row.block.families.index(family) + row.cells >= len(row.block.families)
        axes.tick_params(labelbottom=last or lowest, labelleft=k == 0 or not row.shared)
        if _has_legend(row) and (not row.shared or (row.first and k == len(row.families) - 1)):
            _add_legend(axes, row)


def _y_label(row: Row, unit: str) -> str:
    what = row.block.group
    if what in ("x", "y"):
        shared = row.block.pattern.removeprefix("*.").removesuffix(".*")  # *.normal is "normal"
        shared = shared if row.block.alike else row.block.pattern.rpartition(".")[2].strip("*").replace("_", " ")
        what = shared or said({"x": "states", "y": "outputs"}[what])
    what = said(what) if what in series.SPOKEN else what
    if len(row.block.names) == 1:
        what = row.block.names[0]
    room = round((row.height + GAP) / LETTER_UP)
    apart = "\n" if len(what) + len(unit) > room - 3 else " "  # the unit of a long name is in a line of its own
    what = shortened(what, room - 4)
    return f"{f'|Δ {what}|' if row.difference else what}{apart}[{units_of(unit)}]"


def _add_legend(axes: Any, row: Row) -> None:
    """Adds a legend beside the axis, with only some of the names where there are more than MOST_NAMES."""
    from matplotlib.lines import Line2D

    lines = {str(line.get_label()): line for line in axes.lines if not str(line.get_label()).startswith("_")}
    if row.shared:  # the labels of all small multiples, which have the same ones
        lines = {label: Line2D([], [], color=LINES[k]) for k, label in enumerate(_all_labels(row.block))}
    labels = list(lines)
    if len(labels) > MOST_NAMES:
        labels = [labels[k] for k in np.unique(np.linspace(0, len(labels) - 1, 6).round().astype(int))]
    over = {label for family in row.block.families for name, label in family.over_names.items() if label != name}
    lines |= {label: Line2D([], [], color=INK, **OVER) for label in sorted(over)}
    labels += sorted(over)
    axes.legend(
        [lines[label] for label in labels],
        [shortened(said(label) if row.block.group == "energy" else label, LONGEST_NAME) for label in labels],
        loc="upper left",
        bbox_to_anchor=(1.0, 1.04),
        fontsize=8.0 if row.cells == 1 and len(labels) < 10 else 7.0,
        handlelength=1.3,
        labelspacing=0.25,
        borderaxespad=0.3,
        frameon=False,
        labelcolor=INK,
    )


# ── lines ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _draw_family(axes: Any, row: Row, family: Family, shown: Subject, factor: float) -> None:
    """Draws a family, columns that share an axis, for all runs, or the bands of a batch; labels are for the first run
    only.

    Values are multiplied by `factor`, for another unit.
    """
    colors, runs = _line_colors(row, family), shown.runs
    if shown.batch is not None:
        curves = draw_bands(axes, shown.batch, shown.bands, family, colors, factor)
        if not shown.batch.ok.all():
            _limit(axes, curves)
        return
    reference = next(iter(runs.values()))
    seen: list[Array] = [np.zeros(0)]
    for number, run in enumerate(runs.values()):
        for k, (name, label) in enumerate(zip(family.names, family.labels, strict=True)):
            if name not in run or (row.difference and number == 0):
                continue
            t, y = _apart(reference, run, name) if row.difference else (run["t"], series.values(run, name))
            color = LINES[number % len(LINES)] if _by_run(row, runs) else colors[k]
            look = {
                "color": color,
                "marker": "o" if len(t) == 1 else "",
                **line_style(number),
            }  # one sample: a dot
            axes.plot(t, factor * y, label=label if number == 0 else f"_{label}", **look)
            seen.append(factor * y)
        if row.block.group == "energy" and not row.difference:
            _add_total(axes, family, run, number)
    for number, name in enumerate(() if row.difference else family.over):
        y, alone = factor * series.values(reference, name), family.over_names[name] == name
        color = LINES[(len(family.names) + number) % len(LINES)] if alone else colors[family.beneath(name) or 0]
        axes.plot(reference["t"], y, label=name if alone else f"_{name}", color=color, **OVER)
        seen.append(y)
    if row.difference and any((y > 0.0).any() for y in seen):
        axes.set_yscale("log", nonpositive="mask")
    elif row.difference:
        axes.text(0.5, 0.5, said("no difference"), transform=axes.transAxes, ha="center", fontsize=9, color=PALE)
    elif not all(run.outcome.ok for run in runs.values()):
        _limit(axes, seen)


def _by_run(row: Row, runs: Runs) -> bool:
    """Whether each run has its own color, which is so where the axis has only one column."""
    return len(row.block.names) == 1 and len(runs) > 1


def _line_colors(row: Row, family: Family) -> list[Any]:
    count = len(family.names)
    if row.shared:
        every = _all_labels(row.block)
        return [LINES[every.index(label)] for label in family.labels]
    if count <= len(LINES):
        return list(LINES[:count])
    from matplotlib import colormaps

    return list(colormaps["viridis"](np.linspace(*SHADES, count)))


def _add_total(axes: Any, family: Family, run: Trajectory, number: int) -> None:
    """Draws the sum of kinetic and potential energy of run `number`, where both are shown."""
    if {"energy.kinetic", "energy.potential"} <= {*family.names} & {*run.columns}:
        total = series.values(run, "energy.kinetic") + series.values(run, "energy.potential")
        label = TOTAL if number == 0 else f"_{TOTAL}"
        axes.plot(run["t"], total, color=INK, label=label, **{**line_style(number), "linewidth": 1.0})


def _apart(reference: Trajectory, run: Trajectory, name: str) -> tuple[Array, Array]:
    """(times [s], |difference|) of the column `name` at the common sample times of two runs."""
    t, other = (np.round(np.asarray(one["t"], dtype=float), 9) for one in (reference, run))
    common, here, there = np.intersect1d(t, other, return_indices=True)
    if len(common) < 2:
        raise UnsupportedError(
            "the runs have no sample times in common, so there is no difference to show. Simulate both with the same "
            "`output_step`."
        )
    return common, np.abs(series.values(run, name)[there] - series.values(reference, name)[here])


def _limit(axes: Any, seen: Sequence[Array]) -> None:
    """Limits the y axis where values of a failed run grew beyond GROWN, so that the curve before stays visible."""
    early = [np.abs(y[: max(5, len(y) // 4)]) for y in seen if len(y)]
    usual = GROWN * max((float(y[np.isfinite(y)].max(initial=0.0)) for y in early), default=0.0)
    values = np.concatenate(seen)
    kept = values[np.abs(values) <= usual]  # leaves out NaN as well
    if len(kept) and len(kept) < np.isfinite(values).sum():
        low, high = float(kept.min()), float(kept.max())
        axes.set_ylim(low - 0.05 * (high - low), high + 0.05 * (high - low))


# ── the head ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _finish(figure: Figure, runs: Runs, marks: Sequence[Mark], right: float) -> None:
    """Adds the ends of runs and the events to all axes, and the names of events above the first axis.

    `right` [inch] is the right margin of the figure.
    """
    from matplotlib.ticker import MaxNLocator

    small = min(axes.get_position().width for axes in figure.axes) < 0.5
    figure.axes[0].xaxis.set_major_locator(MaxNLocator(nbins=4 if small else 8, steps=[1, 2, 2.5, 5, 10]))
    for axes in figure.axes:
        show_ends(axes, runs)
        show_events(axes, marks)
        factor_out(axes)
    first = figure.axes[0]
    name_events(first, marks, first.get_position().width * WIDTH, WIDTH - LEFT - right, LEADING)


def _head(figure: Figure, title: str, caption: str, runs: Runs) -> None:
    """Adds the title, and a caption of the one run or of the batch, or a legend of several runs."""
    height, left = figure.get_figheight(), LEFT / WIDTH
    figure.text(left, 1.0 - 0.3 / height, title, fontsize=13, color=INK, va="center")
    if len(runs) == 1:
        short = textwrap.shorten(caption, 128, placeholder=" …")
        figure.text(left, 1.0 - 0.52 / height, short, fontsize=8, color=PALE, va="center")
        return
    from matplotlib.lines import Line2D

    plain = [line for axes in figure.axes for line in axes.lines if not str(line.get_label()).startswith("_")]
    colored = {line.get_color() for line in plain} == {LINES[0]}  # one column on each axis
    colors = [LINES[k % len(LINES)] if colored else INK for k in range(len(runs))]
    figure.legend(
        [Line2D([], [], color=color, **line_style(k)) for k, color in enumerate(colors)],
        list(runs),
        loc="upper left",
        bbox_to_anchor=(left, 1.0 - 0.42 / height),
        ncols=RUNS_ABREAST,
        fontsize=8,
        frameon=False,
        handlelength=2.8,
        borderaxespad=0.0,
        borderpad=0.2,
        labelcolor=INK,
    )
