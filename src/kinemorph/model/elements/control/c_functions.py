"""Controllers that are functions in C, such as the code of a microcontroller.

The function has this form in C, with any name:

    void law(double t, const double *reads, double *drives, double *memory);

`t` is the time [s], `reads` are the values of the signals in the field `reads`, in order. The function writes one
number for each output into `drives`, and may change `memory`, which has the numbers in the field `memory`, in order.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from kinemorph.model.elements.control.functions import OwnFunction
from kinemorph.model.elements.control.wiring import Names, Numbers, Starts, as_names, as_numbers, as_starts
from kinemorph.model.elements.declared import declared


@dataclass(frozen=True)
class CController(OwnFunction):
    """A function in C that is called at the sample times; its outputs are held in between.

    `source`        the files (.c) that define the function and what it needs, or C as text, which contains a brace. All
                    C controllers of a model are one program: they share its global and static variables
    `function`      the name of the function, which has the form that the docstring of this file shows
    `include`       folders in which header files are searched, besides the folders of the sources
    `defines`       macros that the sources are compiled with, such as "SIMULATION" or "GAIN=3"
    `time_limit`    the longest time that a call may take on this computer [s]; after it the run fails
    `trusted`       whether the C may be compiled and run; False where a model file was loaded without allow_c=True

    The other fields are those of `Sampled`. A run compiles the sources with the compiler `cc`, or that in the
    environment variable CC, and calls the function in a process of its own. Every run starts a new process, so that
    static variables have their initial values; only `memory` is part of the state of the run, is saved and continued.
    A crash, a call that takes too long, or an output that is not finite ends the run as failed.
    """

    name: str
    source: Names = field(metadata={"path": "file"})
    function: str
    reads: Names = ()
    drives: Names = ()
    every: float = declared(0.01, "time", above=0.0)
    memory: Starts = declared((), unit="1")
    outputs: Names = ()
    include: Names = field(default=(), metadata={"path": "folder"})
    defines: Names = ()
    time_limit: float = declared(5.0, "time", above=0.0, infinite=True)
    phase: float = declared(0.0, "time", least=0.0)
    delay: float = declared(0.0, "time", least=0.0)
    quantum: float = declared(0.0, unit="{out}", least=0.0)
    lower: Numbers = declared((-math.inf,), unit="{out}")
    upper: Numbers = declared((math.inf,), unit="{out}")
    trusted: bool = field(default=True, compare=False, metadata={"in_files": False})

    def __post_init__(self) -> None:
        as_names(self, "source", "reads", "drives", "outputs", "include", "defines")
        as_starts(self, "memory")
        as_numbers(self, "lower", "upper")
        for name in ("source", "include"):  # the meaning does not change with the current folder
            paths = tuple(text if is_c_text(text) else _absolute(text) for text in getattr(self, name))
            object.__setattr__(self, name, paths)

    @property
    def files(self) -> tuple[str, ...]:
        """The paths of the source files, without sources that are given as text."""
        return tuple(text for text in self.source if not is_c_text(text))

    def seen_from(self, folder: Path) -> CController:
        """The same element to be written into a model file in `folder`: paths that lie there are relative to it."""
        made = replace(self)
        for name in ("source", "include"):
            paths = tuple(text if is_c_text(text) else _below(text, folder) for text in getattr(self, name))
            object.__setattr__(made, name, paths)
        return made


def is_c_text(source: object) -> bool:
    """Whether a source is C and not the path of a file: a function always has a brace, and so has no path here."""
    return not isinstance(source, (str, os.PathLike)) or "{" in os.fspath(source)


def _absolute(path: str) -> str:
    return os.path.abspath(os.path.expanduser(path))


def _below(path: str, folder: Path) -> str:
    inside = Path(path).is_relative_to(folder.absolute())
    return Path(path).relative_to(folder.absolute()).as_posix() if inside else path


def c_controllers(elements: Iterable[object]) -> tuple[CController, ...]:
    """The C controllers among some elements."""
    return tuple(element for element in elements if isinstance(element, CController))
