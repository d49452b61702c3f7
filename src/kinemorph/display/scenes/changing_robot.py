"""The figure of a run with docking events: all bodies at all times, joints and elements only while they exist.

The bodies are those of the combined robot (`combined_robot`). Parts of joints, frames and elements come from the
stretches of the run in which these exist, and are shown only then. A part that several stretches share is one part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.display.looks.combined_robot import configurations, robot_of
from kinemorph.display.scenes.figures import figure_of, placed_figure
from kinemorph.display.scenes.loads import Load, loads_of
from kinemorph.display.scenes.marks import marks_of
from kinemorph.display.scenes.mounted_parts import parts_of
from kinemorph.display.scenes.scene import WORLD_OWNER, Attachment, Figure, Flags, Mark, Part
from kinemorph.model.robot import Robot
from kinemorph.model.system import Element
from kinemorph.simulation.results.body_poses import run_robots
from kinemorph.simulation.results.trajectory import Trajectory, stretch_numbers

OF_JOINTS = ("frames", "joints", "graph")  # layers whose parts exist only as long as their joints and frames


class Act(NamedTuple):
    """A stretch of a run (a part in which the system stays the same), as a figure at the times of the scene.

    `shown` (n,) says at which of these times the stretch lasts.
    """

    run: Trajectory
    figure: Figure
    elements: tuple[Element, ...]
    times: Array  # [s], the times of the scene, limited to the stretch
    shown: Flags
    owners: tuple[int, ...]  # numbers of its bodies in the figure of the whole run


def succession(run: Trajectory, times: Array, name: str) -> tuple[Figure, list[Load]]:
    """The figure called `name` of a run with docking events, posed at `times` [s] of the run; and the loads on it."""
    robots = run_robots(run)
    whole = figure_of(robot_of(run), configurations(run, times), name=name)
    acts = list(_acts(run, robots, whole, times))
    there = [[body in robot.body_names for robot in robots] for body in whole.bodies]
    present = np.array([np.array(row)[stretch_numbers(run, times)] for row in there])
    parts = [replace(part, shown=_unless_all(present[part.owner])) for part in whole.parts if part.owner != WORLD_OWNER]
    parts = [part for part in parts if part.layer not in OF_JOINTS]
    figure = replace(
        whole,
        robots=robots,
        parts=(*parts, *_merged_parts([part for act in acts for part in _parts(act)])),
        marks=tuple(_merged_marks([mark for act in acts for mark in _marks(act)])),
    )
    return figure, [load for act in acts for load in _loads(act)]


def _acts(run: Trajectory, robots: Sequence[Robot], whole: Figure, times: Array) -> Iterator[Act]:
    numbers = stretch_numbers(run, times)
    for k, (part, robot) in enumerate(zip(run.stretches, robots, strict=True)):
        if len(part) and (numbers == k).any():
            within = np.clip(times, part.t[0], part.t[-1])
            owners = tuple(whole.bodies.index(body) for body in robot.body_names)
            placed = whole.positions[:, owners], whole.quaternions[:, owners]
            figure = placed_figure(robot, part.at(within).q, placed, whole.size, whole.name)
            yield Act(part, figure, part.segments[0].plant.elements, within, numbers == k, owners)


def _parts(act: Act) -> Iterator[Part]:
    """The parts of a stretch that do not exist all the time: joints, frames, the ground and elements."""
    own = [part for part in act.figure.parts if part.layer in OF_JOINTS or part.owner == WORLD_OWNER]
    for part in (*own, *parts_of(act.figure, act.elements)):
        yield replace(part, owner=_owner(act, part.owner), shown=act.shown)


def _marks(act: Act) -> Iterator[Mark]:
    for mark in marks_of(act.figure, act.elements, act.run, act.times):
        end = None if mark.end is None else _attached(act, mark.end)
        yield replace(mark, start=_attached(act, mark.start), end=end, shown=act.shown)


def _loads(act: Act) -> Iterator[Load]:
    for load in loads_of(act.figure, act.elements, act.run, act.times):
        values = np.where(act.shown[:, None], load.values, 0.0)
        if np.nan_to_num(values).any():
            yield replace(load, start=_attached(act, load.start), values=values)


def _owner(act: Act, owner: int) -> int:
    return owner if owner == WORLD_OWNER else act.owners[owner]


def _attached(act: Act, at: Attachment) -> Attachment:
    return at._replace(owner=_owner(act, at.owner))


# ── parts and marks of several stretches ──────────────────────────────────────────────────────────────────────────────


def _unless_all(shown: Flags) -> Flags | None:
    return None if shown.all() else shown


def _either(a: Flags | None, b: Flags | None) -> Flags | None:
    return None if a is None or b is None else _unless_all(a | b)


def _merged_parts(parts: Sequence[Part]) -> Iterator[Part]:
    """The parts without duplicates; a part is shown whenever one of its duplicates is."""
    found: dict[tuple[object, ...], Part] = {}
    for part in parts:
        surface = part.surface.points.round(9).tobytes(), part.surface.faces.tobytes()
        key = (part.name, part.owner, part.layer, part.color, surface)
        shown = _either(found[key].shown, part.shown) if key in found else part.shown
        found[key] = replace(part, shown=shown)
    yield from found.values()


def _merged_marks(marks: Sequence[Mark]) -> Iterator[Mark]:
    """The marks without duplicates between the same points; a mark is shown whenever one of its duplicates is."""
    found: dict[tuple[object, ...], Mark] = {}
    for number, mark in enumerate(marks):
        own = number if mark.vectors is not None or mark.shifts is not None else None  # belongs to one stretch
        key = (mark.name, mark.look, mark.color, mark.width, mark.start, mark.end, own)
        shown = _either(found[key].shown, mark.shown) if key in found else mark.shown
        found[key] = replace(mark, shown=shown)
    yield from found.values()
