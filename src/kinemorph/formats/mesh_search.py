"""Finds the mesh files that a model names. Each folder is listed only once, however many meshes are in it."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from kinemorph.formats.findings import Findings
from kinemorph.formats.sources import Options, Outside, Source, find_file
from kinemorph.model.input_reader import short
from kinemorph.model.robot import Robot
from kinemorph.model.shapes import MeshFile, Shape
from kinemorph.words import counted


class MeshUse(NamedTuple):
    """Where a model names a mesh file for the first time: the line, and the element for messages."""

    line: int
    element: str


class MeshSearch:
    """Finds the paths of mesh files by the names that a model gives them."""

    def __init__(self, source: Source, options: Options) -> None:
        self.source = source
        self.options = options
        self._folders: dict[str, tuple[str, frozenset[str]]] = {}  # by name in the model: path, names of plain files
        self._packages: dict[str, str] = {}  # paths of packages by name

    def path(self, name: str) -> str | None:
        """The path of a mesh file; None if it is not found. Raises Outside if its folder may not be read."""
        folder, _, file = name.rpartition("/")
        known = self._folders.get(folder)
        if known is not None and file in known[1]:  # no link, and in a folder where a mesh was found before
            return f"{known[0]}/{file}"
        path = self._in_package(name) or find_file(name, self.source, self.options)
        if path is None:
            return None
        found = str(path)
        if known is None and os.path.basename(found) == file:
            self._folders[folder] = (os.path.dirname(found), _plain_files(os.path.dirname(found)))
        package, inner = _parts(name)
        if package and found.endswith(f"/{inner}"):
            self._packages.setdefault(package, found.removesuffix(f"/{inner}"))
        return found

    def _in_package(self, name: str) -> str | None:
        """The path of a mesh in the folder where an earlier mesh of its package was found; None if it is not there."""
        package, inner = _parts(name)
        root = self._packages.get(package)
        if root is None or "%" in inner or "\0" in inner:
            return None
        path = os.path.realpath(f"{root}/{inner}")
        return path if path.startswith(f"{root}/") and os.path.isfile(path) else None

    def _home(self, name: str) -> str:
        """The folder to which a missing mesh belongs: where others of it or its package are; empty if none is found."""
        folder = name.rpartition("/")[0]
        if folder in self._folders:
            return self._folders[folder][0]
        try:
            return str(find_file(folder, self.source, self.options, folder=True) or "") if _parts(name)[0] else ""
        except (Outside, OSError, ValueError):
            return ""

    def paths(self, uses: dict[str, MeshUse], findings: Findings) -> dict[str, str | None]:
        """The path of every mesh by name: "" if the file is missing, None if it is in a folder that may not be read.

        Missing meshes give one warning per package and folder. They are never an error, because the equations of motion
        do not depend on them; contacts do, which the warning says. `uses` says where the model names each mesh.
        """
        found: dict[str, str | None] = {}
        lost: dict[tuple[str, str], list[str]] = {}  # by package, and the folder in which they are expected
        outside = []
        for name in uses:
            try:
                found[name] = self.path(name) or ""
            except (Outside, OSError, ValueError):
                found[name] = None
                outside.append(name)
        for name in [name for name, path in found.items() if path == ""]:
            lost.setdefault((_parts(name)[0], self._home(name)), []).append(name)
        for (package, home), names in lost.items():
            if home:
                remedy = f"Put the file into '{home}', or correct its name."
            elif package:
                remedy = f"Name the folder that contains '{package}' in package_dirs (--package-dir)."
            else:
                remedy = "Correct the path, or name the folder of the file in package_dirs (--package-dir)."
            _warn(findings, "mesh", uses, names, "is not found: it is not drawn, and touches nothing", remedy)
        if outside:
            remedy = "Name its folder in package_dirs (--package-dir), or move the file into the folder of the model."
            _warn(
                findings,
                "path",
                uses,
                outside,
                "is outside the folders that may be read: it is left out of pictures and contacts",
                remedy,
            )
        return found


def _warn(findings: Findings, rule: str, uses: dict[str, MeshUse], names: list[str], problem: str, remedy: str) -> None:
    """Records one warning for several meshes, on the line that names the first of them."""
    use = uses[names[0]]
    more = f" (and {counted(len(names) - 1, 'other')})" if len(names) > 1 else ""
    findings.warn(rule, use.line, use.element, f"the mesh {short(names[0])}{more} {problem}", remedy)


def _parts(name: str) -> tuple[str, str]:
    """("arm", "meshes/link1.stl") for the name package://arm/meshes/link1.stl; two empty texts for other names."""
    scheme, mark, rest = name.partition("://")
    if not mark or scheme not in ("package", "model"):
        return "", ""
    package, _, inner = rest.partition("/")
    return package, inner


def _plain_files(folder: str) -> frozenset[str]:
    """The names of all files in a folder that are no links."""
    try:
        with os.scandir(folder) as entries:
            return frozenset([entry.name for entry in entries if entry.is_file(follow_symlinks=False)])
    except OSError:
        return frozenset()


def with_reachable_meshes(robot: Robot, path: Path, findings: Findings) -> Robot:
    """The robot, whose meshes have names by which a file that is written to `path` finds the same mesh files.

    A name that leads to another file from there, or to none, is replaced by the path from the folder of the file,
    except names of packages. A warning says which meshes will not be found without `package_dirs`.
    """
    source, lost = Source(str(path), b"", path.parent), list[str]()
    names: dict[tuple[str, str], str] = {}  # by the name before and the path of the mesh
    for shape in (one for body in robot.bodies for one in (*body.shapes, *body.collisions)):
        if isinstance(shape, MeshFile) and shape.path and (shape.source, shape.path) not in names:
            names[shape.source, shape.path] = _reachable(shape, path, source, lost)
    if lost:
        many = f"{len(lost)} meshes such as {lost[0]!r} are" if len(lost) > 1 else f"the mesh {lost[0]!r} is"
        problem = f"{many} not found from the folder of this file"
        remedy = "Write the file into the folder of the original model, or load it with package_dirs (--package-dir)."
        findings.warn("mesh", 0, "", problem, remedy)
    if all(name == other for (name, _), other in names.items()):
        return robot

    def renamed(shapes: tuple[Shape, ...]) -> tuple[Shape, ...]:
        return tuple(
            replace(one, source=names.get((one.source, one.path), one.source)) if isinstance(one, MeshFile) else one
            for one in shapes
        )

    bodies = [replace(one, shapes=renamed(one.shapes), collisions=renamed(one.collisions)) for one in robot.bodies]
    return replace(robot, bodies=tuple(bodies))


def _reachable(shape: MeshFile, path: Path, source: Source, lost: list[str]) -> str:
    """The name by which a file at `path` finds a mesh; it is added to `lost` if no name does."""
    names = (shape.source,) if _parts(shape.source)[0] else (shape.source, relative_name(shape, path))
    for name in names:
        if leads_to(name, shape, source):
            return name
    lost.append(names[-1])
    return names[-1]


def leads_to(name: str, shape: MeshFile, source: Source) -> bool:
    """Whether a model in the folder of `source` finds the file of a mesh by this name."""
    try:
        found = find_file(name, source, Options())
    except (Outside, OSError, ValueError):
        return False
    return found is not None and os.path.isfile(shape.path) and os.path.samefile(found, shape.path)


def relative_name(shape: MeshFile, path: Path) -> str:
    """The path of a mesh from the folder of the file at `path`."""
    return Path(os.path.relpath(os.path.realpath(shape.path), os.path.realpath(path.parent))).as_posix()
