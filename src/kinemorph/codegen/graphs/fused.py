"""Fused products: which products are rounded together with the sum that takes them.

A CPU computes a b + c in one instruction, with one rounding, in the time of either operation alone. A compiler that is
free to use it decides case by case, differently at each level of optimization. So it is decided here, once for all
backends that emit code, and these fuse nothing else: the same program gives the same bits from each of them.

The rule: a product that is used once, by a sum or a difference, is taken into it; the first one, where both terms are
such products. The interpreter, which is the definition, fuses nothing.
"""

from __future__ import annotations

from collections import Counter
from copy import copy
from dataclasses import replace

from kinemorph.codegen.graphs.program import Program


def fused(program: Program) -> Program:
    """The program as it is emitted: nodes ("fma", a, b, c), which are a b + c, in place of sums that take a product.

    Nodes keep their ids, and the products that were taken are no longer among its steps.
    """
    nodes = list(program.graph.nodes)
    uses = Counter(abs(ref) for _, node in program.steps for ref in node[1:])
    uses.update(map(abs, program.refs))
    for i, (op, *refs) in program.steps:
        if op != "add" and op != "sub":
            continue
        first, second = refs[0], refs[1] if op == "add" else -refs[1]
        for product, other in ((first, second), (second, first)):
            inner = nodes[abs(product)]
            if inner[0] == "mul" and uses[abs(product)] == 1:
                # a constant is the first factor: the sign goes to the other one, or the code would hold both constants
                nodes[i] = ("fma", inner[1], inner[2] if product > 0 else -inner[2], other)
                break
    graph = copy(program.graph)
    graph.nodes = nodes
    return replace(program, graph=graph)
