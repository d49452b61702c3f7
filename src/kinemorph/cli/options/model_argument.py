"""ROBOT, the argument that names a built-in robot or a model file, and the options for reading a file.

A verb that takes a model has the parameters `robot: RobotName` and `reading: ReadingOptions`, and gets its system from
`chosen(robot, reading)`. Questionable values in a file are reported on stderr.
"""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinemorph.cli.application import flag, option, reported_warnings, say_once_a_day
from kinemorph.errors import KinemorphError
from kinemorph.formats import ENDINGS
from kinemorph.formats.sources import Options
from kinemorph.model.library.choosing import CHOICE, choose
from kinemorph.model.system import System
from kinemorph.words import counted

if TYPE_CHECKING:
    from kinemorph.formats.loading import Examination

ROBOT_HELP = f"A model file ({', '.join(ENDINGS)}), or a built-in robot: {', '.join(CHOICE)}; with arguments: chain:20."
RobotName = Annotated[str, typer.Argument(metavar="ROBOT", help=ROBOT_HELP, show_default=False)]


_ARGUMENT = re.compile(r"([^:=]+):?=(.*)", re.DOTALL)  # side:=left, or side=left


class BaseChoice(StrEnum):
    """How the root of a model is connected to the world."""

    fixed = "fixed"
    free = "free"


@dataclass(frozen=True)
class ReadingOptions:
    """How a model file is read. All verbs that take a model have these options."""

    base: Annotated[BaseChoice | None, option("Root body of the model: fixed to the world, or free.", "KIND")] = None
    package_dir: Annotated[
        list[Path] | None, option("Folder to search for package:// names and other files. May be repeated.", "DIR")
    ] = None
    sidecar: Annotated[Path | None, option("TOML file with data that the model's format cannot express.", "FILE")] = (
        None
    )
    srdf: Annotated[Path | None, option("SRDF file of a URDF, whose group states become starts.", "FILE")] = None
    merge_fixed: Annotated[bool, flag("--merge-fixed", "Merge bodies that fixed joints connect.")] = False
    argument: Annotated[
        list[str] | None,
        option(
            "Value of an argument that a xacro file declares. May be repeated.",
            "NAME:=VALUE",
            names=("--arg", "--argument"),
        ),
    ] = None

    allow_c: Annotated[bool, flag("--allow-c", "Let controllers in C that the file names be compiled and run.")] = False

    soft_equalities: Annotated[
        bool, flag("--soft-equalities", "Equalities of an MJCF file are as soft as it says, not exact.")
    ] = False

    def __post_init__(self) -> None:
        for folder in self.package_dir or ():
            if not folder.is_dir():
                raise KinemorphError(f"--package-dir '{folder}' is not a folder. Name a folder that exists.")
        for name, path in (("--sidecar", self.sidecar), ("--srdf", self.srdf)):
            if path is not None and not path.is_file():
                raise KinemorphError(f"{name} '{path}' is not a file. Name a file that exists.")
        for text in self.argument or ():
            if not _ARGUMENT.fullmatch(text):
                raise KinemorphError(f"--arg is '{text}'; expected NAME:=VALUE, such as arm:=left. Write it so.")

    def for_files(self, *, repairable: bool = False) -> Options:
        """These options as the readers in `formats` take them. `repairable` keeps the document for later repairs."""
        base: Any = None if self.base is None else self.base.value
        given = tuple((found[1], found[2]) for text in self.argument or () if (found := _ARGUMENT.fullmatch(text)))
        return Options(
            base,
            self.merge_fixed,
            tuple(self.package_dir or ()),
            self.sidecar,
            repairable,
            given,
            self.allow_c,
            srdf=self.srdf,
            soft_equalities=self.soft_equalities,
        )


def is_file(text: str) -> bool:
    """Whether ROBOT names a model file and not a built-in robot."""
    if text.partition(":")[0] in CHOICE and not text.lower().endswith(tuple(ENDINGS)):
        return False
    return "/" in text or "\\" in text or text.lower().endswith(tuple(ENDINGS)) or (text != "" and os.path.exists(text))


def examined(text: str, reading: ReadingOptions, *, always: bool = False) -> tuple[System, Examination | None]:
    """The system that ROBOT names, and the examination of its file, which is None for a built-in robot.

    Raises ModelError with every error in the file. Warnings are printed to stderr: `always`, or once a day as long as
    the file and its warnings stay the same.
    """
    if is_file(text):
        from kinemorph.formats.loading import examine, settled

        examination = examine(text, options=reading.for_files())
        found, shown = examination.warnings, examination
        if found and not examination.errors and not always:
            told = f"{counted(len(found), 'warning')} of {text} {'was' if len(found) == 1 else 'were'} told today; "
            known = (Path(text).read_bytes(), *(str(finding).encode() for finding in found))
            if say_once_a_day(f"{told}kinemorph check {shlex.quote(text)} lists them", *known):
                shown = examination._replace(findings=())
        with reported_warnings():
            return settled(shown, text), examination
    for name, value in vars(reading).items():
        if value:
            option = "--arg" if name == "argument" else f"--{name.replace('_', '-')}"
            raise KinemorphError(f"{option} is for model files, but '{text}' is a built-in robot. Leave {option} out.")
    beside = next((text + ending for ending in ENDINGS if os.path.isfile(text + ending)), "")
    if beside and text.partition(":")[0] not in CHOICE:
        raise KinemorphError(
            f"there is no built-in robot '{text}', but there is a file '{beside}'. Write '{beside}' to read it."
        )
    return choose(text), None


def chosen(text: str, reading: ReadingOptions | None = None) -> System:
    """The system that ROBOT names."""
    return examined(text, reading or ReadingOptions())[0]
