"""The usual camera of a scene: straight at a plane of motion, and following a robot that travels very far."""

from __future__ import annotations

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.display.looks.quaternions import rotated
from kinemorph.display.scenes.scene import Scene

FAR = 50.0  # of a robot's size: a path as long leaves it a few pixels
FLAT = 1e-6  # motion out of a plane, as a part of that in it, that counts as none
LOOKED_AT = 200  # times at which the motion is looked at


def plane_azimuth(*paths: tuple[Array, Array]) -> float | None:
    """The azimuth [deg] from which one looks straight at the vertical plane of motion, x or y to the right.

    `paths` are positions (n, n_b, 3) [m] and quaternions (n, n_b, 4) of bodies over time. None where they do not move
    in such a plane, or only along a line.
    """
    moves = np.concatenate([_moves(*path) for path in paths])
    sizes, directions = np.linalg.svd(moves.T @ moves)[1:]  # sums of squares
    normal = directions[2]
    in_plane = sizes[2] <= FLAT**2 * sizes[0] and sizes[1] > FLAT**2 * sizes[0]
    if not in_plane or abs(normal[2]) > 1e-6:
        return None
    azimuth = float(np.degrees(np.arctan2(normal[1], normal[0])))
    return azimuth if -180.0 < azimuth <= 0.0 else azimuth - 180.0


def _moves(positions: Array, quaternions: Array) -> Array:
    """Displacements (n, 3) [m] of all bodies' origins and of points beside them, so that turning counts as well."""
    rows = np.unique(np.linspace(0, len(positions) - 1, LOOKED_AT).astype(int))
    beside = 0.1 * np.array([np.zeros(3), *np.eye(3)])
    points = positions[rows, :, None] + rotated(quaternions[rows, :, None], beside)
    return (points - points[:1]).reshape(-1, 3)


def followed_body(scene: Scene) -> str | None:
    """The first body of a scene's only robot where it travels FAR, so a camera has to follow it; else None."""
    if len(scene.figures) != 1 or not scene.figures[0].bodies:
        return None
    figure = scene.figures[0]
    way = float(np.linalg.norm(np.ptp(figure.positions[:, 0], axis=0)))
    return figure.bodies[0] if way > FAR * figure.size else None
