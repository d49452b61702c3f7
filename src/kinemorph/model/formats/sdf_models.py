"""The models of an SDF file: nested ones, and those of other files that it includes, opened up without recursion.

Every model becomes a `Model`: its element, the file it stands in, the scope of its names. Links, joints, frames and
models are declared as frames on the way. Included files are confined to the folders that may be read, may not include
each other in a ring, and are limited in number and size.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from kinemorph.model.formats import limits
from kinemorph.model.formats.findings import Findings
from kinemorph.model.formats.sdf_frames import NAMED, PENDING, Entry, Frames, Scope
from kinemorph.model.formats.sdf_values import SdfValues, Tally, text_of
from kinemorph.model.formats.sources import Options, Outside, Source, find_file, read_file
from kinemorph.model.formats.xml_documents import Node, line_of, parse
from kinemorph.model.reading import short
from kinemorph.model.topology import WORLD

Version = tuple[int, int]
OLDEST, NEWEST = (1, 4), (1, 12)
NAMESAKE = " (joint)"  # ends the key of a joint that is called like a link, which SDF allowed up to 1.6
RESERVED = re.compile(r"world|__.*__")


@dataclass(frozen=True)
class File:
    """An SDF file that is being read. `line` is that of the <include> in the main file; 0 in the main file itself."""

    source: Source
    values: SdfValues
    version: Version
    above: tuple[str, ...] = ()  # the files that include it
    line: int = 0

    @property
    def findings(self) -> Findings:
        return self.values.findings

    def line_of(self, node: Node) -> int:
        """The line in the main file that leads to an element."""
        return self.line or line_of(node)


@dataclass
class Model:
    """A model, or the world: its element and where its parts are found."""

    node: Node
    file: File
    scope: Scope
    element: str
    static: bool = False
    joint_keys: dict[int, str] = field(default_factory=dict)  # by place among the joints


@dataclass(frozen=True)
class _Task:
    """A model still to be opened: its element, the model around it, and the <include> that leads to it."""

    node: Node
    parent: Model
    file: File
    include: Node | None = None
    depth: int = 0


class Models:
    """Opens up the models of a file. `opened` lists them in the order of the files, the world first."""

    def __init__(self, main: File, options: Options, frames: Frames, tally: Tally) -> None:
        self.main, self.options, self.frames, self.tally = main, options, frames, tally
        self.opened: list[Model] = []
        self.top: list[str] = []  # keys of the models in the world
        self._documents: dict[Path, Node | None] = {}
        self._sources: dict[Path, Source] = {}
        self._budget, self._bytes, self._includes = limits.ELEMENTS, limits.FILE_SIZE, 0
        self._stack: list[_Task] = []
        self._full = False

    def open(self, node: Node) -> None:
        """All models inside <sdf> or <world>."""
        world = Model(node, self.main, Scope("", WORLD), f"world '{node.get('name', '')}'")
        if node.tag == "sdf":
            world.element = "file"
        self._declare_parts(world, 0)
        while self._stack and not self._full:
            self._open_model(self._stack.pop())

    # ── one model ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _open_model(self, task: _Task) -> None:
        node, parent, file = task.node, task.parent, task.file
        values, include = file.values, task.include
        outer = parent.file.values if include is not None else values
        name = "" if include is None else outer.text(include, "name", "include", "")
        name = name or values.word(node, "name", "model", instead="")
        element = f"model '{name}'"
        if not name or not self._fits(name, parent, node if include is None else include, element):
            return
        placed = include if include is not None and include.find("pose") is not None else node
        pose, relative_to = (outer if placed is include else values).pose(placed, element)
        placement = node.get("placement_frame", "")
        static = parent.static or values.switch(node, "static", element)
        merge = False
        if include is not None:
            placement = outer.text(include, "placement_frame", element, placement)
            static = parent.static or outer.switch(include, "static", element, static)
            merge = outer.truth(include, include.get("merge", "0"), "<include> merge", element, False)
        key = parent.scope.key(f"_merged__{name}__model__" if merge else name)
        scope = Scope(parent.scope.prefix if merge else key, key)
        entry = Entry(
            parent.scope.home,
            parent.scope,
            pose,
            relative_to,
            parent.scope.home,
            self._canonical(node, static),
            line_of(node) if include is None else line_of(include),
            element,
            outer.findings,
            placement,
            scope,
            "canonical_link",
        )
        if self.frames.declare(key, entry):
            if not parent.scope.prefix and not merge:
                self.top.append(key)
            if parent.scope.home != WORLD and self.frames.entries[parent.scope.home].attached_to == PENDING:
                self.frames.entries[parent.scope.home].attached_to = key
            self._declare_parts(Model(node, file, scope, element, static), task.depth)

    @staticmethod
    def _canonical(node: Node, static: bool) -> str:
        """What the frame of a model moves with; PENDING: the first model inside, which is opened later."""
        link = node.find("link")
        first = node.get("canonical_link") or ("" if link is None else link.get("name"))
        return WORLD if static else f"{NAMED}{first}" if first else PENDING

    def _fits(self, name: str, parent: Model, node: Node, element: str) -> bool:
        """Whether a name may be used in SDF."""
        if RESERVED.fullmatch(name) is None:
            return True
        parent.file.findings.error(
            "name",
            line_of(node),
            element,
            f"the name {short(name)} is kept by SDF for frames of its own, expected another",
            "Rename it.",
        )
        return False

    def _declare_parts(self, model: Model, depth: int) -> None:
        """Declares links, joints and frames of a model, and lays its models and includes aside."""
        self.opened.append(model)
        node, file, scope = model.node, model.file, model.scope
        self._budget -= len(node) + 1
        if self._budget < 0 or depth > limits.NESTING:
            what = f"models lie deeper than {limits.NESTING} inside one another" if self._budget >= 0 else ""
            self._overflow(what or f"the files together have more than {limits.ELEMENTS} parts", "Flatten the model.")
            return
        tasks: list[_Task] = []
        joints = 0
        for child in node.iterchildren("link", "joint", "frame", "model", "include"):
            tag = child.tag
            if tag == "model":
                tasks.append(_Task(child, model, file, depth=depth + 1))
            elif tag == "include":
                task = self._included(child, model, depth)
                tasks += [] if task is None else [task]
            elif tag == "link" and scope.home == WORLD:
                continue  # told by the reader of the world
            else:
                self._declare(child, model, joints)
                joints += tag == "joint"
        self._stack += reversed(tasks)

    def _declare(self, node: Node, model: Model, joints: int) -> None:
        """Declares a link, a joint or a frame."""
        values, scope, tag = model.file.values, model.scope, node.tag
        element = f"{tag} '{node.get('name', '')}'"
        name = values.word(node, "name", tag, instead="")
        if not name or not self._fits(name, model, node, element):
            return
        pose, relative_to = values.pose(node, element)
        key, attached, attribute = scope.key(name), None, "attached_to"
        if tag == "joint":
            attached, attribute = NAMED + values.text(node, "child", element), "<child>"
            if key in self.frames.entries and model.file.version < (1, 7):
                key += NAMESAKE
        elif tag == "frame":
            attached = (node.get("attached_to") or "").strip()
            attached = NAMED + attached if attached else scope.home
        default = scope.home
        entry = Entry(
            scope.home,
            scope,
            pose,
            relative_to,
            default,
            attached,
            line_of(node),
            element,
            model.file.findings,
            attribute=attribute,
        )
        if self.frames.declare(key, entry) and tag == "joint":
            model.joint_keys[joints] = key

    # ── includes ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _included(self, node: Node, model: Model, depth: int) -> _Task | None:
        """The model that an <include> leads to; None, with a finding, where it leads nowhere."""
        file = model.file
        uri = file.values.text(node, "uri", "include")
        self._includes += 1
        if not uri or self._full:
            return None
        if self._includes > limits.INCLUDES:
            self._overflow(f"more than {limits.INCLUDES} includes are followed", "Write models out, or leave some.")
            return None
        element, line = f"include '{short(uri)[1:-1]}'", line_of(node)
        path = self._located(uri, file, element, line)
        if path is None:
            return None
        if str(path) in (*file.above, str(_real(file.source))):
            file.findings.error(
                "structure", line, element, "the file includes itself, expected files without a ring", "Remove it."
            )
            return None
        root = self._document(path, file, element, line)
        if root is None:
            return None
        source = self._sources[path]
        findings = self.main.findings.within(source.name)
        values = SdfValues(findings)
        version = version_of(root, values)
        models = root.findall("model") if root.tag == "sdf" else []
        if not models and root.tag == "sdf" and any(root.find(tag) is not None for tag in ("light", "actor")):
            if root.find("actor") is not None:
                what, remedy = "an included <actor> is not used", "Expect the model to move without it."
                self.tally.add(file.findings, "dropped", what, remedy, line, element)
            return None
        if len(models) != 1:
            findings.error(
                "structure",
                line_of(root),
                element,
                f"<{root.tag}> holds {len(models)} models, expected <sdf> with one model",
                "Include a file with one model.",
            )
            return None
        above = (*file.above, str(_real(file.source)))
        inner = File(source, values, version, above, self.main_line(model, node))
        return _Task(models[0], model, inner, node, depth + 1)

    def main_line(self, model: Model, node: Node) -> int:
        """The line in the main file that leads to an element of a model."""
        return model.file.line_of(node)

    def _located(self, uri: str, file: File, element: str, line: int) -> Path | None:
        """The file that a URI means: the file itself, or the model in a folder."""
        direct = uri.lower().endswith((".sdf", ".world", ".urdf", ".xml"))
        folder = uri.rstrip("/")
        try:
            if direct:
                found = find_file(uri, file.source, self.options)
            else:
                found = self._listed(folder, file) or find_file(f"{folder}/model.sdf", file.source, self.options)
        except (Outside, OSError, ValueError):
            file.findings.error(
                "path",
                line,
                element,
                f"the path {short(uri)} leads out of the folders that may be read, or cannot be followed",
                "Copy the model beside this file, or name its folder as a package folder.",
            )
            return None
        if found is None:
            file.findings.error(
                "file",
                line,
                element,
                f"no model is found under {short(uri)}, expected an SDF file or a folder with model.sdf",
                "Correct the path, or name the folder that holds it as a package folder.",
            )
        return found

    def _listed(self, folder: str, file: File) -> Path | None:
        """The file that model.config in a folder lists for the newest version; None where there is no such list."""
        path = find_file(f"{folder}/model.config", file.source, self.options)
        source = None if path is None else read_file(path, file.findings)
        root = None if source is None else parse(source, file.findings)
        listed = (
            [] if root is None else [(_numbers(node.get("version", "")), text_of(node)) for node in root.findall("sdf")]
        )
        name = max(listed)[1] if listed else ""
        return find_file(f"{folder}/{name}", file.source, self.options) if name else None

    def _document(self, path: Path, file: File, element: str, line: int) -> Node | None:
        """The root of an included file, parsed once."""
        if path not in self._documents:
            findings = self.main.findings.within(str(path))
            source = read_file(path, findings)
            self._bytes -= 0 if source is None else len(source.data)
            if self._bytes < 0:
                self._overflow(f"included files have more than {limits.FILE_SIZE} bytes together", "Include less.")
                source = None
            if source is not None:
                self._sources[path] = source
            self._documents[path] = None if source is None else parse(source, findings)
            if self._documents[path] is None:
                file.findings.error(
                    "file", line, element, "the included file cannot be read, expected SDF", "Correct that file first."
                )
        return self._documents[path]

    def _overflow(self, what: str, remedy: str) -> None:
        if not self._full:
            self.main.findings.error("file", 0, "", what, remedy)
        self._full = True


def version_of(root: Node, values: SdfValues) -> Version:
    """The version of SDF that a file is written in; findings where it is missing or not known here."""
    text = root.get("version")
    if text is None:
        values.missing(root, "version", "sdf", "a version such as 1.9")
        return NEWEST
    version = _numbers(text)
    if version == (0, 0):
        values.findings.error(
            "structure",
            line_of(root),
            "sdf",
            f"the version is {short(text)}, expected a number such as 1.9",
            "Write the version of SDF that the file follows.",
        )
        return NEWEST
    if version < OLDEST:
        values.findings.error(
            "structure",
            line_of(root),
            "sdf",
            f"the version is {text}, expected {OLDEST[0]}.{OLDEST[1]} or newer",
            "Convert the file to a newer version of SDF.",
        )
    elif version > NEWEST:
        values.findings.warn(
            "unknown",
            line_of(root),
            "sdf",
            f"the version is {text}, expected at most {NEWEST[0]}.{NEWEST[1]}: what is new in it is not known here",
            "Compare poses and masses with another reader.",
        )
    return version


def _numbers(text: str) -> Version:
    found = re.fullmatch(r"\s*(\d{1,3})\.(\d{1,3})(\.\d{1,3})?\s*", text)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _real(source: Source) -> Path:
    return Path(source.name).resolve()
