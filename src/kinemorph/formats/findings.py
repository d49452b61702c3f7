"""Messages about a model file: one finding each, with file, line, element, reason and remedy.

An error keeps the model from being loaded; a warning names questionable values or data that are left out. Nothing else
leaves a reader: no exception, no print.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any, Literal, NamedTuple, TypeAlias

from kinemorph.errors import Problem
from kinemorph.formats import limits

# the rules that model files are held to; every finding names the one it comes from
RULES: dict[str, str] = {
    # the file
    "file": "the file can be read, has a known format, and keeps the limits of size, nesting and count",
    "syntax": "the text is well-formed XML, TOML or CSV",
    "entities": "no document type declaration, no entities",
    "structure": "elements and attributes that the format requires exist, once, with known values",
    "unknown": "elements and attributes are ones that the format has, or that are known to be without effect",
    # names and topology
    "name": "names are unique, printable and not too long; names that are referred to exist",
    "root": "the bodies form trees with known roots",
    "loop": "a body with two parents states how its loop closes",
    "start": "the initial configuration closes all loops",
    "assembly": "modules fit: their kinds are known, sides dock once, nothing overlaps, all hang together",
    # numbers
    "number": "numbers are numbers, and finite",
    "axis": "an axis is a direction of length 1",
    "limit": "lower limits lie below upper ones, and limits of speed and effort above 0",
    "rotation": "rotations are rotations",
    "unit": "a quantity has a unit of its kind",
    # mass
    "mass": "masses and moments of inertia are not negative",
    "triangle": "moments of inertia fulfill the triangle inequality",
    "massless": "a body without mass has no inertia, and hangs on one that has mass",
    "singular": "every motion meets some inertia",
    "roundtrip": "forward dynamics undoes inverse dynamics at a random state",
    "assumed": "numbers that matter are in the file, not filled in from the defaults of its format",
    # what is left out
    "mesh": "surfaces named in the file exist, within the folders that may be read",
    "path": "files that a model names lie within the folders that may be read",
    "dropped": "all data of the file can be expressed",
    "data": "parts of a robot hold the data that the builder requires",
    "element": "elements name parts that the robot has, and hold numbers that their laws can use",
}

Severity = Literal["error", "warning"]
Repair: TypeAlias = Callable[[], None]


class Finding(NamedTuple):
    """One thing that is wrong or questionable. `repair` mends the parsed document in place, where that is safe."""

    severity: Severity
    rule: str  # a key of RULES
    file: str
    line: int  # counted from 1; 0 where no line is known
    element: str  # "link 'arm'"; empty for the file as a whole
    problem: str  # the value found and what was expected
    remedy: str
    repair: Repair | None = None

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        element = f"{self.element}: " if self.element else ""
        return f"{place}: {element}{self.problem}. {self.remedy} [{self.rule}]"

    def as_dict(self) -> dict[str, str | int]:
        """For JSON."""
        data = {key: getattr(self, key) for key in self._fields if key != "repair"}
        return {**data, "repairable": self.repair is not None}


class _Tally:
    """Counts that all views of the same findings share."""

    failed = False
    untold = 0


class Findings:
    """Collects findings. `strict` makes errors of all warnings.

    Readers leave two more things here: `document`, the parsed file that repairs act on (an lxml element or a tomlkit
    document; None where none is kept), and `lines`, where each part of the robot stands, by kind and name. `tell` may
    be replaced by a function that knows the file and the line of a problem. `native` are the parts that a
    TOML file of ours declares.
    """

    def __init__(self, file: str, *, strict: bool = False) -> None:
        self.file = file
        self.strict = strict
        self.found: list[Finding] = []
        self.document: Any = None
        self.lines: dict[tuple[str, str], int] = {}
        self.native: Container[tuple[str, str]] = ()
        self.start: Container[str] = ()  # coordinates that the file names for the start, where it names them
        self._tally = _Tally()
        self.tell: Callable[[Severity, Problem], None] = self._tell

    def _tell(self, severity: Severity, problem: Problem) -> None:
        self.problem(severity, 0, f"{problem.kind} '{problem.name}'" if problem.name else problem.kind, problem)

    def within(self, file: str) -> Findings:
        """The same findings, seen from another file: findings added to this view belong to that file."""
        view = Findings(file, strict=self.strict)
        view.found, view._tally = self.found, self._tally
        return view

    @property
    def count(self) -> int:
        """How many findings there are, listed or not."""
        return len(self.found) + self.untold

    @property
    def failed(self) -> bool:
        """Whether anything keeps the model from being loaded."""
        return self._tally.failed

    @property
    def untold(self) -> int:
        """How many findings are beyond the limit."""
        return self._tally.untold

    def error(
        self, rule: str, line: int, element: str, problem: str, remedy: str, repair: Repair | None = None
    ) -> None:
        """Records what keeps the model from being loaded. `problem` and `remedy` have no and one full stop."""
        self._add("error", rule, line, element, problem, remedy, repair)

    def warn(self, rule: str, line: int, element: str, problem: str, remedy: str, repair: Repair | None = None) -> None:
        """Records a questionable value, or data that are left out."""
        self._add("error" if self.strict else "warning", rule, line, element, problem, remedy, repair)

    def problem(self, severity: Severity, line: int, element: str, problem: Problem) -> None:
        """Records a problem of a robot, its elements or its settings."""
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
        if rule not in RULES:
            raise KeyError(rule)
        finding = Finding(severity, rule, self.file, line, _cut(element), _cut(problem), _cut(remedy), repair)
        tally = self._tally
        first = severity == "error" and not tally.failed
        tally.failed = tally.failed or severity == "error"
        if len(self.found) < limits.FINDINGS:
            self.found.append(finding)
            return
        tally.untold += 1
        if first:  # the first error is listed, however many warnings came before
            self.found[-1] = finding

    @property
    def errors(self) -> list[Finding]:
        return [finding for finding in self.found if finding.severity == "error"]

    @property
    def warnings(self) -> list[Finding]:
        return [finding for finding in self.found if finding.severity == "warning"]


def _cut(text: str) -> str:
    """A text that fits a message: a name in a file can be as long as the file, and hold control characters."""
    if not text.isprintable():
        joined = " ".join(text[: limits.TEXT_LENGTH + 1].split())
        text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in joined)
    return text if len(text) <= limits.TEXT_LENGTH else f"{text[: limits.TEXT_LENGTH - 3]}..."
