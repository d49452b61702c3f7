"""The equations of motion: the mass matrix, the other forces, and the constraints of closed chains."""

from __future__ import annotations

from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.reading.equation_rows import EquationRow
from kinemorph.codegen.reading.line_breaks import Line
from kinemorph.display.equations.symbols import output_names, rates, symbols_of
from kinemorph.display.faces.document import Block, Formula, Paragraph, Section
from kinemorph.display.faces.languages.words import Words
from kinemorph.display.reports.printed_equations import Quantity, TooLong, counted, printed, symbols_paragraph
from kinemorph.display.reports.subject import Subject
from kinemorph.vocabulary.typography.symbol_reader import read_symbol

MOST_TRACED = 260  # operations of a program up to which it is simplified for printing
MOST_PRINTED = 320  # operations of the printed equations of one quantity

# how the equations are derived, by the name of the formulation
DERIVED = {
    "newton_euler": "The equations of motion are derived by the recursion of Newton and Euler.",
    "closed_form": "The equations of motion are derived in closed form, from products of exponentials.",
    "incidence": "The equations of motion are derived from the incidence matrix of the kinematic graph.",
    "dalembert": "The equations of motion are derived by the principle of d'Alembert.",
    "quasicoordinates": "The equations of motion are derived by Lagrange's equations in quasicoordinates.",
    "lagrange": "The equations of motion are derived by Lagrange's equations.",
}

# the function, and what it is called in the equations
OPEN = (("mass_matrix", "mass matrix"), ("bias_forces", "other generalized forces of the motion and of gravity"))
CLOSED = (("constraint_jacobian", "Jacobian of the constraints"), ("constraint_bias", "bias of the constraints"))


def chapter(subject: Subject, words: Words) -> Section | None:
    """M a + h = tau, with the constraints of closed chains, and each of its parts as a formula."""
    robot, dynamics = subject.robot, subject.formulated
    if not robot.nv:
        return None
    names = symbols_of(dynamics)
    functions = OPEN if robot.is_open else (*OPEN, *CLOSED)
    blocks: list[Block] = []
    long, programs = [], []
    for function, title in functions:
        program = getattr(dynamics, function).program.traced
        if not isinstance(program, Program):
            continue
        own = output_names(dynamics.robot, program, names)
        quantity = Quantity(words(title), function, program, {**names, **own})
        found = printed(quantity, words, traced=MOST_TRACED, ops=MOST_PRINTED)
        if isinstance(found, TooLong):
            long.append(found)
        else:
            blocks.append(Formula(quantity.title, tuple(found)))
            programs.append(program)
    told = words(DERIVED[subject.settings.formulation])
    if robot.loops:
        told += " " + words(
            "Closed chains are cut at a joint each: M and h are those of the open tree, and the multipliers λ are the "
            "forces that keep the cuts closed."
        )
    elif not robot.is_open:
        told += " " + words(
            "Couplings of joints are constraints: M and h are those of the robot without them, and the multipliers λ "
            "are their forces."
        )
    if subject.model.elements:
        told += " " + words("The generalized forces τ are those of the elements, and of the inputs.")
    head: list[Block] = [Paragraph(told), Formula("", tuple(_statement(subject)))]
    head += symbols_paragraph(dynamics, programs, names, words)
    return Section(
        "equations", words("Equations of motion"), (*head, *blocks, *counted(long, words, dynamics.formulation))
    )


def _statement(subject: Subject) -> list[EquationRow]:
    """The equations between the matrices."""
    rate = rates(subject.robot)[1]
    if subject.robot.is_open:
        pairs = [(rf"M\, {rate} + h", r"\tau")]
    else:
        pairs = [(rf"M\, {rate} + h", r"\tau + J^{T} \lambda"), (rf"J\, {rate}", r"\gamma")]
    return [EquationRow(read_symbol(left), (Line(read_symbol(right), 0),)) for left, right in pairs]
