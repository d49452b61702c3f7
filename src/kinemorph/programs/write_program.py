"""`write_program`: the files of a job in one of the languages, in a folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from kinemorph.errors import KinemorphError, UnsupportedError
from kinemorph.programs.job import Job
from kinemorph.programs.targets.c import write_c
from kinemorph.programs.targets.cpp import write_cpp
from kinemorph.programs.targets.matlab import write_matlab
from kinemorph.programs.targets.python import write_python
from kinemorph.words import did_you_mean

TARGETS: dict[str, Callable[[Job], dict[str, str]]] = {
    "c": write_c,
    "cpp": write_cpp,
    "python": write_python,
    "matlab": write_matlab,
}


def write_program(job: Job, target: str, folder: str | Path) -> list[Path]:
    """Writes the program of a job into a folder, which is made if needed, and returns the paths of its files.

    `target` is the language, a key of TARGETS. Files of an earlier program with the same names are replaced.
    """
    if target not in TARGETS:
        known = ", ".join(f"'{name}'" for name in TARGETS)
        raise UnsupportedError(f"target '{target}' is unknown.{did_you_mean(target, TARGETS)} Choose one of {known}.")
    texts = TARGETS[target](job)
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (place / name).parent.mkdir(exist_ok=True, parents=True)
            (place / name).write_bytes(text.encode("utf-8", "surrogateescape"))  # sources in C may have any encoding
    except OSError as error:
        raise KinemorphError(
            f"the folder '{place}' cannot be written to: {error.strerror}. Choose another folder."
        ) from error
    return [place / name for name in texts]
