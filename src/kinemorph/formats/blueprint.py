"""A robot as a file describes it: its parts, each with its line; in the end, a checked System.

Formats declare parts here instead of at a builder, so that every problem of the builder becomes a finding with
file and line, and with the policy for files: a questionable mass gives a warning, not an error.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kinemorph.errors import ModelError, Problem
from kinemorph.formats import limits
from kinemorph.formats.findings import Findings, Severity
from kinemorph.model.body import NO_INERTIA, ORIGIN
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.building.part_readers import Draft
from kinemorph.model.input_reader import short
from kinemorph.model.robot import Robot
from kinemorph.model.shapes import Shape
from kinemorph.model.system import Element, Settings, System

SETTINGS = Settings()  # for a file without settings


class Blueprint:
    """Collects parts with their lines. `words` are the words of the format: {"body": "link"}.

    `findings` may be exchanged for a view of another file while parts of that file are declared. What needs the whole
    robot, such as a state by the names of coordinates, waits in `afterwards` and may write `settings`.
    """

    def __init__(
        self,
        findings: Findings,
        name: str,
        *,
        line: int = 1,
        words: Mapping[str, str] | None = None,
        gravity: Any = None,
    ) -> None:
        self.findings = findings
        self.words = words or {}
        if len(name) > limits.NAME_LENGTH:
            problem = f"the name has {len(name)} characters, expected at most {limits.NAME_LENGTH}"
            findings.error("name", line, f"robot {short(name)}", problem, "Shorten it.")
            name = name[: limits.NAME_LENGTH].strip()
        self.builder = RobotBuilder(name) if gravity is None else RobotBuilder(name, gravity)
        self.lines = findings.lines  # by kind and name
        self.lines["robot", name] = line
        self.ends: dict[str, tuple[str, str]] = {}  # of every joint: its parent and its child
        self.kinds: dict[str, str] = {}  # of every joint
        self._main = findings
        self.files: dict[tuple[str, str], Findings] = {}  # findings of parts that are not in the model file
        self.keys: dict[tuple[str, str], Callable[[str], int]] = {}  # of a part: the lines of its keys, 0 for none
        findings.tell, findings.native = self.tell, self.keys
        self.afterwards: list[Callable[[Robot], None]] = []
        self.elements: list[Element] = []
        self.made: System | None = None  # where the robot is made of modules; only elements and settings are added
        self.settings = SETTINGS
        self._count = 0

    # ── declaring ─────────────────────────────────────────────────────────────────────────────────────────────────

    def body(
        self,
        line: int,
        name: str,
        mass: Any = 0.0,
        com: Any = ORIGIN,
        inertia: Any = NO_INERTIA,
        *,
        shapes: Sequence[Shape] = (),
        collisions: Sequence[Shape] = (),
    ) -> None:
        """A body; its data as `RobotBuilder.body` takes them."""
        self.body_of(line, name, (mass, com, inertia), shapes, collisions)

    def body_of(
        self,
        line: int,
        name: str,
        mass_data: tuple[Any, Any, Any],
        shapes: Sequence[Shape] = (),
        collisions: Sequence[Shape] = (),
    ) -> None:
        """A body by its (mass, com, inertia)."""
        self._count += 1
        if self._count <= limits.BODIES and self._named("body", name, line):
            mass, com, inertia = mass_data
            self.builder.body_of({
                "name": name, "mass": mass, "com": com, "inertia": inertia, "shapes": shapes, "collisions": collisions,
            })  # fmt: skip

    def joint(self, line: int, name: str, kind: str, parent: str, child: str, **data: Any) -> None:
        """A joint; `data` as `RobotBuilder.joint` takes it. A parent "world" is the ground."""
        self.joint_of(line, {"name": name, "kind": kind, "parent": parent, "child": child, **data})

    def joint_of(self, line: int, draft: Draft) -> None:
        """A joint by a dictionary of what `joint` takes."""
        name = draft["name"]
        if self._named("joint", name, line):
            self.ends[name] = (draft["parent"], draft["child"])
            self.kinds[name] = draft["kind"]
            self.builder.joint_of(draft)

    def withdraw(self, joint: str) -> None:
        """Removes a declared joint."""
        del self.ends[joint], self.lines["joint", joint]
        self.files.pop(("joint", joint), None)
        self.builder.without(joint)

    def frame(self, line: int, name: str, body: str, **data: Any) -> None:
        """A frame on a body."""
        if self._named("frame", name, line):
            self.builder.frame(name, body, **data)

    def couple(
        self, line: int, joint: str, leader: str, multiplier: Any = None, offset: Any = 0.0, **mesh: Any
    ) -> None:
        """A joint that follows another, by a multiplier or by what `RobotBuilder.gear` and `rack` take."""
        self.lines["coupling", joint] = line
        if self.findings is not self._main:
            self.files["coupling", joint] = self.findings
        times = {} if multiplier is None else {"multiplier": multiplier}
        self.builder.couple_of({"joint": joint, "leader": leader, "offset": offset, **times, **mesh})

    def element(self, line: int, element: Element) -> None:
        """Declares an element."""
        if self._named("element", element.name, line):
            self.elements.append(element)

    def start_at(self, line: int, names: Collection[str]) -> None:
        """Notes which coordinates of the initial state are named; the others may follow from loops."""
        self._main.start, self.lines["settings", ""] = names, line

    def _named(self, kind: str, name: str, line: int) -> bool:
        """Keeps the line of a name; False, with a finding, for a name that cannot be used."""
        part = (kind, name)
        if part not in self.lines and len(name) <= limits.NAME_LENGTH:
            self.lines[part] = line
            if self.findings is not self._main:
                self.files[part] = self.findings
            return True
        if len(name) > limits.NAME_LENGTH:
            problem = f"the name has {len(name)} characters, expected at most {limits.NAME_LENGTH}"
            self.findings.error("name", line, f"{self.word(kind)} {short(name)}", problem, "Shorten it.")
        else:
            problem = f"the name is used already on line {self.lines[part]}, expected a name of its own"
            self.findings.error("name", line, f"{self.word(kind)} '{name}'", problem, "Rename one of the two.")
        return False

    def word(self, kind: str) -> str:
        """The word of the format for a kind of part."""
        return self.words.get(kind, kind)

    # ── the model ─────────────────────────────────────────────────────────────────────────────────────────────────

    def system(self) -> System | None:
        """The checked system; None, with findings, where it cannot be made."""
        if self._count > limits.BODIES:
            problem = f"the model has {self._count} bodies, expected at most {limits.BODIES}"
            remedy = "Split it, or merge bodies that do not move against each other."
            self.findings.error("file", 0, "", problem, remedy)
        if self.findings.failed:
            return None
        robot = self._judged() if self.made is None else self.made.robot
        if robot is None or self.findings.failed:
            return None
        for step in self.afterwards:
            step(robot)
        if self.findings.failed:
            return None
        try:
            assembly, ground = (None, ()) if self.made is None else (self.made.assembly, self.made.elements)
            return System(robot, (*self.elements, *ground), replace(self.settings), assembly)
        except ModelError as error:
            for message in error.problems:
                self.tell("error", Problem.of(message))
            return None

    def _judged(self) -> Robot | None:
        robot, problems, questionable, remarks = self.builder.judged()
        for problem in problems:
            self.tell("error", problem)
        for problem in (*questionable, *remarks):
            self.tell("warning", problem)
        return robot

    def tell(self, severity: Severity, problem: Problem) -> None:
        """Records a problem in the file that declares the part, on the line of the key where that is known."""
        part = (problem.kind, problem.name)
        element = f"{self.word(problem.kind)} '{problem.name}'" if problem.name else self.word(problem.kind)
        line = (part in self.keys and self.keys[part](str(problem.key))) or self.lines.get(part, 0)
        self.files.get(part, self._main).problem(severity, line, element, problem)
