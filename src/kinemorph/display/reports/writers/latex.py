r"""Reports as LaTeX source: an article that needs only packages of a usual TeX installation.

A folder, or a .zip file of it, has the source, its figures and the attached files; with the ending .tex they lie beside
the source. Every character of a text that LaTeX would read as a command is replaced, see `text`.
"""

from __future__ import annotations

import io
import re
import unicodedata
import zipfile
from collections.abc import Iterator
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
from kinemorph.display.reports.pictures import fitted_width, picture_file
from kinemorph.display.reports.signing.sealed import sealed
from kinemorph.display.reports.writers.formulas import display, inline
from kinemorph.display.reports.writers.layout import layout_of
from kinemorph.display.reports.writers.texts import broken, plain, plain_lines
from kinemorph.display.reports.writers.tones import tone_of

BREAK = "\N{ZERO WIDTH SPACE}"
LONGEST_TITLE, LONGEST_CELL, LONGEST_GROUP = 200, 600, 60  # characters
LONGEST_WORD = 200  # characters of a word in a listing; TeX cannot break it
SIZES = {9.0: r"\footnotesize", 8.0: r"\scriptsize", 7.0: r"\tiny", 6.0: r"\tiny"}
UNCOUNTED = r"\addtocounter{table}{-1}"  # after a table without a caption
LETTER = 1.0 / 108.0  # width of a letter, as a fraction of that of the line
SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "'": r"\textquotesingle{}", "`": r"\textasciigrave{}",
    "[": "{[}", "]": "{]}",
    "\N{NO-BREAK SPACE}": "~", "\N{NARROW NO-BREAK SPACE}": r"\,", BREAK: r"\hspace{0pt}",
    "\N{MINUS SIGN}": r"\ensuremath{-}", "·": r"\ensuremath{\cdot}", "×": r"\ensuremath{\times}",
    "∞": r"\ensuremath{\infty}", "≤": r"\ensuremath{\leq}", "≥": r"\ensuremath{\geq}", "≠": r"\ensuremath{\neq}",
    "≈": r"\ensuremath{\approx}", "±": r"\ensuremath{\pm}", "→": r"\ensuremath{\to}", "←": r"\ensuremath{\leftarrow}",
    "√": r"\ensuremath{\surd}", "∂": r"\ensuremath{\partial}", "∑": r"\ensuremath{\sum}", "…": r"\ldots{}",
    "–": r"\textendash{}", "—": r"\textemdash{}", "‘": r"\textquoteleft{}", "’": r"\textquoteright{}",
    "“": r"\textquotedblleft{}", "”": r"\textquotedblright{}", "«": r"\guillemotleft{}", "»": r"\guillemotright{}",
    "°": r"\textdegree{}", "µ": r"\ensuremath{\mu}", "∎": r"\ensuremath{\square}", "‖": r"\ensuremath{\|}",
    "\N{REPLACEMENT CHARACTER}": r"\ensuremath{\square}",
}  # fmt: skip
GREEK = (
    *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu"),
    *("xi", "omicron", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega", "Gamma", "Delta"),
    *("Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega"),
)
DIGITS = ("ZERO", "ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE")
LATIN = frozenset(range(0xA1, 0x100)) | frozenset(range(0x100, 0x180))  # letters that the font encoding T1 has, mostly
NOT_IN_T1 = frozenset("ĀāĈĉĊċĒēĔĕĖėĜĝĠġĢģĤĥĦħĨĩĪīĬĭĮįĴĵĶķĸĻļĿŀŅņŉŌōŎŏŖŗŜŝŦŧŨũŪūŬŭŲųŴŵŶŷſ¬¯²³¹¼½¾¸ª")

ACCENTS = {"\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0308": '"', "\u030a": "r", "\u0327": "c"}
ACCENTS |= {"\u0306": "u", "\u0307": ".", "\u030b": "H", "\u030c": "v", "\u0328": "k"}  # combining mark: command
LIGATURES = {"ß": r"\ss{}", "æ": r"\ae{}", "Æ": r"\AE{}", "œ": r"\oe{}", "Œ": r"\OE{}", "ø": r"\o{}", "Ø": r"\O{}"}
LIGATURES |= {"ł": r"\l{}", "Ł": r"\L{}", "đ": r"\dj{}", "Đ": r"\DJ{}"}


def _signs() -> dict[str, str]:
    """{sign: LaTeX} of special signs, Greek letters, and raised and lowered digits."""
    found = dict(SPECIAL)
    for name in GREEK:
        sign = unicodedata.lookup(f"GREEK {'CAPITAL' if name[0].isupper() else 'SMALL'} LETTER {_greek(name).upper()}")
        found[sign] = "o" if name == "omicron" else rf"\ensuremath{{\{name}}}"
    for kind, command in (("SUPERSCRIPT", "^"), ("SUBSCRIPT", "_")):
        for k, digit in enumerate(DIGITS):
            found[unicodedata.lookup(f"{kind} {digit}")] = rf"\ensuremath{{{command}{{{k}}}}}"
        found[unicodedata.lookup(f"{kind} MINUS")] = rf"\ensuremath{{{command}{{-}}}}"
    return found


def _greek(name: str) -> str:
    return "lamda" if name.lower() == "lambda" else name


SIGNS = _signs()


def text(value: object, most: int | None = None) -> str:
    """A plain text in LaTeX. A character that usual fonts do not have is written as its number, such as [U+1F600]."""
    shown = "".join(map(_sign, broken(plain(value) if most is None else plain(value, most), BREAK)))
    return shown.replace("--", "-{}-").replace("--", "-{}-").replace(",,", ",{},").replace(",,", ",{},")


def _sign(sign: str) -> str:
    if sign in SIGNS:
        return SIGNS[sign]
    code = ord(sign)
    if 0x20 <= code < 0x7F or (code in LATIN and sign not in NOT_IN_T1):
        return sign
    return f"{{[}}U+{code:04X}{{]}}"


def _spelled(sign: str) -> str:
    """A sign in commands of ASCII letters alone, as listings need it: an accented letter as accent and letter."""
    if sign in LIGATURES:
        return LIGATURES[sign]
    parts = unicodedata.normalize("NFD", sign)
    if len(parts) == 2 and parts[1] in ACCENTS and parts[0].isascii():
        return rf"\{ACCENTS[parts[1]]}{{{parts[0]}}}"
    return _sign(sign) if sign in SIGNS else f"{{[}}U+{ord(sign):04X}{{]}}"


def files(document: Document, target: Path, words: Words) -> Iterator[tuple[Path, bytes]]:
    """The files of a document: one .zip file, the files of a folder, or a .tex file and those beside it.

    The source has a seal.
    """
    name = target.stem if target.suffix == ".tex" else "report"
    made = source(document, words, name)
    made[f"{name}.tex"] = sealed(made[f"{name}.tex"], "tex")
    if target.suffix == ".zip":
        yield target, _zipped(made)
        return
    folder = target.parent if target.suffix == ".tex" else target
    for name, data in made.items():
        yield folder / name, data


def _zipped(made: dict[str, bytes]) -> bytes:
    """A .zip file without times, so that the same files give the same bytes."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in made.items():
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    return file.getvalue()


def source(document: Document, words: Words, name: str = "report") -> dict[str, bytes]:
    """The files of a document by name: the source, its figures and the attached files."""
    return _Writer(words, name).document(document)


class _Writer:
    """Writes the blocks of one document and collects the files that they need."""

    def __init__(self, words: Words, name: str) -> None:
        self.words, self.name = words, name
        self.files: dict[str, bytes] = {}
        self.pictures = 0

    def document(self, document: Document) -> dict[str, bytes]:
        """All files of a document by name."""
        preamble = (package_files("kinemorph.display.reports.writers") / "report.tex").read_text("utf-8")
        names = {"contents": "Contents", "table": "Table", "figure": "Figure"}
        title = text(document.title, LONGEST_TITLE)
        head = [
            preamble.rstrip("\n"),
            *(rf"\renewcommand{{\{name}name}}{{{text(self.words(key))}}}" for name, key in names.items()),
            rf"\newcommand{{\captionsign}}{{{text(self.words(': '))}}}",
            *([] if document.language == "en" else [r"\hyphenpenalty=10000"]),
            rf"\renewcommand{{\lstlistingname}}{{{text(self.words('Listing'))}}}",
            r"\begin{document}",
            r"\begin{titlepage}",
            r"\centering\vspace*{\fill}",
            rf"{{\Huge\bfseries\color{{accent}} {title}\par}}",
        ]
        if document.subtitle:
            head.append(rf"\medskip{{\Large\color{{faint}} {text(document.subtitle, LONGEST_TITLE)}\par}}")
        if document.cover is not None:
            head.append(rf"\bigskip {self._drawing(document.cover)}\par")
        head += [rf"\medskip{{\large {text(line, LONGEST_TITLE)}\par}}" for line in (document.author, document.date)
                 if line]  # fmt: skip
        made = text(self.words("Kinemorph {version}", version=__version__))
        head += [rf"\vspace*{{\fill}}{{\small\color{{faint}} {made}\par}}", r"\end{titlepage}", r"\tableofcontents"]
        body = [
            line
            for section in document.sections
            for line in (
                rf"\section{{{text(section.title, LONGEST_TITLE)}}}\label{{{_label(section.key)}}}",
                *(self._block(block) for block in section.blocks),
            )
        ]
        main = "\n".join([*head, *body, r"\end{document}"]) + "\n"
        attached = {f"attached/{_file(one.name)}": one.data for one in document.attachments}
        return {f"{self.name}.tex": main.encode(), **self.files, **attached}

    def _drawing(self, figure: Figure) -> str:
        data, kind = picture_file(figure, "pdf", self.words)
        self.pictures += 1
        name = f"figures/{self.pictures}.{kind}"
        self.files[name] = data
        return rf"\includegraphics[width={fitted_width(figure):.4g}\linewidth]{{{name}}}"

    def _block(self, block: Block) -> str:
        if isinstance(block, Paragraph):
            inside = "".join(map(self._piece, block.pieces))
            looks = {"text": inside, "note": rf"{{\small\color{{faint}} {inside}\par}}"}
            return "\n" + looks.get(block.tone, rf"{{\bfseries\color{{{block.tone}}} {inside}\par}}") + "\n"
        if isinstance(block, Heading):
            return rf"\subsection{{{text(block.text, LONGEST_TITLE)}}}"
        if isinstance(block, Facts):
            rows = [rf"{{\color{{faint}} {text(name)}}} & {text(value)} \\" for name, value in block.rows]
            columns = (
                r"{@{}>{\raggedright\arraybackslash}p{0.3\linewidth}>{\raggedright\arraybackslash}p{0.64\linewidth}@{}}"
            )
            return "\n".join([rf"\begin{{longtable}}{columns}", *rows, rf"\end{{longtable}}{UNCOUNTED}"])
        if isinstance(block, Formula):
            name = rf"{{\color{{faint}} {text(block.name)}\par}}" if block.name else ""
            return f"{name}\n{display(block.content, 'latex', self.words)}"
        if isinstance(block, Figure):
            caption = rf"\caption{{{text(block.caption)}}}" if block.caption else ""
            return rf"\begin{{picturebox}}{self._drawing(block)}{caption}\end{{picturebox}}"
        if isinstance(block, Listing):
            return self._listing(block)
        return self._table(block.grid, block.colored, tuple(block.code))

    def _piece(self, piece: Piece) -> str:
        if isinstance(piece, Code):
            return rf"\texttt{{{text(piece.text)}}}"
        if isinstance(piece, Link):
            return rf"\hyperref[{_label(piece.section)}]{{{text(piece.text)}}}"
        if isinstance(piece, Math):
            return inline(piece.tree, "latex", self.words)
        return text(piece)

    def _listing(self, block: Listing) -> str:
        """A listing in a file of its own, which LaTeX reads as text; `literate` spells signs beyond ASCII."""
        code = re.sub(rf"(\S{{{LONGEST_WORD}}})(?=\S)", r"\1\n", plain_lines(block.code))
        name = f"listings/{sum(one.startswith('listings/') for one in self.files) + 1}.txt"
        self.files[name] = code.encode()
        beyond = sorted({sign for sign in code if sign > "\x7e"})
        options = [rf"caption={{{text(block.caption)}}}"] if block.caption else []
        options += [f"literate={''.join(f'{{{sign}}}{{{{{_spelled(sign)}}}}}1' for sign in beyond)}"] if beyond else []
        return rf"\lstinputlisting[{','.join(options)}]{{{name}}}"

    def _table(self, grid: Grid, colored: bool, code: tuple[str, ...] = ()) -> str:
        plan = layout_of(grid)
        kinds = [
            rf">{{\raggedright\arraybackslash}}p{{{share * LETTER * (0.62 if plan.turned else 0.95):.3f}\linewidth}}"
            if share
            else "r" if name in grid.right else "l"
            for name, share in zip(grid.columns, plan.shares, strict=True)
        ]  # fmt: skip
        if grid.heads:
            kinds.insert(grid.heads, "|")
        if grid.tails:
            kinds.insert(len(kinds) - grid.tails, "|")
        above = [
            rf"\multicolumn{{{count}}}{{l}}{{\itshape {text(name, LONGEST_GROUP)}}}" for name, count in grid.groups
        ]
        head = [" & ".join(above) + r" \\"] if above else []
        head.append(" & ".join(rf"\textbf{{{text(name, LONGEST_CELL)}}}" for name in grid.columns) + r" \\")
        rows = [
            " & ".join(self._cell(cell, colored, name in code) for name, cell in zip(grid.columns, row, strict=True))
            + r" \\"
            for row in grid.rows
        ]
        if grid.feet:
            rows.insert(-grid.feet, r"\midrule")
        caption = [rf"\caption{{{text(grid.title)}}} \\"] if grid.title else []
        whole = [
            rf"{{{SIZES[plan.size]}\setlength{{\tabcolsep}}{{{2 if plan.turned else 4}pt}}",
            rf"\begin{{longtable}}{{{''.join(kinds)}}}",
            *caption, r"\toprule", *head, r"\midrule", r"\endfirsthead",
            r"\toprule", *head, r"\midrule", r"\endhead", r"\bottomrule", r"\endlastfoot",
            *rows,
            rf"\end{{longtable}}{'' if grid.title else UNCOUNTED}}}",
        ]  # fmt: skip
        if grid.note:
            whole.append(rf"{{\small\color{{faint}} {text(grid.note)}\par}}")
        if plan.turned:
            whole = [r"\begin{landscape}", *whole, r"\end{landscape}"]
        return "\n".join(whole)

    def _cell(self, cell: str, colored: bool, code: bool) -> str:
        tone = tone_of(cell, self.words) if colored else ""
        shown = rf"\texttt{{{text(cell, LONGEST_CELL)}}}" if code else text(cell, LONGEST_CELL)
        return rf"{{\bfseries\color{{{tone}}} {shown}}}" if tone else shown


def _label(key: str) -> str:
    """A label of LaTeX: the letters and digits of a key, and the numbers of its other characters."""
    return "section-" + "".join(sign if sign.isascii() and sign.isalnum() else f"-{ord(sign)}-" for sign in key)


def _file(name: str) -> str:
    """The name of an attached file without folders."""
    return Path(name.replace("\\", "/")).name or "file"
