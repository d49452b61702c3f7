"""Printed equations of small systems: exactly the textbook's, about as long, and stable as LaTeX text.

`pytest --update-golden` writes the golden files anew.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinemorph.codegen.backends.text.latex import as_latex, latex
from kinemorph.codegen.backends.text.plain import as_text
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.reading.equations import equations, readable
from kinemorph.codegen.reading.expression_tree import expression_ops
from kinemorph.codegen.reading.names import latex_name
from kinemorph.errors import UnsupportedError
from support.cases.emitted import blocks_program, meant
from support.cases.textbook import (
    ARM,
    ARM_MASS,
    ARM_TORQUES,
    CRANE,
    CRANE_FORCES,
    ROTARY,
    ROTARY_MASS,
    arm_forward_dynamics,
    arm_mass_program,
    arm_program,
    crane_program,
    rotary_program,
    traced,
)

sympy = pytest.importorskip("sympy")

GOLDEN = Path(__file__).parents[1] / "golden"
SYSTEMS = {
    "arm": (arm_program, ARM, ARM_TORQUES),
    "arm_mass": (arm_mass_program, ARM, ARM_MASS),
    "crane": (crane_program, CRANE, CRANE_FORCES),
    "rotary_mass": (rotary_program, ROTARY, ROTARY_MASS),
}


def parsed(line: str) -> Any:
    names = {name: sympy.Symbol(name) for name in ("I", "S", "N", "E", "Q")}
    return sympy.sympify(line, locals=names, evaluate=True)


@pytest.mark.parametrize("system", SYSTEMS)
def test_printed_equations_are_the_textbook_ones(system: str) -> None:
    make, symbols, textbook = SYSTEMS[system]
    printed = [line.split(" = ")[1] for line in as_text(equations(make(), symbols), symbols).splitlines()]
    assert len(printed) == len(textbook)
    for ours, theirs in zip(printed, textbook, strict=True):
        assert sympy.simplify(sympy.expand_trig(sympy.expand(parsed(ours) - parsed(theirs)))) == 0


@pytest.mark.parametrize("system", SYSTEMS)
def test_printed_equations_are_about_as_long_as_the_textbook_ones(system: str) -> None:
    make, symbols, textbook = SYSTEMS[system]
    printed = [line.split(" = ")[1] for line in as_text(equations(make(), symbols), symbols).splitlines()]
    for ours, theirs in zip(printed, textbook, strict=True):
        assert sympy.count_ops(parsed(ours)) <= 1.5 * sympy.count_ops(parsed(theirs))


@pytest.mark.parametrize("system", SYSTEMS)
def test_own_count_is_close_to_sympy(system: str) -> None:
    make, symbols, _ = SYSTEMS[system]
    written = equations(make(), symbols)
    printed = [line.split(" = ")[1] for line in as_text(equations(make(), symbols), symbols).splitlines()]
    for tree, line in zip(written.trees, printed, strict=True):
        assert abs(expression_ops(tree) - sympy.count_ops(parsed(line))) <= 2


def forward_program() -> Program:
    return traced("arm_forward", [("q", 2), ("tau", 2), ("p", 8)], arm_forward_dynamics)


@pytest.mark.slow
def test_forward_dynamics_is_one_fraction_over_the_determinant() -> None:
    program = forward_program()
    lines = dict(line.split(" = ") for line in as_text(equations(program, ARM), ARM).splitlines())
    values = {name: parsed(line) for name, line in lines.items()}
    for name in reversed([name for name in lines if name.startswith("x")]):
        values = {key: value.subs(sympy.Symbol(name), parsed(lines[name])) for key, value in values.items()}
    M = sympy.Matrix(2, 2, [parsed(entry) for entry in ARM_MASS])
    residual = M * sympy.Matrix([values["a1"], values["a2"]]) - sympy.Matrix(sympy.symbols("tau1 tau2"))
    assert [sympy.simplify(entry) for entry in residual] == [0, 0]
    assert all(lines[name].count("/") == 1 for name in ("a1", "a2"))


# ── golden files ──────────────────────────────────────────────────────────────────────────────────────────────────────


def odd_program() -> Program:
    """One of everything that is not polynomial."""

    def function(x: Any) -> Any:
        a, b, c = x
        values = [
            (a * a + b).sqrt() / (a + b),
            (a < b).where(9.81 * a, -b * b),
            abs(a - b) * a.exp() * (a / 2.0).tan() ** 3,
            (a + b) ** 1.5 * 1.25e-9,
            a.atan2(b) + a.minimum(c) - b.sign() + (a * b).floor(),
            a.where(b, c) + (a <= b) + 0.1234567890123 * c.asin() + c.log() * c.acos(),
            -a / (3.0 * b),
        ]
        return [("y", (len(values),), values)]

    return traced("odd", [("x", 3)], function)


GOLDENS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    **{name: (make, symbols, {}) for name, (make, symbols, _) in SYSTEMS.items()},
    "arm_forward": (forward_program, ARM, {}),
    "arm_straight_line": (arm_program, ARM, {"limit": 3}),
    "odd": (odd_program, {}, {}),
    "blocks": (blocks_program, {}, {}),
}


@pytest.mark.parametrize("name", GOLDENS)
def test_latex_text_is_stable(name: str, request: pytest.FixtureRequest) -> None:
    make, symbols, options = GOLDENS[name]
    written = as_latex(equations(make(), symbols, **options), symbols)
    path = GOLDEN / f"{name}.tex"
    if request.config.getoption("--update-golden"):
        path.write_text(written)
    assert written == path.read_text()


class Solution(dict):  # type: ignore[type-arg]
    """What the text calls solve and least_squares: entries by place, and a rank."""

    def __init__(self, X: Any, rank: int) -> None:
        super().__init__(np.ndenumerate(X) if X.shape[1] > 1 else enumerate(X[:, 0]))
        self.rank = rank


def solution(A: Any, B: Any) -> Solution:
    A, B = np.array(A), np.array(B, dtype=float)
    return Solution(np.linalg.pinv(A, rcond=1e-10) @ B.reshape(len(B), -1), np.linalg.matrix_rank(A, tol=1e-9))


@pytest.mark.parametrize("limit", [1, 2000])
def test_blocks_are_written_as_calls_with_named_results(limit: int) -> None:
    """The text is Python: run with NumPy's own solvers, it gives what the interpreter gives."""
    program = blocks_program()
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(3, 3)), rng.normal(size=3)
    values: dict[str, Any] = {f"A{i + 1}{j + 1}": A[i, j] for i in range(3) for j in range(3)}
    values |= {f"b{i + 1}": b[i] for i in range(3)}
    values |= {"solve": solution, "least_squares": solution, "table1": lambda x: program.blocks[2].meaning(x)[0]}
    written = as_text(equations(program, limit=limit))
    exec(written, values)
    names = [line.split(" = ")[0] for line in written.splitlines()][-len(program.refs) :]
    expected = np.concatenate([np.ravel(out) for out in meant(program, A, b)])
    np.testing.assert_allclose([float(values[name]) for name in names], expected, rtol=1e-9, atol=1e-9)
    with pytest.raises(UnsupportedError, match="solve 3x3"):
        readable(program)


def test_single_entries_suit_mathtext() -> None:
    mathtext = pytest.importorskip("matplotlib.mathtext")
    parser = mathtext.MathTextParser("path")
    for make, symbols, _ in SYSTEMS.values():
        for rows in readable(make(), symbols).values():
            for row in rows:  # type: ignore[union-attr]
                for tree in row if isinstance(row, tuple) else (row,):
                    assert parser.parse(f"${latex(tree)}$")  # type: ignore[arg-type]


def test_default_names_in_latex() -> None:
    names = {"tau": r"\tau", "q": "q", "m2": "m_{2}", "speed": r"\mathrm{speed}", "a_b": r"\mathrm{a\_b}"}
    assert {name: latex_name(name) for name in names} == names
