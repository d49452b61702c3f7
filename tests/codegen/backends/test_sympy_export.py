"""Programs as SymPy matrices, and as text that builds them: the known equations, the same numbers, nothing else."""

from __future__ import annotations

import ast
import builtins
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kinemorph import derive, library
from kinemorph.codegen.backends.text.sympy_matrices import to_sympy
from kinemorph.codegen.backends.text.sympy_source import export_sympy
from kinemorph.codegen.graphs.program import Port, Program
from kinemorph.codegen.graphs.tracing import trace
from kinemorph.display.equations.equations_of_motion import symbolic_dynamics
from kinemorph.display.equations.symbols import symbols_of
from kinemorph.errors import MissingExtraError, UnsupportedError
from kinemorph.vocabulary.blocks import Solve, Table
from kinemorph.vocabulary.ops import OPS
from support.cases.emitted import ATTACKS, blocks_program, meant, program_of, same
from support.cases.textbook import ARM, ARM_TORQUES, arm_program
from support.tools.each_case import each_case

sympy = pytest.importorskip("sympy")


def loaded(*programs: Program, **options: Any) -> dict[str, Any]:
    ((_, text),) = export_sympy(programs, "model", **options).items()
    module: dict[str, Any] = {}
    exec(compile(text, "model_sympy.py", "exec"), module)
    return module


def parsed(line: str) -> Any:
    names = {name: sympy.Symbol(name, real=True) for name in ("q1", "q2", "v1", "v2", "a1", "a2", "I", "g")}
    return sympy.sympify(line, locals=names)


def value(expression: Any, numbers: dict[str, float]) -> float:
    return float(expression.subs({sympy.Symbol(name, real=True): number for name, number in numbers.items()}))


# ── known equations ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_pendulum_is_the_pendulum() -> None:
    dynamics = symbolic_dynamics(library.pendulum())
    m, l, g, q, a = (sympy.Symbol(name, real=True) for name in ("m1", "l1", "g", "q1", "a1"))
    known = m * l**2 * a + m * g * l * sympy.sin(q)
    program = dynamics.inverse_dynamics.program
    for tau in (
        to_sympy(program, symbols_of(dynamics), constants="exact")["out"],
        loaded(program, symbols=symbols_of(dynamics))["inverse_dynamics"](),
    ):
        assert tau.shape == (1, 1) and sympy.simplify(tau[0] - known) == 0


def test_a_double_pendulum_has_the_textbook_torques() -> None:
    """Point masses at the ends: the equations of every textbook."""
    dynamics = symbolic_dynamics(library.double_pendulum(point=True))
    m1, m2, l1, l2, g, q1, q2, v1, v2, a1, a2 = (
        sympy.Symbol(name, real=True) for name in ["m1", "m2", "l1", "l2", "g", "q1", "q2", "v1", "v2", "a1", "a2"]
    )
    s, c, s12 = sympy.sin, sympy.cos, sympy.sin(q1 + q2)
    known = sympy.Matrix(
        [
            (m1 * l1**2 + m2 * (l1**2 + 2 * l1 * l2 * c(q2) + l2**2)) * a1
            + m2 * (l1 * l2 * c(q2) + l2**2) * a2
            - m2 * l1 * l2 * s(q2) * (2 * v1 * v2 + v2**2)
            + (m1 + m2) * g * l1 * s(q1)
            + m2 * g * l2 * s12,
            m2 * (l1 * l2 * c(q2) + l2**2) * a1 + m2 * l2**2 * a2 + m2 * l1 * l2 * s(q2) * v1**2 + m2 * g * l2 * s12,
        ]
    )
    tau = to_sympy(dynamics.inverse_dynamics.program, symbols_of(dynamics), constants="exact")["out"]
    assert sympy.simplify(sympy.expand_trig(tau - known)) == sympy.zeros(2, 1)


def test_emitted_equations_are_the_textbook_ones() -> None:
    outputs = loaded(arm_program(), symbols=ARM)["arm"]()
    for ours, theirs in zip(outputs, ARM_TORQUES, strict=True):
        free = {str(symbol): symbol for symbol in outputs.free_symbols}
        difference = ours - sympy.sympify(theirs, locals=free)
        assert sympy.simplify(sympy.expand_trig(sympy.expand(difference))) == 0


# ── the same numbers ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("constants", ["float", "exact"])
def test_a_robot_evaluates_to_the_same_numbers(constants: Any) -> None:
    program = derive(library.puma(), backend="interpreter").gravity_forces.program
    q = np.random.default_rng(0).normal(size=6)
    numbers = {f"q{k + 1}": q[k] for k in range(6)}
    expected = meant(program, q)[0]
    forces = to_sympy(program, constants=constants)["out"]
    np.testing.assert_allclose([value(f, numbers) for f in forces], expected, rtol=1e-11, atol=1e-11)
    if constants == "exact":
        assert not forces.atoms(sympy.Float)
    written = loaded(program)["gravity_forces"]()
    np.testing.assert_allclose([value(f, numbers) for f in written], expected, rtol=1e-11, atol=1e-11)


@each_case("op", OPS)
def test_every_op(op: str) -> None:
    program = replace(program_of(op), name="f")
    names = ["x0", "x1", "x2"][: OPS[op].arity]
    for numbers in ([0.5, 0.25, 0.75], [0.25, 0.5, -2.0], [0.0, 0.5, 3.0], [0.5, 0.5, 0.5]):
        given = numbers[: OPS[op].arity]
        expected = meant(program, *given)[0]
        if not np.isfinite(expected):
            continue
        for expression in (to_sympy(program)["y"], loaded(program)["f"]()):
            got = value(expression, dict(zip(names, given, strict=True)))
            assert same(got, expected, ulps=8), f"{op}{given}: {got} != {expected}"


def test_outputs_have_their_shapes() -> None:
    dynamics = derive(library.puma(), backend="interpreter")
    assert to_sympy(dynamics.mass_matrix.program)["out"].shape == (6, 6)
    assert to_sympy(dynamics.forward_kinematics.program)["out"].shape == (len(dynamics.robot.body_names), 4, 4)
    kinetic, potential = loaded(derive(library.pendulum(), backend="interpreter").energy.program)["energy"]()
    assert kinetic.is_number is False and potential.is_real
    assert loaded(dynamics.forward_kinematics.program)["forward_kinematics"]().shape[1:] == (4, 4)


# ── blocks ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def solving(a: Any, b: Any) -> Any:
    x = a[0].block(Solve(2, 1), [a[0], a[1], a[2], *b])
    y = x[0].block(Table((0.0, 1.0), (0.0, 0.0, 1.0), ((0.0, 1.0), (0.5, 2.0), (0.0, 0.0))), [b[0]])
    return {"x": x, "y": y[0]}


def test_a_solve_is_exact_and_a_table_is_piecewise() -> None:
    program = trace(solving, {"a": (3,), "b": (2,)}, name="solving")
    found = to_sympy(program, constants="exact")
    a1, a2, a3, b1, b2 = (sympy.Symbol(name, real=True) for name in ("a1", "a2", "a3", "b1", "b2"))
    residual = sympy.Matrix([[a1, a2], [a2, a3]]) * found["x"] - sympy.Matrix([b1, b2])
    assert sympy.simplify(residual) == sympy.zeros(2, 1)
    assert found["y"].has(sympy.Piecewise)
    for number in (-0.5, 0.0, 0.5, 1.0, 2.0):
        given = {"a1": 2.0, "a2": 0.5, "a3": 3.0, "b1": number, "b2": 1.5}
        expected = meant(program, [2.0, 0.5, 3.0], [number, 1.5])
        for x, y in ((found["x"], found["y"]), loaded(program)["solving"]()):
            np.testing.assert_allclose([value(entry, given) for entry in x], expected[0], rtol=1e-12)
            assert value(y, given) == pytest.approx(float(expected[1]))


@pytest.mark.parametrize("make", [to_sympy, lambda program: export_sympy([program], "x")])
def test_least_squares_is_refused_with_the_reason(make: Any) -> None:
    with pytest.raises(UnsupportedError, match=r"least squares 2x3.*rank depends on numbers"):
        make(blocks_program())


def test_without_sympy_the_command_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def missing(name: str, *args: Any, **options: Any) -> Any:
        if name == "sympy":
            raise ImportError(name)
        return real(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(MissingExtraError, match=r"pip install 'kinemorph\[sympy\]'"):
        to_sympy(program_of("sin"))


# ── names ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@each_case("attack", ATTACKS)
def test_names_of_a_model_do_nothing_in_the_text(attack: str) -> None:
    plain = program_of("sin")
    renamed = Program(f"{attack}.{attack}", (Port(attack, ()),), (Port(attack, ()),), plain.graph, plain.refs)
    symbols = {(attack, 0): (attack, attack), (attack, None): (attack, attack)}
    ((_, text),) = export_sympy([renamed, replace(renamed)], attack, symbols=symbols).items()
    tree = ast.parse(text)
    assert {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)} <= {
        "Symbol",
        "sin",
        "sympify",
    }
    module: dict[str, Any] = {}
    exec(compile(text, "attack.py", "exec"), module)
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert len(set(functions)) == 2
    (symbol,) = module[functions[0]]().free_symbols
    assert module[functions[1]]() == sympy.sin(symbol)
