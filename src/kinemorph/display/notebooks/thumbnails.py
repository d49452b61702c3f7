"""Small pictures for cards: a robot as it stands, or a run as poses over each other, the last one solid.

A picture is a PNG of few colors inside a data URI, twice as fine as it is shown, so that it is crisp on fine screens.
It is kept as long as the object it shows lives. Robots with many facets are drawn as sticks, and where nothing can be
drawn a sentence takes the picture's place.
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
from kinemorph.display.looks.robot_surface import Lens, Poses, Puppet, extent_of, fitting_lens
from kinemorph.display.looks.stances import stance
from kinemorph.display.notebooks.sticks import paint_sticks
from kinemorph.display.painting.draw import draw, skipped_meshes
from kinemorph.display.scenes.figures import lost_meshes
from kinemorph.errors import KinemorphError
from kinemorph.model.robot import Robot
from kinemorph.model.system import System, as_robot
from kinemorph.simulation.results.trajectory import Trajectory

if TYPE_CHECKING:
    from PIL.Image import Image

SHOWN = (240, 210)  # width and height of the room for a picture [px]
FINE = 2  # pixels for each that is shown
PAINTED = 620  # longer side of the paper, of which the robot takes some three quarters [px]
MARGIN = 10  # white around what is drawn [px]
COLORS = 200  # of the palette
POSES = 5  # of a run
MOST_FACETS = 24_000  # in all poses; beyond, a robot is drawn as sticks
MOST_BODIES = 150  # of a robot with shapes
MOST_STICKS = 4000  # bodies that are drawn at all
Camera = tuple[float, float]  # elevation and azimuth [deg]


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
        """What `make` gave for this object the first time."""
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
    """A robot at q, or as it shows itself best; a system as it starts."""
    robot = as_robot(model)

    def make() -> Picture:
        start = model.settings.q if isinstance(model, System) else ()
        return _drawn(model, lambda: np.atleast_2d(np.asarray(start) if start else stance(robot)))

    if q is not None:
        return _drawn(model, lambda: np.atleast_2d(q))
    found: Picture = _PICTURES.of(model, make)
    return found


def run_picture(trajectory: Trajectory) -> Picture:
    """The last pose of a run over paler ones before it, seen from the front where all happens in a plane."""

    def rows() -> Array:
        every = configurations(trajectory)
        finite = every[np.isfinite(every).all(axis=1)]
        if not len(finite):
            raise KinemorphError("the run has no configuration that could be drawn.")
        chosen: Array = finite[np.unique(np.linspace(0, len(finite) - 1, POSES).astype(int))]
        return chosen

    def make() -> Picture:
        if all(one.plant.robot is None and one.stored is None for one in trajectory.segments):
            return Picture()  # of equations: nobody expects a robot
        try:
            robot = robot_of(trajectory)
        except KinemorphError as error:
            return Picture(note=str(error))
        return _drawn(robot, rows)

    found: Picture = _PICTURES.of(trajectory, make)
    return found


def figure_picture(figure: Any) -> Picture:
    """A figure without its words and margins."""
    return Picture(*_png(_cut(figure)))


def painted_picture(paper: Image) -> Picture:
    """What is painted, in the size of small pictures."""
    from PIL import Image

    paper = paper.convert("RGB")
    paper.thumbnail((FINE * SHOWN[0], FINE * SHOWN[1]), Image.Resampling.LANCZOS)
    return Picture(*_png(paper))


def _drawn(model: Robot | System, rows: Callable[[], Array]) -> Picture:
    """The picture of a model in some configurations, or a sentence: a card shows its tables in any case."""
    robot = as_robot(model)
    if not robot.bodies:
        return Picture(note="There is no body to draw.")
    if len(robot.bodies) > MOST_STICKS:
        return Picture(note=f"No picture: {len(robot.bodies):,} bodies are too many for a small one.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is not to be seen is said below the picture
            return _painted(model, robot, rows())
    except Exception as error:  # whatever it is, a card without a picture is better than none
        return Picture(note=f"No picture: {error}")


def _painted(model: Robot | System, robot: Robot, q: Array) -> Picture:
    """A robot with its shapes in as many configurations as are painted quickly, the last one solid; else sticks."""
    poses = Poses(robot, q)
    lens = fitting_lens(poses, None)
    if len(robot.bodies) <= MOST_BODIES:
        count = max(len(Puppet(robot, extent_of(robot, poses)).surface), 1)
        if count <= MOST_FACETS:
            kept = np.unique(np.linspace(0, len(q) - 1, min(len(q), MOST_FACETS // count)).astype(int))
            shown = q[kept] if len(kept) > 1 else q[-1:]
            figure = draw(model, shown[-1], ghosts=list(shown[:-1]), title="", camera=_camera(lens))
            notes = [skipped_meshes(robot), *lost_meshes(robot)]
            return Picture(*_png(_cut(figure)), "; ".join(filter(None, notes)))
    sticks = paint_sticks(robot, poses, lens, (FINE * SHOWN[0], FINE * SHOWN[1]))
    return Picture(*_png(sticks), "Drawn as sticks, since its shapes take a while; draw(robot) shows them.")


def _camera(lens: Lens) -> Camera:
    """The default, or for motion in a plane a little above the view straight at it."""
    front = lens.axes[2]
    return (12.0, float(np.degrees(np.arctan2(front[1], front[0])))) if lens.flat else VIEW


def _cut(figure: Any) -> Image:
    """A figure without its words and margins, as fine as a small picture is."""
    from PIL import Image

    for text in figure.texts:
        text.set_visible(False)
    for axes in figure.axes:
        axes.set_axis_off()
    figure.set_dpi(PAINTED / max(figure.get_size_inches()))
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba())[..., :3]
    rows, columns = (np.flatnonzero((pixels < 250).any(axis=(axis, 2))) for axis in (1, 0))
    if not len(rows):
        raise KinemorphError("nothing is to be seen.")
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
