"""A program inside a function that is traced: its operations join the new graph and are simplified there anew.

Where some inputs are numbers, or the same expression twice, most of a program may fold away.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kinemorph.blocks import Block
from kinemorph.codegen.backends.interpreter import carry_out, meaning_of
from kinemorph.codegen.graph import Expr, apply
from kinemorph.codegen.program import Program
from kinemorph.codegen.tracing import entries_of


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
