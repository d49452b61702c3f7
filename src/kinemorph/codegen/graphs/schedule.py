"""The order in which a program's operations are evaluated, and where long programs are cut into chunks.

The time to compile a function grows faster than its length. So a long program is cut into chunks, each compiled as a
separate function; a value that another chunk needs is stored in a slot of a scratch array. Borders between chunks are
placed where few values cross them, and a slot is reused after its last reader.

    steps ──► order (sin and cos of one argument side by side, a block and its entries) ──► borders ──► slots

The order is the one in which the graph was built: a recursion over links keeps few values alive. Depth-first from the
outputs was measured too: twice as many values cross borders, compiling takes about twice as long, and the code is no
faster.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from kinemorph.codegen.graphs.graph import LEAVES, Node
from kinemorph.codegen.graphs.program import Program
from kinemorph.vocabulary.blocks import Block, Item

WHOLE = 4000  # a program with at most this many ops is not cut
SHORTEST, LONGEST = 400, 800  # ops in a chunk


@dataclass(frozen=True)
class Plan:
    """Chunks of node ids in evaluation order, and the scratch slot of each node that another chunk uses."""

    chunks: tuple[tuple[int, ...], ...]
    slots: dict[int, int]
    scratch: int  # how many slots there are


def plan(program: Program, *, whole: int = WHOLE, shortest: int = SHORTEST, longest: int = LONGEST) -> Plan:
    """Orders a program's operations; above `whole` ops, cuts them into chunks of `shortest` to `longest` ops.

    `longest` has to be at least twice `shortest`, so that any remainder can be cut.
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
    """The ids of the operations in evaluation order, with related operations next to each other.

    Related are sin, cos and tan of the same argument, and a block and the entries of its value.
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
    """Whether a node may have related ones: a sin, cos or tan, or an entry of a block."""
    return node[0] in ("sin", "cos", "tan") or type(node[0]) is Item


def last_uses(program: Program, order: list[int]) -> dict[int, int]:
    """For each operation the position in `order` of its last reader, or its own position if nothing reads it."""
    nodes = program.graph.nodes
    last: dict[int, int] = {}
    for position, i in enumerate(order):
        last[i] = position
        for arg in nodes[i][1:]:
            if nodes[abs(arg)][0] not in LEAVES:
                last[abs(arg)] = position
    return last


def cut(order: list[int], last: dict[int, int], shortest: int, longest: int, entries: set[int]) -> list[int]:
    """The positions of the borders between chunks: where the fewest values are alive, within the allowed lengths.

    `last` is the result of `last_uses`; `entries` are the positions of entries of a block's value. There is never a
    border before such an entry, so that only numbers cross borders.
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
    """(slot of each node that crosses a border, number of slots); a slot is reused after the chunk that reads it last.

    `last` is the result of `last_uses`.
    """
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
