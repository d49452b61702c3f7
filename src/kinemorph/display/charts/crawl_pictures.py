"""A picture of a crawling organism: its path from above, its joint angles, and its torques with their limits.

save(draw_crawl(run), "crawl.png")
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.display.canvas import INK, LINES, PALE, Figure, blank, plain_axes
from kinemorph.display.looks.poses import Poses
from kinemorph.errors import UnsupportedError
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.robot import Robot
from kinemorph.model.shapes import Box, Cylinder, Shape
from kinemorph.simulation.results.trajectory import Trajectory

STANDS = 5  # number of times at which the organism is drawn along its path
SMALL = 0.25  # shapes smaller than this fraction of the largest one of their body are not drawn
ROUND = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)


def center_of_mass_path(robot: Robot, q: Array) -> Array:
    """The centers of mass [m] of a robot, shape (n, 3), in the configurations q, shape (n, nq)."""
    poses = Poses(robot, q)
    total = np.zeros((len(q), 3))
    masses = [float(evaluate(body.mass)) for body in robot.bodies]
    for body, mass in zip(robot.bodies, masses, strict=True):
        total += mass * (poses.R[body.name] @ np.array(evaluate_all(body.com), dtype=float) + poses.p[body.name])
    return total / sum(masses)


def draw_crawl(run: Trajectory, torques: str = "drive", *, title: str = "", until: float = 10.0) -> Figure:
    """A figure of an organism's run in three plots: its path, its joint angles, and its joint torques with limits.

    The path of the center of mass is seen from above, with the organism at equally spaced times. Torques are those of
    the controller named `torques`. Angles and torques are plotted for the first `until` [s], where single steps can be
    seen.
    """
    robot = run.segments[-1].plant.robot
    if robot is None:
        raise UnsupportedError(f"'{run.name}' has no robot, so there is no path to draw. Pass the run of an organism.")
    names = [name.removeprefix(f"{torques}.") for name in run.columns if name.startswith(f"{torques}.")]
    width, height = np.ptp(run.q[:, robot.q_slice(robot.joints[0].name)][:, :2], axis=0)
    figure = blank(11.0, 6.0)
    above, angles, efforts = _panels(figure, wide=bool(width > 2.0 * height))
    _draw_way(above, robot, run)
    shown = run.t <= run.t[0] + until
    labels = [name.removesuffix("_hinge") for name in names]
    for k, (name, label) in enumerate(zip(names, labels, strict=True)):
        look: dict[str, Any] = {"color": LINES[k % len(LINES)], "linewidth": 1.0, "label": label}
        angles.plot(run.t[shown], np.degrees(run[f"q.{name}"][shown]), **look)
        efforts.plot(run.t[shown], run[f"{torques}.{name}"][shown], **look)
    for limit in {float(evaluate(x)) for name in names for x in robot.joint(name).effort}:
        for sign in (-1.0, 1.0):
            efforts.axhline(sign * limit, color=INK, linewidth=0.9, linestyle=(0, (5, 3)))
    angles.set(ylabel="angle [deg]", xlabel="time [s]")
    efforts.set(ylabel="torque [N m]", xlabel="time [s]")
    figure.legend(
        handles=angles.lines, ncols=len(names) + 1, fontsize=8, frameon=False, loc="upper right",
        bbox_to_anchor=(0.985, 0.99), handlelength=1.2, columnspacing=1.1,
    )  # fmt: skip
    for axes in (above, angles, efforts):
        plain_axes(axes)
    if title:
        figure.suptitle(title, color=INK, fontsize=13, x=0.02, y=0.975, ha="left")
    return figure


def _panels(figure: Figure, wide: bool) -> tuple[Any, Any, Any]:
    """The axes of path, angles and torques; the path is above the curves where it is wide, else beside them."""
    if wide:
        places = ((0.07, 0.48, 0.91, 0.42), (0.07, 0.08, 0.42, 0.27), (0.56, 0.08, 0.42, 0.27))
    else:
        places = ((0.07, 0.09, 0.43, 0.78), (0.58, 0.54, 0.4, 0.34), (0.58, 0.09, 0.4, 0.34))
    above, angles = (figure.add_axes(place) for place in places[:2])
    return above, angles, figure.add_axes(places[2], sharex=angles)


# ── view from above ───────────────────────────────────────────────────────────────────────────────────────────────────


def _draw_way(axes: Any, robot: Robot, run: Trajectory) -> None:
    """Draws the organism at equally spaced times, earlier ones paler, and the path of its center of mass."""
    from matplotlib.collections import PolyCollection

    path = center_of_mass_path(robot, run.q)
    moments = np.linspace(0, len(run.t) - 1, STANDS).round().astype(int)
    poses = Poses(robot, run.q[moments])
    for number, moment in enumerate(moments):
        now = number == len(moments) - 1
        fade = 0.82 * (1.0 - number / (len(moments) - 1)) ** 0.6
        outlines, colors = _outlines(robot, poses, number)
        edge = (0.13,) * 3 if now else (0.45 + 0.45 * fade,) * 3
        faces = fade + (1.0 - fade) * colors
        axes.add_collection(
            PolyCollection(outlines, facecolors=faces, edgecolors=[edge], linewidths=0.5, zorder=2 + number)
        )
        axes.annotate(
            f"{run.t[moment]:.0f} s", path[moment, :2], (0, -3), textcoords="offset points", ha="center", va="top",
            fontsize=8, color=INK if now else PALE, zorder=40, fontweight="bold" if now else "normal",
            bbox={"boxstyle": "round,pad=0.12", "facecolor": "white", "edgecolor": "none", "alpha": 0.75},
        )  # fmt: skip
    axes.plot(*path[:, :2].T, color=LINES[1], linewidth=1.6, zorder=30)
    axes.plot(*path[moments, :2].T, "o", color=LINES[1], markersize=3.5, zorder=31)
    gone = float(np.linalg.norm(path[-1, :2] - path[0, :2]))
    axes.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
    axes.set_title(f"{gone:.2f} m in {run.t[-1] - run.t[0]:.0f} s, seen from above", fontsize=10, color=INK)
    axes.margins(0.06)


def _outlines(robot: Robot, poses: Poses, number: int) -> tuple[list[Array], Array]:
    """The boxes and cylinders of a robot seen from above: polygons (k, 2) [m] and colors (m, 3), the highest last.

    `number` is the index of the configuration in `poses`. Shapes smaller than SMALL are left out.
    """
    from scipy.spatial import ConvexHull

    found: list[tuple[float, Array, Array]] = []
    for body in robot.bodies:
        R, p = poses.R[body.name][number], poses.p[body.name][number]
        corners = [(shape, _corners(shape)) for shape in body.shapes]
        largest = max((float(np.ptp(points, axis=0).max()) for _, points in corners if len(points)), default=0.0)
        for shape, own in corners:
            if len(own) and np.ptp(own, axis=0).max() > SMALL * largest:
                S = np.array(shape.placement.R, dtype=float)
                points = (own @ S.T + np.array(shape.placement.p, dtype=float)) @ R.T + p
                hull = ConvexHull(points[:, :2], qhull_options="QJ").vertices
                found.append((float(points[:, 2].max()), points[hull, :2], np.array(shape.color[:3], dtype=float)))
    found.sort(key=lambda row: row[0])
    return [outline for _, outline, _ in found], np.array([color for *_, color in found])


def _corners(shape: Shape) -> Array:
    """The corners of a box, or points on the edges of a cylinder, in the shape's frame, (n, 3) [m]; none otherwise."""
    if isinstance(shape, Box):
        signs: Array = np.array(list(product((-0.5, 0.5), repeat=3)))
        box: Array = signs * np.array(evaluate_all(shape.size), dtype=float)
        return box
    if isinstance(shape, Cylinder):
        radius, half = float(evaluate(shape.radius)), 0.5 * float(evaluate(shape.length))
        x, y = radius * np.cos(ROUND), radius * np.sin(ROUND)
        return np.concatenate([np.column_stack([x, y, np.full(len(ROUND), z)]) for z in (-half, half)])
    return np.zeros((0, 3))
