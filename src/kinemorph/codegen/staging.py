"""One program as two, with room for something else between them.

What a loop computes may lie between two stretches of straight-line code: the first gives what the loop takes, the
second takes what it gives. Traced together, both are one graph and share what they have in common. `staged` cuts it:

    first     inputs ──► the outputs asked for, and `shared`: values the second goes on with
    second    inputs, later inputs, shared ──► the other outputs

Every operation is in one of the two, and in one only.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from kinemorph.blocks import Item
from kinemorph.codegen.graph import LEAVES, Graph
from kinemorph.codegen.program import Port, Program

SHARED = "shared"


def staged(program: Program, outputs: Sequence[str], later: Sequence[str]) -> tuple[Program, Program]:
    """The programs of the named outputs and of all others; the inputs `later` are known to the second only.

    `shared`, shape (k,), is the last output of the first and the last input of the second.
    """
    left = iter(program.refs)
    refs = {port.name: list(islice(left, port.size)) for port in program.outputs}
    early, late = ([p for p in program.outputs if (p.name in outputs) is asked] for asked in (True, False))
    wanted, others = ([ref for port in ports for ref in refs[port.name]] for ports in (early, late))
    values = _shared(program.graph, wanted, others)
    shared = Port(SHARED, (len(values),))
    known = [port for port in program.inputs if port.name not in later]
    return (
        _part(program, "first", known, (), [*early, shared], [*wanted, *values]),
        _part(program, "second", program.inputs, values, late, others),
    )


def _shared(graph: Graph, wanted: Sequence[int], others: Sequence[int]) -> list[int]:
    """The ids of all numbers that come up on the way to `wanted` and are next needed on the way to `others`."""
    nodes = graph.nodes
    known = {i for i in graph.reachable(wanted) if nodes[i][0] not in LEAVES}
    known |= {i for i, node in enumerate(nodes) if type(node[0]) is Item and node[1] in known}
    rest = graph.reachable(others, known)
    read = {abs(arg) for i in rest if nodes[i][0] not in LEAVES for arg in nodes[i][1:]}
    return sorted((read | {abs(ref) for ref in others}) & known)


def _part(
    program: Program,
    which: str,
    inputs: Sequence[Port],
    given: Sequence[int],
    outputs: Sequence[Port],
    refs: Sequence[int],
) -> Program:
    """A program with some of the inputs, in a graph of its own; the nodes `given`, if any, are its last input."""
    nodes, graph = program.graph.nodes, Graph()
    place: dict[int, int] = {}  # id there -> reference here
    entries = [port for port in program.inputs for _ in range(port.size)]
    for k, (port, name) in enumerate(zip(entries, program.graph.input_names, strict=True)):
        if port in inputs:
            place[program.graph.index[("input", k)]] = graph.input(name).ref
    for k, i in enumerate(given):
        place[i] = graph.input(f"{SHARED}[{k}]").ref
    for i in program.graph.reachable(refs, place.keys()):
        op, *args = nodes[i]
        if op != "const":
            args = [place[arg] if arg >= 0 else -place[-arg] for arg in args]
        place[i] = graph.intern((op, *args))
    ports = [*inputs, Port(SHARED, (len(given),))] if given else inputs
    signed = tuple(place[ref] if ref >= 0 else -place[-ref] for ref in refs)
    return Program(f"{program.name}, {which}", tuple(ports), tuple(outputs), graph, signed)
