"""Pictures of orbits: phase portraits with multipliers, branches, bifurcation diagrams and basins of attraction."""

from __future__ import annotations

from functools import singledispatch
from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.orbits.basin import FELL, UNDECIDED, Basin
from kinemorph.analysis.orbits.bifurcation_diagram import BifurcationDiagram
from kinemorph.analysis.orbits.continuation import Branch
from kinemorph.analysis.orbits.periodic_orbit import Orbit
from kinemorph.analysis.orbits.return_map import ReturnMap, place_of
from kinemorph.display.canvas import FAILURE, GROUND, INK, LINES, PALE, Figure, blank, plain_axes, save, units_of
from kinemorph.errors import UnsupportedError

WIDTH, HEIGHT = 7.0, 4.6  # [inch]
MARKS = {"fold": "o", "branch point": "P", "doubling": "s", "Neimark-Sacker": "D"}
FEW = 400  # values of a parameter up to which a bifurcation diagram has larger dots
FALLEN, OPEN = GROUND, "#ffffff"  # colors of starts that fall, and of those that reach no attractor


@singledispatch
def plot_of(subject: object, **options: Any) -> Figure:
    """The picture of an orbit, a branch, a bifurcation diagram or a basin, chosen by its type."""
    raise UnsupportedError(f"{subject!r} cannot be plotted; expected an orbit, a branch, a diagram or a basin.")


@plot_of.register
def plot_orbit(
    orbit: Orbit,
    *,
    x: str | None = None,
    y: str | None = None,
    title: str | None = None,
    path: Path | str | None = None,
) -> Figure:
    """A figure of an orbit as a closed curve, and of its multipliers in the complex plane with the unit circle.

    `x`, `y`    columns of the motion on the two axes, such as "q.elbow" and "v.elbow"; for a map without time, names of
                coordinates. By default they are the first coordinate and its velocity
    `path`      a file to write, .png, .svg or .pdf
    """
    if not orbit:
        raise UnsupportedError(f"there is no orbit to plot. {orbit.message}")
    figure = blank(WIDTH + 1.0, HEIGHT)
    left: Any = figure.add_axes((0.09, 0.12, 0.46, 0.71))
    right: Any = figure.add_axes((0.64, 0.12, 0.33, 0.71))
    for axes in (left, right):
        plain_axes(axes)
    (name_x, unit_x, xs), (name_y, unit_y, ys) = _curves(orbit, x, y)
    timeless = isinstance(orbit.trajectory, np.ndarray)
    left.plot(xs, ys, "o" if timeless else "-", color=LINES[0], linewidth=1.6, markersize=5)
    if not timeless:
        left.plot(xs[:1], ys[:1], "o", color=LINES[0], markerfacecolor="white", markersize=7)
    _label(left, (name_x, unit_x), (name_y, unit_y))
    angles = np.linspace(0.0, 2.0 * np.pi, 200)
    right.plot(np.cos(angles), np.sin(angles), color=PALE, linewidth=0.9)
    outside = np.abs(orbit.multipliers) > 1.0
    for chosen, color in ((~outside, LINES[0]), (outside, FAILURE)):
        values = orbit.multipliers[chosen]
        right.plot(values.real, values.imag, "x", color=color, markersize=7, markeredgewidth=1.6)
    right.set_aspect("equal", adjustable="datalim")
    _label(right, ("real part of multipliers", ""), ("imaginary part", ""))
    _head(figure, title or f"orbit of {orbit.map.name.replace('_', ' ')}", orbit.message.partition(":")[0] + ".", 0.09)
    return _done(figure, path)


def _curves(orbit: Orbit, x: str | None, y: str | None) -> tuple[tuple[str, str, Array], tuple[str, str, Array]]:
    """(name, unit, values) of both axes of the picture of an orbit."""
    run = orbit.trajectory
    if isinstance(run, np.ndarray):
        columns = orbit.map.columns
        names = [x or columns[0].name, y or (columns[1].name if len(columns) > 1 else columns[0].name)]
        places = [place_of(columns, name, "coordinate") for name in names]
        if places[0] == places[1]:  # one coordinate: its next value over it
            return (names[0], "", run[:-1, places[0]]), (f"next {names[0]}", "", run[1:, places[0]])
        first, second = ((columns[k].name, columns[k].unit, run[:, k]) for k in places)
        return first, second
    plant = run.segments[0].plant
    first_name = x or (f"q.{plant.q[0].name}" if plant.nq else plant.x[0].name)
    if y is None:
        partner = f"v.{first_name[2:]}" if first_name.startswith("q.") else ""
        others = [column.name for column in plant.x if column.name != first_name]
        y = partner if partner in run.columns else (others or [first_name])[0]
    return tuple((name, run.columns[name].unit, run[name]) for name in (first_name, y))  # type: ignore[return-value]


@plot_of.register
def plot_branch(
    branch: Branch,
    *,
    y: str | None = None,
    compare: Branch | list[Branch] | tuple[Branch, ...] = (),
    title: str | None = None,
    path: Path | str | None = None,
) -> Figure:
    """A figure of a branch: a coordinate or the period over the parameter; stable orbits are solid, others dashed.

    `y`         a coordinate of the section or "period"; by default the first coordinate. Orbits of several cycles are
                shown at each of their returns
    `compare`   further branches along the same parameter
    `path`      a file to write, .png, .svg or .pdf
    """
    branches = [branch, *([compare] if isinstance(compare, Branch) else compare)]
    name = y or branch.points[0].map.columns[0].name
    figure = blank(WIDTH, HEIGHT)
    axes: Any = figure.add_axes((0.12, 0.13, 0.84, 0.68))
    plain_axes(axes)
    shown: set[str] = set()
    for number, one in enumerate(branches):
        color = LINES[number % len(LINES)]
        for values in _heights(one, name):
            stable = np.where(one.stable, values, np.nan)
            axes.plot(one.values, values, "--", color=color, linewidth=1.0, dashes=(3, 2))
            axes.plot(one.values, stable, "-", color=color, linewidth=2.0)
        for mark in one.special:
            height = mark.orbit[name] if name != "period" else mark.orbit.period
            label = None if mark.kind in shown else mark.kind
            shown.add(mark.kind)
            look = {"color": INK, "markerfacecolor": "white", "markersize": 6, "linestyle": "", "zorder": 4}
            axes.plot([mark.value], [height], MARKS[mark.kind], label=label, **look)
    if shown:
        axes.legend(fontsize=8, frameon=False, labelcolor=INK, loc="best")
    units = {column.name: column.unit for column in branch.points[0].map.columns} | {"period": "s"}
    _label(axes, (branch.parameter, branch.unit), (name, units.get(name, "")))
    counts = ", ".join(f"{mark.kind} at {mark.value:.6g}" for one in branches for mark in one.special[:4])
    _head(figure, title or f"orbits of {branch.points[0].map.name.replace('_', ' ')}", counts or "solid: stable", 0.12)
    return _done(figure, path)


def _heights(branch: Branch, name: str) -> list[Array]:
    """The values to draw over the parameter: one array for each return of the orbits."""
    if name == "period":
        return [branch["period"]]
    place = place_of(branch.points[0].map.columns, name, "coordinate")
    each = len(branch.points[0].nodes) // branch.points[0].cycles
    return [np.array([orbit.nodes[k * each][place] for orbit in branch.points]) for k in range(branch.points[0].cycles)]


@plot_of.register
def plot_bifurcation(
    diagram: BifurcationDiagram, *, y: str | None = None, title: str | None = None, path: Path | str | None = None
) -> Figure:
    """A figure of a bifurcation diagram: a coordinate `y` at all recorded returns over the parameter."""
    name = y or diagram.map.columns[0].name
    figure = blank(WIDTH, HEIGHT)
    axes: Any = figure.add_axes((0.12, 0.13, 0.84, 0.71))
    plain_axes(axes)
    values = diagram[name]
    over = np.broadcast_to(diagram.values[:, None], values.shape)
    dots = {"marker": ",", "alpha": 0.6} if len(values) > FEW else {"marker": ".", "markersize": 2.5, "alpha": 0.8}
    axes.plot(over.ravel(), values.ravel(), linestyle="", color=LINES[0], **dots)
    unit = diagram.map.columns[place_of(diagram.map.columns, name, "coordinate")].unit
    _label(axes, (diagram.parameter, _unit_of(diagram.map, diagram.parameter)), (name, unit))
    lost = f", {len(diagram.messages)} do not return" if diagram.messages else ""
    caption = f"{len(diagram.values)} values, the last {values.shape[1]} returns of each{lost}"
    _head(figure, title or f"bifurcation diagram of {diagram.map.name.replace('_', ' ')}", caption, 0.12)
    return _done(figure, path)


@plot_of.register
def plot_basin(basin: Basin, *, title: str | None = None, path: Path | str | None = None) -> Figure:
    """A figure of a basin with two coordinates: the color of a start is that of the attractor that it reaches.

    Starts that fall are gray, those that reach no attractor white; dots are the returns of the attractors.
    """
    if len(basin.names) != 2:
        raise UnsupportedError(f"the basin has a grid of {len(basin.names)} coordinates; expected 2 for a picture.")
    from matplotlib.colors import ListedColormap

    count = len(basin.attractors)
    colors = [FALLEN, OPEN, *(LINES[k % len(LINES)] for k in range(count))]
    figure = blank(WIDTH, HEIGHT + 0.6)
    axes: Any = figure.add_axes((0.12, 0.12, 0.84, 0.73))
    plain_axes(axes)
    axes.grid(False)
    xs, ys = basin.axes
    limits = {"vmin": FELL, "vmax": count, "cmap": ListedColormap(colors), "shading": "nearest", "alpha": 0.75}
    axes.pcolormesh(xs, ys, basin.labels.T, **limits)
    places = [place_of(basin.map.columns, name, "coordinate") for name in basin.names]
    for number, attractor in enumerate(basin.attractors):
        look = {"color": LINES[number % len(LINES)], "markeredgecolor": "white", "markersize": 8, "linestyle": ""}
        axes.plot(attractor[:, places[0]], attractor[:, places[1]], "o", **look)
    axes.set_xlim(xs.min(), xs.max())
    axes.set_ylim(ys.min(), ys.max())
    columns = basin.map.columns
    _label(axes, *((columns[k].name, columns[k].unit) for k in places))
    shares = [f"attractor {k}: {basin.share(k):.1%}" for k in range(1, count + 1)]
    shares += [
        f"{word}: {basin.share(k):.1%}" for k, word in ((UNDECIDED, "undecided"), (FELL, "fell")) if basin.share(k)
    ]
    _head(figure, title or f"basins of {basin.map.name.replace('_', ' ')}", ", ".join(shares), 0.12)
    return _done(figure, path)


def _unit_of(cycle: ReturnMap, parameter: str) -> str:
    return next((column.unit for column in cycle.parameters if column.name == parameter), "")


def _label(axes: Any, x: tuple[str, str], y: tuple[str, str]) -> None:
    texts = [f"{name} [{units_of(unit)}]" if unit else name for name, unit in (x, y)]
    axes.set_xlabel(texts[0], fontsize=9, color=INK)
    axes.set_ylabel(texts[1], fontsize=9, color=INK)


def _head(figure: Any, title: str, caption: str, left: float) -> None:
    figure.text(left, 0.945, title, fontsize=13, color=INK, va="center")
    figure.text(left, 0.89, caption, fontsize=8, color=PALE, va="center")


def _done(figure: Figure, path: Path | str | None) -> Figure:
    if path is not None:
        save(figure, path)
    return figure
