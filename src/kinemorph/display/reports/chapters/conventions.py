"""The conventions by which the numbers of a report are to be read."""

from __future__ import annotations

from kinemorph.display.faces.blocks import written
from kinemorph.display.faces.document import Paragraph, Section
from kinemorph.display.faces.languages.words import Words
from kinemorph.display.reports.subject import Subject
from kinemorph.model.conventions.statement import convention_table


def chapter(subject: Subject, words: Words) -> Section | None:
    """The table of conventions."""
    told = words("All numbers are in SI units and radians; a table says where it uses another unit.")
    return Section("conventions", words("Conventions"), (Paragraph(told), *written(convention_table(), words)))
