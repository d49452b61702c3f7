r"""Equations of motion to read: a program of `derive` with the robot's own symbols, as text, LaTeX or a picture.

Coordinates are q_i, velocities \dot q_i and accelerations \ddot q_i, counted from 1 in the order of `robot.v_names`;
where v is not the rate of q (quaternions, planar joints) they are v_i and \dot v_i. Parameters carry their own symbols;
gravity is the symbol g unless a number is asked for. The algebra of writing them short is codegen's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from kinemorph.codegen.backends.latex import latex, to_latex
from kinemorph.codegen.backends.text import to_text
from kinemorph.codegen.equations import Equations
from kinemorph.codegen.equations import equations as readable_equations
from kinemorph.codegen.names import entry_name, latex_name
from kinemorph.codegen.program import Program
from kinemorph.codegen.tree import Sum, Tree, is_negative, scaled
from kinemorph.deriving import Dynamics, FormulationName, derive
from kinemorph.display.canvas import INK, PALE, blank
from kinemorph.model.parameter import Parameter, Value
from kinemorph.model.robot import Robot
from kinemorph.model.system import System, as_robot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Names = dict[tuple[str, int | None], tuple[str, str]]
ParameterChoice = Literal["all"] | Sequence[str] | None

# what the single output of a function is called; others keep the name of their port
OUTPUT_NAMES: dict[str, tuple[str, str]] = {
    "mass_matrix": ("M", "M"),
    "inverse_dynamics": ("tau", r"\tau"),
    "bias_forces": ("h", "h"),
    "coriolis_matrix": ("C", "C"),
    "gravity_forces": ("G", "G"),
    "pose": ("T", "T"),
    "forward_kinematics": ("T", "T"),
    "jacobian": ("J", "J"),
    "jacobian_rate": ("Jdot", r"\dot{J}"),
    "center_of_mass": ("c", "c"),
    "centroidal_matrix": ("A", "A"),
    "momentum": ("h", "h"),
    "configuration_rate": ("qdot", r"\dot{q}"),
}


@dataclass(frozen=True, eq=False)
class WrittenEquations:
    """Equations of one robot to read: `text` (Python syntax), `latex`, `legend`; `draw_equations` makes a picture."""

    robot: Robot
    programs: tuple[Program, ...]
    names: Names
    parameters: tuple[Parameter, ...]

    @cached_property
    def written(self) -> tuple[Equations, ...]:
        """The expression trees, one set per program."""
        return tuple(readable_equations(program, self._names(program)) for program in self.programs)

    @property
    def ops(self) -> int:
        """Operations as written."""
        return sum(equations.ops for equations in self.written)

    @cached_property
    def text(self) -> str:
        """One line `name = expression` for every entry."""
        return "".join(to_text(program, self._names(program)) for program in self.programs)

    @cached_property
    def latex(self) -> str:
        """An `aligned` block per function, to be set in display math."""
        return "".join(to_latex(program, self._names(program)) for program in self.programs)

    @property
    def legend(self) -> tuple[str, ...]:
        """What the symbols stand for, one line each: coordinates with their unit, parameters with their value."""
        robot = self.robot
        coordinates = enumerate(zip(robot.q_names, robot.q_units, strict=True), 1)
        named = [(f"q{i}", name, unit or "-") for i, (name, unit) in coordinates]
        lines = [f"{q} [{unit}]" if q == name else f"{q} = {name} [{unit}]" for q, name, unit in named]
        return (*lines, *(f"{p.name} = {p.value:g} {p.unit}".rstrip() for p in self.parameters))

    def __str__(self) -> str:
        return self.text

    def _repr_latex_(self) -> str:
        return f"$$\n{self.latex}$$" if self.ops < 2000 else ""

    def _names(self, program: Program) -> Names:
        return {**self.names, **_output_names(self.robot, program)}


def equations_of_motion(
    robot: Robot | System,
    form: Literal["forces", "matrices"] = "forces",
    *,
    formulation: FormulationName = "newton_euler",
    parameters: ParameterChoice = "all",
    gravity: Literal["symbol", "number"] = "symbol",
) -> WrittenEquations:
    """The equations of motion of a small robot, to read.

    `form`         "forces": tau as a function of q, v, a;  "matrices": M(q) and h(q, v) of  M a + h = tau
    `parameters`   which ones stay symbols: "all", names, or None (numbers everywhere)
    `gravity`      "symbol" writes g where gravity points along one axis
    """
    functions = ("inverse_dynamics",) if form == "forces" else ("mass_matrix", "bias_forces")
    dynamics = symbolic_dynamics(robot, formulation, parameters, gravity)
    return write_equations(dynamics, [getattr(dynamics, name).program for name in functions])


def symbolic_dynamics(
    robot: Robot | System,
    formulation: FormulationName = "newton_euler",
    parameters: ParameterChoice = "all",
    gravity: Literal["symbol", "number"] = "symbol",
) -> Dynamics:
    """Dynamics to print, not to run: parameters as inputs, with g among them if it is wanted as a symbol."""
    robot = as_robot(robot)
    if gravity == "symbol" and parameters is not None:
        robot = _with_gravity_symbol(robot)
    return derive(robot, formulation, parameters=parameters, backend="interpreter")


def write_equations(dynamics: Dynamics, programs: Sequence[Program]) -> WrittenEquations:
    """Any functions of a robot with its own symbols."""
    return WrittenEquations(dynamics.robot, tuple(programs), symbols_of(dynamics), dynamics.parameters)


def symbols_of(dynamics: Dynamics) -> Names:
    """Plain and LaTeX names for the entries of q, v, a, tau and p."""
    robot = dynamics.robot
    names: Names = {("p", i): (p.name, p.symbol or latex_name(p.name)) for i, p in enumerate(dynamics.parameters)}
    names |= {("q", i): (f"q{i + 1}", f"q_{{{i + 1}}}") for i in range(robot.nq)}
    rate, acceleration = _rates(robot)
    for i in range(robot.nv):
        names["v", i] = (f"v{i + 1}", f"{rate}_{{{i + 1}}}")
        names["a", i] = (f"a{i + 1}", f"{acceleration}_{{{i + 1}}}")
        names["tau", i] = (f"tau{i + 1}", rf"\tau_{{{i + 1}}}")
    return names


def _rates(robot: Robot) -> tuple[str, str]:
    plain = all(joint.kind not in ("spherical", "planar", "free") for joint in robot.joints)
    return (r"\dot{q}", r"\ddot{q}") if plain else ("v", r"\dot{v}")


def _output_names(robot: Robot, program: Program) -> Names:
    function = program.name.rpartition(f"{robot.name}.")[2].partition("[")[0]
    if len(program.outputs) != 1:
        return {}
    if function == "forward_dynamics":
        return {("out", None): ("a", _rates(robot)[1])}
    return {("out", None): OUTPUT_NAMES[function]} if function in OUTPUT_NAMES else {}


def _with_gravity_symbol(robot: Robot) -> Robot:
    """The robot with the parameter g as the size of its gravity; unchanged where that is oblique, zero or symbolic."""
    acting = [i for i, value in enumerate(robot.gravity) if value != 0.0]
    taken = {parameter.name for parameter in robot.parameters}
    value = robot.gravity[acting[0]] if acting else 0.0
    if len(acting) != 1 or "g" in taken or not isinstance(value, float):
        return robot
    g = Parameter("g", abs(value), "m/s^2", "g")
    signed: Value = g if value > 0.0 else -g
    x, y, z = (signed if i == acting[0] else 0.0 for i in range(3))
    return replace(robot, gravity=(x, y, z), parameters=(*robot.parameters, g))


# ── as a picture ──────────────────────────────────────────────────────────────────────────────────────────────────────

POINTS = 15.0  # font size
LEADING = 2.35  # line height over font size


def draw_equations(equations: WrittenEquations, *, title: str | None = None, width: float = 11.0) -> Figure:
    """The equations as a picture of a width in inches, long sums in several lines, with a legend below."""
    room = 72.0 * (width - 0.9)
    lines: list[str] = []
    for program, written in zip(equations.programs, equations.written, strict=True):
        rows = [(symbol.latex, tree) for symbol, tree in written.definitions]
        rows += list(zip(_entry_names(program, equations._names(program)), written.trees, strict=True))
        for name, tree in rows:
            lines += _broken(name, tree, room)
    legend = _filled([line.replace("^2", "²") for line in equations.legend], round(13 * width))
    step = POINTS * LEADING / 72.0
    height = 0.8 + step * len(lines) + 0.22 * len(legend) + 0.25
    figure = blank(width, height)
    heading = f"equations of motion of {equations.robot.name.replace('_', ' ')}" if title is None else title
    figure.text(0.5, 1.0 - 0.2 / height, heading, ha="center", va="top", fontsize=14, color=INK)
    for i, line in enumerate(lines):
        y = 1.0 - (0.8 + step * (i + 0.5)) / height
        figure.text(0.45 / width, y, f"${line}$", fontsize=POINTS, va="center", color=INK, math_fontfamily="cm")
    for i, line in enumerate(legend):
        figure.text(0.45 / width, (0.15 + 0.22 * (len(legend) - 1 - i)) / height, line, fontsize=9, color=PALE)
    return figure


def _entry_names(program: Program, names: Names) -> list[str]:
    return [entry_name(port, index, names)[1] for port in program.outputs for index in range(port.size)]


def _broken(name: str, tree: Tree, room: float) -> list[str]:
    """`name = sum` in as many lines as the room [points] asks for; a line that goes on is indented."""
    lines, line = [], f"{name} ="
    for piece in _pieces(tree):
        longer = f"{line} {piece}"
        if _width(longer) > room and not line.endswith("="):
            lines.append(line)
            longer = rf"\qquad {piece}"
        line = longer
    return [*lines, line]


def _pieces(tree: Tree) -> list[str]:
    """The terms of a sum, each with its sign; mathtext sets no space before a function, so it is put in."""
    terms = tree.terms if isinstance(tree, Sum) else (tree,)
    signed = [latex(terms[0])]
    signed += [f"- {latex(scaled(-1.0, term))}" if is_negative(term) else f"+ {latex(term)}" for term in terms[1:]]
    return [re.sub(r"(?<=[\w}] )\\(?=sin|cos|tan|ln|arc)", r"\\,\\", piece) for piece in signed]


def _width(line: str) -> float:
    """The width of a line of formula [points]."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    properties = FontProperties(size=POINTS, math_fontfamily="cm")
    return float(text_to_path.get_text_width_height_descent(f"${line}$", properties, ismath=True)[0])


def _filled(items: Sequence[str], columns: int) -> list[str]:
    """Items side by side in lines of at most so many characters."""
    lines = [""]
    for item in items:
        joined = f"{lines[-1]}     {item}".strip()
        lines = [*lines[:-1], joined] if len(joined) <= columns or not lines[-1] else [*lines, item]
    return lines
