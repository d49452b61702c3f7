"""Vectors of all bodies as formulas, for the chapters of velocities and accelerations."""

from __future__ import annotations

from typing import NamedTuple

from kinemorph.deriving.position_programs import of_each_body
from kinemorph.display.equations.symbols import symbols_of
from kinemorph.display.faces.document import Block, Formula, Paragraph
from kinemorph.display.faces.languages.words import Words
from kinemorph.display.reports.printed_equations import (
    Quantity,
    TooLong,
    counted,
    entry_names,
    printed,
    symbols_paragraph,
)
from kinemorph.display.reports.subject import Subject

MOST_BODIES = 8  # bodies of which formulas are printed


class BodyVector(NamedTuple):
    """A vector of each body: its name, the output of `Dynamics.motion`, its symbol in LaTeX with {} for a number."""

    title: str
    output: str
    latex: str


def body_vectors(subject: Subject, words: Words, vectors: tuple[BodyVector, ...], told: str) -> tuple[Block, ...]:
    """The formulas of vectors of all bodies, after the paragraph `told`; nothing for a robot without bodies."""
    dynamics, bodies = subject.symbolic, subject.robot.body_names
    if not bodies:
        return ()
    names = symbols_of(dynamics)
    programs = of_each_body(dynamics.motion.program.traced)
    blocks: list[Block] = []
    long: list[TooLong] = []
    used = []
    for i, body in enumerate(bodies[:MOST_BODIES], 1):
        rows = []
        for vector in vectors:
            symbol = vector.latex.format(i)
            own = entry_names("out", f"{vector.output}{i}", symbol)
            title = words("body {n}, {body}", n=i, body=body)
            program = programs[vector.output][i - 1]
            what = f"{title}{words(': ')}{words(vector.title)}"
            found = printed(Quantity(what, "motion", program, {**names, **own}), words)
            if isinstance(found, TooLong):
                long.append(found)
            else:
                rows += found
                used.append(program)
        if rows:
            blocks.append(Formula(title, tuple(rows)))
    head: list[Block] = [Paragraph(told), *symbols_paragraph(dynamics, used, names, words)]
    rest = len(bodies) - MOST_BODIES
    more = words.counted(rest, "Those of {n} more body are not printed.", "Those of {n} more bodies are not printed.")
    tail = [Paragraph(more, "note")] if rest > 0 else []
    return (*head, *blocks, *counted(long, words), *tail)
