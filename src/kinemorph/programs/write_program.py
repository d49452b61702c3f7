"""`write_program`: the files of a job in one of the languages, in a folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from kinemorph.errors import KinemorphError, UnsupportedError
from kinemorph.programs.job import Job
from kinemorph.programs.targets.c import write_c
from kinemorph.programs.targets.cpp import write_cpp
from kinemorph.programs.targets.fmu import write_fmu2, write_fmu3
from kinemorph.programs.targets.matlab import write_matlab
from kinemorph.programs.targets.python import write_python
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


def write_program(
    job: Job, target: str, folder: str | Path, *, systems: str | Sequence[str] | None = None
) -> list[Path]:
    """Writes the program of a job into a folder, which is made if needed, and returns the paths of its files.

    `target` is the language, a key of TARGETS. Files of an earlier program with the same names are replaced. An FMU is
    one file: `folder` may be its path, which ends in .fmu.

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
    contents = TARGETS[target](job, systems) if target in ARCHIVES else TARGETS[target](job)
    place = Path(folder)
    if target in ARCHIVES and place.suffix == ".fmu":
        place, contents = place.parent, {place.name: next(iter(contents.values()))}
    try:
        place.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            (place / name).write_bytes(content.encode() if isinstance(content, str) else content)
    except OSError as error:
        raise KinemorphError(
            f"the folder '{place}' cannot be written to: {error.strerror}. Choose another folder."
        ) from error
    return [place / name for name in contents]
