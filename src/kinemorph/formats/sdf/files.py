"""Finds and parses SDF files that are included, each once.

A URI names an SDF file, a URDF file, which is read as SDF, or a folder with model.config or model.sdf. Files must be in
the folders that may be read. Their number and their total size are limited.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from kinemorph.formats import limits
from kinemorph.formats.findings import Findings
from kinemorph.formats.sdf.urdf_models import as_sdf
from kinemorph.formats.sdf.values import SdfValues, text_of
from kinemorph.formats.sources import Options, Outside, Source, find_file, read_file
from kinemorph.formats.xml_documents import Node, line_of, parse
from kinemorph.model.input_reader import short

Version = tuple[int, int]
OLDEST, NEWEST = (1, 2), (1, 12)
ROOTS = ("sdf", "gazebo")  # root tags; the second one is that of SDF 1.2


@dataclass(frozen=True)
class File:
    """An SDF file. `line` is the line of the main file whose <include> leads to it; 0 for the main file itself."""

    source: Source
    values: SdfValues
    version: Version
    above: tuple[str, ...] = ()  # the files that include it
    line: int = 0

    @property
    def real(self) -> str:
        """The path of the file after links are followed."""
        return str(Path(self.source.name).resolve())

    @property
    def findings(self) -> Findings:
        """The findings about this file."""
        return self.values.findings

    def line_of(self, node: Node) -> int:
        """The line of an element in the main file, or of the <include> that leads to it."""
        return self.line or line_of(node)


class Includes:
    """Finds and parses the files that <include> names. `full` says whether a limit is exceeded."""

    def __init__(self, main: File, options: Options) -> None:
        self.main, self.options, self.full = main, options, False
        self._documents: dict[Path, tuple[Source, Node] | None] = {}
        self._bytes, self._count = limits.FILE_SIZE, 0

    def overflow(self, what: str, remedy: str) -> None:
        """Reports that a limit is exceeded, only once per model."""
        if not self.full:
            self.main.findings.error("file", 0, "", what, remedy)
        self.full = True

    def follow(self, node: Node, file: File) -> tuple[File, Node] | None:
        """(file, root) that an <include> in `file` names; None if it cannot be read, which is recorded as a finding."""
        uri = file.values.text(node, "uri", "include")
        self._count += 1
        if self._count > limits.INCLUDES:
            problem = f"the model has more includes than {limits.INCLUDES}, the largest number allowed"
            self.overflow(problem, "Include fewer models.")
        if not uri or self.full:
            return None
        element, line = f"include '{short(uri)[1:-1]}'", line_of(node)
        path = self._located(uri, file, element, line)
        if path is None:
            return None
        if str(path) in (*file.above, file.real):
            problem = "the file includes itself, directly or through other files"
            file.findings.error("structure", line, element, problem, "Remove this <include>.")
            return None
        document = self._document(path)
        if document is None:
            problem = "the included file cannot be read, expected SDF"
            file.findings.error("file", line, element, problem, "Correct the included file first.")
            return None
        source, root = document
        values = SdfValues(self.main.findings.within(source.name))
        if root.tag == "robot":
            root = as_sdf(root, values.findings)
        return File(source, values, version_of(root, values), (*file.above, file.real), file.line_of(node)), root

    def _located(self, uri: str, file: File, element: str, line: int) -> Path | None:
        """The path of the file that a URI names, directly or by its folder.

        None if there is no such file, which is recorded as a finding.
        """
        folder = uri.rstrip("/")
        if uri.lower().startswith(("http://", "https://")):
            problem = "the model is on the internet, expected a file: nothing is downloaded"
            remedy = "Download the model, write its folder in <uri>, and name the folder above in package_dirs."
            file.findings.error("path", line, element, problem, remedy)
            return None
        try:
            if uri.lower().endswith((".sdf", ".world", ".urdf", ".xml")):
                found = find_file(uri, file.source, self.options)
            else:
                found = self._listed(folder, file) or find_file(f"{folder}/model.sdf", file.source, self.options)
        except (Outside, OSError, ValueError):
            problem = f"the path {short(uri)} is outside the folders that may be read, or not valid"
            remedy = "Copy the model to the folder of this file, or name its folder in package_dirs (--package-dir)."
            file.findings.error("path", line, element, problem, remedy)
            return None
        if found is None:
            problem = f"no model is found at {short(uri)}, expected an SDF file or a folder with model.sdf"
            remedy = "Correct the path, or name the folder that contains it in package_dirs (--package-dir)."
            file.findings.error("file", line, element, problem, remedy)
        return found

    def _listed(self, folder: str, file: File) -> Path | None:
        """The path of the file that model.config in a folder names for the newest version of SDF; None if there is
        none.
        """
        path = find_file(f"{folder}/model.config", file.source, self.options)
        document = None if path is None else self._document(path)
        nodes = [] if document is None else document[1].findall("sdf")
        listed = [(_numbers(node.get("version", "")), text_of(node)) for node in nodes]
        name = max(listed)[1] if listed else ""
        return find_file(f"{folder}/{name}", file.source, self.options) if name else None

    def _document(self, path: Path) -> tuple[Source, Node] | None:
        """(source, root) of a file, which is parsed once. None if it cannot be read, which is recorded as a finding."""
        if path not in self._documents:
            findings = self.main.findings.within(str(path))
            source = read_file(path, findings)
            self._bytes -= 0 if source is None else len(source.data)
            if self._bytes < 0:
                problem = f"included files have more than {limits.FILE_SIZE} bytes together, the largest size allowed"
                self.overflow(problem, "Include fewer or smaller files.")
                source = None
            root = None if source is None else parse(source, findings)
            self._documents[path] = None if source is None or root is None else (source, root)
        return self._documents[path]


def version_of(root: Node, values: SdfValues) -> Version:
    """The SDF version of a file, as (1, 9); with a finding if it is missing, too old, or newer than this reader."""
    text = root.get("version")
    if text is None:
        values.missing(root, "version", "sdf", "a version such as 1.9")
        return NEWEST
    version = _numbers(text)
    if version == (0, 0):
        problem = f"the version is {short(text)}, expected a number such as 1.9"
        values.at(root, "sdf").error("structure", problem, "Write the version of SDF that the file follows.")
        return NEWEST
    if version < OLDEST:
        problem = f"the version is {text}, expected {OLDEST[0]}.{OLDEST[1]} or newer"
        values.at(root, "sdf").error("structure", problem, "Convert the file to a newer version of SDF.")
    elif version > NEWEST:
        problem = (
            f"the version is {text}, expected at most {NEWEST[0]}.{NEWEST[1]}: "
            "features of newer versions are ignored, so that poses or masses may be read wrongly"
        )
        values.at(root, "sdf").warn(
            "unknown", problem, "Compare the loaded poses and masses with those that Gazebo shows."
        )
    return version


def _numbers(text: str) -> Version:
    """The version in a text, "1.9" as (1, 9); (0, 0) if the text is not a version."""
    found = re.fullmatch(r"\s*(\d{1,3})\.(\d{1,3})(\.\d{1,3})?\s*", text)
    return (int(found[1]), int(found[2])) if found else (0, 0)
