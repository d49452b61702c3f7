"""The energy of the runs, and an audit of what their motion has to conserve."""

from __future__ import annotations

from dataclasses import replace

from kinemorph.analysis.audit import audit
from kinemorph.display.canvas import in_language
from kinemorph.display.faces.blocks import blocks
from kinemorph.display.faces.document import Block, Code, Figure, Heading, Paragraph, Section
from kinemorph.display.faces.languages.words import Words
from kinemorph.display.reports.subject import Subject
from kinemorph.errors import KinemorphError
from kinemorph.simulation.results.trajectory import Trajectory

MOST_RUNS = 4  # runs that are shown


def chapter(subject: Subject, words: Words) -> Section | None:
    """The energies of every run and its audit; None without runs."""
    if not subject.runs:
        return None
    blocks: list[Block] = [
        Paragraph(
            words(
                "The sum of kinetic and potential energy, less the energy that drives supply, plus the energy that is "
                "dissipated, is constant between impacts. The audit checks this and other laws of conservation."
            )
        )
    ]
    for name, run in list(subject.runs.items())[:MOST_RUNS]:
        blocks += _figure(run, words) + _audit(name, run, words)
    return Section("energy_audit", words("Energy audit"), blocks)


def _figure(run: Trajectory, words: Words) -> list[Block]:
    from kinemorph.display.charts.plot import plot

    if not any(name.startswith("energy.") for name in run.columns):
        return []
    with in_language(words):
        picture = plot(run, "energy", title="")
    return [Figure(picture, words("Energies over time, and the error of their balance."))]


def _audit(name: str, run: Trajectory, words: Words) -> list[Block]:
    """The table of an audit."""
    try:
        found = audit(run)
    except KinemorphError as error:
        return [Paragraph((words("The run cannot be audited. The program says: "), Code(str(error))), "warning")]
    laws = replace(found, checks=tuple(one for one in found.checks if one.name != "ending"))  # the curves tell that one
    return [Heading(words("Audit of run {name}", name=name)), *blocks(laws.sheet(), words)]
