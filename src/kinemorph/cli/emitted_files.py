"""Where `kinemorph derive --output` writes the files of an emitted form, and which files it replaces.

--output names a folder, a file, or a stem to which endings are added. Files get exactly the name that is asked for. A
name that is not possible is refused and not changed, because a changed name could be that of another file of the user.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from kinemorph.cli.output_files import in_the_way, write_text
from kinemorph.codegen.backends.identifiers import identifier
from kinemorph.codegen.backends.text.matlab import OWNER
from kinemorph.display.exports.emitted_forms import FORMS, as_text
from kinemorph.display.faces.grid import Data
from kinemorph.errors import KinemorphError
from kinemorph.words import listed

MARK = "Emitted by Kinemorph"  # near the beginning of files in source code
OPENING = 4096  # characters of a file in which the mark is searched


class Target(NamedTuple):
    """Where files are written: into `folder`, and if `path` is given, to this file or to files named after it."""

    folder: Path
    path: Path | None
    stem: str | None = None  # the name of the files without their endings; None where they are named after the robot


def target(output: str, form: str = "summary", functions: int = 1) -> Target:
    """The target that --output names for a form: a folder, if it exists or ends in a slash, or a file or stem.

    Raises KinemorphError for a name that the files of this form cannot have; `functions` is how many are written.
    """
    if not output:
        raise KinemorphError("--output is empty; expected a file, a stem or a folder. Leave it out to print to stdout.")
    path = Path(output)
    is_folder = path.is_dir() or output.endswith(("/", "\\"))
    folder = path if is_folder else path.parent
    if reason := in_the_way(folder):
        raise KinemorphError(f"cannot write '{output}': {reason}. Give another --output.")
    if is_folder:
        return Target(folder, None)
    row = FORMS[form]
    if not row.bound and (form != "llvm" or functions == 1):
        return Target(folder, path, path.stem)
    if path.suffix not in ("", *row.endings):
        expected = f"a name that ends in {listed(row.endings)}, or one without" if row.endings else "a name without"
        several = "" if row.endings else " There is one file for each function, called after the name and the function."
        raise KinemorphError(
            f"--output is '{output}', but --emit {form} writes no file of this name; expected {expected} an ending."
            f"{several} Write '{path.with_suffix(row.endings[0] if row.endings else '')}'."
        )
    stem = path.stem if path.suffix else path.name
    if form == "matlab" and identifier(stem)[:OWNER].rstrip("_") != stem:
        raise KinemorphError(
            f"--output is '{output}', but MATLAB finds a function by the name of its file; expected at most {OWNER} "
            f"letters, digits and single underscores, a letter first. Write '{identifier(stem)[:OWNER].rstrip('_')}'."
        )
    return Target(folder, path, stem)


def write_files(place: Target, data: Data) -> list[Path]:
    """Writes the files of `emitted` and returns their paths.

    A single file is written to the path of --output itself. A file that exists is replaced if --output names it, or if
    it was emitted before; otherwise KinemorphError is raised and nothing is written.
    """
    row = FORMS[data["emit"]]
    files: Mapping[str, str] = data["files"] or {f"{identifier(data['robot'])}_summary.txt": as_text(data)}
    texts = {}
    for file, text in files.items():
        own = place.path is None or len(files) > 1 or row.bound
        texts[place.folder / file if own or place.path is None else place.path] = text
    for path, text in texts.items():
        if path != place.path and MARK in text and path.is_file() and MARK not in _beginning(path):
            raise KinemorphError(
                f"'{path}' exists and was not written by kinemorph, so it is not replaced. Move it, or give another "
                "--output."
            )
    for path, text in texts.items():
        write_text(path, text)
    return list(texts)


def _beginning(path: Path) -> str:
    """The first characters of a file, in which an emitted file says what it is; empty if it cannot be read."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(OPENING)
    except OSError:
        return ""
