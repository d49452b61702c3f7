"""The table of `kinemorph verify --table`: what every formulation costs for a robot, and how exact it is.

error     largest relative difference of inverse dynamics from the recursion "newton_euler", at random states, for
          random and for all unit accelerations, which covers all of M and h
ops       operations of inverse dynamics (ID) and forward dynamics (FD)
derive    CPU time to trace both functions, in Python; `compile`: to compile both for one state with LLVM, no cache
run       CPU time of one evaluation of each, in machine code

Formulations take turns when they run, so that other processes disturb all of them alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinemorph.analysis.verification.formulation_errors import FUNCTIONS, formulation_errors
from kinemorph.analysis.verification.laws import ROUNDING
from kinemorph.analysis.verification.sampling import Sample, drawn
from kinemorph.bench.machine import cpu_name
from kinemorph.bench.timing import QUICK, Pace, Row, Work, scalar_loop, take_turns, timed
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.building.self_test import self_test
from kinemorph.deriving.dynamics import derive
from kinemorph.deriving.making import MOST_FOR_SPEED
from kinemorph.disk_cache import switched_off
from kinemorph.errors import UnsupportedError
from kinemorph.model.robot import Robot
from kinemorph.sheet import Field, Note, Sheet, Table, shown

SWEPT = 256  # states of one sweep, enough to hide the call around it


def formulation_costs(robot: Robot, *, states: int = 8, seed: int = 0, pace: Pace = QUICK) -> dict[str, Any]:
    """One row for every formulation, as data for JSON; those that are too slow for a robot of this size have a note."""
    if not robot.nv:
        raise UnsupportedError(
            f"robot '{robot.name}' has no movable joint, so that formulations have nothing to compute. Choose another."
        )
    self_test()  # loads LLVM
    sample = drawn(derive(robot, backend="interpreter"), states, seed)
    made: dict[str, dict[str, CompiledFunction]] = {}
    costs: dict[str, Row] = {}

    def make(name: str) -> dict[str, CompiledFunction]:
        made[name], costs[name] = _made(robot, name)
        return made[name]

    rows: list[Row] = [
        {"formulation": row.formulation, "note": row.note} if row.note else {**row._asdict(), **costs[row.formulation]}
        for row in formulation_errors(sample, make)
    ]
    timing = drawn(sample.dynamics, SWEPT, seed)
    works = [_swept(function, timing) for functions in made.values() for function in functions.values()]
    seconds = iter(take_turns(works, pace))
    for row in rows:
        if row["formulation"] in made:
            row |= {f"{key}_us": 1e6 * next(seconds) / SWEPT for key in FUNCTIONS}
    errors = [row["error"] for row in rows if row.get("error") is not None]
    return {
        "robot": robot.name,
        "dof": robot.nv,
        "loops": len(robot.loops),
        "states": states,
        "seed": seed,
        "cpu": cpu_name(),
        "tolerance": ROUNDING,
        "passed": all(error <= ROUNDING for error in errors),
        "formulations": rows,
    }


def cost_sheet(data: dict[str, Any]) -> Sheet:
    """The data of `formulation_costs` as a table: times of one evaluation in microseconds, others in milliseconds."""
    rows = []
    for row in data["formulations"]:
        error = "reference" if not row["note"] and row["error"] is None else row.get("error")
        times = [None if row["note"] else 1e3 * row[key] for key in ("derive_s", "compile_s")]
        rows.append((row["formulation"], error, row.get("id_ops"), row.get("fd_ops"), *times))
        rows[-1] += (row.get("id_us"), row.get("fd_us"), row["note"])
    columns = (
        *(*shown("formulation"), *shown("error", form=".1e"), *shown("ops ID", "ops FD", form=5)),
        *(Field("", head, "ms", ".0f") for head in ("derive", "compile")),
        *(Field("", head, "us", 3) for head in ("run ID", "run FD")),
        *shown("note"),
    )
    drawn = f"{data['dof']} dof, {data['states']} random states, seed {data['seed']}"
    told = f"{drawn}; CPU times of one core, {data['cpu']}"
    return Sheet("Formulations of", data["robot"], (Table("", columns, rows), Note(told)))


def _made(robot: Robot, formulation: str) -> tuple[dict[str, CompiledFunction], Row]:
    """The compiled functions of a formulation, and how long they took to derive and to compile [s]."""
    functions: dict[str, CompiledFunction] = {}
    row: Row = {"derive_s": 0.0, "compile_s": 0.0}
    with switched_off():
        dynamics = derive(robot, formulation, backend="interpreter")  # type: ignore[arg-type]
        for key, name in FUNCTIONS.items():
            traced, interpreted = timed(lambda name=name: getattr(dynamics, name))  # type: ignore[misc]
            program = interpreted.program
            few = program.ops > MOST_FOR_SPEED
            compiled, functions[key] = timed(lambda program=program, few=few: build(program, few_calls=few))  # type: ignore[misc]
            row["derive_s"] += traced
            row["compile_s"] += compiled
    return functions, row


def _swept(function: CompiledFunction, sample: Sample) -> Work:
    """A function that evaluates all states of the sample, one after the other, in machine code."""
    n = len(sample.q)
    ins = [np.ascontiguousarray(np.broadcast_to(x, (n, *port.shape))) for x, port in _inputs(function, sample)]
    return scalar_loop(function, [np.empty((n, *port.shape)) for port in function.outputs], ins, keep=False)


def _inputs(function: CompiledFunction, sample: Sample) -> Sequence[tuple[Any, Any]]:
    return list(zip(sample.inputs(function.program), function.inputs, strict=True))
