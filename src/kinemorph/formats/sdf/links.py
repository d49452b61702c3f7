"""Reads links of SDF: mass data, visual and collision shapes.

A link without <inertial> has SDF's default of 1 kg and 1 kg m^2 about every axis; a warning says so if the link moves.
For <inertial auto="true">, mass data are computed from the collision shapes, each of uniform density.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from typing import NamedTuple

from kinemorph.algebra.groups import IDENTITY, Pose, compose, rotation
from kinemorph.algebra.inertia import Inertia, added, transformed
from kinemorph.algebra.vectors import diagonal, mat_scale
from kinemorph.formats.findings import Findings
from kinemorph.formats.mesh_search import MeshSearch, MeshUse
from kinemorph.formats.sdf.frames import Frames
from kinemorph.formats.sdf.models import Model
from kinemorph.formats.sdf.solids import SOLIDS, SPANS
from kinemorph.formats.sdf.surfaces import Surfaces
from kinemorph.formats.sdf.values import SdfValues, text_of
from kinemorph.formats.sources import Options, Outside
from kinemorph.formats.xml_documents import Node, line_of
from kinemorph.formats.xml_values import Tally
from kinemorph.model.shapes import (
    STEEL,
    Box,
    Capsule,
    Color,
    Cylinder,
    Ellipsoid,
    Frustum,
    HalfSpace,
    MeshFile,
    Shape,
    Sphere,
)

WATER = 1000.0  # [kg/m^3], SDF's default density for <inertial auto="true">
UNSHOWN = ("plane", "heightmap", "image", "polyline")  # shapes of SDF that cannot be expressed
DECIDED = {  # switches of a link that affect its motion, and the value that has no effect
    "kinematic": False,
    "enable_wind": False,
    "self_collide": False,
}


class LinkParts(NamedTuple):
    """The data of a body that were read from a link."""

    inertia: Inertia
    shapes: tuple[Shape, ...]
    collisions: tuple[Shape, ...]
    assumed: bool  # whether mass or inertia is SDF's default
    floats: bool = False  # whether gravity does not act on the link


class Links:
    """Reads links, whose shapes may have poses relative to any frame of the model."""

    def __init__(self, frames: Frames, options: Options, tally: Tally) -> None:
        self.frames, self.options, self.tally = frames, options, tally
        self._searches: dict[str, MeshSearch] = {}
        self._lost: dict[str, tuple[Findings, dict[str, MeshUse]]] = {}  # by file: meshes that are not found
        self._surfaces = Surfaces(tally)

    def tell_lost_meshes(self) -> None:
        """Warns of the meshes that are not found, in the words of all formats: once per file and package."""
        for name, (findings, uses) in self._lost.items():
            self._searches[name].paths(uses, findings)

    def parts(self, node: Node, model: Model, key: str) -> LinkParts:
        """Mass data, visual and collision shapes of a link whose frame has the key `key`."""
        element = f"link '{node.get('name')}'"
        shown = [self._shape(child, model, key, element) for child in node.iterchildren("visual")]
        touching = [self._touching(child, model, key, element) for child in node.iterchildren("collision")]
        self._switches(node, model, element)
        inertia, assumed = self._inertia(node, model, key, element)
        return LinkParts(
            inertia,
            tuple(shape for shape in shown if shape is not None),
            tuple(shape for shape in touching if shape is not None),
            assumed,
            not model.file.values.switch(node, "gravity", element, True),
        )

    def _switches(self, node: Node, model: Model, element: str) -> None:
        """Warns about switches and damping of a link that affect its motion, but cannot be expressed."""
        values = model.file.values
        for tag, usual in DECIDED.items():
            if values.switch(node, tag, element, usual) is not usual:
                self._drop(model, node.find(tag), f"<{tag}>{str(not usual).lower()}</{tag}> of a link", element)
        decay = node.find("velocity_decay")
        if decay is not None and any(values.value(decay, tag, element, 0.0) for tag in ("linear", "angular")):
            self._drop(model, decay, "<velocity_decay>", element)

    def _drop(self, model: Model, node: Node, what: str, element: str) -> None:
        """Warns that `what` is left out."""
        remedy = "Remove it, or expect another motion than in Gazebo."
        self.tally.add(model.file.values.at(node, element), "dropped", f"{what} has no effect", remedy)

    # ── mass ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _inertia(self, node: Node, model: Model, key: str, element: str) -> tuple[Inertia, bool]:
        """(mass data in the frame of the link, whether mass or inertia is SDF's default)."""
        values = model.file.values
        inertial = values.only(node, "inertial", element)
        if inertial is None:
            return Inertia(1.0, (0.0, 0.0, 0.0), diagonal((1.0, 1.0, 1.0))), True
        if inertial.find("fluid_added_mass") is not None:
            self._drop(model, inertial.find("fluid_added_mass"), "<fluid_added_mass>", element)
        if values.truth(inertial, inertial.get("auto", "0"), "<inertial> auto", element, False):
            return self._computed(node, inertial, model, key, element), False
        moments = values.only(inertial, "inertia", element)
        mass = values.value(inertial, "mass", element, 1.0)
        entries = {}
        for tag in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz"):
            default = 1.0 if tag[1] == tag[2] else 0.0
            entries[tag] = default if moments is None else values.value(moments, tag, element, default)
        missing = moments is None or any(moments.find(tag) is None for tag in ("ixx", "iyy", "izz"))
        xx, yy, zz, xy, xz, yz = entries.values()
        pose, relative_to = values.pose(inertial, element)
        if relative_to:
            problem = f"<inertial>: the pose is relative to '{relative_to}', expected a pose relative to the link"
            values.at(inertial, element).error("structure", problem, "Remove relative_to.")
        inertia = Inertia(mass, (0.0, 0.0, 0.0), ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
        turned = transformed(inertia, pose) if pose.R is not IDENTITY.R else Inertia(mass, pose.p, inertia.moment)
        return turned, inertial.find("mass") is None or missing

    def _computed(self, node: Node, inertial: Node, model: Model, key: str, element: str) -> Inertia:
        """Mass data of the collision shapes of a link, with the density or the total mass of <inertial>."""
        values = model.file.values
        usual = values.value(inertial, "density", element, WATER)
        total = Inertia(0.0, (0.0, 0.0, 0.0), diagonal((0.0, 0.0, 0.0)))
        unsolid = "no <collision>" if node.find("collision") is None else ""
        for collision in node.iterchildren("collision"):
            geometry = collision.find("geometry")
            child = next(geometry.iterchildren("*"), None) if geometry is not None else None
            tag = "none" if child is None else child.tag
            solid = SOLIDS.get(tag)
            if solid is None:
                unsolid = f"a collision of geometry <{tag}>"
                continue
            density = values.value(collision, "density", element, usual)
            sizes = {size: values.value(child, size, element, 1.0) for size in ("radius", "length")}
            spans = values.vector(child, SPANS[tag], element, (1.0, 1.0, 1.0)) if tag in SPANS else ()
            try:
                volume, moments, height = solid(sizes["radius"], sizes["length"], spans)
            except OverflowError:
                problem = f"<{tag}> has sizes of {max(*sizes.values(), *spans):.3g} m, too large to compute its inertia"
                values.at(child, element).error("number", problem, "Correct its sizes, in meters.")
                continue
            mass = density * volume
            piece = Inertia(mass, (0.0, 0.0, height), mat_scale(mass, diagonal(moments)))
            total = added(total, transformed(piece, self._placed(collision, model, key, element, values)))
        if unsolid:
            problem = (
                f"<inertial auto> asks to compute the inertia, but the link has {unsolid}; expected a box, sphere, "
                "cylinder, capsule, cone or ellipsoid"
            )
            values.at(inertial, element).error("mass", problem, "Write mass, pose and inertia in <inertial>.")
        if inertial.find("mass") is not None and total.mass > 0.0:  # the density follows from this mass
            mass = values.value(inertial, "mass", element, 1.0)
            return Inertia(mass, total.com, mat_scale(mass / total.mass, total.moment))
        return total

    # ── shapes ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _placed(self, node: Node, model: Model, key: str, element: str, values: SdfValues) -> Pose:
        """The pose of a <visual> or <collision> in the frame of its link; `key` is the key of that frame."""
        pose, relative_to = values.pose(node, element)
        if not relative_to:
            return pose
        frame = self.frames.find(model.scope, relative_to)
        if frame is None:
            entry = self.frames.entries[key]
            self.frames.unknown(entry, f"<{node.tag}> relative_to", relative_to)
            return pose
        return compose(self.frames.between(key, frame), pose)

    def _shape(self, node: Node, model: Model, key: str, element: str) -> Shape | None:
        """The shape of a <visual> or <collision>; None if it is empty or, with a warning, cannot be expressed."""
        geometry = model.file.values.only(node, "geometry", element)
        child = None if geometry is None else next(geometry.iterchildren("*"), None)
        if child is None or child.tag == "empty":
            return None
        color = self._color(node, model, element)
        values = SdfValues(model.file.findings, optional=True)
        placement = self._placed(node, model, key, element, values)
        shape = self._solid(child, node.tag, model, placement, color, element, values)
        return None if values.faults else shape

    def _solid(
        self, child: Node, use: str, model: Model, placement: Pose, color: Color, element: str, values: SdfValues
    ) -> Shape | None:
        """The shape of the element inside <geometry>; `use` is "visual" or "collision"."""
        if child.tag == "mesh":
            return self._mesh(child, model, placement, color, element, values)
        if child.tag == "box":
            x, y, z = values.vector(child, "size", element, (1.0, 1.0, 1.0))
            return Box((x, y, z), placement, color)
        if child.tag == "ellipsoid":
            x, y, z = values.vector(child, "radii", element, (1.0, 1.0, 1.0))
            return Ellipsoid((x, y, z), placement, color)
        if child.tag == "plane" and use == "collision":
            return self._plane(child, placement, color, element, values)
        if child.tag in ROUND:
            radius, length = (values.value(child, size, element, 1.0) for size in ("radius", "length"))
            return ROUND[child.tag](radius, length, placement, color)
        what = f"a shape <{child.tag}>" if child.tag in UNSHOWN else f"the unknown shape <{str(child.tag)[:40]}>"
        rule = "dropped" if child.tag in UNSHOWN else "unknown"
        remedy = "Use another shape, or expect the link to be drawn without it."
        self.tally.add(values.at(child, element), rule, f"{what} is left out", remedy)
        return None

    def _plane(self, node: Node, placement: Pose, color: Color, element: str, values: SdfValues) -> Shape | None:
        """The ground below a <plane> of a <collision>."""
        x, y, z = values.vector(node, "normal", element, (0.0, 0.0, 1.0))
        length = math.hypot(x, y, z)
        if not length > 0.0:
            values.wrong(node, element, "data", "<normal> is zero, expected a direction", "Write 0 0 1.")
            return None
        axis, angle = (-y, x, 0.0), math.acos(max(-1.0, min(1.0, z / length)))
        across = math.hypot(x, y)
        R = rotation(tuple(part / across for part in axis), angle) if across > 0.0 else IDENTITY.R
        if across == 0.0 and z < 0.0:
            R = ((1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, -1.0))
        return HalfSpace((0.0, 0.0), compose(placement, Pose(R, (0.0, 0.0, 0.0))), color)

    def _touching(self, node: Node, model: Model, key: str, element: str) -> Shape | None:
        """The shape of a <collision> with its <surface>."""
        shape = self._shape(node, model, key, element)
        return shape if shape is None else self._surfaces.touching(node, shape, model.file.values, element)

    def _mesh(
        self, node: Node, model: Model, placement: Pose, color: Color, element: str, values: SdfValues
    ) -> Shape | None:
        """The shape of a <mesh>; `tell_lost_meshes` names those whose files are not found or may not be read."""
        path = None
        uri = values.text(node, "uri", element)
        source = model.file.source
        search = self._searches.setdefault(source.name, MeshSearch(source, self.options))
        with contextlib.suppress(Outside, OSError, ValueError):
            path = search.path(uri)
        if path is None:
            _, uses = self._lost.setdefault(source.name, (values.findings, {}))
            uses.setdefault(uri, MeshUse(line_of(node), element))
        if node.find("submesh") is not None:
            self._drop(model, node.find("submesh"), "the whole mesh is used, and <submesh>", element)
        x, y, z = values.vector(node, "scale", element, (1.0, 1.0, 1.0))
        return MeshFile(uri, path or "", (x, y, z), placement, color)

    def _color(self, node: Node, model: Model, element: str) -> Color:
        """The color of a <visual> or <collision>: the diffuse color of its material, or the default."""
        material = node.find("material")
        diffuse = None if material is None else material.find("diffuse")
        if diffuse is None:
            return STEEL
        parts, values = text_of(diffuse).split(), SdfValues(model.file.findings, optional=True)
        color = values.reals(diffuse, " ".join(parts), 3 if len(parts) == 3 else 4, "<diffuse>", element)
        if values.faults:
            return STEEL
        return tuple(min(max(part, 0.0), 1.0) for part in color)


ROUND: dict[str, Callable[[float, float, Pose, Color], Shape]] = {
    "sphere": lambda radius, length, placement, color: Sphere(radius, placement, color),
    "cylinder": Cylinder,
    "capsule": Capsule,
    "cone": lambda radius, length, placement, color: Frustum(radius, 0.0, length, placement, color),
}
