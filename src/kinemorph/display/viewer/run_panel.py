"""The panel of a run: play, time slider, speed, repeat, events, and columns as numbers and curves."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import groupby
from typing import Any

import numpy as np

from kinemorph.display.scenes.scene import Scene, Series
from kinemorph.display.viewer.clock import SCRUBBED, Clock

SPEEDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0)
TOLD = 0.1  # least time between updates of the controls during playback [s]
MOST_POINTS = 400  # points of a curve
MOST_CURVES = 8
MOST_ROWS, MOST_FIGURES = 16, 4  # rows and columns of the table
MOST_EVENTS = 200
NOWHERE = "go to ..."  # entry of the list of events while none is chosen
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#332288", "#e69f00", "#56b4e9", "#555555")


class Player:
    """The controls of playback on the page; `show` is a function that shows the scene at the clock's time."""

    def __init__(self, scene: Scene, clock: Clock, show: Callable[[], None]) -> None:
        self.scene, self.clock, self._show = scene, clock, show
        self._told = 0.0
        self._button: Any = None

    def build(self, gui: Any, guarded: Callable[[Callable[[Any], None]], Callable[[Any], None]]) -> None:
        """Adds the controls to the page; `guarded` wraps their event handlers."""
        first, last = self.clock.first, self.clock.last
        with gui.add_folder("Time"):
            self._slider = gui.add_slider(
                "t [s]", min=first, max=last, step=_step(last - first), initial_value=self.clock.now
            )
            self._button = gui.add_button("Play")
            self._speed = gui.add_dropdown("Speed", tuple(map(_times, SPEEDS)), initial_value=_times(1.0))
            self._round = gui.add_checkbox("Loop", self.clock.round)
            if self.scene.events:
                self._events = gui.add_dropdown(f"{len(self.scene.events)} events", (NOWHERE, *self._happenings()))
                self._events.on_update(guarded(self._to_event))
        self._slider.on_update(guarded(self._scrubbed))
        self._button.on_click(guarded(lambda event: self.pause() if self.clock.playing else self.play()))
        self._speed.on_update(guarded(self._at_speed))
        self._round.on_update(guarded(lambda event: setattr(self.clock, "round", self._round.value)))
        if self.scene.series:
            with gui.add_folder("Values"):
                self._numbers = gui.add_markdown(self._table())
                for unit, some in groupby(
                    sorted(self.scene.series, key=lambda one: one.unit), key=lambda one: one.unit
                ):
                    self._plot(gui, unit, list(some))

    # ── time ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def play(self) -> None:
        """Continues playback and updates the controls."""
        self.clock.play()
        self.tell()

    def pause(self) -> None:
        """Pauses playback and updates the controls."""
        self.clock.pause()
        self.tell()

    def set_speed(self, speed: float) -> None:
        """Sets the speed of playback; 1 is real time."""
        self.clock.speed = speed
        word = _times(speed)
        if word not in self._speed.options:
            self._speed.options = (*self._speed.options, word)
        self._speed.value = word

    def tell_loop(self) -> None:
        """Updates the checkbox that says whether playback repeats."""
        self._round.value = self.clock.round

    def tell(self, *, seldom: bool = False) -> None:
        """Updates the time and the values on the controls; with `seldom`, at most every TOLD seconds."""
        wall = time.perf_counter()
        if self._button is None or (seldom and wall - self._told < TOLD):
            return
        self._told = wall
        self._slider.value = self.clock.now
        self._button.label = "Pause" if self.clock.playing else "Play"
        if self.scene.series:
            self._numbers.content = self._table()

    def _scrubbed(self, event: Any) -> None:
        if event.client is not None:  # a user moved the slider, not the program
            self.clock.set(float(self._slider.value), hold=SCRUBBED)
            self._told = time.perf_counter() + SCRUBBED  # do not move the slider while the user does
            self._show()

    def _at_speed(self, event: Any) -> None:
        if event.client is not None:
            self.clock.speed = float(self._speed.value.removesuffix(" x"))

    def _to_event(self, event: Any) -> None:
        if event.client is not None and self._events.value != NOWHERE:
            self.to_event(self._happenings().index(self._events.value))
            self._events.value = NOWHERE

    def to_event(self, number: int) -> None:
        """Sets playback to the time of the event with index `number`."""
        self.clock.set(self.scene.events[number].t, hold=SCRUBBED)
        self._show()
        self.tell()

    def _happenings(self) -> tuple[str, ...]:
        """One line of text for each event, with its number, time and name; at most MOST_EVENTS."""
        some = self.scene.events[:MOST_EVENTS]
        return tuple(f"{number}: {event.t:.3f} s {event.name}" for number, event in enumerate(some, 1))

    # ── columns ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _table(self) -> str:
        """A Markdown table of the values at the current time: a row for each column of the runs, a column for each
        figure.
        """
        figures = list(dict.fromkeys(one.figure for one in self.scene.series))[:MOST_FIGURES]
        rows: dict[str, dict[str, str]] = {}
        for one in self.scene.series:
            value = np.interp(self.clock.now, self.scene.times, one.values)
            shown = f"{value:.4g}" if np.isfinite(value) else "-"
            rows.setdefault(f"{_word(one)} [{one.unit}]", {})[one.figure] = shown
        heads = figures if len(figures) > 1 else [""]
        lines = [f"| | {' | '.join(heads)} |", "|:--|" + "--:|" * len(figures)]
        for name, values in list(rows.items())[:MOST_ROWS]:
            lines.append(f"| {name} | {' | '.join(values.get(figure, '') for figure in figures)} |")
        return "\n".join(lines)

    def _plot(self, gui: Any, unit: str, series: list[Series]) -> None:
        from viser import uplot

        several = len({one.figure for one in self.scene.series}) > 1
        count = len(self.scene.times)
        chosen = np.unique(np.linspace(0, count - 1, min(count, MOST_POINTS)).astype(int))
        curves = series[:MOST_CURVES]
        gui.add_uplot(
            data=(self.scene.times[chosen], *(one.values[chosen] for one in curves)),
            series=(
                uplot.Series(label="t [s]"),
                *(
                    uplot.Series(label=_called(one, several), stroke=COLORS[number % len(COLORS)], width=2)
                    for number, one in enumerate(curves)
                ),
            ),
            scales={"x": uplot.Scale(time=False, auto=True), "y": uplot.Scale(auto=True)},
            axes=(uplot.Axis(label="t [s]"), uplot.Axis(label=f"[{unit}]")),
            legend=uplot.Legend(show=True),
            aspect=1.5,
            padding=(14, 20, 0, 0),
        )


def _called(one: Series, several: bool) -> str:
    return f"{one.figure}: {_word(one)}" if several else _word(one)


def _word(one: Series) -> str:
    return one.name.removeprefix("energy.")


def _times(speed: float) -> str:
    return f"{speed:g} x"


def _step(duration: float) -> float:
    """The step of the time slider [s], a power of ten near a thousandth of the duration [s]."""
    return float(10.0 ** np.floor(np.log10(max(duration, 1e-9) / 500.0)))
