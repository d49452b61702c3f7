"""The graph of an assembly: modules as numbered boxes, dockings as arrows with their sides, as in the paper's Fig. 4.

Modules are placed as seen from above. Where some are above others, the columns are distances from the base instead, and
the rows are paths. Arrows point away from the base; dockings that close a ring are dashed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinemorph.display.canvas import INK, PALE, PALETTE, RGB, Figure, blank, legible, said
from kinemorph.model.modules.assembly import Assembly, as_assembly
from kinemorph.model.modules.dyads import MEANINGS
from kinemorph.model.modules.incidence import RINGS, Column, IncidenceMatrix, assembly_incidence
from kinemorph.model.modules.traversal import Traversal, traverse
from kinemorph.model.topology import Method

Point = tuple[float, float]
STEP, MARGIN, BOX = 0.95, 0.6, 0.4  # distance of modules, margin, edge of a box [inch]
LOWEST, NARROWEST, LINE = 2.0, 4.4, 0.18  # smallest height and width, height of a line of the legend [inch]
OTHER: RGB = (0.4, 0.4, 0.4)
JOINTS = {"R": "revolute joint module", "P": "prismatic joint module"}
WORDS: dict[str, str] = {kind: words for kind, words in (*MEANINGS.items(), *JOINTS.items())}
COLORS: dict[str, RGB] = dict(zip(WORDS, (*PALETTE, OTHER), strict=True))


def draw_modules(
    assembly: Assembly, base: str | None = None, *, method: Method = "dfs", title: str | None = None
) -> Figure:
    """A figure of the directed graph of an assembly from a base module, with sides and classes of its dockings.

    Sides and classes are those of the assembly incidence matrix. `method` is the order of numbering: "dfs" or "bfs".
    """
    assembly = as_assembly(assembly)
    aim = assembly_incidence(assembly, base, method=method)
    places = _places(assembly, traverse(assembly, base, method=method))
    xs, ys = zip(*places.values(), strict=True)
    width = max(STEP * (max(xs) - min(xs)) + 2.0 * MARGIN, NARROWEST)
    kinds = _kinds(aim)
    below = LINE * len(kinds)
    height = max(STEP * (max(ys) - min(ys)) + 2.0 * MARGIN, LOWEST) + below
    figure = blank(width, height)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    middle_x, middle_y = 0.5 * (max(xs) + min(xs)), 0.5 * (max(ys) + min(ys)) - 0.5 * below / STEP
    axes.set_xlim(middle_x - 0.5 * width / STEP, middle_x + 0.5 * width / STEP)
    axes.set_ylim(middle_y - 0.5 * height / STEP, middle_y + 0.5 * height / STEP)
    for column in aim.columns:
        _add_docking(axes, column, places[column.i], places[column.j])
    _add_modules(axes, aim, places)
    named = assembly.name if title is None else title
    axes.text(0.02, 0.985, named, transform=axes.transAxes, va="top", color=INK, fontsize=10, fontweight="bold")
    _add_legend(axes, kinds)
    return figure


def _places(assembly: Assembly, walk: Traversal) -> dict[str, Point]:
    """The places (x, y) of modules in the picture; neighbors are one unit apart."""
    unit = min(module.type.pitch for module in assembly.modules)
    seen = {name: (T.p[0] / unit, T.p[1] / unit) for name, T in assembly.poses(walk.bases[0]).items()}
    spots = {(round(2.0 * x), round(2.0 * y)) for x, y in seen.values()}
    if len(spots) == len(seen):
        return seen
    places: dict[str, Point] = {}
    for row, path in enumerate(walk.paths):
        for column, name in enumerate(path):
            places.setdefault(name, (float(column), -float(row)))
    return places


def _add_docking(axes: Any, column: Column, start: Point, end: Point) -> None:
    """Draws a docking as an arrow from box to box, in the color of its class, with sides at its ends and its name."""
    color = COLORS.get(column.kind, OTHER)
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = max((dx * dx + dy * dy) ** 0.5, 1e-9)
    ux, uy = dx / length, dy / length
    reach = 0.5 * BOX / STEP / max(abs(ux), abs(uy))  # to the edge of a box
    a = (start[0] + reach * ux, start[1] + reach * uy)
    b = (end[0] - reach * ux, end[1] - reach * uy)
    style = "dashed" if column.path == RINGS else "solid"
    arrow = {"arrowstyle": "-|>", "color": color, "linewidth": 1.8, "linestyle": style, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", b, a, arrowprops=arrow)
    side = 0.13  # across the arrow, so that the numbers stand beside it
    for point, sign, text in ((a, 1.0, column.entry(column.i)), (b, -1.0, column.entry(column.j))):
        along = sign * (0.06 + 0.04 * len(text))
        spot = (point[0] + along * ux - side * uy, point[1] + along * uy + side * ux)
        axes.text(*spot, text, ha="center", va="center", color=INK, fontsize=8)
    middle = (0.5 * (a[0] + b[0]) + 1.2 * side * uy, 0.5 * (a[1] + b[1]) - 1.2 * side * ux)
    axes.text(*middle, rf"${column.name[0]}_{{{column.name[1:]}}}$", ha="center", va="center", color=color, fontsize=9)


def _add_modules(axes: Any, aim: IncidenceMatrix, places: dict[str, Point]) -> None:
    from matplotlib.patches import FancyBboxPatch

    kinds = [*dict.fromkeys(row.letter for row in aim.rows)]
    half = 0.5 * BOX / STEP
    for k, row in enumerate(aim.rows):
        x, y = places[row.module]
        fill = (0.22, 0.26, 0.31) if k == 0 else (0.90, 0.92, 0.94)
        shape = f"round,pad=0,rounding_size={0.25 * half}"
        box = FancyBboxPatch((x - half, y - half), 2 * half, 2 * half, shape, facecolor=fill, edgecolor=PALE, zorder=2)
        axes.add_patch(box)
        letter = f" {row.letter}" if len(kinds) > 1 else ""
        text = rf"$v_{{{row.number[1:]}}}${letter}"
        axes.text(x, y, text, ha="center", va="center", color=legible(fill), fontsize=10, zorder=3)


def _kinds(aim: IncidenceMatrix) -> list[str]:
    """The kinds of dockings that occur, each once, dyad classes first."""
    found = {column.kind for column in aim.columns}
    return [*(kind for kind in WORDS if kind in found), *sorted(found - {*WORDS})]


def _add_legend(axes: Any, kinds: Sequence[str]) -> None:
    """Adds a legend of the kinds of dockings in their colors."""
    from matplotlib.lines import Line2D

    words = {kind: said(WORDS.get(kind, "joint module")) for kind in kinds}
    lines = [
        Line2D([], [], color=COLORS.get(kind, OTHER), linewidth=2.0, label=f"{kind}  {words[kind]}") for kind in kinds
    ]
    if lines:
        axes.legend(handles=lines, loc="lower right", frameon=False, fontsize=8)
