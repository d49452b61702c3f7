"""Model files. Every format has a folder with a reader, and a writer if it can be written:

    reader.read(source, options, findings) -> System | None
    writer.write(system, path, findings)   -> tuple[Path, ...]

A reader records everything that is wrong as a finding with file, line, element, reason and remedy, and continues. It
declares the parts of a `Blueprint`, which makes the robot. A writer records data that its format cannot express.
`FORMATS` is the table of formats; `recognize` chooses a row by the name and the beginning of a file.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from kinemorph.errors import ModelError, Problem
from kinemorph.formats.sources import Source
from kinemorph.words import did_you_mean, listed


class Format(NamedTuple):
    """A row of FORMATS: the endings of its files, their root tag, and the folder of its reader and writer."""

    name: str
    title: str
    endings: tuple[str, ...]
    tag: str  # root tag of an XML format, "" for other formats
    folder: str

    @property
    def read(self) -> Callable[..., Any]:
        """The function that reads this format, imported when it is first needed."""
        reader: Callable[..., Any] = import_module(f"{__name__}.{self.folder}.reader").read
        return reader

    @property
    def is_written(self) -> bool:
        """Whether models can be written in this format."""
        return find_spec(f"{__name__}.{self.folder}.writer") is not None

    @property
    def write(self) -> Callable[..., Any]:
        """The function that writes this format, imported when first needed. Raises ModelError if there is none."""
        if not self.is_written:
            raise ModelError(
                f"{self.title} files can be read, but not written. Choose urdf, sdf, mjcf, toml, dh or cagem."
            )
        writer: Callable[..., Any] = import_module(f"{__name__}.{self.folder}.writer").write
        return writer


_ROWS = (
    Format("toml", "TOML", (".toml",), "", "toml"),
    Format("urdf", "URDF", (".urdf",), "robot", "urdf"),
    Format("xacro", "xacro", (".xacro",), "", "xacro"),
    Format("sdf", "SDF", (".sdf", ".world"), "sdf", "sdf"),
    Format("mjcf", "MJCF", (".mjcf", ".xml"), "mujoco", "mjcf"),
    Format("dh", "DH", (".dh", ".dh.csv"), "", "dh"),
    Format("cagem", "CAGeM", (".mu", ".mac"), "", "cagem"),
    Format("grid", "grid", (".grid", ".txt"), "", "grid"),
)
BEGINNING = 65_536  # bytes of an XML file in which its root tag is searched, behind comments such as a license
_COMMENT = re.compile(rb"<!--.*?(-->|\Z)", re.DOTALL)
_MACROS = re.compile(rb"<xacro:(include|macro|property|arg|if|unless)[\s>/]")
FORMATS: dict[str, Format] = {row.name: row for row in _ROWS}
ENDINGS: dict[str, Format] = {ending: row for row in _ROWS for ending in row.endings}


def recognize(source: Source) -> Format:
    """The format of a file: by its root tag if it is XML, else by its ending. Raises ModelError for other files.

    URDF with macros that xacro can expand is xacro, whatever its ending.
    """
    if not source.name.lower().endswith((".xacro", ".toml")):  # xacro begins like URDF; TOML may contain any text
        beginning = _COMMENT.sub(b"", source.data[:BEGINNING])  # a comment may mention tags of other formats
        places = [(beginning.find(f"<{row.tag}".encode()), row.name) for row in _ROWS if row.tag]
        first = min((place for place in places if place[0] >= 0), default=None)  # MJCF may contain a <robot>
        if first is not None:
            return FORMATS["xacro" if first[1] == "urdf" and _has_macros(source.data) else first[1]]
    return by_ending(source.name)


def _has_macros(data: bytes) -> bool:
    """Whether a file that begins like URDF defines, includes or chooses macros of xacro, and declares their prefix."""
    if b"xmlns:xacro" not in data or not _MACROS.search(data):
        return False
    return _MACROS.search(_COMMENT.sub(b"", data)) is not None


def by_ending(path: str | Path) -> Format:
    """The format that the ending of a file name stands for. Raises ModelError for an unknown ending."""
    name = str(path).lower()
    for ending in sorted(ENDINGS, key=len, reverse=True):  # the longest first: .dh.csv before .csv
        if name.endswith(ending):
            return ENDINGS[ending]
    what = f"its ending is not that of a model file, expected one of {listed(ENDINGS)}"
    raise ModelError(Problem("file", path, what, "Rename the file.", rule="file"))


def by_name(name: str) -> Format:
    """The format called `name`. Raises ModelError for an unknown name."""
    if name not in FORMATS:
        hint = did_you_mean(name, FORMATS)
        raise ModelError(f"the format is '{name}'; expected one of {listed(FORMATS)}.{hint}")
    return FORMATS[name]
