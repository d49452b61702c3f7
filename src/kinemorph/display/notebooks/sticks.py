"""A robot as sticks: lines from joint to joint in the colors of its bodies, where shapes would take long to paint.

Painted point by point by Pillow, four times as fine as asked for and then scaled down: thousands of bodies take a
fraction of a second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.display.canvas import depth_colors
from kinemorph.display.looks.robot_surface import Lens, Poses
from kinemorph.model.parameter import evaluate_all
from kinemorph.model.robot import Robot

if TYPE_CHECKING:
    from PIL.Image import Image

FINER = 4
FADED = 0.72  # toward white, of poses before the last
WIDTH = 3.0  # of a line [px]


def paint_sticks(robot: Robot, poses: Poses, lens: Lens, size: tuple[int, int]) -> Image:
    """The robot in all of its poses, the last one over the paler others; `size` [px] is the room for the picture."""
    from PIL import Image, ImageDraw

    owners, lines = _sticks(robot)
    palette = depth_colors(robot)
    placed = [lens.seen(_placed(robot, poses, number, owners, lines)) for number in range(poses.count)]
    points = np.concatenate(placed).reshape(-1, 3)[:, :2]
    low, span = points.min(axis=0), np.ptp(points, axis=0)
    pad = 2.0 * WIDTH
    room = np.array(size, dtype=float) - 2.0 * pad
    scale = float(np.min(room / np.maximum(span, 1e-9 * max(float(span.max()), 1e-9))))
    width, height = np.ceil(span * scale + 2.0 * pad).astype(int).tolist()
    paper = Image.new("RGB", (FINER * width, FINER * height), "white")
    pen = ImageDraw.Draw(paper)
    for number, seen in enumerate(placed):
        fade = 0.0 if number + 1 == len(placed) else FADED
        order = np.argsort(seen[:, :, 2].mean(axis=1), kind="stable")  # the far ones first
        corners = FINER * (pad + scale * (seen[:, :, :2] - low))
        corners[:, :, 1] = FINER * height - corners[:, :, 1]
        for k in order.tolist():
            color = tuple(round(255.0 * (part + (1.0 - part) * fade)) for part in palette[owners[k]])
            ends = [(x, y) for x, y in corners[k].tolist()]
            pen.line(ends, fill=color, width=round(FINER * WIDTH))
            for x, y in ends:  # round ends join what meets there
                half = 0.5 * FINER * WIDTH
                pen.ellipse((x - half, y - half, x + half, y + half), fill=color)
    return paper.resize((width, height), Image.Resampling.BOX)


def _sticks(robot: Robot) -> tuple[list[str], Array]:
    """(body, line (2, 3) [m] in its frame) of every stick: from where a body hangs to all that hangs on it.

    A body on which nothing hangs has a stick to its center of mass and as far beyond.
    """
    ends: dict[str, list[Array]] = {body: [] for body in robot.body_names}
    for joint in (*robot.joints, *robot.loops):
        for body, placement in ((joint.parent, joint.placement), (joint.child, joint.child_placement)):
            if body in ends and joint is not robot.parent_joint.get(body):
                ends[body].append(np.array(evaluate_all(placement).p, dtype=float))
    owners: list[str] = []
    lines: list[Array] = []
    for one in robot.bodies:
        start = np.array(evaluate_all(robot.parent_joint[one.name].child_placement).p, dtype=float)
        center = np.array(evaluate_all(one.com), dtype=float)
        for end in ends[one.name] or [2.0 * center - start]:
            owners.append(one.name)
            lines.append(np.stack([start, end]))
    return owners, np.array(lines)


def _placed(robot: Robot, poses: Poses, number: int, owners: list[str], lines: Array) -> Array:
    """The sticks (n, 2, 3) [m] in the world."""
    place = {name: k for k, name in enumerate(robot.body_names)}
    index = np.array([place[name] for name in owners])
    R = np.stack([poses.R[name][number] for name in robot.body_names])
    p = np.stack([poses.p[name][number] for name in robot.body_names])
    placed: Array = np.einsum("nij,nkj->nki", R[index], lines) + p[index][:, None, :]
    return placed
