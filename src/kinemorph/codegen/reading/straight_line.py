"""A program as a list of named subexpressions, for programs that are too large for a normal form.

A value gets a name if it is used more than once and takes two operations or more, or if it is long; all other values
are written where they are used. So no line is long, and the lines in order are the program. The result of a block
always has a name.
"""

from __future__ import annotations

from collections import Counter
from itertools import count

from kinemorph.codegen.graphs.graph import LEAVES, Node
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.reading.block_trees import BlockResults
from kinemorph.codegen.reading.expression_tree import (
    Call,
    Number,
    Sum,
    Symbol,
    Tree,
    expression_ops,
    number,
    parts,
    product,
    scaled,
    total,
)
from kinemorph.vocabulary.blocks import Block, Item

LONG = 16  # operations; a value with more operations gets a name

Definitions = tuple[tuple[Symbol, Tree], ...]


def straight_line(
    program: Program, inputs: list[Symbol], stem: str, results: BlockResults
) -> tuple[Definitions, tuple[Tree, ...]]:
    """(definitions, trees): the named values in order, and one tree for every output entry.

    `inputs` are the symbols of the input entries, `stem` is the stem of new names, and `results` collects the results
    of blocks.
    """
    nodes = program.graph.nodes
    uses = Counter(abs(ref) for _, node in program.steps for ref in node[1:])
    uses.update(abs(ref) for ref in program.refs)
    trees: dict[int, Tree] = {}
    definitions: list[tuple[Symbol, Tree]] = []
    named: dict[int, Symbol] = {}  # block node -> the symbol of its result
    numbers = count(1)
    for i in program.order:
        node = nodes[i]
        if node[0] == "const":
            trees[i] = number(node[1])
        elif node[0] == "input":
            trees[i] = inputs[node[1]]
        elif isinstance(node[0], Block):
            named[i] = results.name(node[0], [_signed(trees, ref) for ref in node[1:]])
            definitions.append(results.definitions[-1])
        elif isinstance(node[0], Item):
            trees[i] = results.entry(named[node[1]], node[0].index)
        else:
            tree = _tree(node, [_signed(trees, ref) for ref in node[1:]])
            ops = expression_ops(tree)
            if (uses[i] > 1 and ops >= 2) or ops > LONG:
                k = next(numbers)
                symbol = Symbol(f"{stem}{k}", f"{stem}_{{{k}}}", (0, len(inputs), k))
                definitions.append((symbol, tree))
                tree = symbol
            trees[i] = tree
    return tuple(definitions), tuple(_signed(trees, ref) for ref in program.refs)


def _signed(trees: dict[int, Tree], ref: int) -> Tree:
    """The expression tree of node `ref`, or of minus node `-ref` if `ref` is negative."""
    return trees[ref] if ref >= 0 else scaled(-1.0, trees[-ref])


def _tree(node: Node, args: list[Tree]) -> Tree:
    """The tree of one operation; `args` are the trees of its arguments."""
    op = node[0]
    assert op not in LEAVES
    if op == "neg":
        return scaled(-1.0, args[0])
    if op in ("add", "sub"):
        return total((args[0], args[1] if op == "add" else scaled(-1.0, args[1])))
    if op in ("mul", "div"):
        return _times(args[0], args[1], 1 if op == "mul" else -1)
    return Call(op, tuple(args))


def _times(a: Tree, b: Tree, sign: int) -> Tree:
    """a * b for sign 1, a / b for sign -1. A number other than 1 or -1 times a sum stays a product."""
    value, powers = parts(a)
    other, more = parts(b)
    for base, power in more.items():
        powers[base] = powers.get(base, 0) + sign * power
    if isinstance(a, Number) and isinstance(b, Sum) and abs(value) == 1.0 and sign == 1:
        return scaled(value, b)
    return product(value * other if sign == 1 else value / other, powers.items())
