"""Pictures of a robot, or of a run at one time, true to scale, with light and shadow, on a ground with a grid.

A picture is rendered by `painter`, as films are, and put into a Matplotlib figure with names and lines over it. Poses
come from the package's kinematics, run on floats: nothing is compiled for a picture.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import IDENTITY, Pose, act
from kinemorph.display.cameras import VIEW, CameraChoice
from kinemorph.display.canvas import INK, Figure, depth_colors, said, save
from kinemorph.display.looks.poses import Poses
from kinemorph.display.looks.postures import closed_posture
from kinemorph.display.painting.painter import Painting, scene_for
from kinemorph.display.scenes.building import scene_of
from kinemorph.display.scenes.easyanim import write_vol
from kinemorph.display.scenes.figures import MANY
from kinemorph.display.scenes.scene import Figure as SceneFigure
from kinemorph.display.scenes.upright import turn_of, upright_robot
from kinemorph.errors import UnsupportedError
from kinemorph.mechanics.constraints.stances import stance
from kinemorph.model.configuration import initial_configuration
from kinemorph.model.parameter import evaluate_all
from kinemorph.model.robot import Robot
from kinemorph.model.system import System, as_robot, configuration_of
from kinemorph.simulation.results.trajectory import Trajectory

USUAL_SIZE = 6.5  # default longer side [inch]
AXIS_COLORS = ("#d1495b", "#3a9d5d", "#2e6fbb")  # x, y, z
COMPASS, COMPASS_AT = 0.28, (0.42, 0.5)  # length of its lines and place of its middle [inch]
JOINT_COLOR = LOOP_COLOR = "#b3261e"
LOOP_NOTE = "dashed ring: a joint that closes a loop"


def draw(
    robot: Robot | System,
    q: npt.ArrayLike | None = None,
    *,
    ghosts: Sequence[npt.ArrayLike] = (),
    joints: bool = False,
    frames: bool | Sequence[str] = False,
    ground: bool = True,
    masses: bool = True,
    title: str | None = None,
    camera: CameraChoice = None,
    size: float | tuple[float, float] | None = None,
    path: Path | str | None = None,
) -> Figure:
    """A picture of a robot at q, shape (nq,) or some coordinates by name: the others close its loops; or the name of a
    start of a system.

    By default a system is drawn where its runs begin, and a robot in its neutral configuration, with the declared
    values of coordinates in position matrices; a robot with loops in one in which they are closed, as on its card.
    `ghosts`   further configurations, drawn pale and behind
    `joints`   also the axes of the joints
    `frames`   also frames, as x-y-z triads with their names: True for all declared ones, or names of frames and bodies
    `ground`   a grid below the robot with its shadow, or the ground of a system
    `masses`   the inertia of bodies without shapes, as translucent cuboids
    `camera`   "front", "back", "left", "right", "top", "iso", or (elevation, azimuth) [deg]
    `size`     width and height, or the longer side [inch]
    `path`     a file that the picture is written to as well, such as "arm.png", "arm.svg" or "arm.pdf"; with
               "arm.vol" the shapes instead, for EasyDyn's viewer EasyAnim

    Bodies without shapes get simple ones; a joint that closes a loop gets a dashed ring. Springs and motors of a system
    are shown as in the viewer. Returns a Matplotlib Figure without a window, which its method `savefig` writes too. Its
    axes are in meters to the right and upward across the line of sight; with camera="right" they are x and z.
    """
    model, robot = robot, as_robot(robot)
    usual = stance(robot) if robot.loops else initial_configuration(robot)
    if isinstance(model, System) and model.settings.q:
        usual = np.array(model.settings.q)
    rows = np.stack([closed_posture(robot, configuration_of(model, one), tuple(usual)) for one in (*ghosts, q)])
    upward = upright_robot(robot)
    poses = Poses(upward, rows).at(len(rows) - 1)
    names = ([frame.name for frame in robot.frames] if frames is True else frames) or ()
    placed = {name: poses.get(upward.frame(name).name, turn_of(robot) or IDENTITY) for name in names}
    scene = scene_of(model, q=rows, times=np.arange(len(rows), dtype=float), columns=(), title="", masses=masses)
    scene = replace(scene, notes=(*scene.notes, *([said(LOOP_NOTE)] if robot.loops else [])))
    if len(robot.bodies) > MANY:
        scene = replace(scene, figures=(_with_lines(scene.figures[0]),))
    if not ground:
        scene = replace(scene, grounds=(), floor=float(scene.box[0, 2]))

    extent = scene.figures[0].size
    room = 0.1 * extent if placed or joints else 0.0
    view = VIEW if camera is None else camera
    painting = Painting(scene, camera=view, size=USUAL_SIZE if size is None else size, around=room, ground=ground)
    figure = painting.still()
    for ends in _joint_axes(upward, poses, 0.14 * extent) if joints else ():
        painting.plot(ends, color=JOINT_COLOR, linewidth=1.1, linestyle="-.")
    for name, pose in placed.items():
        _add_triad(painting, name, pose, 0.1 * extent)
    for ends in _loop_ends(upward, poses):  # a ring at each end, and a line between where they are apart
        painting.plot(ends, color=LOOP_COLOR, linewidth=1.1, linestyle="--")
        rings = {"s": 420.0, "facecolors": "none", "edgecolors": LOOP_COLOR, "linestyles": "--", "linewidths": 1.4}
        painting.page.axes.scatter(*painting.window.lens.seen(ends)[:, :2].T, zorder=5, clip_on=False, **rings)
    if not painting.window.lens.flat:
        _add_compass(figure, painting.window.lens.axes @ scene.figures[0].turn)
    heading = robot.name.replace("_", " ") if title is None else title
    figure.suptitle(heading, color=INK, fontsize=13, y=1.0 - 0.08 / figure.get_figheight(), va="top")
    if path is not None and Path(path).suffix.lower() == ".vol":
        write_vol(replace(scene, title=heading), path, frame=len(rows) - 1)
    elif path is not None:
        save(figure, path)
    return figure


def write_still(
    run: Trajectory,
    path: Path | str,
    t: float,
    *,
    camera: CameraChoice = "iso",
    size: float = 9.0,
    title: str | None = None,
) -> Path:
    """Writes a picture of a run at time t [s], and returns its path; `camera` and `size` as for `animate`."""
    if not run.t[0] <= t <= run.t[-1]:
        raise UnsupportedError(
            f"t is {t:g} s; expected a time of the run '{run.name}', from {run.t[0]:g} to {run.t[-1]:g} s."
        )
    scene = scene_for(run, camera, times=[t], columns=(), title=title)
    return save(Painting(scene, camera=camera, size=size).still(), path)


def _with_lines(figure: SceneFigure) -> SceneFigure:
    """The figure with lines between joints in the colors of its bodies: links of robots with many bodies may be too
    thin to see.
    """
    palette = depth_colors(figure.robot)
    edges = [part for part in figure.parts if part.layer == "graph" and part.name.endswith(" edge")]
    lines = [replace(p, layer="elements", color=(*palette[figure.bodies[p.owner]], 1.0)) for p in edges]
    return replace(figure, parts=(*figure.parts, *lines))


def _joint_axes(robot: Robot, poses: dict[str, Pose], length: float) -> Iterator[Array]:
    """The ends (2, 3) [m] in the world of a line of a length [m] along every joint axis."""
    for joint in robot.joints:
        T_WB, T_BJ = poses[joint.child], evaluate_all(joint.child_placement)
        R, middle = np.array(T_WB.R, dtype=float) @ np.array(T_BJ.R, dtype=float), np.array(act(T_WB, T_BJ.p))
        for axis in joint.axes[: joint.motion.axes]:
            half = 0.5 * length * R @ np.array(axis, dtype=float)
            yield np.array([middle - half, middle + half])


def _loop_ends(robot: Robot, poses: dict[str, Pose]) -> Iterator[Array]:
    """The positions (2, 3) [m] in the world of the two sides of every joint that closes a loop."""
    for loop in robot.loops:
        sides = ((loop.parent, loop.placement), (loop.child, loop.child_placement))
        yield np.array([act(poses.get(body, IDENTITY), evaluate_all(T).p) for body, T in sides], dtype=float)


def _add_compass(figure: Figure, directions: Array) -> None:
    """Draws x, y and z, whose directions right and up are columns of (3, 3), in the lower left corner of the figure."""
    from matplotlib.lines import Line2D

    for name, color, (across, up) in zip("xyz", AXIS_COLORS, COMPASS * directions[:2].T, strict=True):
        x, y = COMPASS_AT
        look: Any = {"transform": figure.dpi_scale_trans, "color": color}
        figure.add_artist(Line2D((x, x + across), (y, y + up), linewidth=1.2, **look))
        figure.text(x + 1.35 * across, y + 1.35 * up, name, fontsize=8, ha="center", va="center", **look)


def _add_triad(painting: Painting, name: str, pose: Pose, length: float) -> None:
    """Draws the axes of a frame, x red, y green and z blue, of a length [m], with the name of the frame."""
    from matplotlib.patheffects import withStroke

    origin, R = np.array(pose.p, dtype=float), np.array(pose.R, dtype=float)
    for column, color in enumerate(AXIS_COLORS):
        painting.plot(np.array([origin, origin + length * R[:, column]]), color=color, linewidth=2.0)
    place: Any = painting.window.lens.seen(origin)[:2]
    label = painting.page.axes.text(*place, f"\n{name}", color=INK, fontsize=9, ha="center", va="top", zorder=6)
    label.set_path_effects([withStroke(linewidth=2.5, foreground="white")])
