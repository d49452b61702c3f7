"""Equations of a report: those that are short are printed, and those that are long are counted.

The limits are counts of operations and not of seconds, so that the same model always gives the same report.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.reading.equation_rows import EquationRow, equation_rows
from kinemorph.codegen.reading.equations import equations
from kinemorph.codegen.reading.expression_tree import ZERO, Symbol
from kinemorph.codegen.reading.line_breaks import Line
from kinemorph.codegen.reading.names import port_name
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.display.canvas import raised
from kinemorph.display.equations.equations_of_motion import used_inputs
from kinemorph.display.equations.symbols import Names, is_plain
from kinemorph.display.faces.document import Block, Code, Grid, Math, Paragraph, Piece, Table
from kinemorph.display.faces.languages.words import Words
from kinemorph.display.reports.signing.verdicts import MODEL_FILE
from kinemorph.display.reports.writers.formulas import page
from kinemorph.vocabulary.typography.marks import Digits, Named

MOST_TRACED = 130  # operations of a program up to which it is simplified for printing
MOST_PRINTED = 150  # operations of printed equations of one quantity
MOST_TERMS = 60  # terms of a normal form; what has more is written with named parts
MOST_PARTS = 12  # named parts of one quantity
SHORT_PARTS = 5  # operations from which on parts of a matrix have names that would not fit in one piece without them
WIDEST = 44.0  # em; a formula that cannot be broken to this width is not printed


class Quantity(NamedTuple):
    """Something that a chapter prints: what it is called, the function of `Dynamics`, its program and its names.

    `names` are those of the inputs and of the output of the program.
    """

    title: str
    function: str
    program: Program
    names: Names


class TooLong(NamedTuple):
    """A quantity that is too long to print: what it is called, its function, its operations and its shared parts."""

    title: str
    function: str
    ops: int
    parts: int


def printed(
    quantity: Quantity, words: Words, *, traced: int = MOST_TRACED, ops: int = MOST_PRINTED
) -> list[EquationRow] | TooLong:
    """The rows of a quantity, or how long it is where that is too long.

    `traced` is the number of operations of its program up to which it is simplified, `ops` that of the printed result.
    """
    program = quantity.program.traced
    if program.ops <= traced:
        written = equations(program, quantity.names, limit=MOST_TERMS)
        if written.ops <= ops and len(written.definitions) <= MOST_PARTS:
            if set(written.trees) == {ZERO}:
                return [EquationRow(_whole(quantity), (Line(Digits("0"), 0),))]
            rows = equation_rows(written, quantity.names, page(words))
            if len(rows) > 1 and len(program.outputs[0].shape) == 2:
                short = equations(program, quantity.names, limit=MOST_TERMS, shared=SHORT_PARTS)
                rows = min(rows, equation_rows(short, quantity.names, page(words)), key=len)
            if all(row.width <= WIDEST for row in rows):
                return rows
    counted = equations(program, quantity.names, limit=1)
    return TooLong(quantity.title, quantity.function, counted.ops, len(counted.definitions))


def _whole(quantity: Quantity) -> Named:
    """The symbol of a quantity as a whole."""
    text, latex = port_name(quantity.program.outputs[0], quantity.names)
    return Named(latex, text)


def counted(long: Sequence[TooLong], words: Words, formulation: str = "newton_euler") -> list[Block]:
    """The table of quantities that are too long to print, and the command that writes them; nothing for none."""
    if not long:
        return []
    rows = [[one.title, words.integer(one.ops), words.integer(one.parts)] for one in long]
    columns = (words("quantity"), words("operations"), words("shared parts"))
    grid = Grid(words("Formulas that are too long to be printed"), columns, rows, right=columns[1:])
    told = words("Their formulas are written to a file by")
    functions = " ".join(f"--function {name}" for name in dict.fromkeys(one.function for one in long))
    by = "" if formulation == "newton_euler" else f"--formulation {formulation} "
    command = f"kinemorph derive {MODEL_FILE} {by}--emit latex {functions} --output formulas.tex"
    return [Table(grid), Paragraph((f"{told} ", Code(command), "."), "note")]


def symbols_paragraph(dynamics: Dynamics, programs: Sequence[Program], names: Names, words: Words) -> list[Block]:
    """A paragraph that says what the symbols in the formulas of these programs are; none where there are no symbols."""
    robot, used = dynamics.robot, {entry for program in programs for entry in used_inputs(program.traced)}
    pieces: list[Piece] = []

    def add(port: str, i: int, name: str, value: str) -> None:
        text, latex = names[port, i]
        meaning = "" if name == text else f" {name}"
        pieces.extend([words("; ") if pieces else "", Math(Symbol(text, latex)), f"{meaning} {value}"])

    rates = ("v", "a") if is_plain(robot) else ()
    for i, (name, unit) in enumerate(zip(robot.q_names, robot.q_units, strict=True)):
        if used & {(port, i) for port in ("q", *rates)}:
            add("q", i, name, f"[{unit or '-'}]")
    if not rates:
        for i, (name, unit) in enumerate(zip(robot.v_names, robot.v_units, strict=True)):
            if used & {("v", i), ("a", i)}:
                add("v", i, name, f"[{unit or '-'}]")
    for i, parameter in enumerate(dynamics.parameters):
        if ("p", i) in used:
            unit = f" {raised(parameter.unit)}" if parameter.unit else ""
            add("p", i, parameter.name, f"= {words.number(parameter.value, 6)}{unit}")
    return [Paragraph((f"{words('Symbols')}{words(': ')}", *pieces, "."), "note")] if pieces else []


def entry_names(port: str, plain: str, latex: str, entries: Sequence[str] = ("x", "y", "z")) -> Names:
    """The names of a vector and of its entries, of which `latex` is the symbol without the braces of an index."""
    base, _, index = latex.rstrip("}").partition("_{")
    joined = f"{index}," if index else ""
    names: Names = {(port, None): (plain, latex)}
    return names | {(port, k): (f"{plain}_{entry}", f"{base}_{{{joined}{entry}}}") for k, entry in enumerate(entries)}
