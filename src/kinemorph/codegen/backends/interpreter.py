"""The interpreter: it evaluates one op after the other with NumPy, each on a whole batch.

It defines what a program means; other backends have to agree. Each op does what its row of the op table says; nothing
is reordered and nothing is fused. IEEE rules apply everywhere: a division by zero gives inf, sqrt(-1) gives nan, and no
warning is printed. In float32 every result is rounded before the next op reads it.

Loop programs are run statement by statement, in the same manner. Arrays have one row per state. A state that has left a
loop, or takes the other branch, is masked: the results of a call are not stored for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.codegen.backends import Array, Kernel
from kinemorph.codegen.graphs.evaluation import carry_out, meaning_of
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.loops.loop_program import Call, For, Foreign, If, LoopProgram, Statement, View, While
from kinemorph.codegen.loops.printing import format_loops, format_program
from kinemorph.errors import CompileError
from kinemorph.vocabulary.blocks import Block
from kinemorph.vocabulary.frozen_array import FrozenArray

Mask = npt.NDArray[np.bool_]
Table = Mapping[str, Callable[..., Any]]  # foreign functions by name
_NONE: Table = {}


def interpreter(program: Program) -> Kernel:
    """The kernel that interprets `program` in the precision of its arrays; its source is the printed program."""

    def run(n: int, outs: Sequence[Array], ins: Sequence[Array]) -> bool:
        interpret(program, n, outs, ins)
        return all(bool(np.isfinite(out).all()) for out in outs)

    return Kernel(lambda: format_program(program), run)


def interpret(program: Program, n: int, outs: Sequence[Array], ins: Sequence[Array]) -> None:
    """Evaluates n states and writes `outs`. Each array has its port's entries row by row, one block per state.

    An input may also have a single block for all states.
    """
    columns: list[Array] = []  # the graph's inputs in order, each (n,) or (1,)
    for port, array in zip(program.inputs, ins, strict=True):
        columns += list(array.reshape(-1, port.size).T) if port.size else []

    with np.errstate(all="ignore"):
        entries = iter(carry_out(program, columns, MEANINGS[outs[0].dtype.name]))
    for port, out in zip(program.outputs, outs, strict=True):
        table = out.reshape(n, port.size)
        for k in range(port.size):
            table[:, k] = next(entries)


def _meaning_in_float32(op: str | Block) -> Callable[..., Any]:
    """The NumPy function that defines an op or a block, with results rounded to float32."""
    meaning = meaning_of(op)
    if isinstance(op, Block):
        return lambda *args: tuple(np.asarray(y, np.float32) for y in meaning(*args))
    return lambda *args: np.asarray(meaning(*args), np.float32)


MEANINGS: dict[str, Callable[[str | Block], Callable[..., Any]]] = {
    "float64": meaning_of,
    "float32": _meaning_in_float32,
}


# ── loop programs ─────────────────────────────────────────────────────────────────────────────────────────────────────


def interpreter_loops(program: LoopProgram, foreign: Table | None = None) -> Kernel:
    """The kernel that interprets a loop program; its source is the printed program.

    `foreign` is a table of the foreign functions that it calls, {name: callable}. Each is called for one state at a
    time, with the inputs as flat arrays; it returns its output, or several as a tuple.
    """
    table = foreign or {}
    for name in program.foreign:
        if not callable(table.get(name)):
            raise CompileError(
                f"program '{program.name}' calls the foreign function '{name}', and no callable is given for it. Give "
                f"one: foreign={{'{name}': function}}."
            )

    def run(n: int, outs: Sequence[Array], ins: Sequence[Array]) -> bool:
        rows = [
            array.reshape(array.size // port.size if port.size else 1, port.size)
            for port, array in zip(program.inputs, ins, strict=True)
        ]
        with np.errstate(all="ignore"):
            results = _evaluate(program, n, rows, outs[0].dtype.name, table)
        for out, result in zip(outs, results, strict=True):
            out.reshape(result.shape)[:] = result
        return all(bool(np.isfinite(out).all()) for out in outs)

    return Kernel(lambda: format_loops(program), run)


def _evaluate(
    program: Program | LoopProgram, n: int, ins: Sequence[Array], dtype: str = "float64", foreign: Table = _NONE
) -> list[Array]:
    """The outputs of a program for n states, shape (n, size) each; inputs have shape (n, size) or (1, size)."""
    if isinstance(program, LoopProgram):
        return _Run(program, n, ins, dtype, foreign).results()
    columns = [column for rows in ins for column in rows.T]
    entries = iter(carry_out(program, columns, MEANINGS[dtype]))
    results: list[Array] = []
    for port in program.outputs:
        result = np.empty((n, port.size), dtype)
        for k in range(port.size):
            result[:, k] = next(entries)
        results.append(result)
    return results


class _Run:
    """One run of a loop program for n states; `ins` and `foreign` are as in `_evaluate`."""

    def __init__(self, program: LoopProgram, n: int, ins: Sequence[Array], dtype: str, foreign: Table) -> None:
        self.program, self.n, self.dtype, self.foreign = program, n, dtype, foreign
        self.arrays: dict[str, Array] = {}
        for port, rows in zip(program.inputs, ins, strict=True):
            self.arrays[port.name] = np.broadcast_to(rows, (n, port.size))
        for port, values in program.constants:
            flat = values.array.ravel() if isinstance(values, FrozenArray) else values
            self.arrays[port.name] = np.broadcast_to(np.asarray(flat, dtype), (n, port.size))
        for port in program.outputs:
            self.arrays[port.name] = np.full((n, port.size), np.nan, dtype)
        for port in program.buffers:
            self.arrays[port.name] = np.zeros((n, port.size), dtype)

    def results(self) -> list[Array]:
        """Runs the body; returns the outputs, shape (n, size) each."""
        self.carry_out(self.program.body, np.ones(self.n, dtype=bool), {})
        return [self.arrays[port.name] for port in self.program.outputs]

    def carry_out(self, body: Sequence[Statement], active: Mask, counters: Mapping[str, int]) -> None:
        """Runs statements for the states that are active; `counters` are the values of the counters of outer loops."""
        for statement in body:
            match statement:
                case Call():
                    ins = [self.read(view, counters) for view in statement.ins]
                    results = _evaluate(statement.program, self.n, ins, self.dtype, self.foreign)
                    self.write(statement.outs, results, active, counters)
                case Foreign():
                    self.write(statement.outs, self.called(statement, active, counters), active, counters)
                case For():
                    self.count(statement, active, counters)
                case While():
                    going = active & self.truth(statement.condition, counters)
                    while going.any():
                        self.carry_out(statement.body, going, counters)
                        going = going & self.truth(statement.condition, counters)
                case If():
                    truth = self.truth(statement.condition, counters)
                    for chosen, way in ((truth, statement.then), (~truth, statement.otherwise)):
                        if way and (active & chosen).any():
                            self.carry_out(way, active & chosen, counters)

    def called(self, call: Foreign, active: Mask, counters: Mapping[str, int]) -> list[Array]:
        """The outputs of a foreign function, shape (n, size) each; it is called for each active state."""
        results = [np.full((self.n, view.size), np.nan, self.dtype) for view in call.outs]
        ins = [self.read(view, counters) for view in call.ins]
        for k in np.flatnonzero(active):
            given = self.foreign[call.function](*(rows[k].copy() for rows in ins))
            for result, one in zip(results, given if isinstance(given, tuple) else (given,), strict=True):
                result[k] = np.ravel(one)
        return results

    def write(self, views: Sequence[View], results: Sequence[Array], active: Mask, counters: Mapping[str, int]) -> None:
        """Stores results, shape (n, size) each, for the states that are active."""
        for view, result in zip(views, results, strict=True):
            start = view.offset.at(counters)
            place = self.arrays[view.array][:, start : start + view.size]
            np.copyto(place, result, where=active[:, None])

    def count(self, loop: For, active: Mask, counters: Mapping[str, int]) -> None:
        """Runs a For; a bound that is read from an array may differ from state to state."""
        start = loop.start.at(counters)
        if not isinstance(loop.stop, View):
            for k in range(start, loop.stop.at(counters)):
                self.carry_out(loop.body, active, {**counters, loop.counter: k})
            return
        stop = self.read(loop.stop, counters)[:, 0].copy()
        k = start
        while (going := active & (k < stop)).any():
            self.carry_out(loop.body, going, {**counters, loop.counter: k})
            k += 1

    def truth(self, view: View, counters: Mapping[str, int]) -> Any:
        """For each state whether the number of an array that `view` refers to is positive, shape (n,)."""
        return self.read(view, counters)[:, 0] > 0.0

    def read(self, view: View, counters: Mapping[str, int]) -> Array:
        """The numbers of an array that `view` refers to, for each state, shape (n, size)."""
        array, start = self.arrays[view.array], view.offset.at(counters)
        if view.at is None:
            return array[:, start : start + view.size]
        k = np.nan_to_num(self.read(view.at, counters)[:, 0])
        first = np.clip(start + view.stride * k, 0, array.shape[1] - view.size).astype(int)
        return np.take_along_axis(array, first[:, None] + np.arange(view.size), axis=1)
