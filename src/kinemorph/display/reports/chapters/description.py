"""The first chapter: what the model is, in a few numbers, a drawing of it, and the tree of its bodies."""

from __future__ import annotations

from pathlib import PurePath

from kinemorph.display.canvas import in_language, raised
from kinemorph.display.faces.document import Block, Facts, Figure, Grid, Paragraph, Section, Table
from kinemorph.display.faces.languages.words import Words
from kinemorph.display.reports.subject import Subject
from kinemorph.model.parameter import evaluate, parameters_of

MOST_FRAMES = 24  # frames that are listed
LONGEST_ROW = 7  # joints from the world to a tip in a tree from left to right; longer ones grow downward
MOST_DRAWN = 40  # bodies of a tree that is drawn; the boxes of more would be too small to read


def chapter(subject: Subject, words: Words) -> Section | None:
    """The name, sizes, mass and gravity of the model, its drawing with joint axes, and the tree of its bodies."""
    blocks: list[Block] = [Paragraph(_sentence(subject, words)), model_facts(subject, words)]
    return Section("description", words("Description"), (*blocks, *_pictures(subject, words), *_lists(subject, words)))


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


def model_facts(subject: Subject, words: Words) -> Facts:
    """The name, sizes, mass and gravity of a model as (name, value) pairs."""
    model, robot = subject.model, subject.robot
    gravity = words.numbers([float(evaluate(value)) for value in robot.gravity])
    rows: list[tuple[str, object]] = [(words("name"), model.name)]
    if model.source:
        rows.append((words("model file"), PurePath(model.source).name))
    free = subject.degrees_of_freedom
    if free is not None:
        rows.append((words("degrees of freedom"), words.integer(free)))
    sizes = {
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


def _lists(subject: Subject, words: Words) -> list[Block]:
    """The tables of frames, parameters and dependents, where there are any."""
    from kinemorph.model.expressions import written

    robot, blocks = subject.robot, []
    if 0 < len(robot.frames) <= MOST_FRAMES:
        rows = [[frame.name, frame.body] for frame in robot.frames]
        blocks.append(Grid("Frames", ("frame", "on body"), rows))
    parameters = dict.fromkeys((*robot.parameters, *parameters_of(subject.model.elements)))
    if parameters:
        rows = [[p.name, f"{p.value:g}", raised(p.unit)] for p in parameters]
        blocks.append(Grid("Parameters", ("parameter", "value", "unit"), rows, ("value",)))
    if robot.dependents:
        rows = [[one.name, written(one.formula), raised(one.unit)] for one in robot.dependents]
        blocks.append(Grid("Quantities that follow from others", ("name", "formula", "unit"), rows))
    return [Table(words.grid(grid), code=(words("formula"),)) for grid in blocks]
