"""The stage of a 3-D picture: its box, its axes with units, the camera, the ground with grid and shadow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.display.cameras import Camera
from kinemorph.display.canvas import GROUND, INK, PALE, SHADOW

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOWER_LEFT = (0.4, 0.68)  # room for tick labels and their names, left and below [inch]
MARGIN = np.array([0.4 + 0.95, 0.68 + 0.6])  # the same and room for the title, in all [inch]

LABEL_DISTANCE = (0.46, 0.54, 0.58)  # from the lines of x, y and z to their names [inch]


def scene_box(surface: Array, extent: float) -> tuple[Array, Array]:
    """The box of the picture: all facets and a margin, with a floor of some width at the robot's lowest point."""
    points = surface.reshape(-1, 3) if len(surface) else np.zeros((1, 3))
    low, high = points.min(axis=0), points.max(axis=0)
    longest = max(float((high - low).max()), 0.2 * extent)
    half = np.maximum(0.5 * (high - low) * [1.12, 1.12, 1.0], 0.5 * longest * np.array([0.4, 0.4, 0.2]))
    middle = 0.5 * (low + high)
    middle[2] = low[2] + half[2]
    return middle - half, middle + half


def set_axes(axes: Any, low: Array, high: Array) -> None:
    """Limits, labels with units, as many ticks as have room; no panes and no grid but our own."""
    from matplotlib.ticker import MaxNLocator

    share = (high - low) / (high - low).max()
    for name, axis, a, b, part in zip("xyz", (axes.xaxis, axes.yaxis, axes.zaxis), low, high, share, strict=True):
        getattr(axes, f"set_{name}lim")(a, b)
        getattr(axes, f"set_{name}label")(f"{name} [m]", color=INK, fontsize=9, labelpad=4.0)
        axis.set_pane_color((1.0, 1.0, 1.0, 0.0))
        axis.line.set_color(PALE)
        axis.set_major_locator(
            MaxNLocator(nbins=max(2, round(5 * part)), steps=[1, 2, 5, 10], prune=None if name == "z" else "both")
        )
    axes.grid(False)
    axes.tick_params(labelsize=8, colors=PALE, pad=1.0)


def place_camera(figure: Figure, axes: Any, box: tuple[Array, Array], camera: Camera, *, resize: bool) -> None:
    """Equal scales on all three axes, the whole box and its labels inside the picture."""
    share = (box[1] - box[0]) / (box[1] - box[0]).max()
    axes.view_init(elev=camera.elevation, azim=camera.azimuth)
    axes.set_proj_type("persp", focal_length=1.6)
    axes.set_box_aspect(share, zoom=1.0)
    first, last = _seen(axes, *box)
    if resize:  # up to 6.6 by 5 inches for the robot itself
        scale = float(np.min(np.array([6.6, 5.0]) / (last - first)))
        figure.set_size_inches(np.maximum((last - first) * scale + MARGIN, [4.4, 3.0]))
        first, last = _seen(axes, *box)
    room = figure.get_size_inches() - MARGIN
    axes.set_box_aspect(share, zoom=float(np.min(room / (last - first))))
    first, last = _seen(axes, *box)
    middle = np.array(LOWER_LEFT) + 0.5 * room
    shift = (middle - 0.5 * (first + last)) / figure.get_size_inches()
    axes.set_position((shift[0], shift[1], 1.0, 1.0))
    _pull_labels(figure, axes)


def _pull_labels(figure: Figure, axes: Any) -> None:
    """Puts the names of the axes LABEL_DISTANCE from their lines: by itself the distance grows with the flat box."""
    figure.draw_without_rendering()  # only now the labels have their places
    for axis, wanted in zip((axes.xaxis, axes.yaxis, axes.zaxis), LABEL_DISTANCE, strict=True):
        ends = axes.transData.transform(np.array(axis.line.get_data()).T) / figure.dpi
        middle = ends.mean(axis=0)
        place = axes.transData.transform(axis.label.get_position()) / figure.dpi
        found = float(np.linalg.norm(place - middle))
        if found > 0.0:  # Matplotlib's distance is proportional to the pad plus 21 points
            axis.labelpad = (axis.labelpad + 21.0) * wanted / found - 21.0


def _seen(axes: Any, low: Array, high: Array) -> tuple[Array, Array]:
    """Lower left and upper right corner of the box as seen [inch]."""
    from mpl_toolkits.mplot3d.proj3d import proj_transform  # type: ignore[import-untyped]

    axes.apply_aspect()
    corners = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
    flat = np.array(proj_transform(*corners.T, axes.get_proj())[:2]).T
    inches = axes.transData.transform(flat) / axes.figure.dpi
    return inches.min(axis=0), inches.max(axis=0)


def add_ground(axes: Any, surface: Array, low: Array, high: Array) -> None:
    """Grid lines at the ticks of x and y, and the shadow of the robot straight below it."""
    from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection  # type: ignore[import-untyped]

    z = low[2]
    if len(surface):
        shadow = surface.copy()
        shadow[..., 2] = z
        look: dict[str, Any] = {"facecolors": SHADOW, "edgecolors": SHADOW, "linewidths": 0.4}
        axes.add_collection3d(Poly3DCollection(shadow, zorder=1, clip_on=False, **look))
    xs = [x for x in axes.get_xticks() if low[0] <= x <= high[0]]
    ys = [y for y in axes.get_yticks() if low[1] <= y <= high[1]]
    lines = [[(x, low[1], z), (x, high[1], z)] for x in (*xs, low[0], high[0])]
    lines += [[(low[0], y, z), (high[0], y, z)] for y in (*ys, low[1], high[1])]
    axes.add_collection3d(Line3DCollection(lines, colors=GROUND, linewidths=0.7, zorder=2, clip_on=False))
