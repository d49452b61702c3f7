"""Sheets and tables for a terminal, printed with the library rich, and as plain text."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterable
from typing import IO, Any

from kinemorph import sheet as sheets
from kinemorph.display.faces.blocks import written
from kinemorph.display.faces.document import Paragraph, Table
from kinemorph.display.faces.grid import Facts, Grid, Parts
from kinemorph.display.faces.languages.words import PlainWords

WIDTH = 100  # characters per line of a sentence
STYLES = {"success": "green", "warning": "red"}  # of tones
PIPE_WIDTH = 140  # characters per line where the output is not a terminal


class Toned(str):
    """A line in the color of its tone."""

    tone: sheets.Tone = "text"


def parts_of(sheet: sheets.Sheet) -> Parts:
    """A sheet as tables and lines; its pictures are left out."""
    parts: Parts = [f"{sheet.kind} {sheet.name}"]
    for part in sheet.parts:
        most = part.most if isinstance(part, sheets.Table) else None
        for block in (
            () if isinstance(part, (sheets.Pose, sheets.Points, sheets.Plot)) else written(part, PlainWords(), most)
        ):
            if isinstance(block, Paragraph):
                line = Toned(textwrap.fill("".join(map(str, block.pieces)), WIDTH))
                line.tone = block.tone
                parts.append(line)
            else:
                parts.append(block.grid if isinstance(block, Table) else block)  # type: ignore[arg-type]
    return parts


def text_of(sheet: sheets.Sheet) -> str:
    """A sheet as plain text, for `print`."""
    texts = [part if isinstance(part, str) else f"\n{part.text()}".rstrip() for part in parts_of(sheet)]
    return "\n".join(texts)


class _Text(io.StringIO):
    """A text in memory that claims the encoding of a stream, by which Rich chooses the characters of rules."""

    def __init__(self, stream: IO[str]) -> None:
        super().__init__()
        self._encoding = getattr(stream, "encoding", None) or "utf-8"

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._encoding


def rendered(parts: Iterable[Any], stream: IO[str]) -> str:
    """Tables and lines as text for an output stream, colored where it is a terminal, in characters that it can show."""
    from rich.console import Console

    terminal = stream.isatty()
    width = None if terminal else PIPE_WIDTH
    console = Console(file=_Text(stream), force_terminal=terminal, width=width, highlight=False, markup=False)
    if terminal:
        console.width = Console(file=stream).width
    before: Any = None
    for part in parts:
        if before and Grid in (type(part), type(before)):  # a table has lines to itself
            console.print()
        before = part
        if isinstance(part, Grid) and part.title:
            console.print(part.title, style="bold")
        style = STYLES.get(getattr(part, "tone", ""), "")
        console.print(part.for_terminal() if isinstance(part, (Grid, Facts)) else part, style=style)
        if isinstance(part, Grid) and part.note:
            console.print(part.note)
    buffer: Any = console.file
    lines = [line.rstrip() for line in buffer.getvalue().splitlines()]
    return "\n".join(lines) + "\n"
