"""Programs on which emitted text is held against the interpreter: every op, random graphs, blocks, loops."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from kinemorph.codegen.building.compile import build
from kinemorph.codegen.graphs.graph import Expr, Graph
from kinemorph.codegen.graphs.program import Port, Program
from kinemorph.codegen.graphs.tracing import trace
from kinemorph.codegen.loops.loop_builder import LoopBuilder
from kinemorph.codegen.loops.loop_program import LoopProgram
from kinemorph.vocabulary.blocks import LeastSquares, Solve, Table
from kinemorph.vocabulary.ops import OPS

AWKWARD = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e-310, -5e-324, 1e308, -1e308, 1e9, np.inf, -np.inf, np.nan]
ATTACKS = ['"; system("x")', "a\nb", "'''", '"""', "import os", "class", "Θ1", "", "np", "end", "% {", "x" * 80]
ATTACKS += ["f__min", "evaluated", "x1"]


def program_of(op: str) -> Program:
    """A program that is one op; every argument is an input, the node is put in the graph as it stands."""
    graph = Graph()
    refs = [graph.input(f"x{k}").ref for k in range(OPS[op].arity)]
    ports = tuple(Port(f"x{k}", ()) for k in range(OPS[op].arity))
    return Program(op, ports, (Port("y", ()),), graph, (graph.intern((op, *refs)),))


def negated(program: Program) -> Program:
    """The same op with a minus sign on every argument and on the result."""
    graph = program.graph
    op, *args = graph.nodes[program.refs[0]]
    node = graph.intern((op, *(-ref for ref in args)))
    return Program(program.name, program.inputs, program.outputs, graph, (-node,))


def arguments_for(op: str, count: int = 200) -> list[Any]:
    """Awkward numbers in all combinations, and ordinary ones."""
    rng = np.random.default_rng(OPS[op].arity)
    grids = np.meshgrid(*[AWKWARD] * OPS[op].arity)
    usual = rng.normal(size=(OPS[op].arity, count)) * 10.0 ** rng.integers(-3, 4, size=(OPS[op].arity, count))
    return [np.concatenate([grid.ravel(), random]) for grid, random in zip(grids, usual, strict=True)]


def same(a: Any, b: Any, ulps: float = 4.0) -> Any:
    """Where two arrays hold the same number, up to `ulps` units in the last place, or are both NaN."""
    a, b = np.asarray(a), np.asarray(b)
    with np.errstate(all="ignore"):
        near = np.abs(a - b) <= ulps * np.spacing(np.maximum(np.abs(a), np.abs(b)))
    return (a == b) | (np.isnan(a) & np.isnan(b)) | near


def meant(program: Any, *arrays: Any) -> list[Any]:
    """What the interpreter gives, NaN included, as a list of arrays in port order."""
    given = list(zip(arrays, program.inputs, strict=True))
    batch = np.broadcast_shapes(*(np.shape(array)[: np.ndim(array) - len(port.shape)] for array, port in given))
    ins = [np.array(np.broadcast_to(array, (*batch, *port.shape)), dtype=float) for array, port in given]
    outs = [np.empty((*batch, *port.shape)) for port in program.outputs]
    build(program, "interpreter")._run(int(np.prod(batch)), outs, ins)
    return outs


def random_program(seed: int, length: int = 60) -> Program:
    """A graph of random ops on earlier values, constants and inputs, with signs, over two inputs and three outputs."""
    rng = random.Random(seed)
    graph = Graph()
    values: list[Any] = [graph.input(f"x{k}") for k in range(7)]
    values += [Expr(graph, graph.constant(rng.uniform(-3.0, 3.0))) for _ in range(3)]
    for _ in range(length):
        op = rng.choice(list(OPS))
        refs = [rng.choice(values).ref * rng.choice([1, -1]) for _ in range(OPS[op].arity)]
        values.append(Expr(graph, graph.intern((op, *refs))))
    refs = tuple(rng.choice(values[-20:]).ref * rng.choice([1, -1]) for _ in range(8))
    inputs = (Port("q", (4,)), Port("M", (1, 3)))
    return Program(f"random{seed}", inputs, (Port("y", ()), Port("N", (2, 2)), Port("z", (3,))), graph, refs)


TABLE = Table(
    (-0.5, 0.25, 1.0), (0.0, -0.5, 0.25, 1.0), ((1.0, 2.0, 0.0), (0.5, 1.0, 3.0), (2.0, 0.0, 1.0), (0.0, 1.0, 0.0))
)


def blocks_program() -> Program:
    """Two solves (two right-hand sides), a table and a least-squares problem, each fed by arithmetic."""

    def function(A: Any, b: Any) -> Any:
        lower = [A[0][0] * A[0][0] + 1.0, A[1][0], A[1][1] * A[1][1] + 2.0, A[2][0], 0.1 * A[2][1], A[2][2] ** 2 + 3.0]
        x = b[0].block(Solve(3, 1), [*lower, *b])
        X = b[0].block(Solve(3, 2), [*lower, *b, -b[0], 1.0, b[2]])
        y = x[0].block(TABLE, [x[1]])
        z = b[0].block(LeastSquares(2, 3, 1), [*A[0], *A[1], b[0], x[2]])
        flat = b[0].block(LeastSquares(3, 2, 1), [b[0], 2.0 * b[0], b[1], 2.0 * b[1], b[2], 2.0 * b[2], *x])
        return {"x": x, "X": [X[0:2], X[2:4], X[4:6]], "y": y[0], "z": z, "flat": flat}

    return trace(function, {"A": (3, 3), "b": (3,)}, name="blocks")


def newton_program() -> LoopProgram:
    """Square roots by Newton's method to a tolerance; a count per state; a way for what is negative."""
    loop = LoopBuilder("newton", inputs={"x": (), "times": ()}, outputs={"root": (), "passes": (), "sum": ()})
    x, root, passes = loop["x"], loop["root"], loop["passes"]
    going, sign, table = loop.buffer("going"), loop.buffer("sign"), loop.constant("table", [1.0, 4.0, 9.0, 16.0, 25.0])
    loop.let(passes, lambda: 0.0)
    loop.let(loop["sum"], lambda: 0.0)
    loop.let(sign, lambda x: x.sign(), x)
    with loop.if_(sign):
        loop.let(root, lambda x: x, x)
        loop.let(going, lambda: 1.0)
    with loop.otherwise():
        loop.let(root, lambda: -1.0)
    with loop.while_(going):
        loop.let(root, lambda y, x: 0.5 * (y + x / y), root, x)
        loop.let(passes, lambda n: n + 1.0, passes)
        loop.let(going, lambda y, x, n: abs(y * y - x) - 1e-9 * x, root, x, passes)
    with loop.repeat(loop["times"]) as i:
        loop.let(loop["sum"], lambda s, t: s + t, loop["sum"], table.picked(passes))
        with loop.repeat(i):
            loop.let(loop["sum"], lambda s: s + 100.0, loop["sum"])
    return loop.program()


def nested_program() -> LoopProgram:
    """Calls a long program and a loop program on parts of arrays, and moves an array onto itself."""
    long = trace(lambda x: [x[k % 5] * (x[0] + float(k)) for k in range(25)], {"x": (5,)}, name='long "one"')
    loop = LoopBuilder("nested", inputs={"x": (5,)}, outputs={"y": (25,), "roots": (2, 3)})
    loop.call(long, [loop["y"]], [loop["x"]])
    with loop.repeat(2) as i:
        row = loop["roots"][i]
        loop.call(newton_program(), [row[0], row[1], row[2]], [loop["x"][2 * i], loop["x"][2 * i + 1]])
    ring = loop.buffer("ring", (3,))
    loop.copy(ring, loop["y"].part(1, 3))
    loop.let(ring, lambda a: [a[2], -a[0], a[1]], ring)
    loop.copy(loop["y"].part(0, 3), ring)
    return loop.program()
