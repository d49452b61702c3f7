"""Collects an MJCF file and all files that it names in memory, so that MuJoCo reads no files.

MuJoCo would follow every path in a file, also absolute paths and `../`. Therefore the model is put together here:
included files are inserted, meshes and height fields are read, and each path must be in the root of the model or in a
folder that the caller names, after links are followed. As MuJoCo does, a path is searched from the folder of the main
file, and then from that of the included file which names it. The result is one text, in which files have names such as
`file0.stl`, and the contents of these files. They cannot change between the check and their use.

Textures, skins, pictures of cameras and lights, and custom data do not affect the motion; they are left out of the
text, and their files are never opened, wherever they are. Every element of the text is on a line of its own, so that
the line in a message of MuJoCo identifies the element.
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
from kinemorph.formats.sources import Options, Outside, Source, find_file, read_file, rooted
from kinemorph.formats.xml_documents import Node, line_of, parse
from kinemorph.model.input_reader import short

# the attribute of <compiler> that names the folder for the files of an element
FOLDERS = {"mesh": "meshdir", "hfield": "meshdir", "flexcomp": "meshdir", "composite": "meshdir", "model": ""}
ENDINGS = (".stl", ".obj", ".msh", ".png", ".xml", ".mjcf", ".gmsh", ".bin", ".hf", "")  # of files that name no others
LEFT_OUT = {"texture", "skin", "custom", "layer"}  # elements that do not affect the motion
UNREAD = {  # attributes that do not affect the motion; folders of the compiler, which are followed here
    "material": ("texture",),
    "light": ("texture",),
    "size": ("memory", "njmax", "nconmax", "nstack"),  # memory for simulations in MuJoCo
    "compiler": ("meshdir", "texturedir", "assetdir", "strippath"),
}
COUNTED = ("replicate", "flexcomp", "composite")  # elements that make copies
SECTIONS = ("equality", "actuator")  # parts in these sections have the section as kind, all others have their tag
NAMED = {"mesh", "hfield"}  # elements whose default name is the stem of their file


class Place(NamedTuple):
    """The place of an element: its file, its line in this file, and the line of the main file that includes it."""

    file: str
    line: int
    main: int


@dataclass
class Bundle:
    """One text, and the contents of all files that it names, by their names in the text (`file0.stl`).

    `places` has one entry for every line of the text.
    """

    text: bytes = b""
    files: dict[str, bytes] = field(default_factory=dict)
    origins: dict[str, tuple[str, str]] = field(default_factory=dict)  # by name in the text: name in the model, path
    places: list[Place] = field(default_factory=list)
    lines: dict[tuple[str, str], int] = field(default_factory=dict)  # of the main file, by kind of part and name
    turned: set[str] = field(default_factory=set)  # names in the text of meshes with refpos or refquat
    skins: int = 0  # number of skins, which are left out


class _Step(NamedTuple):
    """The beginning of an element; if `node` is None, its end."""

    node: Node | None
    tag: str
    section: str  # the child of <mujoco> that contains it
    place: Place


def gather(source: Source, options: Options, findings: Findings) -> Bundle | None:
    """The bundle of a model; None if a file does not exist or may not be read, which is recorded as a finding."""
    root = parse(source, findings)
    if root is None:
        return None
    if root.tag != "mujoco":
        what = "only a part of a model, for other files to include" if root.tag == "mujocoinclude" else "no MJCF model"
        problem = f"the root element is <{short(str(root.tag))[1:-1]}>, expected <mujoco>: this file is {what}"
        remedy = "Name the file that includes this one." if root.tag == "mujocoinclude" else "Name an MJCF file."
        findings.error("structure", line_of(root), "", problem, remedy)
        return None
    work = _Gathering(source, options, findings)
    work.bundle.text = work.model(root, source, main=True)
    return None if findings.failed else work.bundle


class _Gathering:
    """Collects one model and its sub-models in a Bundle."""

    def __init__(self, source: Source, options: Options, findings: Findings) -> None:
        self.source, self.findings = source, findings
        home = () if source.folder is None else (source.folder,)
        # sub-models and included files may be elsewhere, but the folders that may be read are those of the main file
        self.options = rooted(replace(options, package_dirs=(*home, *options.package_dirs)), source)
        self.bundle = Bundle()
        self.keys: dict[Path, str] = {}
        self.count, self.bytes, self.elements, self.bodies = 0, len(source.data), 0, 0

    def model(self, root: Node, source: Source, *, main: bool) -> bytes:
        """The text of a model with its included files inserted. Sub-models and other files are added to the bundle."""
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
        """The beginnings and ends of all elements in order; includes are replaced by the elements of their files."""
        steps: list[_Step] = []
        included: set[Path] = set()
        # depth first, with a stack of (remaining children, tag to close after them, file, line of the main file)
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
                what = f"more than {limits.ELEMENTS} elements, or elements nested deeper than {limits.NESTING}"
                self._refuse("file", place, "", f"the file and its includes have {what}", "Split the model.")
                return []
            times = _copies(node)
            self.bodies += copies[-1] if node.tag == "body" else 0
            if max(self.bodies, copies[-1] * times) > limits.BODIES:
                what = f"{max(self.bodies, copies[-1] * times)} bodies or copies, expected at most {limits.BODIES}"
                self._refuse("file", place, f"<{node.tag}>", f"the model has {what}", "Write smaller counts.")
                return []
            if node.tag == "include":
                opened = self._included(node, source, place, included)
                if opened is None:
                    return []
                stack.append((iter(opened[0]), None, opened[1], place.main))
                continue
            steps.append(_Step(node, node.tag, tags[1] if len(tags) > 1 else node.tag, place))
            tags.append(node.tag)
            copies.append(copies[-1] * times)
            stack.append((iter(node), node.tag, at, main))
        return steps

    def _included(self, node: Node, source: Source, place: Place, included: set[Path]) -> tuple[Node, Source] | None:
        """(root, source) of an included file. None if it cannot be read or was included before, which is recorded.

        Its path is relative to the main file `source`, or else to the file that includes it.
        """
        name = node.get("file", "")
        path = self._found((name, name), "include", source, place)
        if path is None:
            return None
        if path in included:
            self._refuse("structure", place, "<include>", f"the file {short(name)} is included already, expected each "
                         "file once", "Remove this <include>; a file must not include itself.")  # fmt: skip
            return None
        included.add(path)
        return self._xml(path, place)

    def _xml(self, path: Path, place: Place) -> tuple[Node, Source] | None:
        """(root, source) of another file of the model; None, with findings about that file, if it cannot be read."""
        inner = self.findings.within(str(path))
        source = read_file(path, inner)
        root = None if source is None else parse(source, inner)
        if root is None or source is None or not self._counted(len(source.data), place):
            return None
        return root, source

    # ── the text ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _written(self, steps: list[_Step], source: Source, main: bool) -> tuple[bytes, list[tuple[str, Path, Place]]]:
        """(text, sub-models): all elements that affect the motion, one per line, with the file names of the bundle.

        A sub-model is (name in the bundle, path, place). `main`: this is the model itself, not a sub-model.
        """
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
        """The name in the bundle of the file that an element names; its contents are added to the bundle, or, for a
        sub-model, its path to `further`. None, with a finding, if it cannot be read.
        """
        name = _in_folder(attributes["file"], FOLDERS[step.tag], compiler)
        ending = PurePosixPath(name).suffix.lower()
        if ending not in ENDINGS:
            self._refuse("mesh", step.place, f"<{step.tag}>", f"the file {short(name)} has the ending "
                         f"{short(ending)}, expected one of {', '.join(filter(None, ENDINGS))}",
                         "Convert the file to one of these formats.")  # fmt: skip
            return None
        bare = _in_folder(attributes["file"], "", compiler)  # MuJoCo uses no meshdir beside an included file
        path = self._found((name, bare), step.tag, source, step.place)
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

    # ── paths ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _found(self, names: tuple[str, str], tag: str, source: Source, place: Place) -> Path | None:
        """The path of a file that an element <tag> names. None if it is missing or may not be read, which is recorded.

        The first of `names` is relative to the main file `source`, the second to the file that contains the element.
        """
        file = Path(place.file)
        beside = Source(place.file, b"", file.parent) if source.folder and file.parent != source.folder else None
        outside = False
        for name, origin in zip(names, (source, beside), strict=True):
            try:
                path = find_file(name, origin, self.options) if name and origin is not None else None
            except (Outside, OSError, ValueError, RuntimeError):
                path, outside = None, True
            if path is not None:
                return path
        if outside:
            self._refuse("path", place, f"<{tag}>", f"the file {short(names[0])} is outside the folders that may be "
                         "read", "Move it to the folder of the model, or name its folder in package_dirs "
                         "(--package-dir).")  # fmt: skip
        else:
            rule = "path" if tag in ("include", "model") else "mesh"
            self._refuse(rule, place, f"<{tag}>", f"the file {short(names[0])} does not exist, and masses may depend "
                         "on it", "Correct the name, or add the file.")  # fmt: skip
        return None

    def _counted(self, size: int, place: Place) -> bool:
        """Counts a file of `size` [byte]. Returns False if there are too many files or bytes, which is recorded."""
        self.count, self.bytes = self.count + 1, self.bytes + size
        if self.count <= limits.INCLUDES and self.bytes <= limits.NAMED_BYTES:
            return True
        self._refuse("file", place, "", f"the model names {self.count} files of {self.bytes} bytes, expected at most "
                     f"{limits.INCLUDES} files of {limits.NAMED_BYTES} bytes", "Split the model.")  # fmt: skip
        return False

    def _refuse(self, rule: str, place: Place, element: str, problem: str, remedy: str) -> None:
        """Records an error at a place."""
        self.findings.within(place.file).error(rule, place.line, element, problem, remedy)


def _copies(node: Node) -> int:
    """The number of copies that the attribute `count` of an element asks for; 1 if it has no valid count."""
    if node.tag not in COUNTED:
        return 1
    try:
        return math.prod(max(int(part), 1) for part in node.get("count", "1").split()[:3])
    except ValueError:
        return 1  # MuJoCo reports this


def _in_folder(name: str, folder: str, compiler: dict[str, str]) -> str:
    """The path of a file relative to the folder of the model, by the rules of MuJoCo's compiler.

    `folder` is the attribute of <compiler> that applies; `compiler` are the attributes that are given.
    """
    if compiler.get("strippath") == "true":
        name = PurePosixPath(name.replace("\\", "/")).name
    inside = compiler.get(folder) or compiler.get("assetdir") if folder else ""
    return name if not inside or PurePosixPath(name).is_absolute() or "://" in name else f"{inside}/{name}"
