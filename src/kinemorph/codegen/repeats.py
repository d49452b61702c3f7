"""Where a program does the same to several groups of inputs, as to the coordinates and the numbers of each leg.

The groups are the *copies* of a repeat. An operation belongs to a copy where it depends on inputs of that copy and of
no other one; COMMON is what depends on none, JOINT what depends on several. Operations of different copies do the same
where they are one node once the inputs of all copies have the same names: that graph is `Merged.graph`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kinemorph.blocks import Block, Item
from kinemorph.codegen.graph import Graph, apply
from kinemorph.codegen.program import Port, Program

COMMON, JOINT = -1, -2  # owners that are no copy


@dataclass(frozen=True)
class Repeat:
    """Inputs in `count` groups: of every port in `shares`, copy k has `size` entries from start + k size on."""

    count: int
    shares: Mapping[str, tuple[int, int]]  # port -> (start, size)


@dataclass(frozen=True)
class Place:
    """`size` numbers of an array from `start` on; of copy k, from start + k stride on."""

    array: str
    start: int
    stride: int
    size: int


@dataclass(frozen=True)
class Merged:
    """The nodes of a program with those of copies that do the same as one; joint nodes are left out.

    `copies` are (repeat, copy) by the number that is the owner; `refs` gives for every node that is not joint its
    signed reference in `graph`, `inputs` for every input there where it stands.
    """

    copies: list[tuple[int, int]]
    owner: dict[int, int]
    graph: Graph
    refs: dict[int, int]
    inputs: dict[int, tuple[Place, int]]

    def ref(self, ref: int) -> int:
        """A signed reference of the program as one of `graph`."""
        return self.refs[ref] if ref >= 0 else -self.refs[-ref]

    def repeat_of(self, node: int) -> int:
        """The number of the repeat that a node belongs to; COMMON or JOINT."""
        owner = self.owner[node]
        return owner if owner < 0 else self.copies[owner][0]


def merged(program: Program, repeats: Sequence[Repeat]) -> Merged:
    """Finds out whose every node is and what it is in the graph of one copy."""
    copies = [(number, k) for number, repeat in enumerate(repeats) for k in range(repeat.count)]
    found = Merged(copies, {}, Graph(), {}, {})
    owner, refs, nodes = found.owner, found.refs, program.graph.nodes
    known: dict[tuple[Place, int], int] = {}
    for i, (number, place, entry) in zip(_input_nodes(program), _claims(program, repeats, copies), strict=True):
        if (place, entry) not in known:
            known[place, entry] = found.graph.input(f"{place.array}[{entry}]").ref
        owner[i], refs[i] = number, known[place, entry]
        found.inputs[refs[i]] = (place, entry)
    for i in program.order:
        op, *args = nodes[i]
        if op == "const":
            owner[i], refs[i] = COMMON, found.graph.constant(args[0])
        elif op != "input":
            owners = {owner[abs(arg)] for arg in args} - {COMMON}
            owner[i] = COMMON if not owners else owners.pop() if len(owners) == 1 else JOINT
            if owner[i] != JOINT:
                refs[i] = node_again(found.graph, op, [found.ref(arg) for arg in args])
    return found


def node_again(graph: Graph, op: str | Block | Item, refs: Sequence[int]) -> int:
    """The reference of an operation in another graph: its arguments may stand in another order there."""
    if not isinstance(op, str):
        return graph.intern((op, *refs))
    return graph.reference(apply(graph, op, tuple(refs)))


def _input_nodes(program: Program) -> Iterator[int]:
    """The nodes of a program's inputs, in order."""
    return (program.graph.index["input", k] for k in range(sum(port.size for port in program.inputs)))


def _claims(
    program: Program, repeats: Sequence[Repeat], copies: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, Place, int]]:
    """For every input its owner, and place and entry: the same for one input of each copy."""
    for port in program.inputs:
        claims = [(COMMON, whole(port), entry) for entry in range(port.size)]
        for owner, (number, k) in enumerate(copies):
            if port.name in repeats[number].shares:
                start, size = repeats[number].shares[port.name]
                for entry in range(size):
                    claims[start + k * size + entry] = (owner, Place(port.name, start, size, size), entry)
        yield from claims


def whole(port: Port) -> Place:
    """All of a port, for every copy."""
    return Place(port.name, 0, 0, port.size)
