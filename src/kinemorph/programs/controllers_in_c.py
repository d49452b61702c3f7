"""The controllers of a job that are functions in C: their sources as they are, and what joins them to a program.

controllers/            the sources, and the header files that they include by #include "..."
name_controllers.c, .h  functions that the march calls, each calls the function of a controller
name_controller_1.c     compiles one source: its macros, the prototypes of the functions, then the source

So a compiler needs no options for them: it compiles the files in the folder of the program, as without controllers.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from kinemorph.errors import ControllerError, UnsupportedError
from kinemorph.model.elements.control.c_functions import CController
from kinemorph.programs.job import Job
from kinemorph.simulation.c_code.process import check_trusted
from kinemorph.simulation.c_code.unit import CFunction, CSource, CUnit, c_unit, text_of
from kinemorph.simulation.march.sampling import controller_name
from kinemorph.words import quoted

FOLDER = "controllers"
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)
EMITTED = "/* {}. Emitted by Kinemorph. */\n"


def controllers_of(job: Job) -> dict[int, CController]:
    """The controllers of a job that are functions in C, by their index among the elements."""
    return {k: element for k, element in enumerate(job.plant.elements) if isinstance(element, CController)}


def refuse_controllers(job: Job, language: str) -> None:
    """Raises UnsupportedError where a job has controllers in C, which a program in this language cannot call."""
    found = controllers_of(job)
    if found:
        raise UnsupportedError(
            f"CController {quoted([one.name for one in found.values()])} of '{job.plant.name}' is a function in C, "
            f"which a program in {language} cannot call. Write the program as 'c', 'cpp', 'fmu2' or 'fmu3'."
        )


def foreign_names(job: Job, name: str) -> dict[str, str]:
    """{name in the march: name in C} of the functions that the march calls where controllers in C sample."""
    return {controller_name(index): f"{name}_controller_{index}" for index in controllers_of(job)}


def controller_texts(job: Job, name: str) -> dict[str, str]:
    """{path: text} of all files for the controllers in C of a job; empty where it has none."""
    found = controllers_of(job)
    if not found:
        return {}
    check_trusted(found.values(), "become part of a program that runs")
    try:
        unit = c_unit(found.values())
    except ControllerError as error:
        raise UnsupportedError(str(error)) from error
    for function in unit.functions:
        if function.name.startswith(f"{name}_"):
            raise UnsupportedError(
                f"controller '{function.controller}': its function '{function.name}' could have the name of a function "
                f"of the program, which all begin with '{name}_'. Give make_job another `name` for the program."
            )
    header = f"{name}_controllers.h"
    texts = {header: _header(unit, name), f"{name}_controllers.c": _calls(unit, name, list(found), header)}
    places = dict(_copied(unit, texts))
    for k, source in enumerate(unit.sources, 1):
        about = EMITTED.format("A source of controllers with the prototypes of their functions")
        lines = [f"#define {macro.replace('=', ' ', 1)}\n" for macro in source.defines]
        texts[f"{name}_controller_{k}.c"] = "".join(
            [about, *lines, f'#include "{header}"\n', f'#include "{places[source]}"\n']
        )
    return texts


def _header(unit: CUnit, name: str) -> str:
    guard = f"{name.upper()}_CONTROLLERS_H"
    about = EMITTED.format("The functions of controllers")
    return f"{about}#ifndef {guard}\n#define {guard}\n\n{unit.prototypes}\n#endif\n"


def _calls(unit: CUnit, name: str, indices: list[int], header: str) -> str:
    """The file with the functions that the march calls."""
    rows = zip(indices, unit.functions, strict=True)
    calls = "\n".join(_call(function, f"{name}_controller_{index}") for index, function in rows)
    return (
        f'{EMITTED.format("Calls of the functions of controllers")}#include "{header}"\n\n#include <math.h>\n\n{calls}'
    )


def _call(function: CFunction, name: str) -> str:
    """A function that the march calls: arrays that are read come first, and memory is changed in a copy."""
    reads, kept = bool(function.reads), bool(function.memory)
    ins = ["const double *t", *["const double *reads"] * reads, *["const double *memory"] * kept]
    arguments = ", ".join([*ins, "double *drives", *["double *memory_after"] * kept])
    lines = [
        f"    for (int i = 0; i < {function.outputs}; ++i) drives[i] = NAN; /* an output that stays so is found */"
    ]
    if kept:
        lines.append(f"    for (int i = 0; i < {function.memory}; ++i) memory_after[i] = memory[i];")
    given = f"{'reads' if reads else '0'}, drives, {'memory_after' if kept else '0'}"
    lines.append(f"    {function.name}(*t, {given});")
    declared = f"void {name}({arguments})"
    return "\n".join([f"{declared};", declared, "{", *lines, "}", ""])


# ── copies of sources and headers ─────────────────────────────────────────────────────────────────────────────────────


def _copied(unit: CUnit, texts: dict[str, str]) -> Iterator[tuple[CSource, str]]:
    """Adds the sources and their header files to the `texts`; yields each source with its path in the program."""
    root = _root(unit)
    for source in unit.sources:
        inner = Path(source.path).relative_to(root).parent.as_posix() if source.in_file else "."
        plain = re.sub(r"[^\w.+-]", "_", source.name, flags=re.ASCII)
        place = str(PurePosixPath(FOLDER, inner, plain))
        folder = Path(source.path).parent if source.in_file else None
        _copy(source, place, source.text, folder, texts)
        yield source, place


def _root(unit: CUnit) -> str:
    """The folder that contains all sources, and the header files that they find without `include`."""
    folders: list[str] = []
    todo = [(Path(source.path), source.text) for source in unit.sources if source.in_file]
    seen: set[str] = set()
    while todo:
        path, text = todo.pop()
        folders.append(str(path.parent))
        for name, _ in INCLUDE.findall(text):
            near = Path(os.path.normpath(path.parent / name))
            if name and str(near) not in seen and near.is_file():
                seen.add(str(near))
                todo.append((near, text_of(near)))
    return os.path.commonpath(folders) if folders else ""


def _copy(source: CSource, place: str, text: str, folder: Path | None, texts: dict[str, str]) -> None:
    """Adds a file and all that it includes to the `texts`: header files go where its #include lines look for them.

    `folder` is where the file is now, None for a text. Raises UnsupportedError where this is not possible.
    """
    if not place.startswith(f"{FOLDER}/") or re.search(r'[^ -~]|["\\*?]', place) or texts.get(place, text) != text:
        raise UnsupportedError(
            f"the source '{source.name}' needs the file '{place}' in the program, which cannot be written there or has "
            "another content already. Give the files of controllers in C different names, in one folder."
        )
    if place in texts:
        return
    texts[place] = text
    for name, system in INCLUDE.findall(text):
        found = _found(name or system, [] if system or folder is None else [folder], source.include)
        if found is None:
            continue  # a header of the compiler, or one that a condition leaves out
        if system:
            raise UnsupportedError(
                f"'{place}' has the line #include <{system}>, and `include` names the folder of this file, which a "
                f'program cannot. Write #include "{system}".'
            )
        there = os.path.normpath(PurePosixPath(place).parent / name).replace(os.sep, "/")
        _copy(source, there, text_of(found), found.parent, texts)


def _found(name: str, near: list[Path], include: tuple[str, ...]) -> Path | None:
    """The file that an #include line finds in the folders `near` and `include`; None where there is none."""
    places = (Path(os.path.normpath(folder / name)) for folder in (*near, *map(Path, include)))
    return next((path for path in places if path.is_file()), None)
