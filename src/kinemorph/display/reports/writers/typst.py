"""Reports as PDF, by typst: the source is calls of the functions in report.typ, in which all texts are strings."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from importlib.resources import files as package_files
from pathlib import Path
from typing import Any, Literal

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
from kinemorph.display.reports.pictures import fitted_width, picture_file
from kinemorph.display.reports.signing.sealed import sealed
from kinemorph.display.reports.writers.formulas import display, inline
from kinemorph.display.reports.writers.layout import layout_of
from kinemorph.display.reports.writers.texts import broken, plain, plain_lines
from kinemorph.display.reports.writers.tones import tone_of
from kinemorph.errors import KinemorphError, MissingExtraError

ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n"}
LONGEST_TITLE, LONGEST_CELL = 200, 600  # characters
SHORT_TABLE, SHORT_LISTING = 14, 20  # rows and lines of blocks that are not broken across pages
BREAK = "\N{ZERO WIDTH SPACE}"


def files(document: Document, target: Path, words: Words) -> Iterator[tuple[Path, bytes]]:
    """The PDF of a document, with its seal."""
    yield target, sealed(pdf(source(document, words)), "pdf")


def required() -> None:
    """Raises MissingExtraError where typst cannot be imported; the sentence names the formats that do not need it."""
    try:
        import typst  # noqa: F401  # a typst whose binary does not load is found here, too
    except ImportError as cause:
        error = MissingExtraError("typst", "report")
        error.remedy += ", or write the report as HTML or LaTeX source: --to html, --to latex."
        error.args = (f"{error.what}. {error.remedy}",)
        raise error from cause


def pdf(sources: dict[str, bytes], form: Literal["pdf", "png"] = "pdf", **options: Any) -> Any:
    """The PDF of source files by name; "main.typ" is the first. Only fonts inside of typst are used.

    With form="png" it is a list of pictures, one for each page.
    """
    import typst

    with tempfile.TemporaryDirectory() as folder:
        for name, data in sources.items():
            path = Path(folder) / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data)
        fonts = typst.Fonts(include_system_fonts=False)
        try:
            compiler = typst.Compiler(str(Path(folder) / "main.typ"), root=folder, font_paths=fonts)
            return compiler.compile(format=form, **options)
        except typst.TypstError as error:
            raise KinemorphError(f"typst cannot write the report: {error.message}.") from error


def pages(document: Document, words: Words, resolution: float = 72.0) -> list[bytes]:
    """The pages of a document as PNG pictures; `resolution` is in pixels per inch."""
    required()
    made = pdf(source(document, words), "png", ppi=resolution)
    return made if isinstance(made, list) else [made]


def source(document: Document, words: Words) -> dict[str, bytes]:
    """The source files of a document by name: "main.typ", the look, pictures and attached files."""
    return _Writer(words).document(document)


def text(value: object, most: int | None = None) -> str:
    """A plain text as a string of typst, with quotes: it can be nothing but text."""
    shown = broken(plain(value) if most is None else plain(value, most), BREAK)
    return '"' + "".join(ESCAPES.get(sign, sign) for sign in shown) + '"'


def lines(code: str) -> str:
    """A text of several lines as a string of typst."""
    return '"' + "".join(ESCAPES.get(sign, sign) for sign in plain_lines(code)) + '"'


def _listed(items: list[str]) -> str:
    """An array of typst."""
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


class _Writer:
    """Writes the blocks of one document and collects the files that they need."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self.files: dict[str, bytes] = {}

    def document(self, document: Document) -> dict[str, bytes]:
        """All files of a document by name."""
        cover = "none" if document.cover is None else self._drawing(document.cover)
        lines = _listed([text(line, LONGEST_TITLE) for line in (document.author, document.date) if line])
        title = text(document.title, LONGEST_TITLE)
        made = text(self.words("Kinemorph {version}", version=__version__))
        pages = text(self.words("page {n} of {total}", n="@n", total="@m"))
        head = [
            '#import "report.typ": *',
            f"#show: report.with(title: {title}, author: {text(document.author, LONGEST_TITLE)}, "
            f"language: {text(document.language)}, separator: {text(self.words(': '))})",
            f"#title-page({title}, {text(document.subtitle, LONGEST_TITLE)}, {lines}, {cover}, {made})",
            f'#show: running.with({title}, (n, m) => {pages}.replace("@n", n).replace("@m", m))',
            f"#contents({text(self.words('Contents'))})",
        ]
        body = [
            line
            for section in document.sections
            for line in (
                f"#section({text(section.key)}, {text(section.title, LONGEST_TITLE)})",
                *(self._block(block) for block in section.blocks),
            )
        ]
        for k, one in enumerate(document.attachments):
            name = f"attached/{k}"
            self.files[name] = one.data
            head.append(
                f"#pdf.attach({text(one.name)}, read({text(name)}, encoding: none), mime-type: {text(one.kind)}, "
                f'description: {text(one.description)}, relationship: "data")'
            )
        main = "\n".join([*head, *body]) + "\n"
        look = (package_files("kinemorph.display.reports.writers") / "report.typ").read_bytes()
        return {"main.typ": main.encode(), "report.typ": look, **self.files}

    def _drawing(self, figure: Figure) -> str:
        return f"drawing({100.0 * figure.width:g}%, {text(self._picture(figure))})"

    def _picture(self, figure: Figure) -> str:
        """The name of the file of a picture."""
        data, kind = picture_file(figure, "svg", self.words)
        name = f"figures/{len(self.files) + 1}.{kind}"
        self.files[name] = data
        return name

    def _block(self, block: Block) -> str:
        if isinstance(block, Paragraph):
            return f"#paragraph({text(block.tone)}, {', '.join(map(self._piece, block.pieces))})"
        if isinstance(block, Heading):
            return f"#part({text(block.text, LONGEST_TITLE)})"
        if isinstance(block, Facts):
            return f"#facts({', '.join(f'({text(name)}, {text(value)})' for name, value in block.rows)})"
        if isinstance(block, Formula):
            return f"#formula({text(block.name)}, {display(block.content, 'typst', self.words)})"
        if isinstance(block, Figure):
            caption, word = text(block.caption), text(self.words("Figure"))
            width = f"{100.0 * fitted_width(block):.4g}%"
            return f"#picture({word}, {caption}, {width}, {text(self._picture(block))}, {caption})"
        if isinstance(block, Listing):
            word = text(self.words("Listing"))
            long = str(block.code.count("\n") > SHORT_LISTING).lower()
            return f"#listing({word}, {text(block.caption)}, {long}, {text(block.language)}, {lines(block.code)})"
        return self._table(block.grid, block.colored, tuple(block.code))

    def _piece(self, piece: Piece) -> str:
        if isinstance(piece, Code):
            return f"code({text(piece.text)})"
        if isinstance(piece, Link):
            return f"to({text(piece.section)}, {text(piece.text)})"
        if isinstance(piece, Math):
            return inline(piece.tree, "typst", self.words)
        return text(piece)

    def _table(self, grid: Grid, colored: bool, code: tuple[str, ...] = ()) -> str:
        plan = layout_of(grid)
        widths = [f"{share}fr" if share else "auto" for share in plan.shares]
        right = [str(k) for k, name in enumerate(grid.columns) if name in grid.right]
        groups = [f"({text(name)}, {count})" for name, count in grid.groups]
        rows = [
            _listed([self._cell(cell, colored, name in code) for name, cell in zip(grid.columns, row, strict=True)])
            for row in grid.rows
        ]
        look = f"size: {plan.size:g}pt, columns: {_listed(widths)}, right: {_listed(right)}, groups: {_listed(groups)}"
        lines = f"heads: {grid.heads}, tails: {grid.tails}, feet: {grid.feet}"
        header = _listed([text(name, LONGEST_CELL) for name in grid.columns])
        body = ",\n  ".join(rows)
        inside = f"tabular({look}, {lines}, header: {header}, rows: (\n  {body},\n))" if rows else text("–")
        long = len(grid.rows) > SHORT_TABLE or any(len(cell) > LONGEST_CELL // 2 for row in grid.rows for cell in row)
        options = f"turned: {str(plan.turned).lower()}, long: {str(long).lower()}, note: {text(grid.note)}"
        return f'#captioned("table", {text(self.words("Table"))}, {text(grid.title)}, {options}, {inside})'

    def _cell(self, cell: str, colored: bool, code: bool) -> str:
        tone = tone_of(cell, self.words) if colored else ""
        shown = f"code({text(cell, LONGEST_CELL)})" if code else text(cell, LONGEST_CELL)
        return f'toned("{tone}", {shown})' if tone else shown
