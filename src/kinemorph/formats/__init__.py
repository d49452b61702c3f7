"""Model files: a folder for each format, all behind two signatures.

    reader.read(source, options, findings) -> System | None
    writer.write(system, path, findings)   -> tuple[Path, ...]

A reader reports everything that is wrong, with file, line, element, reason and remedy (`findings`), and continues. It
declares the parts of a `Blueprint`, which makes the robot. A writer reports what its format cannot say. `FORMATS` is
the table; `recognize` picks a row by the name and the beginning of a file.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from kinemorph.errors import ModelError
from kinemorph.formats.sources import Source
from kinemorph.words import did_you_mean


class Format(NamedTuple):
    """A row of the table: its endings, the tag that opens its files, and the folder of its reader and writer."""

    name: str
    title: str
    endings: tuple[str, ...]
    tag: str  # root tag of XML formats, else ""
    folder: str

    @property
    def read(self) -> Callable[..., Any]:
        """The reader, imported now."""
        reader: Callable[..., Any] = import_module(f"{__name__}.{self.folder}.reader").read
        return reader

    @property
    def write(self) -> Callable[..., Any]:
        """The writer, imported now; a ModelError where this format is only read."""
        if find_spec(f"{__name__}.{self.folder}.writer") is None:
            raise ModelError(f"{self.title} files are read but not written. Choose urdf, mjcf, toml or dh.")
        writer: Callable[..., Any] = import_module(f"{__name__}.{self.folder}.writer").write
        return writer


_ROWS = (
    Format("toml", "TOML", (".toml",), "", "toml"),
    Format("urdf", "URDF", (".urdf",), "robot", "urdf"),
    Format("xacro", "xacro", (".xacro",), "", "xacro"),
    Format("sdf", "SDF", (".sdf", ".world"), "sdf", "sdf"),
    Format("mjcf", "MJCF", (".mjcf", ".xml"), "mujoco", "mjcf"),
    Format("dh", "DH", (".dh", ".dh.csv"), "", "dh"),
    Format("grid", "grid", (".grid", ".txt"), "", "grid"),
)
_COMMENT = re.compile(rb"<!--.*?(-->|\Z)", re.DOTALL)
FORMATS: dict[str, Format] = {row.name: row for row in _ROWS}
ENDINGS: dict[str, Format] = {ending: row for row in _ROWS for ending in row.endings}


def recognize(source: Source) -> Format:
    """The format of a file: by its root tag where it is XML, else by its ending. Raises ModelError with the remedy."""
    if not source.name.lower().endswith((".xacro", ".toml")):  # xacro files begin like URDF; TOML may hold anything
        beginning = _COMMENT.sub(b"", source.data[:4096])  # a comment may tell of other formats
        places = [(beginning.find(f"<{row.tag}".encode()), row.name) for row in _ROWS if row.tag]
        first = min((place for place in places if place[0] >= 0), default=None)  # an MJCF file may hold a <robot>
        if first is not None:
            return FORMATS[first[1]]
    return by_ending(source.name)


def by_ending(path: str | Path) -> Format:
    """The format of a file name."""
    name = str(path).lower()
    for ending in sorted(ENDINGS, key=len, reverse=True):  # the longest first: .dh.csv before .csv
        if name.endswith(ending):
            return ENDINGS[ending]
    raise ModelError(f"'{path}': no model format has this ending; expected one of {', '.join(ENDINGS)}. Rename it.")


def by_name(name: str) -> Format:
    """A format by its name."""
    if name not in FORMATS:
        hint = did_you_mean(name, FORMATS)
        raise ModelError(f"there is no format '{name}'; expected one of {', '.join(FORMATS)}.{hint}")
    return FORMATS[name]
