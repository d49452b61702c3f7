"""The poles of the linear equations about the equilibrium, as a table and in the complex plane."""

from __future__ import annotations

from dataclasses import replace

from kinemorph.display.faces.blocks import written
from kinemorph.display.faces.document import Block, Code, Paragraph, Section
from kinemorph.display.faces.languages.words import Words
from kinemorph.display.reports.chapters.equilibrium import held_outputs
from kinemorph.display.reports.subject import Subject
from kinemorph.errors import KinemorphError
from kinemorph.model.configuration import initial_configuration
from kinemorph.sheet import Pose, said


def chapter(subject: Subject, words: Words) -> Section | None:
    """The poles about the equilibrium, or about the initial state where there is none; None for a robot
    without motions of its own.
    """
    if not subject.robot.nv:
        return None
    blocks = _blocks(subject, words)
    return Section("poles", words("Poles"), blocks) if blocks else None


def _blocks(subject: Subject, words: Words) -> list[Block]:
    from kinemorph.analysis.small_motions.poles import poles

    rest = subject.equilibrium
    try:
        if not isinstance(rest, KinemorphError) and rest:
            found = replace(poles(subject.model, q=rest.q, x=rest.x, m=rest.m), place=said("the equilibrium"))
        else:
            q = subject.model.settings.q or initial_configuration(subject.robot)
            found = replace(poles(subject.model, q=q), place=said("the initial state, as no equilibrium was found"))
    except KinemorphError as error:
        return [Paragraph((words("The poles cannot be computed. The program says: "), Code(str(error))), "warning")]
    if not len(found):  # all motions are prescribed
        return []
    held = [Paragraph(text, "note")] if (text := held_outputs(subject, words)) else []
    parts = [part for part in found.sheet().parts if not isinstance(part, Pose)]  # the equilibrium is drawn before
    return [*held, *(block for part in parts for block in written(part, words))]
