"""What URDF links look like and touch with: <visual> and <collision>, their solids, meshes and colors.

Meshes are only looked for here, in the folders that may be read; their files are opened when they are drawn.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.model.formats.sources import Outside, find_file
from kinemorph.model.formats.urdf_reading import Reading
from kinemorph.model.formats.xml_documents import Node, line_of
from kinemorph.model.reading import short
from kinemorph.model.shapes import STEEL, Box, Capsule, Color, Cylinder, MeshFile, Shape, Sphere

UNSCALED = (1.0, 1.0, 1.0)


class ShapeReader:
    """Reads shapes; keeps the materials that have names and the folders that were looked into."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.values = reading.values
        self.colors: dict[str, Color] = {}
        self._folders: dict[str, tuple[str, frozenset[str]]] = {}  # of a mesh's name: where it lies, its plain files
        self._paths: dict[str, str | None] = {}
        self._lost: dict[str, list[tuple[str, int, str]]] = {}  # by package: name, line, element of a missing mesh

    def shape(self, node: Node, element: str) -> Shape | None:
        """The shape of a <visual> or <collision>; None, with a finding, where there is none to be had."""
        pose, solid, color, place = None, None, STEEL, node.tag
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
                pose = self.reading.origin(part, element)
            elif tag == "material" and place == "visual":
                color = self.material(part, element)
            else:
                self.reading.other(part, place, element)
        if solid is None:
            self.reading.doubt(
                "structure",
                f"{place} without geometry",
                node,
                element,
                f"<{place}> has no solid inside <geometry>, expected one of {', '.join(SOLIDS)}: it is left out",
                "Add one, or remove the element.",
            )
            return None
        return SOLIDS[solid.tag](self, solid, IDENTITY if pose is None else pose, color, element)

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
            scale = self.values.numbers(node, "scale", 3, element)  # type: ignore[assignment]
        path = self._path(name, node, element)
        return None if path is None else MeshFile(name, path, scale, pose, color)

    def _large(self, node: Node, size: float, element: str) -> bool:
        if size > 0.0:
            return True
        self.reading.doubt(
            "data",
            f"{node.tag} without extent",
            node,
            element,
            f"<{node.tag}> has the size {size:g}, expected above 0: it is left out",
            "Enlarge it, or remove it.",
        )
        return False

    # ── colors ────────────────────────────────────────────────────────────────────────────────────────────────────

    def material(self, node: Node, element: str) -> Color:
        """The color of a <material>: its own, which its name then stands for, or that of its name."""
        name = node.get("name", "")
        for part in node:
            if part.tag == "color" and part.get("rgba") is not None:
                rgba = self.values.numbers(part, "rgba", 4, element)
                if not (0.0 <= min(rgba) and max(rgba) <= 1.0):
                    self.reading.doubt(
                        "data",
                        "color",
                        part,
                        element,
                        f"<color> rgba is {short(part.get('rgba'))}, expected numbers from 0 to 1: they are cut off",
                        "Divide by 255 if needed.",
                    )
                    rgba = tuple(min(max(value, 0.0), 1.0) for value in rgba)
                self.colors[name] = rgba
                return rgba
        return self.colors.get(name, STEEL)

    # ── meshes ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _path(self, name: str, node: Node, element: str) -> str | None:
        """Where a mesh lies, "" where it is not found; None, with a finding, where it lies outside."""
        if name in self._paths:
            path = self._paths[name]
        else:
            path = self._paths[name] = self._found(name, node, element)
        if path == "":
            self._lost.setdefault(_package(name), []).append((name, line_of(node), element))
        return path

    def _found(self, name: str, node: Node, element: str) -> str | None:
        folder, _, file = name.rpartition("/")
        known = self._folders.get(folder)
        if known is not None and file in known[1]:  # a plain file beside one that was found, so no link leads away
            return f"{known[0]}/{file}"
        try:
            path = find_file(name, self.reading.source, self.reading.options)
        except (Outside, OSError, ValueError):
            self.reading.doubt(
                "path",
                "mesh",
                node,
                element,
                f"the mesh {short(name)} lies outside the folders that may be read: it is left out",
                "Name its folder in package_dirs, or move it beside the model.",
            )
            return None
        if path is None:
            return ""
        if known is None and path.name == file:
            self._folders[folder] = (str(path.parent), _plain_files(path.parent))
        return str(path)

    def settle(self) -> None:
        """Tells which meshes were not found: one warning for each package or folder."""
        for package, lost in self._lost.items():
            name, line, element = lost[0]
            files = len({row[0] for row in lost})
            what = f"the mesh {short(name)} is" if files == 1 else f"{files} meshes such as {short(name)} are"
            remedy = (
                f"Name the folder that holds '{package}' in package_dirs."
                if package
                else "Put it where the model looks for it."
            )
            self.reading.findings.warn(
                "mesh", line, element, f"{what} not there; the motion does not depend on it", remedy
            )
        self._lost.clear()


def _package(name: str) -> str:
    scheme, mark, rest = name.partition("://")
    return PurePosixPath(rest).parts[0] if mark and scheme in ("package", "model") and rest.strip("/") else ""


def _plain_files(folder: os.PathLike[str]) -> frozenset[str]:
    try:
        with os.scandir(folder) as entries:
            return frozenset(entry.name for entry in entries if entry.is_file(follow_symlinks=False))
    except OSError:
        return frozenset()


SOLIDS: dict[str, Callable[[ShapeReader, Node, Pose, Color, str], Any]] = {
    "mesh": ShapeReader._mesh,
    "box": ShapeReader._box,
    "cylinder": ShapeReader._cylinder,
    "sphere": ShapeReader._sphere,
    "capsule": ShapeReader._capsule,
}
