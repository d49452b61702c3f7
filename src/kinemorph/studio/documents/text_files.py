"""The files of documents: their texts, and how changes of them are noticed."""

from __future__ import annotations

import os
from pathlib import Path

from kinemorph.errors import StorageError
from kinemorph.formats.limits import TOML_SIZE


def read_text(path: Path) -> str:
    """The text of a file; bytes that are not UTF-8 are kept. Raises StorageError if it is unreadable or too long."""
    try:
        size = os.stat(path).st_size
        data = path.read_bytes() if size <= TOML_SIZE else b""
    except OSError as error:
        raise StorageError(f"'{path}' cannot be read: {error.strerror}. Check the path and its permissions.") from None
    if size > TOML_SIZE:
        raise StorageError(
            f"'{path}' has {size / 1e6:.0f} MB, expected at most {TOML_SIZE / 1e6:.0f} MB. Keep meshes and tables in "
            "files of their own, or use the command line."
        )
    return data.decode("utf-8", "surrogateescape")


def file_stamp(path: Path) -> tuple[int, int, int] | None:
    """Time of change [ns], size [bytes] and number of a file, which change when it is written; None if it is gone."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def relative_name(path: Path, folder: Path) -> str:
    """The path of a file from the folder of its project, with slashes; its name if it is elsewhere."""
    try:
        return path.relative_to(folder).as_posix()
    except ValueError:
        return path.name


def unmarked(text: str) -> str:
    """A text without a byte order mark, and with line ends of one character."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n")
