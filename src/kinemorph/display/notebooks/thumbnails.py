"""Small pictures for cards: a robot as it stands, or a run as poses over each other, the last one solid.

A picture is a PNG of few colors inside a data URI, twice as fine as it is shown, so that it is crisp on fine screens.
It is kept as long as the object it shows lives. Where nothing can be drawn, a sentence takes the picture's place.
"""

from __future__ import annotations

import base64
import io
import warnings
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.display.cameras import VIEW
from kinemorph.display.looks.combined_robot import configurations, robot_of
from kinemorph.display.looks.poses import Poses
from kinemorph.display.looks.postures import stance
from kinemorph.display.painting.draw import draw
from kinemorph.display.scenes.figures import lost_meshes, stacked_poses
from kinemorph.display.scenes.usual_view import plane_azimuth
from kinemorph.errors import KinemorphError
from kinemorph.model.robot import Robot
from kinemorph.model.system import System, as_robot
from kinemorph.simulation.results.trajectory import Trajectory

if TYPE_CHECKING:
    from PIL.Image import Image

SHOWN = (240, 210)  # width and height of the room for a picture [px]
FINE = 2  # pixels for each that is shown
PAINTED = 620  # longer side of the paper, of which the robot takes most [px]
MARGIN = 10  # white around what is drawn [px]
COLORS = 200  # of the palette
POSES = 5  # of a run
MOST_BODIES = 1000  # of a robot that is drawn unasked
SIZE = 4.4  # longer side of the paper [inch]
RAISED = 12.0  # elevation from which motion in a plane is seen [deg]


class Picture(NamedTuple):
    """A picture as a data URI ("" where there is none), the width it is shown at [px], and what it does not show."""

    source: str = ""
    width: int = 0
    note: str = ""


class Kept:
    """Results by object, each forgotten when its object is. Comparing robots would take longer than looking by id."""

    def __init__(self) -> None:
        self._found: dict[int, Any] = {}

    def of(self, subject: Any, make: Callable[[], Any]) -> Any:
        """The result of `make` for this object, which is called once."""
        key = id(subject)
        if key not in self._found:
            value = make()
            weakref.finalize(subject, self._found.pop, key, None).atexit = False
            self._found[key] = value
        return self._found[key]

    def __len__(self) -> int:
        return len(self._found)


_PICTURES = Kept()


def robot_picture(model: Robot | System, q: Any = None) -> Picture:
    """A robot at q; by default in its `stance`, or as its system starts."""
    robot = as_robot(model)

    def make() -> Picture:
        start = model.settings.q if isinstance(model, System) else ()
        return _drawn(model, lambda: np.atleast_2d(np.asarray(start) if start else stance(robot)))

    if q is not None:
        return _drawn(model, lambda: np.atleast_2d(q))
    found: Picture = _PICTURES.of(model, make)
    return found


def run_picture(trajectory: Trajectory) -> Picture:
    """The last pose of a run over paler ones before it, seen from the front where the motion is planar."""

    def rows() -> Array:
        every = configurations(trajectory)
        finite = every[np.isfinite(every).all(axis=1)]
        if not len(finite):
            raise KinemorphError("the run has no configuration that could be drawn.")
        chosen: Array = finite[np.unique(np.linspace(0, len(finite) - 1, POSES).astype(int))]
        return chosen

    def make() -> Picture:
        if all(one.plant.robot is None and one.stored is None for one in trajectory.segments):
            return Picture()  # a run of equations has no robot to draw
        try:
            robot = robot_of(trajectory)
        except KinemorphError as error:
            return Picture(note=str(error))
        return _drawn(robot, rows)

    found: Picture = _PICTURES.of(trajectory, make)
    return found


def figure_picture(figure: Any) -> Picture:
    """A Matplotlib figure without its text and margins."""
    return Picture(*_png(_cut(figure)))


def _drawn(model: Robot | System, rows: Callable[[], Array]) -> Picture:
    """The picture of a model in some configurations, or a sentence: a card shows its tables in any case."""
    robot = as_robot(model)
    if not robot.bodies:
        return Picture(note="There is no body to draw.")
    if len(robot.bodies) > MOST_BODIES:
        return Picture(note=f"No picture: {len(robot.bodies):,} bodies are too many for a small one. Call draw(robot).")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the note below the picture names what is missing
            return _painted(model, robot, rows())
    except Exception as error:  # whatever it is, a card without a picture is better than none
        return Picture(note=f"No picture: {error}")


def _painted(model: Robot | System, robot: Robot, q: Array) -> Picture:
    """A robot in configurations q, the last one solid; motion in a plane is seen from a little above."""
    azimuth = plane_azimuth(stacked_poses(robot, Poses(robot, q)))
    camera = VIEW if azimuth is None else (RAISED, azimuth)
    figure = draw(model, q[-1], ghosts=list(q[:-1]), title="", camera=camera, size=SIZE)
    return Picture(*_png(_cut(figure)), "; ".join(lost_meshes(robot)))


def _cut(figure: Any) -> Image:
    """A Matplotlib figure without its text and margins, at the resolution of a small picture."""
    from PIL import Image

    for artist in (*figure.texts, *figure.artists):
        artist.set_visible(False)
    for axes in figure.axes:
        axes.set_axis_off()
    figure.set_dpi(PAINTED / max(figure.get_size_inches()))
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba())[..., :3]
    rows, columns = (np.flatnonzero((pixels < 250).any(axis=(axis, 2))) for axis in (1, 0))
    if not len(rows):
        raise KinemorphError("the picture is empty.")
    (top, bottom), (left, right) = ((max(one[0] - MARGIN, 0), one[-1] + MARGIN + 1) for one in (rows, columns))
    paper = Image.fromarray(np.ascontiguousarray(pixels[top:bottom, left:right]))
    paper.thumbnail((FINE * SHOWN[0], FINE * SHOWN[1]), Image.Resampling.LANCZOS)
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
