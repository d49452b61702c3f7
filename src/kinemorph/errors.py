"""Every exception that Kinemorph raises on purpose.

    KinemorphError
    ├── ModelError           the robot is wrong; `problems` lists every mistake found, one sentence each
    │   └── ParseError       a model file cannot be loaded; `findings` lists what was found, with file and line
    ├── ShapeError           an array has the wrong shape or holds a value that is not finite (a ValueError too)
    ├── UnsupportedError     a formulation, backend or analysis does not cover this model; says why
    ├── CompileError         code generation failed; carries the program's name
    │   └── TracingError     a function asks an expression for its value while it is traced (a TypeError too)
    ├── ControllerError      a function of the user failed in a run; a run ends with it as its outcome
    ├── StorageError         a file of results cannot be written or read; says why (an OSError too)
    └── MissingExtraError    an optional dependency is absent; names the pip command

and five warnings: ModelWarning, a model file says what is doubtful or cannot be expressed; CacheWarning, compiled code
cannot be kept on disk; StorageWarning, a run cannot be saved as it goes; SlowRunWarning, a run takes steps without
number; ChatterWarning, steps of a run were too large for what is stiff in it.

A message is one sentence for a person: the thing's name, the value found, what was expected, how to mend it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence


class KinemorphError(Exception):
    """Base of all errors that Kinemorph raises on purpose."""


class ModelError(KinemorphError):
    """A robot that cannot be built. `problems` holds one sentence for every mistake found."""

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
    """What was asked is outside what this formulation, backend or analysis covers."""


class CompileError(KinemorphError):
    """Code generation failed."""


class TracingError(CompileError, TypeError):
    """A function that cannot be traced: it asks an expression for its truth or its value, or returns what is none."""


class ControllerError(KinemorphError):
    """A function that a run calls has raised, or has given what cannot be used. A run ends with it as its outcome."""


class StorageError(KinemorphError, OSError):
    """A file of results that cannot be written, or cannot be read."""


class MissingExtraError(KinemorphError):
    """An optional dependency is not installed. Where no extra brings it, it is installed by its own name."""

    def __init__(self, package: str, extra: str | None = None) -> None:
        what = f"'kinemorph[{extra}]'" if extra else package
        super().__init__(f"'{package}' is not installed. Run: pip install {what}")


class ModelWarning(UserWarning):
    """A model file that can be loaded says what is doubtful, or what cannot be expressed; the message has the rule."""


class CacheWarning(UserWarning):
    """Compiled code cannot be kept on disk, so that every process compiles anew. Results are not affected."""


class StorageWarning(UserWarning):
    """A run could not be saved as it went on. Nothing computed is lost: the trajectory is returned."""


class SlowRunWarning(UserWarning):
    """A run takes very many steps, as a method that is not made for stiff systems does on one. It goes on."""


class ChatterWarning(UserWarning):
    """Steps of an explicit method were too large for contact or gains: the run is finite and wrong."""


MOST_SEARCHED = 5_000  # characters of names


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """` Did you mean 'x'?` for a name that is not there, with the nearest one that is; nothing where none is near.

    Among very many names nothing is looked for: a file may have thousands of names, and miss all of them.
    """
    spelled: dict[str, str] = {}
    size = len(str(name))
    for one in known:
        spelled[one.lower()] = one
        size += len(one)
        if size > MOST_SEARCHED:
            return ""
    import difflib  # it is needed where something is wrong

    near = difflib.get_close_matches(str(name).lower(), spelled, n=1, cutoff=0.5)
    return f" Did you mean '{spelled[near[0]]}'?" if near else ""


def users_level() -> int:
    """How many calls up the first one lies that is not ours: a warning names the line that a user wrote."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("kinemorph."):
        level, frame = level + 1, frame.f_back
    return level


def told(error: BaseException) -> str:
    """An exception of a user's function in words: its type, its message, and the user's line that led to it."""
    frames, frame = [], error.__traceback__
    while frame is not None:
        frames.append((frame.tb_frame.f_code.co_filename, frame.tb_lineno))
        frame = frame.tb_next
    own = [place for place in frames if "site-packages" not in place[0]] or frames
    where = f" ({os.path.basename(own[-1][0])}, line {own[-1][1]})" if own else ""
    message = str(error).strip().rstrip(".")
    return f"{type(error).__name__}{': ' if message else ''}{message}{where}"
