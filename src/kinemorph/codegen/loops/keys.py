"""The parts of a loop program's key, which is a hash of what it computes; see `graphs.keys`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinemorph.codegen.graphs.keys import shapes_of
from kinemorph.codegen.loops.loop_program import (
    Affine,
    Call,
    Constants,
    For,
    Foreign,
    If,
    LoopProgram,
    Statement,
    View,
    While,
)
from kinemorph.vocabulary.frozen_array import FrozenArray


def loop_parts(loop: LoopProgram) -> list[bytes]:
    """Bytes to hash: the shapes of arrays, the constants, the keys of the called programs, and the statements.

    Statements refer to arrays and programs by number.
    """
    fixed = [port for port, _ in loop.constants]
    arrays = {port.name: k for k, port in enumerate((*loop.inputs, *loop.outputs, *loop.buffers, *fixed))}
    called = {id(program): k for k, program in enumerate(loop.programs)}

    def place(view: View) -> str:
        at = f" at ({place(view.at)}) by {view.stride}" if view.at else ""
        return f"array {arrays[view.array]}, {view.size} from {number(view.offset)}{at}"

    def number(value: Affine | View) -> str:
        return place(value) if isinstance(value, View) else f"{value.constant} {value.terms}"

    def written(body: Sequence[Statement]) -> str:
        return "{" + "".join(map(statement, body)) + "}"

    def statement(one: Statement) -> str:
        match one:
            case Call(program, outs, ins):
                return f"call {called[id(program)]} [{'; '.join(map(place, (*outs, *ins)))}]\n"
            case Foreign(function, outs, ins):
                return f"foreign {function} [{'; '.join(map(place, outs))}] [{'; '.join(map(place, ins))}]\n"
            case For(counter, start, stop, body, apart):
                return f"for {counter} in {number(start)} to {number(stop)} {apart} {written(body)}\n"
            case While(condition, body):
                return f"while {place(condition)} {written(body)}\n"
            case If(condition, then, otherwise):
                return f"if {place(condition)} {written(then)} {written(otherwise)}\n"

    return [
        f"{shapes_of(loop.buffers)}; {shapes_of(fixed)}".encode(),
        b" ".join(_hashed(values) for _, values in loop.constants),
        " ".join(program.key for program in loop.programs).encode(),
        written(loop.body).encode(),
    ]


def _hashed(constants: Constants) -> bytes:
    """An array of constants as bytes to hash: its numbers, or the digest of data."""
    if isinstance(constants, FrozenArray):
        return constants.digest.encode()
    return np.array(constants, dtype=np.float64).tobytes()
