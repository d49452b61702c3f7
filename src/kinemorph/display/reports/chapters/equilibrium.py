"""The equilibrium of the model near its initial state, and whether it is stable."""

from __future__ import annotations

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.display.faces.blocks import blocks
from kinemorph.display.faces.document import Block, Code, Paragraph, Section
from kinemorph.display.faces.languages.words import Words
from kinemorph.display.reports.subject import Subject
from kinemorph.display.tables.element_tables import element_rows
from kinemorph.errors import KinemorphError
from kinemorph.model.robot import Robot

SLACK = 1e-6  # [rad or m], by which a coordinate may be beyond its limit


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
    notes = [words("The search began at the initial state of the model.")]
    if found:
        notes += [held_outputs(subject, words), _beyond_limits(subject.robot, found.q, words)]
    return [*blocks(found.sheet(), words), *(Paragraph(told, "note") for told in notes if told)]


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
