"""A robot that is drawn many times: its surface is made once, in the frames of its bodies, and carried by their poses.

A lens looks at it from far away (no perspective), so lengths across the line of sight are true. Poses of all pictures
are computed together: the kinematics of everything else, run on arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import Pose
from kinemorph.display.cameras import CameraChoice, camera_of
from kinemorph.display.canvas import depth_colors, own_color
from kinemorph.display.looks import outlines
from kinemorph.display.looks.mesh_surfaces import warn_of_meshes
from kinemorph.display.looks.solids import Grain, facets, normals, opacity
from kinemorph.errors import ShapeError
from kinemorph.mechanics.recursions.kinematics import forward_kinematics
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.robot import Robot
from kinemorph.model.shapes import GRAPHITE, Color, Shape

LIGHT = np.array([0.35, -0.55, 0.76])  # toward the lamp
AMBIENT = 0.52
THICKNESS = 0.006  # of lines, as a part of the robot's extent
FLAT = 1e-6  # motion out of a plane, as a part of that in it, that counts as none


class Poses:
    """Poses of bodies and declared frames in many configurations: R (n, 3, 3) and p (n, 3) [m] by name."""

    def __init__(self, robot: Robot, q: npt.ArrayLike) -> None:
        values = np.atleast_2d(np.asarray(q, dtype=float))
        if values.shape[1] != robot.nq:
            raise ShapeError(f"q has shape {values.shape}, expected (n, {robot.nq}) for robot '{robot.name}'.")
        if not np.isfinite(values).all():
            row, entry = np.argwhere(~np.isfinite(values))[0]
            raise ShapeError(f"q: coordinate '{robot.q_names[entry]}' of row {row} is not finite; expected numbers.")
        self.count = len(values)
        names = [*robot.body_names, *(frame.name for frame in robot.frames)]
        found = forward_kinematics(resolve(robot), list(values.T), names)
        self.R = {name: self._stacked(pose.R, (3, 3)) for name, pose in zip(names, found, strict=True)}
        self.p = {name: self._stacked(pose.p, (3,)) for name, pose in zip(names, found, strict=True)}

    def _stacked(self, entries: Any, shape: tuple[int, ...]) -> Array:
        """Entries that are numbers or arrays over the configurations, as one array."""
        flat = [entry for row in entries for entry in (row if isinstance(row, (tuple, list)) else (row,))]
        stacked = np.stack([np.broadcast_to(np.asarray(entry, dtype=float), (self.count,)) for entry in flat], axis=-1)
        return stacked.reshape(self.count, *shape)

    def at(self, number: int) -> dict[str, Pose]:
        """All poses of one configuration, as matrices of floats."""
        return {
            name: Pose(tuple(map(tuple, R[number].tolist())), tuple(self.p[name][number].tolist()))
            for name, R in self.R.items()
        }


class Puppet:
    """The surface of a robot: facets in the frames of its bodies, with colors."""

    def __init__(self, robot: Robot, size: float, *, mounts: bool = True) -> None:
        """`size` [m] is the extent of the robot, from which outlines take their thickness."""
        self.robot = robot
        palette = depth_colors(robot)
        owners = [*robot.body_names, ""]  # the last one is the ground
        parts: list[tuple[int, Shape, Color]] = [
            (number, shape, own_color(shape, palette[body.name]))
            for number, body in enumerate(robot.bodies)
            for shape in outlines.shapes_of(robot, body, size)
        ]
        if mounts:
            warn_of_meshes(robot)
            parts += [(len(owners) - 1, shape, GRAPHITE) for shape in outlines.mounts(robot, size)]
        surfaces = [facets(shape, Grain(THICKNESS * size)) for _, shape, _ in parts]
        counts = [len(surface) for surface in surfaces]
        self.surface: Array = np.concatenate([np.zeros((0, 4, 3)), *surfaces])
        self.owner = np.repeat(np.array([number for number, _, _ in parts], dtype=int), counts)
        colors = np.array([(*color[:3], opacity(shape)) for _, shape, color in parts], dtype=float).reshape(-1, 4)
        self.colors: Array = np.repeat(colors, counts, axis=0)

    def posed(self, poses: Poses, number: int) -> Array:
        """All facets in the world, shape (n, 4, 3), in one of the configurations."""
        names = self.robot.body_names
        R = np.stack([*(poses.R[name][number] for name in names), np.eye(3)])
        p = np.stack([*(poses.p[name][number] for name in names), np.zeros(3)])
        turned = np.einsum("nij,nkj->nki", R[self.owner], self.surface)
        placed: Array = turned + p[self.owner][:, None, :]
        return placed


def lit(surface: Array, colors: Array, fade: float = 0.0) -> Array:
    """RGBA per facet, shape (n, 4): ambient light, a lamp, a little gloss; faded toward white for ghosts."""
    toward = np.clip(normals(surface) @ LIGHT, 0.0, 1.0)[:, None]
    bright = colors[:, :3] * (AMBIENT + (1.0 - AMBIENT) * toward) + 0.10 * toward**12
    faded = np.clip(bright + (1.0 - bright) * fade, 0.0, 1.0)
    return np.column_stack([faded, colors[:, 3]])


# ── looking at it ─────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Lens:
    """A view from far away: rows of `axes` point right, up, and toward the viewer."""

    axes: Array
    flat: bool = False  # looks straight at a plane of motion

    @classmethod
    def toward(cls, elevation: float, azimuth: float, *, flat: bool = False) -> Lens:
        """The view from an elevation and azimuth [deg]."""
        e, a = np.radians([elevation, azimuth])
        right = np.array([-np.sin(a), np.cos(a), 0.0])
        front = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
        return cls(np.stack([right, np.cross(front, right), front]), flat)

    def seen(self, points: Array) -> Array:
        """Points (..., 3) as (right, up, nearness) [m]."""
        found: Array = points @ self.axes.T
        return found

    def painted(self, surface: Array, colors: Array) -> tuple[Array, Array]:
        """(outlines (n, 4, 2) [m], RGBA) of the facets that face the viewer, the far ones first.

        Of translucent shapes all facets are shown.
        """
        facing = (normals(surface) @ self.axes[2] > 0.0) | (colors[:, 3] < 1.0)
        seen, shown = self.seen(surface[facing]), colors[facing]
        order = np.argsort(seen[:, :, 2].mean(axis=1), kind="stable")
        return seen[order][:, :, :2], shown[order]


def fitting_lens(poses: Poses, camera: CameraChoice) -> Lens:
    """The lens of a camera; where none is given, straight at the vertical plane of motion, if there is one."""
    place = camera_of(camera)
    if camera is not None:
        return Lens.toward(place.elevation, place.azimuth)
    # the origins of all frames and points beside them, so that turning counts as well
    beside = 0.1 * np.array([np.zeros(3), *np.eye(3)])
    points = np.concatenate(
        [poses.p[name][:, None, :] + beside @ np.swapaxes(R, 1, 2) for name, R in poses.R.items()], 1
    )
    azimuth = plane_azimuth((points - points[:1]).reshape(-1, 3))
    if azimuth is None:
        return Lens.toward(place.elevation, place.azimuth)
    return Lens.toward(0.0, azimuth, flat=True)


def plane_azimuth(moves: Array) -> float | None:
    """From where one looks straight at the vertical plane of moves (n, 3) [m]: an azimuth [deg], x or y to the right.

    None where they lie in no such plane, or on a line.
    """
    sizes, directions = np.linalg.svd(moves.T @ moves)[1:]  # sums of squares
    normal = directions[2]
    in_plane = sizes[2] <= FLAT**2 * sizes[0] and sizes[1] > FLAT**2 * sizes[0]
    if not in_plane or abs(normal[2]) > 1e-6:
        return None
    azimuth = float(np.degrees(np.arctan2(normal[1], normal[0])))
    return azimuth if -180.0 < azimuth <= 0.0 else azimuth - 180.0


def box_of(puppet: Puppet, poses: Poses, numbers: Sequence[int]) -> tuple[Array, Array]:
    """Lowest and highest corner [m] of all facets in some of the configurations."""
    corners = [np.zeros((1, 3))] if not len(puppet.surface) else []
    for number in numbers:
        corners += [puppet.posed(poses, number).reshape(-1, 3)] if len(puppet.surface) else []
    lows, highs = zip(*((points.min(axis=0), points.max(axis=0)) for points in corners), strict=True)
    return np.min(lows, axis=0), np.max(highs, axis=0)


def extent_of(robot: Robot, poses: Poses, number: int = 0) -> float:
    """The size of a robot [m] in one of the configurations."""
    return outlines.extent(robot, poses.at(number))
