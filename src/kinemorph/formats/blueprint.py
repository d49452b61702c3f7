"""Collects the parts of a robot that a file describes, each with its line, and makes a checked System of them.

Readers declare parts here instead of calling a `RobotBuilder`, so that every problem that the builder finds becomes a
finding with file and line. Files are treated more leniently than Python: a questionable mass gives a warning, not an
error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from kinemorph.errors import ModelError, Problem
from kinemorph.formats import limits
from kinemorph.formats.findings import Findings, Severity
from kinemorph.model.body import NO_INERTIA, ORIGIN
from kinemorph.model.building.builder import RobotBuilder, Verdict
from kinemorph.model.building.part_readers import Draft
from kinemorph.model.elements.phases.automaton import Automaton
from kinemorph.model.input_reader import short
from kinemorph.model.robot import Dependent, Robot
from kinemorph.model.run_plans import RunPlan, RunPlans
from kinemorph.model.shapes import Shape
from kinemorph.model.starts import Start, Starts
from kinemorph.model.system import Element, Settings, System

SETTINGS = Settings()  # of a file that gives none


class Blueprint:
    """Collects the parts of one robot with their lines. `words` are the format's words for parts: {"body": "link"}.

    While parts of another file are declared, such as a sidecar, `findings` is replaced by a view of that file.
    `afterwards` holds functions that need the complete robot, such as one that reads a state by the names of
    coordinates; they are called with the robot, and may change `settings`.
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
            findings.error("name", line, f"robot {short(name)}", problem, "Shorten the name.")
            name = name[: limits.NAME_LENGTH].strip()
        self.builder = RobotBuilder(name) if gravity is None else RobotBuilder(name, gravity)
        self.lines = findings.lines  # of parts, by kind and name
        self.lines["robot", name] = line
        self.ends: dict[str, tuple[str, str]] = {}  # (parent, child) of every joint, by its name
        self.kinds: dict[str, str] = {}  # of joints, by name
        self._main = findings
        self.files: dict[tuple[str, str], Findings] = {}  # views for parts that are declared in other files
        self.keys: dict[tuple[str, str], Callable[[str], int]] = {}  # by part: gives the line of a key, 0 if unknown
        findings.report, findings.native = self.report, self.keys
        self.afterwards: list[Callable[[Robot], None]] = []
        self.elements: list[Element] = []
        self.automaton: Automaton | None = None
        self.dependents: list[Dependent] = []  # of a robot with driven joints
        self.made: System | None = None  # a robot made of modules: then only elements and settings are added to it
        self.settings = SETTINGS
        self.amendments: list[tuple[Literal["body", "joint"], str, Mapping[str, Any]]] = []
        self.runs: dict[str, RunPlan] = {}
        self.starts: dict[str, Start] = {}
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
        """Declares a body; its data are those of `RobotBuilder.body`."""
        self.body_of(line, name, (mass, com, inertia), shapes, collisions)

    def body_of(
        self,
        line: int,
        name: str,
        mass_data: tuple[Any, Any, Any],
        shapes: Sequence[Shape] = (),
        collisions: Sequence[Shape] = (),
    ) -> None:
        """Declares a body with the mass data (mass [kg], com [m], inertia [kg m^2])."""
        self._count += 1
        if self._count <= limits.BODIES and self._named("body", name, line):
            mass, com, inertia = mass_data
            self.builder.body_of({
                "name": name, "mass": mass, "com": com, "inertia": inertia, "shapes": shapes, "collisions": collisions,
            })  # fmt: skip

    def joint(self, line: int, name: str, kind: str, parent: str, child: str, **data: Any) -> None:
        """Declares a joint; `data` are those of `RobotBuilder.joint`. The parent "world" is the ground."""
        self.joint_of(line, {"name": name, "kind": kind, "parent": parent, "child": child, **data})

    def joint_of(self, line: int, draft: Draft) -> None:
        """Declares a joint; `draft` holds the arguments of `joint` by name."""
        name = draft["name"]
        if self._named("joint", name, line):
            self.ends[name] = (draft["parent"], draft["child"])
            self.kinds[name] = draft["kind"]
            self.builder.joint_of(draft)

    def add_armature(self, joint: str, inertia: float) -> None:
        """Adds to the armature [kg m^2 or kg] of a joint with one axis that was declared before."""
        self.builder.add_armature(joint, inertia)

    def amend(self, kind: Literal["body", "joint"], name: str, data: Mapping[str, Any]) -> None:
        """Replaces data of a body or joint that the model file declares, when all files are read."""
        self.amendments.append((kind, name, data))

    def has(self, kind: str, name: str) -> bool:
        """Whether a part of this kind and name is declared."""
        return (kind, name) in self.lines

    def withdraw(self, joint: str) -> None:
        """Removes a joint that was declared before."""
        del self.ends[joint], self.lines["joint", joint]
        self.files.pop(("joint", joint), None)
        self.builder.without(joint)

    def frame(self, line: int, name: str, body: str, **data: Any) -> None:
        """Declares a frame on a body; `data` are those of `RobotBuilder.frame`."""
        if self._named("frame", name, line):
            self.builder.frame(name, body, **data)

    def couple(
        self, line: int, joint: str, leader: str, multiplier: Any = None, offset: Any = 0.0, **mesh: Any
    ) -> None:
        """Declares that a joint follows another: q[joint] = multiplier q[leader] + offset.

        `mesh` may hold arguments of `RobotBuilder.gear` or `rack` instead of a multiplier.
        """
        self.lines["coupling", joint] = line
        if self.findings is not self._main:
            self.files["coupling", joint] = self.findings
        times = {} if multiplier is None else {"multiplier": multiplier}
        self.builder.couple_of({"joint": joint, "leader": leader, "offset": offset, **times, **mesh})

    def element(self, line: int, element: Element) -> None:
        """Declares an element."""
        if self._named("element", element.name, line):
            self.elements.append(element)

    def _named(self, kind: str, name: str, line: int) -> bool:
        """Stores the line of a part. Returns False, with a finding, if its name is taken or too long."""
        part = (kind, name)
        if part not in self.lines and len(name) <= limits.NAME_LENGTH:
            self.lines[part] = line
            if self.findings is not self._main:
                self.files[part] = self.findings
            return True
        if len(name) > limits.NAME_LENGTH:
            problem = f"the name has {len(name)} characters, expected at most {limits.NAME_LENGTH}"
            self.findings.error("name", line, f"{self.word(kind)} {short(name)}", problem, "Shorten the name.")
        else:
            place = self.findings.where(self.lines[part])
            problem = f"the name is used already on {place}, expected a name that is not used yet"
            self.findings.error("name", line, f"{self.word(kind)} '{name}'", problem, "Rename one of the two.")
        return False

    def word(self, kind: str) -> str:
        """The format's word for a kind of part: "link" for "body" in URDF."""
        return self.words.get(kind, kind)

    # ── the model ─────────────────────────────────────────────────────────────────────────────────────────────────

    def system(self) -> System | None:
        """The system of all declared parts, checked; None if it cannot be made, which is recorded as a finding."""
        for amendment in self.amendments:
            self.builder.amend(*amendment)
        if self._count > limits.BODIES:
            problem = f"the model has {self._count} bodies, expected at most {limits.BODIES}"
            remedy = "Split it, or merge bodies that do not move relative to each other."
            self.findings.error("file", 0, "", problem, remedy)
        if self.findings.failed:
            self._report_masses()
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
            elements = (*self.elements, *ground)
            runs, starts = RunPlans(self.runs), Starts(self.starts)
            return System(robot, elements, replace(self.settings), assembly, self.automaton, runs, starts)
        except ModelError as error:
            for message in error.problems:
                self.report("error", Problem.of(message))
            return None

    def _report_masses(self) -> None:
        """Reports wrong mass data of bodies that have no other error, also if other parts of the file have errors."""
        reported = {finding.element for finding in self.findings.errors}
        for problem in map(Problem.of, self.verdict().problems):
            if problem.rule == "mass" and f"{self.word('body')} '{problem.name}'" not in reported:
                self.report("error", problem)

    def _judged(self) -> Robot | None:
        """The robot that the builder makes; its problems and remarks become findings."""
        robot, problems, remarks = self.verdict()
        for problem in problems:
            self.report("error", problem)
        for problem in remarks:
            self.report("warning", problem)
        return robot if robot is None or not self.dependents else replace(robot, dependents=tuple(self.dependents))

    def verdict(self) -> Verdict:
        """The robot that the builder makes of the declared parts, None if it has problems, and everything that its
        checks found.
        """
        return self.builder.judged()

    def report(self, severity: Severity, problem: Problem) -> None:
        """Records a problem as a finding of the file that declares the part, on the line of the wrong key if known."""
        part = (problem.kind, problem.name)
        element = f"{self.word(problem.kind)} '{problem.name}'" if problem.name else self.word(problem.kind)
        line = (part in self.keys and self.keys[part](str(problem.key))) or self.lines.get(part, 0)
        self.files.get(part, self._main).problem(severity, line, element, problem)
