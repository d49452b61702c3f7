"""The direction of view, in words that all pictures share: camera="left", camera=(20, -60), follow="trunk".

World axes are x forward, y left, z up (REP 103): the camera "front" is in front of the robot, on the x axis, and "left"
to its left, on the y axis. "top" shows x to the right and y up, as on a map. "iso" shows x, y and z equally long.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.errors import UnsupportedError
from kinemorph.model.robot import Robot
from kinemorph.model.topology import WORLD
from kinemorph.words import did_you_mean

CameraWord = Literal["front", "back", "left", "right", "top", "iso"]
CameraChoice: TypeAlias = CameraWord | tuple[float, float] | Sequence[float] | None

VIEW = (22.0, -58.0)  # default elevation and azimuth [deg]
PLACES: dict[CameraWord, tuple[float, float]] = {
    "front": (0.0, 0.0),
    "back": (0.0, 180.0),
    "left": (0.0, 90.0),
    "right": (0.0, -90.0),
    "top": (90.0, -90.0),
    "iso": (math.degrees(math.atan(math.sqrt(0.5))), -45.0),
}


@dataclass(frozen=True)
class Camera:
    """A camera's elevation above the ground and azimuth about z from the x axis [deg].

    `follow` is the body that stays in the middle of the picture, or None.
    """

    elevation: float = VIEW[0]
    azimuth: float = VIEW[1]
    follow: str | None = None


@dataclass(frozen=True)
class Lens:
    """A parallel projection: the rows of `axes` (3, 3) point right, up, and toward the viewer."""

    axes: Array
    flat: bool = False  # looks straight at a plane, and the picture has axes with numbers

    @classmethod
    def toward(cls, elevation: float, azimuth: float, *, flat: bool = False) -> Lens:
        """The projection seen from an elevation and azimuth [deg]; with `flat` the picture has axes with numbers."""
        e, a = np.radians([elevation, azimuth])
        right = np.array([-np.sin(a), np.cos(a), 0.0])
        front = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
        return cls(np.stack([right, np.cross(front, right), front]), flat)

    def seen(self, points: Array) -> Array:
        """World points (..., 3) as (distance right, distance up, nearness to the viewer) [m]."""
        found: Array = points @ self.axes.T
        return found


def camera_of(camera: CameraChoice = None, follow: str | None = None, *robots: Robot) -> Camera:
    """The camera for a word such as "left" or for (elevation, azimuth) [deg]; None means VIEW.

    `follow` names a body, or a frame for its body, of at least one of the robots.
    """
    elevation, azimuth = _place(camera)
    return Camera(elevation, azimuth, None if follow is None else _followed(follow, robots))


def _place(camera: Any) -> tuple[float, float]:
    if camera is None:
        return VIEW
    words = ", ".join(f"'{word}'" for word in PLACES)
    if isinstance(camera, str):
        found = PLACES.get(camera)  # type: ignore[call-overload]
        if found is None:
            raise UnsupportedError(
                f"camera is '{camera}'; expected {words} or (elevation, azimuth) in degrees."
                + did_you_mean(camera, PLACES)
            )
        return found[0], found[1]
    try:
        elevation, azimuth = (float(angle) for angle in camera)
    except (TypeError, ValueError):
        raise UnsupportedError(
            f"camera is {camera!r}; expected {words} or two numbers, (elevation, azimuth) in degrees."
        ) from None
    if not (-90.0 <= elevation <= 90.0 and math.isfinite(azimuth)):
        raise UnsupportedError(
            f"camera is ({elevation:g}, {azimuth:g}); expected an elevation from -90 to 90 and a finite azimuth [deg]."
        )
    return elevation, azimuth


def _followed(name: Any, robots: Sequence[Robot]) -> str:
    known = {body: body for robot in robots for body in robot.body_names}
    known |= {frame.name: frame.body for robot in robots for frame in robot.frames if frame.body != WORLD}
    if not isinstance(name, str) or name not in known:
        whose = f" of robot '{robots[0].name}'" if len(robots) == 1 else ""
        raise UnsupportedError(
            f"follow is {name!r}; expected the name of a body or frame{whose}.{did_you_mean(name, known)}"
        )
    return known[name]
