"""A Program: a graph with named, shaped inputs and outputs. What every backend takes and every trace makes.

Inputs are groups (`q`, `v`, `tau`, ...) whose entries are the graph's inputs in order, row by row; outputs are arrays
of signed references, row by row. A program knows its own operation count and has never heard of a robot.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property

from kinemorph.blocks import Block, Item
from kinemorph.codegen.graph import LEAVES, Graph, Node
from kinemorph.ops import OPS


@dataclass(frozen=True)
class Port:
    """A named array of a program. Shape () is a single number."""

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many numbers the array holds."""
        return math.prod(self.shape)


@dataclass(frozen=True, eq=False)
class Program:
    """Outputs as a function of inputs. `refs` are the outputs' entries, all ports one after the other."""

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    graph: Graph = field(repr=False)
    refs: tuple[int, ...] = field(repr=False)

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
        """Additions, subtractions and products: the figure by which formulations are compared."""
        return sum(self.op_counts.get(name, 0) for name in ("add", "sub", "mul"))

    @property
    def cost(self) -> int:
        """All operations weighted by the cost column of the op table and the cost of blocks."""
        return sum(OPS[op].cost if isinstance(op, str) else getattr(op, "cost", 0) for _, (op, *_) in self.steps)
