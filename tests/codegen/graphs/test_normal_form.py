"""Normal forms mean what the program means, and equal functions get equal forms."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

from kinemorph.codegen.backends.text.plain import as_text, text
from kinemorph.codegen.graphs.graph import LEAVES
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.reading.equations import equations, readable
from kinemorph.codegen.reading.expression_tree import Call, Number, Symbol, Tree, expression_ops, number, product, total
from kinemorph.codegen.reading.normal_form import normal_forms
from kinemorph.errors import CompileError, UnsupportedError
from kinemorph.vocabulary.ops import OPS
from support.cases.textbook import arm_program, traced
from support.tools.each_case import each_case

FUNCTIONS: dict[str, Any] = {name: op.meaning for name, op in OPS.items()}


def meaning(program: Program, values: list[float]) -> list[float]:
    """The outputs by carrying out the nodes one by one."""
    found: dict[int, Any] = {}
    for i in program.order:
        op, *rest = program.graph.nodes[i]
        if op in LEAVES:
            found[i] = rest[0] if op == "const" else values[rest[0]]
        else:
            found[i] = OPS[op].meaning(*(math.copysign(1.0, ref) * found[abs(ref)] for ref in rest))
    return [float(math.copysign(1.0, ref) * found[abs(ref)]) for ref in program.refs]


def printed_values(program: Program, values: list[float], limit: int = 2000) -> list[float]:
    """The outputs by evaluating the printed text line by line."""
    names = [f"{port.name}{i + 1}" for port in program.inputs for i in range(port.size)]
    scope: dict[str, Any] = {**FUNCTIONS, **dict(zip(names, values, strict=True))}
    lines = as_text(equations(program, limit=limit)).splitlines()
    for line in lines:
        exec(line, {"__builtins__": {}}, scope)
    return [float(scope[line.split(" = ")[0]]) for line in lines[-len(program.refs) :]]


def polynomial(rng: random.Random, q: Any, p: Any) -> Any:
    """A random sum of products of numbers, parameters, quotients, sines and cosines."""
    pool = [*p, *(x.sin() for x in q), *(x.cos() for x in q), (q[0] + q[1]).cos(), (q[0] * 2.0 - q[1] + 0.3).sin(), *q]
    sums = []
    for _ in range(rng.randint(1, 4)):
        term: Any = rng.choice([1.0, -2.0, 0.5, 1 / 3, 9.81])
        for _ in range(rng.randint(1, 5)):
            term = term * rng.choice(pool)
        if rng.random() < 0.3:
            term = term / (rng.choice(p) + 2.0 + rng.choice(p) * rng.choice(pool).sin())
        if rng.random() < 0.2:
            term = term * (rng.choice(p) * rng.choice(p) + 1.0).sqrt()
        sums.append(term)
    return sum(sums)


@pytest.mark.parametrize("seed", [*range(10), *(pytest.param(k, marks=pytest.mark.slow) for k in range(10, 60))])
def test_printed_expressions_mean_what_the_program_means(seed: int) -> None:
    rng = random.Random(seed)

    def function(q: Any, p: Any) -> Any:
        a, b = polynomial(rng, q, p), polynomial(rng, q, p)
        return [("y", (3,), [a, a * b, (q[0] + math.pi / 2).sin() * b - q[0].cos() * a])]

    program = traced("random", [("q", 2), ("p", 3)], function)
    values = [rng.uniform(-1.0, 1.0) for _ in range(2)] + [rng.uniform(0.2, 1.0) for _ in range(3)]
    expected = meaning(program, values)
    assert printed_values(program, values) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert printed_values(program, values, limit=1) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@each_case("name", sorted(OPS))
def test_every_op_prints(name: str) -> None:
    def function(x: Any) -> Any:
        from kinemorph.codegen.graphs.graph import apply

        refs = tuple(x[i].ref for i in range(OPS[name].arity))
        return [("y", (2,), [apply(x[0].graph, name, refs), apply(x[0].graph, name, refs) * x[2] - x[1]])]

    program = traced(name, [("x", 3)], function)
    for values in ([0.4, 0.7, 0.2], [0.7, 0.4, 0.9], [0.5, 0.5, 0.1]):
        for limit in (2000, 0):
            assert printed_values(program, values, limit) == pytest.approx(meaning(program, values), rel=1e-12)


@each_case(
    ("function", "expected"),
    [
        (lambda x, y, z: x.sin() ** 2 + x.cos() ** 2, "1"),
        (lambda x, y, z: x.sin() * y.cos() + x.cos() * y.sin(), "sin(x1 + x2)"),
        (lambda x, y, z: x.cos() * y.cos() * z.cos(), "cos(x1)*cos(x2)*cos(x3)"),
        (lambda x, y, z: (1.0 - (2.0 * x).cos()) * y, "2*sin(x1)**2*x2"),
        (lambda x, y, z: (x + math.pi / 2).cos(), "-sin(x1)"),
        (lambda x, y, z: (x - math.pi).sin(), "-sin(x1)"),
        (lambda x, y, z: (y - x).sin() + (x - y).sin() + z, "x3"),
        (lambda x, y, z: (x * x + y * x) / (x + y), "x1"),
        (lambda x, y, z: 1.0 / (1.0 / x + 1.0 / y), "x1*x2/(x1 + x2)"),
        (lambda x, y, z: x / (y + z) * (z + y), "x1"),
        (lambda x, y, z: (y + z) * (x - x.cos() / (y + z)) - x * y, "x1*x3 - cos(x1)"),
        (lambda x, y, z: (x + y).sqrt() * (y + x).sqrt(), "x1 + x2"),
        (lambda x, y, z: (x + y.sin()).cos() ** 2 + (x + y.sin()).sin() ** 2, "1"),
        (lambda x, y, z: x * y / 12.0 + 0.25 * y * x, "x1*x2/3"),
        (lambda x, y, z: 9.81 * x + math.cos(math.pi / 2) * y, "9.81*x1"),
        (lambda x, y, z: x + 1e-16, "x1 + 1e-16"),
        (lambda x, y, z: 0.1 * x + 0.2 * x - 0.3 * x, "0"),
        (lambda x, y, z: (x * y) ** 2 / (x * x * z), "x2**2/x3"),
        (lambda x, y, z: x * y - z * y - x * z * y, "x2*(x1 - x1*x3 - x3)"),
    ],
)
def test_equal_functions_get_one_form(function: Any, expected: str) -> None:
    program = traced("law", [("x", 3)], lambda x: [("y", (1,), [function(*x)])])
    (tree,) = readable(program)["y"]  # type: ignore[misc]
    assert text(tree) == expected  # type: ignore[arg-type]


def test_the_limit_names_subexpressions_instead() -> None:
    program = arm_program()
    with pytest.raises(UnsupportedError, match="at most 5"):
        readable(program, limit=5)
    listed = equations(program, limit=5)
    assert listed.definitions and max(expression_ops(tree) for tree in listed.trees) < 40
    assert normal_forms(program, 2000)[1][0].keys() == normal_forms(program, 15)[1][0].keys()


def test_division_by_nothing_is_refused() -> None:
    program = traced("void", [("x", 1)], lambda x: [("y", (1,), [1.0 / (x[0].sin() ** 2 + x[0].cos() ** 2 - 1.0)])])
    with pytest.raises(CompileError, match="zero for all inputs"):
        readable(program)


def test_names_must_differ() -> None:
    program = traced("clash", [("x", 2)], lambda x: [("y", (1,), [x[0] * x[1]])])
    with pytest.raises(CompileError, match="already the name of"):
        readable(program, {("x", 0): ("a", "a"), ("x", 1): ("a", "b")})


def test_numbers_print_as_a_reader_would_write_them() -> None:
    written = {0.5: "1/2", 1 / 12: "1/12", 9.81: "9.81", -2.0: "-2", 0.1 + 0.2: "0.3", 2 / 3: "2/3", 1e-7: "1e-07"}
    assert {value: text(number(value)) for value in written} == written
    assert float(text(number(math.sqrt(2.0)))) == math.sqrt(2.0)


def test_operations_are_counted_as_written() -> None:
    x, y = Symbol("x", "x"), Symbol("y", "y", (0, 1, 1))
    half = product(0.5, [(x, 2), (y, 1)])
    counts: list[tuple[Tree, int]] = [
        (half, 3),  # x**2*y/2
        (product(-1.0, [(x, 1)]), 0),
        (product(1.0, [(x, 1), (y, -1)]), 1),
        (product(1.0, [(x, -1)]), 1),
        (product(3.0, [(x, 1), (y, -2)]), 3),
        (total([x, y, number(1.0)]), 2),
        (Call("sin", (total([x, y]),)), 2),
    ]
    assert [expression_ops(tree) for tree, _ in counts] == [count for _, count in counts]
    assert isinstance(number(1.0), Number) and np.isfinite(float(number(1.0).value))
