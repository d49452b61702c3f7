"""Curves of the runs over time: coordinates, velocities, accelerations, efforts, forces of contacts, loads of joints.

Large robots have hundreds of columns: they are drawn in panels of a few lines of one unit and of like sizes, so that
every line has a name and can be read. A run that failed begins with where, when and why it did.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.display import series
from kinemorph.display.canvas import in_language
from kinemorph.display.charts.event_marks import event_label
from kinemorph.display.faces.document import Block, Code, Figure, Grid, Heading, Paragraph, Section, Table
from kinemorph.display.faces.languages.sentences import translated
from kinemorph.display.faces.languages.words import Words
from kinemorph.display.reports.joint_loads import with_joint_loads
from kinemorph.display.reports.subject import Subject
from kinemorph.simulation.results.trajectory import Trajectory

MOST_RUNS = 4  # runs that are shown
MOST_EVENTS = 20  # events that are listed
MOST_LOADS = 18  # loads of joints of one kind that are drawn, the largest ones
ROUNDING = 1e-10  # the share of the largest value of a group below which a value, or a change, is rounding
MIXED = ("x", "asked")  # groups whose columns have nothing to do with each other
TINY = 1e-13  # SI; below are the rounding errors of a machine of common size
MOST_NAMED = 24  # columns that a sentence names
FORCES = ("normal", "friction", "force", "tension")  # last words of the names of forces of elements
SIGNALS = ("voltage", "current")  # last words of the names of electric signals
LOADS = ("bearing_force", "bearing_moment")
CAPTIONS = {
    "q": "Coordinates q over time.",
    "v": "Velocities v over time.",
    "a": "Accelerations a over time.",
    "u": "Inputs u over time.",
    "tau": "Generalized forces tau over time.",
    "x": "States of elements over time.",
    "forces": "Forces of contacts and other elements over time.",
    "signals": "Voltages and currents over time.",
    "loads": "Forces and moments that the bearings of joints bear, as sizes over time.",
    "asked": "Columns that were asked for, over time.",
}


def chapter(subject: Subject, words: Words) -> Section | None:
    """The curves of every run; None without runs."""
    if not subject.runs:
        return None
    blocks: list[Block] = []
    for name, run in list(subject.runs.items())[:MOST_RUNS]:
        blocks += [Heading(words("Run {name}", name=name))] if len(subject.runs) > 1 else []
        blocks += [*_failure(run, words), Paragraph(_told(run, words))]
        blocks += [*_figures(with_joint_loads(run), words, subject.settings.columns), *_events(run, words)]
    if len(subject.runs) > MOST_RUNS:
        blocks.append(Paragraph(words("{n} more runs are not shown.", n=len(subject.runs) - MOST_RUNS), "note"))
    return Section("curves", words("Curves"), blocks)


def _failure(run: Trajectory, words: Words) -> list[Block]:
    """For a run that failed: when it did, and the sentence that says where and why."""
    outcome, until = run.outcome, run.settings.get("until")
    if outcome.kind != "failed":
        return []
    at, end = words.number(outcome.t, 9), float(until or outcome.t)
    told = words("The run failed at {t} s of {until} s; the curves end there.", t=at, until=end)
    if not outcome.message:
        return [Paragraph(told, "warning")]
    own = translated(words, outcome.message)
    if own is not None:
        return [Paragraph(f"{told} {own}", "warning")]
    return [Paragraph((f"{told} ", words("The program says: "), Code(outcome.message)), "warning")]


def _told(run: Trajectory, words: Words) -> str:
    """Sentences about the times, the method and the end of a run."""
    known = {"start": float(run.t[0]), "end": float(run.t[-1]), "samples": len(run), "method": run.statistics.method}
    told = words(
        "The run lasts from {start} to {end} s, by the method {method}, in {steps} steps; {samples} samples are kept.",
        steps=run.statistics.accepted,
        **known,
    )
    ends = {
        "stopped": "It was stopped by an event.",
        "rest": "It ended because the system came to rest.",
        "interrupted": "It was interrupted.",
        "unfinished": "It is not finished.",
    }
    return f"{told} {words(ends[run.outcome.kind])}" if run.outcome.kind in ends else told


def _figures(run: Trajectory, words: Words, more: Sequence[str]) -> list[Block]:
    """Figures of each group of columns, and of the columns `more`; those that stay constant are named and not drawn."""
    from kinemorph.display.charts.plot import plot_panels

    groups: dict[str, list[str]] = {}
    for name in run.columns:
        groups.setdefault(_kind(run, name), []).append(name)
    groups["loads"] = _largest(run, groups.get("loads", ()))
    groups["asked"] = [column.name for column in series.chosen(run, more)] if more else []
    blocks: list[Block] = []
    zeros: list[str] = []
    for group, caption in CAPTIONS.items():
        zero, names = _zeros(run, groups.get(group, []), 0.0 if group in MIXED else ROUNDING)
        zeros += zero if names or group not in series.GROUPS or len(zero) < 2 else [f"{group}.*"]
        drawn = [name for name in names if _moves(run, name)]
        with in_language(words):
            blocks += [Figure(page, words(caption)) for page in plot_panels(run, drawn)]
        still = [name for name in names if name not in drawn and len(_finite(run, name))]
        if still:
            listed = words.listed((f"{name} = {words.number(_finite(run, name)[0])}" for name in still), MOST_NAMED)
            blocks.append(Paragraph(words("These stay constant and are not drawn: {names}.", names=listed), "note"))
    if zeros:
        listed = words.listed(dict.fromkeys(zeros), MOST_NAMED)
        told = words("Zero throughout, to rounding: {names}.", names=listed)
        blocks.append(Paragraph(told, "note"))
    return blocks


def _zeros(run: Trajectory, names: Sequence[str], share: float) -> tuple[list[str], list[str]]:
    """(those of the columns that are at all times below a share of the largest value, or TINY; the others)."""
    least = max(TINY, share * max((_size(run, name) for name in names), default=0.0))
    zero = [name for name in names if 0 < len(run.t) == len(_finite(run, name)) and _size(run, name) <= least]
    return zero, [name for name in names if name not in zero]


def _kind(run: Trajectory, name: str) -> str:
    """The key of CAPTIONS of a column; another text for columns that are not drawn."""
    last, group = name.rpartition(".")[2], series.group_of(run, name)
    if last in LOADS:
        return "loads"
    if group == "y" and last in FORCES and run.columns[name].unit == "N":
        return "forces"
    return "signals" if group == "y" and last in SIGNALS else group


def _largest(run: Trajectory, names: Sequence[str]) -> list[str]:
    """Of the loads of joints, the MOST_LOADS forces and moments with the largest peaks, in the order of the joints."""
    peaks = {name: _size(run, name) for name in names}
    kept = {
        name
        for word in LOADS
        for name in sorted((one for one in names if one.endswith(word)), key=lambda one: -peaks[one])[:MOST_LOADS]
    }
    return [name for name in names if name in kept]


def _moves(run: Trajectory, name: str) -> bool:
    """Whether a column changes during the run."""
    finite = _finite(run, name)
    return bool(len(finite) and np.ptp(finite) > ROUNDING * _size(run, name))


def _size(run: Trajectory, name: str) -> float:
    """The largest absolute value of a column."""
    return float(np.abs(_finite(run, name)).max(initial=0.0))


def _finite(run: Trajectory, name: str) -> Array:
    """The values of a column that are finite numbers."""
    found = series.values(run, name)
    return found[np.isfinite(found)]


def _events(run: Trajectory, words: Words) -> list[Block]:
    """The table of the first events of a run."""
    if not run.events:
        return []
    with in_language(words):
        rows = [[words.number(event.t, 9), event_label(event)] for event in run.events[:MOST_EVENTS]]
    grid = words.grid(Grid("Events", ("t [s]", "event"), rows, ("t [s]",)), numbers=())
    more = len(run.events) - MOST_EVENTS
    return [Table(grid._replace(note=words("{n} more events are not listed.", n=more) if more > 0 else ""))]
