"""ROBOT: a built-in robot by name, or a model file; and the options on how a file is read, the same for all verbs.

A verb that takes models asks for `options: Options` and is decorated with `reads_models`, which gives it --base,
--package-dir, --sidecar and --merge-fixed. `chosen` makes the system of what was written; what is doubtful about a file
is told on stderr.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinemorph.cli.application import told
from kinemorph.errors import KinemorphError
from kinemorph.formats import ENDINGS
from kinemorph.formats.sources import Options
from kinemorph.model.library.choosing import CHOICE, choose
from kinemorph.model.robot import Robot
from kinemorph.model.system import System

if TYPE_CHECKING:
    from kinemorph.formats.loading import Examination

ROBOT_HELP = f"A model file ({', '.join(ENDINGS)}), or a built-in robot: {', '.join(CHOICE)}; with data: chain:20."
RobotName = Annotated[str, typer.Argument(metavar="ROBOT", help=ROBOT_HELP, show_default=False)]


class BaseChoice(StrEnum):
    """How the root of a model hangs on the world."""

    fixed = "fixed"
    free = "free"


# the options on reading files: (name, type, default)
_OPTIONS: tuple[tuple[str, Any, Any], ...] = (
    (
        "base",
        Annotated[BaseChoice | None, typer.Option(metavar="KIND", help="fixed or free: how the root of a file hangs.")],
        None,
    ),
    (
        "package_dir",
        Annotated[
            list[Path] | None,
            typer.Option(metavar="DIR", help="Where package:// names and other files may lie. May be repeated."),
        ],
        None,
    ),
    (
        "sidecar",
        Annotated[Path | None, typer.Option(metavar="FILE", help="TOML with what the file's format cannot say.")],
        None,
    ),
    (
        "merge_fixed",
        Annotated[
            bool, typer.Option("--merge-fixed", metavar="", help="Weld bodies of a file that hold fast to each other.")
        ],
        False,
    ),
)


def reads_models(verb: Callable[..., None]) -> Callable[..., None]:
    """A verb with the options on reading files, which it gets as `options`."""
    signature = inspect.signature(verb, eval_str=True)

    @functools.wraps(verb)
    def with_options(**given: Any) -> None:
        base, folders, sidecar, merge_fixed = (given.pop(name) for name, _, _ in _OPTIONS)
        for folder in folders or ():
            if not folder.is_dir():
                raise KinemorphError(f"--package-dir '{folder}' is no folder. Name one that exists.")
        if sidecar is not None and not sidecar.is_file():
            raise KinemorphError(f"--sidecar '{sidecar}' is no file. Name one that exists.")
        read = Options(None if base is None else base.value, merge_fixed, tuple(folders or ()), sidecar)
        verb(options=read, **given)

    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=d, annotation=a) for name, a, d in _OPTIONS
    ]
    own = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in signature.parameters.values() if p.name != "options"]
    as_json = [parameter for parameter in own if parameter.name == "as_json"]  # stays the last one
    listed = [*(parameter for parameter in own if parameter not in as_json), *added, *as_json]
    del with_options.__wrapped__  # the parser shall see the new signature only
    with_options.__signature__ = signature.replace(parameters=listed)  # type: ignore[attr-defined]
    with_options.__annotations__ = {parameter.name: parameter.annotation for parameter in listed}
    return with_options


def is_file(text: str) -> bool:
    """Whether ROBOT means a model file and not a built-in robot."""
    if text.partition(":")[0] in CHOICE and not text.lower().endswith(tuple(ENDINGS)):
        return False
    return "/" in text or "\\" in text or text.lower().endswith(tuple(ENDINGS)) or (text != "" and os.path.exists(text))


def examined(text: str, options: Options) -> tuple[System, Examination | None]:
    """The system that ROBOT means, with what was found in its file; None for a built-in robot.

    Raises ModelError with every problem of a file; warnings go to stderr.
    """
    if is_file(text):
        from kinemorph.formats.loading import examine, settled

        examination = examine(text, options=options)
        with told():
            return settled(examination, text), examination
    given = {"--base": options.base, "--package-dir": options.package_dirs, "--sidecar": options.sidecar}
    for option, value in {**given, "--merge-fixed": options.merge_fixed}.items():
        if value:
            raise KinemorphError(f"{option} is for model files, but '{text}' is a built-in robot. Leave it out.")
    beside = next((text + ending for ending in ENDINGS if os.path.isfile(text + ending)), "")
    if beside and text.partition(":")[0] not in CHOICE:
        raise KinemorphError(f"there is no robot '{text}', but a file '{beside}'. Name it with its ending.")
    return choose(text), None


def chosen(text: str, options: Options) -> System:
    """The system that ROBOT means."""
    return examined(text, options)[0]


def chosen_robot(text: str, options: Options) -> Robot:
    """The robot of that system."""
    return chosen(text, options).robot
