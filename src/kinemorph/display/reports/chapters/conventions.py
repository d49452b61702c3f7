"""The conventions by which the numbers of a report are to be read."""

from __future__ import annotations

from kinemorph.display.faces.document import Grid, Paragraph, Section, Table
from kinemorph.display.faces.languages.words import Words
from kinemorph.display.reports.subject import Subject
from kinemorph.model.conventions.statement import conventions


def chapter(subject: Subject, words: Words) -> Section | None:
    """The table of conventions."""
    rows = [[words(topic), words(text)] for topic, text in conventions().items()]
    grid = Grid(words("Conventions of all equations and tables"), (words("topic"), words("convention")), rows, heads=1)
    return Section(
        "conventions",
        words("Conventions"),
        (
            Paragraph(words("All numbers are in SI units and radians; a table says where it uses another unit.")),
            Table(grid),
        ),
    )
