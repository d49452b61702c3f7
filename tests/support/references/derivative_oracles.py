"""Derivatives of programs by other means: complex step, dual numbers. No sweep over the graph takes part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinemorph.algebra import scalar
from kinemorph.algebra.dual import Direction
from kinemorph.algebra.linear import applied
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.graphs.evaluation import carry_out
from kinemorph.codegen.graphs.program import Program
from kinemorph.vocabulary.blocks import Block
from kinemorph.vocabulary.ops import OPS

ANALYTIC = ("add", "sub", "mul", "div", "neg", "sqrt", "pow", "exp", "log", "sin", "cos", "tan", "asin", "acos")


def run(program: Program, *arrays: Any) -> Any:
    """The outputs as they are, NaN included."""
    outs = [np.full(port.shape, np.nan) for port in program.outputs]
    given = [np.array(array, dtype=float) for array in arrays]
    build(program, "interpreter").raw(outs[0] if len(outs) == 1 else tuple(outs), *given)
    return outs[0] if len(outs) == 1 else tuple(outs)


def on_duals(op: Any) -> Any:
    """What an op or a block does to dual numbers."""
    return (lambda *args: applied(op, args)) if isinstance(op, Block) else getattr(scalar.f, op)


def by_duals(program: Program, x: Sequence[float]) -> np.ndarray:
    """d(all outputs) / d(all inputs), shape (outputs, inputs), by dual numbers; row by row over all ports."""
    along = Direction()
    duals = along.all_moved(map(float, x), np.eye(len(x)))
    tangents = along.tangents(carry_out(program, duals, on_duals))
    return np.array([np.broadcast_to(tangent, len(x)) for tangent in tangents]).reshape(-1, len(x))


def by_complex_step(program: Program, x: Sequence[float], h: float = 1e-30) -> np.ndarray:
    """The same by one imaginary step for each input; for programs of analytic ops."""
    columns = []
    for k in range(len(x)):
        stepped = [complex(value, h * (k == j)) for j, value in enumerate(x)]
        columns.append([np.imag(y) / h for y in carry_out(program, stepped, lambda op: OPS[op].meaning)])
    return np.array(columns, dtype=float).reshape(len(x), len(program.refs)).T
