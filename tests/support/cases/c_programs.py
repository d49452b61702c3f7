"""Programs and helpers for the tests of the C family: one of every op, of every block and of every loop statement."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kinemorph.algebra.scalar import where
from kinemorph.codegen.backends.c.library import compiler, has_compiler
from kinemorph.codegen.graphs.graph import Graph
from kinemorph.codegen.graphs.program import Port, Program
from kinemorph.codegen.graphs.tracing import trace
from kinemorph.codegen.loops.loop_builder import LoopBuilder
from kinemorph.codegen.loops.loop_program import LoopProgram
from kinemorph.vocabulary.blocks import LeastSquares, Solve, Table
from kinemorph.vocabulary.ops import OPS

HOSTILE = ['"; system("x")', "*/ int main(){", "a\nb", "%s", "\\", "??/", "", "int", "sin", "n", "n12", "scratch", "7"]
STRICT = ("-O2", "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic")
needs_cc = pytest.mark.skipif(not has_compiler(), reason=f"no C compiler '{compiler()[0]}' on this computer")


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="ascii")


def compiled(folder: Path, *arguments: str) -> None:
    """Runs the C compiler in a folder; what it prints is the failure."""
    done = subprocess.run([*compiler(), *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stderr == "", done.stderr


def every_op(sign: int = 1) -> Program:
    """One output per op of the table, of as many inputs as it takes; `sign` -1: all references are negative."""
    graph = Graph()
    refs = [graph.input(f"x{k}").ref for k in range(3)]
    made = [graph.intern((op.name, *(sign * ref for ref in refs[: op.arity]))) for op in OPS.values()]
    ins, outs = tuple(Port(f"x{k}", ()) for k in range(3)), tuple(Port(name, ()) for name in OPS)
    return Program("every op", ins, outs, graph, tuple(sign * i for i in made))


def random_program(seed: int, length: int = 200) -> Program:
    """Ops that IEEE arithmetic makes exact, on random signed references; leaves among the outputs.

    Divisors are never zero: the sign of a zero is not promised, and would show.
    """
    rng = random.Random(seed)
    graph = Graph()
    refs = [graph.input(f"q[{k}]").ref for k in range(5)] + [graph.constant(c) for c in (0.1, -3.0, 1e-300, 7.5e11)]
    leaves = list(refs)
    names = ["add", "sub", "mul", "div", "sqrt", "abs", "sign", "floor", "min", "max", "lt", "le", "eq", "where"]
    for _ in range(length):
        op = rng.choice(names)
        args = [rng.choice((1, -1)) * rng.choice(refs[-30:]) for _ in range(OPS[op].arity)]
        refs.append(graph.intern((op, *args) if op != "div" else (op, args[0], rng.choice(leaves))))
    chosen = [rng.choice((1, -1)) * rng.choice(refs) for _ in range(20)]
    outputs = (Port("y", (4, 4)), Port("z", (4,)))
    return Program(f"random {seed}", (Port("q", (3,)), Port("p", (2,))), outputs, graph, tuple(chosen))


def with_blocks(repeats: int = 1) -> Program:
    """A program that uses every kind of block, the result of one as argument of the next."""
    table = Table((-1.0, 0.5, 2.0), (0.0, 0.0, 0.5, 2.0), ((0.0, 1.0), (0.0, 2.0), (1.0, -1.0), (3.0, 0.25)))

    def function(x: Sequence[Any]) -> list[Any]:
        a, b, c = x
        for _ in range(repeats):
            u, v = a.block(Solve(2, 1), [a * a + 1.0, 0.3 * b, b * b + 2.0, c, -a])
            *w, rank = a.block(LeastSquares(2, 3, 1, 1e-5), [u, v, a, b, c, 1.0, -u, 2.0])
            a, b, c = w[0] + rank, a.block(table, [w[1]])[0], w[2] * u
        return [a, b, c]

    return trace(function, {"x": (3,)}, name="with blocks")


def horner(row: Sequence[Any]) -> Any:
    """A long program of one number: more operations than are written out where they are called."""
    value = row[0]
    for k in range(12):
        value = (value * row[k % len(row)] + 0.5) / (1.0 + value * value)
    return value


def leg(x: Any, row: Sequence[Any], table: Sequence[Any]) -> dict[str, list[Any]]:
    """A long program with functions of the math library and choices: 6 and 4 numbers."""
    angle = (row[0] * table[0] + x).sin()
    root = (1.0 + angle * angle).sqrt()
    chosen = where(angle > 0.0, root, row[1])
    deep = horner([horner([root, chosen, table[1]]), angle, chosen.cos()])
    kept = [angle, root, chosen, deep, deep.minimum(row[2]), table[1]]
    return {"kept": kept, "seen": [deep * x, row[0], 2.0, abs(chosen)]}


def loops() -> dict[str, LoopProgram]:
    """Loop programs by what they show."""
    found: dict[str, LoopBuilder] = {}

    def start(name: str, inputs: dict[str, Any], outputs: dict[str, Any]) -> LoopBuilder:
        found[name] = LoopBuilder(name, inputs, outputs)
        return found[name]

    loop = start("powers", {"x": ()}, {"y": (8,)})
    x, y = loop["x"], loop["y"]
    loop.let(y[0], lambda: 1.0)
    with loop.repeat(1, 8) as i:
        loop.let(y[i], lambda before, x: before * x, y[i - 1], x)

    loop = start("newton", {"x": ()}, {"root": (), "passes": ()})  # square root to tolerance
    root, going, passes = loop["root"], loop.buffer("going"), loop["passes"]
    loop.let(root, lambda x: x, loop["x"])
    loop.let(passes, lambda: 0.0)
    loop.let(going, lambda: 1.0)
    with loop.while_(going):
        loop.let(going, lambda r, x, k: (abs(r * r - x) > 1e-9 * x) * (k < 40.0), root, loop["x"], passes)
        loop.let(root, lambda r, x: 0.5 * (r + x / r), root, loop["x"])
        loop.let(passes, lambda k: k + 1.0, passes)

    loop = start("two ways", {"x": ()}, {"y": ()})
    flag, unread = loop.buffer("flag"), loop.buffer("unread", (2,))
    loop.let(flag, lambda x: x > 0.0, loop["x"])
    with loop.if_(flag):
        loop.let(loop["y"], lambda x: x.sqrt(), loop["x"])
    with loop.otherwise():
        loop.let(loop["y"], lambda x: x * x, loop["x"])
        loop.let(unread[1], lambda x: x, loop["x"])

    loop = start("counted by a number", {"x": ()}, {"y": ()})
    loop.let(loop["y"], lambda: 0.0)
    with loop.repeat(1, loop["x"]):
        loop.let(loop["y"], lambda y: y + 1.0, loop["y"])

    # the number picks a row, or an entry from the second row on, and is kept inside
    loop = start("picked", {"x": (), "rows": (3, 2)}, {"y": (2,), "z": ()})
    loop.let(loop["y"], lambda row: row, loop["rows"].picked(loop["x"]))
    loop.let(loop["z"], lambda entry: entry, loop["rows"][1].picked(loop["x"]))

    loop = start("picked twice", {"x": ()}, {"y": ()})
    order = loop.constant("order", [2.0, 0.0, 1.0])
    values = loop.constant("values", [10.0, 20.0, float("inf")])
    loop.let(loop["y"], lambda v: v.minimum(30.0), values.picked(order.picked(loop["x"])))

    loop = start("in place", {"x": (3,)}, {"y": (3,)})  # what is read overlaps what is written
    loop.copy(loop["y"], loop["x"])
    loop.let(loop["y"], lambda v: [v[1], v[2], v[0]], loop["y"])
    long = trace(lambda v: [horner(v), v[0], v[1]], {"v": (3,)}, name="long")
    loop.call(long, [loop["y"]], [loop["y"]])

    loop = start("rows", {"x": (4, 12)}, {"y": (4, 12)})
    inner = LoopBuilder("cumulated", {"row": (12,)}, {"sums": (12,)})
    inner.copy(inner["sums"], inner["row"])
    with inner.repeat(1, 12) as c:
        inner.let(inner["sums"][c], lambda a, b: a + b, inner["sums"][c - 1], inner["sums"][c])
    cumulated = inner.program()
    with loop.repeat(4) as i:
        loop.call(cumulated, [loop["y"][3 - i]], [loop["x"][i]])
    with loop.repeat(4) as i:
        loop.call(cumulated, [loop["y"][i]], [loop["y"][i]])
        loop.call(with_blocks(), [loop["y"][i].part(0, 3)], [loop["y"][i].part(9, 3)])

    loop = start("side by side", {"x": (), "rows": (5, 3)}, {"y": (5, 4), "z": (4, 2)})  # passes that may run in lanes
    between, few = loop.buffer("between", (5, 6)), loop.buffer("few", (4, 2))
    table = loop.constant("table", [x for k in range(5) for x in (0.5 + k, 1.0 / (1.0 + k))], (5, 2))
    with loop.repeat(5, apart=True) as i:
        first = trace(leg, {"x": (), "row": (3,), "table": (2,)}, name="leg")
        loop.call(first, [between[i], loop["y"][i]], [loop["x"], loop["rows"][i], table[i]])
    with loop.repeat(5, apart=True) as i:
        second = trace(
            lambda x, kept: [x, kept[5], kept[3], horner([horner(kept), x])], {"x": (), "kept": (6,)}, name="second leg"
        )
        loop.call(second, [loop["y"][i]], [loop["x"], between[i]])
    with loop.repeat(4, apart=True) as i:
        loop.call(
            trace(lambda row: [horner([horner(row), row[1]]), 1.5], {"row": (3,)}, name="few"),
            [few[i]],
            [loop["rows"][i]],
        )
    loop.copy(loop["z"], few)
    return {name: builder.program() for name, builder in found.items()}
