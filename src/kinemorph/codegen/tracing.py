"""From a function to a Program: run it once on graph nodes and keep what it computed.

The function may be anything that computes over any scalar: no `if` on its arguments, only `where`. What it does with
plain numbers is done here and now, and only the result enters the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kinemorph.codegen.graph import Graph
from kinemorph.codegen.program import Port, Program

Shape = tuple[int, ...]


def trace(
    function: Callable[..., Any],
    inputs: Mapping[str, Shape],
    *,
    name: str = "",
    outputs: Mapping[str, Shape] | None = None,
) -> Program:
    """The Program of a function that computes over any scalar.

    `inputs` maps argument names to shapes: () a scalar, (n,) a list of n, (n, m) a list of rows. The function returns a
    scalar, nested sequences of scalars (one output, "out"), or a dict of those by output name. `outputs` gives the
    shapes that cannot be seen from the result, as that of an empty matrix.
    """
    graph = Graph()
    arguments = [_input(graph, port, shape) for port, shape in inputs.items()]
    result = function(*arguments)
    values = result if isinstance(result, Mapping) else {"out": result}
    ports: list[Port] = []
    refs: list[int] = []
    for port, value in values.items():
        ports.append(Port(port, (outputs or {}).get(port) or _shape_of(value)))
        refs.extend(graph.reference(entry) for entry in entries_of(value))
    names = tuple(Port(port, tuple(shape)) for port, shape in inputs.items())
    return Program(name or getattr(function, "__name__", "traced"), names, tuple(ports), graph, tuple(refs))


def _input(graph: Graph, name: str, shape: Shape) -> Any:
    if not shape:
        return graph.input(name)
    return [_input(graph, f"{name}[{k}]", shape[1:]) for k in range(shape[0])]


def _shape_of(value: Any) -> Shape:
    if isinstance(value, (list, tuple)):
        return (len(value), *_shape_of(value[0])) if value else (0,)
    return ()


def entries_of(value: Any) -> Iterable[Any]:
    """The scalars of nested lists or tuples, row by row."""
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from entries_of(item)
    else:
        yield value
