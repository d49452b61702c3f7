"""A Program: a graph with named, shaped inputs and outputs. What every backend takes and every trace makes.

Inputs are groups (`q`, `v`, `tau`, ...) whose entries are the graph's inputs in order, row by row; outputs are arrays
of signed references, row by row. A program knows its own operation count and has never heard of a robot.
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
from kinemorph.frozen import dataclass
from kinemorph.vocabulary.blocks import Block, Item
from kinemorph.vocabulary.ops import OPS

if TYPE_CHECKING:
    from kinemorph.codegen.loops.loop_program import LoopProgram


@dataclass(frozen=True)
class Port:
    """A named array of a program. Shape () is a single number."""

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many numbers the array holds."""
        return math.prod(self.shape)


def entry_names(port: Port) -> list[str]:
    """The names of a port's entries row by row: `q[0]`, `M[1, 2]`; a single number has the port's own name."""
    if port.shape == ():
        return [port.name]
    return [f"{port.name}[{', '.join(map(str, place))}]" for place in np.ndindex(*port.shape)]


def checked_ports(ports: Mapping[str, Any], owner: str) -> tuple[Port, ...]:
    """Ports from shapes by name; raises ShapeError for what is not a name with a shape."""
    if not isinstance(ports, Mapping):
        raise ShapeError(f"{owner}: {_shown(ports)} is given for the shapes; expected a dict such as {{'x': (3,)}}.")
    return tuple(_port(name, shape, owner) for name, shape in ports.items())


def _port(name: Any, shape: Any, owner: str) -> Port:
    if not isinstance(name, str):
        raise ShapeError(f"{owner}: {name!r} is given as the name of an array; expected a text.")
    if not isinstance(shape, (tuple, list)):
        hint = f"Write ({shape},)." if isinstance(shape, int) else "Write () for a number, (3,) for a list of three."
        raise ShapeError(f"{owner}: '{name}' has the shape {_shown(shape)}; expected a tuple of whole numbers. {hint}")
    for size in shape:
        if not isinstance(size, (int, np.integer)) or isinstance(size, bool) or size < 0:
            raise ShapeError(
                f"{owner}: '{name}' has the shape {tuple(shape)}; expected whole numbers from 0 up. "
                "An array without entries has an axis of length 0."
            )
    return Port(name, tuple(int(size) for size in shape))


def as_program(value: object, what: str, kinds: tuple[type, ...] = ()) -> Any:
    """The value itself where it is a Program (or one of `kinds`); otherwise an error that says what it is.

    `what` names the caller, as in "build". Every function that takes programs from users calls this one.
    """
    if isinstance(value, (Program, *kinds)):
        return value
    inner = getattr(value, "program", None)
    if hasattr(inner, "inputs") and hasattr(inner, "outputs"):
        name = getattr(value, "name", "")
        raise CompileError(
            f"{what}: '{name}' is a compiled function; expected the program it was made of. Pass function.program."
        )
    if callable(inner) or (callable(value) and not isinstance(value, type)):
        remedy = "Finish it with .program()." if callable(inner) else "Trace it first: trace(function, {'x': (3,)})."
        name = getattr(value, "name", "") or getattr(value, "__name__", type(value).__name__)
        raise CompileError(f"{what}: '{name}' is a {type(value).__name__}; expected a program. {remedy}")
    if hasattr(value, "inputs") and hasattr(value, "body"):
        raise UnsupportedError(
            f"{what}: '{getattr(value, 'name', '')}' runs in loops; expected a straight-line program, as trace gives. "
            "Take one of the programs that it calls."
        )
    raise CompileError(f"{what}: {_shown(value)} is given; expected a program, as trace gives.")


def as_programs(values: object, what: str, kinds: tuple[type, ...] = ()) -> Any:
    """Several programs, at least one; see `as_program`."""
    if isinstance(values, (Program, *kinds)) or not isinstance(values, Iterable) or isinstance(values, (str, bytes)):
        one = as_program(values, what, kinds)
        raise CompileError(f"{what}: program '{one.name}' is given alone; expected a list of programs. Pass [program].")
    programs = [as_program(value, what, kinds) for value in values]
    if not programs:
        raise CompileError(f"{what}: the list of programs is empty; expected one or more. Pass [program].")
    return programs


def _shown(value: object) -> str:
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
        """Whether numbers decide how often a loop runs, in it or in a program that it calls."""

    @property
    def key(self) -> str:
        """A hash of what it computes: programs with equal keys are compiled to the same code."""

    @property
    def traced(self) -> Program | LoopProgram:
        """The program with its graph."""


@dataclass(frozen=True, eq=False)
class Program:
    """Outputs as a function of inputs. `refs` are the outputs' entries, all ports one after the other.

    `for_one`, see `with_loops_for_one`, is left behind where a program is changed by `replace`.
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
                f"program '{self.name}': its outputs hold {expected} numbers; {len(self.refs)} references are given. "
                "Give one for each entry, row by row."
            )

    @cached_property
    def order(self) -> list[int]:
        """The ids to evaluate, arguments first; leaves and unused nodes included only where an output needs them."""
        return self.graph.reachable(self.refs)

    @cached_property
    def steps(self) -> list[tuple[int, Node]]:
        """The operations to carry out, arguments first: pairs of id and node, leaves left out."""
        nodes = self.graph.nodes
        return [(i, nodes[i]) for i in self.order if nodes[i][0] not in LEAVES]

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The block ops among its operations, each once, in the order they are met."""
        return tuple(dict.fromkeys(node[0] for _, node in self.steps if isinstance(node[0], Block)))

    @property
    def ops(self) -> int:
        """The number of its operations; a block counts as one, its entries as none."""
        return sum(self.op_counts.values())

    @cached_property
    def op_counts(self) -> dict[str, int]:
        """How often each op occurs, most frequent first; blocks by their label."""
        ops = (node[0] for _, node in self.steps)
        return dict(
            Counter(op if isinstance(op, str) else op.label for op in ops if type(op) is not Item).most_common()
        )

    @property
    def flops(self) -> int:
        """Additions, subtractions and products: the count by which formulations are compared."""
        return sum(self.op_counts.get(name, 0) for name in ("add", "sub", "mul"))

    @property
    def cost(self) -> int:
        """All operations weighted by the cost column of the op table and the cost of blocks."""
        return sum(OPS[op].cost if isinstance(op, str) else getattr(op, "cost", 0) for _, (op, *_) in self.steps)

    @cached_property
    def key(self) -> str:
        """A hash of what it computes; see `graphs.keys`."""
        extra = [] if self.for_one is None else [self.for_one.key.encode()]
        return hashed(self.inputs, self.outputs, [*graph_parts(self), *extra])

    @property
    def traced(self) -> Program:
        """The program itself; see `Runnable`."""
        return self


def with_loops_for_one(program: Program, loops: LoopProgram) -> Program:
    """The program, with a loop program that does the same and is faster on one state; ports are of the same sizes.

    Machine code for one state takes the loops, a batch of states in lanes the operations as they are.
    """
    sizes = [[port.size for port in (*one.inputs, *one.outputs)] for one in (program, loops)]
    if sizes[0] != sizes[1]:
        raise CompileError(
            f"program '{program.name}' has ports of sizes {sizes[0]}; '{loops.name}', which is to do the same, "
            f"{sizes[1]}. Give both the same ports."
        )
    made = replace(program)
    object.__setattr__(made, "for_one", loops)
    return made
