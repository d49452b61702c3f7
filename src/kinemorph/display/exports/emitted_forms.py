"""Functions of a robot in forms such as source code, formulas or a graph, as texts by file name. FORMS lists the forms.

A form turns functions into a dictionary from file names to texts. Where a text contains the name of its own file (C
includes its header), the name that is asked for is kept as it is; only identifiers inside the text may differ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple

from kinemorph.codegen.backends.identifiers import comment, identifier
from kinemorph.codegen.backends.text.languages import function_name
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.loops.printing import format_program
from kinemorph.deriving.dynamics import Dynamics, derive
from kinemorph.deriving.function_names import MAIN_FUNCTIONS
from kinemorph.deriving.graph_programs import Order
from kinemorph.deriving.held_constraints import held_elements
from kinemorph.display.equations.equations_of_motion import (
    ParameterChoice,
    symbolic_dynamics,
    write_equations,
)
from kinemorph.display.equations.graph_equations import GraphEquations, graph_equations
from kinemorph.display.equations.symbols import symbols_of
from kinemorph.display.tables.summaries import Data, Split, function_of, timed
from kinemorph.errors import UnsupportedError
from kinemorph.model.robot import Robot
from kinemorph.model.system import System, as_robot
from kinemorph.words import counted, listed

Files = dict[str, str]
HTML = '<!doctype html>\n<meta charset="utf-8">\n'


class Work(NamedTuple):
    """Functions of one robot to write, and the name of the robot.

    `stem` is the name of the files without endings; where it is None, they are called after the robot.
    """

    dynamics: Dynamics
    functions: Sequence[CompiledFunction]
    name: str
    precision: str
    stem: str | None = None
    order: Order = "vw"  # of twists in the matrices of the kinematic graph


# ── forms ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _written(kind: str, ending: str, comments: str, opening: str = "") -> Callable[[Work], Files]:
    """The writer of a form with formulas: one file with the given ending, and `opening` at its beginning.

    The other arguments are those of `_formulas`.
    """

    def write(work: Work) -> Files:
        return {f"{identifier(work.name)}.{ending}": opening + "\n".join(_formulas(work, comments, kind))}

    return write


def _formulas(work: Work, comments: str, kind: str) -> list[str]:
    """One text per function: comment lines that explain the symbols, then the formulas.

    `comments` is a comment line with {} for its text; `kind` is "text", "latex", "typst" or "mathml".
    """
    texts = []
    for function in work.functions:
        if graph := _graph_equations(work, function):
            lines = [_comment(comments, line) for line in graph.heading] if kind != "text" else []
            texts.append("\n".join([*lines, getattr(graph, kind)]))
            continue
        equations = write_equations(work.dynamics, [function.program])
        lines = [_comment(comments, f"{function.name}, by {work.dynamics.formulation}")]
        lines += [_comment(comments, line, "  ") for line in equations.legend]
        texts.append("\n".join(lines) + "\n" + getattr(equations, kind))
    return texts


def _comment(comments: str, line: str, indent: str = "") -> str:
    """A line as a comment; one that ends with a mark of its own, as in HTML, contains no two hyphens in a row."""
    text = comment(line)
    return comments.format(indent + (text.replace("-", "- ") if comments.endswith("-->") and "--" in text else text))


def _graph_equations(work: Work, function: CompiledFunction) -> GraphEquations | None:
    """The equations of the kinematic graph, for the block matrices of formulation "incidence"; else None."""
    if work.dynamics.formulation != "incidence" or function_name(function.program) != "block_matrices":
        return None
    return graph_equations(work.dynamics, order=work.order)


def _graph(work: Work) -> Files:
    """One file with the operations of each function, one per line."""
    texts = [format_program(function.program, limit=None) + "\n" for function in work.functions]
    return {f"{identifier(work.name)}_graph.txt": "\n".join(texts)}


def _llvm(work: Work) -> Files:
    """One file of LLVM IR per function."""
    files = {}
    for function in work.functions:
        owned = f"{work.name}_{function_name(function.program)}"
        file = identifier(owned) if work.stem is None else f"{work.stem}_{function_name(function.program)}"
        files[f"{file}.ll"] = str(function.source)
    return files


def _sympy(work: Work) -> Files:
    """A Python file with the functions as SymPy expressions."""
    from kinemorph.codegen.backends.text.sympy_source import export_sympy

    programs: list[Program] = []
    for function in work.functions:
        graph = _graph_equations(work, function)
        programs += graph.written.programs if graph else [function.program]
    return export_sympy(programs, work.name, symbols=symbols_of(work.dynamics))


def _source(module: str, export: str, *, named: bool = False) -> Callable[[Work], Files]:
    """The writer of a form in source code: it calls the function `export` of the backend `module`.

    The backend is imported when the writer is called. `named` says whether `export` takes the name of the files.
    """

    def write(work: Work) -> Files:
        exporter = getattr(import_module(f"kinemorph.codegen.backends.{module}"), export)
        programs = [function.program for function in work.functions]
        file = {"file": work.stem} if named else {}
        files: Files = exporter(programs, work.name, precision=work.precision, **file)
        return files

    return write


@dataclass(frozen=True)
class Form:
    """A form in which functions are written.

    `write`      the function that makes the texts; None for the table of operation counts
    `mark`       the characters that begin a comment; comments separate several files on stdout
    `symbolic`   whether parameters and gravity are symbols unless numbers are asked for
    `compiled`   whether functions have to be compiled, because the form shows results of the compiler
    `precise`    whether the form is also available in float32
    `bound`      whether a text contains the name of its own file
    `endings`    the endings of the files of a `bound` form; empty where there is one file per function, named after it
    """

    write: Callable[[Work], Files] | None
    mark: str = "#"
    symbolic: bool = False
    compiled: bool = False
    precise: bool = False
    bound: bool = False
    endings: tuple[str, ...] = ()


FORMS: dict[str, Form] = {
    "summary": Form(None, compiled=True),
    "text": Form(_written("text", "txt", "# {}"), symbolic=True),
    "latex": Form(_written("latex", "tex", "% {}"), "%", symbolic=True),
    "typst": Form(_written("typst", "typ", "// {}"), "//", symbolic=True),
    "mathml": Form(_written("mathml", "html", "<!-- {} -->", HTML), "<!--", symbolic=True),
    "sympy": Form(_sympy, symbolic=True),
    "python": Form(_source("text.python", "export_python"), precise=True),
    "matlab": Form(_source("text.matlab", "export_matlab"), "%", precise=True, bound=True),
    "c": Form(_source("c.export", "export_c", named=True), "//", precise=True, bound=True, endings=(".c", ".h")),
    "cuda": Form(_source("c.cuda", "export_cuda", named=True), "//", precise=True, bound=True, endings=(".cu", ".cuh")),
    "llvm": Form(_llvm, ";", compiled=True),
    "graph": Form(_graph),
}


# ── emitting ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def emitted(
    model: Robot | System,
    form: str,
    formulation: str = "newton_euler",
    functions: Sequence[str] = (),
    *,
    frame: str | None = None,
    reference: str | None = None,
    part: str = "whole",
    parameters: ParameterChoice = None,
    precision: str = "float64",
    stem: str | None = None,
    split: Split | None = None,
    order: Order = "vw",
) -> Data:
    """Functions of a model in one of the FORMS, as data for JSON. The entry "files" maps file names to texts.

    If no function is named, a summary lists the main functions, and other forms contain the inverse dynamics. `frame`
    and `reference` are for functions of a frame, `reference` and `part` for joint wrenches. Files are named after
    `stem`, or after the robot where it is None. `split` chooses the independent joints of a robot with loops,
    `order` that of twists in the printed matrices of the kinematic graph.
    """
    row = FORMS[form]
    if precision != "float64" and not row.precise:
        known = listed(name for name, other in FORMS.items() if other.precise)
        raise UnsupportedError(
            f"the precision is '{precision}', but the form '{form}' has no precision; expected one of {known}. Leave "
            "the precision out, or choose one of these forms."
        )
    robot = as_robot(model)
    by: Any = formulation  # `derive` raises an error for an unknown formulation
    if row.symbolic:
        dynamics = symbolic_dynamics(model, by, parameters)
    else:
        kept: dict[str, Any] = {"parameters": parameters, "constraints": held_elements(model)}
        dynamics = derive(robot, by, **kept, backend="llvm" if row.compiled else "interpreter")
    wanted = list(functions) or (MAIN_FUNCTIONS if row.write is None else ["inverse_dynamics"])
    made = [
        timed(lambda one=one: function_of(dynamics, one, frame, reference, split, part))  # type: ignore[misc]
        for one in wanted
    ]
    work = Work(dynamics, [function for function, _ in made], stem or robot.name, precision, stem, order)
    return {
        "robot": robot.name,
        "formulation": formulation,
        "emit": form,
        "precision": precision,
        "parameters": [parameter.name for parameter in dynamics.parameters],
        "functions": [counts for _, counts in made],
        "files": row.write(work) if row.write else {},
    }


def default_parameters(form: str) -> ParameterChoice:
    """Which parameters usually stay symbols in a form: "all", or None, which means that all become numbers."""
    return "all" if FORMS[form].symbolic else None


def notes(model: Robot | System, data: Data) -> list[str]:
    """For a robot with loops or other constraints: a note on which functions satisfy these. Otherwise empty."""
    robot, held = as_robot(model), held_elements(model)
    shown = {row["function"] for row in data["functions"]}
    parts = [(len(robot.loops), "loop"), (len(robot.couplings), "coupling"), (len(held), "constraint")]
    count = " and ".join(counted(number, kind) for number, kind in parts if number)
    if not count or not shown & set(MAIN_FUNCTIONS):
        return []
    left = "that is left when loops are cut" if robot.loops else "without these constraints"
    return [
        f"robot '{robot.name}' has {count}: M, h and inverse dynamics describe the tree {left}; "
        "forward dynamics satisfies the constraints."
    ]


def as_text(data: Data) -> str:
    """All texts joined into one, with comment lines between them; for a summary, one line per function with its
    operation counts.
    """
    if data["emit"] == "summary":
        return "".join(f"{row['function']}: {row['ops']} ops, {row['flops']} flops\n" for row in data["functions"])
    files: Files = data["files"]
    if len(files) == 1:
        return "".join(files.values())
    mark = FORMS[data["emit"]].mark
    return "\n".join(f"{mark} ==== {file} ====\n{text}" for file, text in files.items())
