"""Programs and graphs as readable text, to check what a compilation step has done.

    program forward_dynamics: 3 ops (mul 2, add 1), 2 flops
      in   q (2,), v (2,)
      n3 = mul(q[0], v[0])
      n4 = mul(2.5, v[1])
      n5 = add(n3, n4)
      out  a = n5, -n3

There is one line per node, arguments first. A minus sign means a negated reference; numbers and inputs are written
directly, inputs by the name of their port. A block is written with its label, `[solve 2x2, 1 right]`, and its entries
as `n7[0]`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from kinemorph.codegen.graphs.graph import LEAVES, Graph
from kinemorph.codegen.graphs.program import Program, entry_names
from kinemorph.codegen.loops.loop_program import (
    Affine,
    Call,
    For,
    Foreign,
    If,
    LoopProgram,
    Statement,
    View,
    While,
    listed,
    runnable,
)
from kinemorph.vocabulary.blocks import Item

Spell = Callable[[int], str]


def format_program(program: Program | LoopProgram, *, limit: int | None = 400) -> str:
    """A program as text: a heading with op counts, the inputs, at most `limit` nodes (None: all), and the outputs."""
    program = runnable(program, "format_program")
    if isinstance(program, LoopProgram):
        return format_loops(program)
    entries = [entry for port in program.inputs for entry in entry_names(port)]
    spell = _speller(program.graph, entries)
    counts = ", ".join(f"{name} {count}" for name, count in program.op_counts.items())
    heading = f"program {program.name}: {program.ops} ops"
    lines = [f"{heading} ({counts}), {program.flops} flops" if counts else heading]
    lines.append("  in   " + ", ".join(f"{port.name} {port.shape}" for port in program.inputs))
    inner = [i for i, node in program.steps if not isinstance(node[0], Item)]
    lines += _node_lines(program.graph, inner, spell, limit)
    refs = iter(program.refs)
    for port in program.outputs:
        spelled = [spell(next(refs)) for _ in range(port.size)]
        shown = spelled if limit is None else spelled[:limit]
        more = f", ... {len(spelled) - len(shown)} more" if len(shown) < len(spelled) else ""
        lines.append(f"  out  {port.name} {port.shape} = " + ", ".join(shown) + more)
    return "\n".join(lines)


def format_graph(graph: Graph, *, limit: int | None = 400) -> str:
    """A graph as text: its nodes in the order in which they were added, at most `limit` of them (None: all)."""
    inner = [i for i, node in enumerate(graph.nodes) if node[0] not in LEAVES and not isinstance(node[0], Item)]
    heading = f"graph: {len(graph)} nodes, {len(graph.input_names)} inputs, {len(inner)} ops"
    return "\n".join([heading, *_node_lines(graph, inner, _speller(graph, graph.input_names), limit)])


def format_loops(program: LoopProgram) -> str:
    """A loop program as text: its arrays, its statements, and the programs that they call."""
    numbers = {id(called): k for k, called in enumerate(program.programs)}
    lines = [f"loop program {program.name}: {program.ops} ops in {len(numbers)} programs"]
    for word, ports in (("in", program.inputs), ("out", program.outputs), ("buffer", program.buffers)):
        if ports:
            lines.append(f"  {word:<6} " + ", ".join(f"{port.name} {port.shape}" for port in ports))
    for port, values in program.constants:
        lines.append(
            f"  const  {port.name} {port.shape} = {', '.join(map(repr, listed(values)[:8]))}{' ...' * (port.size > 8)}"
        )
    lines += _statement_lines(program.body, numbers, "  ")
    for called, k in zip(program.programs, numbers.values(), strict=True):
        text = format_loops(called) if isinstance(called, LoopProgram) else format_program(called)
        lines += [f"  [{k}] {text}".replace("\n", "\n  ")]
    return "\n".join(lines)


def _statement_lines(body: Sequence[Statement], numbers: Mapping[int, int], indent: str) -> Iterator[str]:
    """The lines of statements; `numbers` are the numbers of called programs by id."""
    for statement in body:
        match statement:
            case Call():
                outs, ins = (", ".join(map(format_view, views)) for views in (statement.outs, statement.ins))
                yield f"{indent}{outs} = [{numbers[id(statement.program)]}]({ins})"
            case Foreign():
                outs, ins = (", ".join(map(format_view, views)) for views in (statement.outs, statement.ins))
                yield f"{indent}{outs} = foreign {statement.function}({ins})"
            case For():
                stop = statement.stop
                bound = format_view(stop) if isinstance(stop, View) else format_affine(stop)
                apart = ", passes apart" if statement.apart else ""
                yield f"{indent}for {statement.counter} from {format_affine(statement.start)} below {bound}{apart}:"
                yield from _statement_lines(statement.body, numbers, indent + "  ")
            case While():
                yield f"{indent}while {format_view(statement.condition)} > 0:"
                yield from _statement_lines(statement.body, numbers, indent + "  ")
            case If():
                yield f"{indent}if {format_view(statement.condition)} > 0:"
                yield from _statement_lines(statement.then, numbers, indent + "  ")
                if statement.otherwise:
                    yield f"{indent}else:"
                    yield from _statement_lines(statement.otherwise, numbers, indent + "  ")


def format_view(view: View) -> str:
    """A view as text: `A[3 i0 + i1]`, `A[2 : +4]` for four numbers, `A[5 k[0]]` if the start depends on data."""
    start = format_affine(view.offset)
    if view.at is not None:
        picked = f"{view.stride} {format_view(view.at)}" if view.stride != 1 else format_view(view.at)
        start = picked if start == "0" else f"{start} + {picked}"
    return f"{view.array}[{start}]" if view.size == 1 else f"{view.array}[{start} : +{view.size}]"


def format_affine(value: Affine, times: str = " ") -> str:
    """An Affine as text: `2 i0 - i1 + 3`, with `times` between coefficient and counter."""
    text = ""
    for factor, name in [(c, name) for name, c in value.terms] + ([(value.constant, "")] if value.constant else []):
        size = name if abs(factor) == 1 and name else f"{abs(factor)}{times if name else ''}{name}"
        text += (" - " if factor < 0 else " + ") + size
    if not text:
        return "0"
    return text[3:] if text.startswith(" + ") else "-" + text[3:]


def _node_lines(graph: Graph, ids: list[int], spell: Spell, limit: int | None) -> Iterator[str]:
    """One line for each of the nodes `ids`, at most `limit`; `spell` writes references."""
    shown = ids if limit is None else ids[:limit]
    for i in shown:
        op, *args = graph.nodes[i]
        yield f"  n{i} = {op if isinstance(op, str) else f'[{op.label}]'}({', '.join(map(spell, args))})"
    if len(shown) < len(ids):
        yield f"  ... {len(ids) - len(shown)} more"


def _speller(graph: Graph, inputs: list[str]) -> Spell:
    """The function that writes a signed reference as text: a number, an input's name, `n12`, or `n12[0]`, with sign."""

    def spell(ref: int) -> str:
        i = abs(ref)
        op, *args = graph.nodes[i]
        if op == "const":
            text = repr(args[0])
        elif op == "input":
            text = inputs[args[0]]
        elif isinstance(op, Item):
            text = f"n{args[0]}[{op.index}]"
        else:
            text = f"n{i}"
        return f"-{text}" if ref < 0 else text

    return spell
