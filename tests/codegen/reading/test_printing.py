"""Programs as text."""

from kinemorph.codegen.graphs.graph import Graph
from kinemorph.codegen.graphs.program import Port, Program
from kinemorph.codegen.loops.printing import format_graph, format_program
from kinemorph.vocabulary.blocks import Solve


def sample() -> Program:
    graph = Graph()
    q = [graph.input(f"q{k}") for k in range(2)]
    t = graph.input("t")
    product = q[0] * q[1]
    shown = (product < t).where(-product, 2.5 * t)
    matrix = (product.ref, 0, -q[0].ref, graph.constant(-1.5))
    return Program(
        "sample", (Port("q", (2,)), Port("t", ())), (Port("y", ()), Port("M", (2, 2))), graph, (shown.ref, *matrix)
    )


def test_program_reads_line_by_line():
    assert format_program(sample()).splitlines() == [
        "program sample: 4 ops (mul 2, lt 1, where 1), 2 flops",
        "  in   q (2,), t ()",
        "  n4 = mul(q[0], q[1])",
        "  n5 = lt(n4, t)",
        "  n7 = mul(2.5, t)",
        "  n8 = where(n5, -n4, n7)",
        "  out  y () = n8",
        "  out  M (2, 2) = n4, 0.0, -q[0], -1.5",
    ]


def test_limit_says_what_it_leaves_out():
    text = format_program(sample(), limit=1)
    assert "... 3 more" in text
    assert "n8 = where" not in text
    assert "n8 = where" in format_program(sample(), limit=None)


def test_blocks_stand_by_their_label_and_their_entries_in_place():
    graph = Graph()
    a, b = graph.input("a"), graph.input("b")
    x = graph.block(Solve(1), [a.ref, (a * b).ref])[0]
    program = Program("one", (Port("a", ()), Port("b", ())), (Port("y", (2,)),), graph, ((2.0 * x).ref, -x.ref))
    assert format_program(program).splitlines() == [
        "program one: 3 ops (mul 2, solve 1x1, 1 right 1), 2 flops",
        "  in   a (), b ()",
        "  n3 = mul(a, b)",
        "  n4 = [solve 1x1, 1 right](a, n3)",
        "  n7 = mul(2.0, n4[0])",
        "  out  y (2,) = n7, -n4[0]",
    ]
    assert program.cost == 2 + Solve(1).cost
    assert "3 ops" in format_graph(graph)


def test_graph_shows_every_op():
    text = format_graph(sample().graph)
    assert text.splitlines()[0] == "graph: 10 nodes, 3 inputs, 4 ops"
    assert "  n4 = mul(q0, q1)" in text
