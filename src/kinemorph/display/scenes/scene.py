"""A scene as data: figures (robots) that move over time, on a ground.

A figure consists of rigid parts. Each part is fixed to a body, its owner; WORLD_OWNER stands for the ground. A mark
connects two points of bodies and stretches with them (a spring), or goes from a point along a vector (a force). Data
that follow from the poses of bodies are not stored: traces, springs and centers of mass are placed when they are shown.

Lengths in meters, angles in radians, quaternions (w, x, y, z), world axes with z up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.model.parameter import Value
from kinemorph.model.robot import Robot

Faces = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]
Color = tuple[float, float, float, float]  # red, green, blue, opacity, each from 0 to 1

WORLD_OWNER = -1  # owner of parts that are fixed to the ground

Layer = Literal[
    "shapes", "collisions", "inertia", "centers", "frames", "joints", "graph", "elements", "forces", "torques", "traces"
]


class LayerRow(NamedTuple):
    """The label of a layer, and whether it is shown by default."""

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

LOADS: tuple[Layer, ...] = ("forces", "torques")  # layers of arrows, which cast no shadow

Look = Literal["spring", "damper", "rope", "rod", "arrow", "ball"]


@dataclass(frozen=True, eq=False)
class Surface:
    """A triangle mesh: corner points (n, 3) [m], unit normals at the corners (n, 3), faces (m, 3) of corner indices.

    Where the surface was made as the image of another one, `base`, under an affine map, `image` (3, 4) is this map.
    """

    points: Array
    normals: Array
    faces: Faces
    base: Surface | None = None
    image: Array | None = None


@dataclass(frozen=True, eq=False)
class Part:
    """A surface that is fixed to a body, in the body's frame. `owner` is the index of the body in its figure.

    `shown` (n,) says at which times of the scene the part is shown; None means always.
    """

    name: str
    owner: int
    surface: Surface
    color: Color
    layer: Layer = "shapes"
    shown: Flags | None = None


class Attachment(NamedTuple):
    """A point [m] that is fixed to a body (index `owner`), in the body's frame."""

    owner: int
    point: tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class Mark:
    """A shape (`look`) stretched from `start` to `end`, or from `start` along vectors[k] at time index k.

    `vectors` (n, 3) [m] are in world axes, one for each time of the scene; forces are already scaled to lengths. A
    vector of length 0 shows nothing. `shifts` (n, 3) [m] in world axes move the start, because the contact point of a
    ball is not fixed to it. `width` [m] is the radius of the look; a ball has this radius and lies at the end. `shown`
    is as in Part.
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

    `positions` (n, n_b, 3) [m] and `quaternions` (n, n_b, 4) wxyz are those of the body frames in the world, without
    the `offset` (3,) [m] that places the figure beside the others. `masses` (n_b,) [kg]; `centers` (n_b, 3) [m] are the
    centers of mass in body frames. `size` [m] is the extent of the robot. `poseable` says that the robot has no motion,
    so that a user may pose it. For a run with docking events `robots` are its robots, and `robot` is the combined one.
    If joints are driven, `robot` and `q` are those in which all joints have coordinates, and `driven` has their
    formulas by joint name. `turn` (3, 3) is the turn of the robot's world after which z is up, see `upright`.
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
    driven: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    turn: Array = field(default_factory=lambda: np.eye(3))

    @property
    def bodies(self) -> tuple[str, ...]:
        """The names of the bodies; a body's index is its owner number."""
        return self.robot.body_names


class Series(NamedTuple):
    """A column of a run at the times of the scene, to be plotted below it; NaN where the run has no value."""

    figure: str
    name: str
    unit: str
    values: Array  # (n,)


class Happening(NamedTuple):
    """An event of a run: its time and name."""

    t: float  # [s]
    name: str


@dataclass(frozen=True, eq=False)
class Scene:
    """Figures at `times` [s], shape (n,), on their grounds. A scene in which nothing moves has one time.

    `floor` [m] is the height of the grid; `loose` says that no element can touch it. `box` (2, 3) [m] are the lowest
    and highest corners of all figures. `notes` are sentences about failed runs, the scales of arrows, and meshes that
    cannot be shown.
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
        """The time from the first to the last time of the scene [s]."""
        return float(self.times[-1] - self.times[0])

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The layers that are not empty, in the order of LAYERS."""
        found: set[str] = {"shapes"}
        for figure in self.figures:
            found |= {part.layer for part in figure.parts} | {mark.layer for mark in figure.marks}
            found |= {"traces"} if figure.traces else set()
        return tuple(layer for layer in LAYERS if layer in found)
