"""What the tests of the algebra share: a tiny evaluator of the expression graph, straight from the op meanings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from kinemorph.codegen.graphs.graph import Expr, Graph
from kinemorph.vocabulary.ops import OPS


def numbers_of(graph: Graph, inputs: Sequence[float]) -> list[Any]:
    """The value of every node at the given inputs."""
    values: list[Any] = []
    with np.errstate(all="ignore"):
        for op, *args in graph.nodes:
            if op == "const":
                values.append(args[0])
            elif op == "input":
                values.append(inputs[args[0]])
            else:
                values.append(OPS[op].meaning(*(np.sign(ref) * values[abs(ref)] if ref else 0.0 for ref in args)))
    return values


def replaced(result: Any, values: list[Any]) -> Any:
    """A nesting of tuples with its expressions replaced by their values."""
    if isinstance(result, tuple):
        return tuple(replaced(part, values) for part in result)
    if isinstance(result, Expr):
        return float(np.sign(result.ref) * values[abs(result.ref)])
    return result


@pytest.fixture
def trace_at() -> Callable[..., Any]:
    """trace_at(function, x): the graph of the function of a vector, and the value of each of its nodes at x."""

    def run(function: Callable[..., Any], x: Sequence[float]) -> tuple[Graph, list[Any]]:
        graph = Graph()
        function(tuple(graph.input(f"x{i}") for i in range(len(x))))
        return graph, numbers_of(graph, x)

    return run


@pytest.fixture
def through_graph() -> Callable[..., Any]:
    """through_graph(function, x): traces the function of a vector on graph inputs, then evaluates the graph at x."""

    def run(function: Callable[..., Any], x: Sequence[float]) -> Any:
        graph = Graph()
        result = function(tuple(graph.input(f"x{i}") for i in range(len(x))))
        return replaced(result, numbers_of(graph, x))

    return run
