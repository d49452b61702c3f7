"""`response_map`: a measure as color over two parts of a study. Nothing is interpolated.

grid      where all values of one part meet all values of the other: one cell for each pair
rows      where one part has choices or a few values, and the other is scattered: rows of cells about the items
cells     where both are scattered: the Voronoi cell of each item, all of which is nearest to it on paper
dots      where more parts vary, so that neighbors differ in what is not shown; or where there are too many items
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.display.canvas import FAILURE, INK, Figure
from kinemorph.display.charts.studies import frames
from kinemorph.display.charts.studies.plotted_items import PartAxis, PlottedItems, axis_of, cells
from kinemorph.errors import UnsupportedError

Summary = Literal["mean", "largest", "smallest"]
SUMMARIES = {"mean": np.add, "largest": np.maximum, "smallest": np.minimum}  # a mean is a sum divided by its count
WIDTH, HEIGHT = 5.0, 4.1  # of the axes [inch]
FILLED = 0.6  # a grid has items in more than this part of its cells
FEW = 12  # values of a part that is scattered in rows of the other
MOST_CELLS = 20_000  # Voronoi cells; more items are dots
MOST_DOTS = 700  # items that are marked by dots inside of their cells
MARGIN = 0.03  # of scattered items, as a part of their range


class Places(NamedTuple):
    """m places of a map: their coordinates (m, 2), a value for each (m,), NaN where there is none, and `failed` (m,)
    for places all of whose items with a result failed.
    """

    spots: Array
    values: Array
    failed: npt.NDArray[np.bool_]


def response_map(
    shown: PlottedItems,
    measure: str | None = None,
    *,
    x: str | None = None,
    y: str | None = None,
    of: Summary = "mean",
    largest: bool = False,
    log: tuple[str, ...] | None = None,
    title: str | None = None,
) -> Figure:
    """A measure over two parts `x` and `y`, by default the first two that vary.

    `of` says what a place shows that has several items, since other parts vary, too: the mean of their measures, the
    largest or the smallest one. `largest` says which item has a ring: the one with the largest measure or the smallest.
    `log` are the names of parts with a logarithmic axis, by default those whose values are spread over decades.
    """
    chosen, values = shown.measure(measure)
    x, y = _two_parts(shown, x, y)
    if of not in SUMMARIES:
        raise UnsupportedError(f"plot: of is {of!r}; expected one of {', '.join(map(repr, SUMMARIES))}.")
    axes_of = [axis_of(shown.column(part), None if log is None else part in log) for part in (x, y)]
    places, repeated = _places(shown, values, axes_of, of)
    if not len(places.spots) or not np.isfinite(places.values).any():
        raise UnsupportedError(f"plot: no item of '{shown.name}' with a result has values of both '{x}' and '{y}'.")
    others = [part for part in shown.parts if part not in (x, y)]
    kind = _kind(places, axes_of, bool(others))
    best = shown.best(values, largest)

    left, below = 0.62 + frames.label_room(axes_of[1]) - 0.2, frames.bottom_room(axes_of[0])
    high = max(HEIGHT, 0.17 * len(axes_of[1].labels)) if len(axes_of[1].labels) <= frames.MOST_LABELS else HEIGHT
    ringed = kind != "dots" or not any(axis.labels for axis in axes_of)  # dots lie beside the place of a choice
    best_told = f"{frames.best_text(shown, values, largest)}{', ringed' if ringed else ''}"
    captions = [f"{frames.counts(shown, 'crosses', 'white')}; {best_told}"]
    captions += _notes(axes_of, others, kind, of if repeated else None)
    heading = frames.heading(chosen, shown.name, title)
    figure = frames.paper(left + WIDTH + 1.15, below + high + 0.05, heading, captions)
    axes = frames.placed(figure, left, below, WIDTH, high)
    colors = frames.color_scale(places.values)
    for axis, side in zip(axes_of, "xy", strict=True):
        frames.dress(axes, axis, side)
    DRAWN[kind](axes, places, axes_of, colors.norm)
    if ringed:
        _ring(axes, [axis.shown(axis.places[best : best + 1]) for axis in axes_of])
    frames.color_bar(figure, colors, _bar_name(shown.label(chosen), of, repeated), left + WIDTH + 0.16, below, high)
    return figure


def _two_parts(shown: PlottedItems, x: str | None, y: str | None) -> tuple[str, str]:
    """The parts of both axes; where they are not given, the first ones that vary."""
    others = [part for part in shown.parts if part not in (x, y)]
    x = x or (others.pop(0) if others else None)
    y = y or (others.pop(0) if others else None)
    if x is None or y is None or x == y:
        raise UnsupportedError(
            f"a map needs two parts that vary, and the study '{shown.name}' varies: {', '.join(shown.parts) or 'none'}."
            ' Use kind="curve".'
        )
    return x, y


def _ring(axes: Any, spot: list[Array]) -> None:
    """A ring about the best item."""
    for width, color in ((3.2, "white"), (1.5, FAILURE)):
        look: dict[str, Any] = {"markerfacecolor": "none", "markeredgecolor": color, "markeredgewidth": width}
        axes.plot(*spot, "o", markersize=9, clip_on=False, zorder=6, **look)


def _bar_name(measure: str, of: str, repeated: bool) -> str:
    return f"{measure}, {of}" if repeated else measure


def _notes(axes_of: list[PartAxis], others: list[str], kind: str, of: str | None) -> list[str]:
    """Sentences about what a map does not show; `of` is the summary of places with several items, if there are any."""
    lines = []
    lost = int(sum(np.isnan(axes_of[0].places) | np.isnan(axes_of[1].places)))
    if lost:
        lines.append(f"{lost:,} items have no value of one of these parts and are not shown.")
    if of:
        lines.append(f"A place with several items shows their {of}{' measure' if of != 'mean' else ''}.")
    lines += frames.also_varied(others)
    if kind in ("cells", "rows"):
        lines.append("A cell has the color of the item in it; nothing is interpolated.")
    return lines


def _places(shown: PlottedItems, values: Array, axes_of: list[PartAxis], of: Summary) -> tuple[Places, bool]:
    """(the places of a map, whether one of them has several items)."""
    spots, index = cells(axes_of)
    count = len(spots)
    found, failed = np.full(count, np.nan), np.zeros(count, dtype=bool)
    done = (index >= 0) & np.isfinite(values)
    np.logical_or.at(failed, index[(index >= 0) & shown.failed], True)
    order = np.argsort(index[done], kind="stable")
    sorted_index, sorted_values = index[done][order], values[done][order]
    starts = np.flatnonzero(np.diff(sorted_index, prepend=-1))
    if len(starts):
        sizes = np.diff(np.append(starts, len(sorted_values)))
        summaries = SUMMARIES[of].reduceat(sorted_values, starts)
        found[sorted_index[starts]] = summaries / sizes if of == "mean" else summaries
    failed &= np.isnan(found)
    repeated = bool(count) and int(np.bincount(index[index >= 0], minlength=count).max()) > 1
    return Places(spots, found, failed), repeated


def _kind(places: Places, axes_of: list[PartAxis], others: bool) -> str:
    sizes = [len(axis.distinct) for axis in axes_of]
    if len(places.spots) > FILLED * sizes[0] * sizes[1]:
        return "grid"
    if others or len(places.spots) > MOST_CELLS:
        return "dots"
    shared = [2 * size <= len(places.spots) for size in sizes]  # a row has more than one item
    few = [axis.labels or (size <= FEW and more) for axis, size, more in zip(axes_of, sizes, shared, strict=True)]
    return "rows" if any(few) else "cells"


# ── kinds ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _grid(axes: Any, places: Places, axes_of: list[PartAxis], norm: Any) -> None:
    """One cell for each pair of values; edges lie in the middle between neighbors."""
    columns = [np.searchsorted(axis.distinct, places.spots[:, k]) for k, axis in enumerate(axes_of)]
    edges = [axis.shown(_edges(axis.distinct, axis)) for axis in axes_of]
    shape = tuple(len(axis.distinct) for axis in axes_of)
    table = np.full(shape, np.nan)
    table[columns[0], columns[1]] = places.values
    axes.grid(False)
    for axis, which in zip(axes_of, (axes.xaxis, axes.yaxis), strict=True):
        frames.mark_values(which, axis)
    axes.pcolormesh(*edges, np.ma.masked_invalid(table.T), norm=norm, cmap=frames.COLORS, rasterized=table.size > 2500)
    if places.failed.any():
        from matplotlib.colors import ListedColormap

        lost = np.full(shape, np.nan)
        lost[columns[0][places.failed], columns[1][places.failed]] = 1.0
        axes.pcolormesh(*edges, np.ma.masked_invalid(lost.T), cmap=ListedColormap([frames.FAILED_FACE]))
    size = float(np.clip(72.0 * 0.35 * min(WIDTH / shape[0], HEIGHT / shape[1]), 1.5, 8.0))
    _cross(axes, places.spots[places.failed], axes_of, size)


def _edges(distinct: Array, axis: PartAxis) -> Array:
    """The edges (m + 1,) of cells about values (m,)."""
    if len(distinct) == 1:
        half = 0.5 if axis.labels or axis.log else 0.5 * (abs(float(distinct[0])) or 1.0)
        return np.array([distinct[0] - half, distinct[0] + half])
    middle = 0.5 * (distinct[1:] + distinct[:-1])
    found: Array = np.concatenate([[2 * distinct[0] - middle[0]], middle, [2 * distinct[-1] - middle[-1]]])
    return found


def _rows(axes: Any, places: Places, axes_of: list[PartAxis], norm: Any) -> None:
    """A row for each value of the part that has few of them, in which each item has a cell up to its neighbors."""
    few = 1 if axes_of[1].labels or (not axes_of[0].labels and len(axes_of[1].distinct) <= FEW) else 0
    other, row_axis, wide_axis = 1 - few, axes_of[few], axes_of[1 - few]
    row_edges = _edges(row_axis.distinct, row_axis)
    low, high = _bounds(wide_axis.distinct)
    boxes, order = [], []
    for k, place in enumerate(row_axis.distinct):
        inside = np.flatnonzero(places.spots[:, few] == place)
        inside = inside[np.argsort(places.spots[inside, other])]
        along = places.spots[inside, other]
        cuts = np.concatenate([[low], 0.5 * (along[1:] + along[:-1]), [high]])
        gap = 0.03 * (row_edges[k + 1] - row_edges[k])
        for j, item in enumerate(inside):
            box = (
                np.array([[cuts[j], cuts[j + 1], cuts[j + 1], cuts[j]]]).T,
                np.array([[row_edges[k] + gap] * 2 + [row_edges[k + 1] - gap] * 2]).T,
            )
            boxes.append(np.hstack(box if few else box[::-1]))
            order.append(int(item))
    _polygons(axes, boxes, _taken(places, order), axes_of, norm)
    limits = [(row_edges[0], row_edges[-1]), (low, high)]
    _limit(axes, axes_of, limits if few == 0 else limits[::-1])


def _cells(axes: Any, places: Places, axes_of: list[PartAxis], norm: Any) -> None:
    """The Voronoi cell of each item, in distances on paper, cut off at the frame."""
    from scipy.spatial import Voronoi

    bounds = [_bounds(axis.distinct) for axis in axes_of]
    low, span = np.array([ends[0] for ends in bounds]), np.array([ends[1] - ends[0] for ends in bounds])
    size = np.array([WIDTH, HEIGHT])
    spots = (places.spots - low) / span * size
    # the mirror images of all items at the four sides of the frame make the sides edges of cells
    mirrored = [spots]
    for k in range(2):
        for side in (0.0, size[k]):
            image = spots.copy()
            image[:, k] = 2.0 * side - image[:, k]
            mirrored.append(image)
    found = Voronoi(np.concatenate(mirrored))
    regions = [found.regions[found.point_region[k]] for k in range(len(spots))]
    polygons = [found.vertices[region] / size * span + low for region in regions]
    _polygons(axes, polygons, places, axes_of, norm)
    _limit(axes, axes_of, bounds)


def _dots(axes: Any, places: Places, axes_of: list[PartAxis], norm: Any) -> None:
    """A dot for each place; places with a larger measure lie in front."""
    known = np.flatnonzero(np.isfinite(places.values))
    order = known[np.argsort(places.values[known])]
    size = float(np.clip(6000.0 / max(len(order), 1), 6.0, 42.0))
    spots = [axis.shown(frames.spread(places.spots[order, k], axis)) for k, axis in enumerate(axes_of)]
    dots: dict[str, Any] = {"c": places.values[order], "norm": norm, "cmap": frames.COLORS, "linewidths": 0}
    axes.scatter(*spots, s=size, rasterized=len(order) > 3000, zorder=3, **dots)
    lost = np.column_stack([frames.spread(places.spots[places.failed, k], axis) for k, axis in enumerate(axes_of)])
    _cross(axes, lost, axes_of, float(np.clip(4.0 * np.sqrt(400.0 / max(len(lost), 1)), 0.8, 4.0)))
    _limit(
        axes, axes_of, [(-0.6, len(axis.labels) - 0.4) if axis.labels else _bounds(axis.distinct) for axis in axes_of]
    )


DRAWN = {"grid": _grid, "rows": _rows, "cells": _cells, "dots": _dots}


def _taken(places: Places, order: list[int]) -> Places:
    return Places(places.spots[order], places.values[order], places.failed[order])


def _bounds(distinct: Array) -> tuple[float, float]:
    """The range of an axis about scattered values."""
    low, high = float(distinct[0]), float(distinct[-1])
    margin = MARGIN * (high - low) or 0.5 * (abs(low) or 1.0)
    return low - margin, high + margin


def _limit(axes: Any, axes_of: list[PartAxis], bounds: Any) -> None:
    axes.set_xlim(*axes_of[0].shown(np.array(bounds[0])))
    axes.set_ylim(*axes_of[1].shown(np.array(bounds[1])))


def _polygons(axes: Any, polygons: list[Array], places: Places, axes_of: list[PartAxis], norm: Any) -> None:
    """Colored cells, with a dot for each item where there are not too many."""
    from matplotlib.collections import PolyCollection

    drawn = [np.column_stack([axis.shown(polygon[:, k]) for k, axis in enumerate(axes_of)]) for polygon in polygons]
    known = np.isfinite(places.values)
    inside = [polygon for polygon, good in zip(drawn, known, strict=True) if good]
    look: dict[str, Any] = {"array": places.values[known], "norm": norm, "cmap": frames.COLORS, "edgecolors": "face"}
    axes.grid(False)
    axes.add_collection(PolyCollection(inside, linewidths=0.3, rasterized=len(inside) > 3000, **look))
    lost = [polygon for polygon, bad in zip(drawn, places.failed, strict=True) if bad]
    axes.add_collection(PolyCollection(lost, facecolors=frames.FAILED_FACE, edgecolors="white", linewidths=0.3))
    if len(polygons) <= MOST_DOTS:
        dots = [axis.shown(places.spots[known, k]) for k, axis in enumerate(axes_of)]
        axes.plot(*dots, ".", color=INK, markersize=2.6 if len(polygons) > 100 else 5.0, alpha=0.7, zorder=3)
    _cross(axes, places.spots[places.failed], axes_of, 4.0)


def _cross(axes: Any, failed: Array, axes_of: list[PartAxis], size: float) -> None:
    """A cross at each place (m, 2) that failed."""
    spots = [axis.shown(failed[:, k]) for k, axis in enumerate(axes_of)]
    axes.plot(*spots, "x", color=FAILURE, markersize=size, markeredgewidth=max(0.5, 0.18 * size), zorder=4)
