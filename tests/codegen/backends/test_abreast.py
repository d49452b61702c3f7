"""Loops whose passes are apart: the same as any loop, whatever the counts and strides; on one state, in SIMD lanes."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from kinemorph.algebra.scalar import exp, sin
from kinemorph.codegen.backends import Precision
from kinemorph.codegen.backends.c.export import export_c
from kinemorph.codegen.backends.c.library import has_compiler
from kinemorph.codegen.backends.llvm.engine import Engine, compile_text, vector_bits
from kinemorph.codegen.backends.llvm.lanes import emit_lanes
from kinemorph.codegen.backends.llvm.math import Real
from kinemorph.codegen.backends.llvm.single import emit_one
from kinemorph.codegen.backends.llvm.strides import Runs
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.graphs.program import with_loops_for_one
from kinemorph.codegen.graphs.tracing import trace
from kinemorph.codegen.loops.loop_builder import LoopBuilder
from kinemorph.codegen.loops.loop_program import LoopProgram, View
from kinemorph.codegen.loops.printing import format_loops
from kinemorph.errors import CompileError
from support.tools.each_case import each_case
from support.tools.program_runs import WAYS, all_ways, assert_agrees

STATES = 3
WIDE = pytest.mark.skipif(vector_bits() < 256, reason="no registers for four numbers")


def inputs_of(program: LoopProgram) -> list[np.ndarray]:
    rng = np.random.default_rng(5)
    return [rng.normal(size=(STATES, *port.shape)) for port in program.inputs]


def rows(count: int, size: int, gap: int, *, down: bool = False) -> LoopProgram:
    """y_k = f(x_k, shared, table_k) for rows of x and y with a gap between them; y is read by the last row first."""
    loop = LoopBuilder("rows", {"x": (count, size + gap), "shared": (2,)}, {"y": (count, size + gap), "z": (count,)})
    table = loop.constant("table", np.random.default_rng(1).normal(size=2 * count), (count, 2))
    kept = loop.buffer("kept", (count, 2))
    loop.copy(loop["y"], loop["x"])
    row = trace(
        lambda x, s, t: {"y": [sin(a) * s[0] + t[1] for a in x], "kept": [t[0] * s[1], x[-1]]},
        {"x": (size,), "s": (2,), "t": (2,)},
    )
    last = count - 1
    with loop.repeat(count, apart=True) as k:
        place = last - k if down else k
        x, y = (replace(loop[name][place], shape=(size,)) for name in "xy")
        loop.call(row, [y, kept[place]], [x, loop["shared"], table[k]])
    after = trace(lambda kept, y: kept[0] - kept[1] * y[0], {"kept": (2,), "y": (size,)})
    with loop.repeat(count, apart=True) as k:
        loop.call(after, [loop["z"][k]], [kept[k], replace(loop["y"][k], shape=(size,))])
    return loop.program()


@pytest.mark.parametrize(
    "count, size, gap",
    [(1, 3, 0), (2, 1, 4), (3, 2, 0), (4, 3, 2), (6, 27, 0), (7, 11, 6), (8, 5, 0), (9, 9, 0), (17, 1, 0)],
)
def test_rows_of_any_size_and_stride(count: int, size: int, gap: int) -> None:
    program = rows(count, size, gap)
    assert_agrees("llvm scalar", program, inputs_of(program))


@all_ways
@each_case("count", [5, 9])
def test_all_ways_agree(way: str, count: int) -> None:
    program = rows(count, 3, 1, down=True)
    assert_agrees(way, program, inputs_of(program))


def legs(count: int, *, down: bool = False) -> LoopProgram:
    """Two loops with enough operations for lanes in C: numbers with gaps, a table, and a buffer that only they use."""
    loop = LoopBuilder("legs", {"x": (count, 30), "shared": (2,)}, {"y": (count, 30), "z": (count, 2)})
    table = loop.constant("table", np.random.default_rng(1).normal(size=2 * count), (count, 2))
    kept = loop.buffer("kept", (count, 24))
    loop.copy(loop["y"], loop["x"])
    row = trace(
        lambda x, s, t: {"y": [sin(a) * s[0] + t[1] for a in x], "kept": [t[0] * exp(s[1] * a) - a for a in x]},
        {"x": (24,), "s": (2,), "t": (2,)},
    )
    after = trace(
        lambda kept, y: [
            sum((abs(a).sqrt() * b for a, b in zip(kept, y, strict=True)), 0.0),
            sum((b - a for a, b in zip(kept, y, strict=True)), 0.0),
        ],
        {"kept": (24,), "y": (24,)},
    )
    with loop.repeat(count, apart=True) as k:
        place = count - 1 - k if down else k
        x, y = (replace(loop[name][place], shape=(24,)) for name in "xy")
        loop.call(row, [y, kept[place]], [x, loop["shared"], table[k]])
    with loop.repeat(count, apart=True) as k:
        loop.call(after, [loop["z"][k]], [kept[k], replace(loop["y"][k], shape=(24,))])
    return loop.program()


@pytest.mark.skipif(not has_compiler(), reason="no C compiler (cc) found")
@pytest.mark.parametrize("count, down", [(6, False), (5, True), (8, True)])
def test_rows_in_lanes_of_c(count: int, down: bool) -> None:
    """Each leg has its own numbers, also where lanes are left over and where loops go through rows backwards."""
    program = legs(count, down=down)
    texts = "".join(export_c([program], "legs").values())
    assert texts.count("_abreast") == 4  # two functions, and their calls
    assert_agrees("c", program, inputs_of(program))


@pytest.mark.parametrize("precision, lanes", [("float64", 2), ("float64", 4), ("float64", 8), ("float32", 16)])
def test_runs_are_turned_into_lanes_and_back(precision: Precision, lanes: int) -> None:
    """By themselves, without a loop: what is taken and given again is what was there, and nothing else is touched."""
    real, kind = Real(precision, lanes), np.float64 if precision == "float64" else np.float32
    lying = [(1, 1), (1, 3), (3, 3), (5, 9), (13, 13), (4, -4)]  # size, stride
    cases = list(product((1, lanes // 2, lanes), lying))
    both = [[Runs(giving, *rest, live, real) for giving in (False, True)] for live, rest in cases]
    definitions = {runs.name: runs.definition(1) for pair in both for runs in pair}
    text = "\n".join(definitions.values()).replace("define internal", "define")
    engine = Engine(compile_text("runs", text))
    for (live, (size, stride)), pair in zip(cases, both, strict=True):
        take, give = (engine.function(runs.name, "void", ["pointer", "pointer"]) for runs in pair)
        data = np.arange(800, dtype=kind)
        memory = np.zeros((size + 2) * 16, dtype=kind)
        vectors = memory[(-memory.ctypes.data % 64) // memory.itemsize :][: size * lanes].reshape(size, lanes)
        take(vectors.ctypes.data, data[400:].ctypes.data)
        expected = np.array([[400 + stride * min(k, live - 1) + e for k in range(lanes)] for e in range(size)])
        assert np.array_equal(vectors, expected)
        found = np.full(800, -1, dtype=kind)
        give(vectors.ctypes.data, found[400:].ctypes.data)
        places = expected[:, :live].ravel()
        assert np.array_equal(found[places], places)
        assert (np.delete(found, places) == -1).all()


@all_ways
def test_passes_may_write_where_they_read(way: str) -> None:
    """In place, in two steps, under a loop around them."""
    loop = LoopBuilder("in_place", {"x": (2, 7, 3)}, {"y": (2, 7, 3)})
    y = loop["y"]
    loop.copy(y, loop["x"])
    turn = trace(lambda a: [a[1], a[2], a[0] + a[1]], {"a": (3,)})
    with loop.repeat(2) as i, loop.repeat(7, apart=True) as k:
        loop.call(turn, [y[i, k]], [y[i, k]])
        loop.let(y[i, k, 1], lambda a, b: a * b, y[i, k, 1], y[i, k, 0])
    program = loop.program()
    assert_agrees(way, program, inputs_of(program))


def test_every_kind_of_operation_in_lanes() -> None:
    """Functions that spellings call exist once for plain numbers and once for lanes."""
    loop = LoopBuilder("ops", {"x": (6,), "s": ()}, {"y": (6,), "z": ()})
    loop.let(loop["z"], lambda s: exp(s) * s.maximum(0.0) + (s > 0.0).where(s, 2.0), loop["s"])
    with loop.repeat(6, apart=True) as k:
        loop.let(
            loop["y"][k],
            lambda x, s: exp(x).minimum(s) + (x > 0.0).where(x, s).sign() * abs(x).sqrt(),
            *(loop["x"][k], loop["s"]),
        )
    program = loop.program()
    assert_agrees("llvm scalar", program, inputs_of(program))


def test_far_angles_in_lanes() -> None:
    loop = LoopBuilder("far", {"x": (6,)}, {"y": (6,)})
    with loop.repeat(6, apart=True) as k:
        loop.let(loop["y"][k], lambda x: sin(1e12 * x), loop["x"][k])
    program = loop.program()
    assert_agrees("llvm scalar", program, inputs_of(program))


@WIDE
def test_only_one_state_has_passes_for_lanes() -> None:
    program = rows(4, 3, 0)
    turned = "define internal void @take_runs.3.3.4.v4f64("
    assert turned in emit_one(program, "float64", False)
    assert turned not in emit_lanes(program, Real("float64", 8))
    texts = []
    for one in (False, True):
        loop = LoopBuilder("sums", {"x": (4,)}, {"y": (4,)})
        with loop.repeat(4, apart=one) as k:
            loop.let(loop["y"][k], lambda x: x + 1.0, loop["x"][k])
        texts.append((format_loops(loop.program()), loop.program().key))
    assert "apart" not in texts[0][0] and "passes apart" in texts[1][0]
    assert texts[0][1] != texts[1][1]


@pytest.mark.parametrize("wrong", ["before", "same", "picked", "far", "unknown"])
def test_passes_that_share_places_are_refused(wrong: str) -> None:
    loop = LoopBuilder("shared", {"x": (5,), "n": ()}, {"y": (9,)})
    x, y = loop["x"], loop["y"]
    add = trace(lambda a, b: a + b, {"a": (), "b": ()})
    passes = loop["n"] if wrong == "unknown" else 4
    with pytest.raises(CompileError, match="apart"), loop.repeat(passes, apart=True) as k:
        if wrong == "before":
            loop.call(add, [y[k + 1]], [y[k], x[k]])
        if wrong == "same":
            loop.call(add, [y[0]], [x[k], x[k]])
        if wrong == "picked":
            loop.call(add, [y[k]], [View("y", (), y.offset, x[0]), x[k]])
        if wrong == "far":
            loop.call(add, [y[2 * k]], [y[k + 2], x[k]])
        if wrong == "unknown":
            loop.call(add, [y[k]], [x[k], x[k]])


def test_a_program_may_have_loops_for_one_state() -> None:
    """They are what one state runs, also where another program calls it; batches and everybody else run the program."""
    program = trace(lambda x: [2.0 * a for a in x], {"x": (6,)}, name="twice")
    loop = LoopBuilder("wrong on purpose", {"x": (6,)}, {"out": (6,)})
    with loop.repeat(6, apart=True) as k:
        loop.let(loop["out"][k], lambda x: 3.0 * x, loop["x"][k])
    both = with_loops_for_one(program, loop.program())
    outer = LoopBuilder("outer", {"x": (6,)}, {"y": (6,)})
    outer.call(both, [outer["y"]], [outer["x"]])
    x = [np.ones((4, 6))]
    for one in (both, outer.program()):
        found = {way: run(one, x)[0][0, 0] for way, run in WAYS.items() if way != "c"}
        assert found == {"llvm scalar": 3.0, "llvm lanes": 2.0, "python": 2.0, "matlab": 2.0}
    assert both.key != program.key
    assert build(program)(x[0][0])[0] == 2.0
    with pytest.raises(CompileError, match="same ports"):
        with_loops_for_one(trace(lambda x: x, {"x": ()}), loop.program())
