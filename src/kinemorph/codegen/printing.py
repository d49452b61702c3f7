"""Programs and graphs as readable text, for looking at what a pass has done.

    program forward_dynamics: 3 ops (mul 2, add 1), 2 flops
      in   q (2,), v (2,)
      n3 = mul(q[0], v[0])
      n4 = mul(2.5, v[1])
      n5 = add(n3, n4)
      out  a = n5, -n3

One line per node, arguments first. A minus sign stands before a negated reference; numbers and inputs are written in
place, inputs by the name of their port.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from kinemorph.codegen.graph import LEAVES, Graph
from kinemorph.codegen.program import Port, Program

Spell = Callable[[int], str]


def format_program(program: Program, *, limit: int | None = 400) -> str:
    """A program as text: heading with op counts, inputs, at most `limit` nodes (None: all), outputs by name."""
    entries = [entry for port in program.inputs for entry in entry_names(port)]
    spell = _speller(program.graph, entries)
    counts = ", ".join(f"{name} {count}" for name, count in program.op_counts.items())
    heading = f"program {program.name}: {len(program.steps)} ops"
    lines = [f"{heading} ({counts}), {program.flops} flops" if counts else heading]
    lines.append("  in   " + ", ".join(f"{port.name} {port.shape}" for port in program.inputs))
    lines += _node_lines(program.graph, [i for i, _ in program.steps], spell, limit)
    refs = iter(program.refs)
    for port in program.outputs:
        spelled = [spell(next(refs)) for _ in range(port.size)]
        shown = spelled if limit is None else spelled[:limit]
        more = f", ... {len(spelled) - len(shown)} more" if len(shown) < len(spelled) else ""
        lines.append(f"  out  {port.name} {port.shape} = " + ", ".join(shown) + more)
    return "\n".join(lines)


def format_graph(graph: Graph, *, limit: int | None = 400) -> str:
    """A graph as text: every node in the order it was made, at most `limit` of them (None: all)."""
    inner = [i for i, node in enumerate(graph.nodes) if node[0] not in LEAVES]
    heading = f"graph: {len(graph)} nodes, {len(graph.input_names)} inputs, {len(inner)} ops"
    return "\n".join([heading, *_node_lines(graph, inner, _speller(graph, graph.input_names), limit)])


def entry_names(port: Port) -> list[str]:
    """The names of a port's entries row by row: `q[0]`, `M[1, 2]`; a single number has the port's own name."""
    if port.shape == ():
        return [port.name]
    return [f"{port.name}[{', '.join(map(str, place))}]" for place in np.ndindex(*port.shape)]


def _node_lines(graph: Graph, ids: list[int], spell: Spell, limit: int | None) -> Iterator[str]:
    shown = ids if limit is None else ids[:limit]
    for i in shown:
        op, *args = graph.nodes[i]
        yield f"  n{i} = {op}({', '.join(map(spell, args))})"
    if len(shown) < len(ids):
        yield f"  ... {len(ids) - len(shown)} more"


def _speller(graph: Graph, inputs: list[str]) -> Spell:
    """How a signed reference is written: a number, an input's name, or `n12`, with its sign."""

    def spell(ref: int) -> str:
        i = abs(ref)
        op, *args = graph.nodes[i]
        if op == "const":
            text = repr(args[0])
        elif op == "input":
            text = inputs[args[0]]
        else:
            text = f"n{i}"
        return f"-{text}" if ref < 0 else text

    return spell
