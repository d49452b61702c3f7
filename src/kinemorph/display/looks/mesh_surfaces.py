"""Mesh files in pictures: read, made coarse enough to draw, and one warning for all that cannot be had."""

from __future__ import annotations

import warnings

from kinemorph.errors import MissingExtraError, ModelError, ModelWarning, users_level
from kinemorph.model.meshes import surface
from kinemorph.model.robot import Robot
from kinemorph.model.shapes import Mesh, MeshFile

MESH_FACES = 2_000  # a mesh file is drawn with at most so many triangles


def read_mesh(shape: MeshFile, faces: int = MESH_FACES) -> tuple[Mesh | None, str]:
    """A mesh file as a surface that is coarse enough to draw; None with the reason where it cannot be had."""
    try:
        return surface(shape, faces=faces), ""
    except (ModelError, MissingExtraError) as error:
        return None, str(error)


def warn_of_meshes(robot: Robot) -> None:
    """One warning for all mesh files that cannot be drawn."""
    reasons = [read_mesh(shape)[1] for body in robot.bodies for shape in body.shapes if isinstance(shape, MeshFile)]
    lost = [reason for reason in reasons if reason]
    if lost:
        count = f"{len(lost)} meshes are" if len(lost) > 1 else "a mesh is"
        text = f"robot '{robot.name}': {count} not drawn; {'the first: ' if len(lost) > 1 else ''}{lost[0]}"
        warnings.warn(text, ModelWarning, stacklevel=users_level())
