"""`write_program`: the files of a job in one of the languages, in a folder."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from kinemorph.errors import InterfaceWarning, KinemorphError, UnsupportedError
from kinemorph.programs.job import Job
from kinemorph.programs.targets.c import c_name, write_c
from kinemorph.programs.targets.cpp import write_cpp
from kinemorph.programs.targets.fmu import write_fmu2, write_fmu3
from kinemorph.programs.targets.matlab import write_matlab
from kinemorph.programs.targets.python import write_python
from kinemorph.programs.user_files import c as c_user_code
from kinemorph.programs.user_files.written_once import user_texts, write_all
from kinemorph.words import did_you_mean

TARGETS: dict[str, Callable[..., Mapping[str, str | bytes]]] = {
    "c": write_c,
    "cpp": write_cpp,
    "python": write_python,
    "matlab": write_matlab,
    "fmu2": write_fmu2,
    "fmu3": write_fmu3,
}
ARCHIVES = ("fmu2", "fmu3")  # targets that are one file
DRAWING = ("c", "cpp", "python")  # targets whose programs write scenes


def write_program(
    job: Job, target: str, folder: str | Path, *, systems: str | Sequence[str] | None = None
) -> list[Path]:
    """Writes the program of a job into a folder, which is made if needed, and returns the paths of its files.

    `target` is the language, a key of TARGETS. Files of an earlier program with the same names are replaced. An FMU is
    one file: `folder` may be its path, which ends in .fmu.

    Code of the user (user.c, user.py, user_*.m) is written once and never replaced; an FMU contains the user.c beside
    it. Where a new model has other names than this code was written for, an InterfaceWarning says which, and a new
    template is in user.c.new.

    `systems` are the systems for which an FMU contains libraries: "linux", "linux-arm", "windows", "mac", "mac-arm", or
    "this" for this computer; by default all those for which there is a compiler.
    """
    if target not in TARGETS:
        known = ", ".join(f"'{name}'" for name in TARGETS)
        raise UnsupportedError(f"target '{target}' is unknown.{did_you_mean(target, TARGETS)} Choose one of {known}.")
    if systems is not None and target not in ARCHIVES:
        raise UnsupportedError(
            f"systems: {systems!r} is given for the target '{target}', which has source code alone. Leave systems out, "
            "or choose the target 'fmu3'."
        )
    if job.drawing is not None and target not in DRAWING:
        raise UnsupportedError(
            f"scene: the target '{target}' writes no scenes; programs in C, C++ and Python do. Leave the scene out, "
            "and make scenes from samples."
        )
    place, archive = Path(folder), target in ARCHIVES
    alone = archive and place.suffix == ".fmu"
    within = place.parent if alone else place
    written: list[Path] = []
    if archive and job.user is not None and job.user.source is None:
        written += _write(within, {f: t for f, t in user_texts(job, c_name(job), c_user_code).items() if f in BESIDE})
        job = replace(job, user=replace(job.user, source=within / c_user_code.OWN))
    contents = TARGETS[target](job, systems) if archive else TARGETS[target](job)
    return [*written, *_write(within, {place.name: next(iter(contents.values()))} if alone else contents)]


BESIDE = (c_user_code.OWN, "user.h")  # the files of user code that are written beside an FMU


def _write(place: Path, contents: Mapping[str, str | bytes]) -> list[Path]:
    """Writes files into a folder, and warns of user code that may have other names than the model."""
    try:
        place.mkdir(parents=True, exist_ok=True)
        said = write_all(place, contents)
    except OSError as error:
        raise KinemorphError(
            f"the folder '{place}' cannot be written to: {error.strerror}. Choose another folder."
        ) from error
    if said:
        warnings.warn(said, InterfaceWarning, stacklevel=3)
    return [place / name for name in contents]
