"""The surroundings of the figures on the page: the ground and its grid, and the initial camera."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.display.cameras import Lens
from kinemorph.display.scenes.scene import Scene
from kinemorph.display.viewer.nodes import add_mesh

FIELD = np.radians(40.0)  # vertical field of view
NARROW = 1.1  # width over height of the narrowest window in which the whole box is visible
MARGIN = 1.12  # distance of the camera over the least one at which the whole box is visible
CELLS = 12.0  # approximate number of grid cells along the scene


def furnish(server: Any, scene: Scene, box: Array, place: tuple[float, float]) -> tuple[Any, Array]:
    """Adds ground, grid and camera to the page; returns (node of the grid, vector (3,) [m] from scene to camera).

    The camera sees the box (2, 3) [m] from `place`, its elevation and azimuth [deg].
    """
    server.scene.world_axes.visible = False
    for number, part in enumerate(scene.grounds):
        add_mesh(server.scene, f"/ground/{number}", part)
    size = max(float(np.ptp(scene.box, axis=0).max()), 1e-3)
    cell = _round(size / CELLS)
    grid = server.scene.add_grid(
        "/grid",
        infinite_grid=True,
        cell_size=cell,
        section_size=5.0 * cell,
        cell_color=(214, 218, 224),
        section_color=(178, 186, 196),
        fade_distance=9.0 * size,
        fade_strength=1.4,
        shadow_opacity=0.16,
        position=(0.0, 0.0, scene.floor - (0.03 if scene.grounds else 1e-3) * size),  # a little below the ground
    )
    position, middle = seat(box, place)
    camera = server.initial_camera
    camera.up, camera.fov = (0.0, 0.0, 1.0), float(FIELD)
    camera.near, camera.far = 0.01 * size, 100.0 * size
    camera.position, camera.look_at = tuple(position), tuple(middle)
    return grid, position - middle


def seat(box: Array, place: tuple[float, float]) -> tuple[Array, Array]:
    """(position of the camera, point it looks at), (3,) [m] each, such that it sees the whole box (2, 3) [m].

    `place` is its elevation and azimuth [deg].
    """
    middle = box.mean(axis=0)
    elevation, azimuth = place
    # exactly from above, the up direction z would be undefined in the picture
    axes = Lens.toward(float(np.clip(elevation, -89.9, 89.9)), azimuth).axes
    corners = np.array([[box[i, 0], box[j, 1], box[k, 2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
    right, up, near = ((corners - middle) @ axes.T).T
    slope = np.tan(0.5 * FIELD)
    distance = np.max(near + np.maximum(np.abs(up), np.abs(right) / NARROW) / slope)
    least = 0.5 * float(np.linalg.norm(np.ptp(box, axis=0))) + 1e-3
    return middle + MARGIN * max(float(distance), least) * axes[2], middle


def _round(length: float) -> float:
    """The largest of 1, 2 or 5 times a power of ten that is not above a length [m]."""
    power = 10.0 ** np.floor(np.log10(length))
    return float(power * max(step for step in (1.0, 2.0, 5.0) if step * power <= length * (1.0 + 1e-9)))
