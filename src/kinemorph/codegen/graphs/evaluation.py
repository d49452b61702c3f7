"""A program carried out over any scalar, operation by operation.

On NumPy arrays that is the interpreter. On expressions of another graph it places a program inside a function that is
traced: its operations join the new graph and are simplified there again, so that where some inputs are numbers, or the
same expression twice, most of a program may fold away.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kinemorph.codegen.graphs.graph import Expr, apply
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.graphs.tracing import entries_of
from kinemorph.vocabulary.blocks import Block, Item
from kinemorph.vocabulary.ops import OPS


def meaning_of(op: str | Block) -> Callable[..., Any]:
    """What an op or a block does to batches."""
    return op.meaning if isinstance(op, Block) else OPS[op].meaning


def carry_out(
    program: Program,
    inputs: Sequence[Any],
    meaning: Callable[[Any], Callable[..., Any]],
    constant: Callable[[float], Any] = float,
) -> list[Any]:
    """The entries of all outputs, one after the other, over any scalar.

    `meaning` gives the function that an op stands for on these scalars, `constant` turns a number into such a scalar.
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
    """The entries of all outputs, one after the other; `inputs` are expressions or numbers, nested lists by port."""
    return carry_out(program, [entry for value in inputs for entry in entries_of(value)], _on_expressions)


def _on_expressions(op: str | Block) -> Callable[..., Any]:
    def run(*args: Any) -> Any:
        graph = next((arg.graph for arg in args if isinstance(arg, Expr)), None)
        if graph is None:
            with np.errstate(all="ignore"):  # what is not finite may stand in a branch that is not taken
                result = meaning_of(op)(*args)
            return list(map(float, result)) if isinstance(op, Block) else float(result)
        refs = tuple(map(graph.reference, args))
        return graph.block(op, refs) if isinstance(op, Block) else apply(graph, op, refs)

    return run
