"""Every exception that Kinemorph raises on purpose.

    KinemorphError
    ├── ModelError           the robot cannot be built; `problems` lists every problem found
    │   └── ParseError       a model file cannot be loaded; `findings` lists what was found, with file and line
    ├── ShapeError           an array has the wrong shape or holds a value that is not finite (a ValueError too)
    ├── UnsupportedError     a formulation, backend or analysis does not cover this model; says why
    ├── CompileError         code generation failed; carries the program's name
    │   └── TracingError     a function cannot be traced, because it needs the value of an expression (a TypeError too)
    ├── ControllerError      a user function failed in a run; the run ends with it as its outcome
    ├── StepError            a Stepper cannot take its next step, or its motion diverges
    ├── StorageError         a file of results cannot be written or read; says why (an OSError too)
    │   └── ChangedError     the results of a study belong to another model, measure or version; says what changed
    └── MissingExtraError    an optional dependency is not installed; names the pip command

and eighteen warnings: ModelWarning, a model file has questionable values or data that Kinemorph cannot represent;
CacheWarning, compiled code cannot be stored on disk; StorageWarning, a run cannot be saved while it proceeds;
SlowRunWarning, a run takes very many steps; ChatterWarning, the steps of a run were too large for stiff contacts or
gains; GainWarning, a sampled controller is unstable; OptionWarning, an option has no effect beside another one;
AutomatonWarning, phases or edges of a model cannot be meant; EnergyWarning, the energy of a run does not balance;
ImpactWarning, an impact began and ended within one step; GroundWarning, a body passes through the ground, a run begins
inside it, or a walker falls; LimitWarning, a joint ends a run far beyond its limit, or feedback is long at its limits;
PlanWarning, a planned run chose what its user did not; InactiveWarning, data of a model file do not act in a run;
RecordingWarning, measured data are questionable or do not determine a parameter;
LanguageWarning, a text of a report has no translation; InterfaceWarning, code of a user in a program may use names that
the new model does not have; StudyWarning, items of a study failed, their runs warn, or code behind the study cannot be
followed.

A message names the part, the value found, what was expected, and how to correct it (`Problem`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any, Self

LONGEST_NAME = 100  # characters; a longer name is cut in messages
NAMED_TOGETHER = 8  # parts with the same problem that a message names


class KinemorphError(Exception):
    """Base of all errors that Kinemorph raises on purpose.

    `about` is the kind and the name of what is wrong, such as ("part", "mass") of a study; ("", "") where it is not
    known. Whoever knows the line of this name in a file adds the line to the message.
    """

    about: tuple[str, str] = ("", "")

    def concerning(self, kind: str, name: str) -> Self:
        """This error, with what it is about."""
        self.about = kind, name
        return self


class Problem(str):
    """One thing that is wrong with a robot: the part, what is wrong with it, how to correct it, and the rule it breaks.

    Its text is the whole message: "joint 'knee': pitch is 2, but the kind is revolute. Leave pitch out."

    `kind`, `name`      the part: "joint", "knee"; both are empty if the problem belongs to no part
    `key`               what is wrong in the part: an argument ("pitch"), a docking, or a line number of its text
    `what`              the value found and what was expected, without a full stop
    `remedy`            what to do, as one or more sentences
    `rule`              the rule that is broken, a key of `formats.findings.RULES`
    `at`                where it is wrong: names of modules, or cells (row, column) of a grid
    """

    kind: str
    name: str
    key: str | int
    what: str
    remedy: str
    rule: str
    at: tuple[str | tuple[int, int], ...]

    def __new__(
        cls,
        kind: str,
        name: object,
        what: str,
        remedy: str,
        key: str | int = "",
        rule: str = "data",
        at: tuple[str | tuple[int, int], ...] = (),
    ) -> Problem:
        name = str(name)
        shown = name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 3]}..."
        part = f"{kind} '{shown}': " if name else f"{kind}: " if kind else ""
        problem = super().__new__(cls, f"{part}{what}. {remedy}".rstrip())
        problem.kind, problem.name, problem.key = kind, name, key
        problem.what, problem.remedy, problem.rule, problem.at = what, remedy, rule, at
        return problem

    def __reduce__(self) -> tuple[Any, ...]:  # to be copied and pickled
        return Problem, (self.kind, self.name, self.what, self.remedy, self.key, self.rule, self.at)

    @classmethod
    def of(cls, message: str, remedy: str = "") -> Problem:
        """The message itself if it is a `Problem`; otherwise a problem of this text and `remedy`, if any."""
        return message if isinstance(message, Problem) else cls("", "", message.rstrip("."), remedy)


def _each_once(problems: Sequence[str]) -> list[str]:
    """The texts of problems; parts with the same problem are named together, the first NAMED_TOGETHER of them."""
    parts: dict[Any, list[str]] = {}
    for problem in problems:
        key: Any = problem
        if isinstance(problem, Problem) and problem.name:
            key = (problem.kind, problem.what, problem.remedy)
        parts.setdefault(key, []).append(problem)
    texts = []
    for first, *others in parts.values():
        if not others or not isinstance(first, Problem):
            texts += [first, *others]
            continue
        names = [f"'{one.name}'" for one in (first, *others) if isinstance(one, Problem)]
        more = f" and {len(names) - NAMED_TOGETHER} more" if len(names) > NAMED_TOGETHER else ""
        texts.append(f"{first.kind} {', '.join(names[:NAMED_TOGETHER])}{more}: {first.what}. {first.remedy}")
    return texts


class ModelError(KinemorphError):
    """A robot cannot be built. `problems` holds one message for every problem found, most of them a `Problem`.

    Its text names parts with the same problem together: "element 'foot1', 'foot2': ...".
    """

    def __init__(self, problems: str | Sequence[str]) -> None:
        self.problems: tuple[str, ...] = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__("\n".join(_each_once(self.problems)))


class ParseError(ModelError):
    """A model file cannot be loaded. `findings` holds all findings in the file, warnings included."""

    def __init__(self, problems: str | Sequence[str], findings: Sequence[object] = ()) -> None:
        self.findings = tuple(findings)
        super().__init__(problems)


class ShapeError(KinemorphError, ValueError):
    """An array has the wrong shape, or a value that is not finite."""


class UnsupportedError(KinemorphError):
    """A formulation, backend or analysis does not cover this model or request."""


class CompileError(KinemorphError):
    """Code generation failed."""


class TracingError(CompileError, TypeError):
    """A function cannot be traced: it needs the value of an expression, or it does not return an expression."""


class ControllerError(KinemorphError):
    """A user function raised in a run, or returned an unusable value. The run ends with this error as its outcome."""


class StepError(KinemorphError):
    """A `Stepper` cannot take its next step, or its motion diverges. The message is that of a run that fails."""


class StorageError(KinemorphError, OSError):
    """A file of results cannot be written or read."""


class ChangedError(StorageError):
    """The store of a study has results of another model, other measures, options or another version."""


class MissingExtraError(KinemorphError):
    """The optional dependency `package` is not installed. The message says which pip command installs it."""

    def __init__(self, package: str, extra: str | None = None) -> None:
        self.what = f"'{package}' is not installed"
        self.remedy = "Run: pip install " + (f"'kinemorph[{extra}]'" if extra else package)
        super().__init__(f"{self.what}. {self.remedy}")


class ModelWarning(UserWarning):
    """A model file can be loaded, but has questionable values or data that Kinemorph cannot represent."""


class CacheWarning(UserWarning):
    """Compiled code cannot be stored on disk, so every process compiles again. Results are not affected."""


class StorageWarning(UserWarning):
    """A run could not be saved while it proceeded. No result is lost: the trajectory is returned all the same."""


class SlowRunWarning(UserWarning):
    """A run takes very many steps: its system is stiff for an explicit method, or it is long. The run continues."""


class ChatterWarning(UserWarning):
    """The steps of an explicit method were unstable for stiff forces, and velocities near there are not accurate."""


class GainWarning(UserWarning):
    """A sampled controller is unstable: its gains are too high for its sample time and the inertia that it moves."""


class OptionWarning(UserWarning):
    """An option has no effect beside another one, such as tolerances beside a constant step, or less than it could."""


class AutomatonWarning(UserWarning):
    """Phases or edges of a hybrid automaton cannot be meant: see the rules in docs/simulation.md."""


class EnergyWarning(UserWarning):
    """The energy of a run does not balance: its steps were too large, and the motion is inaccurate."""


class ImpactWarning(UserWarning):
    """An impact began and ended within one step of a run: its rebound is lost, and counts as dissipated."""


class GroundWarning(UserWarning):
    """A body passes through the ground in a run, because it has no contact, or a run begins inside the ground."""


class LimitWarning(UserWarning):
    """A joint ends a run far beyond its limit, or state feedback is at its limits for much of a run."""


class PlanWarning(UserWarning):
    """A planned run chose what its user did not: where it begins, how long it lasts, or a ground."""


class InactiveWarning(UserWarning):
    """A model file has limits, friction, effort limits or collision shapes that do not act in a run."""


class RecordingWarning(UserWarning):
    """Measured data are questionable, or do not determine a parameter. Identification continues with them."""


class InterfaceWarning(UserWarning):
    """Code of a user that stays in the folder of a program may use names that the new model does not have."""


class StudyWarning(UserWarning):
    """Items of a study failed, or their runs gave warnings."""


class LanguageWarning(UserWarning):
    """A text of a report has no translation to the language of the report, and stays English."""


def users_level() -> int:
    """The `stacklevel` of the first caller outside Kinemorph, so that a warning shows the user's line."""
    level, frame = 1, sys._getframe(1)
    inner = ("kinemorph.", "functools")  # a property that is kept runs in functools
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(inner):
        level, frame = level + 1, frame.f_back
    return level


def told(error: BaseException) -> str:
    """A text that describes an exception: its type, its message, and the file and line of user code that raised it."""
    frames, frame = [], error.__traceback__
    while frame is not None:
        frames.append((frame.tb_frame.f_code.co_filename, frame.tb_lineno))
        frame = frame.tb_next
    elsewhere = ("site-packages", os.path.dirname(__file__), os.path.dirname(os.__file__))  # and in Python's library
    own = [place for place in frames if not any(folder in place[0] for folder in elsewhere)] or frames
    where = f" ({os.path.basename(own[-1][0])}, line {own[-1][1]})" if own else ""
    message = str(error).strip().rstrip(".")
    return f"{type(error).__name__}{': ' if message else ''}{message}{where}"
