"""Pictures of programs: the expression graph, and the number of live values during its evaluation.

In a graph, inputs are at the left, outputs at the right, and every edge points to the right, from a value to the
operation that uses it. A minus on an edge says that the value is negated, which costs no operation. Where the order of
the arguments matters (`-`, `/`, `where`, ...), the first one enters at the top.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.codegen.graphs.graph import LEAVES
from kinemorph.codegen.graphs.program import Program, as_program, entry_names
from kinemorph.codegen.graphs.schedule import last_uses, plan
from kinemorph.display.canvas import GROUND, INK, PALE, PALETTE, RGB, Figure, blank, legible
from kinemorph.display.charts.figures import OP_GROUPS
from kinemorph.display.charts.graph_layout import Layout, layered
from kinemorph.errors import UnsupportedError

LIMIT = 60  # nodes of a graph that is still readable
SYMBOLS = {"add": "+", "sub": "−", "mul": "×", "div": "/", "neg": "−", "sqrt": "√", "lt": "<", "le": "≤", "eq": "="}
COMMUTATIVE = frozenset({"add", "mul", "min", "max", "eq"})
# operations have the colors of their bars in draw_op_counts
OP_COLORS = {op: color for color, ops in zip(PALETTE, OP_GROUPS.values(), strict=False) for op in ops}
OTHER_COLOR = PALETTE[len(OP_GROUPS)]
MARKED = PALETTE[5]  # brick, which no group of operations has
NUMBER: RGB = (0.93, 0.94, 0.95)
PAPER: RGB = (1.0, 1.0, 1.0)
GRAY: RGB = (0.84, 0.86, 0.88)

# lengths in inches
ROW, GAP, MARGIN = 0.44, 0.5, 0.25  # distance of rows, gap between columns, margin
BOX, LETTER = 0.29, 0.083  # height of a box, width of a letter in it
HEADING, CAPTION = 0.5, 0.36
NARROWEST = 4.2
FONT = 10.0  # [pt]


# ── which nodes are new ───────────────────────────────────────────────────────────────────────────────────────────────


def new_nodes(program: Program, before: Program) -> frozenset[int]:
    """The ids of the nodes of `program` whose expression no node of `before` has; inputs are compared by name."""
    known: dict[Any, int] = {}
    seen = set(_meanings(before, known).values())
    return frozenset(i for i, meaning in _meanings(program, known).items() if meaning not in seen)


def _meanings(program: Program, known: dict[Any, int]) -> dict[int, int]:
    """{node id: number of its expression}, where equal expressions have equal numbers.

    `known` maps expressions to numbers and is extended, so that the graphs of several programs can be compared.
    """
    nodes, names = program.graph.nodes, _entries(program.inputs)
    found: dict[int, int] = {}
    for i in program.order:
        op, *rest = nodes[i]
        if op == "input":
            rest = [names[rest[0]]]
        elif op != "const":
            rest = [(found[abs(ref)], ref < 0) for ref in rest]
            rest = sorted(rest) if op in COMMUTATIVE else rest
        found[i] = known.setdefault((op, *rest), len(known))
    return found


# ── the graph ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class _Vertex:
    """A node or an output as drawn. `sources` are (index of a vertex that it uses, whether that value is negated)."""

    text: str
    fill: RGB
    outline: str | RGB
    ink: str
    circle: bool
    sources: Sequence[tuple[int, bool]]
    ordered: bool  # whether the order of the sources matters
    pale: bool  # whether no output depends on it

    @property
    def width(self) -> float:
        """The width of the vertex's box [inch]."""
        return max(BOX, LETTER * len(self.text) + 0.14)


def draw_graph(
    program: Program,
    *,
    highlight: Collection[int] | None = None,
    unused: bool = False,
    names: Mapping[str, str] | None = None,
    title: str | None = None,
    limit: int = LIMIT,
) -> Figure:
    """A figure of the expression graph of a program with at most `limit` nodes.

    `highlight`   ids of nodes to draw in a color, all others in gray (see `new_nodes`)
    `unused`      also draws traced nodes on which no output depends, in pale lines
    `names`       other names of entries of inputs and outputs: `{"p[0]": "m"}`
    """
    program = as_program(program, "draw_graph")
    ids = sorted({*program.order, *range(1, len(program.graph))}) if unused else program.order
    if len(ids) > limit:
        raise UnsupportedError(
            f"program '{program.name}': its graph has {len(ids)} nodes; expected at most {limit} for a readable "
            "picture. Draw a smaller function or robot, print it with format_program, or raise `limit`."
        )
    vertices = [*_node_vertices(program, ids, highlight, names or {}), *_output_vertices(program, ids, names or {})]
    first = [k for k, i in enumerate(ids) if program.graph.nodes[i][0] == "input"]
    edges = [(source, k) for k, vertex in enumerate(vertices) for source, _ in vertex.sources]
    last, ordered = range(len(ids), len(vertices)), [k for k, vertex in enumerate(vertices) if vertex.ordered]
    layout = layered(len(vertices), edges, distance=ROW, first=first, last=last, ordered=ordered)
    pale = sum(vertex.pale and bool(vertex.sources) for vertex in vertices)
    caption = f"{program.ops} operations" + (f"; pale: {pale} that no output needs" if pale else "")
    return _draw(vertices, layout, f"graph of {program.name}" if title is None else title, caption)


def _entries(ports: Sequence[Any]) -> list[str]:
    return [name for port in ports for name in entry_names(port)]


def _node_vertices(
    program: Program, ids: Sequence[int], highlight: Collection[int] | None, words: Mapping[str, str]
) -> list[_Vertex]:
    names, needed, at = _entries(program.inputs), set(program.order), {i: k for k, i in enumerate(ids)}
    vertices = []
    for i in ids:
        op, *args = program.graph.nodes[i]
        fill: RGB
        if op == "const":
            text, fill, outline = f"{args[0]:.6g}", NUMBER, NUMBER
        elif op == "input":
            text, fill, outline = words.get(names[args[0]], names[args[0]]), PAPER, PALETTE[0]
        else:
            text = SYMBOLS.get(op, op) if isinstance(op, str) else op.label
            fill = outline = OP_COLORS.get(op, OTHER_COLOR) if isinstance(op, str) else OTHER_COLOR
        if highlight is not None and op not in LEAVES:
            fill = outline = MARKED if i in highlight else GRAY
        pale = i not in needed
        if pale:
            fill, outline = PAPER, GRAY
        sources = [] if op in LEAVES else [(at[abs(ref)], ref < 0) for ref in args]
        ink = PALE if pale else legible(fill)
        circle = len(text) == 1 and op not in LEAVES
        vertices.append(_Vertex(text, fill, outline, ink, circle, sources, op not in COMMUTATIVE, pale))
    return vertices


def _output_vertices(program: Program, ids: Sequence[int], words: Mapping[str, str]) -> list[_Vertex]:
    at = {i: k for k, i in enumerate(ids)}
    return [
        _Vertex(words.get(name, name), PAPER, INK, INK, False, [(at[abs(ref)], ref < 0)], True, False)
        for name, ref in zip(_entries(program.outputs), program.refs, strict=True)
    ]


def _draw(vertices: Sequence[_Vertex], layout: Layout, title: str, caption: str) -> Figure:
    """The figure of vertices in a layout; its axes are in inches from the upper left corner."""
    widths = [max((vertices[v].width for v in column if v < len(vertices)), default=0.0) for column in layout.columns]
    bodies = sum(widths) + GAP * max(len(widths) - 1, 0)
    width = max(bodies + 2 * MARGIN, NARROWEST, 0.1 * len(title) + 0.5)
    height = max(layout.heights.values(), default=0.0) + BOX + 2 * MARGIN + HEADING + CAPTION
    figure = blank(width, height)
    axes: Any = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_xlim(0.0, width)
    axes.set_ylim(height, 0.0)
    axes.axis("off")
    spans: dict[int, tuple[float, float]] = {}  # left and right end of every vertex and bend
    left = 0.5 * (width - bodies)
    for column, room in zip(layout.columns, widths, strict=True):
        for v in column:
            half = 0.5 * (vertices[v].width if v < len(vertices) else room)
            spans[v] = (left + 0.5 * room - half, left + 0.5 * room + half)
        left += room + GAP
    rows = {v: y + HEADING + MARGIN + 0.5 * BOX for v, y in layout.heights.items()}
    number = 0
    for k, vertex in enumerate(vertices):
        ways = []
        for source, negative in vertex.sources:
            ways.append(([source, *layout.bends[number]], negative))
            number += 1
        if not vertex.ordered:  # edges enter in the order of their heights
            ways.sort(key=lambda way: (rows[way[0][-1]], rows[way[0][0]]))
        for place, (way, negative) in enumerate(ways):
            port = rows[k] + 0.6 * BOX * ((place + 0.5) / len(ways) - 0.5)
            points = [(x, rows[v]) for v in way for x in spans[v]][1:]
            _add_edge(axes, [*points, (spans[k][0], port)], negative, pale=vertex.pale)
    for k, vertex in enumerate(vertices):
        _add_box(axes, vertex, spans[k], rows[k])
    figure.text(0.5, 1.0 - 0.16 / height, title, ha="center", va="top", fontsize=13, color=INK)
    figure.text(0.5, 0.12 / height, caption, ha="center", va="bottom", fontsize=9, color=PALE)
    return figure


def _add_box(axes: Any, vertex: _Vertex, span: tuple[float, float], y: float) -> None:
    from matplotlib.patches import Circle, FancyBboxPatch, Patch

    left, right = span
    middle = 0.5 * (left + right)
    look: dict[str, Any] = {"facecolor": vertex.fill, "edgecolor": vertex.outline, "zorder": 3}
    box: Patch = Circle((middle, y), 0.5 * BOX, **look)
    if not vertex.circle:
        box = FancyBboxPatch((left, y - 0.5 * BOX), right - left, BOX, "round,pad=0,rounding_size=0.07", **look)
    box.set_gid("node")
    axes.add_patch(box)
    axes.text(middle, y, vertex.text, ha="center", va="center_baseline", fontsize=FONT, color=vertex.ink, zorder=4)


def _add_edge(axes: Any, points: Sequence[tuple[float, float]], negative: bool, *, pale: bool) -> None:
    """Draws a smooth arrow through points, horizontal at each of them, with a minus before its head if `negative`.

    `pale` is for edges between unused nodes.
    """
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    knots, codes = [points[0]], [Path.MOVETO]
    for (x0, y0), (x1, y1) in pairwise(points):
        middle = 0.5 * (x0 + x1)
        knots += [(middle, y0), (middle, y1), (x1, y1)]
        codes += [Path.CURVE4] * 3
    color = GROUND if pale else PALE
    look: dict[str, Any] = {"color": color, "linewidth": 1.1, "zorder": 1 if pale else 2}
    arrow = FancyArrowPatch(path=Path(knots, codes), arrowstyle="-|>,head_length=3.2,head_width=1.6", **look)
    arrow.set_gid("edge")
    axes.add_patch(arrow)
    if negative:
        x, y = points[-1]
        axes.plot([x - 0.15], [y], "o", markersize=8.5, markerfacecolor="white", markeredgecolor=color, zorder=3)
        axes.text(x - 0.15, y, "−", ha="center", va="center_baseline", fontsize=9, color=INK, zorder=4)


# ── live values ───────────────────────────────────────────────────────────────────────────────────────────────────────


def values_alive(program: Program, order: list[int]) -> npt.NDArray[np.intp]:
    """The number of live values before each node of `order` and at its end, shape (len(order) + 1,).

    A value is live when it has been computed and will still be used.
    """
    last, places = last_uses(program, order), np.arange(len(order) + 1)
    done = np.searchsorted(np.sort([last[i] for i in order]), places)  # number of values whose last use is before
    return places - done


def draw_liveness(program: Program, *, title: str | None = None) -> Figure:
    """A figure of the number of live values over the operations of a program, with the borders of its chunks."""
    steps = plan(program)
    alive = values_alive(program, [i for chunk in steps.chunks for i in chunk])
    figure = blank(7.4, 3.6)
    axes: Any = figure.add_axes((0.1, 0.17, 0.86, 0.6))
    axes.fill_between(np.arange(len(alive)), alive, step="post", color=PALETTE[2], alpha=0.35, linewidth=0)
    axes.step(np.arange(len(alive)), alive, where="post", color=PALETTE[2], linewidth=1.0)
    top = 1.18 * max(alive.max(), 1)
    borders = np.cumsum([0, *(len(chunk) for chunk in steps.chunks)])
    chunk, cross = ("chunk ", " cross") if len(steps.chunks) <= 6 else ("", "")  # many chunks leave no room for words
    for number, (start, end) in enumerate(pairwise(borders)):
        label = f"{chunk}{number}\n{end - start:,}"
        axes.text(0.5 * (start + end), 0.985 * top, label, ha="center", va="top", fontsize=8, color=PALE)
    for border in borders[1:-1]:
        axes.axvline(border, color=PALETTE[5], linewidth=1.0, linestyle="--")
        axes.plot([border], [alive[border]], "o", color=PALETTE[5], markersize=4)
        axes.text(border, 0.08 * top, f" {alive[border]}{cross}", fontsize=8, color=PALETTE[5])
    axes.set_xlim(0, max(len(alive) - 1, 1))
    axes.set_ylim(0, top)
    axes.set_xlabel("operations carried out", fontsize=9, color=INK)
    axes.set_ylabel("values still to be read", fontsize=9, color=INK)
    axes.tick_params(labelsize=8, colors=INK, length=2)
    axes.spines[["top", "right"]].set_visible(False)
    pieces = f"{len(steps.chunks)} chunks" if len(steps.chunks) > 1 else "one chunk"
    caption = f"{len(alive) - 1:,} operations in {pieces}, {steps.scratch} slots of scratch"
    heading = f"values alive in {program.name}" if title is None else title
    figure.text(0.5, 0.965, heading, ha="center", va="top", fontsize=13, color=INK)
    figure.text(0.5, 0.885, caption, ha="center", va="top", fontsize=9, color=PALE)
    return figure
