"""The elements that act on the robot or measure it: their data, and what drives what."""

from __future__ import annotations

from kinemorph.display.canvas import in_language
from kinemorph.display.faces.blocks import written
from kinemorph.display.faces.document import Block, Figure, Heading, Paragraph, Section
from kinemorph.display.faces.languages.words import Words
from kinemorph.display.reports.subject import Subject
from kinemorph.display.tables.element_tables import element_parts
from kinemorph.display.tables.phase_tables import phase_parts


def chapter(subject: Subject, words: Words) -> Section | None:
    """The elements, their data, their signals and the phases of an automaton; None without elements."""
    system = subject.model
    if not system.members:
        return None
    blocks: list[Block] = []
    if system.elements:
        told = words("What acts on the robot or measures it, with all data that differ from the defaults.")
        blocks += [Paragraph(told), *(block for part in element_parts(system) for block in written(part, words))]
    if system.automaton is not None:
        blocks += _phases(subject, words)
    return Section("elements", words("Elements and wiring"), blocks)


def _phases(subject: Subject, words: Words) -> list[Block]:
    """The phases and edges of the automaton, as a picture and as tables."""
    from kinemorph.display.charts.draw_phases import draw_phases

    with in_language(words):
        parts, picture = phase_parts(subject.model.automaton), draw_phases(subject.model, title="")
    told = words("Phases of the motion, and the edges between them.")
    tables = [block for part in parts for block in written(part, words)]
    return [Heading(words("Phases")), Figure(picture, told, 0.9), *tables]
