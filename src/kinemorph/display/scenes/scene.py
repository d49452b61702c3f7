"""A scene as data: figures (robots) that move over time, on a ground.

A figure is made of rigid parts. Each belongs to a body, its owner, and is carried by it; WORLD_OWNER stands for the
ground. Marks join points of bodies and stretch with them (springs), or point from one along a vector (forces). What
follows from the poses of bodies is not stored: traces, springs and centers of mass are computed when it is shown.

Lengths in meters, angles in radians, quaternions (w, x, y, z), world axes with z up.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.model.robot import Robot

Faces = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]
Color = tuple[float, float, float, float]  # red, green, blue, opacity, each from 0 to 1

WORLD_OWNER = -1  # the ground owns what does not move

Layer = Literal[
    "shapes", "collisions", "inertia", "centers", "frames", "joints", "graph", "elements", "forces", "torques", "traces"
]


class LayerRow(NamedTuple):
    """The visible name of a layer, and whether it is shown at first."""

    label: str
    shown: bool


LAYERS: dict[Layer, LayerRow] = {
    "shapes": LayerRow("shapes", True),
    "collisions": LayerRow("collision shapes", False),
    "inertia": LayerRow("inertia ellipsoids", False),
    "centers": LayerRow("centers of mass", False),
    "frames": LayerRow("frames", False),
    "joints": LayerRow("joint axes", False),
    "graph": LayerRow("graph", False),
    "elements": LayerRow("springs and motors", True),
    "forces": LayerRow("forces", True),
    "torques": LayerRow("torques", False),
    "traces": LayerRow("traces", True),
}

LOADS: tuple[Layer, ...] = ("forces", "torques")  # arrows: they cast no shadow

Look = Literal["spring", "damper", "rope", "rod", "arrow", "ball"]


@dataclass(frozen=True, eq=False)
class Surface:
    """Triangles: corner points (n, 3), unit normals there (n, 3), faces (m, 3) as indices of corners."""

    points: Array
    normals: Array
    faces: Faces


@dataclass(frozen=True, eq=False)
class Part:
    """A surface in the frame of a body, which carries it. `owner` is the body's number in its figure.

    `shown` (n,) says at which times of the scene it is there; None is always.
    """

    name: str
    owner: int
    surface: Surface
    color: Color
    layer: Layer = "shapes"
    shown: Flags | None = None


class Attachment(NamedTuple):
    """A point [m] fixed to a body, in its axes."""

    owner: int
    point: tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class Mark:
    """What joins two points or points from one along a vector: from `start` to `end`, or to start + vectors[k].

    `vectors` [m] in world axes, shape (n, 3), one for each time of the scene: forces are already drawn to length. A
    vector of length 0 shows nothing. `shifts` [m], likewise, move the start: where a ball touches is no point of it.
    `width` [m] is the radius of the look; a ball has it as its radius, at its end. `shown` is as that of a Part.
    """

    name: str
    look: Look
    color: Color
    width: float
    start: Attachment
    end: Attachment | None = None
    vectors: Array | None = None
    layer: Layer = "elements"
    shifts: Array | None = None
    shown: Flags | None = None


@dataclass(frozen=True, eq=False)
class Trace:
    """A point of a body whose path is drawn."""

    name: str
    at: Attachment
    color: Color


@dataclass(frozen=True, eq=False)
class Figure:
    """A robot in a scene: its parts, and the poses of its n_b bodies at the n times of the scene.

    `positions` (n, n_b, 3) [m] and `quaternions` (n, n_b, 4) are those of the body frames in the world, without the
    `offset` (3,) [m] by which the figure stands beside the others. `masses` (n_b,) [kg], `centers` (n_b, 3) [m] in
    body axes. `size` [m] is the extent of the robot, `poseable` whether it has no motion of its own and is to be posed.
    A run with docking events has its robots in `robots`, and `robot` stands for all of them.
    """

    name: str
    robot: Robot
    q: Array  # (n, nq)
    positions: Array
    quaternions: Array
    parts: tuple[Part, ...]
    masses: Array
    centers: Array
    size: float
    marks: tuple[Mark, ...] = ()
    traces: tuple[Trace, ...] = ()
    offset: Array = field(default_factory=lambda: np.zeros(3))
    poseable: bool = False
    robots: tuple[Robot, ...] = ()

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies, in the order of owners."""
        return self.robot.body_names


class Series(NamedTuple):
    """A column over the times of the scene, to be plotted below it; NaN where a run has no value."""

    figure: str
    name: str
    unit: str
    values: Array  # (n,)


class Happening(NamedTuple):
    """An event of a run."""

    t: float  # [s]
    name: str


@dataclass(frozen=True, eq=False)
class Scene:
    """Figures at `times` [s], shape (n,), on their grounds. A scene in which nothing moves has one time.

    `floor` [m] is the height of the grid, `loose` where nothing can touch it, and `box` the lowest and highest corner
    (2, 3) [m] of all that is seen. `notes` are sentences on runs that failed, on what is shown to which scale, and on
    what cannot be shown.
    """

    title: str
    times: Array
    figures: tuple[Figure, ...]
    box: Array
    floor: float = 0.0
    loose: bool = False
    grounds: tuple[Part, ...] = ()
    series: tuple[Series, ...] = ()
    events: tuple[Happening, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def duration(self) -> float:
        """The time from the first picture to the last [s]."""
        return float(self.times[-1] - self.times[0])

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The layers that hold something, in the order of LAYERS."""
        found: set[str] = {"shapes"}
        for figure in self.figures:
            found |= {part.layer for part in figure.parts} | {mark.layer for mark in figure.marks}
            found |= {"traces"} if figure.traces else set()
        return tuple(layer for layer in LAYERS if layer in found)
