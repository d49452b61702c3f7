"""A document with every kind of block, and texts that would do harm as commands of a format."""

from __future__ import annotations

import numpy as np

from kinemorph.codegen.reading.expression_tree import Symbol, number, total
from kinemorph.display.canvas import blank
from kinemorph.display.faces.document import (
    Attachment,
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
    Section,
    Table,
)
from kinemorph.display.faces.languages.words import Words

HOSTILE = (
    '#read("x")', "\\input{x}", "<script>alert(1)</script>", "*/", "]]>", "\N{GRINNING FACE}",
    "w" * 10_000,
    "$x^2$ @a *b* _c_ `d` -- ,, [m] & % ~ ^ {e} \\ \" '", "\x00\x1b[31m\ud800\u202e", "-->", "${7*7}",
    "\\end{document}",
    "a\nb", "éßñł Ω ∑", "«»", "#", "\\u{41}", "</style>", '" onload="x', "^^5c", "$ #panic() $", "//", "/* x",
)  # fmt: skip


def plot() -> Figure:
    """A small plot with numbers at its axes."""
    figure = blank(4.0, 2.0)
    axes = figure.add_axes((0.15, 0.2, 0.8, 0.7))
    t = np.linspace(0.0, 2.0, 50)
    axes.plot(t, 0.5 * np.sin(9.0 * t))
    return Figure(figure, "A curve.", 0.8)


def sample(words: Words) -> Document:
    """The document in the language of `words`."""
    wide = tuple(f"column {k}" for k in range(30))
    x = total([Symbol("x", "x"), number(0.3711)])
    tables = [
        Grid("Masses", ("body", "mass"), [["arm", words.number(0.5)], ["hand", words.number(-1.25e-9)]], ("mass",)),
        Grid("Long", ("n", "value"), [[str(k), words.number(0.1 * k)] for k in range(80)], ("n", "value"), feet=1),
        Grid("Wide", wide, [[words.number(k * np.pi, 6) for k in range(30)]] * 2, wide, (("a", 15), ("b", 15)), 1, 1),
        Grid("Wordy", ("what", "text"), [["abc", "lorem ipsum dolor sit amet " * 12]] * 2, note="A note."),
        Grid("Empty", ("a", "b"), []),
    ]
    checks = Grid("Checks", ("check", "verdict"), [["mass", words("passed")], ["energy", words("failed")]])
    first = Section(
        "one",
        "First",
        [
            Paragraph("A paragraph."),
            Paragraph(("See ", Link("the other", "two"), ", ", Code("code"), " and ", Math(x))),
            Paragraph("Small.", "note"), Paragraph("Careful.", "warning"), Paragraph("Well.", "success"),
            Heading("Part"), Facts([("mass", "2 kg"), ("name", "arm")]), *map(Table, tables), plot(),
            Formula("sum", x), Table(checks, True),
            Listing("[robot]\nname = 'é'\n", "toml", "File"),
        ],
    )  # fmt: skip
    texts = [block for text in HOSTILE for block in hostile_blocks(text)]
    file = Attachment("model.toml", b"x = 1\n", "application/toml", "the model")
    sections = [first, Section("two", HOSTILE[1], texts)]
    return Document(HOSTILE[0], words.code, sections, [file], HOSTILE[2], HOSTILE[3], "2026", plot())


def hostile_blocks(text: str) -> list[Paragraph | Heading | Facts | Table | Listing | Figure]:
    """A text in every place that takes one."""
    grid = Grid(text, ("a", text), [["b", text]], (text,), ((text, 2),), note=text)
    return [
        Paragraph((text, Code(text), Link(text, "one"))), Paragraph(text, "warning"), Heading(text),
        Facts([(text, text)]), Table(grid, code=(text,)), Table(grid, True), Listing(text, "toml", text),
    ]  # fmt: skip
