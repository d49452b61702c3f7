"""The bodies with their masses and inertias, and the joints between them."""

from __future__ import annotations

from kinemorph.display.faces.blocks import written
from kinemorph.display.faces.document import Section
from kinemorph.display.faces.languages.words import Words
from kinemorph.display.reports.subject import Subject
from kinemorph.model.sheets.robot_sheet import body_parts


def chapter(subject: Subject, words: Words) -> Section | None:
    """The tables of bodies, joints, limits and losses, and couplings."""
    if not subject.robot.bodies:
        return None
    blocks = [block for part in body_parts(subject.robot) for block in written(part, words)]
    return Section("inertias", words("Bodies and joints"), blocks)
