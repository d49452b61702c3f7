"""The poles of the linear equations about the equilibrium, as a table and in the complex plane."""

from __future__ import annotations

from typing import Any

from kinemorph.display.canvas import in_language
from kinemorph.display.reports.chapters.equilibrium import held_outputs
from kinemorph.display.reports.document import Block, Code, Figure, Grid, Paragraph, Section, Table
from kinemorph.display.reports.languages.words import Words
from kinemorph.display.reports.subject import Subject
from kinemorph.errors import KinemorphError
from kinemorph.model.configuration import initial_configuration

MOST = 60  # poles that are listed
COLUMNS = {
    "number": "pole",
    "alpha": "real part [1/s]",
    "omega": "imaginary part [rad/s]",
    "frequency": "frequency [Hz]",
    "damping_ratio": "damping ratio",
}


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
    from kinemorph.display.charts.plot_poles import plot_poles

    rest = subject.equilibrium
    at: dict[str, Any] = {}
    if not isinstance(rest, KinemorphError) and rest:
        at = {"q": rest.q, "x": rest.x, "m": rest.m}
        told = words("The equations are linearized about the equilibrium.")
    else:
        at = {"q": subject.model.settings.q or initial_configuration(subject.robot)}
        told = words("No equilibrium was found, so that the equations are linearized about the initial state.")
    try:
        found = poles(subject.model, **at)
    except KinemorphError as error:
        return [Paragraph((words("The poles cannot be computed. The program says: "), Code(str(error))), "warning")]
    if not len(found):  # all motions are prescribed
        return []
    growing = int(found.growing.sum())
    verdict = words.counted(growing, "{n} of the {m} poles has", "{n} of the {m} poles have", m=len(found))
    grows = words("{verdict} a positive real part: the motion grows.", verdict=verdict)
    told = f"{told} {grows if growing else words('No pole has a positive real part.')}"
    rows = [[_cell(name, row[name], words) for name in COLUMNS if name in row] for row in found.rows()[:MOST]]
    names = [head for name, head in COLUMNS.items() if found.rows() and name in found.rows()[0]]
    grid = Grid("Poles; of conjugate pairs the upper one", names, rows, names)
    if len(found) > MOST:
        grid = grid._replace(note="The other poles are not listed.")
    with in_language(words):
        picture = plot_poles(found, title="")
    shown = words("Poles in the complex plane, with lines of constant damping ratio and of constant frequency.")
    held = [Paragraph(text, "note")] if (text := held_outputs(subject, words)) else []
    return [Paragraph(told), *held, Table(words.grid(grid, numbers=())), Figure(picture, shown, 0.85)]


def _cell(name: str, value: Any, words: Words) -> str:
    return words.integer(int(value)) if name == "number" else words.number(value, 6)
