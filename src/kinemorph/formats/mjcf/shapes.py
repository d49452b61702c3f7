"""Reads geoms of a compiled MuJoCo model as shapes to draw, collision shapes, or both.

A geom that takes part in contacts (contype or conaffinity) is a collision shape, with its surface. A geom in the groups
0 to 2, which MuJoCo shows, is a shape to draw, and so is every geom without contacts. Planes and height fields are
ground, which is drawn with the contacts on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kinemorph.algebra.groups import Pose, compose, inverse, quat_to_rotation
from kinemorph.formats.mjcf.compiler import Compiled
from kinemorph.formats.mjcf.files import Bundle
from kinemorph.formats.mjcf.surfaces import HFIELD, PLANE, Touching
from kinemorph.model.shapes import (
    Box,
    Capsule,
    Color,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    Mesh,
    MeshFile,
    Shape,
    Sphere,
    Terrain,
    with_surface,
)
from kinemorph.vocabulary.frozen_array import FrozenArray

MESH = 7  # mjtGeom
SOLIDS: dict[int, Callable[[Sequence[float], Pose, Color], Shape]] = {
    2: lambda size, placement, color: Sphere(size[0], placement, color),
    3: lambda size, placement, color: Capsule(size[0], 2.0 * size[1], placement, color),
    4: lambda size, placement, color: Ellipsoid((size[0], size[1], size[2]), placement, color),
    5: lambda size, placement, color: Cylinder(size[0], 2.0 * size[1], placement, color),
    PLANE: lambda size, placement, color: HalfSpace((size[0], size[1]), placement, color),
    6: lambda size, placement, color: Box((2.0 * size[0], 2.0 * size[1], 2.0 * size[2]), placement, color),
}
WITHOUT = {HFIELD: "hfield (very large)", MESH: "mesh (large, and not in a file of its own)", 8: "sdf"}
READABLE = (".stl", ".obj")
SHOWN = 2  # the last group that MuJoCo shows
DEFAULT_COLOR = (0.5, 0.5, 0.5, 1.0)  # a geom with this color has the color of its material

Looks = tuple[tuple[Shape, ...], tuple[Shape, ...]]


class Geometry:
    """The shapes of all bodies. `left_out` are the names of geoms that cannot be expressed as shapes, by type."""

    def __init__(self, model: Compiled, bundle: Bundle) -> None:
        self.model, self.bundle, self.touching = model, bundle, Touching(model)
        self.left_out: dict[str, list[str]] = {}
        self.with_contact: list[int] = []  # the ids of geoms that are collision shapes

    def by_body(self) -> dict[int, Looks]:
        """(shapes, collision shapes) of bodies, by MuJoCo's id of the body."""
        model = self.model
        shapes: dict[int, list[Shape]] = {}
        collisions: dict[int, list[Shape]] = {}
        for k, body in enumerate(model.geom_bodyid.tolist()):
            shape = self._shape(k)
            if shape is None:
                kind = WITHOUT.get(int(model.geom_type[k]), "other")
                self.left_out.setdefault(kind, []).append(model.names["geom"][k])
                continue
            touches = self.touching.acts(k)
            if touches:
                shape = with_surface(shape, self.touching.surface(k))
                self.with_contact.append(k)
                collisions.setdefault(body, []).append(shape)
            is_ground = isinstance(shape, (HalfSpace, Terrain))
            if not is_ground and (not touches or model.geom_group[k] <= SHOWN):
                shapes.setdefault(body, []).append(shape)
        return {body: (tuple(shapes.get(body, ())), tuple(collisions.get(body, ()))) for body in {*shapes, *collisions}}

    def _shape(self, k: int) -> Shape | None:
        """The shape of geom number k; None if it cannot be expressed."""
        model = self.model
        placement = Pose(quat_to_rotation(model.geom_quat[k].tolist()), tuple(model.geom_pos[k].tolist()))
        kind, color = int(model.geom_type[k]), self._color(k)
        if kind in SOLIDS:
            return SOLIDS[kind](model.geom_size[k].tolist(), placement, color)
        if kind == HFIELD:
            return self._terrain(int(model.geom_dataid[k]), placement, color)
        return self._mesh(int(model.geom_dataid[k]), placement, color) if kind == MESH else None

    def _terrain(self, field: int, placement: Pose, color: Color) -> Shape | None:
        """The height field number `field`; None if it is too large to be passed on."""
        data = self.model.arrays.get(f"hfield{field}")
        if data is None:
            return None
        x, y, top, _ = self.model.hfield_size[field].tolist()
        rows, columns = data.shape
        spacing = (2.0 * x / (columns - 1), 2.0 * y / (rows - 1))
        return Terrain(FrozenArray(top * data.T), spacing, placement, color)

    def _color(self, k: int) -> Color:
        """The color of geom number k, or of its material."""
        model = self.model
        color, material = tuple(model.geom_rgba[k].tolist()), int(model.geom_matid[k])
        if color == DEFAULT_COLOR and material >= 0:
            color = tuple(model.mat_rgba[material].tolist())
        return tuple(min(max(round(part, 6), 0.0), 1.0) if part == part else 1.0 for part in color)

    def _mesh(self, mesh: int, placement: Pose, color: Color) -> Shape | None:
        """The mesh number `mesh`, if possible by its file; None if it is large and its format cannot be read.

        MuJoCo moves a mesh to its center of mass and rotates it to its principal axes; for a file this is undone.
        """
        model = self.model
        name, path = self.bundle.origins.get(model.paths[mesh], ("", ""))
        moved = Pose(quat_to_rotation(model.mesh_quat[mesh].tolist()), tuple(model.mesh_pos[mesh].tolist()))
        if path.lower().endswith(READABLE) and model.paths[mesh] not in self.bundle.turned:
            x, y, z = model.mesh_scale[mesh].tolist()
            return MeshFile(name, path, (x, y, z), compose(placement, inverse(moved)), color)
        vertices, faces = model.arrays.get(f"vertices{mesh}"), model.arrays.get(f"faces{mesh}")
        if vertices is None or faces is None:
            return None
        corners = tuple((x, y, z) for x, y, z in vertices.tolist())
        return Mesh(corners, tuple((a, b, c) for a, b, c in faces.tolist()), name, placement, color)
