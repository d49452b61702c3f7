"""The interpreter of programs: it evaluates one op after the other with NumPy, each on a whole batch.

It defines what a program means. Each op does what its row of the op table says; nothing is reordered and nothing is
fused. IEEE rules apply everywhere: a division by zero gives inf, sqrt(-1) gives nan, and no warning is printed.
In float32 every result is rounded before the next op reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kinemorph.codegen.backends import Array, Kernel
from kinemorph.codegen.graphs.evaluation import carry_out, meaning_of
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.loops.printing import format_program
from kinemorph.vocabulary.blocks import Block


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
