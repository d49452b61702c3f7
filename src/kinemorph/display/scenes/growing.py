"""The scene of a run that is still computed: a scene of its first samples, and frames that are appended to it.

The parts of the run come from `simulate(..., watch=...)`. Where the system changes, as modules dock, another scene
begins: it shows the new system, from the change on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.display import series
from kinemorph.display.scenes.building import ENERGIES, scene_of
from kinemorph.display.scenes.figures import all_coordinates
from kinemorph.display.scenes.scene import Happening, Scene, Series
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.plants.programs import Plant
from kinemorph.plants.user_laws import Column
from kinemorph.simulation.results.trajectory import Trajectory

MOST = 2000  # frames of a scene that grows, about


@dataclass(frozen=True)
class Frames:
    """Frames to append to a scene with one figure.

    `times` (n,) [s]; `coordinates` (n, nq) of the figure's robot; `series` (k, n), a row for each series of the scene.
    """

    times: Array
    coordinates: Array
    series: Array
    events: tuple[Happening, ...] = ()

    def __add__(self, other: Frames) -> Frames:
        """These frames, and others after them."""
        return Frames(
            np.concatenate([self.times, other.times]),
            np.concatenate([self.coordinates, other.coordinates]),
            np.concatenate([self.series, other.series], axis=1),
            self.events + other.events,
        )


class GrowingScene:
    """Makes scenes and frames of the parts of a run, in their order."""

    def __init__(self, system: System, columns: Sequence[str] | None = None) -> None:
        """`columns` are names, groups or patterns of columns to plot; the energies by default."""
        self.system, self.wanted = system, columns
        self._plant: Plant | None = None  # of the scene that grows now
        self._robot: Robot = system.robot
        self._columns: list[Column] = []
        self._begun = False  # whether the scene exists: it needs two frames
        self._waiting: Frames | None = None  # frames before that
        self._rows: list[Array] = []  # configurations of the robot in these frames
        self._seen = 0  # samples so far

    def grow(self, part: Trajectory) -> Iterator[Scene | Frames]:
        """The scenes and frames that the next part of the run adds to the picture."""
        for stretch in part.stretches:
            plant = stretch.segments[0].plant
            if plant is not self._plant:
                self._begin(stretch, plant)
            frames = self._frames(stretch)
            if self._begun:
                yield frames
                continue
            self._waiting = frames if self._waiting is None else self._waiting + frames
            if len(self._waiting.times) > 1:
                self._begun = True
                yield self._scene(self._waiting)

    def _begin(self, part: Trajectory, plant: Plant) -> None:
        """Prepares the scene of a system that is new."""
        first = self._plant is None
        robot = part.segments[0].robot
        assert robot is not None
        self._robot = self.system.robot if first else robot
        self._plant, self._begun, self._waiting, self._rows = plant, False, None, []
        if self.wanted is None:
            self._columns = [part.columns[name] for name in ENERGIES if name in part.columns]
        else:
            self._columns = list(series.chosen(part, self.wanted)) if self.wanted else []

    def _frames(self, part: Trajectory) -> Frames:
        """Samples of a part as frames: not all of them, where the run has very many."""
        spacing = max(float(part.settings["until"]) - float(part.t[0]), 0.0)
        left = spacing / max(float(np.median(np.diff(part.t))), 1e-12) if len(part) > 1 else 1.0
        every = max(1, round((self._seen + left) / MOST))
        rows = np.arange(-self._seen % every, len(part), every)
        self._seen += len(part)
        times = part.t[rows]
        self._rows += [] if self._begun else [part.q[rows]]
        values = [series.values(part, column.name)[rows] for column in self._columns]
        return Frames(
            times,
            all_coordinates(self._robot, part.q[rows], times),
            np.array(values).reshape(len(values), len(rows)),
            tuple(Happening(event.t, event.label) for event in part.events),
        )

    def _scene(self, frames: Frames) -> Scene:
        subject = self.system if self._robot is self.system.robot else self._robot
        scene = scene_of(subject, q=np.concatenate(self._rows), times=frames.times, z_up=True)
        figure = scene.figures[0]
        marks = tuple(mark for mark in figure.marks if mark.vectors is None and mark.shifts is None)
        plotted = (
            Series(figure.name, column.name, column.unit, values)
            for column, values in zip(self._columns, frames.series, strict=True)
        )
        return replace(
            scene, figures=(replace(figure, marks=marks),), series=tuple(plotted), events=frames.events, notes=()
        )
