"""Phase portraits: the velocity of a coordinate over its position, with arrows in the direction of motion."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.display import series
from kinemorph.display.canvas import FAILURE, INK, LINES, PALE, Figure, blank, plain_axes, save, shortened, units_of
from kinemorph.display.charts.runs import Compared, failure_lines, line_style, named_runs, run_caption
from kinemorph.errors import UnsupportedError
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.words import did_you_mean, quoted

WIDTH, HEIGHT = 6.4, 5.2  # [inch]
LONGEST = 50  # characters of a name
ARROWS = 6  # number of arrows along a run


def plot_phase(
    trajectory: Trajectory,
    joint: str | None = None,
    *,
    compare: Compared = None,
    name: str | None = None,
    wrap: bool = False,
    degrees: bool = False,
    title: str | None = None,
    path: Path | str | None = None,
) -> Figure:
    """A figure of velocity over position of one coordinate; a ring marks the start of each run, a dot its end.

    `joint`     a coordinate whose velocity has the same name, "elbow" or "q.elbow"; by default the first one
    `compare`   further runs, {"from rest": other} or a list; `name` is the name of this run beside them
    `wrap`      shows angles between -180 and 180 degrees
    `degrees`   shows angles in degrees
    `path`      a file to write, .png, .svg or .pdf
    """
    series.check_run(trajectory)
    which, unit, rate = _coordinate(trajectory, joint)
    runs = named_runs(trajectory, compare, name)
    (q_unit, scale), (v_unit, v_scale) = series.scaled(unit, degrees), series.scaled(rate, degrees)
    failures = failure_lines(runs, 92)
    figure = blank(WIDTH, HEIGHT + 0.17 * len(failures))
    height = figure.get_figheight()
    below = (0.62 + 0.17 * len(failures)) / height
    axes: Any = figure.add_axes((0.14, below, 0.8, 1.0 - below - 0.85 / height))
    plain_axes(axes)
    turn = 2.0 * np.pi * scale
    for number, (label, run) in enumerate(runs.items()):
        q, v = scale * series.values(run, f"q.{which}"), v_scale * series.values(run, f"v.{which}")
        known = np.flatnonzero(np.isfinite(q) & np.isfinite(v))
        if not len(known):
            continue
        q, v = q[known[0] : known[-1] + 1], v[known[0] : known[-1] + 1]  # the part in which the coordinate exists
        if wrap and unit == "rad":
            q, v = _wrapped(q, v, turn)
        color = LINES[number % len(LINES)]
        axes.plot(q, v, color=color, label=label, **line_style(number))
        _add_arrows(axes, q, v, color)
        axes.plot(q[:1], v[:1], "o", color=color, markerfacecolor="white", markersize=7, label="_start")
        ending = {"marker": "X", "color": FAILURE} if not run.outcome.ok else {"marker": "o", "color": color}
        axes.plot(q[-1:], v[-1:], markersize=6, linestyle="", label="_end", **ending)
    axes.set_xlabel(f"{shortened(f'q.{which}', LONGEST)} [{units_of(q_unit)}]", fontsize=9, color=INK)
    axes.set_ylabel(f"{shortened(f'v.{which}', LONGEST)} [{units_of(v_unit)}]", fontsize=9, color=INK)
    spoken = trajectory.name.replace("_", " ")
    heading = shortened(f"{spoken}: phase portrait of {which}", LONGEST) if title is None else title
    figure.text(0.14, 1.0 - 0.3 / height, heading, fontsize=13, color=INK, va="center")
    if len(runs) == 1:
        figure.text(0.14, 1.0 - 0.54 / height, run_caption(trajectory), fontsize=8, color=PALE, va="center")
    else:
        place: dict[str, Any] = {
            "loc": "upper left",
            "bbox_to_anchor": (0.13, 1.0 - 0.42 / height),
            "ncols": 4,
            "borderaxespad": 0.0,
        }
        lines = [line for line in axes.lines if not str(line.get_label()).startswith("_")]
        figure.legend(handles=lines, fontsize=8, frameon=False, handlelength=2.6, labelcolor=INK, **place)
    for k, line in enumerate(failures):
        figure.text(0.14, 0.17 * (len(failures) - k) / height, line, color=FAILURE, fontsize=8, va="center")
    if path is not None:
        save(figure, path)
    return figure


def _coordinate(trajectory: Trajectory, joint: str | None) -> tuple[str, str, str]:
    """(name, unit, unit of the velocity) of a coordinate that has both a position and a velocity."""
    columns = trajectory.columns
    known = [name[2:] for name in columns if name.startswith("q.") and f"v.{name[2:]}" in columns]
    if not known:
        raise UnsupportedError(
            "the run has no coordinate with a velocity of the same name, so no phase portrait "
            "exists. Plot columns over time with `plot`."
        )
    name = known[0] if joint is None else joint.removeprefix("q.")
    if name not in known:
        raise UnsupportedError(
            f"there is no coordinate '{name}' with a velocity of the same name; expected one of: {quoted(known)}."
            + did_you_mean(name, known)
        )
    return name, columns[f"q.{name}"].unit, columns[f"v.{name}"].unit


def _wrapped(q: Array, v: Array, turn: float) -> tuple[Array, Array]:
    """(angles wrapped to half a turn around zero, velocities), with NaN inserted where an angle jumps.

    `turn` is a full turn in the unit of q.
    """
    inside = (q + 0.5 * turn) % turn - 0.5 * turn
    leaps = np.flatnonzero(np.abs(np.diff(inside)) > 0.5 * turn) + 1
    return np.insert(inside, leaps, np.nan), np.insert(v, leaps, np.nan)


def _add_arrows(axes: Any, q: Array, v: Array, color: str) -> None:
    """Draws ARROWS arrow heads along a run, equally spaced in the picture.

    Distances are relative to the ranges of q and v.
    """
    spans = [max(float(np.nanmax(one) - np.nanmin(one)), 1e-300) for one in (q, v)]
    steps = np.nan_to_num(np.hypot(np.diff(q) / spans[0], np.diff(v) / spans[1]))
    length = np.concatenate([[0.0], np.cumsum(steps)])
    if not 0.05 < length[-1] < np.inf:
        return
    for share in (np.arange(ARROWS) + 0.5) / ARROWS:
        k = int(np.searchsorted(length, share * length[-1]))
        if k > 0 and np.isfinite([q[k - 1], v[k - 1], q[k], v[k]]).all():
            look = {"arrowstyle": "-|>", "color": color, "linewidth": 0.0, "mutation_scale": 12.0}
            axes.annotate("", (q[k], v[k]), (q[k - 1], v[k - 1]), arrowprops=look)
