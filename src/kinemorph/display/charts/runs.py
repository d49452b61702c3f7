"""Several runs in one plot: their names, line styles, captions and failures."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kinemorph.display.canvas import FAILURE, said
from kinemorph.display.series import check_run
from kinemorph.errors import UnsupportedError
from kinemorph.simulation.results.batch_run import BatchRun
from kinemorph.simulation.results.outcome import ENDINGS
from kinemorph.simulation.results.trajectory import Trajectory

Runs = Mapping[str, Trajectory]
Compared = Mapping[str, Trajectory] | Sequence[Trajectory] | Trajectory | None

STYLES: tuple[Any, ...] = ("-", (0, (4, 2)), (0, (1, 1.4)), (0, (6, 2, 1, 2)))  # one for each run
WIDTHS = (1.4, 1.7, 1.9, 1.5)
MISSING = 0.3  # the time axis extends beyond a failure by at most this fraction of the time before it


def named_runs(trajectory: Trajectory, compare: Compared = None, name: str | None = None) -> dict[str, Trajectory]:
    """{name: run} for the run and the runs it is compared with; runs without a name get that of their method."""
    own = trajectory.statistics.method if name is None else name
    if compare is None:
        return {own: trajectory}
    if isinstance(compare, Mapping):
        others = list(compare.items())
    else:
        listed = [compare] if isinstance(compare, Trajectory) else list(compare)
        others = [(run.statistics.method if isinstance(run, Trajectory) else repr(run), run) for run in listed]
    for word, run in others:
        if not isinstance(run, Trajectory):
            raise UnsupportedError(f"compare: '{word}' is of type {type(run).__name__}; expected a Trajectory.")
    named: dict[str, Trajectory] = {}
    for word, run in [(own, trajectory), *others]:
        count, unique = 2, word
        while unique in named:
            unique, count = f"{word} ({count})", count + 1
        named[unique] = run
    return named


def several(given: Any, compare: Compared, name: str | None) -> tuple[Trajectory, Compared, str | None]:
    """(the first run, the others, the name of the first or None) of runs in a list or by name, for `named_runs`."""
    if compare is not None or name is not None:
        raise UnsupportedError(
            "compare and name are given beside several runs; expected one run beside them. Put all runs into one "
            "{name: run}."
        )
    if not isinstance(given, (list, tuple, Mapping)):
        check_run(given)
    pairs = list(given.items()) if isinstance(given, Mapping) else [(None, run) for run in given]
    for word, run in pairs:
        if not isinstance(run, Trajectory):
            where = f"'{word}'" if word is not None else "a run"
            remedy = " A batch is plotted alone, as plot(batch)." if isinstance(run, BatchRun) else ""
            raise UnsupportedError(f"plot: {where} is of type {type(run).__name__}; expected a Trajectory.{remedy}")
    if not pairs:
        raise UnsupportedError("there is nothing to plot; expected at least one Trajectory, as simulate returns it.")
    (word, first), *others = pairs
    return first, dict(others) if isinstance(given, Mapping) else [run for _, run in others], word


def line_style(number: int) -> dict[str, Any]:
    """The Matplotlib line style and width of the run with index `number`."""
    return {"linestyle": STYLES[number % len(STYLES)], "linewidth": WIDTHS[number % len(WIDTHS)]}


def time_range(runs: Runs) -> tuple[float, float]:
    """The first and last time of all runs [s]; after a failed run, some of the time up to its planned end."""
    first = min(float(run["t"][0]) for run in runs.values())
    last = max(float(run["t"][-1]) for run in runs.values())
    wanted = [float(run.settings.get("until") or last) for run in runs.values() if not run.outcome.ok]
    last = max([last, *(min(end, last + MISSING * (last - first)) for end in wanted)])
    return first, last if last > first else max([first + 1.0, *wanted])


def show_ends(axes: Any, runs: Runs) -> None:
    """Sets the range of the time axis, and marks the failure of a run by a line and a tinted area after it."""
    start, end = time_range(runs)
    axes.set_xlim(start, end)
    for run in runs.values():
        if not run.outcome.ok:
            axes.axvline(run.outcome.t, color=FAILURE, linewidth=1.2, linestyle=(0, (3, 2)), label="_failed")
            axes.axvspan(run.outcome.t, end, color=FAILURE, alpha=0.06, linewidth=0)


def failure_lines(runs: Runs, columns: int) -> list[str]:
    """The messages of failed runs, wrapped to lines of at most `columns` characters."""
    found = []
    for name, run in runs.items():
        if not run.outcome.ok:
            front = f"{name}: " if len(runs) > 1 else ""
            found += textwrap.wrap(f"{front}{run.outcome.message or run.outcome.kind}", columns)
    return found


def run_caption(trajectory: Trajectory) -> str:
    """A caption of a run: its method, step size or tolerance, number of steps, and outcome if it did not finish."""
    statistics, settings, outcome = trajectory.statistics, trajectory.settings, trajectory.outcome
    if settings.get("step"):
        steps = said("steps of {step} s", step=float(settings["step"]))
    elif settings.get("rtol"):
        steps = f"rtol {np.format_float_scientific(settings['rtol'], trim='-', exp_digits=1)}"
    else:
        steps = ""
    ended = "" if outcome.kind == "finished" else said(ENDINGS.get(outcome.kind, outcome.kind))
    if ended:
        ended = said("{ended} at t = {t} s", ended=ended, t=float(outcome.t))
    if not outcome.ok and settings.get("until"):
        ended = said("{ended} of {until} s", ended=ended, until=float(settings["until"]))
    count = said("{n} steps", n=f"{statistics.accepted:,}") if statistics.accepted else ""
    parts = [statistics.method, steps, count, ended]
    return ", ".join(part for part in parts if part)
