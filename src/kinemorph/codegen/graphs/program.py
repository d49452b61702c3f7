"""A Program: a graph with named, shaped inputs and outputs. Tracing makes programs, and every backend takes them.

Inputs are groups (`q`, `v`, `tau`, ...) whose entries are the graph's inputs in order, row by row; outputs are arrays
of signed references, row by row. A program knows its operation count; it knows nothing about robots.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from kinemorph.codegen.graphs.graph import LEAVES, Graph, Node
from kinemorph.codegen.graphs.keys import graph_parts, hashed
from kinemorph.errors import CompileError, ShapeError, UnsupportedError
from kinemorph.frozen import Fixed, dataclass
from kinemorph.vocabulary.blocks import Block, Item
from kinemorph.vocabulary.ops import OPS

if TYPE_CHECKING:
    from kinemorph.codegen.loops.loop_program import LoopProgram


@dataclass(frozen=True)
class Port:
    """A named input or output array of a program. Shape () is a single number."""

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """The number of entries of the array."""
        return math.prod(self.shape)


def entry_names(port: Port) -> list[str]:
    """The names of a port's entries row by row: `q[0]`, `M[1, 2]`; a single number has the port's own name."""
    if port.shape == ():
        return [port.name]
    return [f"{port.name}[{', '.join(map(str, place))}]" for place in np.ndindex(*port.shape)]


def checked_ports(ports: Mapping[str, Any], owner: str) -> tuple[Port, ...]:
    """Ports from a dict of shapes by name; raises ShapeError if a name or a shape is not valid.

    `owner` names the program in messages.
    """
    if not isinstance(ports, Mapping):
        raise ShapeError(f"{owner}: {_shown(ports)} is given for the shapes; expected a dict such as {{'x': (3,)}}.")
    return tuple(_port(name, shape, owner) for name, shape in ports.items())


def _port(name: Any, shape: Any, owner: str) -> Port:
    """A port with a checked name and shape."""
    if not isinstance(name, str):
        raise ShapeError(f"{owner}: {name!r} is given as the name of an array; expected a string.")
    if not isinstance(shape, (tuple, list)):
        hint = f"Write ({shape},)." if isinstance(shape, int) else "Write () for a number, (3,) for a list of three."
        raise ShapeError(f"{owner}: '{name}' has the shape {_shown(shape)}; expected a tuple of whole numbers. {hint}")
    for size in shape:
        if not isinstance(size, (int, np.integer)) or isinstance(size, bool) or size < 0:
            raise ShapeError(
                f"{owner}: '{name}' has the shape {tuple(shape)}; expected whole numbers, 0 or more. "
                "Write (0,) for an array without entries."
            )
    return Port(name, tuple(int(size) for size in shape))


def as_program(value: object, what: str, kinds: tuple[type, ...] = ()) -> Any:
    """The value itself if it is a Program (or one of `kinds`); else raises an error that says what was given instead.

    `what` names the caller in messages, as in "build". Every function that takes programs from users calls this one.
    """
    if isinstance(value, (Program, *kinds)):
        return value
    inner = getattr(value, "program", None)
    if hasattr(inner, "inputs") and hasattr(inner, "outputs"):
        name = getattr(value, "name", "")
        raise CompileError(f"{what}: '{name}' is a compiled function; expected its program. Pass function.program.")
    if callable(inner) or (callable(value) and not isinstance(value, type)):
        remedy = "Finish it with .program()." if callable(inner) else "Trace it first: trace(function, {'x': (3,)})."
        name = getattr(value, "name", "") or getattr(value, "__name__", type(value).__name__)
        raise CompileError(f"{what}: '{name}' is a {type(value).__name__}; expected a program. {remedy}")
    if hasattr(value, "inputs") and hasattr(value, "body"):
        raise UnsupportedError(
            f"{what}: '{getattr(value, 'name', '')}' is a loop program; expected a program without loops, as trace "
            "returns. Pass one of the programs that it calls."
        )
    raise CompileError(f"{what}: {_shown(value)} is given; expected a program. Make one with trace(...).")


def as_programs(values: object, what: str, kinds: tuple[type, ...] = ()) -> Any:
    """A list of one or more programs, checked by `as_program`; raises CompileError for anything else."""
    if isinstance(values, (Program, *kinds)) or not isinstance(values, Iterable) or isinstance(values, (str, bytes)):
        one = as_program(values, what, kinds)
        raise CompileError(f"{what}: program '{one.name}' is given alone; expected a list of programs. Pass [program].")
    programs = [as_program(value, what, kinds) for value in values]
    if not programs:
        raise CompileError(f"{what}: the list of programs is empty; expected one or more. Pass [program].")
    return programs


def _shown(value: object) -> str:
    """A value as text for a message, at most 60 characters, with its type."""
    text = repr(value)
    return f"{text if len(text) < 60 else text[:57] + '...'} (a {type(value).__name__})"


class Runnable(Protocol):
    """A program that can be run: a `Program`, a `LoopProgram`, or a `Recalled` program that is not traced yet."""

    @property
    def name(self) -> str: ...
    @property
    def inputs(self) -> tuple[Port, ...]: ...
    @property
    def outputs(self) -> tuple[Port, ...]: ...
    @property
    def ops(self) -> int: ...
    @property
    def flops(self) -> int: ...
    @property
    def cost(self) -> int: ...
    @property
    def decided_by_data(self) -> bool:
        """Whether the number of passes of a loop depends on data, here or in a program that is called."""

    @property
    def key(self) -> str:
        """A hash of what the program computes: programs with equal keys are compiled to the same code."""

    @property
    def traced(self) -> Program | LoopProgram:
        """The program with its graph, which a `Recalled` program traces at the first access."""


@dataclass(frozen=True, eq=False)
class Program(Fixed):
    """A traced function: a graph, named ports, and `refs`, the signed references of all output entries, port by port.

    `for_one` is a loop program for single states (see `with_loops_for_one`); `replace` does not copy it.
    """

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    graph: Graph = field(repr=False)
    refs: tuple[int, ...] = field(repr=False)
    for_one: LoopProgram | None = field(default=None, init=False, repr=False)

    decided_by_data = False  # it has no loops

    def __post_init__(self) -> None:
        expected = sum(port.size for port in self.outputs)
        if len(self.refs) != expected:
            raise CompileError(
                f"program '{self.name}': its outputs have {expected} entries; {len(self.refs)} references are given. "
                "Give one reference for each entry, row by row."
            )

    @cached_property
    def order(self) -> list[int]:
        """The ids of the nodes that the outputs need, leaves included, arguments before the nodes that use them."""
        return self.graph.reachable(self.refs)

    @cached_property
    def steps(self) -> list[tuple[int, Node]]:
        """The operations to evaluate, arguments first: pairs of id and node, without leaves."""
        nodes = self.graph.nodes
        return [(i, nodes[i]) for i in self.order if nodes[i][0] not in LEAVES]

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The different block ops of the program, in the order of their first use."""
        return tuple(dict.fromkeys(node[0] for _, node in self.steps if isinstance(node[0], Block)))

    @property
    def sums_rows(self) -> bool:
        """Whether it sums formulas over the rows of tables; see `row_sums`."""
        return any(block.of_rows for block in self.blocks)

    @property
    def ops(self) -> int:
        """The number of operations; a block (see `op_counts`) counts as one, and reading its results as none."""
        return sum(self.op_counts.values())

    @cached_property
    def op_counts(self) -> dict[str, int]:
        """How often each op ("add", "sin") occurs, most frequent first.

        Blocks, operations on many numbers such as solving linear equations, are listed by their label.
        """
        ops = (node[0] for _, node in self.steps)
        return dict(
            Counter(op if isinstance(op, str) else op.label for op in ops if type(op) is not Item).most_common()
        )

    @property
    def flops(self) -> int:
        """The number of additions, subtractions and products, by which formulations are compared."""
        return sum(self.op_counts.get(name, 0) for name in ("add", "sub", "mul"))

    @property
    def cost(self) -> int:
        """The sum of the costs of all operations, from the op table or from the block."""
        return sum(OPS[op].cost if isinstance(op, str) else getattr(op, "cost", 0) for _, (op, *_) in self.steps)

    @cached_property
    def key(self) -> str:
        """A hash of what the program computes; see `graphs.keys`."""
        extra = [] if self.for_one is None else [self.for_one.key.encode()]
        return hashed(self.inputs, self.outputs, [*graph_parts(self), *extra])

    @property
    def traced(self) -> Program:
        """The program itself; see `Runnable`."""
        return self


def with_loops_for_one(program: Program, loops: LoopProgram) -> Program:
    """A copy of `program` that also holds `loops`, a loop program that computes the same and is faster for one state.

    Machine code for one state runs the loop program; a batch of states in SIMD lanes runs the operations of `program`.
    The ports of both have the same sizes.
    """
    sizes = [[port.size for port in (*one.inputs, *one.outputs)] for one in (program, loops)]
    if sizes[0] != sizes[1]:
        raise CompileError(
            f"program '{program.name}' has ports of sizes {sizes[0]}, but its loop program '{loops.name}' has ports "
            f"of sizes {sizes[1]}. Give both the same ports."
        )
    made = replace(program)
    object.__setattr__(made, "for_one", loops)
    return made
