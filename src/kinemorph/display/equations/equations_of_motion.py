"""Equations of motion in readable form: a program of `derive` with the robot's own symbols.

They are written as text, LaTeX, typst or MathML. The symbols are those of `symbols`: coordinates q_i or names of your
own, parameters with their own symbols; gravity is the symbol g unless numbers are requested. The equations are
simplified in `codegen.reading`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from kinemorph.codegen.backends.text.latex import as_latex
from kinemorph.codegen.backends.text.mathml import as_mathml
from kinemorph.codegen.backends.text.plain import as_text
from kinemorph.codegen.backends.text.typst import as_typst
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.reading.equation_rows import EquationRow, Page, equation_rows
from kinemorph.codegen.reading.equations import Equations
from kinemorph.codegen.reading.equations import equations as readable_equations
from kinemorph.codegen.reading.names import entry_name
from kinemorph.deriving.dynamics import Dynamics, derive
from kinemorph.deriving.held_constraints import held_elements
from kinemorph.display.equations.symbols import CoordinateNames, Names, is_plain, output_names, symbols_of
from kinemorph.errors import UnsupportedError
from kinemorph.mechanics.formulations.table import FormulationName
from kinemorph.model.parameter import Parameter, Value, parameters_of
from kinemorph.model.robot import Robot
from kinemorph.model.system import System, as_robot
from kinemorph.vocabulary.typography.marks import Named
from kinemorph.words import did_you_mean

ParameterChoice = Literal["all"] | Sequence[str] | None

FORMS = {"forces": ("inverse_dynamics",), "matrices": ("mass_matrix", "bias_forces")}  # the functions of each form
GRAVITIES = ("symbol", "number")

MOST_TRACED = 2000  # operations of programs up to which a notebook writes their equations
MOST_SHOWN = 2000  # operations of equations up to which a notebook shows them


@dataclass(frozen=True, eq=False, repr=False)
class WrittenEquations:
    """The equations of a robot in readable form, and the `legend` of its symbols.

    `text` has Python syntax; `latex`, `typst` and `mathml` are for documents and pages.
    """

    robot: Robot
    programs: tuple[Program, ...]
    names: Names
    parameters: tuple[Parameter, ...]

    @cached_property
    def written(self) -> tuple[Equations, ...]:
        """The simplified expressions, one set per program."""
        return tuple(readable_equations(program, self._names(program)) for program in self.programs)

    @property
    def ops(self) -> int:
        """The number of operations in the equations as written."""
        return sum(equations.ops for equations in self.written)

    @cached_property
    def text(self) -> str:
        """One line `name = expression` in Python syntax for every entry of the outputs."""
        return "".join(as_text(written, self._names(written.program)) for written in self.written)

    @cached_property
    def latex(self) -> str:
        """One LaTeX `aligned` block per function, for display math."""
        return "".join(as_latex(written, self._names(written.program)) for written in self.written)

    @cached_property
    def typst(self) -> str:
        """One block equation of typst per function, between dollar signs, with long sums on several lines."""
        return "".join(as_typst(written, self._names(written.program)) for written in self.written)

    @cached_property
    def mathml(self) -> str:
        """One `math` element of MathML per function, for HTML pages, with long sums on several lines."""
        return "".join(as_mathml(written, self._names(written.program)) for written in self.written)

    @property
    def legend(self) -> tuple[str, ...]:
        """One line for each symbol that occurs: coordinates with their units, parameters with their values."""
        robot, used = self.robot, {entry for program in self.programs for entry in used_inputs(program)}
        rows = [("q", i, name, unit) for i, (name, unit) in enumerate(zip(robot.q_names, robot.q_units, strict=True))]
        rates = "v" if is_plain(robot) else ""  # where v is the rate of q, the line of q is enough for both
        if not rates:
            rows += [
                ("v", i, name, unit) for i, (name, unit) in enumerate(zip(robot.v_names, robot.v_units, strict=True))
            ]
        lines = []
        for port, i, name, unit in rows:
            if used & {(port, i), (rates, i), ("a", i) if rates or port == "v" else (port, i)}:
                symbol = self.names[port, i][0]
                lines.append(f"{symbol}{'' if name == symbol else f' = {name}'} [{unit or '-'}]")
        for i, parameter in enumerate(self.parameters):
            if ("p", i) in used:
                symbol = self.names["p", i][0]
                name = parameter.name if symbol == parameter.name else f"{symbol} = {parameter.name}"
                lines.append(f"{name} = {parameter.value:g} {parameter.unit}".rstrip())
        return tuple(lines)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        count = sum(port.size for program in self.programs for port in program.outputs)
        return (
            f"<WrittenEquations of '{self.robot.name}': {count} expressions; .text, .latex, .typst, .mathml, .legend>"
        )

    def _repr_latex_(self) -> str | None:
        """The equations as LaTeX display math for notebooks; None where they are too long to be written quickly."""
        if sum(program.ops for program in self.programs) > MOST_TRACED or self.ops > MOST_SHOWN:
            return None
        return f"$$\n{self.latex}$$"

    def entry_names(self, program: Program) -> list[Named]:
        """The printed names of a program's outputs, entry by entry."""
        names = self._names(program)
        entries = [entry_name(port, index, names) for port in program.outputs for index in range(port.size)]
        return [Named(latex, text) for text, latex in entries]

    def rows(self, page: Page = Page()) -> list[EquationRow]:  # noqa: B008
        """The equations as rows of a page: names, and formulas with long sums on several lines."""
        return [row for written in self.written for row in equation_rows(written, self._names(written.program), page)]

    def _names(self, program: Program) -> Names:
        return {**self.names, **output_names(self.robot, program, self.names)}


def equations_of_motion(
    robot: Robot | System,
    form: Literal["forces", "matrices"] = "forces",
    *,
    formulation: FormulationName = "newton_euler",
    parameters: ParameterChoice = "all",
    gravity: Literal["symbol", "number"] = "symbol",
    names: CoordinateNames = "numbers",
) -> WrittenEquations:
    r"""The equations of motion of a small robot in readable form, as text, LaTeX, typst and MathML.

    `form`         "forces": tau as a function of q, v, a;  "matrices": M(q) and h(q, v) of  M a + h = tau
    `parameters`   the parameters that stay symbols: "all", a list of names, or None (numbers everywhere)
    `gravity`      "symbol" writes g where gravity is a number along one axis; "number" writes numbers in any case
    `names`        of coordinates: "numbers" (q1, q2, ...), "joints" (as in `robot.q_names`), {"hinge": "theta"}, or a
                   list with one name for each; names that begin with a backslash, as r"\theta_1", are LaTeX

    Parameters keep their names. Where one is called like another symbol, such as a mass M beside the mass matrix, the
    other symbol is changed.
    """
    _check_word("form", form, FORMS)
    dynamics = symbolic_dynamics(robot, formulation, parameters, gravity)
    return write_equations(dynamics, [getattr(dynamics, name).program for name in FORMS[form]], names)


def symbolic_dynamics(
    robot: Robot | System,
    formulation: FormulationName = "newton_euler",
    parameters: ParameterChoice = "all",
    gravity: Literal["symbol", "number"] = "symbol",
) -> Dynamics:
    """The dynamics of a robot for printing, with parameters, and g if it shall be a symbol, as inputs.

    The arguments are those of `equations_of_motion`.
    """
    _check_word("gravity", gravity, GRAVITIES)
    robot, held = as_robot(robot), held_elements(robot)
    if gravity == "symbol" and parameters is not None:
        robot = _with_gravity_symbol(robot)
    elif parameters == "all":
        own = parameters_of(robot.gravity)
        parameters = [parameter.name for parameter in robot.parameters if parameter not in own]
    return derive(robot, formulation, parameters=parameters, backend="interpreter", constraints=held)


def write_equations(
    dynamics: Dynamics, programs: Sequence[Program], names: CoordinateNames = "numbers"
) -> WrittenEquations:
    """The equations of any programs of a Dynamics; `names` are those of its coordinates, see `equations_of_motion`."""
    return WrittenEquations(dynamics.robot, tuple(programs), symbols_of(dynamics, names), dynamics.parameters)


def used_inputs(program: Program) -> set[tuple[str, int]]:
    """The input entries on which a program depends, as (port name, index)."""
    places = [(port.name, i) for port in program.inputs for i in range(port.size)]
    nodes = program.graph.nodes
    return {places[int(nodes[i][1])] for i in program.order if nodes[i][0] == "input"}


def _check_word(argument: str, word: object, known: Collection[str]) -> None:
    if not isinstance(word, str) or word not in known:
        raise UnsupportedError(
            f"equations of motion: {argument} is {word!r}, expected {' or '.join(map(repr, known))}."
            f"{did_you_mean(word, known)}"
        )


def _with_gravity_symbol(robot: Robot) -> Robot:
    """The robot with a parameter g as the magnitude of its gravity.

    It is unchanged where gravity is zero, symbolic or not along an axis, or where the name g is taken.
    """
    acting = [i for i, value in enumerate(robot.gravity) if value != 0.0]
    taken = {parameter.name for parameter in robot.parameters}
    value = robot.gravity[acting[0]] if acting else 0.0
    if len(acting) != 1 or "g" in taken or not isinstance(value, float):
        return robot
    g = Parameter("g", abs(value), "m/s^2", "g")
    signed: Value = g if value > 0.0 else -g
    x, y, z = (signed if i == acting[0] else 0.0 for i in range(3))
    return replace(robot, gravity=(x, y, z), parameters=(*robot.parameters, g))
