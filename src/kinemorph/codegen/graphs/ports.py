"""Selecting ports of a program by name, finding their entries in the graph, and adding input ports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinemorph.codegen.graphs.graph import LEAVES, Graph
from kinemorph.codegen.graphs.program import Port, Program, entry_names
from kinemorph.errors import ShapeError
from kinemorph.words import did_you_mean

Names = str | Sequence[str]
Shape = tuple[int, ...]


def chosen(ports: Sequence[Port], names: Names | None, program: Program, kind: str) -> list[Port]:
    """The named ports in the order of the names; all ports for None. `kind` is "input" or "output", for messages."""
    if names is None:
        return list(ports)
    known = {port.name: port for port in ports}
    names = (names,) if isinstance(names, str) else _listed(names, program, kind)
    for k, name in enumerate(names):
        if name in names[:k]:
            raise ShapeError(f"program '{program.name}': {kind} '{name}' is named twice. Name it once.")
        if name not in known:
            listed = ", ".join(f"'{one}'" for one in known)
            hint = did_you_mean(name, known)
            raise ShapeError(f"program '{program.name}' has no {kind} '{name}'; it has {listed}.{hint}")
    return [known[name] for name in names]


def only(ports: Sequence[Port], names: Names, program: Program, kind: str) -> Port:
    """The port named by `names`, which has to name exactly one."""
    found = chosen(ports, names, program, kind)
    if len(found) != 1:
        listed = ", ".join(f"'{port.name}'" for port in found)
        raise ShapeError(f"program '{program.name}': the {kind}s {listed} are named; expected one. Name only one.")
    return found[0]


def _listed(names: Any, program: Program, kind: str) -> tuple[str, ...]:
    """Names as a tuple; raises ShapeError if `names` is empty or not a sequence."""
    if not isinstance(names, Sequence) or not names:
        raise ShapeError(
            f"program '{program.name}': {names!r} is given for the {kind}s; expected one name or a list of names."
        )
    return tuple(names)


def offset(ports: Sequence[Port], port: Port) -> int:
    """The number of entries in all ports before `port`: where its entries start in the flat list."""
    return sum(other.size for other in ports[: list(ports).index(port)])


def input_ids(program: Program, port: Port) -> list[int]:
    """The node ids of an input's entries."""
    start = offset(program.inputs, port)
    return [program.graph.intern(("input", k)) for k in range(start, start + port.size)]


def output_refs(program: Program, port: Port) -> tuple[int, ...]:
    """The references of an output's entries: node ids, negative where the entry is minus the node."""
    start = offset(program.outputs, port)
    return program.refs[start : start + port.size]


def added_ports(program: Program, prefix: str, ports: Sequence[Port]) -> list[Port]:
    """New input ports with the shapes of `ports` and their names after `prefix`.

    The prefix is repeated while the name is taken, as for a second derivative: `d_q`, `d_d_q`.
    """
    taken = {port.name for port in program.inputs}
    added = []
    for port in ports:
        name = prefix + port.name
        while name in taken:
            name = prefix + name
        taken.add(name)
        added.append(Port(name, port.shape))
    return added


def new_inputs(graph: Graph, port: Port) -> list[int]:
    """Adds one input to the graph for each entry of a port; returns their references."""
    return [graph.input(name).ref for name in entry_names(port)]


def detached(program: Program) -> Program:
    """A copy of the program with its own graph, which holds only this program, so that inputs can be added to it."""
    old, new = program.graph, Graph()
    for name in (name for port in program.inputs for name in entry_names(port)):
        new.input(name)
    ids = {0: 0}
    for i in program.order:
        op, *args = old.nodes[i]
        moved = args if op in LEAVES else [ids[ref] if ref >= 0 else -ids[-ref] for ref in args]
        ids[i] = new.intern((op, *moved))
    refs = tuple(ids[ref] if ref >= 0 else -ids[-ref] for ref in program.refs)
    return Program(program.name, program.inputs, program.outputs, new, refs)


def nested(flat: Sequence[Any], shape: Shape) -> Any:
    """A flat list of entries, row by row, as nested lists of the given shape; for shape () the single entry."""
    if not shape:
        return flat[0]
    step = len(flat) // shape[0] if shape[0] else 0
    return [nested(flat[k * step : (k + 1) * step], shape[1:]) for k in range(shape[0])]
