"""Pictures of the mass matrix with its zero structure, of operation counts, and of the kinematic tree of a robot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.codegen.graphs.program import Program
from kinemorph.display.canvas import INK, PALE, PALETTE, Figure, blank, depth_colors, legible, said
from kinemorph.model.robot import Robot
from kinemorph.model.topology import WORLD

# operations by kind, as the bars show them
OP_GROUPS: dict[str, tuple[str, ...]] = {
    "add, subtract": ("add", "sub", "neg"),
    "multiply": ("mul",),
    "divide, root": ("div", "sqrt"),
    "sine, cosine": ("sin", "cos"),
}
OTHER = "other"
ZERO_HERE = "#e3e5e8"  # color of entries of the mass matrix that are zero in this configuration, but not in all
VANISHING = 1e-14  # an entry below this fraction of the largest is zero up to rounding
KIND_LETTERS = {
    "revolute": "R", "prismatic": "P", "helical": "H", "cylindrical": "C", "universal": "U", "gimbal": "RRR",
    "spherical": "S", "planar": "E", "point_on_line": "PS", "point_on_plane": "PPS", "free": "free", "fixed": "F",
}  # fmt: skip


def _spoken(robot: Robot) -> str:
    return robot.name.replace("_", " ")


# ── mass matrix ───────────────────────────────────────────────────────────────────────────────────────────────────────


def structure(program: Program) -> npt.NDArray[np.bool_]:
    """Which entries of a program's first output are not the constant zero, in the output's shape."""
    nodes, port = program.graph.nodes, program.outputs[0]
    present = [nodes[abs(ref)] != ("const", 0.0) for ref in program.refs[: port.size]]
    return np.array(present, dtype=bool).reshape(port.shape)


def draw_mass_matrix(robot: Robot, program: Program, M: npt.ArrayLike, *, title: str | None = None) -> Figure:
    """A figure of the mass matrix M, shape (nv, nv): the colors are |M| on a logarithmic scale.

    White entries are zero in every configuration, according to `program`, which is `dynamics.mass_matrix.program`. Gray
    entries are zero only in the configuration of M.
    """
    from matplotlib.colors import ListedColormap, LogNorm

    values, present = np.abs(np.asarray(M, dtype=float)), structure(program)
    largest = float(values[present].max()) if present.any() else 0.0
    vanishing = present & (values <= VANISHING * largest)
    filled = present & ~vanishing
    shown = np.where(filled, values, np.nan)
    least = max(float(values[filled].min()), 1e-6 * largest) if filled.any() else 0.1
    largest = largest or 1.0
    figure = blank(7.4, 6.4)
    axes = figure.add_axes((0.2, 0.05, 0.62, 0.72))
    axes.imshow(np.where(vanishing, 1.0, np.nan), cmap=ListedColormap([ZERO_HERE]), interpolation="nearest")
    norm = LogNorm(vmin=0.999 * least, vmax=1.001 * largest)
    image = axes.imshow(np.where(shown < least, least, shown), norm=norm, cmap="YlGnBu", interpolation="nearest")
    _label_velocities(axes, robot)
    if robot.nv <= 8:
        _write_entries(axes, np.asarray(M, dtype=float), filled, norm)
    bar = figure.colorbar(image, cax=figure.add_axes((0.85, 0.05, 0.025, 0.72)))
    bar.set_label("|M|  [kg, kg m, kg m²]", color=INK, fontsize=9)
    bar.ax.tick_params(labelsize=8, colors=PALE)
    always, here = int(present.size - present.sum()), int(vanishing.sum())
    caption = (
        f"{robot.nv} × {robot.nv} entries: {int(filled.sum())} not zero, {here} zero only in this pose (gray), "
        f"{always} zero at every configuration (white)"
    )
    heading = f"mass matrix of {_spoken(robot)}" if title is None else title
    figure.text(0.5, 0.965, heading, ha="center", va="top", fontsize=14, color=INK)
    figure.text(0.5, 0.925, caption, ha="center", va="top", fontsize=9, color=PALE)
    return figure


def _label_velocities(axes: Any, robot: Robot) -> None:
    """Labels the axes with the names of velocities (some of them where there are many), and draws lines between
    branches.
    """
    step = max(1, -(-robot.nv // 40))
    marks = list(range(0, robot.nv, step))
    size = float(np.clip(220.0 / max(robot.nv, 1), 5.0, 9.0))
    axes.set_xticks(marks, [robot.v_names[i] for i in marks], rotation=90, fontsize=size)
    axes.set_yticks(marks, [robot.v_names[i] for i in marks], fontsize=size)
    axes.xaxis.tick_top()
    axes.tick_params(length=0, colors=INK)
    for side in axes.spines.values():
        side.set_color(PALE)
    branches = _branch_starts(robot)
    for at in branches:
        axes.axhline(at - 0.5, color=PALE, linewidth=0.5)
        axes.axvline(at - 0.5, color=PALE, linewidth=0.5)


def _branch_starts(robot: Robot) -> list[int]:
    """The indices in v of joints that start a branch: they are not attached to the body of the joint before."""
    starts, previous = [], None
    for joint in robot.joints:
        if joint.motion.nv and previous is not None and joint.parent != previous:
            starts.append(robot.v_slice(joint.name).start)
        previous = joint.child
    return starts


def _write_entries(axes: Any, M: npt.NDArray[np.float64], filled: npt.NDArray[np.bool_], norm: Any) -> None:
    for (i, j), value in np.ndenumerate(M):
        if filled[i, j]:
            dark = norm(max(abs(value), norm.vmin)) > 0.6
            axes.text(j, i, f"{value:.3g}", ha="center", va="center", fontsize=9, color="white" if dark else INK)


# ── operations ────────────────────────────────────────────────────────────────────────────────────────────────────────


def grouped_ops(counts: Mapping[str, int]) -> dict[str, int]:
    """{group: number of operations} for the groups of OP_GROUPS and, last, all other operations."""
    groups = {group: sum(counts.get(op, 0) for op in ops) for group, ops in OP_GROUPS.items()}
    groups[OTHER] = sum(counts.values()) - sum(groups.values())
    return groups


def draw_op_counts(programs: Sequence[Program], *, title: str = "operations per function") -> Figure:
    """A figure with one bar per program, divided by kind of operation, with the total at its end."""
    rows = [grouped_ops(program.op_counts) for program in programs]
    totals = [sum(row.values()) for row in rows]
    names = [program.name.rpartition(".")[2].replace("_", " ") for program in programs]
    height = 1.5 + 0.42 * len(programs)
    figure = blank(7.4, height)
    axes = figure.add_axes((0.27, 0.92 / height, 0.64, 0.42 * len(programs) / height))
    places = np.arange(len(programs))
    left = np.zeros(len(programs))
    for color, group in zip(PALETTE, (*OP_GROUPS, OTHER), strict=False):
        widths = np.array([row[group] for row in rows], dtype=float)
        if widths.any():
            axes.barh(places, widths, left=left, height=0.66, color=color, label=group)
        left += widths
    for place, total in zip(places, totals, strict=True):
        axes.text(total, float(place), f"  {total:,}", va="center", fontsize=9, color=INK)
    axes.set_yticks(places, names, fontsize=9)
    axes.invert_yaxis()
    axes.set_xlim(0.0, 1.14 * max([*totals, 1]))
    axes.set_xlabel("operations", fontsize=9, color=INK)
    axes.tick_params(labelsize=9, colors=INK, length=2)
    axes.spines[["top", "right", "left"]].set_visible(False)
    figure.legend(loc="lower center", ncols=5, fontsize=8, frameon=False)
    figure.suptitle(title, fontsize=13, color=INK, y=1.0 - 0.15 / height, va="top")
    return figure


# ── topology ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def tree_layout(robot: Robot) -> dict[str, tuple[float, float]]:
    """The place (depth, row) of the world and of every body: each leaf has its own row, a parent is centered on its
    children.
    """
    children: dict[str, list[str]] = {name: [] for name in (WORLD, *robot.body_names)}
    for joint in robot.joints:
        children[joint.parent].append(joint.child)
    depths = {WORLD: 0}
    for joint in robot.order:
        depths[joint.child] = depths[joint.parent] + 1
    rows: dict[str, float] = {}
    for name in _tips_first(children):
        below = [rows[child] for child in children[name]]
        rows[name] = 0.5 * (below[0] + below[-1]) if below else float(sum(not children[other] for other in rows))
    return {name: (float(depths[name]), rows[name]) for name in rows}


def _tips_first(children: Mapping[str, Sequence[str]]) -> list[str]:
    """The names of the world and all bodies, each after all of its descendants."""
    order, waiting = [], [WORLD]
    while waiting:
        name = waiting.pop()
        order.append(name)
        waiting += children[name]
    return order[::-1]


def draw_topology(robot: Robot, *, directed: bool = False, upright: bool = False, title: str | None = None) -> Figure:
    """A figure of a robot's tree: bodies as boxes, joints as lines with the letter of their kind, loops dashed.

    With `directed` it is the kinematic graph: each joint is an arrow from its child to its parent, with its name, and
    bodies have their row numbers in `robot.incidence`; the reference vertex, the world, is underlined. The world is at
    the left, with `upright` at the top, which leaves more room for the names of a long chain.
    """
    places, colors = tree_layout(robot), depth_colors(robot)
    if upright:
        places = {name: (y, x) for name, (x, y) in places.items()}
    columns = 1 + max(x for x, _ in places.values())
    rows = 1 + max(y for _, y in places.values())
    numbers = {name: f"{k}  " if directed else "" for k, name in enumerate((WORLD, *robot.body_names))}
    longest = max(10, *(len(numbers[name]) + len(name) for name in places))
    each = max(1.3, 0.085 * longest) if upright else 2.3 if directed else 1.3  # inches of a column
    width = float(np.clip(each * columns, 5.0, 22.0))
    figure = blank(width, float(np.clip(1.2 + (0.36 if upright else 0.5) * rows, 2.4, 16.0)))
    axes = figure.add_axes((0.01, 0.02, 0.98, 0.98 - 0.4 / figure.get_figheight()))
    fontsize = float(np.clip((60.0 if directed else 100.0) * width / columns / longest, 4.5, 9.0))
    small: dict[str, Any] = {"fontsize": fontsize - 1, "zorder": 3}
    for joint in robot.joints:
        (x0, y0), (x1, y1) = places[joint.parent], places[joint.child]
        turns = ([x0, x0, x1, x1], [y0, y0 + 0.5, y0 + 0.5, y1])
        turns = turns if upright else ([x0, x0 + 0.5, x0 + 0.5, x1], [y0, y0, y1, y1])
        axes.plot(*turns, color=PALE, linewidth=1.2, zorder=1)
        if directed:
            axes.plot([x0 + 0.545], [y1], "<", color=PALE, markersize=6.0, zorder=1)
            axes.text(x0 + 0.52, y1 - 0.17, joint.name, va="bottom", ha="left", color=INK, **small)
        else:
            letters = KIND_LETTERS[joint.kind]
            letters = said(letters) if letters in KIND_LETTERS else letters
            beside = (x1 + 0.03, y1 - 0.3) if upright else (x1 - 0.47, y1 - 0.06)
            axes.text(*beside, letters, va="bottom", ha="left", color=INK, **small)
    red = "#b3261e"
    for joint in robot.loops:
        (x0, y0), (x1, y1) = places[joint.child], places[joint.parent]
        style: dict[str, Any] = {"linestyle": "--", "color": red, "connectionstyle": "arc3,rad=-0.35"}
        style["arrowstyle"] = "-|>" if directed else "-"
        if directed:  # the head is outside the box of the parent
            sideways = abs(x1 - x0) > 0.2
            style["shrinkB"] = 12.0 + (0.3 * fontsize * (3 + len(joint.parent)) if sideways else 0.0)
            clear = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
            axes.text(0.5 * (x0 + x1), 0.5 * (y0 + y1) + 0.3, joint.name, ha="center", color=red, bbox=clear, **small)
        axes.annotate("", (x1, y1), (x0, y0), arrowprops=style, zorder=1)
    for name, (x, y) in places.items():
        fill = colors.get(name, (0.3, 0.3, 0.32))
        box = {"boxstyle": "round,pad=0.35", "facecolor": fill, "edgecolor": "none"}
        middle: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": fontsize, "color": legible(fill)}
        axes.text(x, y, f"{numbers[name]}{name}", bbox=box, zorder=2, **middle)
        if directed and name == WORLD:  # the reference vertex is underlined
            axes.text(x, y + 0.06, "_" * (len(name) + 2), zorder=3, **middle)
    axes.set_xlim(-0.6, columns - 0.4)
    axes.set_ylim(rows - 0.3, -0.6)
    axes.axis("off")
    figure.suptitle(
        f"{'kinematic graph' if directed else 'tree'} of {_spoken(robot)}" if title is None else title,
        fontsize=13,
        color=INK,
        y=1.0 - 0.12 / figure.get_figheight(),
        va="top",
    )
    used = dict.fromkeys(joint.kind for joint in robot.joints)
    key = ", ".join(f"{KIND_LETTERS[kind]} {said(kind)}" for kind in used if len(KIND_LETTERS[kind]) == 1)
    key = said("arrows: from the child to the parent") if directed else key
    key = f"{key}, {said('dashed: loop')}" if robot.loops else key
    figure.text(0.5, 0.02, key, ha="center", fontsize=8, color=PALE)
    return figure
