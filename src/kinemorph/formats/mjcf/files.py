"""An MJCF file with all it names, checked and in memory: nothing is left for MuJoCo to look up on a disk.

MuJoCo follows every path in a file, `../` and absolute ones too, when it compiles it. So a file is put together here:
includes are put in their places, meshes and height fields are read, and each path must lie in the model's folder or in
a folder that the caller names, after all links are followed. What is handed on is one text in which files have made-up
names, and the bytes under those names. Between the check and the use nothing can be exchanged.

Textures, skins, cameras' and lights' pictures and custom data do not affect the motion; they are left out of the text.
In the text every element has a line of its own, so that a line in one of MuJoCo's messages can be traced back.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from xml.sax.saxutils import quoteattr

from kinemorph.formats import limits
from kinemorph.formats.findings import Findings
from kinemorph.formats.sources import Options, Outside, Source, find_file, read_file
from kinemorph.formats.xml_documents import Node, line_of, parse
from kinemorph.model.input_reader import short

# which of the compiler's folders the files of an element are looked for in
FOLDERS = {"mesh": "meshdir", "hfield": "meshdir", "flexcomp": "meshdir", "composite": "meshdir", "model": ""}
ENDINGS = (".stl", ".obj", ".msh", ".png", ".xml", ".mjcf", ".gmsh", ".bin", ".hf", "")  # formats that name no files
LEFT_OUT = {"texture", "skin", "custom", "layer"}  # elements without a say in the motion
UNREAD = {  # attributes likewise; and the compiler's folders, once they are followed
    "material": ("texture",),
    "light": ("texture",),
    "size": ("memory", "njmax", "nconmax", "nstack"),  # room for a simulation in MuJoCo
    "compiler": ("meshdir", "texturedir", "assetdir", "strippath"),
}
PICTURES = ("file", "fileright", "fileleft", "fileup", "filedown", "filefront", "fileback")
COUNTED = ("replicate", "flexcomp", "composite")  # elements that make copies
SECTIONS = ("equality", "actuator")  # whose parts are known by the section, all others by their tag
NAMED = {"mesh", "hfield"}  # elements that are called like their files where they have no name


class Place(NamedTuple):
    """Where an element stands: its file, its line there, and the line of the main file that brought it in."""

    file: str
    line: int
    main: int


@dataclass
class Bundle:
    """One text with everything it names, by made-up names; `places` has a row for every line of the text."""

    text: bytes = b""
    files: dict[str, bytes] = field(default_factory=dict)
    origins: dict[str, tuple[str, str]] = field(default_factory=dict)  # by made-up name: as the model names it, path
    places: list[Place] = field(default_factory=list)
    lines: dict[tuple[str, str], int] = field(default_factory=dict)  # of the main file, by kind of part and name
    turned: set[str] = field(default_factory=set)  # made-up names of meshes that are moved before all else
    skins: int = 0


class _Step(NamedTuple):
    """An element's beginning, or with `node` None the end of one."""

    node: Node | None
    tag: str
    section: str  # the element below <mujoco> in which it stands
    place: Place


def gather(source: Source, options: Options, findings: Findings) -> Bundle | None:
    """The text with all it names; None, with findings, where anything may not be read or is not there."""
    root = parse(source, findings)
    if root is None:
        return None
    if root.tag != "mujoco":
        what = (
            "a part of a model, made to be included by another file" if root.tag == "mujocoinclude" else "no MJCF model"
        )
        problem = f"the outermost element is <{short(str(root.tag))[1:-1]}>, expected <mujoco>: this is {what}"
        remedy = "Read the file that includes it." if root.tag == "mujocoinclude" else "Choose an MJCF file."
        findings.error("structure", line_of(root), "", problem, remedy)
        return None
    work = _Gathering(source, options, findings)
    work.bundle.text = work.model(root, source, main=True)
    return None if findings.failed else work.bundle


class _Gathering:
    """One model and its sub-models on their way into a Bundle."""

    def __init__(self, source: Source, options: Options, findings: Findings) -> None:
        self.source, self.findings = source, findings
        home = () if source.folder is None else (source.folder,)
        self.options = replace(options, package_dirs=(*home, *options.package_dirs))  # for sub-models elsewhere
        self.bundle = Bundle()
        self.keys: dict[Path, str] = {}
        self.count, self.bytes, self.elements, self.bodies = 0, len(source.data), 0, 0

    def model(self, root: Node, source: Source, *, main: bool) -> bytes:
        """The text of a model, with its includes in place; sub-models and files go into the bundle."""
        pending = [(root, source, main, "")]
        text = b""
        while pending:
            node, its_source, is_main, key = pending.pop()
            steps = self._flat(node, its_source)
            if self.findings.failed:
                return b""
            written, further = self._written(steps, its_source, is_main)
            if is_main:
                text = written
            else:
                self.bundle.files[key] = written
            for sub_key, path, place in further:
                opened = self._xml(path, place)
                if opened is not None:
                    pending.append((opened[0], opened[1], False, sub_key))
        return text

    # ── includes ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _flat(self, root: Node, source: Source) -> list[_Step]:
        """All elements in order, those of included files in place of the includes."""
        steps: list[_Step] = []
        included: set[Path] = set()
        # a walk with a stack of (children to come, what closes after them, file, line of the main file)
        stack: list[tuple[Iterator[Node], str | None, Source, int]] = [(iter([root]), None, source, 0)]
        tags: list[str] = []
        copies = [1]  # how many times each open element is repeated
        while stack:
            children, closing, at, main = stack[-1]
            node = next(children, None)
            if node is None:
                stack.pop()
                if closing is not None:
                    copies.pop()
                    steps.append(_Step(None, tags.pop(), "", Place(at.name, 0, main)))
                continue
            if not isinstance(node.tag, str):  # a comment
                continue
            self.elements += 1
            place = Place(at.name, line_of(node), main or line_of(node))
            if self.elements > limits.ELEMENTS or len(tags) > limits.NESTING:
                what = f"more than {limits.ELEMENTS} elements, or more than {limits.NESTING} inside one another"
                self._refuse("file", place, "", f"the file and what it includes have {what}", "Split the model.")
                return []
            times = _copies(node)
            self.bodies += copies[-1] if node.tag == "body" else 0
            if max(self.bodies, copies[-1] * times) > limits.BODIES:
                what = f"{max(self.bodies, copies[-1] * times)} bodies or copies, expected at most {limits.BODIES}"
                self._refuse("file", place, f"<{node.tag}>", f"the model asks for {what}", "Write smaller counts.")
                return []
            if node.tag == "include":
                opened = self._included(node, at, source, place, included)
                if opened is None:
                    return []
                stack.append((iter(opened[0]), None, opened[1], place.main))
                continue
            steps.append(_Step(node, node.tag, tags[1] if len(tags) > 1 else node.tag, place))
            tags.append(node.tag)
            copies.append(copies[-1] * times)
            stack.append((iter(node), node.tag, at, main))
        return steps

    def _included(
        self, node: Node, at: Source, source: Source, place: Place, included: set[Path]
    ) -> tuple[Node, Source] | None:
        """The root of an included file: looked for from the main file first, then from the one that names it."""
        name = node.get("file", "")
        path = self._found(name, "include", source, place, quiet=at.folder != source.folder)
        if path is None and at.folder != source.folder and not self.findings.failed:
            path = self._found(name, "include", at, place)
        if path is None:
            return None
        if path in included:
            self._refuse("structure", place, "<include>", f"the file {short(name)} is included already, expected each "
                         "file once", "Remove one of the two; a file must not include itself.")  # fmt: skip
            return None
        included.add(path)
        return self._xml(path, place)

    def _xml(self, path: Path, place: Place) -> tuple[Node, Source] | None:
        """A further file of the model, parsed; its own findings bear its name."""
        inner = self.findings.within(str(path))
        source = read_file(path, inner)
        root = None if source is None else parse(source, inner)
        if root is None or source is None or not self._counted(len(source.data), place):
            return None
        return root, source

    # ── the text ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _written(self, steps: list[_Step], source: Source, main: bool) -> tuple[bytes, list[tuple[str, Path, Place]]]:
        """The text of all elements that matter, a line each, with made-up file names; and the sub-models found."""
        compiler: dict[str, str] = {}
        for step in steps:
            if step.node is not None and step.tag == "compiler":
                compiler.update(step.node.attrib)
        lines: list[str] = []
        further: list[tuple[str, Path, Place]] = []
        skipping = 0
        for step in steps:
            if step.node is None:
                if skipping:
                    skipping -= 1
                else:
                    lines[-1] += f"</{step.tag}>"
                continue
            left_out = step.tag in LEFT_OUT
            if skipping or left_out:
                if left_out and not skipping:
                    self.bundle.skins += step.tag == "skin"
                    self._pictures(step, source, compiler)
                skipping += 1
                continue
            attributes = {key: value for key, value in step.node.attrib.items() if key not in UNREAD.get(step.tag, ())}
            if step.tag in FOLDERS and attributes.get("file"):
                key = self._file(step, attributes, source, compiler, further)
                if key is None:
                    return b"", []
                if step.tag in NAMED:
                    attributes.setdefault("name", PurePosixPath(attributes["file"].replace("\\", "/")).stem)
                if any(attributes.get(word) for word in ("refpos", "refquat")):
                    self.bundle.turned.add(key)
                attributes["file"] = key
            written = "".join(f" {key}={quoteattr(value)}" for key, value in attributes.items())
            lines.append(f"<{step.tag}{written}>")
            if main:
                self.bundle.places.append(step.place)
                if step.node.get("name"):
                    part = step.section if step.section in SECTIONS else step.tag.removeprefix("free")
                    self.bundle.lines.setdefault((part, step.node.get("name")), step.place.main)
        return "\n".join(lines).encode(), further

    def _file(
        self,
        step: _Step,
        attributes: dict[str, str],
        source: Source,
        compiler: dict[str, str],
        further: list[tuple[str, Path, Place]],
    ) -> str | None:
        """The made-up name of a file; its bytes go into the bundle."""
        name = _in_folder(attributes["file"], FOLDERS[step.tag], compiler)
        ending = PurePosixPath(name).suffix.lower()
        if ending not in ENDINGS:
            self._refuse("mesh", step.place, f"<{step.tag}>", f"the file {short(name)} has the ending "
                         f"{short(ending)}, expected one of {', '.join(filter(None, ENDINGS))}",
                         "Convert it.")  # fmt: skip
            return None
        path = self._found(name, step.tag, source, step.place)
        if path is None:
            return None
        if path not in self.keys:
            self.keys[path] = key = f"file{len(self.keys)}{ending}"
            self.bundle.origins[key] = (attributes["file"], str(path))
            if step.tag == "model":
                further.append((key, path, step.place))
            else:
                data = read_file(path, self.findings.within(str(path)))
                if data is None or not self._counted(len(data.data), step.place):
                    return None
                self.bundle.files[key] = data.data
        return self.keys[path]

    def _pictures(self, step: _Step, source: Source, compiler: dict[str, str]) -> None:
        """Files of elements that are left out are not read, and need not be there; but they must lie inside."""
        folder = "texturedir" if step.tag == "texture" else "meshdir"
        for key in PICTURES:
            if step.node is not None and step.node.get(key):
                name = _in_folder(step.node.get(key), folder, compiler)
                self._found(name, step.tag, source, step.place, quiet=True)

    # ── paths ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _found(self, name: str, tag: str, source: Source, place: Place, *, quiet: bool = False) -> Path | None:
        """Where a named file lies; None, with a finding, where it does not exist or may not be read.

        `quiet` reports no missing file.
        """
        try:
            path = find_file(name, source, self.options) if name else None
        except (Outside, OSError, ValueError, RuntimeError):
            self._refuse("path", place, f"<{tag}>", f"the file {short(name)} lies outside the folders that may be read",
                         "Move it beside the model, or name its folder in package_dirs (--package-dir).")  # fmt: skip
            return None
        if path is None and not quiet:
            rule = "path" if tag in ("include", "model") else "mesh"
            self._refuse(rule, place, f"<{tag}>", f"the file {short(name)} is not there", "Correct the name, or put "
                         "the file there: masses may depend on it.")  # fmt: skip
        return path

    def _counted(self, size: int, place: Place) -> bool:
        self.count, self.bytes = self.count + 1, self.bytes + size
        if self.count <= limits.INCLUDES and self.bytes <= limits.NAMED_BYTES:
            return True
        self._refuse("file", place, "", f"the model names {self.count} files of {self.bytes} bytes, expected at most "
                     f"{limits.INCLUDES} files of {limits.NAMED_BYTES} bytes", "Split the model.")  # fmt: skip
        return False

    def _refuse(self, rule: str, place: Place, element: str, problem: str, remedy: str) -> None:
        self.findings.within(place.file).error(rule, place.line, element, problem, remedy)


def _copies(node: Node) -> int:
    """How many parts an element asks for by its count; 1 where it has no readable count."""
    if node.tag not in COUNTED:
        return 1
    try:
        return math.prod(max(int(part), 1) for part in node.get("count", "1").split()[:3])
    except ValueError:
        return 1  # MuJoCo will say so


def _in_folder(name: str, folder: str, compiler: dict[str, str]) -> str:
    """A file's name from the model's folder, as MuJoCo's compiler puts it together."""
    if compiler.get("strippath") == "true":
        name = PurePosixPath(name.replace("\\", "/")).name
    inside = compiler.get(folder) or compiler.get("assetdir") if folder else ""
    return name if not inside or PurePosixPath(name).is_absolute() or "://" in name else f"{inside}/{name}"
