"""The order in which a program's operations are carried out, and where long programs are cut.

A compiler's work on one function grows faster than the function. So a long program is cut into chunks, each compiled as
a function of its own; a value needed beyond its chunk goes through a slot of a scratch array. Borders are put where few
values cross them, and a slot is used again once its last reader is done.

    steps ──► order (sin and cos of one argument side by side, a block and its entries) ──► borders ──► slots

The order is the one in which the graph was built: a recursion over links keeps few values alive. Depth-first from the
outputs was measured against it: twice as many values across borders, about twice the compile time, code no faster.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from kinemorph.codegen.graphs.graph import LEAVES, Node
from kinemorph.codegen.graphs.program import Program
from kinemorph.vocabulary.blocks import Block, Item

WHOLE = 4000  # ops up to which a program stays in one piece
SHORTEST, LONGEST = 400, 800  # ops in a chunk


@dataclass(frozen=True)
class Plan:
    """Chunks of node ids in the order of evaluation; the scratch slot of each node that is used beyond its chunk."""

    chunks: tuple[tuple[int, ...], ...]
    slots: dict[int, int]
    scratch: int  # how many slots there are


def plan(program: Program, *, whole: int = WHOLE, shortest: int = SHORTEST, longest: int = LONGEST) -> Plan:
    """Orders a program's operations; above `whole` ops, cuts them into chunks of `shortest` to `longest` ops.

    `longest` is at least twice `shortest`, so that every rest can be cut.
    """
    order = twins_together(program)
    last = last_uses(program, order)
    if len(order) <= whole:
        return Plan((tuple(order),), {}, 0)
    nodes = program.graph.nodes
    entries = {position for position, i in enumerate(order) if type(nodes[i][0]) is Item}
    borders = [0, *cut(order, last, shortest, longest, entries), len(order)]
    chunks = tuple(tuple(order[a:b]) for a, b in pairwise(borders))
    slots, scratch = assign_slots(chunks, last)
    return Plan(chunks, slots, scratch)


def twins_together(program: Program) -> list[int]:
    """The ids of the operations in evaluation order; together are sin, cos and tan of one argument, and a block with
    the entries of its value.
    """
    families: dict[int, list[int]] = {}
    for i, node in program.steps:
        if _has_twins(node):
            families.setdefault(abs(node[1]), []).append(i)
    order: list[int] = []
    placed: set[int] = set()
    for i, node in program.steps:
        if not _has_twins(node):
            order.append(i)
            if isinstance(node[0], Block):
                order += families[i]
                placed.update(families[i])
        elif i not in placed:
            family = families[abs(node[1])]
            order += family
            placed.update(family)
    return order


def _has_twins(node: Node) -> bool:
    return node[0] in ("sin", "cos", "tan") or type(node[0]) is Item


def last_uses(program: Program, order: list[int]) -> dict[int, int]:
    """For each operation the position in `order` of its last reader (its own position where no operation reads it)."""
    nodes = program.graph.nodes
    last: dict[int, int] = {}
    for position, i in enumerate(order):
        last[i] = position
        for arg in nodes[i][1:]:
            if nodes[abs(arg)][0] not in LEAVES:
                last[abs(arg)] = position
    return last


def cut(order: list[int], last: dict[int, int], shortest: int, longest: int, entries: set[int]) -> list[int]:
    """Border positions, each where the fewest values are alive among the places the lengths allow.

    A border never stands before one of the `entries` of a block's value, so that only numbers cross it.
    """
    alive = [0] * (len(order) + 1)  # alive[p]: values made before position p and read at p or later
    for position, i in enumerate(order):
        alive[position + 1] += 1
        alive[last[i] + 1] -= 1
    for p in range(1, len(alive)):
        alive[p] += alive[p - 1]

    borders: list[int] = []
    start = 0
    while len(order) - start > longest:
        places = range(start + shortest, min(start + longest, len(order) - shortest) + 1)
        start = min(places, key=lambda p: (p in entries, alive[p], -p))
        while start in entries:  # a block that fills a whole chunk
            start += 1
        if start < len(order):
            borders.append(start)
    return borders


def assign_slots(chunks: tuple[tuple[int, ...], ...], last: dict[int, int]) -> tuple[dict[int, int], int]:
    """A scratch slot for each value that crosses a border; a slot is free again after the chunk of its last reader."""
    chunk_of = [number for number, chunk in enumerate(chunks) for _ in chunk]
    slots: dict[int, int] = {}
    free: list[int] = []
    released: list[list[int]] = [[] for _ in chunks]  # slots whose last reader is in that chunk
    count = 0
    for number, chunk in enumerate(chunks):
        for i in chunk:
            reader = chunk_of[last[i]]
            if reader == number:
                continue
            if free:
                slot = free.pop()
            else:
                slot, count = count, count + 1
            slots[i] = slot
            released[reader].append(slot)
        free += released[number]
    return slots, count
