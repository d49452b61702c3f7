"""All C of a model as data: the sources of its controllers with their options, and the functions to call.

They are one program, as on a microcontroller: controllers share its sources, and so its static variables.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from kinemorph.errors import ControllerError
from kinemorph.mechanics.elements.control.functions import names_of_outputs
from kinemorph.model.elements.control.c_functions import CController, is_c_text


class CFunction(NamedTuple):
    """The function of a controller, and how many numbers it reads, returns, and stores from sample to sample."""

    controller: str
    name: str
    reads: int
    outputs: int
    memory: int
    time_limit: float  # [s]

    @property
    def prototype(self) -> str:
        """The declaration of the function in C, without the semicolon."""
        return f"void {self.name}(double t, const double *reads, double *drives, double *memory)"


class CSource(NamedTuple):
    """A source of C: its path, or for a text a name that ends in .c; its text; and the options to compile it with."""

    path: str
    text: str
    in_file: bool
    include: tuple[str, ...]
    defines: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of the file, without its folder."""
        return os.path.basename(self.path)


class CUnit(NamedTuple):
    """All C of a model: sources, each once, and a function for each controller, in the order of the elements."""

    sources: tuple[CSource, ...]
    functions: tuple[CFunction, ...]

    @property
    def prototypes(self) -> str:
        """The declarations of all functions. Every source is compiled with them, so that a wrong form is an error."""
        return "".join(f"{line};\n" for line in dict.fromkeys(function.prototype for function in self.functions))


def c_unit(controllers: Iterable[CController]) -> CUnit:
    """The C of some controllers. Raises ControllerError where a source cannot be read, or has different options."""
    sources: dict[str, CSource] = {}
    functions = []
    for element in controllers:
        for source in _sources(element):
            known = sources.setdefault(source.path, source)
            if known != source:
                raise ControllerError(
                    f"controller '{element.name}' has the source '{source.name}' with other `defines` or `include` "
                    "than another controller, but all C of a model is one program. Give both the same."
                )
        counts = len(element.reads), len(names_of_outputs(element)), len(element.memory)
        functions.append(CFunction(element.name, element.function, *counts, element.time_limit))
    return CUnit(tuple(sources.values()), tuple(functions))


def _sources(element: CController) -> Iterable[CSource]:
    include, defines = tuple(map(str, element.include)), tuple(map(str, element.defines))
    for k, given in enumerate(map(str, element.source)):
        if is_c_text(given):
            number = "" if len(element.source) == 1 else f"_{k + 1}"
            name = re.sub(r"\W", "_", f"{element.name}{number}", flags=re.ASCII)
            yield CSource(f"{name}.c", given, False, include, defines)
            continue
        try:
            yield CSource(given, text_of(Path(given)), True, include, defines)
        except OSError as error:
            raise ControllerError(
                f"controller '{element.name}': its source '{given}' cannot be read ({error.strerror}). Correct the "
                "path."
            ) from error


def text_of(path: Path) -> str:
    """The text of a file; bytes that are not UTF-8 are kept as surrogates, so that they can be written again."""
    return path.read_bytes().decode("utf-8", "surrogateescape")
