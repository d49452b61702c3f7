"""Results as plain data, which `--json` prints: dicts, lists, strings and numbers that JSON can represent."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.graphs.program import Port
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.deriving.function_names import FRAME_FUNCTIONS, FUNCTIONS, IMPACT_FUNCTION, REDUCED_FUNCTIONS
from kinemorph.display.faces.grid import Data as Data
from kinemorph.errors import KinemorphError
from kinemorph.mechanics.recursions.kinematics import REFERENCES
from kinemorph.sheet import Field, Table, shown
from kinemorph.words import did_you_mean


class Split(NamedTuple):
    """The arguments of `Dynamics.reduced` and `Dynamics.actuation`: independent joints, actuated joints, the
    configuration `at` which the independent joints are chosen, and the regularization `epsilon`.
    """

    independent: Sequence[str] | None = None
    actuated: Sequence[str] | None = None
    at: Sequence[float] | None = None
    epsilon: float = 0.01


def function_of(
    dynamics: Dynamics,
    name: str,
    frame: str | None = None,
    reference: str | None = None,
    split: Split | None = None,
    part: str = "whole",
) -> CompiledFunction:
    """The function of a robot with a name from FUNCTIONS.

    Functions of a frame need `frame`, the name of a frame or body, and use the axes `reference`; joint wrenches are
    those of the `part` in the frame `reference`. For `impact` and `wrench_regressor`, `frame` may be several names
    separated by commas, of frames and of joints. Functions of a robot with loops use `split`; `actuation` needs its
    actuated joints.
    """
    choice = split or Split()
    if name not in FUNCTIONS:
        hint = did_you_mean(name, FUNCTIONS)
        raise KinemorphError(f"there is no function '{name}'; expected one of: {', '.join(FUNCTIONS)}.{hint}")
    if name == "actuation":
        if not choice.actuated:
            raise KinemorphError("function 'actuation' needs joints that have an actuator. Name them with --actuated.")
        return dynamics.actuation(choice.actuated, at=choice.at)
    if name in REDUCED_FUNCTIONS:
        reduced = dynamics.reduced(choice.independent, actuated=choice.actuated, at=choice.at, epsilon=choice.epsilon)
        one: CompiledFunction = getattr(reduced, name)
        return one
    if name == "joint_wrenches":
        through: CompiledFunction = dynamics.joint_wrenches(*(reference or "joint", part))
        return through
    named = None if frame is None else [part.strip() for part in frame.split(",")]
    if name == "wrench_regressor":
        return dynamics.wrench_regressor(named, *([reference] if reference else []))  # type: ignore[arg-type]
    if name not in (*FRAME_FUNCTIONS, IMPACT_FUNCTION):
        found: CompiledFunction = getattr(dynamics, name)
        return found
    robot = dynamics.robot
    if frame is None or named is None:
        known = ", ".join(f"'{known}'" for known in (*(f.name for f in robot.frames), *robot.body_names)[:12])
        raise KinemorphError(f"function '{name}' needs a frame or body. Give one with --frame: {known}.")
    if name == IMPACT_FUNCTION:
        return dynamics.impact(named)
    reference = reference or "local"
    if reference not in REFERENCES:
        raise KinemorphError(f"reference is '{reference}', expected one of: {', '.join(REFERENCES)}.")
    options = () if name == "pose" else (reference,)
    made: CompiledFunction = getattr(dynamics, name)(frame, *options)
    return made


# ── functions ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def timed(make: Callable[[], CompiledFunction]) -> tuple[CompiledFunction, Data]:
    """(the function that `make` returns, its summary with the times to build its graph and to compile its code [s])."""
    start = time.perf_counter()
    function = make()
    total = time.perf_counter() - start
    return function, {
        **function_summary(function),
        "build_seconds": max(total - function.compile_seconds, 0.0),
        "compile_seconds": function.compile_seconds,
    }


def function_summary(function: CompiledFunction) -> Data:
    """A compiled function as data: its name, the shapes of its inputs and outputs, and its operation counts."""
    program = function.program
    return {
        "function": program.name.partition(".")[2],
        "inputs": {port.name: _shape(port) for port in program.inputs},
        "outputs": {port.name: _shape(port) for port in program.outputs},
        "ops": function.ops,
        "flops": program.flops,
        "op_counts": dict(program.op_counts),
        "backend": function.backend,
    }


def function_table(rows: Sequence[Data]) -> Table:
    """The table of functions, from the data of `timed`."""
    cells = [
        (
            row["function"],
            [f"{name} {_sizes(shape)}" for name, shape in row["inputs"].items()],
            [_sizes(shape) for shape in row["outputs"].values()],
            *(row["ops"], row["flops"], 1e3 * row["build_seconds"], 1e3 * row["compile_seconds"]),
        )
        for row in rows
    ]
    times = (Field("", "graph", "ms", ".1f"), Field("", "compile", "ms", ".1f"))
    columns = (*shown("function", "inputs", "output"), *shown("ops", "flops", form=5), *times)
    return Table("", columns, cells)


def _sizes(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape)) or "1"


def _shape(port: Port) -> list[int]:
    return list(port.shape)


def mass_matrix_figures(M: Any) -> Data:
    """The condition number and the smallest and largest eigenvalue of a mass matrix (nv, nv), as data."""
    values = np.linalg.eigvalsh(np.asarray(M, dtype=float))
    return {"condition": float(values[-1] / values[0]), "smallest": float(values[0]), "largest": float(values[-1])}
