"""Makes a scene from one or several robots, systems and runs.

Runs share one clock; before its start and after its end a run shows its first or last state. Several figures stand side
by side, along x or y, whichever is the direction in which the robots are narrower.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array, evenly
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.display import series
from kinemorph.display.looks.combined_robot import configurations, robot_of
from kinemorph.display.looks.postures import closed_posture
from kinemorph.display.looks.quaternions import rotated
from kinemorph.display.scenes.changing_robot import succession
from kinemorph.display.scenes.figures import figure_of, mesh_note, owner_of, warn_of_meshes
from kinemorph.display.scenes.grounds import Standing, carried, grounds_of
from kinemorph.display.scenes.loads import Load, arrows, loads_of
from kinemorph.display.scenes.marks import marks_of
from kinemorph.display.scenes.mounted_parts import parts_of
from kinemorph.display.scenes.sampled_columns import between_samples
from kinemorph.display.scenes.scene import WORLD_OWNER, Attachment, Color, Figure, Happening, Scene, Series, Trace
from kinemorph.display.scenes.upright import upright, upright_elements
from kinemorph.errors import UnsupportedError
from kinemorph.model.parameter import evaluate_all
from kinemorph.model.robot import Robot, not_a_model
from kinemorph.model.system import Element, System, configuration_of
from kinemorph.model.topology import WORLD
from kinemorph.simulation.results.batch_run import BatchRun
from kinemorph.simulation.results.trajectory import Trajectory

Subject: TypeAlias = Robot | System | Dynamics | Trajectory
Given: TypeAlias = Subject | BatchRun
Subjects: TypeAlias = Given | Sequence[Given] | Mapping[str, Given]

MOST_FRAMES = 20_000
BRIEF, LEAST_FRAMES = 0.5, 61  # a run shorter than this [s] gets this number of frames, or one for each sample
GAP = 0.35  # between figures side by side, as a fraction of the widest one
MOST_RUNS = 4  # runs of a batch that are shown
LOOKED_AT = 60  # number of times at which the size of a figure is measured
TRACE_COLORS: tuple[Color, ...] = (
    *((0.84, 0.37, 0.0, 1.0), (0.0, 0.45, 0.70, 1.0), (0.0, 0.62, 0.45, 1.0)),
    *((0.80, 0.47, 0.65, 1.0), (0.20, 0.13, 0.53, 1.0)),
)
TINTS = ((0.90, 0.45, 0.10), (0.10, 0.62, 0.46), (0.78, 0.40, 0.62), (0.93, 0.75, 0.20), (0.45, 0.35, 0.75))
TINTED = 0.75  # share of the tint in the color of a tinted figure
ENERGIES = ("energy.kinetic", "energy.potential")


def scene_of(
    subject: Subjects,
    *,
    q: npt.ArrayLike | None = None,
    fps: float = 60.0,
    times: npt.ArrayLike | None = None,
    columns: str | Sequence[str] | None = None,
    trace: str | Sequence[str] = (),
    spread: npt.ArrayLike | None = None,
    title: str | None = None,
    masses: bool = False,
    z_up: bool = False,
) -> Scene:
    """The scene of a Robot, System, Dynamics or Trajectory, or of several, given as a list or as {name: subject}.

    Of a batch with many runs, some are shown: the first, the last and others in between.

    `q`         the configuration (nq,) of a robot, or one (n, nq) for each of the `times`; or the name of a start of a
                system; by default a typical one. Not for runs, which have their own configurations
    `fps`       frames per second of simulated time; fewer in very long runs (MOST_FRAMES), more in very short ones
    `times`     the times of the frames [s], shape (n,), instead of `fps`
    `columns`   names, groups or patterns of a run's columns to plot below the scene; its energies by default
    `trace`     names of bodies or frames whose paths are drawn
    `spread`    distance between several figures [m], 0 to draw all in one place, or the step (3,) [m] from each figure
                to the next; by default far enough that they do not touch
    `masses`    also shows the inertia of bodies without shapes, as translucent cuboids
    `z_up`      keeps the axes of a world whose gravity is along another axis than -z; else it is turned
    """
    subjects = named_subjects(subject)
    runs = {name: one for name, one in subjects.items() if isinstance(one, Trajectory)}
    clock = _clock(list(runs.values()), fps) if times is None else np.atleast_1d(np.asarray(times, dtype=float))
    wanted = _listed(trace, "trace", "bodies or frames")
    _check_traces(wanted, [_robot(one) for one in subjects.values()])
    made = [_figure(name, one, q, clock, wanted, masses) for name, one in subjects.items()]
    figures, scales = _loaded([figure for figure, _ in made], [loads for _, loads in made])
    acting = [elements_of(one) for one in subjects.values()]
    if not z_up:
        acting = [upright_elements(figure.robot, some) for figure, some in zip(figures, acting, strict=True)]
        figures = [upright(figure) for figure in figures]
    scene = staged(_side_by_side(figures, spread), clock, acting, title)
    return replace(
        scene,
        series=tuple(_series(runs, clock, columns)),
        events=tuple(Happening(event.t, event.label) for run in runs.values() for event in run.events),
        notes=(*_left_out(subject), *_failures(runs), *scales, *scene.notes),
    )


def _left_out(subject: Any) -> Iterator[str]:
    """A sentence for every batch of which only some runs are shown."""
    for _, one in _pairs(subject):
        if isinstance(one, BatchRun) and len(one) > MOST_RUNS:
            yield f"{MOST_RUNS} of {len(one):,} runs are shown. Choose others by their indices, as batch[[0, 5, 7]]."


def _failures(runs: Mapping[str, Trajectory]) -> Iterator[str]:
    """A sentence about every failed run, with the reason of its failure."""
    for name, run in runs.items():
        if not run.outcome.ok:
            whose = f"run '{name}'" if len(runs) > 1 else "the run"
            yield f"{whose} {run.outcome.kind}: {run.outcome.message or f'its end is t = {run.outcome.t:.6g} s'}"


def staged(
    figures: Sequence[Figure], times: Array, acting: Sequence[Sequence[Element]] = (), title: str | None = None
) -> Scene:
    """The scene of figures at times [s], with the grounds of their elements, and without columns to plot.

    `acting` are the elements on each figure; by default there are none.
    """
    for robot in {figure.robot.name: figure.robot for figure in figures}.values():
        warn_of_meshes(robot)
    boxes = [_box(figure) for figure in figures]
    elements = acting or [()] * len(figures)
    standings = [Standing(one, box, figure.offset) for one, box, figure in zip(elements, boxes, figures, strict=True)]
    grounds, floor = grounds_of(standings)
    *others, last = dict.fromkeys(figure.robot.name.replace("_", " ") for figure in figures)
    names = " and ".join([", ".join(others), last] if others else [last])
    return Scene(
        title=names if title is None else str(title),
        times=times,
        figures=tuple(figures),
        box=np.stack([np.min(boxes, axis=0)[0], np.max(boxes, axis=0)[1]]),
        floor=floor,
        loose=not any(map(carried, elements)),
        grounds=grounds,
        notes=tuple(dict.fromkeys(note for figure in figures if (note := mesh_note(figure.robot)))),
    )


def elements_of(subject: Subject) -> tuple[Element, ...]:
    """The elements of a system, or of all systems of a run; none for a robot."""
    if isinstance(subject, System):
        return subject.elements
    if not isinstance(subject, Trajectory):
        return ()
    found = [element for segment in subject.segments for element in segment.plant.elements]
    return tuple({(type(element), element.name): element for element in reversed(found)}.values())[::-1]


def named_subjects(subject: Any) -> dict[str, Subject]:
    """{name: subject} with the given names, or else names of robots or integration methods, numbered to be unique."""
    pairs = [pair for given in _pairs(subject) for pair in _single_runs(*given)]
    if not pairs:
        raise UnsupportedError("there is nothing to show; expected at least one Robot, System, Dynamics or Trajectory.")
    for name, one in pairs:
        if not isinstance(one, Subject):
            called = f"'{name}'" if name else "model"
            raise not_a_model(one, "a Robot, a System, a Dynamics, a Trajectory or a BatchRun", called)
    named: dict[str, Subject] = {}
    for given, one in pairs:
        word = given or _word(one, [other for _, other in pairs])
        count, unique = 2, word
        while unique in named:
            unique, count = f"{word} ({count})", count + 1
        named[unique] = one
    return named


def _pairs(subject: Any) -> list[tuple[str, Any]]:
    """The subjects with their names, which are empty where none were given."""
    if isinstance(subject, Mapping):
        return [(str(name), one) for name, one in subject.items()]
    return [("", one) for one in (subject if isinstance(subject, (list, tuple)) else [subject])]


def _single_runs(name: str, one: Any) -> Iterator[tuple[str, Any]]:
    """Some runs of a batch, with their names; a subject that is not a batch is returned unchanged."""
    if not isinstance(one, BatchRun):
        yield name, one
        return
    begun = np.flatnonzero(one.done)
    if not len(begun):
        raise UnsupportedError(
            f"no run in the batch of '{one.name}' has samples to show; expected one or more. See batch.failures."
        )
    for k in begun[np.unique(np.linspace(0, len(begun) - 1, MOST_RUNS).round().astype(int))].tolist():
        yield f"{name}, run {one.numbers[k]}" if name else f"run {one.numbers[k]}", one[k]


def _word(one: Subject, all_of_them: Sequence[Subject]) -> str:
    """The name of a subject's robot; for several runs of one robot, the name of the integration method."""
    names = {_robot(other).name for other in all_of_them}
    if isinstance(one, Trajectory) and len(all_of_them) > 1 and len(names) == 1:
        return one.statistics.method
    return _robot(one).name.replace("_", " ")


def _robot(subject: Subject) -> Robot:
    if isinstance(subject, Robot):
        return subject
    return robot_of(subject) if isinstance(subject, Trajectory) else subject.robot


# ── over time ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _clock(runs: Sequence[Trajectory], fps: float) -> Array:
    """The times of all frames [s], equally spaced from the earliest start of a run to the latest end.

    Where there are no runs, one frame at time 0.
    """
    if not isinstance(fps, Real) or not 0.0 < fps <= 1000.0:
        said = f"{fps:g}" if isinstance(fps, Real) else repr(fps)
        raise UnsupportedError(f"fps is {said}; expected a number above 0 and up to 1000 frames per second.")
    if not runs:
        return np.zeros(1)
    first, last = min(float(run.t[0]) for run in runs), max(float(run.t[-1]) for run in runs)
    count = min(int(np.ceil((last - first) * fps - 1e-9)), MOST_FRAMES - 1)
    if last - first < BRIEF:
        count = max(count, min(LEAST_FRAMES, max(len(run.t) for run in runs)) - 1)
    return np.linspace(first, last, count + 1) if count else np.array([first])


def _figure(
    name: str, subject: Subject, q: npt.ArrayLike | None, times: Array, trace: Sequence[str], masses: bool
) -> tuple[Figure, list[Load]]:
    """The figure of a subject at times [s], and the loads on it; the other arguments as in `scene_of`."""
    robot, elements = _robot(subject), elements_of(subject)
    if isinstance(subject, Trajectory):
        if q is not None:
            raise UnsupportedError("q is given for a run, which has its own configurations. Leave q out.")
        within = np.clip(times, subject.t[0], subject.t[-1])
        if len(subject.stretches) > 1:
            figure, loads = succession(subject, within, name)
            return replace(figure, traces=tuple(traces_of(robot, trace))), loads
        figure = figure_of(robot, configurations(subject, within), within, name=name)
        marks, loads = marks_of(figure, elements, subject, within), loads_of(figure, elements, subject, within)
    else:
        if isinstance(q, np.ndarray) and q.shape == (len(times), robot.nq):
            rows = q
        else:
            start = closed_posture(
                robot, configuration_of(subject, q), subject.settings.q if isinstance(subject, System) else None
            )
            rows = np.repeat(start[None], len(times), axis=0)
        figure = figure_of(robot, rows, times, name=name, masses=masses)
        marks, loads = marks_of(figure, elements), loads_of(figure, elements)
        figure = replace(figure, poseable=len(times) == 1)
    parts = (*figure.parts, *parts_of(figure, elements))
    return replace(figure, parts=parts, marks=tuple(marks), traces=tuple(traces_of(robot, trace))), loads


def _loaded(figures: Sequence[Figure], loads: Sequence[Sequence[Load]]) -> tuple[list[Figure], Sequence[str]]:
    """(the figures with arrows for their loads, all to one scale, the sentences that state the scale)."""
    marks, scales = arrows(figures, loads)
    return [replace(figure, marks=(*figure.marks, *some)) for figure, some in zip(figures, marks, strict=True)], scales


def _check_traces(names: Sequence[str], robots: Sequence[Robot]) -> None:
    """Raises an error for a name that no robot has as a body or frame."""
    for name in names:
        if not any(_has_frame(robot, name) for robot in robots):
            robots[0].frame(name)  # raises an error that lists the known names


def _has_frame(robot: Robot, name: str) -> bool:
    return name == WORLD or name in robot.body_names or any(frame.name == name for frame in robot.frames)


def traces_of(robot: Robot, names: Sequence[str]) -> Iterator[Trace]:
    """Traces of the named bodies or frames that a robot has, each in its own color."""
    for number, name in enumerate(names):
        if not _has_frame(robot, name):
            continue
        frame = robot.frame(name)
        x, y, z = (float(value) for value in evaluate_all(frame.placement).p)
        color = TRACE_COLORS[number % len(TRACE_COLORS)]
        yield Trace(name, Attachment(owner_of(robot, frame.body), (x, y, z)), color)


def _series(runs: Mapping[str, Trajectory], times: Array, columns: str | Sequence[str] | None) -> Iterator[Series]:
    """The columns to plot, at the times of the scene [s]; NaN before a run begins and after it ends.

    Without `columns`, these are the energies of each run and their sum.
    """
    wished = None if columns is None else _listed(columns, "columns", "columns, groups or patterns")
    for name, run in runs.items():
        if wished is None:
            chosen = [run.columns[one] for one in ENERGIES if one in run.columns]
        else:
            chosen = series.chosen(run, wished) if wished else []
        sampled = [between_samples(run, column.name, times) for column in chosen]
        for column, values in zip(chosen, sampled, strict=True):
            yield Series(name, column.name, column.unit, values)
        if wished is None and len(sampled) == len(ENERGIES):
            yield Series(name, "energy.total", chosen[0].unit, np.sum(sampled, axis=0))


# ── figures side by side ──────────────────────────────────────────────────────────────────────────────────────────────


def _side_by_side(figures: Sequence[Figure], spread: npt.ArrayLike | None) -> list[Figure]:
    """The figures with offsets that place them side by side, symmetric about the origin; `spread` as in `scene_of`."""
    if len(figures) < 2:
        return list(figures)
    sizes = np.array([np.ptp(_corners(figure), axis=(0, 1)) for figure in figures]).max(axis=0)
    axis = int(np.argmin(sizes[:2]))
    step = (1.0 + GAP) * max(float(sizes[axis]), 0.4 * max(figure.size for figure in figures))
    way = _way(step if spread is None else spread)
    way = way * np.eye(3)[axis] if way.ndim == 0 else way
    places = np.arange(len(figures)) - 0.5 * (len(figures) - 1)
    return told_apart([replace(one, offset=place * way) for one, place in zip(figures, places, strict=True)])


def _listed(wish: Any, what: str, of: str) -> list[str]:
    """One name or several as a list; `what`, the argument, and `of`, the kind of names, are for the error message."""
    names = [wish] if isinstance(wish, str) else list(wish or ()) if isinstance(wish, Iterable) else [wish]
    if not all(isinstance(name, str) for name in names):
        raise UnsupportedError(f"{what} is {wish!r}; expected the name or a list of names of {of}.")
    return names


def _way(spread: npt.ArrayLike) -> Array:
    try:
        way = np.asarray(spread, dtype=float)
    except (TypeError, ValueError):
        way = np.full(1, np.nan)
    if way.shape not in ((), (3,)) or not np.isfinite(way).all():
        raise UnsupportedError(f"spread is {spread!r}; expected a finite distance [m], or a vector (3,) [m].")
    return way


def _corners(figure: Figure) -> Array:
    """The lowest and highest corners (k, 2, 3) [m] of a figure's shapes at up to LOOKED_AT times."""
    numbers = evenly(len(figure.positions), LOOKED_AT)
    lows, highs = [], []
    for part in figure.parts:
        if part.layer == "shapes" and len(part.surface.points):
            points = part.surface.points
            if part.owner >= 0:  # the corners of the part's box in its body's frame, moved with the body
                box = np.stack([points.min(axis=0), points.max(axis=0)])
                ends = np.array([[box[i, 0], box[j, 1], box[k, 2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
                turn, place = figure.quaternions[numbers, part.owner], figure.positions[numbers, part.owner]
                points = rotated(turn[:, None, :], ends[None]) + place[:, None, :]
            else:
                points = np.broadcast_to(points, (len(numbers), *points.shape))
            lows.append(points.min(axis=1))
            highs.append(points.max(axis=1))
    if not lows:
        return np.array([[[-0.5] * 3, [0.5] * 3]])
    corners: Array = np.stack([np.min(lows, axis=0), np.max(highs, axis=0)], axis=1)
    return corners


def _box(figure: Figure) -> Array:
    """The box (2, 3) [m] around a figure at all times, and around the points where elements are fixed to the ground."""
    corners = _corners(figure)
    ends = [end for mark in figure.marks for end in (mark.start, mark.end) if mark.layer == "elements"]
    fixed = [np.array(end.point)[None] for end in ends if end is not None and end.owner == WORLD_OWNER]
    low = np.concatenate([corners[:, 0], *fixed]).min(axis=0)
    high = np.concatenate([corners[:, 1], *fixed]).max(axis=0)
    box: Array = np.stack([low, high]) + figure.offset
    return box


def told_apart(figures: Sequence[Figure]) -> list[Figure]:
    """The figures, tinted in different colors where they stand in the same place as the first one."""
    first = figures[0].offset
    return [
        _tinted(figure, number) if number and np.array_equal(figure.offset, first) else figure
        for number, figure in enumerate(figures)
    ]


def _tinted(figure: Figure, number: int) -> Figure:
    tint = TINTS[(number - 1) % len(TINTS)]
    parts = []
    for part in figure.parts:
        if part.layer == "shapes" and part.owner >= 0:
            r, g, b = (TINTED * new + (1.0 - TINTED) * old for new, old in zip(tint, part.color, strict=False))
            part = replace(part, color=(r, g, b, part.color[3]))
        parts.append(part)
    return replace(figure, parts=tuple(parts))
