"""From a Python function to a Program: the function is run once on graph expressions, which record what it computes.

The function has to work on any scalar type: it uses `where` on its arguments, never `if`. Arithmetic on plain numbers
is done while tracing, and only its result enters the graph.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from kinemorph.codegen.graphs.graph import Expr, Graph
from kinemorph.codegen.graphs.program import Port, Program, checked_ports
from kinemorph.codegen.work_clock import at_work
from kinemorph.errors import ShapeError, TracingError

Shape = tuple[int, ...]


def trace(
    function: Callable[..., Any],
    inputs: Mapping[str, Shape],
    *,
    name: str = "",
    outputs: Mapping[str, Shape] | None = None,
) -> Program:
    """The Program of a function that works on any scalar type.

    `inputs` maps argument names to shapes: () a scalar, (n,) a list of n, (n, m) a list of rows. The function returns a
    scalar, nested sequences or an array of scalars (one output, "out"), or a dict of these by output name. `outputs`
    gives shapes that the result does not show, such as the shape of an empty matrix.
    """
    if not callable(function):
        raise TracingError(f"trace: {function!r} is given; expected a function. Pass a function of the inputs.")
    called = name or getattr(function, "__name__", "traced")
    owner = f"trace of '{called}'"
    given, declared = checked_ports(inputs, owner), checked_ports(outputs or {}, owner)
    graph = Graph()
    arguments = [_input(graph, port.name, port.shape) for port in given]
    with at_work("deriving", called):
        result = _run(function, arguments, owner)
    values = result if isinstance(result, Mapping) else {"out": result}
    if not values:
        raise TracingError(f"{owner}: the function returns an empty dict. Return at least one output, by name.")
    shapes = {port.name: port.shape for port in declared}
    unknown = [port for port in shapes if port not in values]
    if unknown:
        listed = ", ".join(f"'{port}'" for port in values)
        raise ShapeError(
            f"{owner}: `outputs` gives a shape for '{unknown[0]}', but the function returns only {listed}. Remove it "
            "from `outputs`, or return it."
        )
    ports: list[Port] = []
    refs: list[int] = []
    for port, value in values.items():
        shape, entries = _flat(value, f"{owner}: output '{port}'")
        ports += checked_ports({port: _agreed(shape, shapes.get(port, shape), f"{owner}: output '{port}'")}, owner)
        refs += map(graph.reference, entries)
    return Program(called, given, tuple(ports), graph, tuple(refs))


def _run(function: Callable[..., Any], arguments: list[Any], owner: str) -> Any:
    """The function's result; TracingError if it does not take these arguments or passes them to a NumPy function."""
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError as error:
        raise TracingError(
            f"{owner}: the function cannot be called with {len(arguments)} inputs ({error}). Give one shape for each "
            "argument."
        ) from None
    except ValueError:
        pass  # the signature of a built-in function is not known
    try:
        return function(*arguments)
    except TypeError as error:
        if "__array_ufunc__" not in str(error):
            raise
        raise TracingError(
            f"{owner}: a NumPy function is called on an expression, which NumPy does not support. Use sin, cos, sqrt, "
            "... of kinemorph.algebra.scalar."
        ) from error


def _input(graph: Graph, name: str, shape: Shape) -> Any:
    """New graph inputs for one argument, as nested lists of its shape; a single expression for shape ()."""
    if not shape:
        return graph.input(name)
    return [_input(graph, f"{name}[{k}]", shape[1:]) for k in range(shape[0])]


def _flat(value: Any, label: str) -> tuple[Shape, list[Any]]:
    """(shape, scalars row by row) of nested sequences; raises an error if they are ragged or hold other objects."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if not isinstance(value, (list, tuple)):
        if value.__class__ is Expr or (isinstance(value, (float, int, np.number, np.bool_)) and np.isreal(value)):
            return (), [value]
        raise TracingError(
            f"{label} is or contains a {type(value).__name__} ({value!r}). Return an expression, a number, or nested "
            "lists of them."
        )
    rows = [_flat(item, label) for item in value]
    shapes = [shape for shape, _ in rows]
    for k, shape in enumerate(shapes):
        if shape != shapes[0]:
            raise ShapeError(
                f"{label} is ragged: entry 0 has shape {shapes[0]}, entry {k} has shape {shape}. Give all entries the "
                "same shape, or return a dict of several outputs."
            )
    inner = shapes[0] if shapes else ()
    return (len(rows), *inner), [entry for _, entries in rows for entry in entries]


def _agreed(seen: Shape, wanted: Shape, label: str) -> Shape:
    """The declared shape `wanted`; ShapeError if it differs from the shape `seen` of a result that is not empty."""
    if seen != wanted and not (0 in seen and 0 in wanted):
        raise ShapeError(f"{label} has shape {seen}, but `outputs` gives {wanted}. Correct one of them.")
    return wanted


def entries_of(value: Any) -> Iterable[Any]:
    """The scalars in nested lists or tuples, row by row; a scalar gives itself."""
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from entries_of(item)
    else:
        yield value
