"""Writers of reports: texts stay texts in every format, the same document gives the same bytes, pages fit.

Requirements 001-12, 001-13, 001-14 (reports) of SEEDS.md.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from kinemorph.display.faces.document import Document, Grid, Paragraph, Section, Table
from kinemorph.display.faces.languages.words import Words
from kinemorph.display.reports.pictures import inline_svg, picture_file
from kinemorph.display.reports.writers import html, latex, typst
from kinemorph.display.reports.writers.layout import layout_of
from kinemorph.display.reports.writers.texts import plain, shortened
from support.cases.report_document import HOSTILE, plot, sample

WORDS = {code: Words(code) for code in ("en", "fr")}
WRITERS: dict[str, Any] = {"typst": typst, "latex": latex, "html": html}
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
BREAK = "\N{ZERO WIDTH SPACE}"


@pytest.fixture(scope="module")
def sources() -> dict[str, dict[str, bytes]]:
    """The source files of the sample document in French, by format."""
    words = WORDS["fr"]
    return {name: one.source(sample(words), words) for name, one in WRITERS.items()}


def read_back(string: str) -> str:
    """The text of a string of typst: the inverse of its escapes."""
    return re.sub(r"\\(.)", lambda found: {"n": "\n"}.get(found[1], found[1]), string).replace(BREAK, "")


def test_in_typst_a_text_is_a_string_and_nothing_else(sources: dict[str, dict[str, bytes]]) -> None:
    main = sources["typst"]["main.typ"].decode()
    strings = {read_back(found) for found in STRING.findall(main)}
    for text in HOSTILE:
        assert plain(text) in strings
    outside = STRING.sub("", main)
    # what is left are calls of our own functions, numbers and formulas
    assert set(re.findall(r"#([\w.-]+)", outside)) <= {
        "import", "show", "title-page", "contents", "section", "part", "paragraph", "facts", "captioned", "picture",
        "formula", "verdict", "listing", "pdf.attach",
    }  # fmt: skip
    assert not [word for word in ("alert", "input", "panic", "//", "/*") if word in outside]


def test_typst_writes_the_same_bytes_each_time(sources: dict[str, dict[str, bytes]]) -> None:
    pytest.importorskip("typst")
    assert typst.source(sample(WORDS["fr"]), WORDS["fr"]) == sources["typst"]
    small = {**sources["typst"], "main.typ": sources["typst"]["main.typ"].partition(b"#section")[0]}
    first = typst.pdf(small)
    assert first.startswith(b"%PDF") and b"CreationDate" not in first and first == typst.pdf(small)


@pytest.mark.slow
def test_typst_makes_pages_of_all_texts(sources: dict[str, dict[str, bytes]]) -> None:
    pytest.importorskip("typst")
    assert typst.pdf(sources["typst"]) == typst.pdf(sources["typst"])


class Tags(HTMLParser):
    """The tags, attributes and texts of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[str] = []
        self.ids: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, Any]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs
        self.ids += [value for name, value in attrs if name == "id"]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_on_a_page_a_text_is_no_tag_and_no_attribute(sources: dict[str, dict[str, bytes]]) -> None:
    page = Tags(sources["html"]["report.html"].decode())
    assert not page.tags & {"script", "iframe", "object", "embed", "link", "form", "input", "base"}
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    targets = [value or "" for name, value in page.attributes if name in ("href", "src", "xlink:href")]
    assert all(target.startswith(("#", "data:")) for target in targets)
    joined = {text.strip() for text in page.texts}
    for text in HOSTILE:
        assert plain(text).strip() in joined


def test_ids_on_a_page_are_unique_and_links_lead_to_them(sources: dict[str, dict[str, bytes]]) -> None:
    page = Tags(sources["html"]["report.html"].decode())
    assert len(page.ids) == len(set(page.ids))
    targets = [value for name, value in page.attributes if "href" in name and value]
    assert {target[1:] for target in targets if target[0] == "#"} <= set(page.ids)


def test_drawings_and_formulas_of_a_page_are_well_formed(sources: dict[str, dict[str, bytes]]) -> None:
    page = sources["html"]["report.html"].decode()
    for kind in ("svg", "math"):
        found = re.findall(rf"<{kind}\b.*?</{kind}>", page, re.DOTALL)
        assert found
        for one in found:
            ElementTree.fromstring(one)
    assert "0,3711" in "".join(Tags("".join(re.findall(r"<math.*?</math>", page, re.DOTALL))).texts)


def test_in_latex_every_special_sign_is_spelled(sources: dict[str, dict[str, bytes]]) -> None:
    for text in HOSTILE:
        spelled = latex.text(text)
        left = re.sub(r"\\(?:ensuremath|text\w+|hspace|ldots|guillemot\w+|[{}$&#%_,])", "", spelled)
        commands = re.findall(r"\\[a-zA-Z]+", left)
        assert all(name[1:] in {*latex.GREEK, "cdot", "times", "sum", "square", "leq", "geq"} for name in commands)
        assert left.isascii() or set(left) - set(map(chr, range(128))) <= set(map(chr, latex.LATIN))
        assert spelled.count("{") == spelled.count("}") and "^^" not in spelled and "--" not in spelled
    listings = [data for name, data in sources["latex"].items() if name.startswith("listings/")]
    assert any(b"\\end{document}" in data for data in listings)  # a file of its own cannot end the document


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.parametrize("code", WORDS)
def test_latex_compiles_it(code: str, tmp_path: Path) -> None:
    for place, data in latex.files(sample(WORDS[code]), tmp_path, WORDS[code]):
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(data)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "report.tex"]
    for _ in range(2):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
        assert done.returncode == 0, done.stdout[-2000:]


def test_a_text_that_no_format_can_show_is_replaced() -> None:
    assert plain("a\x00b\ud800c\u202ed") == "a\ufffdb\ufffdc\ufffdd"
    assert plain("a\tb\r\nc") == "a b c"
    assert shortened("x" * 50, 21) == "x" * 9 + " … " + "x" * 9


def test_numbers_at_the_axes_have_the_sign_of_the_language() -> None:
    labels = {}
    for code, words in WORDS.items():
        figure = plot()
        data, kind = picture_file(figure, "svg", words)
        assert kind == "svg" and data == picture_file(plot(), "svg", words)[0]
        drawn: Any = figure.picture
        labels[code] = [label.get_text() for axes in drawn.axes for label in axes.get_xticklabels()]
    assert "0.5" in labels["en"] and "0,5" in labels["fr"]
    assert labels["fr"] == [text.replace(".", ",") for text in labels["en"]]


def test_ids_of_a_drawing_get_a_prefix() -> None:
    drawing = b'<?xml?><svg width="1"><defs><path id="a"/></defs><use xlink:href="#a"/><g clip-path="url(#b)"/></svg>'
    shown = inline_svg(drawing, "p1-", "x")
    assert 'id="p1-a"' in shown and 'href="#p1-a"' in shown and "url(#p1-b)" in shown and "<?xml" not in shown


@pytest.mark.parametrize(
    ("columns", "width", "turned", "broken"), [(3, 10, False, False), (24, 7, True, False), (2, 400, False, True)]
)
def test_tables_fit_by_smaller_letters_then_by_broken_lines_then_turned(
    columns: int, width: int, turned: bool, broken: bool
) -> None:
    cell = ("ab " * width)[:width]
    plan = layout_of(Grid("", tuple(f"c{k}" for k in range(columns)), [[cell] * columns]))
    assert plan.turned == turned and any(plan.shares) == broken


@pytest.mark.slow
def test_a_table_of_any_size_stays_on_its_page() -> None:
    """The text of the last column is on the page, at every number of columns, in a drawing of the page."""
    pytest.importorskip("typst")
    for columns in (1, 5, 12, 25, 40):
        grid = Grid("t", tuple(f"c{k}" for k in range(columns)), [[f"value{k}" for k in range(columns)]] * 40)
        document = Document("d", "en", [Section("s", "s", [Table(grid), Paragraph("end")])])
        pages = typst.pages(document, WORDS["en"], 20.0)
        assert 3 <= len(pages) <= 7
