"""The equations of a model as data for a page: MathML as lists, the meaning of every symbol, and texts to copy.

Quantities are those of QUANTITIES that a model has. Every equation is a list of lines, which the page shows in parts:
`folded` keeps the first lines of the first equations and counts the rest, and `unfolded` returns more of them. All
lines of all equations together are the MathML that `write_equations` writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from kinemorph.codegen.backends.text.latex import as_latex
from kinemorph.codegen.backends.text.mathml import row_elements
from kinemorph.codegen.backends.text.mathml_elements import listed
from kinemorph.codegen.backends.text.plain import as_text
from kinemorph.codegen.backends.text.typst import as_typst
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.reading.equation_rows import EquationRow, Page, equation_rows
from kinemorph.codegen.reading.equations import equations
from kinemorph.codegen.reading.line_breaks import pieces
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.deriving.position_programs import of_each_body, parent_names, relative_poses
from kinemorph.display.equations.equations_of_motion import symbolic_dynamics, used_inputs
from kinemorph.display.equations.graph_equations import graph_equations
from kinemorph.display.equations.symbols import CoordinateNames, Names, output_names, pose_names, symbols_of
from kinemorph.errors import UnsupportedError
from kinemorph.model.modules.assembly import Assembly
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.vocabulary.typography.marks import Matrix, Named
from kinemorph.words import did_you_mean
from kinemorph.words import listed as listing

Data = dict[str, Any]
Report = Callable[[str], None]

MOST_TRACED = 20_000  # operations of a program up to which its equations are simplified and shown
FIRST_LINES, MORE_LINES = 4, 40  # lines of an equation that are shown at first, and by one click
FIRST_EQUATIONS, MORE_EQUATIONS = 12, 60  # equations of a group that are shown at first, and by one click
FORMS = ("latex", "typst", "text")


class QuantityKind(NamedTuple):
    """What can be shown: its title, and whether it needs closed chains or coupled joints, or the kinematic graph."""

    title: str
    needs: str = ""  # "constraints", "incidence" or ""


QUANTITIES: dict[str, QuantityKind] = {
    "inverse_dynamics": QuantityKind("Efforts τ(q, v, a)"),
    "mass_matrix": QuantityKind("Mass matrix M(q)"),
    "bias_forces": QuantityKind("Coriolis, centrifugal and gravity forces h(q, v)"),
    "coriolis_matrix": QuantityKind("Coriolis matrix C(q, v)"),
    "gravity_forces": QuantityKind("Gravity forces G(q)"),
    "constraint_jacobian": QuantityKind("Constraint Jacobian J(q)", "constraints"),
    "constraint_bias": QuantityKind("Constraint bias γ(q, v)", "constraints"),
    "position_matrices": QuantityKind("Position matrices of the bodies in the world"),
    "relative_matrices": QuantityKind("Position matrices of the bodies in the bodies that carry them"),
    "center_of_mass": QuantityKind("Center of mass c(q)"),
    "block_matrices": QuantityKind("Matrices of the kinematic graph", "incidence"),
}


class Part(NamedTuple):
    """Equations with a title, as rows of a page and as texts in the FORMS; `lights` is what they are about."""

    title: str
    rows: Sequence[EquationRow]
    texts: dict[str, str]
    programs: Sequence[Program]
    lights: Sequence[Data] = ()


def available_quantities(robot: Robot, formulation: str = "newton_euler") -> dict[str, str]:
    """{key: title} of the quantities that a robot has under a formulation."""
    met = {"": True, "constraints": not robot.is_open, "incidence": formulation == "incidence"}
    return {key: row.title for key, row in QUANTITIES.items() if met[row.needs]}


def shown_equations(
    system: System,
    quantities: Sequence[str] = ("mass_matrix", "bias_forces"),
    *,
    formulation: str = "newton_euler",
    symbols: bool = True,
    names: CoordinateNames = "numbers",
    room: float = 60.0,
    report: Report | None = None,
) -> Data:
    """The equations of a model as data for JSON, whole.

    `quantities`   keys of QUANTITIES
    `symbols`      whether parameters and gravity are symbols; else they are numbers
    `names`        of the coordinates, as in `equations_of_motion`
    `room`         the width of a line of a formula [em]
    `report`       is called with the title of each quantity before it is written

    "groups" are the titles with their equations, each with its name and all its lines; "symbols" tells for each symbol
    what it is and what it lights up; "texts" has the same equations in LaTeX, typst and plain text.
    """
    robot = system.robot
    known = available_quantities(robot, formulation)
    for key in quantities:
        if key not in known:
            raise UnsupportedError(
                f"'{robot.name}' has no quantity '{key}'; expected one of: {listing(known, len(known))}."
                f"{did_you_mean(key, known)}"
            )
    by: Any = formulation  # `derive` raises an error for an unknown formulation
    dynamics = symbolic_dynamics(robot, by, "all" if symbols else None, "symbol" if symbols else "number")
    own = symbols_of(dynamics, names)
    groups: list[Data] = []
    texts: dict[str, list[str]] = {form: [] for form in FORMS}
    used: set[tuple[str, int]] = set()
    for key in quantities:
        if report is not None:
            report(known[key])
        for part in _parts(dynamics, key, own, names, Page(room)):
            used |= {entry for program in part.programs for entry in used_inputs(program)}
            groups.append({"title": part.title, "lights": list(part.lights), "equations": list(_equations(part.rows))})
            for form in FORMS:
                texts[form].append(part.texts[form])
    return {
        "robot": robot.name,
        "formulation": formulation,
        "groups": groups,
        "symbols": symbol_meanings(system, dynamics, own, used),
        "texts": {form: "".join(found) for form, found in texts.items()},
        "loops": bool(robot.loops),
    }


# ── quantities ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _parts(dynamics: Dynamics, key: str, own: Names, names: CoordinateNames, page: Page) -> Iterator[Part]:
    """The parts of a quantity: one, or one for each body or matrix."""
    robot, title = dynamics.robot, QUANTITIES[key].title
    if key == "block_matrices":
        graph = graph_equations(dynamics, names=names)
        for program in graph.written.programs:
            _check_size(program, title)
        texts = {form: getattr(graph, form) for form in FORMS}
        heads = ["", *graph.quantities] if len(graph.quantities) > 1 else list(graph.quantities)
        for k, (head, rows) in enumerate(zip(heads, graph.rows(page), strict=True)):
            named = f"{title}: {head}" if head else title
            whole = texts if k == 0 else dict.fromkeys(FORMS, "")
            yield Part(named, rows, whole, graph.written.programs if k == 0 else ())
        return
    if key in ("position_matrices", "relative_matrices"):
        yield from _poses(dynamics, key, own, page)
        return
    program = getattr(dynamics, key).program.traced
    yield _part(program, title, {**own, **output_names(robot, program, own)}, page)


def _poses(dynamics: Dynamics, key: str, own: Names, page: Page) -> Iterator[Part]:
    """The pose of each body, in the world or in the body that carries it, one part for each body."""
    robot = dynamics.robot
    inside = key == "relative_matrices"
    whole = relative_poses(robot, dynamics.parameters) if inside else dynamics.forward_kinematics.program.traced
    number = {body: i for i, body in enumerate(("world", *robot.body_names))}
    carriers = parent_names(robot) if inside else ("world",) * len(robot.body_names)
    for i, (body, carrier, program) in enumerate(
        zip(robot.body_names, carriers, of_each_body(whole)["out"], strict=True), 1
    ):
        title = f"Body {i}, {body}, in {'the world' if carrier == 'world' else carrier}"
        names = {**own, **pose_names(number[carrier], i)}
        yield _part(program, title, names, page)._replace(lights=[{"kind": "body", "name": body}])


def _part(program: Program, title: str, names: Names, page: Page) -> Part:
    """The part of one program."""
    _check_size(program, title)
    written = equations(program, names)
    texts = {"latex": as_latex(written, names), "typst": as_typst(written, names), "text": as_text(written, names)}
    return Part(title, equation_rows(written, names, page), texts, [program])


def _check_size(program: Program, title: str) -> None:
    """Raises UnsupportedError for a program that is too long to be read."""
    if program.ops > MOST_TRACED:
        raise UnsupportedError(
            f"{title} has {program.ops:,} operations; expected at most {MOST_TRACED:,} for equations that are shown. "
            "Export it as source code, or choose another quantity."
        )


# ── data ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _equations(rows: Sequence[EquationRow]) -> Iterator[Data]:
    """The equations of a part: the plain name, and for each line its MathML and the number of its terms."""
    for row in rows:
        lines = [
            {"math": listed(line), "terms": terms_of(shown.mark)}
            for line, shown in zip(row_elements(row), row.lines, strict=True)
        ]
        yield {"name": row.name.text if isinstance(row.name, Named) else "", "lines": lines}


def terms_of(mark: Any) -> int:
    """The number of terms of a line: its parts between plus and minus signs; of a matrix those of all entries."""
    if isinstance(mark, Matrix):
        return sum(terms_of(cell) for row in mark.rows for cell in row)
    return len(pieces(mark))


def symbol_meanings(system: System, dynamics: Dynamics, names: Names, used: set[tuple[str, int]]) -> dict[str, Data]:
    """{plain name: what the symbol says and what it lights up} of the symbols that are used.

    A coordinate, velocity, acceleration or effort lights up its joint, the body that it carries and its module, a
    parameter lights up itself. Efforts are listed with the coordinates, because they are what equations are about.
    """
    robot, found = system.robot, {}
    rows = {"q": "coordinate", "v": "velocity of", "a": "acceleration of", "tau": "effort of"}
    for port, says in rows.items():
        entries = robot.q_names if port == "q" else robot.v_names
        units = robot.q_units if port == "q" else robot.v_units
        for i, entry in enumerate(entries):
            if (port, i) in used or port == "tau":
                unit = {"q": units[i], "v": units[i], "a": f"{units[i]}^2", "tau": ""}[port]
                told = f"{says} {entry}" + (f" [{unit}]" if unit else "")
                found[names[port, i][0]] = {"says": told, "lights": _lights(system, port, i)}
    for i, parameter in enumerate(dynamics.parameters):
        if ("p", i) in used:
            told = f"parameter {parameter.name} = {parameter.value:g} {parameter.unit}".rstrip()
            found[names["p", i][0]] = {"says": told, "lights": [{"kind": "parameter", "name": parameter.name}]}
    return found


def _lights(system: System, port: str, index: int) -> list[Data]:
    """What the entry of q, or of v, a and tau, belongs to: its joint, the body that it carries, and its module."""
    robot = system.robot
    slices = robot.q_slice if port == "q" else robot.v_slice
    joint = next((one for one in robot.joints if slices(one.name).start <= index < slices(one.name).stop), None)
    if joint is None:
        return []
    found = [{"kind": "joint", "name": joint.name}, {"kind": "body", "name": joint.child}]
    module = None if system.assembly is None else module_of(system.assembly, joint.child)
    return found if module is None else [*found, {"kind": "module", "name": module}]


def module_of(assembly: Assembly, body: str) -> str | None:
    """The name of the module that a body of its organism belongs to; None where there is none."""
    owners = [name for name in assembly.names if body == name or body.startswith(f"{name}_")]
    return max(owners, key=len, default=None)


# ── folding ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def folded(whole: Data) -> Data:
    """The equations as a page shows them at first: the first lines of the first equations, and counts of the rest.

    The texts to copy are left out.
    """
    groups = []
    for group in whole["groups"]:
        shown, left = group["equations"][:FIRST_EQUATIONS], group["equations"][FIRST_EQUATIONS:]
        groups.append({**group, "equations": [_folded(one) for one in shown], "more": len(left)})
    return {key: value for key, value in whole.items() if key != "texts"} | {"groups": groups}


def _folded(equation: Data, start: int = 0, count: int = FIRST_LINES) -> Data:
    """Lines of an equation from `start` on, and how many lines and terms are left after them."""
    lines, left = equation["lines"][start : start + count], equation["lines"][start + count :]
    more = {"lines": len(left), "terms": sum(line["terms"] for line in left)}
    return {"name": equation["name"], "lines": lines, "more": more}


def unfolded(whole: Data, group: int, equation: int, line: int | None = None) -> Data:
    """More of the equations of a group: those from number `equation` on, or lines of this equation from `line` on."""
    try:
        if min(group, equation, line or 0) < 0:
            raise IndexError
        rows = whole["groups"][group]["equations"]
        if line is not None:
            return _folded(rows[equation], line, MORE_LINES)
    except (IndexError, TypeError):
        raise UnsupportedError(
            f"there is no equation {equation} in group {group}. Write the equations again, and unfold those."
        ) from None
    end = equation + MORE_EQUATIONS
    return {"equations": [_folded(one) for one in rows[equation:end]], "more": max(len(rows) - end, 0)}
