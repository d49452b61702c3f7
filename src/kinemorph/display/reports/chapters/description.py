"""The first chapter: what the model is, in a few figures."""

from __future__ import annotations

from pathlib import PurePath

from kinemorph.display.reports.document import Facts, Section
from kinemorph.display.reports.languages.words import Words
from kinemorph.display.reports.subject import Subject
from kinemorph.model.parameter import evaluate


def chapter(subject: Subject, words: Words) -> Section | None:
    """The name, sizes, mass and gravity of the model."""
    return Section("description", words("Description"), (model_facts(subject, words),))


def model_facts(subject: Subject, words: Words) -> Facts:
    """The name, sizes, mass and gravity of a model as (name, value) pairs."""
    model, robot = subject.model, subject.robot
    gravity = words.numbers([float(evaluate(value)) for value in robot.gravity])
    rows: list[tuple[str, object]] = [(words("name"), model.name)]
    if model.source:
        rows.append((words("model file"), PurePath(model.source).name))
    sizes = {
        words("degrees of freedom"): robot.nv,
        words("bodies"): len(robot.bodies),
        words("joints"): len(robot.joints),
        words("loops"): len(robot.loops),
        words("elements"): len(model.elements),
        words("modules"): len(model.assembly.modules) if model.assembly else 0,
        words("runs"): len(subject.runs),
    }
    rows += [(what, words.integer(count)) for what, count in sizes.items() if count]
    rows += [(words("total mass"), f"{words.number(robot.total_mass)} kg"), (words("gravity"), f"({gravity}) m/s²")]
    return Facts(rows)
