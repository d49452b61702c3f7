"""Emitted Python does what the interpreter does, on one state and on batches, and holds nothing but arithmetic."""

from __future__ import annotations

import ast
import time
import warnings
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kinemorph import derive, library
from kinemorph.codegen.backends.text.python import export_python
from kinemorph.codegen.graphs.evaluation import carry_out, meaning_of
from kinemorph.codegen.graphs.program import Port, Program
from kinemorph.errors import UnsupportedError
from kinemorph.model.configuration import random_configuration
from kinemorph.vocabulary.ops import OPS
from support.cases.emitted import (
    ATTACKS,
    arguments_for,
    blocks_program,
    meant,
    negated,
    nested_program,
    newton_program,
    program_of,
    random_program,
    same,
)
from support.tools.each_case import each_case

GOLDEN = Path(__file__).parents[1] / "golden"


def text_of(programs: Any, name: str = "model", **options: Any) -> str:
    ((_, text),) = export_python(programs, name, **options).items()
    return text


def loaded(*programs: Any, **options: Any) -> Any:
    """The module of some programs, run in a namespace of its own."""
    module: dict[str, Any] = {}
    exec(compile(text_of(programs, **options), "emitted.py", "exec"), module)
    return SimpleNamespace(**module)


def as_list(result: Any) -> list[Any]:
    return list(result) if isinstance(result, tuple) else [result]


@each_case("op", OPS)
def test_every_op_is_the_interpreters(op: str) -> None:
    plain = program_of(op)
    arguments = arguments_for(op)
    for program in (plain, negated(plain)):
        function = loaded(replace(program, name="f")).f
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            got = function(*arguments)
            one = function(*(a[3] for a in arguments))
        expected = meant(program, *arguments)[0]
        assert np.all(same(got, expected))
        assert same(one, expected[3]).all() and one.shape == ()


@each_case("op", OPS)
def test_ops_on_constants_alone_neither_raise_nor_warn(op: str) -> None:
    plain = program_of(op)
    graph = plain.graph
    for value in (0.0, 2.0, float("inf")):
        node = graph.intern((op, *[-graph.constant(value)] * OPS[op].arity))
        program = Program("f", plain.inputs, plain.outputs, graph, (node,))
        inputs = [1.0] * OPS[op].arity
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            got = loaded(program).f(*inputs)
        with np.errstate(all="ignore"):
            assert same(got, carry_out(program, inputs, meaning_of)[0])


@each_case("seed", range(25))
def test_random_programs(seed: int) -> None:
    program = random_program(seed)
    rng = np.random.default_rng(seed)
    q, M = rng.normal(size=(3, 1, 4)), rng.normal(size=(2, 1, 3))
    for got, expected in zip(getattr(loaded(program), f"random{seed}")(q, M), meant(program, q, M), strict=True):
        assert got.shape == expected.shape
        assert same(got, expected, ulps=1e6).all()


@pytest.mark.parametrize("make", [blocks_program, newton_program, nested_program])
def test_blocks_and_loops(make: Any) -> None:
    program = make()
    rng = np.random.default_rng(3)
    arrays = [np.abs(rng.normal(size=(4, *port.shape))) * 3.0 + 0.1 for port in program.inputs]
    arrays[0][1] *= -1.0
    function = getattr(loaded(program), program.name)
    got, expected = as_list(function(*arrays)), meant(program, *arrays)
    for a, b in zip(got, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
    for a, b in zip(as_list(function(*(array[2] for array in arrays))), expected, strict=True):
        np.testing.assert_allclose(a, b[2], rtol=1e-12, atol=1e-12)


def test_states_that_are_not_numbers_end_their_loops_alone() -> None:
    program = newton_program()
    x, times = np.array([4.0, np.nan, 9.0]), np.array([2.0, np.nan, 1.5])
    for got, expected in zip(loaded(program).newton(x, times), meant(program, x, times), strict=True):
        assert same(got, expected).all()


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
def test_a_robot_of_36_degrees_of_freedom(name: str, record_property: Any) -> None:
    robot = library.hexapod36()
    program = getattr(derive(robot, backend="interpreter"), name).program
    text = text_of([program], robot.name)
    start = time.perf_counter()
    module: dict[str, Any] = {}
    exec(compile(text, "hexapod36.py", "exec"), module)
    seconds = time.perf_counter() - start
    record_property("figure", ("emitted Python", f"import of hexapod36 {name} [s]", seconds))
    rng = np.random.default_rng(0)
    q = np.stack([random_configuration(robot, rng) for _ in range(4)])
    v, a = rng.normal(size=(2, 4, robot.nv))
    (expected,) = meant(program, q, v, a)
    np.testing.assert_array_equal(module[name](q, v, a), expected)
    np.testing.assert_allclose(module[name](q[1], v[1], a[1]), expected[1], rtol=1e-12)
    np.testing.assert_allclose(module[name](q[:, None], v[1], a)[2, 3], module[name](q[2], v[1], a[3]), rtol=1e-12)


def test_single_precision_stays_single() -> None:
    robot = library.puma()
    program = derive(robot, backend="interpreter").inverse_dynamics.program
    module = loaded(program, precision="float32")
    q, v, a = np.random.default_rng(0).normal(size=(3, 5, 6))
    got = module.inverse_dynamics(q, v, a)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, meant(program, q, v, a)[0], rtol=2e-4, atol=2e-4)
    odd = loaded(random_program(1), precision="float32").random1(q[:, :4], v[:, None, :3])
    assert all(out.dtype == np.float32 for out in odd)


def test_an_input_of_the_wrong_shape_is_named() -> None:
    module = loaded(derive(library.puma(), backend="interpreter").inverse_dynamics.program)
    with pytest.raises(ValueError, match=r"'v' has shape \(5,\); expected \(6,\) after"):
        module.inverse_dynamics(np.zeros(6), np.zeros(5), np.zeros(6))


def test_an_unknown_precision_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="'half'"):
        export_python([program_of("sin")], "x", precision="half")


def test_inputs_are_not_changed_and_results_are_fresh() -> None:
    graph_program = random_program(2)
    q, M = np.ones((2, 4)), np.ones((2, 1, 3))
    module = loaded(graph_program)
    first = module.random2(q, M)
    second = module.random2(q, M)
    first[1][...] = 7.0
    assert (q == 1.0).all() and (M == 1.0).all() and not np.array_equal(first[1], second[1])


# ── names ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

CALLS = {
    *("np.sqrt", "np.sin", "np.broadcast_shapes", "np.zeros", "np.asarray", "np.errstate", "np.broadcast_to"),
    *("np.ascontiguousarray", "np.moveaxis", "math.prod", "real", "zip", "len", "isinstance", "tuple", "function"),
    *("_evaluated", "ValueError", "inputs.append", "batches.append", "array.reshape"),
}
STATEMENTS = (ast.FunctionDef, ast.Import, ast.Assign, ast.Return, ast.For, ast.If, ast.With, ast.Raise, ast.Expr)


@each_case("attack", ATTACKS)
def test_names_of_a_model_do_nothing_in_the_text(attack: str) -> None:
    """Whatever a robot, its functions and its arrays are called, the text holds the same kinds of statements."""
    plain = program_of("sin")
    ports = (Port(attack, ()),)
    renamed = Program(f"{attack}.{attack}[{attack}]", ports, ports, plain.graph, plain.refs)
    text = text_of([renamed, replace(renamed)], attack)
    tree = ast.parse(text)
    assert text.isascii()
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            assert isinstance(node, STATEMENTS)
        if isinstance(node, ast.Import):
            assert {alias.name for alias in node.names} <= {"math", "numpy"}
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            methods = called.endswith((".reshape", ".append"))
            assert called in CALLS or methods, called
    public = [f.name for f in tree.body if isinstance(f, ast.FunctionDef) and not f.name.startswith("_")]
    assert len(set(public)) == 2
    module: dict[str, Any] = {}
    exec(compile(text, "attack.py", "exec"), module)
    assert all(module[name](0.5) == np.sin(0.5) for name in public)


def test_text_is_stable(request: pytest.FixtureRequest) -> None:
    robot = library.double_pendulum()
    dynamics = derive(robot, backend="interpreter")
    written = export_python([dynamics.mass_matrix.program, dynamics.energy.program], robot.name)
    path = GOLDEN / "double_pendulum.py.txt"
    if request.config.getoption("--update-golden"):
        path.write_text(written["double_pendulum.py"])
    assert written == {"double_pendulum.py": path.read_text()}


def test_file_and_functions_carry_the_names_of_the_model() -> None:
    dynamics = derive(library.puma(), backend="interpreter")
    programs = [dynamics.mass_matrix.program, dynamics.jacobian("flange").program]
    ((file, text),) = export_python(programs, "puma").items()
    assert file == "puma.py"
    assert "def mass_matrix(q):" in text and "def jacobian_flange_local(q):" in text
    assert f"puma.mass_matrix: {programs[0].ops} operations" in text and "(..., 6, 6)" in text
