"""Moving pictures of a run, at the speed of life or slower or faster, and of the mode shapes of a robot."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kinemorph.analysis.modes import Poles
from kinemorph.display.cameras import CameraChoice
from kinemorph.display.flipbooks import TRACED, Book, Progress, frame_time, gif_path, write_gif
from kinemorph.display.mode_pictures import bent, mode_caption
from kinemorph.display.puppets import Poses, Puppet, extent_of, fitting_lens
from kinemorph.display.runs import robot_of
from kinemorph.display.solids import Array
from kinemorph.errors import UnsupportedError
from kinemorph.model.robot import Robot
from kinemorph.simulation.trajectory import Trajectory

MOST_FRAMES = 3000
SIZE = 4.6  # longer side of a picture [inch at 100 dpi]


def animate(
    trajectory: Trajectory,
    path: Path | str = "run.gif",
    *,
    fps: float = 30.0,
    speed: float = 1.0,
    camera: CameraChoice = None,
    size: float = SIZE,
    trace: str | Sequence[str] | None = None,
    title: str | None = None,
    progress: Progress | None = None,
) -> Path:
    """Writes a run as an animated gif, and gives its path.

    `fps`        frames per second, up to 50; rounded so that the time between frames is whole hundredths of a second
    `speed`      simulated over shown time: 0.1 is ten times slower than life
    `camera`     "front", "left", ... or (elevation, azimuth) [deg]; by default straight at a plane of motion
    `size`       longer side [inch at 100 dpi]
    `trace`      bodies or frames whose origins leave a line
    `progress`   called as progress(frames done, frames in all)

    Lengths across the line of sight are true to scale. It needs no window and no other program.
    """
    robot = robot_of(trajectory)
    path = gif_path(path)
    if not 0.0 < speed < np.inf:
        raise UnsupportedError(f"speed is {speed:g}; expected a number above 0. 1 is as fast as life.")
    period = frame_time(fps)
    times = _frame_times(trajectory, period * speed)
    poses = Poses(robot, trajectory.at(times).q)
    pace = "" if speed == 1.0 else f"  ×{speed:g}"
    digits = 2 if times[-1] - times[0] > 1.0 else 3
    book = Book(
        Puppet(robot, extent_of(robot, poses)),
        poses,
        [f"t = {t:.{digits}f} s{pace}" for t in times],
        robot.name.replace("_", " ") if title is None else title,
        _traces(trajectory, robot, times, [trace] if isinstance(trace, str) else list(trace or ())),
    )
    return write_gif(book, path, fitting_lens(poses, camera), period=period, size=size, progress=progress)


def _traces(trajectory: Trajectory, robot: Robot, times: Array, names: Sequence[str]) -> tuple[Array, ...]:
    """The ways of the origins of bodies or frames, with points between the frames."""
    for name in names:
        robot.frame(name)  # says what there is where this one is not
    if not names:
        return ()
    between = np.interp(np.arange(TRACED * (len(times) - 1) + 1) / TRACED, np.arange(len(times)), times)
    poses = Poses(robot, trajectory.at(between).q)
    return tuple(poses.p[name] for name in names if name in poses.p)


def _frame_times(trajectory: Trajectory, step: float) -> Array:
    first, last = float(trajectory["t"][0]), float(trajectory["t"][-1])
    count = int(np.floor((last - first) / step + 1e-9)) + 1
    if count > MOST_FRAMES:
        raise UnsupportedError(
            f"{count:,} frames would be painted, at most {MOST_FRAMES:,} make sense. Lower fps or raise speed."
        )
    times: Array = np.minimum(first + step * np.arange(count), last)
    return times


def animate_mode(
    poles: Poles,
    number: int,
    path: Path | str = "mode.gif",
    *,
    fps: float = 25.0,
    seconds: float = 2.0,
    camera: CameraChoice = None,
    size: float = SIZE,
    progress: Progress | None = None,
) -> Path:
    """Writes one mode shape as an animated gif that swings on and on, one period in so many `seconds`.

    `number` counts from 1, as in the table of poles. Growth and decay are not shown.
    """
    path = gif_path(path)
    robot = poles.plant.robot
    if robot is None:
        raise UnsupportedError(f"'{poles.plant.name}' has no robot to draw.")
    if not 1 <= number <= len(poles):
        raise UnsupportedError(f"there is no mode {number}; expected a number from 1 to {len(poles)}.")
    if not 0.0 < seconds < np.inf:
        raise UnsupportedError(f"seconds is {seconds:g}; expected a time above 0 for one period.")
    period = frame_time(fps)
    count = max(4, round(seconds / period))
    phases = 2.0 * np.pi * np.arange(count) / count
    poses = Poses(robot, bent(poles, number, [float(phase) for phase in phases]))
    texts = [f"mode {mode_caption(poles, number)}"] * count
    book = Book(Puppet(robot, extent_of(robot, poses)), poses, texts, robot.name.replace("_", " "))
    return write_gif(book, path, fitting_lens(poses, camera), period=period, size=size, progress=progress)
