"""Reports as one HTML page that needs nothing else: no scripts, formulas in MathML, drawings as SVG inside of the page.

A policy in the head of the page forbids scripts and requests, whatever a text may contain.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from html import escape
from importlib.resources import files as package_files
from pathlib import Path

from kinemorph import __version__
from kinemorph.display.faces.document import (
    Block,
    Code,
    Document,
    Facts,
    Figure,
    Formula,
    Grid,
    Heading,
    Link,
    Listing,
    Math,
    Paragraph,
    Piece,
)
from kinemorph.display.faces.languages.words import Words
from kinemorph.display.reports.pictures import inline_svg, picture_file
from kinemorph.display.reports.signing.sealed import sealed
from kinemorph.display.reports.writers.formulas import display, inline
from kinemorph.display.reports.writers.texts import plain, plain_lines
from kinemorph.display.reports.writers.tones import tone_of

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
LONGEST_TITLE, LONGEST_CELL = 200, 600  # characters


def files(document: Document, target: Path, words: Words) -> Iterator[tuple[Path, bytes]]:
    """The page of a document, with its seal."""
    yield target, sealed(source(document, words)["report.html"], "html")


def source(document: Document, words: Words) -> dict[str, bytes]:
    """The page of a document, as {"report.html": its bytes}."""
    return {"report.html": _Writer(words).document(document).encode()}


def text(value: object, most: int | None = None) -> str:
    """A plain text in HTML."""
    return escape(plain(value) if most is None else plain(value, most))


class _Writer:
    """Writes the blocks of one document; figures, tables and listings are numbered."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self.counts = {"Figure": 0, "Table": 0, "Listing": 0}
        self.pictures = 0

    def document(self, document: Document) -> str:
        """The whole page."""
        look = (package_files("kinemorph.display.reports.writers") / "report.css").read_text("utf-8")
        title = text(document.title, LONGEST_TITLE)
        lines = [document.subtitle, document.author, document.date]
        head = [
            "<!DOCTYPE html>",
            f'<html lang="{text(document.language)}">',
            '<head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{title}</title>",
            f"<style>\n{look}</style></head>",
            f"<body><main><header><h1>{title}</h1>",
            *(f"<p>{text(line, LONGEST_TITLE)}</p>" for line in lines if line),
            *([] if document.cover is None else [f'<div class="drawing">{self._drawing(document.cover)}</div>']),
            f'<p class="faint">{text(self.words("Kinemorph {version}", version=__version__))}</p></header>',
            f"<nav><h2>{text(self.words('Contents'))}</h2><ol>",
            *(
                f'<li><a href="#{_id(section.key)}">{text(section.title, LONGEST_TITLE)}</a></li>'
                for section in document.sections
            ),
            "</ol></nav>",
        ]
        body = [
            f'<section id="{_id(section.key)}"><h2>{text(section.title, LONGEST_TITLE)}</h2>\n'
            + "\n".join(map(self._block, section.blocks))
            + "\n</section>"
            for section in document.sections
        ]
        return "\n".join([*head, *body, *self._attached(document), "</main></body></html>"]) + "\n"

    def _attached(self, document: Document) -> list[str]:
        """The attached files as links that store them."""
        if not document.attachments:
            return []
        links = [
            f'<li><a download="{text(one.name)}" href="data:{text(one.kind)};base64,'
            f'{base64.b64encode(one.data).decode()}">{text(one.name)}</a> {text(one.description)}</li>'
            for one in document.attachments
        ]
        return [f"<footer><h2>{text(self.words('Attached files'))}</h2><ul>", *links, "</ul></footer>"]

    def _drawing(self, figure: Figure) -> str:
        data, kind = picture_file(figure, "svg", self.words)
        self.pictures += 1
        if kind == "svg":
            return inline_svg(data, f"p{self.pictures}-", text(figure.caption))
        inside = base64.b64encode(data).decode()
        width = f"{100.0 * figure.width:g}%"
        return f'<img src="data:image/{kind};base64,{inside}" width="{width}" alt="{text(figure.caption)}">'

    def _caption(self, word: str, caption: str) -> str:
        """The number and the text of a caption; "" where there is none."""
        if not caption:
            return ""
        self.counts[word] += 1
        return f"{text(self.words(word))} {self.counts[word]}{self.words(': ')}{text(caption)}"

    def _block(self, block: Block) -> str:
        if isinstance(block, Paragraph):
            look = {"text": "", "note": ' class="note"'}.get(block.tone, f' class="toned {block.tone}"')
            return f"<p{look}>{''.join(map(self._piece, block.pieces))}</p>"
        if isinstance(block, Heading):
            return f"<h3>{text(block.text, LONGEST_TITLE)}</h3>"
        if isinstance(block, Facts):
            rows = "".join(f"<dt>{text(name)}</dt><dd>{text(value)}</dd>" for name, value in block.rows)
            return f"<dl>{rows}</dl>"
        if isinstance(block, Formula):
            name = f'<p class="faint">{text(block.name)}</p>' if block.name else ""
            return f'{name}<div class="formula">{display(block.content, "mathml", self.words)}</div>'
        if isinstance(block, Figure):
            caption = self._caption("Figure", block.caption)
            below = f"<figcaption>{caption}</figcaption>" if caption else ""
            return f'<figure class="drawing">{self._drawing(block)}{below}</figure>'
        if isinstance(block, Listing):
            caption = self._caption("Listing", block.caption)
            above = f"<figcaption>{caption}</figcaption>" if caption else ""
            return f"<figure>{above}<pre>{escape(plain_lines(block.code))}</pre></figure>"
        return self._table(block.grid, block.colored, tuple(block.code))

    def _piece(self, piece: Piece) -> str:
        if isinstance(piece, Code):
            return f"<code>{text(piece.text)}</code>"
        if isinstance(piece, Link):
            return f'<a href="#{_id(piece.section)}">{text(piece.text)}</a>'
        if isinstance(piece, Math):
            return inline(piece.tree, "mathml", self.words)
        return text(piece)

    def _table(self, grid: Grid, colored: bool, code: tuple[str, ...] = ()) -> str:
        caption = self._caption("Table", grid.title)
        lines = ['<div class="wide"><table>', f"<caption>{caption}</caption>" if caption else "", "<thead>"]
        if grid.groups:
            names = "".join(f'<th colspan="{count}">{text(name)}</th>' for name, count in grid.groups)
            lines.append(f'<tr class="group">{names}</tr>')
        looks = [self._look(grid, k) for k in range(len(grid.columns))]
        head = "".join(f"<th{look}>{text(name)}</th>" for name, look in zip(grid.columns, looks, strict=True))
        lines.append(f"<tr>{head}</tr></thead><tbody>")
        for k, row in enumerate(grid.rows):
            cells = "".join(
                f"<td{look}>{self._cell(cell, colored, name in code)}</td>"
                for name, look, cell in zip(grid.columns, looks, row, strict=True)
            )
            foot = ' class="foot"' if k >= len(grid.rows) - grid.feet else ""
            lines.append(f"<tr{foot}>{cells}</tr>")
        note = f'<p class="note">{text(grid.note)}</p>' if grid.note else ""
        return "\n".join([*filter(None, lines), f"</tbody></table></div>{note}"])

    def _look(self, grid: Grid, k: int) -> str:
        """The classes of a column: aligned to the right, separated by a line."""
        bar = k > 0 and k in (grid.heads, len(grid.columns) - grid.tails if grid.tails else -1)
        classes = " ".join(["r"] * (grid.columns[k] in grid.right) + ["bar"] * bar)
        return f' class="{classes}"' if classes else ""

    def _cell(self, cell: str, colored: bool, code: bool) -> str:
        tone = tone_of(cell, self.words) if colored else ""
        shown = f"<code>{text(cell, LONGEST_CELL)}</code>" if code else text(cell, LONGEST_CELL)
        return f'<span class="{tone}">{shown}</span>' if tone else shown


def _id(key: str) -> str:
    """The id of a section on the page: the letters and digits of its key, and the numbers of its other characters."""
    return "section-" + "".join(sign if sign.isascii() and sign.isalnum() else f"-{ord(sign)}-" for sign in key)
