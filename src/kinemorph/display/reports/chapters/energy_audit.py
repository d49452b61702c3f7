"""The energy of the runs, and an audit of what their motion has to conserve."""

from __future__ import annotations

from kinemorph.analysis.audit import audit
from kinemorph.display.canvas import in_language
from kinemorph.display.reports.document import Block, Code, Figure, Grid, Paragraph, Section, Verdict
from kinemorph.display.reports.languages.sentences import sentence
from kinemorph.display.reports.languages.words import Words
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
    laws = [check for check in found.checks if check.name != "ending"]  # the curves say how the run ended
    rows = [
        [
            sentence(words, check.name),
            words(check.status),
            "" if check.worst is None else words.number(check.worst, ".1e"),
            "" if check.tolerance is None else words.number(check.tolerance, ".0e"),
            sentence(words, check.note if check.status == "skipped" else check.says),
        ]
        for check in laws
    ]
    columns = ("law", "verdict", "worst", "tolerance", "what it says")
    grid = words.grid(Grid("Audit of run {name}", columns, rows, ("worst", "tolerance")), numbers=())
    grid = grid._replace(title=words("Audit of run {name}", name=name), note=sentence(words, found.basis))
    count = sum(check.status == "failed" for check in laws)
    passed = words("No law of conservation is violated.")
    failed = words.counted(count, "{n} law of conservation is violated.", "{n} laws of conservation are violated.")
    return [Verdict(grid, not count, failed if count else passed)]
