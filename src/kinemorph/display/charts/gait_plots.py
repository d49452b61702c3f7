"""Pictures of gaits: strips of stick figures with torques, static gaits, and libraries of gaits."""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatch
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.gaits.gait import Gait
from kinemorph.analysis.gaits.gait_library import GaitLibrary
from kinemorph.analysis.gaits.static_gait import StaticGait
from kinemorph.display.canvas import GROUND, INK, LINES, PALE, Figure, blank, plain_axes, save
from kinemorph.errors import UnsupportedError
from kinemorph.mechanics.elements.law import law_of
from kinemorph.model.parameter import evaluate
from kinemorph.model.robot import Robot
from kinemorph.simulation.results.body_poses import frame_matrices
from kinemorph.simulation.results.trajectory import Trajectory

WIDTH, HEIGHT = 8.0, 4.8  # [inch]
FIGURES = 7  # stick figures of a cycle, and of a static gait
SHORT = 1e-9  # [m], sticks that are shorter are not drawn


@singledispatch
def plot_of_gait(subject: object, **options: Any) -> Figure:
    """The picture of a gait, a static gait or a library of gaits, chosen by its type."""
    raise UnsupportedError(f"{subject!r} cannot be plotted; expected a gait, a static gait or a library of gaits.")


@plot_of_gait.register
def plot_gait(gait: Gait, *, cycles: int = 3, title: str | None = None, path: Path | str | None = None) -> Figure:
    """A strip of stick figures over some cycles, seen from the side, and below it the torques of the motors.

    `path` is a file to write, .png, .svg or .pdf.
    """
    if not gait:
        raise UnsupportedError(f"there is no gait to plot. {gait.message}")
    run = gait.run(cycles)
    figure = blank(WIDTH, HEIGHT)
    above, below = _axes(figure)
    draw_strip(above, run, FIGURES * cycles)
    names = _torques(gait)
    ends = np.cumsum([0, *(len(segment.t) for segment in run.segments)])
    for k, name in enumerate(names):
        values = run[name]
        for first, last in pairwise(ends):  # torques may jump at edges
            below.plot(run.t[first:last], values[first:last], color=LINES[k % len(LINES)], linewidth=1.3, label=name)
    _labeled(below, "time [s]", "torque [N m]", bool(names))
    caption = f"cost {gait.cost:.6g}, {gait.period:.4g} s, largest multiplier {np.abs(gait.multipliers).max():.4g}"
    return _finished(figure, title or f"gait of {gait.plant.name.replace('_', ' ')}", caption, path)


@plot_of_gait.register
def plot_static_gait(gait: StaticGait, *, title: str | None = None, path: Path | str | None = None) -> Figure:
    """Postures of a static gait as stick figures, and below them torques and foot loads along the motion."""
    figure = blank(WIDTH, HEIGHT)
    above, below = _axes(figure)
    assert gait.plant.robot is not None
    _sticks(above, gait.plant.robot, gait.q[np.linspace(0, len(gait.q) - 1, FIGURES).astype(int)], apart=True)
    name, along = next(iter(gait.motion.items()))
    other = below.twinx()
    for k, (joint, values) in enumerate(gait.torques.items()):
        below.plot(along, values, color=LINES[k % len(LINES)], linewidth=1.5, label=f"torque of {joint}")
    for k, (row, values) in enumerate(gait.loads.items()):
        color = LINES[(k + len(gait.torques)) % len(LINES)]
        other.plot(along, values, "--", color=color, linewidth=1.2, label=f"force {row}")
    units = dict(zip(gait.plant.robot.q_names, gait.plant.robot.q_units, strict=True))
    _labeled(below, f"{name} [{units[name]}]", "torque [N m]", True)
    other.set_ylabel("force on the foot [N]", fontsize=9, color=INK)
    other.tick_params(labelsize=8, colors=PALE)
    other.legend(fontsize=7, frameon=False, loc="lower right", bbox_to_anchor=(1, 1), ncols=4)
    return _finished(figure, title or f"static gait of {gait.plant.name.replace('_', ' ')}", gait.message, path)


@plot_of_gait.register
def plot_gait_library(library: GaitLibrary, *, title: str | None = None, path: Path | str | None = None) -> Figure:
    """The cost of gaits over their speed: those of the library as dots, and those in between as a curve."""
    figure = blank(WIDTH - 1.0, HEIGHT - 0.6)
    axes: Any = figure.add_axes((0.11, 0.13, 0.85, 0.69))
    plain_axes(axes)
    between = np.linspace(library.speeds[0], library.speeds[-1], 101)
    axes.plot(between, [library.at(speed)["cost"] for speed in between], color=LINES[0], linewidth=1.4)
    axes.plot(library.speeds, library.costs, "o", color=LINES[0], markersize=5)
    _labeled(axes, "speed [m/s]", "cost of a cycle", False)
    caption = f"{len(library)} gaits, {library.speeds[0]:g} to {library.speeds[-1]:g} m/s"
    return _finished(figure, title or f"gaits of {library.name.replace('_', ' ')}", caption, path)


# ── stick figures ─────────────────────────────────────────────────────────────────────────────────────────────────────


def draw_strip(axes: Any, run: Trajectory, count: int) -> None:
    """Draws `count` stick figures of a run, at equal times, seen from the side: x to the right, z up."""
    robot = run.segments[0].plant.robot
    if robot is None:
        raise UnsupportedError("a strip of stick figures needs a robot; this run is of equations.")
    times = np.linspace(run.t[0], run.t[-1], count, endpoint=False)
    _sticks(axes, robot, np.array([run.at(np.array([t])).q[0] for t in times]))


def _sticks(axes: Any, robot: Robot, q: Array, *, apart: bool = False) -> None:
    """Draws stick figures in configurations q (n, nq), later ones darker; `apart` puts them beside each other."""
    figures = stick_figures(robot, q)
    if apart:
        every = np.concatenate([sticks.reshape(-1, len(q), 2, 3) for sticks in figures.values()])[..., 0]
        for sticks in figures.values():
            sticks[..., 0] += (1.1 * np.ptp(every) * np.arange(len(q)))[:, None]
    moving = [name for name, sticks in figures.items() if len(sticks)]
    for number in range(len(q)):
        fade = 1.0 if apart else 0.25 + 0.75 * number / max(len(q) - 1, 1)
        for name in moving:
            color = LINES[1] if "right" in name else LINES[0] if "left" in name else INK
            for start, end in figures[name][:, number]:
                axes.plot([start[0], end[0]], [start[2], end[2]], color=color, alpha=fade, linewidth=1.6)
    axes.axhline(0.0, color=GROUND, linewidth=1.0, zorder=0)
    axes.set_aspect("equal", adjustable="datalim")
    axes.tick_params(labelsize=8, colors=PALE)


def stick_figures(robot: Robot, q: Array) -> dict[str, Array]:
    """By body, sticks (k, n, 2, 3) [m] in configurations q (n, nq): from its joint to its other joints and frames."""
    bodies = list(robot.body_names)
    poses = dict(zip(bodies, frame_matrices(robot, q, bodies).swapaxes(0, 1), strict=True))
    first: dict[str, Any] = {}
    others: dict[str, list[Any]] = {name: [] for name in bodies}
    for joint in (*robot.joints, *robot.loops):
        if joint.child in first or joint in robot.loops:
            others[joint.child].append(joint.child_placement.p)
        else:
            first[joint.child] = joint.child_placement.p
        if joint.parent in others:
            others[joint.parent].append(joint.placement.p)
    for frame in robot.frames:
        if frame.body in others:
            others[frame.body].append(frame.placement.p)
    found = {}
    for name in bodies:
        start = _placed(poses[name], first.get(name, (0.0, 0.0, 0.0)))
        ends = [_placed(poses[name], point) for point in others[name]]
        ends = [end for end in ends if np.abs(end - start).max() > SHORT]
        if not ends:  # a body whose joints are all at one place ends twice as far away as its center of mass
            com = 2.0 * np.array([evaluate(one) for one in robot.body(name).com], dtype=float)
            ends = [end for end in [_placed(poses[name], com)] if np.abs(end - start).max() > SHORT]
        sticks = [np.stack([start, end], axis=1) for end in ends]
        found[name] = np.array(sticks).reshape(-1, len(q), 2, 3)
    return found


def _placed(pose: Array, point: Any) -> Array:
    """A point of a body in the world, shape (n, 3)."""
    place: Array = pose[:, :3, :3] @ np.array([evaluate(one) for one in point], dtype=float) + pose[:, :3, 3]
    return place


# ── parts of figures ──────────────────────────────────────────────────────────────────────────────────────────────────


def _torques(gait: Gait) -> list[str]:
    """The names of the signals that drive joints, actuators and motors."""
    found: Mapping[str, None] = {}
    for element in gait.plant.elements:
        for signal in law_of(element).drives(element).values():
            found = {**found, f"{element.name}.{signal}" if signal else element.name: None}
    return [name for name in found if name in gait.plant.outputs]


def _axes(figure: Any) -> tuple[Any, Any]:
    above, below = figure.add_axes((0.08, 0.46, 0.84, 0.38)), figure.add_axes((0.08, 0.11, 0.84, 0.24))
    for axes in (above, below):
        plain_axes(axes)
    return above, below


def _labeled(axes: Any, x: str, y: str, legend: bool) -> None:
    axes.set_xlabel(x, fontsize=9, color=INK)
    axes.set_ylabel(y, fontsize=9, color=INK)
    if legend:
        handles, labels = axes.get_legend_handles_labels()
        once = dict(zip(labels, handles, strict=True))
        axes.legend(
            once.values(), once.keys(), fontsize=7, frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=4
        )


def _finished(figure: Figure, title: str, caption: str, path: Path | str | None) -> Figure:
    figure.text(0.08, 0.945, title, fontsize=13, color=INK, va="center")
    figure.text(0.08, 0.89, caption, fontsize=8, color=PALE, va="center")
    if path is not None:
        save(figure, path)
    return figure
