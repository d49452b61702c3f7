"""Reads the bodies of a TOML file: mass data, uniform solids, shapes and meshes."""

from __future__ import annotations

from typing import Any

from kinemorph.formats.blueprint import Blueprint
from kinemorph.formats.mesh_search import MeshSearch, MeshUse
from kinemorph.formats.sources import Options, Source
from kinemorph.formats.toml import fields as rows
from kinemorph.formats.toml.values import At, Values
from kinemorph.model.body import Body
from kinemorph.model.shapes import Mesh, MeshFile, Shape


class Bodies:
    """Reads the tables [bodies.*]; mesh files of all bodies are searched together."""

    def __init__(self, values: Values, source: Source, options: Options, table: Any) -> None:
        self.values = values
        uses = mesh_uses(table, values)
        self.paths = MeshSearch(source, options).paths(uses, values.findings) if uses else {}

    def declare(self, blueprint: Blueprint, line: int, name: str, raw: dict[str, Any], at: At) -> None:
        """Declares the body of the table `raw`, which begins at `line`."""
        read = self.values.table(raw, at, rows.BODY)
        if "solid" in raw:
            solid = self._solid(name, read.get("mass", 0.0), raw["solid"], at.key("solid"))
            read |= {"com": solid.com, "inertia": solid.inertia, "shapes": solid.shapes}
            for key in ("com", "inertia"):
                if key in raw:
                    problem = f"{key} is given together with solid, expected only one of the two"
                    self.values.error("structure", at.key(key), problem, "Remove one of the two.")
        for key in ("shapes", "collisions"):
            if key in raw:
                shapes = enumerate(self.values.items(raw[key], at.key(key)))
                read[key] = tuple(shape for i, item in shapes if (shape := self._shape(item, at.key(key).key(i))))
        blueprint.body(line, name, **read)

    def _solid(self, name: str, mass: Any, raw: Any, at: At) -> Body:
        """The body of a uniform solid of this mass; without mass data, with findings, on error."""
        row = self.values.kind(raw, at, rows.SOLIDS)
        if row is None:
            return Body(name)
        before = self.values.error_count
        read = self.values.table(raw, at, row.fields, skip=("kind",))
        return Body(name) if self.values.error_count > before else row.make(name, mass, **read)

    def _shape(self, raw: Any, at: At) -> Shape | None:
        """The shape that a table describes; None, with findings, on error."""
        if isinstance(raw, dict) and raw.get("kind") == "mesh":
            if "vertices" in raw or "faces" in raw:
                return self._made(Mesh, self.values.table(raw, at, rows.MESH, skip=("kind",)), at)
            return self._mesh_file(raw, at)
        row = self.values.kind(raw, at, {**rows.SHAPES, "mesh": None})
        if row is None:
            return None
        return self._made(row[0], self.values.table(raw, at, row[1], skip=("kind",)), at)

    def _made(self, shape: type[Any], read: dict[str, Any], at: At) -> Shape | None:
        """The shape of a type with the data that were read; None if a size is missing."""
        try:
            made: Shape = shape(**read)
        except TypeError:  # a size is missing, which is a finding already
            return None
        return made

    def _mesh_file(self, raw: dict[str, Any], at: At) -> MeshFile | None:
        """The mesh in a file; None if the reader is not allowed to open the file, which is reported elsewhere."""
        read = self.values.table(raw, at, rows.MESH_FILE, skip=("kind",))
        name = read.pop("file", "")
        path = self.paths.get(name)
        return None if path is None else MeshFile(name, path, **read)


def mesh_uses(table: Any, values: Values) -> dict[str, MeshUse]:
    """The mesh files that bodies name, each with the line and body that name it first. `table` is [bodies]."""
    uses: dict[str, MeshUse] = {}
    for body, raw in table.items() if isinstance(table, dict) else ():
        for key in ("shapes", "collisions"):
            shapes = raw.get(key) if isinstance(raw, dict) else None
            for i, shape in enumerate(shapes if isinstance(shapes, list) else ()):
                name = shape.get("file") if isinstance(shape, dict) and shape.get("kind") == "mesh" else None
                if isinstance(name, str) and name and name not in uses:
                    uses[name] = MeshUse(values.lines.line(("bodies", body, key, i, "file")), f"body '{body}'")
    return uses
