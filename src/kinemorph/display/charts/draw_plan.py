"""The plan of an assembly: its modules seen from above, with letters, sides, hinges and dockings.

A module is a box with the letter of its kind and its name. A side with a port has a short thick line, orange at the
front, and its number, counted as on a cube. A dashed line is a horizontal hinge axis, a ring a vertical one. Docked
ports are connected by a dark bar, with a diamond and a letter where a joint module is between them. The base has a
strong outline. An assembly that is not flat gets a 3-D picture instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import Pose, act, compose
from kinemorph.display.canvas import INK, PALE, Figure, blank, said, save
from kinemorph.model.modules.assembly import Assembly, Module, as_assembly
from kinemorph.model.modules.catalog import BLUE, SAND
from kinemorph.model.modules.cube_shapes import SILVER
from kinemorph.model.shapes import Color

FLAT = 0.05  # largest tilt [rad] and height difference, as a fraction of the pitch, of a flat assembly
COLORS: dict[str, Color] = {"B": SILVER, "S": BLUE, "W": SAND, "L": SAND, "K": BLUE}
OTHERS: tuple[Color, ...] = ((0.70, 0.80, 0.72), (0.84, 0.74, 0.82), (0.88, 0.83, 0.62))
FRONT, BASE, BAR = "#d9772b", "#b3261e", "#22262b"
BODY = 0.45  # half the edge of a module's box over its pitch, which leaves a gap for the dockings
MOST = (14.0, 11.0)  # largest picture [inch]
LARGE = 0.95  # largest size of one pitch in the picture [inch]


def draw_plan(assembly: Assembly, *, title: str | None = None, path: Path | str | None = None) -> Figure:
    """A figure of an assembly from above in its initial configuration, with x to the right and y upward.

    An assembly that is not flat gets a 3-D picture. `path` is a file to write, .png, .svg or .pdf.
    """
    assembly = as_assembly(assembly)
    poses = assembly.poses()
    name = assembly.name.replace("_", " ")
    counts = {"n": len(assembly.modules), "m": len(assembly.dockings), "k": len(assembly.organisms)}
    told = [said("modules: {n}, dockings: {m}, organisms: {k}", **counts), said("base: {name}", name=assembly.base)]
    caption = "; ".join(told) if assembly.modules else said("no modules")
    heading = said("plan of {name}", name=name) if title is None else title
    if assembly.modules and not is_flat(assembly, poses):
        figure = _drawing(assembly, f"{name}: {caption}" if title is None else title)
    else:
        figure = _plan(assembly, poses, heading, caption)
    if path is not None:
        save(figure, path)
    return figure


def is_flat(assembly: Assembly, poses: Mapping[str, Pose] | None = None) -> bool:
    """Whether all modules of an assembly are upright and at one height, within FLAT."""
    poses = assembly.poses() if poses is None else poses
    feet = []
    for module in assembly.modules:
        T = poses[module.name]
        if abs(float(T.R[2][2]) - 1.0) > 0.5 * FLAT**2:
            return False
        feet.append((float(T.p[2]) - 0.5 * module.type.size[2]) / module.type.pitch)
    return max(feet, default=0.0) - min(feet, default=0.0) <= FLAT


def _drawing(assembly: Assembly, title: str) -> Figure:
    from kinemorph.display.painting.draw import draw

    system = assembly.system()
    return draw(system, system.settings.q, title=title)


def _plan(assembly: Assembly, poses: Mapping[str, Pose], heading: str, caption: str) -> Figure:
    cell = min((module.type.pitch for module in assembly.modules), default=0.1)
    corners = [corner for module in assembly.modules for corner in _box(module, poses[module.name], 0.5)] or [
        (0.0, 0.0)
    ]
    low, high = np.min(corners, axis=0), np.max(corners, axis=0)
    span = (high - low) / cell + 0.3
    top = 0.75  # [inch] for the heading
    inch = float(min(LARGE, MOST[0] / span[0], (MOST[1] - top) / span[1]))
    width, height = max(span[0] * inch, 3.6), span[1] * inch + top
    figure = blank(width, height)
    axes: Any = figure.add_axes((0.0, 0.0, 1.0, 1.0 - top / height))
    axes.set_axis_off()
    middle = 0.5 * (low + high)
    half = 0.5 * np.array([width, height - top]) / inch * cell
    axes.set_xlim(middle[0] - half[0], middle[0] + half[0])
    axes.set_ylim(middle[1] - half[1], middle[1] + half[1])
    scale = inch / LARGE
    for docking in assembly.dockings:
        _bar(axes, assembly, poses, docking.name, inch)
    kinds = list(dict.fromkeys(module.type.letter for module in assembly.modules))
    others = [letter for letter in kinds if letter not in COLORS]
    for module in assembly.modules:
        letter = module.type.letter
        color = lighter(COLORS.get(letter) or OTHERS[others.index(letter) % len(OTHERS)])
        _module(axes, module, poses[module.name], color, module.name == assembly.base, scale)
    left = 0.14 / width
    figure.text(left, 1.0 - 0.28 / height, heading, fontsize=12, color=INK, va="center")
    figure.text(left, 1.0 - 0.54 / height, caption, fontsize=8, color=PALE, va="center")
    return figure


def lighter(color: Color) -> Color:
    """A lighter version of a color, on which letters are readable."""
    r, g, b = (x + 0.4 * (1.0 - x) for x in color[:3])
    return (r, g, b)


def _module(axes: Any, module: Module, T: Pose, color: Color, base: bool, scale: float) -> None:
    """Draws one module at the pose T: its box, ports, numbers of sides, hinge, letter and name.

    `base` says whether it is the base; lines and letters have `scale` times their usual size.
    """
    kind, cell = module.type, module.type.pitch
    outline = {"edgecolor": BASE, "linewidth": 2.2 * scale} if base else {"edgecolor": PALE, "linewidth": 0.9 * scale}
    axes.fill(*np.transpose(_box(module, T, BODY)), facecolor=color[:3], zorder=2, joinstyle="round", **outline)
    _hinge(axes, module, T, scale)
    for side in kind.sides:
        pose = compose(T, kind.port_pose(side))
        out = np.array([float(pose.R[0][2]), float(pose.R[1][2])])
        if float(np.linalg.norm(out)) < 0.5:
            continue  # a port on top or at the bottom
        across = np.array([-out[1], out[0]])
        at = np.array([float(pose.p[0]), float(pose.p[1])]) - (0.5 - BODY) * cell * out
        shade = FRONT if side == 3 else INK
        ends = np.array([at - 0.17 * cell * across, at + 0.17 * cell * across])
        axes.plot(*ends.T, color=shade, linewidth=3.2 * scale, solid_capstyle="butt", zorder=3)
        number = at - 0.1 * cell * out - 0.13 * cell * across  # beside the hinge axis, which may end here too
        axes.text(*number, str(side), fontsize=7.5 * scale, color=INK, ha="center", va="center", zorder=5)
    x, y = float(T.p[0]), float(T.p[1])
    plate = {"boxstyle": "round,pad=0.12", "facecolor": color[:3], "edgecolor": "none"}
    axes.text(
        x, y - 0.13 * cell, module.name, fontsize=8 * scale, color=BASE if base else INK, ha="center", va="center",
        zorder=4, bbox=plate,
    )  # fmt: skip
    axes.text(
        x, y + 0.08 * cell, kind.letter, fontsize=13 * scale, color=INK, ha="center", va="center", weight="bold",
        zorder=4, bbox=plate,
    )  # fmt: skip


def _hinge(axes: Any, module: Module, T: Pose, scale: float) -> None:
    """Draws the hinge axis of a module at the pose T: a dashed line, or a ring where it is vertical.

    Lines have `scale` times their usual width.
    """
    kind = module.type
    if not kind.hinge:
        return
    joint = kind.joint(kind.hinge)
    frame = compose(T, kind.part_poses[joint.parent], joint.placement)
    axis = np.array([sum(float(frame.R[r][c]) * float(joint.axis[c]) for c in range(3)) for r in range(2)])
    at = np.array([float(frame.p[0]), float(frame.p[1])])
    style = {"color": INK, "linewidth": 1.0 * scale, "zorder": 2.5}
    if float(np.linalg.norm(axis)) < 0.5:
        axes.plot(*at, marker="o", markersize=16 * scale, markerfacecolor="none", markeredgecolor=INK, zorder=2.5)
        return
    across = [abs(float(sum(T.R[r][c] * axis[r] for r in range(2)))) * kind.size[c] for c in range(2)]
    reach = (0.5 * max(across) - (0.5 - BODY) * kind.pitch) * axis
    axes.plot(*np.array([at - reach, at + reach]).T, linestyle=(0, (4, 2.5)), **style)


def _bar(axes: Any, assembly: Assembly, poses: Mapping[str, Pose], name: str, inch: float) -> None:
    """Draws the docking `name` as a bar between its ports; `inch` is the size of one pitch in the picture [inch]."""
    docking = next(d for d in assembly.dockings if d.name == name)
    ends = []
    for module, side in docking.ends:
        kind = assembly.module(module).type
        pose = compose(poses[module], kind.port_pose(side))
        inward = act(pose, (0.0, 0.0, -(0.5 - BODY) * kind.pitch))
        ends.append([float(inward[0]), float(inward[1])])
    axes.plot(*np.array(ends).T, color=BAR, linewidth=0.16 * inch * 72, solid_capstyle="butt", zorder=1)
    if docking.joint is not None:
        x, y = np.mean(ends, axis=0)
        axes.plot(x, y, marker="D", markersize=0.2 * inch * 72, markerfacecolor="white", markeredgecolor=BAR, zorder=6)
        letter = docking.joint.letter
        axes.text(x, y, letter, fontsize=8 * inch / LARGE, color=INK, ha="center", va="center", zorder=7)


def _box(module: Module, T: Pose, half: float) -> Array:
    """The corners (4, 2) [m] of the box that shows a module at the pose T, seen from above.

    `half` is half the edge of a drawn box, divided by the pitch of the grid; 0.5 leaves no gap between modules.
    """
    gap = (0.5 - half) * module.type.pitch
    x, y = (0.5 * float(edge) - gap for edge in module.type.size[:2])
    corners = [act(T, (a * x, b * y, 0.0)) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    return np.array([[float(p[0]), float(p[1])] for p in corners])
