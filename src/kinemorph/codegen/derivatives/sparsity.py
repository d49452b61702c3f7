"""Which outputs depend on which inputs: the sparsity of a derivative, found before anything is differentiated.

A set of directions is one Python integer with a bit for each direction, so that one pass over the graph with `|` finds
the sets of all nodes. Ops whose derivative is zero pass nothing on: `sign`, `floor`, comparisons, the condition of a
`where`, the rank of a matrix, and what a complementarity problem says of its solution.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kinemorph.codegen.graphs.graph import LEAVES, Graph
from kinemorph.vocabulary.blocks import Block, Item, LeastSquares
from kinemorph.vocabulary.complementarity import Complementarity
from kinemorph.vocabulary.coulomb_cone import CoulombCone
from kinemorph.vocabulary.ops import OPS


def felt_arguments(graph: Graph, i: int) -> Sequence[int]:
    """The arguments of node i with respect to which it has a derivative, as in the node: -7 is minus node 7."""
    node = graph.nodes[i]
    op = node[0]
    if op in LEAVES:
        return ()
    if type(op) is Item:
        block = graph.nodes[node[1]][0]
        counts = isinstance(block, (LeastSquares, Complementarity, CoulombCone)) and op.index == block.n_out - 1
        return () if counts else node[1:]
    if isinstance(op, Block):
        return node[1:]
    if OPS[op].derivative is None:
        return ()
    return node[2:] if op == "where" else node[1:]


def spread(graph: Graph, order: Iterable[int], seeds: Mapping[int, int]) -> dict[int, int]:
    """For each node of `order` that changes along a direction, by id: the set of these directions, by a forward pass.

    `seeds` maps the nodes that the pass starts from to their sets. Sets are bit masks.
    """
    felt: dict[int, int] = {}
    for i in order:
        mask = seeds.get(i, 0)
        for arg in felt_arguments(graph, i):
            mask |= felt.get(abs(arg), 0)
        if mask:
            felt[i] = mask
    return felt


def gather(graph: Graph, order: Sequence[int], seeds: Mapping[int, int]) -> dict[int, int]:
    """For each node of `order` that any row depends on, the set of these rows, by a backward pass.

    `seeds` maps the nodes that the pass starts from to their sets. Sets are bit masks.
    """
    wanted = {i: mask for i, mask in seeds.items() if mask}
    for i in reversed(order):
        mask = wanted.get(i)
        if mask:
            for arg in felt_arguments(graph, i):
                child = abs(arg)
                wanted[child] = wanted.get(child, 0) | mask
    return wanted


def forward_work(graph: Graph, felt: Mapping[int, int]) -> int:
    """An estimate of the products and sums of a forward sweep; `felt` is the result of `spread`."""
    total = 0
    for i, mask in felt.items():
        moving = [felt[abs(arg)].bit_count() for arg in felt_arguments(graph, i) if abs(arg) in felt]
        if moving:
            total += _weight(graph, i) * sum(moving) + sum(moving) - mask.bit_count()
    return total


def reverse_work(graph: Graph, felt: Mapping[int, int], wanted: Mapping[int, int]) -> int:
    """An estimate of the products and sums of a reverse sweep; `felt` is from `spread`, `wanted` from `gather`.

    The first contribution to an adjoint needs no sum.
    """
    total = 0
    for i, mask in wanted.items():
        moving = sum(abs(arg) in felt for arg in felt_arguments(graph, i))
        total += (_weight(graph, i) + 1) * moving * mask.bit_count() - mask.bit_count()
    return total


def _weight(graph: Graph, i: int) -> int:
    """The number of products in the term of one argument in the derivative of node i; 0 for sums."""
    op = graph.nodes[i][0]
    if isinstance(op, Block):
        return max(1, op.cost // op.n_in)
    return 0 if type(op) is Item or op in ("add", "sub") else 1
