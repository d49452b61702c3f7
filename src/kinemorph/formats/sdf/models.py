"""Opens the models of an SDF file, also nested models and models of included files, without recursion.

Every model becomes a `Model` with its node, its file, and the scope of its names. Links, joints, frames and models are
declared as frames at the same time. `files` finds the files that are included.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from kinemorph.formats import limits
from kinemorph.formats.sdf.files import ROOTS, File, Includes
from kinemorph.formats.sdf.frames import NAMED, PENDING, Entry, Frames, Scope
from kinemorph.formats.sources import Options
from kinemorph.formats.xml_documents import Node, line_of
from kinemorph.formats.xml_values import Tally
from kinemorph.model.input_reader import short
from kinemorph.model.topology import WORLD
from kinemorph.words import counted

NAMESAKE = " (joint)"  # ends the key of a joint that has the name of a link, which SDF allowed up to version 1.6
RESERVED = re.compile(r"world|__.*__")


@dataclass
class Model:
    """A model, or the world: its node, its file, and the scope of its names. `element` is its name in messages."""

    node: Node
    file: File
    scope: Scope
    element: str
    static: bool = False
    joint_keys: dict[int, str] = field(default_factory=dict)  # by the index of the joint in the model


@dataclass(frozen=True)
class _Task:
    """A model to open later: its node, the model that contains it, and the <include> that names it, if any."""

    node: Node
    parent: Model
    file: File
    include: Node | None = None
    depth: int = 0


class Models:
    """Opens all models of a file. `opened` lists them in the order of the file, the world first."""

    def __init__(self, main: File, options: Options, frames: Frames, tally: Tally) -> None:
        self.main, self.frames, self.tally = main, frames, tally
        self.opened: list[Model] = []
        self.top: list[str] = []  # keys of the models in the world
        self.includes = Includes(main, options)
        self._budget = limits.ELEMENTS
        self._stack: list[_Task] = []

    def open(self, node: Node) -> None:
        """Opens all models inside <sdf> or <world>."""
        world = Model(node, self.main, Scope("", WORLD), f"world '{node.get('name', '')}'")
        if node.tag == "sdf":
            world.element = "file"
        self._declare_parts(world, 0)
        while self._stack and not self.includes.full:
            self._open_model(self._stack.pop())

    # ── one model ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _open_model(self, task: _Task) -> None:
        """Declares the frame of a model and its parts."""
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
        """The `attached_to` of the frame of a model: the world or a link; PENDING if the model has no links, so that it
        moves with the first model inside it, which is opened later.
        """
        link = node.find("link")
        first = node.get("canonical_link") or ("" if link is None else link.get("name"))
        return WORLD if static else f"{NAMED}{first}" if first else PENDING

    def _fits(self, name: str, parent: Model, node: Node, element: str) -> bool:
        """Whether a name may be used; False if SDF reserves it, which is recorded as a finding."""
        if RESERVED.fullmatch(name) is None:
            return True
        problem = f"the name {short(name)} is reserved by SDF, expected another name"
        parent.file.values.at(node, element).error("name", problem, "Choose another name.")
        return False

    def _declare_parts(self, model: Model, depth: int) -> None:
        """Declares links, joints and frames of a model; its nested models and includes are opened later."""
        self.opened.append(model)
        node, file, scope = model.node, model.file, model.scope
        self._budget -= len(node) + 1
        if self._budget < 0 or depth > limits.NESTING:
            deep = f"models are nested deeper than {limits.NESTING}, the largest depth allowed"
            many = f"the files together have more than {limits.ELEMENTS} parts, the largest number allowed"
            self.includes.overflow(deep if self._budget >= 0 else many, "Simplify the model.")
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
                continue  # `Assembly` reports it
            else:
                self._declare(child, model, joints)
                joints += tag == "joint"
        self._stack += reversed(tasks)

    def _declare(self, node: Node, model: Model, joints: int) -> None:
        """Declares the frame of a link, joint or <frame>; `joints` is the index of a joint in its model."""
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

    def _included(self, node: Node, model: Model, depth: int) -> _Task | None:
        """The model that an <include> names, to open later; None if there is none, with a finding except for lights."""
        followed = self.includes.follow(node, model.file)
        if followed is None:
            return None
        file, root = followed
        models = root.findall("model") if root.tag in ROOTS else []
        element = f"include '{file.source.name}'"
        if not models and root.tag in ROOTS and any(root.find(tag) is not None for tag in ("light", "actor")):
            if root.find("actor") is not None:
                what, remedy = "an included <actor> has no effect", "Remove it, or expect the model to move without it."
                self.tally.add(model.file.values.at(node, element), "dropped", what, remedy)
            return None
        if len(models) != 1:
            problem = (
                f"<{root.tag}> contains {counted(len(models), 'model')}, but an included file must be <sdf> with one "
                "model"
            )
            file.values.at(root, "").error("structure", problem, "Include a file with one model.")
            return None
        return _Task(models[0], model, file, node, depth + 1)
