"""Films of runs, in real time, slower or faster, and of the mode shapes of a robot."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from pathlib import Path

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.small_motions.poles import Poles
from kinemorph.display.cameras import CameraChoice
from kinemorph.display.painting.draw_modes import bent, mode_caption
from kinemorph.display.painting.film_files import (
    REELS,
    Frames,
    Progress,
    check_count,
    frame_time,
    reel_of,
    write_frames,
)
from kinemorph.display.painting.page import checked_size
from kinemorph.display.painting.painter import Painting, scene_for
from kinemorph.display.scenes.building import Subjects, named_subjects, scene_of, staged
from kinemorph.display.scenes.easyanim import write_van, write_vmo
from kinemorph.display.scenes.figures import figure_of
from kinemorph.display.scenes.usual_view import walker
from kinemorph.errors import UnsupportedError
from kinemorph.simulation.results.trajectory import Trajectory

TRACED = 4  # points of a trace per frame: a fast point moves far from one frame to the next
WIDER = 1.5  # default size of a film of several runs over that of one run


def animate(
    trajectory: Subjects,
    path: Path | str = "run.gif",
    *,
    camera: CameraChoice = None,
    follow: str | None = None,
    fps: float = 30.0,
    speed: float = 1.0,
    size: float | None = None,
    trace: str | Sequence[str] | None = None,
    title: str | None = None,
    meshes: bool = False,
    progress: Progress | None = None,
) -> Path:
    """Writes a film of a run as an animated gif or an mp4, by the suffix of `path`, and returns the path.

    With the suffix .van, it writes the frames for EasyDyn's viewer EasyAnim, and the geometry as .vol beside them; that
    viewer has a camera of its own, so `camera`, `follow`, `size` and `trace` are refused then.

    Several runs, given as a list or by name, are shown side by side, on one clock; of a batch, a few runs are shown. An
    mp4 needs the extra [video].

    `camera`     "front", "back", "left", "right", "top", "iso", or (elevation, azimuth) [deg]; by default straight at
                 the plane of motion, if there is one
    `follow`     a body, or a frame of it, that stays in the middle of the picture; "world" keeps the camera at rest. By
                 default a camera follows a robot that walks out of the first picture, smoothly
    `fps`        frames per second: up to 50 for a gif, whose frames last whole hundredths of a second, up to 120 for
                 an mp4
    `speed`      simulated time over film time: 0.1 is ten times slower than real time
    `size`       longer side [inch at 100 dpi]; by default 7.2, which is then the least width too, and 1.5 times as much
                 for several runs
    `trace`      names of bodies or frames whose paths are drawn
    `meshes`     writes all corners of shapes to a .van file instead of boxes; the file is often 20 times as large
    `progress`   a function, called as progress(frames done, frames in total); without it, a terminal shows them
                 after two seconds

    Springs, motors, contact forces and the ground are shown as in the viewer. Lengths perpendicular to the line of
    sight are true to scale. No window is needed.
    """
    path = Path(path)
    viewed = path.suffix.lower() == ".van"
    if viewed:
        _refuse(path, camera=camera, follow=follow, size=size, trace=trace)
    elif meshes:
        raise UnsupportedError(f"meshes=True is for .van files, and '{path}' is none. Leave it out: films show meshes.")
    path, reel = (path, REELS[".mp4"]) if viewed else reel_of(path)
    if not isinstance(speed, Real) or not 0.0 < speed < np.inf:
        raise UnsupportedError(f"speed is {speed!r}; expected a number above 0, where 1 is real time.")
    period = frame_time(fps, reel)
    subjects = named_subjects(trajectory)
    least = reel.size if size is None else 0.0
    size = checked_size(reel.size * (WIDER if len(subjects) > 1 else 1.0) if size is None else size)
    runs = [run for run in subjects.values() if isinstance(run, Trajectory)]
    if not runs:
        raise UnsupportedError("there is no run to animate; expected at least one Trajectory, as simulate returns it.")
    times = _frame_times(runs, period * speed)
    if viewed:
        return write_van(scene_of(trajectory, times=times, columns=(), title=title), path, meshes=meshes)
    traced = TRACED if trace else 1
    between = np.interp(np.arange(traced * (len(times) - 1) + 1) / traced, np.arange(len(times)), times)
    scene = scene_for(trajectory, camera, times=between, columns=(), trace=trace or (), title=title)
    followed = walker(scene) if follow is None else follow
    painting = Painting(scene, camera=camera, follow=followed, size=size, glide=follow is None, least=least)
    pace = "" if speed == 1.0 else f"  ×{speed:g}"
    digits = 2 if times[-1] - times[0] > 1.0 else 3
    frames = Frames(
        lambda k: painting.frame(traced * k, f"t = {times[k]:.{digits}f} s{pace}"), count=len(times), progress=progress
    )
    return write_frames(frames, path, reel, period)


def _refuse(path: Path, **options: object) -> None:
    """Raises UnsupportedError for an option that is given and has no effect on files of EasyAnim."""
    for name, value in options.items():
        if value is not None:
            raise UnsupportedError(f"'{path}': {name} has no effect on files for EasyAnim. Leave {name} out.")


def _frame_times(runs: Sequence[Trajectory], step: float) -> Array:
    first, last = min(float(run.t[0]) for run in runs), max(float(run.t[-1]) for run in runs)
    count = int(np.floor((last - first) / step + 1e-9)) + 1
    check_count(count)
    if count == 1 and last > first:
        slow = 10.0 ** np.floor(np.log10(last - first))
        raise UnsupportedError(
            f"the motion lasts {last - first:.3g} s, less than one frame. Pass a lower speed, such as speed={slow:g}."
        )
    times: Array = np.minimum(first + step * np.arange(count), last)
    return times


def animate_mode(
    poles: Poles,
    number: int,
    path: Path | str = "mode.gif",
    *,
    camera: CameraChoice = None,
    fps: float = 25.0,
    seconds: float = 2.0,
    size: float | None = None,
    progress: Progress | None = None,
) -> Path:
    """Writes one period of a mode shape as a gif (which repeats it) or an mp4, and returns the path.

    With the suffix .vmo, it writes the mode for EasyDyn's viewer EasyAnim, and the geometry as .vol beside it.

    `number` counts from 1, as in the table of poles; one period takes `seconds` in the film. Growth and decay are not
    shown. The other options are those of `animate`.
    """
    path = Path(path)
    viewed = path.suffix.lower() == ".vmo"
    if viewed:
        _refuse(path, camera=camera, size=size)
    path, reel = (path, REELS[".mp4"]) if viewed else reel_of(path)
    robot = poles.plant.robot
    if robot is None:
        raise UnsupportedError(f"'{poles.plant.name}' has no robot to draw. Use draw_modes, which draws bars instead.")
    if not 1 <= number <= len(poles):
        raise UnsupportedError(f"there is no mode {number}; expected a mode number from 1 to {len(poles)}.")
    if not 0.0 < seconds < np.inf:
        raise UnsupportedError(f"seconds is {seconds:g}; expected a time above 0 s for one period.")
    if viewed:
        rows = np.concatenate([poles.q[None], bent(poles, number, [0.0, 0.5 * np.pi])])
        return write_vmo(staged([figure_of(robot, rows)], np.arange(3.0)), [complex(poles.values[number - 1])], path)
    period = frame_time(fps, reel)
    count = max(4, round(seconds / period))
    check_count(count)
    phases = 2.0 * np.pi * np.arange(count) / count
    figure = figure_of(robot, bent(poles, number, [float(phase) for phase in phases]))
    scene = staged([figure], np.linspace(0.0, seconds, count, endpoint=False))
    painting = Painting(scene, camera=camera, size=checked_size(reel.size if size is None else size))
    text = f"mode {mode_caption(poles, number)}"
    frames = Frames(lambda k: painting.frame(k, text), count=count, progress=progress)
    return write_frames(frames, path, reel, period)
