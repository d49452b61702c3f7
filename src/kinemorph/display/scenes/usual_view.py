"""The default camera of a scene: perpendicular to a plane of motion, and following a robot that travels very far."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kinemorph.algebra.arrays import Array, evenly
from kinemorph.display.cameras import Camera, CameraChoice, Lens, camera_of
from kinemorph.display.looks.quaternions import rotated
from kinemorph.display.scenes.scene import Scene
from kinemorph.model.topology import WORLD

FAR = 50.0  # path length over robot size from which a camera follows: else the robot would be a few pixels large
AWAY = 1.5  # travel over robot size from which the camera of a film follows: the first picture shows it no more
FLOATING = ("free", "planar")
FLAT = 1e-6  # a motion is planar if its part out of the plane is below this fraction of its part in the plane
RAISED = 14.0  # elevation from which planar motion is seen [deg]
LOOKED_AT = 200  # number of times at which the motion is examined


def plane_azimuth(*paths: tuple[Array, Array]) -> float | None:
    """The azimuth [deg] of a camera that looks perpendicularly at the vertical plane in which all bodies move.

    `paths` has (positions (n, n_b, 3) [m], unit quaternions (n, n_b, 4) wxyz) of the bodies of each robot at n times.
    None where there is no such plane, or where all motion is along one line.
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
    """Displacements (k, 3) [m] of the bodies' origins and of points 0.1 m beside them, which include rotations."""
    rows = evenly(len(positions), LOOKED_AT)
    beside = 0.1 * np.array([np.zeros(3), *np.eye(3)])
    points = positions[rows, :, None] + rotated(quaternions[rows, :, None], beside)
    return (points - points[:1]).reshape(-1, 3)


def followed_body(scene: Scene) -> str | None:
    """The first body of a scene's only robot if it travels farther than FAR robot sizes, so a camera follows it; else
    None.
    """
    if len(scene.figures) != 1 or not scene.figures[0].bodies:
        return None
    figure = scene.figures[0]
    way = float(np.linalg.norm(np.ptp(figure.positions[:, 0], axis=0)))
    return figure.bodies[0] if way > FAR * figure.size else None


def followed(scene: Scene, follow: str | None) -> str | None:
    """The body that a camera follows: `follow`, none for "world", and by default that of `followed_body`."""
    return None if follow == WORLD else follow or followed_body(scene)


def walker(scene: Scene) -> str | None:
    """The floating base of a scene's only robot if it walks out of the view of the first frame; else None.

    A robot of one body, such as a ball that is thrown, is seen on its whole path.
    """
    figure = scene.figures[0]
    floating = [joint.child for joint in figure.robot.joints if joint.parent == WORLD and joint.kind in FLOATING]
    if len(scene.figures) != 1 or len(figure.bodies) < 2 or not floating:
        return None
    way = figure.positions[:, figure.bodies.index(floating[0]), :2]
    return floating[0] if np.linalg.norm(way - way[0], axis=1).max() > AWAY * figure.size else None


def replay_camera(scene: Scene, camera: CameraChoice, follow: str | None) -> Camera:
    """The initial camera of a replay; by default planar motion is seen perpendicularly, from a little above."""
    chosen = camera_of(camera, followed(scene, follow), *(figure.robot for figure in scene.figures))
    first = scene.figures[0]
    if camera is not None or not first.bodies:
        return chosen
    azimuth = plane_azimuth((first.positions, first.quaternions))
    if azimuth is None:
        return chosen
    apart = np.ptp([figure.offset for figure in scene.figures], axis=0)
    if np.abs(Lens.toward(0.0, azimuth).axes[2]) @ apart > 0.0:  # figures must not hide one another
        return chosen
    return replace(chosen, elevation=RAISED, azimuth=round(azimuth, 3))
