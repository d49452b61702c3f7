"""Reads the shapes of URDF links: <visual> and <collision> with their solids, meshes and colors.

The paths of mesh files are searched after all shapes are read; the files are opened only when they are drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.formats.gazebo_surfaces import gazebo_surface
from kinemorph.formats.mesh_search import MeshSearch, MeshUse
from kinemorph.formats.urdf.cursor import Reading
from kinemorph.formats.xml_documents import Node, line_of
from kinemorph.formats.xml_values import Values
from kinemorph.model.input_reader import short
from kinemorph.model.shapes import STEEL, Box, Capsule, Color, Cylinder, MeshFile, Shape, Sphere, with_surface

UNSCALED = (1.0, 1.0, 1.0)
GAZEBO = {"mu1": "mu", "mu": "mu", "mu2": "mu2", "kp": "kp", "kd": "kd"}  # tags in <gazebo>
BULLET = {"lateral_friction": "mu", "stiffness": "kp", "damping": "kd"}  # tags in <contact>


class ShapeReader:
    """Reads shapes; stores the colors of named materials, and where mesh files are named."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.values = Values(reading.findings, optional=True)
        self.colors: dict[str, Color] = {}
        self.solids: dict[str, list[Node]] = {}  # the <visual> and <collision> nodes by the name of the link
        self.renamed: dict[str, str] = {}  # names of bodies that differ from those of their links
        self._before = 0  # wrong values before the shape that is being read
        self.touching: dict[str, dict[str, float]] = {}  # mu, mu2, kp and kd by the name of the link
        self.meshes: dict[str, tuple[Node, str]] = {}  # by the name of the file: node and element that name it first

    def dress(self) -> None:
        """Reads the shapes of all links, finds their mesh files, and adds the shapes to the declared bodies."""
        read = [
            (link, node.tag, self.shape(node, f"link '{link}'"))
            for link, nodes in self.solids.items()
            for node in nodes
        ]
        paths = self._paths()
        looks: dict[str, list[Shape]] = {}
        touches: dict[str, list[Shape]] = {}
        for link, tag, shape in read:
            placed = None if shape is None else _placed(shape, paths)
            if placed is not None and tag == "collision" and link in self.touching:
                given = self.touching[link]
                surface = gazebo_surface(given.get("mu"), given.get("kp"), given.get("kd"))
                placed = with_surface(placed, surface)
            if placed is not None:
                (looks if tag == "visual" else touches).setdefault(self.renamed.get(link, link), []).append(placed)
        self.reading.blueprint.builder.dress({
            body: (tuple(looks.get(body, ())), tuple(touches.get(body, ()))) for body in (looks | touches)
        })  # fmt: skip

    def shape(self, node: Node, element: str) -> Shape | None:
        """The shape of a <visual> or <collision>; None if it has no valid geometry, which is recorded as a finding."""
        pose, solid, color, place = None, None, STEEL, node.tag
        self._before = self.values.faults
        for part in node:
            tag = part.tag
            if tag == "geometry" and solid is None:
                for candidate in part:
                    if candidate.tag in SOLIDS and solid is None:
                        solid = candidate
                    else:
                        self.reading.other(candidate, "geometry", element)
                if solid is None:
                    break
            elif tag == "origin" and pose is None:
                pose = self.reading.origin(part, element, values=self.values)
            elif tag == "material" and place == "visual":
                faults = self.values.faults
                color = self.material(part, element)
                self._before += self.values.faults - faults  # a wrong color leaves the shape as it is
            else:
                self.reading.other(part, place, element)
        if solid is None:
            problem = f"<{place}> has no shape inside <geometry>, expected one of {', '.join(SOLIDS)}: it is left out"
            remedy = f"Add a shape, or remove <{place}>."
            self.reading.repeated("structure", f"{place} without geometry", node, element, problem, remedy)
            return None
        read: Shape | None = SOLIDS[solid.tag](self, solid, IDENTITY if pose is None else pose, color, element)
        return None if self._is_wrong else read

    # ── solids ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _box(self, node: Node, pose: Pose, color: Color, element: str) -> Shape | None:
        size = self.values.numbers(node, "size", 3, element)
        return Box(size, pose, color) if self._large(node, min(size), element) else None  # type: ignore[arg-type]

    def _sphere(self, node: Node, pose: Pose, color: Color, element: str) -> Shape | None:
        radius = self.values.number(node, "radius", element)
        return Sphere(radius, pose, color) if self._large(node, radius, element) else None

    def _cylinder(self, node: Node, pose: Pose, color: Color, element: str) -> Shape | None:
        radius, length = self.values.number(node, "radius", element), self.values.number(node, "length", element)
        return Cylinder(radius, length, pose, color) if self._large(node, min(radius, length), element) else None

    def _capsule(self, node: Node, pose: Pose, color: Color, element: str) -> Shape | None:
        radius, length = self.values.number(node, "radius", element), self.values.number(node, "length", element)
        return Capsule(radius, length, pose, color) if self._large(node, min(radius, length), element) else None

    def _mesh(self, node: Node, pose: Pose, color: Color, element: str) -> Shape | None:
        name = node.get("filename")
        if name is None:
            name = self.values.word(node, "filename", element)
            return None
        scale = UNSCALED
        if node.get("scale") is not None:
            if len(node.get("scale").replace(",", " ").split()) != 3:
                problem = f"<mesh> scale is {short(node.get('scale'))}, expected 3 numbers: the mesh is left out"
                self.reading.repeated("data", "mesh scale", node, element, problem, "Write exactly 3 numbers.")
                return None
            scale = self.values.numbers(node, "scale", 3, element)  # type: ignore[assignment]
        if name not in self.meshes:
            self.meshes[name] = (node, element)
        return MeshFile(name, "", scale, pose, color)

    @property
    def _is_wrong(self) -> bool:
        """Whether the shape that is being read has a wrong value."""
        return self.values.faults > self._before

    def _large(self, node: Node, size: float, element: str) -> bool:
        """Whether the smallest size [m] of a shape is above 0; otherwise warns."""
        if size > 0.0 or self._is_wrong:
            return size > 0.0
        problem = f"<{node.tag}> has the size {size:g}, expected above 0: it is left out"
        remedy = "Write sizes above 0, or remove the shape."
        self.reading.repeated("data", f"{node.tag} without extent", node, element, problem, remedy)
        return False

    # ── touching ──────────────────────────────────────────────────────────────────────────────────────────────────

    def gazebo(self, node: Node) -> None:
        """Reads friction, stiffness and damping of <gazebo reference="link">; `gazebo_tags` reads the others."""
        link = node.get("reference", "")
        for part in node.iterchildren("*"):
            name = GAZEBO.get(str(part.tag))
            if link and name:
                self._number(link, name, part, part.get("value") or (part.text or ""))
        given = self.touching.get(link, {})
        if "mu2" in given and given["mu2"] != given.get("mu", given["mu2"]):
            problem = (
                f"<mu2> is {given['mu2']:g} and <mu1> {given['mu']:g}: the friction is that of <mu1> in all directions"
            )
            self.reading.repeated("dropped", "gazebo mu2", node, f"link '{link}'", problem, "Make them equal.")

    def contact(self, link: str, node: Node) -> None:
        """Reads the <contact> of a link, as Bullet has it."""
        for part in node.iterchildren("*"):
            name = BULLET.get(str(part.tag))
            if name:
                self._number(link, name, part, part.get("value", ""))
            else:
                problem = f"<{part.tag}> in <contact> has no effect"
                remedy = "Expect a contact without it."
                self.reading.repeated("dropped", f"contact/{part.tag}", part, f"link '{link}'", problem, remedy)

    def _number(self, link: str, name: str, node: Node, text: str) -> None:
        """Stores a number of a link; a text that is none gives a warning."""
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if math.isfinite(value):
            self.touching.setdefault(link, {})[name] = value
            return
        problem = f"<{node.tag}> is {short(text)}, expected a number: it is left out"
        self.reading.repeated("data", f"touching {node.tag}", node, f"link '{link}'", problem, "Write a number.")

    # ── colors ────────────────────────────────────────────────────────────────────────────────────────────────────

    def material(self, node: Node, element: str) -> Color:
        """The color of a <material>: the one given in it, which is stored under its name, or the one stored before."""
        name = node.get("name", "")
        for part in node:
            if part.tag == "color" and part.get("rgba") is not None:
                faults = self.values.faults
                rgba = self.values.numbers(part, "rgba", 4, element)
                if self.values.faults > faults:
                    break
                if not (min(rgba) >= 0.0 and max(rgba) <= 1.0):
                    problem = (
                        f"<color> rgba is {short(part.get('rgba'))}, expected numbers from 0 to 1: other numbers "
                        "are clipped to this range"
                    )
                    remedy = "Divide the numbers by 255 if they are from 0 to 255."
                    self.reading.repeated("data", "color", part, element, problem, remedy)
                    rgba = tuple(min(max(value, 0.0), 1.0) for value in rgba)
                self.colors[name] = rgba
                return rgba
        return self.colors.get(name, STEEL)

    # ── meshes ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _paths(self) -> dict[str, str | None]:
        """The paths of mesh files by the names in the model; see `MeshSearch.paths`."""
        uses = {name: MeshUse(line_of(node), element) for name, (node, element) in self.meshes.items()}
        return MeshSearch(self.reading.source, self.reading.options).paths(uses, self.reading.findings)


def _placed(shape: Shape, paths: Mapping[str, str | None]) -> Shape | None:
    """A mesh with the path of its file; None if the file is outside the folders that the reader is allowed to open.

    Other shapes are returned unchanged.
    """
    if not isinstance(shape, MeshFile):
        return shape
    path = paths[shape.source]
    return None if path is None else MeshFile(shape.source, path, shape.scale, shape.placement, shape.color)


SOLIDS: dict[str, Callable[[ShapeReader, Node, Pose, Color, str], Any]] = {
    "mesh": ShapeReader._mesh,
    "box": ShapeReader._box,
    "cylinder": ShapeReader._cylinder,
    "sphere": ShapeReader._sphere,
    "capsule": ShapeReader._capsule,
}
