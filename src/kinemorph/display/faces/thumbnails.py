"""Small pictures for cards: a robot in one configuration, or a run as several poses, the last one in full color.

A picture is a PNG with few colors in a data URI, at twice the resolution at which it is shown, for high-resolution
screens. It is cached as long as the object that it shows exists. Where nothing can be drawn, a sentence says why.
"""

from __future__ import annotations

import base64
import io
import warnings
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array, evenly
from kinemorph.display.cameras import VIEW
from kinemorph.display.canvas import png_of, small_png_of
from kinemorph.display.looks.combined_robot import configurations, robot_of
from kinemorph.display.looks.poses import Poses
from kinemorph.display.painting.draw import draw
from kinemorph.display.scenes.figures import mesh_note, stacked_poses
from kinemorph.display.scenes.usual_view import plane_azimuth
from kinemorph.errors import KinemorphError
from kinemorph.mechanics.constraints.stances import stance
from kinemorph.model.robot import Robot
from kinemorph.model.system import System, as_robot
from kinemorph.simulation.results.trajectory import Trajectory

if TYPE_CHECKING:
    from PIL.Image import Image

SHOWN = (240, 210)  # largest width and height of a picture as shown [px]
FINE = 2  # resolution of a picture over that at which it is shown
PAINTED = 620  # longer side of the rendered picture, before its margins are cut off [px]
MARGIN = 10  # white margin around the robot [px]
COLORS = 200  # size of the palette
POSES = 5  # poses of a run that are drawn
MOST_BODIES = 1000  # a robot with more bodies is not drawn on its card
SIZE = 4.4  # longer side of the rendered picture [inch]
POSTER, POSTER_SIZE = 720, 7.2  # longer side of a poster [px] and [inch]
PLOT = 430  # width of a plot as shown [px]
GRAPH = 90.0  # size of a graph of phases as shown [px/inch]
RAISED = 12.0  # elevation from which planar motion is seen [deg]


class Picture(NamedTuple):
    """A picture as a data URI ("" for no picture), its width as shown [px], and a note about what it does not show."""

    source: str = ""
    width: int = 0
    note: str = ""


class Kept:
    """A cache with one result per object, by identity; a result is dropped when its object is garbage collected.

    Comparing objects by value would be slow for robots.
    """

    def __init__(self) -> None:
        self._found: dict[int, Any] = {}

    def of(self, subject: Any, make: Callable[[], Any]) -> Any:
        """The cached result for this object; `make` is called if there is none yet."""
        key = id(subject)
        if key not in self._found:
            value = make()
            weakref.finalize(subject, self._found.pop, key, None).atexit = False
            self._found[key] = value
        return self._found[key]

    def __len__(self) -> int:
        return len(self._found)


_PICTURES, _GRAPHS = Kept(), Kept()


def robot_picture(model: Robot | System, q: Any = None) -> Picture:
    """The picture of a robot at q (nq,); by default at the initial state of its system, or in its `stance`."""
    if q is not None:
        return _drawn(model, lambda: np.atleast_2d(q))
    found: Picture = _PICTURES.of(model, lambda: _drawn(model, lambda: model_pose(model)))
    return found


def run_picture(trajectory: Trajectory) -> Picture:
    """The picture of a run: its last pose over paler earlier ones, seen from the front where the motion is planar."""

    def make() -> Picture:
        try:
            robot = robot_of(trajectory)
        except KinemorphError as error:
            return Picture(note=str(error))
        return _drawn(robot, lambda: run_poses(trajectory))

    found: Picture = _PICTURES.of(trajectory, make)
    return found


def picture_of_pose(model: Any, q: Any) -> Picture:
    """The picture of a `Pose` of a sheet: of a robot or system, or of a run."""
    return run_picture(model) if isinstance(model, Trajectory) else robot_picture(model, q)


def posed(model: Any, q: Any) -> tuple[Any, Array]:
    """(what a picture shows, its configurations (n, nq)): a model at q, or the robot of a run in `run_poses`."""
    if isinstance(model, Trajectory):
        return robot_of(model), run_poses(model)
    return model, model_pose(model) if q is None else np.atleast_2d(q)


def run_poses(trajectory: Trajectory) -> Array:
    """Up to POSES configurations of a run, evenly spread over its time, (n, nq)."""
    every = configurations(trajectory)
    finite = every[np.isfinite(every).all(axis=1)]
    if not len(finite):
        raise KinemorphError("the run has no sample with finite coordinates to draw.")
    chosen: Array = finite[evenly(len(finite), POSES)]
    return chosen


def model_pose(model: Robot | System) -> Array:
    """The configuration in which a model is shown, (1, nq): where its runs begin, or the `stance` of its robot."""
    start = model.settings.q if isinstance(model, System) else ()
    return np.atleast_2d(np.asarray(start) if start else stance(as_robot(model)))


def figure_picture(figure: Any) -> Picture:
    """A Matplotlib figure as a small picture, without its text and margins."""
    return Picture(*_png(_cut(figure)))


def plot_picture(result: Any) -> Picture:
    """The usual plot of a result that has a method `plot`."""
    try:
        source = base64.b64encode(small_png_of(result.plot())).decode()
    except KinemorphError as error:
        return Picture(note=f"No picture: {error}")
    return Picture(f"data:image/png;base64,{source}", PLOT)


def graph_picture(system: System) -> Picture:
    """The graph of the phases of a system that has an automaton."""

    def make() -> Picture:
        from kinemorph.display.charts.draw_phases import draw_phases

        try:
            figure = draw_phases(system, title="")
            source = base64.b64encode(png_of(figure)).decode()
            return Picture(f"data:image/png;base64,{source}", round(GRAPH * figure.get_size_inches()[0]))
        except Exception as error:  # whatever the error, a card without a picture is better than no card
            return Picture(note=f"No picture: {error}")

    found: Picture = _GRAPHS.of(system, make)
    return found


def _drawn(model: Robot | System, rows: Callable[[], Array]) -> Picture:
    """The picture of a model in the configurations that `rows` returns, or a note that says why there is none.

    It never raises an error, because the card shows its tables in any case.
    """
    robot = as_robot(model)
    if not robot.bodies:
        return Picture(note="There is no body to draw.")
    if len(robot.bodies) > MOST_BODIES:
        return Picture(note=f"No picture: {len(robot.bodies):,} bodies are too many for a small one. Call draw(robot).")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the note below the picture names missing meshes
            return _painted(model, robot, rows())
    except Exception as error:  # whatever the error, a card without a picture is better than no card
        return Picture(note=f"No picture: {error}")


def _painted(model: Robot | System, robot: Robot, q: Array) -> Picture:
    """The small picture of a robot in configurations q (n, nq)."""
    return Picture(*_png(_cut(drawn_poses(model, q))), mesh_note(robot))


def drawn_poses(model: Robot | System, q: Array, size: float = SIZE, masses: bool = True) -> Any:
    """A Matplotlib figure of a model in configurations q (n, nq), the last one in full color, the others pale.

    Planar motion is seen from a little above. `size` is the longer side [inch], `masses` as in `draw`.
    """
    robot = as_robot(model)
    azimuth = plane_azimuth(stacked_poses(robot, Poses(robot, q)))
    camera = VIEW if azimuth is None else (RAISED, azimuth)
    return draw(model, q[-1], ghosts=list(q[:-1]), title="", camera=camera, size=size, masses=masses)


def poster(model: Robot | System, q: Array) -> bytes:
    """A PNG of a model in configurations q (n, nq), for a page of its own: POSTER pixels wide or high at most."""
    file = io.BytesIO()
    paper = _cut(drawn_poses(model, q, POSTER_SIZE, masses=False), POSTER, (POSTER, POSTER))
    paper.point(lambda tint: 255 if tint > 246 else tint).save(file, "PNG")  # paper stays white
    return file.getvalue()


def _cut(figure: Any, painted: int = PAINTED, most: tuple[int, int] = (FINE * SHOWN[0], FINE * SHOWN[1])) -> Image:
    """A Matplotlib figure without its text and margins, by default at the resolution of a small picture.

    `painted` is the longer side before, and `most` the largest width and height after cutting the margins off [px].
    """
    from PIL import Image

    for artist in (*figure.texts, *figure.artists):
        artist.set_visible(False)
    for axes in figure.axes:
        axes.set_axis_off()
    figure.set_dpi(painted / max(figure.get_size_inches()))
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba())[..., :3]
    rows, columns = (np.flatnonzero((pixels < 250).any(axis=(axis, 2))) for axis in (1, 0))
    if not len(rows):
        raise KinemorphError("nothing is visible in the picture.")
    (top, bottom), (left, right) = ((max(one[0] - MARGIN, 0), one[-1] + MARGIN + 1) for one in (rows, columns))
    paper = Image.fromarray(np.ascontiguousarray(pixels[top:bottom, left:right]))
    paper.thumbnail(most, Image.Resampling.LANCZOS)
    return paper


def _png(paper: Image) -> tuple[str, int]:
    """(the data URI of a picture as a PNG with a small palette, its width as shown [px])."""
    from PIL import Image

    small = paper.quantize(colors=COLORS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    entries = np.array(small.getpalette() or [255, 255, 255])
    entries[entries > 246] = 255  # paper stays white
    small.putpalette([int(entry) for entry in entries])
    file = io.BytesIO()
    small.save(file, "PNG", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}", round(paper.width / FINE)
