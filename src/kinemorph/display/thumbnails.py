"""Small pictures for cards: a robot as it stands, or a run as poses over each other, the last one solid.

A picture is a PNG of few colors inside a data URI, twice as fine as it is shown, so that it is crisp on fine screens.
It is kept as long as the object it shows lives. What would take long is not drawn; a sentence takes its place.
"""

from __future__ import annotations

import base64
import io
import warnings
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from kinemorph.display.cameras import VIEW
from kinemorph.display.drawing import draw, skipped_meshes
from kinemorph.display.puppets import Poses, fitting_lens
from kinemorph.display.runs import robot_of
from kinemorph.display.scenes.figures import lost_meshes
from kinemorph.display.solids import Array
from kinemorph.display.stances import stance
from kinemorph.errors import KinemorphError
from kinemorph.model.robot import Robot
from kinemorph.model.system import System, as_robot
from kinemorph.simulation.trajectory import Trajectory

SHOWN = (240, 210)  # width and height of the room for a picture [px]
FINE = 2  # pixels for each that is shown
PAINTED = 620  # longer side of the paper, of which the robot takes some three quarters [px]
MARGIN = 10  # white around what is drawn [px]
COLORS = 48  # of the palette
MOST_BODIES = 400  # that are drawn
POSES = 5  # of a run, for robots with few bodies
POSED_BODIES = 60  # poses times bodies of a run's picture


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
        return _drawn(robot, lambda: (np.asarray(start) if start else stance(robot), (), VIEW), model)

    if q is not None:
        return _drawn(robot, lambda: (q, (), VIEW), model)
    found: Picture = _PICTURES.of(model, make)
    return found


def run_picture(trajectory: Trajectory) -> Picture:
    """The last pose of a run over paler ones before it, seen straight from the front where all happens in a plane."""

    def make() -> Picture:
        try:
            robot = robot_of(trajectory)
        except KinemorphError as error:
            return Picture(note=str(error))
        return _drawn(robot, lambda: _poses(robot, trajectory), robot)

    found: Picture = _PICTURES.of(trajectory, make)
    return found


def _poses(robot: Robot, trajectory: Trajectory) -> tuple[Array, Sequence[Array], tuple[float, float]]:
    """(the last configuration, those before it, elevation and azimuth of the viewer)."""
    rows = trajectory.q[np.isfinite(trajectory.q).all(axis=1)]
    if not len(rows):
        raise KinemorphError("the run has no configuration to draw.")
    count = max(2, min(POSES, POSED_BODIES // max(len(robot.bodies), 1)))
    chosen = rows[np.unique(np.linspace(0, len(rows) - 1, count).astype(int))]
    lens = fitting_lens(Poses(robot, chosen), None)
    front = lens.axes[2]
    view = (12.0, float(np.degrees(np.arctan2(front[1], front[0])))) if lens.flat else VIEW
    return chosen[-1], list(chosen[:-1]), view


def _drawn(robot: Robot, pose: Callable[[], tuple[Any, Sequence[Array], tuple[float, float]]], model: Any) -> Picture:
    """The picture of a model, or a sentence: a card shows its table in any case."""
    if not robot.bodies:
        return Picture(note="There is no body to draw.")
    if len(robot.bodies) > MOST_BODIES:
        return Picture(note=f"No picture: {len(robot.bodies):,} bodies take a while. draw(robot) makes it.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is not to be seen is said below the picture
            q, ghosts, view = pose()
            figure = draw(model, q, ghosts=ghosts, title="", camera=view)
            source, width = _png(figure)
            return Picture(source, width, "; ".join(filter(None, [skipped_meshes(robot), *lost_meshes(robot)])))
    except Exception as error:  # whatever it is, a card without a picture is better than none
        return Picture(note=f"No picture: {error}")


def _png(figure: Any) -> tuple[str, int]:
    """(the data URI of a figure as a PNG with a small palette and without its margins and words, its width [px])."""
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
    small = paper.quantize(colors=COLORS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    entries = np.array(small.getpalette() or [255, 255, 255])
    entries[entries > 246] = 255  # paper stays white
    small.putpalette([int(entry) for entry in entries])
    file = io.BytesIO()
    small.save(file, "PNG", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}", round(paper.width / FINE)
