"""Every exception that Kinemorph raises on purpose.

    KinemorphError
    ├── ModelError           the robot is wrong; `problems` lists every mistake found
    │   └── ParseError       a model file cannot be loaded; `findings` lists what was found, with file and line
    ├── ShapeError           an array has the wrong shape or holds a value that is not finite (a ValueError too)
    ├── UnsupportedError     a formulation, backend or analysis does not cover this model; says why
    ├── CompileError         code generation failed; carries the program's name
    │   └── TracingError     a function asks an expression for its value while it is traced (a TypeError too)
    ├── ControllerError      a user function failed in a run; the run ends with it as its outcome
    ├── StorageError         a file of results cannot be written or read; says why (an OSError too)
    └── MissingExtraError    an optional dependency is absent; names the pip command

and six warnings: ModelWarning, a model file has questionable values or data that cannot be expressed; CacheWarning,
compiled code cannot be kept on disk; StorageWarning, a run cannot be saved while it proceeds; SlowRunWarning, a run
takes very many steps; ChatterWarning, steps of a run were too large for stiff contacts or gains;
EnergyWarning, the energy of a run does not balance.

A message names the part, the value found, what was expected, and how to mend it (`Problem`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

LONGEST_NAME = 100  # characters of a name in a message


class KinemorphError(Exception):
    """Base of all errors that Kinemorph raises on purpose."""


class Problem(str):
    """One thing that is wrong with a robot: which part, what is wrong with it, how to mend it, and the rule it breaks.

    As text it is the whole message: "joint 'knee': pitch is 2, but the kind is revolute. Leave pitch out."

    `kind`, `name`      the part: "joint", "knee"; both empty where there is none
    `key`               what is wrong within it: an argument ("pitch"), a docking, or a line of its text
    `what`, `remedy`    the value found and what was expected, without a full stop; what to do, a sentence or more
    `rule`              the rule that it breaks, a key of `formats.findings.RULES`
    """

    kind: str
    name: str
    key: str | int
    what: str
    remedy: str
    rule: str

    def __new__(
        cls, kind: str, name: object, what: str, remedy: str, key: str | int = "", rule: str = "data"
    ) -> Problem:
        name = str(name)
        shown = name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 3]}..."
        part = f"{kind} '{shown}': " if name else f"{kind}: " if kind else ""
        problem = super().__new__(cls, f"{part}{what}. {remedy}")
        problem.kind, problem.name, problem.key = kind, name, key
        problem.what, problem.remedy, problem.rule = what, remedy, rule
        return problem

    def __reduce__(self) -> tuple[Any, ...]:  # to be copied and pickled
        return Problem, (self.kind, self.name, self.what, self.remedy, self.key, self.rule)

    @classmethod
    def of(cls, message: str, remedy: str = "Correct it.") -> Problem:
        """A message as a problem; one that is plain text gets this remedy."""
        return message if isinstance(message, Problem) else cls("", "", message.rstrip("."), remedy)


class ModelError(KinemorphError):
    """A robot that cannot be built. `problems` holds one message for every mistake found, most of them a `Problem`."""

    def __init__(self, problems: str | Sequence[str]) -> None:
        self.problems: tuple[str, ...] = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__("\n".join(self.problems))


class ParseError(ModelError):
    """A model file that cannot be loaded. `findings` holds what was found in it, warnings included."""

    def __init__(self, problems: str | Sequence[str], findings: Sequence[object] = ()) -> None:
        self.findings = tuple(findings)
        super().__init__(problems)


class ShapeError(KinemorphError, ValueError):
    """An array of the wrong shape, or with a value that is not finite."""


class UnsupportedError(KinemorphError):
    """A formulation, backend or analysis does not cover this model or request."""


class CompileError(KinemorphError):
    """Code generation failed."""


class TracingError(CompileError, TypeError):
    """A function that cannot be traced: it asks an expression for its value, or returns no expression."""


class ControllerError(KinemorphError):
    """A user function raised in a run, or returned an unusable value. The run ends with this error as its outcome."""


class StorageError(KinemorphError, OSError):
    """A file of results that cannot be written, or cannot be read."""


class MissingExtraError(KinemorphError):
    """An optional dependency is not installed. One that belongs to no extra is installed by its own name."""

    def __init__(self, package: str, extra: str | None = None) -> None:
        self.what = f"'{package}' is not installed"
        self.remedy = "Run: pip install " + (f"'kinemorph[{extra}]'" if extra else package)
        super().__init__(f"{self.what}. {self.remedy}")


class ModelWarning(UserWarning):
    """A model file has questionable values or data that cannot be expressed, but can be loaded; names the rule."""


class CacheWarning(UserWarning):
    """Compiled code cannot be kept on disk, so that every process compiles again. Results are not affected."""


class StorageWarning(UserWarning):
    """A run could not be saved while it proceeded. Nothing computed is lost: the trajectory is returned."""


class SlowRunWarning(UserWarning):
    """A run takes very many steps, as explicit methods do on stiff systems. The run continues."""


class ChatterWarning(UserWarning):
    """Steps of an explicit method were too large for contact or gains: the run is finite and wrong."""


class EnergyWarning(UserWarning):
    """The energy of a run does not balance: its steps were too large, and its motion is finite and not accurate."""


def users_level() -> int:
    """The stack level of the first caller outside this package, so that a warning names the line of the user."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("kinemorph."):
        level, frame = level + 1, frame.f_back
    return level


def told(error: BaseException) -> str:
    """An exception of a user function in words: its type, its message, and the user's line that raised it."""
    frames, frame = [], error.__traceback__
    while frame is not None:
        frames.append((frame.tb_frame.f_code.co_filename, frame.tb_lineno))
        frame = frame.tb_next
    own = [place for place in frames if "site-packages" not in place[0]] or frames
    where = f" ({os.path.basename(own[-1][0])}, line {own[-1][1]})" if own else ""
    message = str(error).strip().rstrip(".")
    return f"{type(error).__name__}{': ' if message else ''}{message}{where}"
