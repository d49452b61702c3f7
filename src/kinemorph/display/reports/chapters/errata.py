"""The corrections of the five papers that bear on the equations of this report."""

from __future__ import annotations

from kinemorph.display.faces.document import Block, Grid, Paragraph, Section, Table
from kinemorph.display.faces.languages.words import Words
from kinemorph.display.reports.errata_used import PAPERS, errata_used
from kinemorph.display.reports.subject import Subject


def chapter(subject: Subject, words: Words) -> Section | None:
    """The table of errata that apply to the model; None where none applies."""
    found = errata_used(subject.model)
    if not found:
        return None
    rows = [[one.id, one.place if one.place.startswith("(") else words(one.place), words(one.text)] for one in found]
    papers = [[key, PAPERS[key]] for key in dict.fromkeys(one.id.partition("-")[0] for one in found)]
    blocks: list[Block] = [
        Paragraph(
            words(
                "Some equations of the papers on which Kinemorph is based contain misprints. The corrections below "
                "bear on what is used here; each of them was checked by an independent computation or follows from "
                "other equations of its paper."
            )
        ),
        Table(words.grid(Grid("Corrections that bear on this model", ("number", "place", "correct form"), rows))),
        Table(words.grid(Grid("Papers", ("number", "paper"), papers))),
    ]
    return Section("errata", words("Errata"), blocks)
