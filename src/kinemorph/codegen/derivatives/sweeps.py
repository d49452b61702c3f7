"""Forward and reverse sweeps of automatic differentiation through a whole graph.

A *direction* gives tangents to some inputs; `push` propagates it to every node that depends on them. A *row* gives
adjoints to some outputs; `pull` propagates it back to every node that they depend on. Both are maps from node ids to
signed references, and both skip derivatives that are structurally zero: a node that a direction does not reach is not
visited for it. Blocks take all directions, or all rows, at once. Directions are swept one after the other, not all of
them node by node: then few values are alive at a time, and the code is faster.

Zero times infinity. In forward mode, the tangent of a branch that is not taken is dropped where the branches meet, even
if it is not finite. In reverse mode, the adjoint of a branch that is not taken is zero, and must stay zero whatever the
partial derivative is. So a product `adjoint * partial` is guarded, but only where it can matter:

    * inside a branch, for a partial that may be inf or NaN: the product is used only where the branch is taken, which
      the row's `gates` say;
    * at an op whose partial is unbounded although its value is finite (sqrt at 0, asin at 1, atan2 at the origin):
      the product is zero where the adjoint is zero and the partial is larger than BEYOND.

Neither depends on the adjoint alone: a guard `adjoint == 0` would lose the second derivative of (sqrt(x) - 1)^2 at 1.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import reduce

from kinemorph.codegen.derivatives.node_derivatives import STEEP, Choice, Linearizer
from kinemorph.codegen.derivatives.sparsity import gather, spread
from kinemorph.codegen.graphs.graph import LEAVES, Graph
from kinemorph.vocabulary.blocks import Block, Item

Seed = Mapping[int, int]  # node id -> signed reference of its tangent or adjoint
Sweep = list[dict[int, int]]  # one map for each direction or row


def seed_sets(seeds: Sequence[Seed]) -> dict[int, int]:
    """For each node the set of seeds in which it has a nonzero tangent or adjoint, as a bit mask."""
    sets: dict[int, int] = {}
    for k, seed in enumerate(seeds):
        for i, ref in seed.items():
            if ref:
                sets[i] = sets.get(i, 0) | 1 << k
    return sets


def signed(found: Mapping[int, int], ref: int) -> int:
    """The tangent or adjoint of node `ref`, or minus that of node `-ref` if `ref` is negative; 0 if there is none.

    `found` maps node ids to references of tangents or adjoints.
    """
    return found.get(ref, 0) if ref > 0 else -found.get(-ref, 0)


def push(graph: Graph, order: Sequence[int], directions: Sequence[Seed]) -> Sweep:
    """Forward mode: for each direction the nonzero tangents of the nodes of `order`, by node id."""
    felt = spread(graph, order, seed_sets(directions))
    linearize = Linearizer(graph, felt)
    tangents: Sweep = [dict(seed) for seed in directions]
    for run in _runs(graph, felt):
        if isinstance(graph.nodes[run[0]][0], Block):
            _push_block(graph, run[0], tangents, linearize)
            continue
        for d, own in enumerate(tangents):
            _push_direction([i for i in run if felt[i] >> d & 1], own, linearize)
    return tangents


def pull(graph: Graph, order: Sequence[int], rows: Sequence[Seed], inputs: Collection[int]) -> Sweep:
    """Reverse mode: for each row the adjoints of the nodes between its seeds and `inputs`, by node id."""
    felt = spread(graph, order, dict.fromkeys(inputs, 1))
    path = [i for i in order if i in felt]
    wanted = gather(graph, path, seed_sets(rows))
    linearize = Linearizer(graph, felt)
    back = [_Row(seed, linearize) for seed in rows]
    for run in _runs(graph, reversed(path)):
        if isinstance(graph.nodes[run[0]][0], Block):
            _pull_block(graph, run[0], back, linearize)
            continue
        for r, row in enumerate(back):
            row.pull([i for i in run if wanted.get(i, 0) >> r & 1])
    return [row.adjoints for row in back]


def _runs(graph: Graph, ids: Iterable[int]) -> Iterator[list[int]]:
    """The node ids `ids` divided into lists: each block op (such as solving linear equations) alone in a list.

    Inputs, constants and the nodes that read single results of a block are left out.
    """
    run: list[int] = []
    for i in ids:
        op = graph.nodes[i][0]
        if isinstance(op, Block):
            if run:
                yield run
            yield [i]
            run = []
        elif op not in LEAVES and type(op) is not Item:
            run.append(i)
    if run:
        yield run


# ── forward ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _push_direction(ids: Sequence[int], own: dict[int, int], linearize: Linearizer) -> None:
    """Adds the tangents of the nodes `ids` along one direction to `own`, a map of node id -> tangent (reference).

    `linearize` gives the derivative of each node.
    """
    refs = linearize.refs
    plus, times = refs.plus, refs.times
    for i in ids:
        row = linearize(i)
        if isinstance(row, Choice):
            total = refs.where(row.condition, signed(own, row.chosen), signed(own, row.otherwise))
        else:
            total = 0
            for arg, weight in row.terms:
                total = plus(total, times(signed(own, arg), weight))
            total = times(total, row.factor)
        if total:
            own[i] = total


def _push_block(graph: Graph, i: int, tangents: Sweep, linearize: Linearizer) -> None:
    """Adds the tangents of the entries of block i to `tangents`, for all directions at once."""
    args = graph.nodes[i][1:]
    found = linearize.block_forward(i, [[signed(own, arg) for arg in args] for own in tangents])
    for own, entries in zip(tangents, found, strict=True):
        own.update({graph.intern((Item(k), i)): ref for k, ref in enumerate(entries) if ref})


# ── reverse ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class _Row:
    """One row of a reverse sweep: the adjoints of nodes, and their gates, which are nonzero where a branch is taken."""

    def __init__(self, seed: Seed, linearize: Linearizer) -> None:
        self.linearize = linearize
        self.adjoints = {i: ref for i, ref in seed.items() if i in linearize.moving}
        self.gates = dict.fromkeys(self.adjoints, linearize.refs.one)

    def give(self, arg: int, adjoint: int, gate: int) -> None:
        """Adds a contribution to the adjoint of an argument, if the argument depends on an input at all."""
        child, refs = abs(arg), self.linearize.refs
        if not adjoint or child not in self.linearize.moving:
            return
        if arg < 0:
            adjoint = -adjoint
        if child not in self.gates:
            self.adjoints[child], self.gates[child] = adjoint, gate
            return
        self.adjoints[child] = refs.plus(self.adjoints[child], adjoint)
        self.gates[child] = refs.either(self.gates[child], gate)

    def pull(self, ids: Sequence[int]) -> None:
        """Propagates the adjoints of the operations `ids`, in this order, to their arguments; `ids` has no blocks."""
        linearize, refs = self.linearize, self.linearize.refs
        for i in ids:
            adjoint = self.adjoints.get(i, 0)
            if not adjoint:
                continue
            row, gate = linearize(i), self.gates[i]
            if isinstance(row, Choice):
                taken = row.condition if gate == refs.one else refs.where(row.condition, gate, 0)
                self.give(row.chosen, refs.where(row.condition, adjoint, 0), taken)
                self.give(row.otherwise, refs.where(row.condition, 0, adjoint), refs.where(row.condition, 0, gate))
                continue
            steep = linearize.graph.nodes[i][0] in STEEP
            adjoint = self._product(adjoint, row.factor, gate, steep=False)
            for arg, weight in row.terms:
                self.give(arg, self._product(adjoint, weight, gate, steep), gate)

    def _product(self, adjoint: int, weight: int, gate: int, steep: bool) -> int:
        """adjoint * weight, guarded where this may be zero times infinity (see the docstring of this file)."""
        linearize, refs = self.linearize, self.linearize.refs
        product = refs.times(adjoint, weight)
        if steep:
            return refs.where(refs.where(adjoint, refs.one, refs.bounded(weight)), product, 0)
        if gate != refs.one and linearize.unbounded(weight):
            return refs.where(gate, product, 0)
        return product


def _pull_block(graph: Graph, i: int, rows: Sequence[_Row], linearize: Linearizer) -> None:
    """Propagates the adjoints of the entries of block i to its arguments, for all rows at once."""
    refs = linearize.refs
    block, *args = graph.nodes[i]
    entries = [graph.intern((Item(k), i)) for k in range(block.n_out)]
    found = linearize.block_reverse(i, [[row.adjoints.get(entry, 0) for entry in entries] for row in rows])
    for row, results in zip(rows, found, strict=True):
        gates = [row.gates[entry] for entry in entries if entry in row.gates]
        if gates:
            gate = reduce(refs.either, gates)
            for arg, result in zip(args, results, strict=True):
                row.give(arg, refs.where(gate, result, 0), gate)
