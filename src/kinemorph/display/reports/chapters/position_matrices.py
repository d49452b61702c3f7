"""The position matrices of the bodies as formulas of the coordinates."""

from __future__ import annotations

from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.reading.equation_rows import EquationRow
from kinemorph.codegen.reading.line_breaks import Line
from kinemorph.deriving.position_programs import of_each_body, parent_names, relative_poses
from kinemorph.display.equations.symbols import Names, pose_names, symbols_of
from kinemorph.display.faces.document import Block, Formula, Grid, Paragraph, Section, Table
from kinemorph.display.faces.languages.words import Words
from kinemorph.display.reports.printed_equations import (
    Quantity,
    TooLong,
    counted,
    printed,
    symbols_paragraph,
)
from kinemorph.display.reports.subject import Subject
from kinemorph.vocabulary.typography.marks import Mark, Named, Times, row

MOST_BODIES = 8  # bodies of which matrices are printed
SHORT = 45  # operations of the program of a matrix in the world that is printed; a longer one is a product


def chapter(subject: Subject, words: Words) -> Section | None:
    """The pose of each body in the world, or as a product with the pose of the body that carries it."""
    robot, dynamics = subject.robot, subject.symbolic
    bodies = robot.body_names
    if not bodies:
        return None
    names = symbols_of(dynamics)
    world = of_each_body(dynamics.forward_kinematics.program.traced)["out"]
    local = of_each_body(relative_poses(dynamics.robot, dynamics.parameters))["out"]
    number = {body: i + 1 for i, body in enumerate(bodies)} | {"world": 0}
    parents = [number[parent] for parent in parent_names(robot)]
    blocks: list[Block] = []
    long: list[TooLong] = []
    used = []
    for i, body in enumerate(bodies[:MOST_BODIES], 1):
        title = words("body {n}, {body}", n=i, body=body)
        program, found = world[i - 1], printed(_pose(title, world[i - 1], names, 0, i), words, traced=SHORT)
        if isinstance(found, TooLong) or len(found) > 1:  # longer than a matrix that fits the page
            parent = parents[i - 1]
            program, found = local[i - 1], printed(_pose(title, local[i - 1], names, parent, i), words)
            if not isinstance(found, TooLong) and parent:
                product = row(_symbol(0, parent), Times(thin=True), _symbol(parent, i))
                found = [EquationRow(_symbol(0, i), (Line(product, 0),)), *found]
        if isinstance(found, TooLong):
            long.append(found)
        else:
            used.append(program)
            blocks.append(Formula(title, tuple(found)))
    told = words(
        "The matrix T with the indices a and b is the pose of body b in body a: its rotation, and the origin of b [m]. "
        "Body 0 is the world. Where the matrix in the world would be long, it is written as a product."
    )
    rest = len(bodies) - MOST_BODIES
    if rest > 0:
        more = words.counted(rest, "The matrix of {n} more body is not printed.", "Those of {n} more are not printed.")
        blocks.append(Paragraph(more, "note"))
    numbers = Grid(
        words("Numbers of the bodies"),
        (words("number"), words("body"), words("carried by")),
        [
            [f"{number[body]}", body, bodies[p - 1] if p else words("world")]
            for body, p in zip(bodies, parents, strict=True)
        ],
    )
    head: list[Block] = [Paragraph(told), Table(numbers), *symbols_paragraph(dynamics, used, names, words)]
    return Section("position_matrices", words("Position matrices"), (*head, *blocks, *counted(long, words)))


def _pose(title: str, program: Program, names: Names, parent: int, body: int) -> Quantity:
    """The pose of a body in its parent or in the world, of which the number is 0."""
    return Quantity(title, "forward_kinematics", program, {**names, **pose_names(parent, body)})


def _symbol(parent: int, body: int) -> Mark:
    return Named(f"T_{{{parent},{body}}}", f"T{parent}_{body}")
