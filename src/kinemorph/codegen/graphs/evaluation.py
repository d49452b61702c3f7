"""A program evaluated on any scalar type, operation by operation.

On NumPy arrays this is the interpreter. On expressions of another graph it inlines the program into the function that
is being traced: its operations are added to the new graph and simplified there again. Where some inputs are numbers, or
the same expression twice, constant folding may remove most of the program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kinemorph.codegen.graphs.graph import Expr, apply, innermost
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.graphs.tracing import entries_of
from kinemorph.vocabulary.blocks import Block, Item
from kinemorph.vocabulary.ops import OPS


def meaning_of(op: str | Block) -> Callable[..., Any]:
    """The NumPy function that defines an op or a block; it works on numbers and on arrays of a batch."""
    return op.meaning if isinstance(op, Block) else OPS[op].meaning


def carry_out(
    program: Program,
    inputs: Sequence[Any],
    meaning: Callable[[Any], Callable[..., Any]],
    constant: Callable[[float], Any] = float,
) -> list[Any]:
    """Evaluates a program on scalars of any type; returns the entries of all outputs as one flat list.

    `inputs` are the entries of all inputs as one flat list. `meaning(op)` returns the function that evaluates an op on
    these scalars, and `constant` turns a number into a scalar.
    """
    values: dict[int, Any] = {}
    nodes = program.graph.nodes
    for i in program.order:
        op, *args = nodes[i]
        if op == "const":
            values[i] = constant(args[0])
        elif op == "input":
            values[i] = inputs[args[0]]
        else:
            given = (values[a] if a >= 0 else -values[-a] for a in args)
            values[i] = next(given)[op.index] if type(op) is Item else meaning(op)(*given)
    return [values[ref] if ref >= 0 else -values[-ref] for ref in program.refs]


def inlined(program: Program, inputs: Sequence[Any]) -> list[Any]:
    """Inlines a program into the graph being traced; returns the entries of all outputs as one flat list.

    `inputs` has one item per port: an expression or a number, or nested lists of them.
    """
    return carry_out(program, [entry for value in inputs for entry in entries_of(value)], _on_expressions)


def _on_expressions(op: str | Block) -> Callable[..., Any]:
    """The function that applies an op or a block to expressions and numbers."""

    def run(*args: Any) -> Any:
        if not any(isinstance(arg, Expr) for arg in args):
            with np.errstate(all="ignore"):  # inf and NaN are fine in a branch that is not taken
                result = meaning_of(op)(*args)
            return list(map(float, result)) if isinstance(op, Block) else float(result)
        graph = innermost(args)
        refs = tuple(map(graph.reference, args))
        return graph.block(op, refs) if isinstance(op, Block) else apply(graph, op, refs)

    return run
