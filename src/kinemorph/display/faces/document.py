"""A report as data: sections of paragraphs, tables, formulas, figures and listings.

Chapters return sections and writers print them. All texts are plain texts in the language of the document: a writer
escapes every one of them, so that a text never becomes a command of its format.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from kinemorph.codegen.reading.expression_tree import Tree
from kinemorph.display.faces.grid import Facts as Facts
from kinemorph.display.faces.grid import Grid as Grid
from kinemorph.frozen import dataclass
from kinemorph.sheet import Tone as Tone

if TYPE_CHECKING:
    from kinemorph.display.canvas import Figure as Plot


@dataclass(frozen=True)
class Code:
    """A piece of a paragraph in the font of source code: a name, a command or a path."""

    text: str


@dataclass(frozen=True)
class Math:
    """A formula within a paragraph."""

    tree: Tree


@dataclass(frozen=True)
class Link:
    """A piece of a paragraph that leads to another section, by its key."""

    text: str
    section: str


Piece = str | Code | Math | Link


@dataclass(frozen=True)
class Paragraph:
    """A paragraph: one text, or several pieces one after the other.

    `tone`   "note" is set in small type, "warning" and "success" beside a colored bar
    """

    text: str | Sequence[Piece]
    tone: Tone = "text"

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The pieces of this paragraph; a paragraph of one text has one piece."""
        return (self.text,) if isinstance(self.text, str) else tuple(self.text)


@dataclass(frozen=True)
class Heading:
    """The title of a part of a section."""

    text: str


@dataclass(frozen=True, eq=False)
class Table:
    """A table. The title of its grid is the caption, and the note of its grid is set below.

    `colored`   whether cells that begin with "passed", "failed" and such words, in any language, are colored
    `code`      names of columns in the font of source code
    """

    grid: Grid
    colored: bool = False
    code: Sequence[str] = ()


@dataclass(frozen=True, eq=False)
class Formula:
    """One or several formulas on lines of their own.

    `name`      a short text before the formulas that says what they are; "" for none
    `content`   an expression tree; rows of equations as `equation_rows` returns them, which are aligned at their signs
                of equality; or an object with a method `rows` that returns such rows, such as `WrittenEquations`
    """

    name: str
    content: Any


@dataclass(frozen=True, eq=False)
class Figure:
    """A picture with its caption.

    `picture`   a Matplotlib figure, which becomes a vector drawing, or the bytes of a PNG or SVG file
    `width`     width in the document, as a fraction of that of the text
    """

    picture: Plot | bytes
    caption: str
    width: float = 1.0


@dataclass(frozen=True)
class Listing:
    """Source code or the text of a file; `language` is "toml", "python", "c", "xml" or "" and colors its words."""

    code: str
    language: str = ""
    caption: str = ""


@dataclass(frozen=True)
class Attachment:
    """A file inside of the document: attached to a PDF, embedded in a page, beside the LaTeX source."""

    name: str
    data: bytes
    kind: str = "application/octet-stream"  # media type
    description: str = ""


Block = Paragraph | Heading | Table | Formula | Figure | Listing | Facts


@dataclass(frozen=True, eq=False)
class Section:
    """A numbered section. Other sections refer to it by its key, which is the name of its chapter.

    `attachments` are files that the section adds to the document.
    """

    key: str
    title: str
    blocks: Sequence[Block]
    attachments: Sequence[Attachment] = ()


@dataclass(frozen=True, eq=False)
class Document:
    """A whole report. The texts of the title page are those that are not empty."""

    title: str
    language: str
    sections: Sequence[Section]
    attachments: Sequence[Attachment] = ()
    subtitle: str = ""
    author: str = ""
    date: str = ""
    cover: Figure | None = None
    facts: Facts = field(default=Facts(()))
