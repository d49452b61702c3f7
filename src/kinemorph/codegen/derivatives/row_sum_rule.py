"""Derivatives of sums over rows: those of the formula for one row, summed over the same rows.

    y = sum over k of f(x, row k)       dy = sum over k of df/dx dx,        x' = sum over k of (df/dx)^T y'

x' and y' are the adjoints of x and y. So a derivative of a `RowSum` is a `RowSum` again, with the same gates.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from kinemorph.codegen.graphs.evaluation import inlined
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.graphs.row_sums import RowSum
from kinemorph.codegen.graphs.tracing import trace
from kinemorph.vocabulary.block_derivatives import Evaluate, Rule, Vector


def _forward(
    block: RowSum, evaluate: Evaluate, args: Vector, values: Vector, tangents: Sequence[Vector]
) -> list[list[Any]]:
    found, skipped = _derived(block, "forward"), int(block.gated)
    return [list(evaluate(found, [*args, *rates[skipped:]])) for rates in tangents]


def _reverse(
    block: RowSum, evaluate: Evaluate, args: Vector, values: Vector, adjoints: Sequence[Vector], moving: Sequence[bool]
) -> list[list[Any]]:
    found, still = _derived(block, "reverse"), [0.0] * block.gated
    return [[*still, *evaluate(found, [*args, *weights])] for weights in adjoints]


def _derived(block: RowSum, mode: str) -> RowSum:
    """The sum of derivatives; its gates are those of the sum, as a formula that is 0 near a point has none there."""
    program = _differentiated(block.program, mode)
    gate = None if block.gate is None else _widened(block.gate, program.inputs[0].size)
    return RowSum(program, block.rows, gate, block.gated)


@lru_cache(maxsize=256)
def _widened(gate: Program, size: int) -> Program:
    """A gate with `size` arguments, of which it takes the first ones."""
    x, row = gate.inputs
    return trace(
        lambda given, row: inlined(gate, [given[: x.size], row]), {"x": (size,), "row": row.shape}, name=gate.name
    )


@lru_cache(maxsize=256)
def _differentiated(program: Program, mode: str) -> Program:
    """The program (x and rates of x, row) -> rates of y, or (x and weights of y, row) -> gradient by x."""
    from kinemorph.codegen.derivatives.differentiate import forward, reverse

    derived = forward(program, "x") if mode == "forward" else reverse(program, by="x")
    x, row, more = derived.inputs

    def both(given: list[Any], row: list[Any]) -> list[Any]:
        return inlined(derived, [given[: x.size], row, given[x.size :]])

    return trace(both, {"x": (x.size + more.size,), "row": row.shape}, name=program.name)


ROW_SUM = Rule(_forward, _reverse)
