"""Keys of programs: equal for equal content whatever the names, different for every difference in content."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kinemorph.codegen.graphs.graph import Graph
from kinemorph.codegen.graphs.program import Port, Program
from kinemorph.codegen.graphs.tracing import trace
from kinemorph.codegen.loops.loop_builder import LoopBuilder
from kinemorph.codegen.loops.loop_program import LoopProgram
from kinemorph.vocabulary.blocks import LeastSquares, Solve, Table


def key(function: Callable[..., Any], shape: tuple[int, ...] = (3,), **outputs: tuple[int, ...]) -> str:
    return trace(function, {"x": shape}, outputs=outputs).key


def test_names_and_unused_nodes_do_not_enter():
    def program(name: str, port: str, unused: int) -> Program:
        graph = Graph()
        for k in range(unused):
            graph.constant(float(k + 7))
        x = graph.input(port)
        return Program(name, (Port(port, ()),), (Port(f"of {port}", ()),), graph, (-(x * 2.0).sin().ref,))

    assert program("first", "x", 0).key == program("other", "z", 3).key


def test_every_difference_enters():
    different = [
        key(lambda x: x[0] + x[1]),
        key(lambda x: x[0] - x[1]),
        key(lambda x: -x[0] - x[1]),
        key(lambda x: x[0] + x[2]),
        key(lambda x: x[0] * x[1]),
        key(lambda x: x[0] * 2.0),
        key(lambda x: x[0] * np.nextafter(2.0, 3.0)),
        key(lambda x: x[0] * -2.0),
        key(lambda x: x[0]),
        key(lambda x: -x[0]),
        key(lambda x: x[1]),
        key(lambda x: 0.0),
        key(lambda x: 1.0),
        key(lambda x: [x[0]]),
        key(lambda x: [[x[0]]]),
        key(lambda x: [x[0], x[0]]),
        key(lambda x: {"a": x[0], "b": x[0]}),
        key(lambda x: [x[0], x[1]]),
        key(lambda x: [x[1], x[0]]),
        key(lambda x: x[0], shape=(4,)),
        key(lambda x: x[0][0] + x[0][1], shape=(2, 2)),
        key(lambda x: x[0].sin()),
        key(lambda x: x[0].cos()),
        key(lambda x: x[0].atan2(x[1])),
        key(lambda x: x[1].atan2(x[0])),
    ]
    assert len(set(different)) == len(different)


def test_the_data_of_blocks_enter():
    def of(block: Any, entry: int = 0) -> str:
        return key(lambda x: x[0].block(block, x)[entry], (block.n_in,))

    tables = [
        Table((0.5,), (0.0, slope), ((1.0, 2.0), (3.0, top))) for slope, top in ((0.5, 1.0), (0.25, 1.0), (0.5, 2.0))
    ]
    different = [of(Solve(2)), of(Solve(2), 1), of(Solve(1, 4)), of(LeastSquares(2, 2)), *map(of, tables)]
    different += [of(LeastSquares(2, 2, 1, 1e-8)), of(LeastSquares(2, 2, 1, 1e-8), 2)]
    assert len(set(different)) == len(different)
    assert of(Solve(2)) == of(Solve(2, 1))


def powers(
    name: str = "powers",
    names: tuple[str, ...] = ("x", "y", "memory", "table"),
    start: int = 1,
    step: int = 1,
    value: float = 2.0,
    how: Callable[..., Any] = lambda before, x: before * x,
    way: str = "plain",
) -> LoopProgram:
    x_name, y_name, memory_name, table_name = names
    loop = LoopBuilder(name, inputs={x_name: ()}, outputs={y_name: (8,)})
    x, y, memory = loop[x_name], loop[y_name], loop.buffer(memory_name, (2,))
    table = loop.constant(table_name, (1.0, value))
    loop.let(y[0], lambda: 1.0)
    loop.copy(memory[0], table[1])
    with loop.repeat(start, 8) as i:
        loop.let(y[i], how, y[i - step], x)
    if way == "while":
        with loop.while_(memory[0]):
            loop.let(memory[0], lambda: 0.0)
    elif way in ("if", "otherwise"):
        with loop.if_(memory[0]):
            loop.let(memory[1], lambda: 3.0)
        if way == "otherwise":
            with loop.otherwise():
                loop.let(memory[1], lambda: 4.0)
    elif way == "picked":
        loop.copy(memory[1], table.picked(x))
    elif way == "picked by twos":
        loop.copy(memory[1], replace(table.picked(x), stride=2))
    elif way == "counted":
        with loop.repeat(x) as i:
            loop.let(memory[1], how, memory[1], x)
    return loop.program()


def test_keys_of_loop_programs():
    same = powers(name="other", names=("a", "b", "c", "d"))
    assert same.key == powers().key
    different = [
        powers(),
        powers(start=2),
        powers(start=2, step=2),
        powers(value=2.5),
        powers(how=lambda before, x: before + x),
        *(powers(way=way) for way in ("while", "if", "otherwise", "picked", "picked by twos", "counted")),
    ]
    assert len({program.key for program in different}) == len(different)


def test_a_called_loop_program_enters():
    def outer(inner: LoopProgram) -> LoopProgram:
        loop = LoopBuilder("outer", inputs={"x": ()}, outputs={"y": (8,)})
        loop.call(inner, [loop["y"]], [loop["x"]])
        return loop.program()

    assert outer(powers()).key == outer(powers(name="other")).key
    assert outer(powers()).key != outer(powers(value=3.0)).key


@pytest.mark.parametrize("size", [0, 1])
def test_small_programs_have_keys(size):
    assert len(key(lambda x: list(x), (size,), out=(size,))) == 64
