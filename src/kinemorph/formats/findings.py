"""Findings: messages about a model file, each with file, line, element, reason and remedy.

An error prevents the model from being loaded. A warning names a questionable value, or data that are left out. Readers
record all their messages as findings; they raise no exceptions for a wrong file and print nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from kinemorph.errors import Problem
from kinemorph.formats import limits

# the rules that model files have to satisfy; every finding names the rule that is broken
RULES: dict[str, str] = {
    # the file
    "file": "the file can be read, has a known format, and is within the limits of size, nesting and count",
    "syntax": "the text is well-formed XML, TOML or CSV",
    "entities": "XML has no document type declaration and no entities",
    "structure": "elements and attributes that the format requires are present, once, with known values",
    "unknown": "elements and attributes belong to the format, or are known to have no effect on the motion",
    # names and topology
    "name": "names are unique, printable and not too long; names that are referred to exist",
    "symbol": "the symbol of a parameter is LaTeX that printed equations can contain",
    "root": "the bodies form trees with known roots",
    "loop": "a body with two parents states how its loop closes",
    "start": "the initial configuration closes all loops",
    "assembly": "modules fit: their kinds are known, each side docks once, nothing overlaps, all are connected",
    # numbers
    "number": "numbers are numbers, and finite",
    "axis": "an axis is a direction of length 1",
    "limit": "lower limits are below upper limits, and limits of speed and effort are above 0",
    "rotation": "a rotation matrix is orthogonal with determinant 1, a quaternion has length 1",
    "unit": "a quantity has a unit that fits it: a length has a unit of length",
    # mass
    "mass": "masses and moments of inertia are not negative",
    "triangle": "moments of inertia satisfy the triangle inequality",
    "massless": "a body without mass has no inertia, and moves together with bodies that have mass",
    "singular": "the mass matrix is not singular: every joint moves some mass or inertia",
    "roundtrip": "forward dynamics returns the accelerations that inverse dynamics was given, at a random state",
    "assumed": "numbers that affect the motion are in the file, not taken from the defaults of its format",
    # data that are left out
    "mesh": "mesh files that the model names exist, in the folders that may be read",
    "c": "controllers in C run only where the caller has allowed it",
    "path": "files that the model names are in the folders that may be read",
    "dropped": "all data of the file can be represented in the model or format that is made of it",
    "data": "parts of a robot have all data that they need, with valid values",
    "element": "elements name parts that the robot has, and have numbers that their laws can use",
}

Severity = Literal["error", "warning"]
Repair: TypeAlias = Callable[[], None]


class Finding(NamedTuple):
    """One thing that is wrong or questionable in a file.

    `repair` is a function that corrects the parsed document in place; None if there is more than one possible repair.
    """

    severity: Severity
    rule: str  # a key of RULES
    file: str
    line: int  # counted from 1; 0 if no line is known
    element: str  # "link 'arm'"; empty for the file as a whole
    problem: str  # the value found and what was expected, without a full stop
    remedy: str  # what to do: a sentence
    repair: Repair | None = None

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        element = f"{self.element}: " if self.element else ""
        said = f"{self.problem}. {self.remedy}".rstrip()
        return f"{place}: {element}{said} [{self.rule}]"

    def as_dict(self) -> dict[str, str | int]:
        """The finding as data for JSON; "repairable" says whether it has a repair."""
        data = {key: getattr(self, key) for key in self._fields if key != "repair"}
        return {**data, "repairable": self.repair is not None}


class _Tally:
    """State that all views of the same findings share: whether there is an error, and how many are not listed."""

    failed = False
    unlisted = 0


def reserved_name(name: str, other: str) -> Problem:
    """The problem of an element whose name is that of signals of every run, so that it is called `other`."""
    what = f"the name '{name}' is reserved for signals: the element is called '{other}' here"
    return Problem("element", name, what, f"Inputs by the name '{name}' reach it all the same.", rule="name")


class Findings:
    """Collects the findings of a file. `strict` turns all warnings into errors.

    Readers also store here:
    `document`   the parsed file that repairs change: an lxml element or a tomlkit document; None if it is not kept
    `lines`      the line of each part of the robot, by kind and name
    `report`     a function that records a problem of the robot; a blueprint sets one that knows files and lines
    `native`     the parts that are declared in a TOML file, by kind and name
    """

    def __init__(self, file: str, *, strict: bool = False) -> None:
        self.file = file
        self.strict = strict
        self.found: list[Finding] = []
        self.document: Any = None
        self.lines: dict[tuple[str, str], int] = {}
        self.native: Container[tuple[str, str]] = ()
        self._tally = _Tally()
        self._places: Sequence[tuple[str, int]] = ()
        self.report: Callable[[Severity, Problem], None] = self._report

    def _report(self, severity: Severity, problem: Problem) -> None:
        """Records a problem of a robot without a line."""
        self.problem(severity, 0, f"{problem.kind} '{problem.name}'" if problem.name else problem.kind, problem)

    def within(self, file: str, places: Sequence[tuple[str, int]] = ()) -> Findings:
        """A view of these findings for another file: findings that are added to the view name that file.

        If there are `places` (file, line), lines are their numbers, counted from 1.
        """
        view = Findings(file, strict=self.strict)
        view.found, view._tally, view._places = self.found, self._tally, places
        return view

    def where(self, line: int) -> str:
        """A line for use in a sentence: "line 12", or "line 12 of parts.xacro" if lines are numbers of places."""
        if not self._places or not line:
            return f"line {line}"
        file, line = self._places[line - 1]
        return f"line {line}" if file == self.file else f"line {line} of {file}"

    @property
    def count(self) -> int:
        """The number of findings, including those that are not listed."""
        return len(self.found) + self.unlisted

    @property
    def failed(self) -> bool:
        """Whether there is an error, so that the model cannot be loaded."""
        return self._tally.failed

    @property
    def unlisted(self) -> int:
        """The number of findings that are only counted, because the list is full."""
        return self._tally.unlisted

    def error(
        self, rule: str, line: int, element: str, problem: str, remedy: str, repair: Repair | None = None
    ) -> None:
        """Records an error, which prevents the model from being loaded.

        `problem` ends without a full stop; `remedy` is a sentence with one.
        """
        self._add("error", rule, line, element, problem, remedy, repair)

    def warn(self, rule: str, line: int, element: str, problem: str, remedy: str, repair: Repair | None = None) -> None:
        """Records a warning: a questionable value, or data that are left out. `strict` makes it an error."""
        self._add("error" if self.strict else "warning", rule, line, element, problem, remedy, repair)

    def problem(self, severity: Severity, line: int, element: str, problem: Problem) -> None:
        """Records a problem of a robot, its elements or its settings as an error or a warning on a line."""
        report = self.error if severity == "error" else self.warn
        report(problem.rule, line, element, problem.what, problem.remedy)

    def _add(
        self,
        severity: Severity,
        rule: str,
        line: int,
        element: str,
        problem: str,
        remedy: str,
        repair: Repair | None,
    ) -> None:
        """Adds a finding to the list, or only counts it if the list is full."""
        if rule not in RULES:
            raise KeyError(rule)
        file, line = self._places[line - 1] if self._places and line else (self.file, line)
        finding = Finding(severity, rule, file, line, _cut(element), _cut(problem), _cut(remedy), repair)
        tally = self._tally
        first = severity == "error" and not tally.failed
        tally.failed = tally.failed or severity == "error"
        if len(self.found) < limits.FINDINGS:
            self.found.append(finding)
            return
        tally.unlisted += 1
        if first:  # the first error is always listed, even after very many warnings
            self.found[-1] = finding

    @property
    def errors(self) -> list[Finding]:
        """The listed findings that are errors."""
        return [finding for finding in self.found if finding.severity == "error"]

    @property
    def warnings(self) -> list[Finding]:
        """The listed findings that are warnings."""
        return [finding for finding in self.found if finding.severity == "warning"]


def _cut(text: str) -> str:
    """A text cut to the length of a message, with control characters escaped: names in files may be anything."""
    if not text.isprintable():
        joined = " ".join(text[: limits.TEXT_LENGTH + 1].split())
        text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in joined)
    return text if len(text) <= limits.TEXT_LENGTH else f"{text[: limits.TEXT_LENGTH - 3]}..."
