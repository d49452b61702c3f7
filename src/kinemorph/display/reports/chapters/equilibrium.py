"""The equilibrium of the model near its initial state, and whether it is stable."""

from __future__ import annotations

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.display.canvas import in_language
from kinemorph.display.reports.document import Block, Code, Figure, Grid, Paragraph, Section, Table
from kinemorph.display.reports.languages.words import Words
from kinemorph.display.reports.subject import Subject
from kinemorph.display.tables.element_tables import element_rows
from kinemorph.display.tables.run_summaries import equilibrium_summary
from kinemorph.errors import KinemorphError
from kinemorph.model.robot import Robot

SLACK = 1e-6  # [rad or m], by which a coordinate may be beyond its limit
MOST = 60  # coordinates that are listed
STABLE = {
    True: "It is stable: small motions about it decay or stay small.",
    False: "It is not stable: some small motions about it grow.",
    None: "Linear equations do not decide whether it is stable.",
}


def chapter(subject: Subject, words: Words) -> Section | None:
    """The coordinates of the equilibrium, or a sentence that says that there is none; None for a robot at rest."""
    if not subject.robot.nv:
        return None
    return Section("equilibrium", words("Equilibrium"), _blocks(subject, words))


def _blocks(subject: Subject, words: Words) -> list[Block]:
    found = subject.equilibrium
    if isinstance(found, KinemorphError):
        told = words("No equilibrium can be searched for. The program says: ")
        return [Paragraph((told, Code(str(found))), "warning")]
    data = equilibrium_summary(found)
    near = words("The search began at the initial state of the model.")
    count = {"n": found.iterations, "force": found.worst}
    if not found:
        told = words(
            "No equilibrium was found in {n} iterations: forces of up to {force} N m or N are not balanced.", **count
        )
        return [Paragraph(f"{told} {near}", "warning")]
    told = words("An equilibrium was found after {n} iterations; forces of up to {force} N m or N are left.", **count)
    rows = [[row["name"], words.number(row["value"], 8), row["unit"]] for row in data["q"]]
    grid = Grid("Coordinates at the equilibrium", ("coordinate", "value", "unit"), rows[:MOST], ("value",), heads=1)
    blocks: list[Block] = [Paragraph(f"{told} {near} {words(STABLE[found.stable])}")]
    blocks += [
        Paragraph(text, "note")
        for text in (held_outputs(subject, words), _beyond_limits(subject.robot, found.q, words))
        if text
    ]
    if len(rows) > MOST:
        grid = grid._replace(note="The other coordinates are not listed.")
    from kinemorph.display.painting.draw import draw

    with in_language(words):
        picture = draw(subject.model, found.q, masses=False, title="", size=5.0)
    return [*blocks, Table(words.grid(grid, numbers=())), Figure(picture, words("The robot at its equilibrium."), 0.6)]


def held_outputs(subject: Subject, words: Words) -> str:
    """A sentence that names the sampled controllers, which do not act in an equilibrium; "" where there are none."""
    rows = [row for row in element_rows(subject.model) if row.get("drives")]
    names = [row["name"] for row in rows if any(clock["period"] for clock in row["clocks"])]
    if not names:
        return ""
    return words(
        "Sampled controllers take no part in it, because their outputs are held between samples: {names}.",
        names=words.listed(names),
    )


def _beyond_limits(robot: Robot, q: Array, words: Words) -> str:
    """A sentence that names the joints that are beyond their limits at the equilibrium; "" where there are none."""
    names = []
    for joint in robot.joints:
        at = q[robot.q_slice(joint.name)]
        if (at < np.array(joint.lower) - SLACK).any() or (at > np.array(joint.upper) + SLACK).any():
            names.append(joint.name)
    if not names:
        return ""
    return words("The search ignores limits of joints. Beyond theirs are: {names}.", names=words.listed(names))
