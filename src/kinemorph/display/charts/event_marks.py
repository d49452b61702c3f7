"""Events in plots over time: a thin vertical line on every axis, and the names above the first axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kinemorph.display.canvas import PALE, said
from kinemorph.display.charts.runs import time_range
from kinemorph.simulation.results.event import Event
from kinemorph.simulation.results.trajectory import Trajectory

# color and line style of events, one for each name
LOOKS = ((PALE, "-"), ("#a8763e", (0, (5, 3))), ("#5c8a6b", (0, (1, 2))), ("#80679c", (0, (6, 2, 1, 2))))
LETTER = 0.075  # width of a letter of size 8 [inch]
CROWDED = 30  # with at least this many events of one name, their lines are fainter


@dataclass(frozen=True)
class Mark:
    """The events of one name: their times [s], the text of their label, and its row above the axis, counted upward."""

    times: tuple[float, ...]
    text: str
    row: int
    look: tuple[Any, Any]


def event_label(event: Event) -> str:
    """The label of an event, with the word for its kind in the language of `in_language`: "ground: impact"."""
    return event.name if event.label == event.name else f"{event.name}{said(': ')}{said(event.kind)}"


def event_marks(trajectory: Trajectory, width: float, room: float) -> list[Mark]:
    """One mark for each name of events; labels are placed at the first event, in rows where they do not overlap.

    `width` [inch] is the width of the axis below the labels, `room` [inch] the width for labels from its left edge.
    """
    times: dict[str, list[float]] = {}
    for event in trajectory.events:
        times.setdefault(event_label(event), []).append(event.t)
    start, end = time_range({"": trajectory})
    marks: list[Mark] = []
    ends: list[float] = []  # right end of the text in each row [inch]
    # a later name takes the lowest free row, so that no text crosses the line of a later event
    for number, (name, found) in enumerate(sorted(times.items(), key=lambda item: item[1][0])):
        text = name if len(found) == 1 else said("{name} ({n} times)", name=name, n=len(found))
        length = LETTER * len(text) + 0.12
        left = min((found[0] - start) / (end - start) * width, room - length)
        row = next((k for k, taken in enumerate(ends) if taken < left), len(ends))
        ends[row:] = [left + length, *ends[row + 1 :]]
        marks.append(Mark(tuple(found), text, row, LOOKS[number % len(LOOKS)]))
    return marks


def show_events(axes: Any, marks: Sequence[Mark]) -> None:
    """Draws a thin vertical line at every event."""
    for mark in marks:
        color, style = mark.look
        faint = 0.8 if len(mark.times) < CROWDED else 0.35
        for number, t in enumerate(mark.times):
            label = f"_event {mark.text} {number}"
            axes.axvline(t, color=color, linestyle=style, linewidth=0.8, alpha=faint, zorder=0.5, label=label)


def name_events(axes: Any, marks: Sequence[Mark], width: float, room: float, leading: float) -> None:
    """Writes the names of events above an axis and its title, each at its first event.

    `width` and `room` [inch] as in `event_marks`; `leading` [inch] is the height of a row.
    """
    raised = 1 if axes.get_title(loc="left") else 0
    start, end = axes.get_xlim()
    for mark in marks:
        late = (mark.times[0] - start) / (end - start) * width > room - LETTER * len(mark.text) - 0.12
        axes.annotate(
            mark.text,
            (mark.times[0], 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(0.0, 3.0 + 72.0 * leading * (mark.row + raised)),
            textcoords="offset points",
            ha="right" if late else "left",
            fontsize=8,
            color=mark.look[0],
            annotation_clip=False,
        )
