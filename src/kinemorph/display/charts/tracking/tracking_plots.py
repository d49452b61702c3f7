"""Pictures of a robot that follows recorded markers: the model over the markers, its angles, and what is left over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array, evenly
from kinemorph.analysis.tracking.tracked import Tracked, axis_places
from kinemorph.display.canvas import INK, LINES, PALE, Figure, blank, plain_axes, save
from kinemorph.errors import UnsupportedError
from kinemorph.model.topology import WORLD
from kinemorph.simulation.results.body_poses import frame_matrices
from kinemorph.words import did_you_mean

WIDTH = 9.0  # [inch]
ROW = 1.3  # [inch], the height of the curve of one joint
LINE = 0.16  # [inch], the height of the bar of one marker
MOST_CURVES = 12  # joints that are shown if none are named
VIEWS = (("from the side", 0, 2), ("from above", 0, 1))  # the axes of the world to the right and up
AXES = "xyz"
SCALES = ((1.0, "m"), (1e-3, "mm"), (1e-6, "um"))  # units of lengths in pictures [m]


def plot_tracked(
    result: Tracked, what: str = "motion", *, title: str | None = None, path: Path | str | None = None, **options: Any
) -> Figure:
    """The picture of a tracked recording.

    "motion"       the model over the markers in some frames, from the side and from above
    "angles"       coordinates of joints over time with 95 % intervals
    "residuals"    distances of markers from the model: of each marker, and over time
    """
    if what not in PICTURES:
        raise UnsupportedError(f"what is '{what}'; expected one of {', '.join(PICTURES)}.")
    figure = PICTURES[what](result, **options)
    height = figure.get_figheight()
    shown = title or f"{result.robot.name.replace('_', ' ')}: {what}, {_length(result.rms())} root mean square"
    figure.text(0.5, 1.0 - 0.12 / height, shown, ha="center", va="top", fontsize=13, color=INK)
    if path is not None:
        save(figure, path)
    return figure


def plot_motion(result: Tracked, *, frames: int | Sequence[int] = 4) -> Figure:
    """The model as lines between its joints and points, over the markers, in some frames, pale to dark over time.

    `frames` is the number of frames, evenly spaced, or their indices.
    """
    n = len(result.q)
    chosen: Any = evenly(n, frames) if isinstance(frames, int) else np.array(list(frames))
    if not len(chosen) or chosen.min() < -n or chosen.max() >= n:
        raise UnsupportedError(f"frames is {frames}; expected a number above 0, or indices from 0 to {n - 1}.")
    lines = _skeleton(result, chosen)
    markers = result.markers.positions[chosen]
    scale, unit = _scale(result.problem.size)
    figure = blank(WIDTH, 4.6)
    grid = figure.subplots(1, len(VIEWS), squeeze=False)[0]
    for axes, (name, right, up) in zip(grid, VIEWS, strict=True):
        plain_axes(axes)
        axes.set_aspect("equal", adjustable="datalim")
        for k in range(len(chosen)):
            strength = 0.35 + 0.65 * (k + 1) / len(chosen)
            first = k == len(chosen) - 1
            for i, line in enumerate(lines[k]):
                label = "model" if first and i == 0 else None
                axes.plot(
                    line[:, right] / scale, line[:, up] / scale, color=LINES[0], alpha=strength, lw=1.4, label=label
                )
            axes.scatter(
                markers[k, :, right] / scale, markers[k, :, up] / scale, s=16, facecolors="none",
                edgecolors=LINES[1], alpha=strength, linewidths=1.0, zorder=3, label="markers" if first else None,
            )  # fmt: skip
        axes.set_title(name, fontsize=9, color=INK, loc="left")
        axes.set_xlabel(f"{AXES[right]} [{unit}]", fontsize=8, color=INK)
        axes.set_ylabel(f"{AXES[up]} [{unit}]", fontsize=8, color=INK)
    times = ", ".join(f"{result.times[k]:.3g}" for k in chosen)
    grid[-1].legend(loc="upper right", fontsize=8, frameon=False)
    figure.text(0.5, 0.012, f"pale to dark: t = {times} s", ha="center", fontsize=8, color=PALE)
    figure.subplots_adjust(left=0.08, right=0.98, top=0.86, bottom=0.15, wspace=0.22)
    return figure


def plot_angles(result: Tracked, *, joints: Sequence[str] | None = None) -> Figure:
    """Coordinates of hinges and slides over time, with 95 % intervals; the first twelve if no joints are named."""
    robot = result.robot
    places = axis_places(robot)
    for name in joints or ():
        if name not in places:
            raise UnsupportedError(
                f"robot '{robot.name}' has no hinge or slide '{name}'.{did_you_mean(name, places)} Name others."
            )
    names = list(joints) if joints is not None else list(places)[:MOST_CURVES]
    half = result.intervals()
    height = max(3.0, ROW * -(-len(names) // 2) + 1.0)
    figure = blank(WIDTH, height)
    grid = figure.subplots(-(-len(names) // 2), 2, sharex=True, squeeze=False)
    for axes, name in zip(grid.flat, names, strict=False):
        plain_axes(axes)
        turning = robot.q_units[places[name]] == "rad"
        factor = 180.0 / np.pi if turning else 1.0
        x = factor * result.q[:, places[name]]
        band = factor * half[:, robot.v_names.index(name)]
        band = np.where(np.isfinite(band), band, np.nan)
        axes.fill_between(result.times, x - band, x + band, color=LINES[0], alpha=0.25, linewidth=0.0)
        axes.plot(result.times, x, color=LINES[0], linewidth=1.0)
        axes.set_title(f"{name} [{'deg' if turning else 'm'}]", fontsize=8, color=INK, loc="left", pad=3)
    for axes in list(grid.flat)[len(names) :]:
        axes.set_visible(False)
    for axes in grid[-1]:
        axes.set_xlabel("time [s]", fontsize=8, color=INK)
    figure.subplots_adjust(left=0.08, right=0.98, top=1.0 - 0.7 / height, bottom=0.5 / height, hspace=0.55, wspace=0.16)
    return figure


def plot_residuals(result: Tracked) -> Figure:
    """The root mean square distance of each marker, and the largest and the mean distance over time."""
    each = result.rms_by_marker()
    height = max(3.4, LINE * len(each) + 1.3)
    scale, unit = _scale(max(filter(np.isfinite, each.values()), default=1.0))
    figure = blank(WIDTH, height)
    bars, curves = figure.subplots(1, 2)
    plain_axes(bars)
    plain_axes(curves)
    places = np.arange(len(each))[::-1]
    bars.barh(places, np.array(list(each.values())) / scale, color=LINES[0], height=0.7)
    bars.set_yticks(places, list(each), fontsize=7)
    bars.set_ylim(-0.7, len(each) - 0.3)
    bars.set_xlabel(f"root mean square [{unit}]", fontsize=8, color=INK)
    seen = result.residuals / scale
    known = ~np.isnan(seen).all(axis=1)
    curves.plot(result.times[known], np.nanmax(seen[known], axis=1), color=PALE, linewidth=0.8, label="farthest marker")
    mean = np.sqrt(np.nanmean(seen[known] ** 2, axis=1))
    curves.plot(result.times[known], mean, color=LINES[0], linewidth=1.2, label="root mean square")
    curves.set_xlabel("time [s]", fontsize=8, color=INK)
    curves.set_ylabel(f"distance [{unit}]", fontsize=8, color=INK)
    curves.legend(fontsize=8, frameon=False)
    figure.subplots_adjust(left=0.14, right=0.98, top=1.0 - 0.6 / height, bottom=0.55 / height, wspace=0.25)
    return figure


def _skeleton(result: Tracked, chosen: Array) -> list[list[Array]]:
    """For each chosen frame, lines (2, 3) [m] between the origins of connected bodies, and from bodies to points."""
    robot = result.robot
    names = [*robot.body_names, *result.frames]
    places = frame_matrices(robot, result.q[chosen], names)[:, :, :3, 3]
    pairs = [(joint.parent, joint.child) for joint in robot.joints if joint.parent != WORLD]
    pairs += [(robot.frame(frame).body, frame) for frame in result.frames if robot.frame(frame).body != WORLD]
    at = {name: k for k, name in enumerate(names)}
    return [[places[k][[at[a], at[b]]] for a, b in pairs] for k in range(len(chosen))]


def _scale(size: float) -> tuple[float, str]:
    """The largest unit of length in which a size [m] is 0.5 or more, and its name."""
    return next((row for row in SCALES if size >= 0.5 * row[0]), SCALES[-1])


def _length(size: float) -> str:
    scale, unit = _scale(size)
    return f"{size / scale:.3g} {unit}"


PICTURES: dict[str, Callable[..., Figure]] = {"motion": plot_motion, "angles": plot_angles, "residuals": plot_residuals}
