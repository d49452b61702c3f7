"""Writes the files and folders of verbs, checks their paths before the work, and reports them afterwards.

Missing folders are made, as by the functions of the library that write files.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from kinemorph.cli.application import say
from kinemorph.errors import KinemorphError


def write_text(path: Path, text: str) -> None:
    """Writes a text file in UTF-8, and makes its folder if needed. Raises KinemorphError if it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise KinemorphError(f"cannot write '{path}': {error.strerror}. Choose another file with --output.") from error


def make_folder(folder: Path) -> None:
    """Creates a folder and its parents unless they exist. Raises KinemorphError if that is not possible."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise KinemorphError(
            f"cannot create the folder '{folder}': {error.strerror}. Choose another folder with --output."
        ) from error


def check_place(path: Path, option: str) -> None:
    """Raises KinemorphError if the path that `option` names is a folder, or its folder cannot be made."""
    reason = "it is a folder" if path.is_dir() else in_the_way(path.parent)
    if reason:
        raise KinemorphError(f"{option} '{path}' cannot be written: {reason}. Name a file in another folder.")


def in_the_way(folder: Path) -> str:
    """The reason why a folder cannot be made: it, or a folder above it, is a file. Otherwise empty."""
    nearest = next((place for place in (folder, *folder.parents) if place.exists()), folder)
    return f"'{nearest}' is not a folder" if nearest.exists() and not nearest.is_dir() else ""


def wrote(*groups: Iterable[Path]) -> list[str]:
    """Reports on stderr which files were written, and returns their paths as texts."""
    paths = [str(path) for group in groups for path in group]
    for path in paths:
        say(f"wrote {path}")
    return paths
