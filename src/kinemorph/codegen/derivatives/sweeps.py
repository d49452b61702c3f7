"""Derivatives through a whole graph: forward with the evaluation, or back from the outputs.

A *direction* gives tangents to some inputs; `push` carries it to every node that feels it. A *row* gives adjoints to
some outputs; `pull` carries it back to every node it depends on. Both are maps from node ids to signed references, and
both skip what is structurally zero: a node that a direction does not reach is never looked at for it. Blocks take all
directions, or all rows, at once. Directions are carried one after the other, not node by node: few values are alive at
a time, and the code is faster for it.

Zero times infinity. A tangent that is not finite in a branch not taken is dropped where the branches meet. In reverse
mode it is the opposite: the adjoint of a branch not taken is zero, and must stay zero whatever the partial is.
So a product `adjoint * partial` is guarded, but only where it can matter:

    * inside a branch, for a partial that may be inf or NaN: it counts where the branch is taken (the row's `gates`);
    * at an op whose partial is unbounded although its value is finite (sqrt at 0, asin at 1, atan2 at the origin):
      it is dropped where the adjoint is zero and the partial beyond all bounds.

Neither asks for the adjoint alone: a guard `adjoint == 0` would lose the second derivative of (sqrt(x) - 1)^2 at 1.
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
    """For each node the set of seeds that move it."""
    sets: dict[int, int] = {}
    for k, seed in enumerate(seeds):
        for i, ref in seed.items():
            if ref:
                sets[i] = sets.get(i, 0) | 1 << k
    return sets


def signed(found: Mapping[int, int], ref: int) -> int:
    """The tangent or adjoint that belongs to a signed reference; 0 where there is none."""
    return found.get(ref, 0) if ref > 0 else -found.get(-ref, 0)


def push(graph: Graph, order: Sequence[int], directions: Sequence[Seed]) -> Sweep:
    """Forward mode: the tangents of the nodes of `order` along each direction; absent where structurally zero."""
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
    """Reverse mode: the adjoints of the nodes between the seeds of each row and `inputs`."""
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
    """Operations as they come: each block alone, the others in runs between them; leaves and entries are left out."""
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
    """The tangents of a block's entries, for all directions at once."""
    args = graph.nodes[i][1:]
    found = linearize.block_forward(i, [[signed(own, arg) for arg in args] for own in tangents])
    for own, entries in zip(tangents, found, strict=True):
        own.update({graph.intern((Item(k), i)): ref for k, ref in enumerate(entries) if ref})


# ── reverse ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class _Row:
    """One row of a reverse sweep: adjoints, and for each the gate that is not zero where its branch is taken."""

    def __init__(self, seed: Seed, linearize: Linearizer) -> None:
        self.linearize = linearize
        self.adjoints = {i: ref for i, ref in seed.items() if i in linearize.moving}
        self.gates = dict.fromkeys(self.adjoints, linearize.refs.one)

    def give(self, arg: int, adjoint: int, gate: int) -> None:
        """Adds to the adjoint of an argument, where it has a tangent at all."""
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
        """Goes through operations that are no blocks, last one first."""
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
        """adjoint * weight, guarded where that may be zero times infinity."""
        linearize, refs = self.linearize, self.linearize.refs
        product = refs.times(adjoint, weight)
        if steep:
            return refs.where(refs.where(adjoint, refs.one, refs.bounded(weight)), product, 0)
        if gate != refs.one and linearize.unbounded(weight):
            return refs.where(gate, product, 0)
        return product


def _pull_block(graph: Graph, i: int, rows: Sequence[_Row], linearize: Linearizer) -> None:
    """The adjoints of a block's arguments, for all rows at once."""
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
