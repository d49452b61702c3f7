"""Curves of the runs over time: coordinates, velocities, efforts, states of elements and forces of contacts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinemorph.display import series
from kinemorph.display.canvas import in_language
from kinemorph.display.reports.document import Block, Figure, Grid, Heading, Paragraph, Section, Table
from kinemorph.display.reports.languages.words import Words
from kinemorph.display.reports.subject import Subject
from kinemorph.plants.user_laws import Column
from kinemorph.simulation.results.trajectory import Trajectory

MOST_RUNS = 4  # runs that are shown
MOST_EVENTS = 20  # events that are listed
FORCES = ("normal", "friction", "force", "tension")  # last words of the names of forces of elements
CAPTIONS = {
    "q": "Coordinates q over time.",
    "v": "Velocities v over time.",
    "tau": "Generalized forces tau over time.",
    "x": "States of elements over time.",
    "forces": "Forces of contacts and other elements over time.",
}
MORE = "Columns that were asked for, over time."


def chapter(subject: Subject, words: Words) -> Section | None:
    """The curves of every run; None without runs."""
    if not subject.runs:
        return None
    blocks: list[Block] = []
    for name, run in list(subject.runs.items())[:MOST_RUNS]:
        blocks += [Heading(words("Run {name}", name=name))] if len(subject.runs) > 1 else []
        blocks += [Paragraph(_told(run, words)), *_figures(run, words, subject.settings.columns), *_events(run, words)]
    if len(subject.runs) > MOST_RUNS:
        blocks.append(Paragraph(words("{n} more runs are not shown.", n=len(subject.runs) - MOST_RUNS), "note"))
    return Section("curves", words("Curves"), blocks)


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
        "failed": "It failed before its end.",
        "interrupted": "It was interrupted.",
        "unfinished": "It is not finished.",
    }
    return f"{told} {words(ends[run.outcome.kind])}" if run.outcome.kind in ends else told


def _figures(run: Trajectory, words: Words, more: Sequence[str]) -> list[Block]:
    """One figure for each group of columns that is not zero throughout, and figures of the columns `more`."""
    from kinemorph.display.charts.plot import plot

    groups: dict[str, list[str]] = {}
    for name, column in run.columns.items():
        group = series.group_of(run, name)
        if group == "y" and column.unit == "N" and name.rpartition(".")[2] in FORCES:
            group = "forces"
        groups.setdefault(group, []).append(name)
    shown = {
        caption: [run.columns[name] for name in groups.get(group, ()) if group in "qv" or _moves(run, name)]
        for group, caption in CAPTIONS.items()
    }
    shown[MORE] = series.chosen(run, more) if more else []
    blocks: list[Block] = []
    for caption, columns in shown.items():
        for part in _pages(columns):
            with in_language(words):
                blocks.append(Figure(plot(run, part, title=""), words(caption)))
    return blocks


def _moves(run: Trajectory, name: str) -> bool:
    return bool(np.nan_to_num(series.values(run, name)).any())


def _pages(columns: Sequence[Column]) -> list[list[str]]:
    """The names of columns in parts that fit on a page each."""
    units: dict[str, list[str]] = {}
    for column in columns:
        units.setdefault(column.unit, []).append(column.name)
    most = 4  # units, which have an axis each
    parts = list(units.values())
    return [[name for part in parts[k : k + most] for name in part] for k in range(0, len(parts), most)]


def _events(run: Trajectory, words: Words) -> list[Block]:
    """The table of the first events of a run."""
    if not run.events:
        return []
    rows = [[words.number(event.t, 9), event.label] for event in run.events[:MOST_EVENTS]]
    grid = words.grid(Grid("Events", ("t [s]", "event"), rows, ("t [s]",)), numbers=())
    more = len(run.events) - MOST_EVENTS
    return [Table(grid._replace(note=words("{n} more events are not listed.", n=more) if more > 0 else ""))]
