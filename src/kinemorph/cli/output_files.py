"""Files that verbs write: text, folders, and the messages that name them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from kinemorph.cli.application import say
from kinemorph.errors import KinemorphError


def write_text(path: Path, text: str) -> None:
    """Writes a file. Raises KinemorphError if it cannot be written."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise KinemorphError(f"cannot write '{path}': {error.strerror}. Choose another file with --output.") from error


def make_folder(folder: Path) -> None:
    """Makes a folder. Raises KinemorphError if it cannot be made."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise KinemorphError(
            f"cannot make the folder '{folder}': {error.strerror}. Choose another with --output."
        ) from error


def check_place(path: Path, option: str) -> None:
    """Refuses a path that is a folder, or lies in a folder that does not exist."""
    if path.is_dir() or not path.parent.is_dir():
        reason = "it is a folder" if path.is_dir() else f"there is no folder '{path.parent}'"
        raise KinemorphError(f"{option} '{path}' cannot be written: {reason}. Name a file in a folder that exists.")


def wrote(*groups: Iterable[Path]) -> list[str]:
    """Reports the files that were written, and returns their names."""
    paths = [str(path) for group in groups for path in group]
    for path in paths:
        say(f"wrote {path}")
    return paths
