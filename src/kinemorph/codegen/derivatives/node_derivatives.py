"""The derivative of a single operation, as weights on its arguments.

    y = op(a, b, ...)      dy = factor * (weight_a da + weight_b db + ...)        `Weights`
    y = where(c, a, b)     dy = where(c, da, db)                                  `Choice`

Forward sweeps read such an equation from right to left, reverse sweeps from left to right. All directions share it, so
a partial derivative is one expression however often it is used. The partial derivatives come from the op table,
evaluated on graph expressions. Only ops where that takes more operations than necessary have their own rule here: sums
and products, whose partial derivatives are known, and quotients, which have the common factor 1/b.

`where`, `min` and `max` *choose* a tangent. They never multiply by 0 or 1, so that an infinity or a NaN in the branch
that is not taken does not reach the result.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from kinemorph.codegen.derivatives.row_sum_rule import ROW_SUM
from kinemorph.codegen.graphs.graph import LEAVES, Expr, Graph, Node, apply
from kinemorph.codegen.graphs.row_sums import RowSum
from kinemorph.vocabulary.block_derivatives import RULES
from kinemorph.vocabulary.blocks import Block, Solve
from kinemorph.vocabulary.ops import OPS

# Ops whose partial derivatives are infinite at the edge of the domain, where the value is finite: sqrt at 0, asin at 1.
STEEP = frozenset({"sqrt", "pow", "asin", "acos", "atan2"})
BEYOND = 1e38  # larger values count as infinite; the number itself fits a float32
BLOCK_RULES = {**RULES, RowSum: ROW_SUM}
# Ops that may give inf or NaN for finite arguments.
UNBOUNDED = frozenset({"div", "log", "sqrt", "pow", "asin", "acos", "tan", "exp"})


class Weights(NamedTuple):
    """The derivative of an op: dy = factor * sum of weight * d(argument).

    All entries are signed references: node ids, negative for minus the node.
    """

    factor: int
    terms: tuple[tuple[int, int], ...]  # (argument, weight)


class Choice(NamedTuple):
    """The derivative of a `where`: dy = d(chosen) where the condition is not zero, else d(otherwise).

    All entries are signed references: node ids, negative for minus the node.
    """

    condition: int
    chosen: int
    otherwise: int


class References:
    """Arithmetic on references of one graph (k is node k, -k is minus node k), with x + 0, 0 * x and 1 * x folded.

    Reference 0 is the number 0.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.one = graph.constant(1.0)

    def plus(self, a: int, b: int) -> int:
        if a == 0:
            return b
        return a if b == 0 else self.graph.reference(apply(self.graph, "add", (a, b)))

    def times(self, a: int, b: int) -> int:
        if a == 0 or b == 0:
            return 0
        if a == self.one:
            return b
        return a if b == self.one else self.graph.reference(Expr(self.graph, a) * Expr(self.graph, b))

    def where(self, condition: int, chosen: int, otherwise: int) -> int:
        return self.graph.reference(apply(self.graph, "where", (condition, chosen, otherwise)))

    def either(self, a: int, b: int) -> int:
        """The node of an expression that is nonzero where the value of node a or of node b is nonzero."""
        if a == b:
            return a
        return self.one if self.one in (a, b) else self.where(a, self.one, b)

    def bounded(self, a: int) -> int:
        """The node of an expression that is 1 where |value of node a| < BEYOND, else 0, also for inf and NaN."""
        return self.call("lt", self.call("abs", a), self.graph.constant(BEYOND))

    def call(self, name: str, *refs: int) -> int:
        """The node of op `name` ("mul", "sin") applied to the nodes `refs`, as a reference."""
        return self.graph.reference(apply(self.graph, name, refs))


class Vocabulary:
    """The ops as functions of expressions of one graph and numbers; the derivatives in the op table call it `f`."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def __getattr__(self, name: str) -> Callable[..., Any]:
        graph = self._graph
        return lambda *args: apply(graph, name, tuple(map(graph.reference, args)))

    def pow(self, a: Any, b: Any) -> Any:
        return a**b  # powers with whole exponents become products

    def div(self, a: Any, b: Any) -> Any:
        """a / b as a * (1 / b): other partial derivatives of the same node share 1 / b."""
        return a * apply(self._graph, "div", (self._graph.reference(1.0), self._graph.reference(b)))


class Linearizer:
    """Returns the `Weights` or the `Choice` of a node of a graph, computed at the first call and then stored."""

    def __init__(self, graph: Graph, moving: Collection[int]) -> None:
        """`moving` are the ids of the nodes that have a tangent; terms of other nodes are left out."""
        self.graph = graph
        self.refs = References(graph)
        self.vocabulary = Vocabulary(graph)
        self.moving = moving
        self._found: dict[int, Weights | Choice] = {}
        self._unbounded: list[bool] = []  # by id, for the nodes checked so far

    def __call__(self, i: int) -> Weights | Choice:
        found = self._found.get(i)
        if found is None:
            node = self.graph.nodes[i]
            special = SPECIAL.get(node[0])
            found = special(self, i, node) if special else self._by_row(i, node)
            self._found[i] = found
        return found

    def unbounded(self, ref: int) -> bool:
        """Whether the value of node |ref| may be inf or NaN for finite inputs."""
        known, nodes = self._unbounded, self.graph.nodes
        for node in nodes[len(known) : abs(ref) + 1]:
            leaf = node[0] in LEAVES
            risky = node[0] in UNBOUNDED or isinstance(node[0], Solve)
            known.append(not leaf and (risky or any(known[abs(arg)] for arg in node[1:])))
        return known[abs(ref)]

    # ── blocks, by their rules ────────────────────────────────────────────────────────────────────────────────────────

    def block_forward(self, i: int, tangents: Sequence[Sequence[int]]) -> list[list[int]]:
        """Tangents of the results of the block at node i from the tangents of its arguments; one row per direction.

        Tangents are references: node ids, negative for minus the node.
        """
        block, args, values = self._block(i)
        given = [list(map(self._known, row)) for row in tangents]
        return self._references(BLOCK_RULES[type(block)].forward(block, self._evaluate, args, values, given))

    def block_reverse(self, i: int, adjoints: Sequence[Sequence[int]]) -> list[list[int]]:
        """Adjoints of the arguments of the block at node i from the adjoints of its results; one row per output entry.

        Adjoints are references: node ids, negative for minus the node.
        """
        block, args, values = self._block(i)
        given = [list(map(self._known, row)) for row in adjoints]
        moving = [abs(ref) in self.moving for ref in self.graph.nodes[i][1:]]
        return self._references(BLOCK_RULES[type(block)].reverse(block, self._evaluate, args, values, given, moving))

    def _block(self, i: int) -> tuple[Block, list[Any], list[Any]]:
        """(block, arguments, values of its entries) of node i."""
        block, *refs = self.graph.nodes[i]
        return block, list(map(self._known, refs)), self.graph.block(block, refs)

    def _evaluate(self, block: Block, args: Sequence[Any]) -> list[Any]:
        return self.graph.block(block, list(map(self.graph.reference, args)))

    def _references(self, rows: Sequence[Sequence[Any]]) -> list[list[int]]:
        return [list(map(self.graph.reference, row)) for row in rows]

    def _known(self, ref: int) -> Any:
        """Node `ref`, or minus node `-ref` if `ref` is negative: as a float if it is a constant, else as an Expr."""
        value = self.graph.value_of(ref)
        return Expr(self.graph, ref) if value is None else value

    # ── ops ───────────────────────────────────────────────────────────────────────────────────────────────────────────

    def _by_row(self, i: int, node: Node) -> Weights:
        """The weights of node i from its derivative in the op table."""
        graph = self.graph
        derivative = OPS[node[0]].derivative
        if derivative is None:
            return Weights(self.refs.one, ())
        arguments = list(map(self._known, node[1:]))
        with np.errstate(all="ignore"):  # an unneeded derivative may be undefined, as the log in pow
            partials = derivative(self.vocabulary, *arguments, Expr(graph, i))
        return self.weights(zip(node[1:], map(graph.reference, partials), strict=True))

    def weights(self, terms: Any, factor: int | None = None) -> Weights:
        """Weights without the terms of arguments that have no tangent or a zero weight."""
        kept = tuple(term for term in terms if abs(term[0]) in self.moving and term[1] != 0)
        return Weights(self.refs.one if factor is None else factor, kept)

    def add(self, i: int, node: Node) -> Weights:
        return self.weights(((node[1], self.refs.one), (node[2], self.refs.one)))

    def sub(self, i: int, node: Node) -> Weights:
        return self.weights(((node[1], self.refs.one), (node[2], -self.refs.one)))

    def mul(self, i: int, node: Node) -> Weights:
        _, a, b = node
        if a == b:
            return self.weights(((a, self.refs.plus(a, a)),))
        return self.weights(((a, b), (b, a)))

    def div(self, i: int, node: Node) -> Weights:
        """The weights of a quotient at node i: d(a/b) = (da - (a/b) db) / b; without da if a has no tangent."""
        _, a, b = node
        inverse = self.refs.call("div", self.refs.one, b)
        if abs(a) in self.moving:
            return self.weights(((a, self.refs.one), (b, -i)), inverse)
        return self.weights(((b, -self.refs.times(i, inverse)),))

    def where(self, i: int, node: Node) -> Choice:
        return Choice(*node[1:])

    def min(self, i: int, node: Node) -> Choice:
        return Choice(self.refs.call("le", node[1], node[2]), node[1], node[2])

    def max(self, i: int, node: Node) -> Choice:
        return Choice(self.refs.call("le", node[2], node[1]), node[1], node[2])


SPECIAL: dict[str, Callable[[Linearizer, int, Node], Weights | Choice]] = {
    "add": Linearizer.add,
    "sub": Linearizer.sub,
    "mul": Linearizer.mul,
    "div": Linearizer.div,
    "where": Linearizer.where,
    "min": Linearizer.min,
    "max": Linearizer.max,
}
