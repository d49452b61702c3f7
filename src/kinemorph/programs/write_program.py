"""`write_program`: the files of a job in one of the languages, in a folder."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

from kinemorph.errors import InterfaceWarning, KinemorphError, UnsupportedError
from kinemorph.programs.job import Job
from kinemorph.programs.targets.c import write_c
from kinemorph.programs.targets.cpp import write_cpp
from kinemorph.programs.targets.matlab import write_matlab
from kinemorph.programs.targets.python import write_python
from kinemorph.programs.user_files.written_once import write_all
from kinemorph.words import did_you_mean

TARGETS: dict[str, Callable[[Job], dict[str, str]]] = {
    "c": write_c,
    "cpp": write_cpp,
    "python": write_python,
    "matlab": write_matlab,
}


def write_program(job: Job, target: str, folder: str | Path) -> list[Path]:
    """Writes the program of a job into a folder, which is made if needed, and returns the paths of its files.

    `target` is the language, a key of TARGETS. Files of an earlier program with the same names are replaced, except
    for code of the user (user.c, user.py, user_*.m). Where the names in it may be others than those of the new model,
    an InterfaceWarning says which, and a new template is beside it (user.c.new).
    """
    if target not in TARGETS:
        known = ", ".join(f"'{name}'" for name in TARGETS)
        raise UnsupportedError(f"target '{target}' is unknown.{did_you_mean(target, TARGETS)} Choose one of {known}.")
    texts = TARGETS[target](job)
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
        said = write_all(place, texts)
    except OSError as error:
        raise KinemorphError(
            f"the folder '{place}' cannot be written to: {error.strerror}. Choose another folder."
        ) from error
    if said:
        warnings.warn(said, InterfaceWarning, stacklevel=2)
    return [place / name for name in texts]
