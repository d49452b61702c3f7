"""A robot as a 3-D picture: its shapes where the joints put them, on a ground with shadow and grid, true to scale.

Everything solid goes into one collection of facets, sorted by depth; light and shade come from the normals. What is
translucent (a color with a fourth number below 1) lies over it. Poses come from the same kinematics as everything
else, run on floats: nothing is compiled for a drawing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import IDENTITY, Pose, act
from kinemorph.display.cameras import CameraChoice, camera_of
from kinemorph.display.canvas import INK, PALE, blank
from kinemorph.display.looks import outlines
from kinemorph.display.looks.robot_surface import Poses, Puppet, lit
from kinemorph.display.looks.solids import MESH_LIMIT
from kinemorph.display.painting.axes3d import add_ground, place_camera, scene_box, set_axes
from kinemorph.errors import ShapeError
from kinemorph.mechanics.recursions.kinematics import forward_kinematics
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.configuration import neutral
from kinemorph.model.parameter import evaluate_all
from kinemorph.model.robot import Robot
from kinemorph.model.shapes import Mesh
from kinemorph.model.system import System, as_robot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GHOST = 0.72  # how far a ghost fades toward white
AXIS_COLORS = ("#d1495b", "#3a9d5d", "#2e6fbb")  # x, y, z
JOINT_COLOR = LOOP_COLOR = "#b3261e"


def draw(
    robot: Robot | System,
    q: npt.ArrayLike | None = None,
    *,
    ghosts: Sequence[npt.ArrayLike] = (),
    joints: bool = False,
    frames: bool | Sequence[str] = False,
    ground: bool = True,
    title: str | None = None,
    camera: CameraChoice = None,
    size: tuple[float, float] | None = None,
) -> Figure:
    """A picture of a robot at q, shape (nq,); the neutral configuration where none is given.

    `ghosts`   further configurations, drawn pale and behind
    `joints`   also the axes of the joints
    `frames`   also the declared frames as x-y-z triads with their names: all of them, or those named (bodies too)
    `ground`   a grid below the robot with its shadow
    `camera`   "front", "back", "left", "right", "top", "iso", or (elevation, azimuth) [deg]
    `size`     width and height [inch]; by default as the robot needs

    Bodies without shapes get simple ones; a joint that closes a loop gets a dashed ring. Returns a Matplotlib Figure
    that belongs to no window: `savefig` it.
    """
    robot = as_robot(robot)
    poses = poses_at(robot, q)
    extent = outlines.extent(robot, poses)
    puppet, without_mounts = Puppet(robot, extent), Puppet(robot, extent, mounts=False)
    surface = puppet.posed(Poses(robot, neutral(robot) if q is None else q), 0)
    colors = lit(surface, puppet.colors)
    placed = [without_mounts.posed(Poses(robot, ghost), 0) for ghost in ghosts]
    pale = [(ghost, lit(ghost, without_mounts.colors, GHOST)) for ghost in placed]
    everything = np.concatenate([surface, *(ghost for ghost, _ in pale)])

    figure = blank(*(size or (7.0, 6.0)))
    axes: Any = figure.add_axes((0.0, 0.0, 1.0, 1.0), projection="3d", computed_zorder=False)
    low, high = scene_box(everything, extent)
    set_axes(axes, low, high)
    place_camera(figure, axes, (low, high), camera_of(camera), resize=size is None)
    if ground:
        add_ground(axes, everything, low, high)
    for ghost, faded in pale:
        _add_solids(axes, ghost, faded)
    _add_solids(axes, surface, colors)
    if joints:
        _add_joint_axes(axes, robot, poses, 0.14 * extent)
    if frames:
        names = [frame.name for frame in robot.frames] if frames is True else list(frames)
        _add_triads(axes, {name: pose_of(robot, poses, name) for name in names}, 0.1 * extent)
    figure.suptitle(
        robot.name.replace("_", " ") if title is None else title,
        color=INK,
        fontsize=14,
        y=1.0 - 0.14 / figure.get_figheight(),
        va="top",
    )
    if robot.loops:
        _add_loop_marks(axes, robot, poses)
    notes = [skipped_meshes(robot), "dashed ring: a joint that closes a loop" if robot.loops else ""]
    figure.text(0.5, 0.012, "; ".join(filter(None, notes)), ha="center", color=PALE, fontsize=8)
    return figure


def poses_at(robot: Robot, q: npt.ArrayLike | None) -> dict[str, Pose]:
    """Poses in the world of all bodies and declared frames at q, by name."""
    values = neutral(robot) if q is None else np.asarray(q, dtype=float)
    if values.shape != (robot.nq,):
        raise ShapeError(
            f"q has shape {values.shape}, expected ({robot.nq},) for robot '{robot.name}'. Draw one state at a time."
        )
    if not np.isfinite(values).all():
        entry = robot.q_names[int(np.argmin(np.isfinite(values)))]
        raise ShapeError(f"q: coordinate '{entry}' is not finite; expected numbers. Check where this state comes from.")
    names = [*robot.body_names, *(frame.name for frame in robot.frames)]
    return dict(zip(names, forward_kinematics(resolve(robot), [float(x) for x in values], names), strict=True))


def pose_of(robot: Robot, poses: dict[str, Pose], name: str) -> Pose:
    """The pose of a body or frame by name; the world's is the identity."""
    robot.frame(name)
    return poses.get(name, IDENTITY)


def skipped_meshes(robot: Robot) -> str:
    """A note on the meshes that are too fine to draw; "" where there are none."""
    large = [(body.name, len(s.faces)) for body in robot.bodies for s in body.shapes if isinstance(s, Mesh)]
    listed = ", ".join(f"{name} ({count} faces)" for name, count in large if count > MESH_LIMIT)
    return f"not drawn, meshes of more than {MESH_LIMIT} faces: {listed}" if listed else ""


# ── solids ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _add_solids(axes: Any, surface: Array, colors: Array) -> None:
    """Adds facets: first the solid ones, whose edges close the seams, then the translucent ones with darker edges."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # type: ignore[import-untyped]

    solid = colors[:, 3] == 1.0
    outlined = colors * [0.7, 0.7, 0.7, 1.0]
    outlined[:, 3] = np.minimum(2.5 * colors[:, 3], 1.0)
    for chosen, edges, width in ((solid, colors, 0.25), (~solid, outlined, 0.6)):
        if chosen.any():
            look: dict[str, Any] = {"facecolors": colors[chosen], "edgecolors": edges[chosen], "linewidths": width}
            axes.add_collection3d(Poly3DCollection(surface[chosen], zorder=3, clip_on=False, **look))


# ── joints and frames ─────────────────────────────────────────────────────────────────────────────────────────────────


def _add_joint_axes(axes: Any, robot: Robot, poses: dict[str, Pose], length: float) -> None:
    """A dash-dotted line along the axis of every joint that has one, in the joint frame on its child."""
    for joint in robot.joints:
        for number in range(joint.table.axes):
            T_WB, T_BJ = poses[joint.child], evaluate_all(joint.child_placement)
            R, p = np.array(T_WB.R, dtype=float), np.array(T_WB.p, dtype=float)
            middle = R @ np.array(T_BJ.p, dtype=float) + p
            along = R @ np.array(T_BJ.R, dtype=float) @ np.array(joint.axes[number], dtype=float)
            ends = np.array([middle - 0.5 * length * along, middle + 0.5 * length * along])
            axes.plot(*ends.T, color=JOINT_COLOR, linewidth=1.1, linestyle="-.", zorder=4, clip_on=False)


def _add_loop_marks(axes: Any, robot: Robot, poses: dict[str, Pose]) -> None:
    """A dashed ring where a joint closes a loop; where its ends are apart, one at each and a dashed line between."""
    for loop in robot.loops:
        sides = ((loop.parent, loop.placement), (loop.child, loop.child_placement))
        ends = np.array([act(poses.get(body, IDENTITY), evaluate_all(T).p) for body, T in sides], dtype=float)
        look: dict[str, Any] = {"linestyles": "--", "linewidths": 1.4, "zorder": 5, "clip_on": False}
        axes.scatter(*ends.T, s=420.0, facecolors="none", edgecolors=LOOP_COLOR, depthshade=False, **look)
        axes.plot(*ends.T, color=LOOP_COLOR, linewidth=1.1, linestyle="--", zorder=5, clip_on=False)


def _add_triads(axes: Any, placed: dict[str, Pose], length: float) -> None:
    """x, y and z of frames in red, green and blue, with their names."""
    from matplotlib.patheffects import withStroke

    for name, pose in placed.items():
        origin, R = np.array(pose.p, dtype=float), np.array(pose.R, dtype=float)
        for column, color in enumerate(AXIS_COLORS):
            ends = np.array([origin, origin + length * R[:, column]])
            axes.plot(*ends.T, color=color, linewidth=2.0, zorder=5, clip_on=False)
        label = axes.text(*origin, f"\n{name}", color=INK, fontsize=9, ha="center", va="top", zorder=6)
        label.set_path_effects([withStroke(linewidth=2.5, foreground="white")])
