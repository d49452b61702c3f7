"""What `kinemorph derive` gives: functions of a robot as counts, formulas, LaTeX, LLVM code or graph, in one table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from kinemorph.codegen.printing import format_program
from kinemorph.deriving import Dynamics, derive
from kinemorph.display.equations import ParameterChoice, symbolic_dynamics, write_equations
from kinemorph.display.menu import MAIN_FUNCTIONS
from kinemorph.display.summaries import Data, function_of, timed
from kinemorph.errors import KinemorphError
from kinemorph.model.robot import Robot

Written = Callable[[Dynamics, Any], str]


def _text(dynamics: Dynamics, function: Any) -> str:
    equations = write_equations(dynamics, [function.program])
    return _headed("#", dynamics, function, equations.legend) + equations.text


def _latex(dynamics: Dynamics, function: Any) -> str:
    equations = write_equations(dynamics, [function.program])
    return _headed("%", dynamics, function, equations.legend) + equations.latex


def _headed(mark: str, dynamics: Dynamics, function: Any, legend: Sequence[str]) -> str:
    """Comment lines: the function, and what the symbols stand for."""
    lines = [f"{mark} {function.name}, by {dynamics.formulation}"]
    lines += [f"{mark}   {line}" for line in legend]
    return "\n".join(lines) + "\n"


# form -> (is it printed only, so that nothing need be compiled; the text of one function, None for the table of counts)
FORMS: dict[str, tuple[bool, Written | None]] = {
    "summary": (False, None),
    "text": (True, _text),
    "latex": (True, _latex),
    "llvm": (False, lambda dynamics, function: str(function.source)),
    "graph": (True, lambda dynamics, function: format_program(function.program, limit=None) + "\n"),
}
SYMBOLIC = ("text", "latex")  # forms in which gravity may be a symbol


def emitted(
    robot: Robot,
    form: str,
    formulation: str = "newton_euler",
    functions: Sequence[str] = (),
    *,
    frame: str | None = None,
    reference: str = "local",
    parameters: ParameterChoice = None,
) -> Data:
    """Functions of a robot in a form of FORMS, as data; `text` holds what was written.

    Without names, a summary takes the main functions and the other forms take the inverse dynamics.
    """
    printed, write = FORMS[form]
    name: Any = formulation  # derive refuses an unknown one
    if form in SYMBOLIC:
        dynamics = symbolic_dynamics(robot, name, parameters)
    else:
        dynamics = derive(robot, name, parameters=parameters, backend="interpreter" if printed else "llvm")
    names = list(functions) or (MAIN_FUNCTIONS if write is None else ["inverse_dynamics"])
    rows = []
    for wanted in names:
        function, row = timed(lambda wanted=wanted: function_of(dynamics, wanted, frame, reference))  # type: ignore[misc]
        rows.append(row if write is None else {**row, "text": write(dynamics, function)})
    return {
        "robot": robot.name,
        "formulation": formulation,
        "emit": form,
        "parameters": [parameter.name for parameter in dynamics.parameters],
        "functions": rows,
    }


def notes(robot: Robot, data: Data) -> list[str]:
    """What one should know about functions of a robot with loops or couplings."""
    shown = {row["function"] for row in data["functions"]}
    held = [(len(robot.loops), "loop"), (len(robot.couplings), "coupling")]
    count = " and ".join(f"{number} {kind}{'s' if number > 1 else ''}" for number, kind in held if number)
    if not count or not shown & set(MAIN_FUNCTIONS):
        return []
    tree = "the tree cut open" if robot.loops else "the tree without them"
    return [f"robot '{robot.name}' has {count}: M, h and ID describe {tree}, FD keeps the constraints."]


def as_text(data: Data) -> str:
    """What was written, function after function; for a summary one line of counts each."""
    if data["emit"] == "summary":
        return "".join(f"{row['function']}: {row['ops']} ops, {row['flops']} flops\n" for row in data["functions"])
    return "\n".join(row["text"] for row in data["functions"])


def write_text(path: Path, text: str) -> None:
    """Writes a file, or says why not."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise KinemorphError(f"cannot write '{path}': {error.strerror}. Choose another file with --output.") from error
