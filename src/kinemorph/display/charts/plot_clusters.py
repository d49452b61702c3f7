"""A picture of the clusters of coupled maps over r or epsilon, and of one gait step by step.

The upper plot has the final values x of all maps over the varied parameter, in the color of the number of clusters to
which the initial state leads. The middle plot has the share of initial states for each number of clusters, pale where
the motion is not periodic. The lower plot has x of every map over the last steps from one initial state: maps of one
cluster have equal rows.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.gait_clusters import TOLERANCE, checked_maps, classified, leaders_of, map_orbits, periods_of
from kinemorph.display.canvas import INK, LINES, PALE, Figure, blank, plain_axes, save
from kinemorph.errors import KinemorphError
from kinemorph.mechanics.elements.gaits.map_steps import MAPS, random_start

WIDTH, HEIGHT = 8.4, 7.4  # [inch]
LEFT, ACROSS = 0.085, 0.765  # left edge and width of the plots, as fractions of the width
LONGEST = 16  # longest period that is searched for [steps]
MARKED = 4  # half the number of final steps in the upper plot
SEEN = 32  # steps in the lower plot
CHAOS = 0.35  # opacity of motions without a period


def plot_clusters(
    map: str = "logistic",
    r: float = 3.9,
    coupling: str = "global",
    epsilon: float = 0.3,
    *,
    over: str = "epsilon",
    span: tuple[float, float] | None = None,
    count: int = 6,
    seed: int = 0,
    steps: int = 4000,
    values: int = 361,
    starts: int = 16,
    title: str | None = None,
    path: Path | str | None = None,
) -> Figure:
    """A figure of the clusters of `count` coupled maps over the parameter `over`, "epsilon" or "r".

    `span`     range of the varied parameter; by default (0, 0.6) for epsilon and the upper half of the allowed r
    `values`   number of values of the varied parameter, each with `starts` random initial states
    `steps`    number of steps before the final values
    `seed`     initial state of the lower plot, which has the given r and epsilon
    """
    if over not in ("r", "epsilon"):
        raise KinemorphError(f"over is {over!r}; expected 'r' or 'epsilon', the parameter to vary.")
    checked_maps(map, coupling, r, epsilon, count=count, steps=steps, seeds=starts, values=values)
    low, high = span or ((0.0, 0.6) if over == "epsilon" else (0.5 * MAPS[map].largest, MAPS[map].largest))
    for x in (low, high):
        checked_maps(map, coupling, *((x, epsilon) if over == "r" else (r, x)), count=count, steps=steps)
    across = np.linspace(low, high, values)
    begun = np.tile([random_start(number, count) for number in range(starts)], (values, 1))
    varied = np.repeat(across, starts)[:, None]
    numbers = (varied, epsilon) if over == "r" else (r, varied)
    states = map_orbits(map, coupling, begun, *numbers, steps=steps, keep=2 * LONGEST + 1)
    groups = (leaders_of(states, TOLERANCE) == np.arange(count)).sum(axis=1)
    periods = periods_of(states, LONGEST, TOLERANCE)
    figure = blank(WIDTH, HEIGHT)
    _add_points(figure, varied[:, 0], states, groups, (low, high))
    _add_shares(figure, across, groups, periods, count)
    _add_names(figure, count)
    chosen = r if over == "r" else epsilon
    for axes in figure.axes[:2]:
        axes.axvline(chosen, color=INK, linewidth=0.8, linestyle=(0, (2, 2)))
    figure.axes[1].set_xlabel(
        "coupling epsilon" if over == "epsilon" else f"r of f(x) = {MAPS[map].formula}", color=INK
    )
    one = map_orbits(map, coupling, [random_start(seed, count)], r, epsilon, steps=steps, keep=2 * LONGEST + 1)
    _add_strip(figure, one, f"seed {seed}, r = {r:g}, epsilon = {epsilon:g}")
    fixed = f"epsilon = {epsilon:g}" if over == "r" else f"r = {r:g}"
    heading = f"{count} {map} maps, {coupling} coupling, {fixed}" if title is None else title
    figure.text(LEFT, 0.965, heading, fontsize=13, color=INK, va="center")
    caption = f"{starts} starts for each of {values} values, after {steps} steps"
    figure.text(LEFT, 0.937, caption, fontsize=8, color=PALE, va="center")
    if path is not None:
        save(figure, path)
    return figure


def _color(number: int) -> str:
    """The color of a number of clusters."""
    return LINES[(number - 1) % len(LINES)]


def _add_points(
    figure: Figure, at: Array, states: Array, groups: npt.NDArray[np.int64], ends: tuple[float, float]
) -> None:
    axes: Any = figure.add_axes((LEFT, 0.52, ACROSS, 0.39))
    plain_axes(axes)
    axes.grid(False)
    last = states[:, -2 * MARKED :, :]
    places = np.repeat(at, last.shape[1] * last.shape[2])
    flat, many = last.ravel(), np.repeat(groups, last.shape[1] * last.shape[2])
    for number in np.unique(groups)[::-1]:
        those = many == number
        marks = {"marker": ".", "markersize": 1.4, "markeredgewidth": 0.0, "linestyle": "none", "rasterized": True}
        axes.plot(places[those], flat[those], color=_color(int(number)), alpha=0.6, **marks)
    axes.set_xlim(*ends)
    axes.set_ylim(0.0, 1.0)
    axes.tick_params(labelbottom=False)
    axes.set_ylabel("x of all maps", fontsize=9, color=INK)


def _add_shares(
    figure: Figure, values: Array, groups: npt.NDArray[np.int64], periods: npt.NDArray[np.int64], count: int
) -> None:
    axes: Any = figure.add_axes((LEFT, 0.345, ACROSS, 0.145))
    plain_axes(axes)
    axes.grid(False)
    below = np.zeros(len(values))
    for number in range(1, count + 1):
        for periodic in (True, False):
            those = (groups == number) & ((periods > 0) == periodic)
            share = those.reshape(len(values), -1).mean(axis=1)
            if share.any():
                look = {"color": _color(number), "alpha": 1.0 if periodic else CHAOS, "linewidth": 0.0}
                axes.fill_between(values, below, below + share, step="mid", **look)
            below = below + share
    axes.set_xlim(values[0], values[-1])
    axes.set_ylim(0.0, 1.0)
    axes.set_yticks([0.0, 0.5, 1.0])
    axes.set_ylabel("share of starts", fontsize=9, color=INK)


def _add_names(figure: Figure, count: int) -> None:
    """Adds a legend of the colors at the right; `count` is the number of maps."""
    from matplotlib.patches import Patch

    shown = range(1, min(count, len(LINES)) + 1)
    words = {1: "in step", count: "each alone"}
    handles = [Patch(color=_color(n), label=words.get(n, f"{n} clusters") if count > 1 else "one map") for n in shown]
    handles.append(Patch(color=_color(1), alpha=CHAOS, label="pale: no period"))
    place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (LEFT + ACROSS + 0.005, 0.915)}
    figure.legend(handles=handles, fontsize=8, frameon=False, labelcolor=INK, borderaxespad=0.0, **place)


def _add_strip(figure: Figure, states: Array, words: str) -> None:
    axes: Any = figure.add_axes((LEFT, 0.07, ACROSS, 0.165))
    (orbit,) = classified(states, LONGEST)
    last = states[0, -SEEN:]
    look: dict[str, Any] = {"aspect": "auto", "interpolation": "nearest", "cmap": "cividis", "vmin": 0.0, "vmax": 1.0}
    image = axes.imshow(last.T, **look)
    count = last.shape[1]
    axes.set_yticks(range(count) if count <= 12 else range(0, count, max(1, count // 8)))
    axes.tick_params(labelsize=8, colors=INK, length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.set_xlabel(f"the last {SEEN} steps", fontsize=9, color=INK)
    axes.set_ylabel("map", fontsize=9, color=INK)
    axes.set_title(f"{words}: {orbit.kind}", fontsize=9, color=INK, loc="left")
    bar = figure.colorbar(image, cax=figure.add_axes((LEFT + ACROSS + 0.015, 0.07, 0.014, 0.165)))
    bar.set_label("x", fontsize=9, color=INK)
    bar.ax.tick_params(labelsize=8, colors=INK)
