"""Reads the bodies of a TOML file: mass data, uniform solids, shapes and meshes."""

from __future__ import annotations

from typing import Any

from kinemorph.formats.blueprint import Blueprint
from kinemorph.formats.mesh_search import MeshSearch, MeshUse
from kinemorph.formats.position_blueprint import PositionBlueprint
from kinemorph.formats.sources import Options, Source
from kinemorph.formats.toml import fields as rows
from kinemorph.formats.toml.motion import Motion
from kinemorph.formats.toml.values import At, Values
from kinemorph.model.body import NO_INERTIA, ORIGIN, Body
from kinemorph.model.shapes import Mesh, MeshFile, Shape


class Bodies:
    """Reads the tables [bodies.*] of a model file. The mesh files of all bodies are located once, at the start."""

    def __init__(
        self, values: Values, source: Source, options: Options, table: Any, motion: Motion | None = None
    ) -> None:
        """`table` is [bodies]; `motion` reads the positions of a robot that is described by position matrices."""
        self.values, self.motion = values, motion
        uses = mesh_uses(table, values)
        self.paths = MeshSearch(source, options).paths(uses, values.findings) if uses else {}

    def declare(self, blueprint: Blueprint, line: int, name: str, raw: dict[str, Any], at: At) -> None:
        """Declares the body of the table `raw`, which begins at `line`."""
        amended = amends(blueprint, "body", name, raw)
        read = self.values.table(raw, at, rows.BODY_AMENDMENT if amended else rows.BODY)
        if "solid" in raw and not amended:
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
        if amended:
            blueprint.amend("body", name, read)
            return
        if isinstance(blueprint, PositionBlueprint) and self.motion is not None:
            self._place(blueprint, self.motion, line, name, raw, read, at)
            return
        for key in ("position", "reference"):
            if key in raw:
                problem = f"{key} is given in a file whose robot is made of joints or modules"
                self.values.error(
                    "structure", at.key(key), problem, "Leave it out, or describe the robot by positions."
                )
        read.pop("reference", None)
        blueprint.body(line, name, **read)

    def _place(
        self,
        blueprint: PositionBlueprint,
        motion: Motion,
        line: int,
        name: str,
        raw: dict[str, Any],
        read: dict[str, Any],
        at: At,
    ) -> None:
        """Declares a body by its position; `read` are its other data."""
        if read.pop("com", ORIGIN) != ORIGIN:
            problem = "com is not at the origin, but position gives the center of mass"
            self.values.error("structure", at.key("com" if "com" in raw else "solid"), problem, "Leave com out.")
        if "position" not in raw:
            self.values.missing(at, "position", rows.BODY[-2])
            return
        before = self.values.error_count
        position = motion.position(raw["position"], at.key("position"))
        if self.values.error_count == before:
            mass, inertia = read.pop("mass", 0.0), read.pop("inertia", NO_INERTIA)
            blueprint.placed(line, name, mass, inertia, position, **read)

    def _solid(self, name: str, mass: Any, raw: Any, at: At) -> Body:
        """The body of a uniform solid of this mass.

        If the table `raw` is wrong, the errors are recorded, and the body has neither mass nor shape.
        """
        row = self.values.kind(raw, at, rows.SOLIDS)
        if row is None:
            return Body(name)
        before = self.values.error_count
        read = self.values.table(raw, at, row.fields, skip=("kind",))
        return Body(name) if self.values.error_count > before else row.make(name, mass, **read)

    def _shape(self, raw: Any, at: At) -> Shape | None:
        """The shape that the table `raw` describes; None if the table is wrong, which is recorded as an error."""
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


def amends(blueprint: Blueprint, kind: str, name: str, raw: dict[str, Any]) -> bool:
    """Whether a table of a sidecar gives further data of a body or joint that the model file declares.

    That of a joint has no kind, and that of a body nothing but shapes.
    """
    keys = {"joint": "kind" not in raw, "body": raw.keys() <= {field.name for field in rows.BODY_AMENDMENT}}
    return keys.get(kind, False) and blueprint.has(kind, name)


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
