"""The first chapter: what the model is, in a few numbers, a drawing of it, and the tree of its bodies."""

from __future__ import annotations

from pathlib import PurePath

from kinemorph.analysis.loops.mobility import FREE
from kinemorph.display.canvas import in_language
from kinemorph.display.faces.blocks import written
from kinemorph.display.faces.document import Block, Figure, Paragraph, Section
from kinemorph.display.faces.languages.words import Words
from kinemorph.display.reports.subject import Subject
from kinemorph.display.tables.system_sheet import system_facts
from kinemorph.model.parameter import parameters_of
from kinemorph.model.sheets.robot_sheet import named_parts
from kinemorph.sheet import Facts, Field

LONGEST_ROW = 7  # joints from the world to a tip in a tree from left to right; longer ones grow downward
MOST_DRAWN = 40  # bodies of a tree that is drawn; the boxes of more would be too small to read


def chapter(subject: Subject, words: Words) -> Section | None:
    """The name, sizes, mass and gravity of the model, its drawing with joint axes, and the tree of its bodies."""
    named = named_parts(subject.robot, parameters_of(subject.model.elements))
    blocks: list[Block] = [Paragraph(_sentence(subject, words)), *written(model_facts(subject), words)]
    blocks += [*_pictures(subject, words), *(block for part in named for block in written(part, words))]
    return Section("description", words("Description"), blocks)


def _sentence(subject: Subject, words: Words) -> str:
    robot, free = subject.robot, subject.degrees_of_freedom
    count = robot.nv if robot.loops or free is None else free
    known = {
        "name": words.quoted(subject.model.name),
        "bodies": words.counted(len(robot.bodies), "{n} body", "{n} bodies"),
        "dof": words.counted(count, "{n} degree of freedom", "{n} degrees of freedom"),
    }
    told = words("The model {name} has {bodies} and {dof}.", **known)
    if robot.loops:
        told = words(
            "The model {name} has {bodies} in closed chains. Its equations are those of a tree with {dof}, in which "
            "the loops are cut; constraints close them again.",
            **known,
        )
    return told


def model_facts(subject: Subject) -> Facts:
    """The name, sizes, mass and gravity of a model."""
    model, loose = subject.model, not (subject.robot.loops or subject.robot.couplings)
    return Facts(
        [
            (Field("", "name", form="name"), model.name),
            (Field("", "model file", form="name"), PurePath(model.source).name or None),
            *system_facts(model),
            (FREE._replace(key=""), None if loose else subject.degrees_of_freedom),
            (Field("", "runs"), len(subject.runs) or None),
        ]
    )


def _pictures(subject: Subject, words: Words) -> list[Block]:
    """The robot with its joint axes, and the tree of its bodies."""
    from kinemorph.display.charts.figures import draw_topology, tree_layout
    from kinemorph.display.painting.draw import draw

    robot = subject.robot
    if not robot.bodies:
        return []
    with in_language(words):
        drawing = draw(subject.model, joints=True, masses=False, title="", size=5.5)
        upright = max(depth for depth, _ in tree_layout(robot).values()) > LONGEST_ROW
        tree = draw_topology(robot, upright=upright, title="") if len(robot.bodies) <= MOST_DRAWN else None
    start = words("The robot where its runs begin; axes of joints are dash-dotted lines.")
    blocks: list[Block] = [Figure(drawing, start, 0.75)]
    if tree is not None:
        width = min(1.0, tree.get_figwidth() / 9.0)
        blocks.append(Figure(tree, words("Bodies and joints: every joint connects a body with its parent."), width))
    return blocks
