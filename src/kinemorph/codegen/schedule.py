"""The order in which a program's operations are carried out, and where long programs are cut.

A compiler's work on one function grows faster than the function. So a long program is cut into chunks, each compiled as
a function of its own; a value needed beyond its chunk goes through a slot of a scratch array. Borders are put where few
values cross them, and a slot is used again once its last reader is done.

    steps ──► order (sin and cos of one argument side by side) ──► borders ──► slots

A block op is one step, and gives all its entries at once.

The order is the one in which the graph was built: a recursion over links keeps few values alive. Depth-first from the
outputs was measured against it: twice as many values across borders, about twice the compile time, code no faster.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType

from kinemorph.blocks import Item
from kinemorph.codegen.graph import LEAVES
from kinemorph.codegen.program import Program

WHOLE = 4000  # ops up to which a program stays in one piece
SHORTEST, LONGEST = 1000, 2000  # ops in a chunk
NO_ITEMS: Mapping[int, list[int]] = MappingProxyType({})


@dataclass(frozen=True)
class Plan:
    """Chunks of node ids in the order of evaluation; the scratch slot of each node that is used beyond its chunk.

    `items` are the entries of each block that are read; they have slots, but no place of their own in the chunks.
    """

    chunks: tuple[tuple[int, ...], ...]
    slots: dict[int, int]
    scratch: int  # how many slots there are
    items: dict[int, list[int]]


def plan(program: Program, *, whole: int = WHOLE, shortest: int = SHORTEST, longest: int = LONGEST) -> Plan:
    """Orders a program's operations; above `whole` ops, cuts them into chunks of `shortest` to `longest` ops.

    `longest` is at least twice `shortest`, so that every rest can be cut.
    """
    order = twins_together(program)
    items = block_items(program)
    if len(order) <= whole:
        return Plan((tuple(order),), {}, 0, items)
    last = last_uses(program, order, items)
    borders = [0, *cut(order, last, items, shortest, longest), len(order)]
    chunks = tuple(tuple(order[a:b]) for a, b in pairwise(borders))
    slots, scratch = assign_slots(chunks, last, items)
    return Plan(chunks, slots, scratch, items)


def block_items(program: Program) -> dict[int, list[int]]:
    """For each block its entries that some operation or output reads."""
    items: dict[int, list[int]] = {}
    for i, node in program.steps:
        if type(node[0]) is Item:
            items.setdefault(node[1], []).append(i)
    return items


def twins_together(program: Program) -> list[int]:
    """The ids of the operations in evaluation order, with sin, cos and tan of one argument next to each other.

    Entries of blocks are no operations.
    """
    families: dict[int, list[int]] = {}
    for i, node in program.steps:
        if node[0] in ("sin", "cos", "tan"):
            families.setdefault(abs(node[1]), []).append(i)
    order: list[int] = []
    placed: set[int] = set()
    for i, node in program.steps:
        if type(node[0]) is Item:
            continue
        if node[0] not in ("sin", "cos", "tan"):
            order.append(i)
        elif i not in placed:
            family = families[abs(node[1])]
            order += family
            placed.update(family)
    return order


def last_uses(program: Program, order: list[int], items: Mapping[int, list[int]] = NO_ITEMS) -> dict[int, int]:
    """For each value the position in `order` of its last reader (where it is made where no operation reads it).

    `items` are the entries of blocks, where they have no place of their own in the order.
    """
    nodes = program.graph.nodes
    last: dict[int, int] = {}
    for position, i in enumerate(order):
        for value in items.get(i, (i,)):
            last[value] = position
        for arg in nodes[i][1:]:
            if nodes[abs(arg)][0] not in LEAVES:
                last[abs(arg)] = position
    return last


def cut(order: list[int], last: dict[int, int], items: dict[int, list[int]], shortest: int, longest: int) -> list[int]:
    """Border positions, each where the fewest values are alive among the places the lengths allow."""
    alive = [0] * (len(order) + 1)  # alive[p]: values made before position p and read at p or later
    for position, i in enumerate(order):
        for value in items.get(i, (i,)):
            alive[position + 1] += 1
            alive[last[value] + 1] -= 1
    for p in range(1, len(alive)):
        alive[p] += alive[p - 1]

    borders: list[int] = []
    start = 0
    while len(order) - start > longest:
        places = range(start + shortest, min(start + longest, len(order) - shortest) + 1)
        start = min(places, key=lambda p: (alive[p], -p))
        borders.append(start)
    return borders


def assign_slots(
    chunks: tuple[tuple[int, ...], ...], last: dict[int, int], items: dict[int, list[int]]
) -> tuple[dict[int, int], int]:
    """A scratch slot for each value that crosses a border; a slot is free again after the chunk of its last reader."""
    chunk_of = [number for number, chunk in enumerate(chunks) for _ in chunk]
    slots: dict[int, int] = {}
    free: list[int] = []
    released: list[list[int]] = [[] for _ in chunks]  # slots whose last reader is in that chunk
    count = 0
    for number, chunk in enumerate(chunks):
        for value in (value for i in chunk for value in items.get(i, (i,))):
            reader = chunk_of[last[value]]
            if reader == number:
                continue
            if free:
                slot = free.pop()
            else:
                slot, count = count, count + 1
            slots[value] = slot
            released[reader].append(slot)
        free += released[number]
    return slots, count
