"""The search for the meshes of a model. Each folder is listed once, however many meshes it holds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from kinemorph.formats.findings import Findings
from kinemorph.formats.sources import Options, Outside, Source, find_file
from kinemorph.model.input_reader import short
from kinemorph.model.robot import Robot
from kinemorph.model.shapes import MeshFile


class MeshUse(NamedTuple):
    """Where a model names a mesh for the first time."""

    line: int
    element: str


class MeshSearch:
    """Finds the files of meshes by the names that a model gives them."""

    def __init__(self, source: Source, options: Options) -> None:
        self.source = source
        self.options = options
        self._folders: dict[str, tuple[str, frozenset[str]]] = {}  # a folder as named: where it lies, its plain files
        self._packages: dict[str, str] = {}  # a package as named: where it lies

    def path(self, name: str) -> str | None:
        """The path of a mesh; None where it is not found. Raises Outside where it lies outside what may be read."""
        folder, _, file = name.rpartition("/")
        known = self._folders.get(folder)
        if known is not None and file in known[1]:  # a plain file beside one that was found, so no link leads away
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
        """A path in the folder in which an earlier mesh of the same package was found."""
        package, inner = _parts(name)
        root = self._packages.get(package)
        if root is None or "%" in inner or "\0" in inner:
            return None
        path = os.path.realpath(f"{root}/{inner}")
        return path if path.startswith(f"{root}/") and os.path.isfile(path) else None

    def paths(self, uses: dict[str, MeshUse], findings: Findings) -> dict[str, str | None]:
        """For every name: its path, "" where it is missing, None where it lies outside; with one warning per package.

        The motion of a robot does not depend on meshes, so a missing one is never an error.
        """
        found: dict[str, str | None] = {}
        lost: dict[str, list[str]] = {}
        outside = []
        for name in uses:
            try:
                found[name] = self.path(name) or ""
            except (Outside, OSError, ValueError):
                found[name] = None
                outside.append(name)
            else:
                if not found[name]:
                    lost.setdefault(_parts(name)[0], []).append(name)
        for package, names in lost.items():
            remedy = (
                f"Name the folder that holds '{package}' in package_dirs (--package-dir)."
                if package
                else "Put it where the model looks for it, or name its folder in package_dirs (--package-dir)."
            )
            _warn(findings, "mesh", uses, names, "is not there: the robot is drawn without", remedy)
        if outside:
            remedy = "Name its folder in package_dirs (--package-dir), or move it beside the model."
            _warn(findings, "path", uses, outside, "lies outside the folders that may be read: it is left out", remedy)
        return found


def _warn(findings: Findings, rule: str, uses: dict[str, MeshUse], names: list[str], problem: str, remedy: str) -> None:
    use = uses[names[0]]
    others = len(names) - 1
    more = f" (and {others} other{'s' if others > 1 else ''})" if others else ""
    findings.warn(rule, use.line, use.element, f"the mesh {short(names[0])}{more} {problem}", remedy)


def _parts(name: str) -> tuple[str, str]:
    """(package, path in it) of a name such as package://arm/meshes/link1.stl; two empty texts for others."""
    scheme, mark, rest = name.partition("://")
    if not mark or scheme not in ("package", "model"):
        return "", ""
    package, _, inner = rest.partition("/")
    return package, inner


def _plain_files(folder: str) -> frozenset[str]:
    try:
        with os.scandir(folder) as entries:
            return frozenset([entry.name for entry in entries if entry.is_file(follow_symlinks=False)])
    except OSError:
        return frozenset()


def warn_of_meshes(robot: Robot, path: Path, findings: Findings) -> None:
    """Warns of meshes that will not be found from the folder of the written file."""
    lost = []
    source = Source(str(path), b"", path.parent)
    for body in robot.bodies:
        for shape in (*body.shapes, *body.collisions):
            if isinstance(shape, MeshFile) and shape.path:
                try:
                    found = find_file(shape.source, source, Options())
                except (Outside, OSError, ValueError):
                    found = None
                if found is None or str(found) != shape.path:
                    lost.append(shape.source)
    if lost:
        many = f"{len(lost)} meshes such as {lost[0]!r} are" if len(lost) > 1 else f"the mesh {lost[0]!r} is"
        problem = f"{many} not found from the folder of this file"
        remedy = "Write the file beside the model it came from, or pass package_dirs (--package-dir)."
        findings.warn("mesh", 0, "", problem, remedy)
