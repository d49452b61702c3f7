"""Printed formulas in LaTeX, typst and MathML: one walk, three notations.

MathML is computed by a reader of its own (`support.tools.mathml_values`) and has to give what the interpreter gives;
typst compiles; LaTeX keeps its golden files (test_latex.py).
"""

from __future__ import annotations

import math
import re
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import kinemorph
from kinemorph.codegen.backends.text.latex import as_latex, latex, latex_formula, latex_rows
from kinemorph.codegen.backends.text.mathml import as_mathml, mathml, mathml_formula, mathml_rows
from kinemorph.codegen.backends.text.typst import as_typst, typst, typst_formula, typst_rows, typst_text
from kinemorph.codegen.reading.equation_rows import PAGE, Page, equation_rows, tree_row
from kinemorph.codegen.reading.equations import equations
from kinemorph.codegen.reading.expression_tree import Array, Call, Number, Power, Product, Sum, Symbol, Tree
from kinemorph.codegen.reading.printed_formula import Wording, formula
from kinemorph.display.equations.equations_of_motion import equations_of_motion
from kinemorph.display.equations.typesetting import POINTS, line_size
from kinemorph.model.library.choosing import choose
from kinemorph.vocabulary.typography.marks import Named, width
from support.cases.emitted import blocks_program, meant
from support.cases.textbook import traced
from support.tools.mathml_values import computed, computed_rows, symbol_key

A, B, C = (
    Symbol(name, latex, (0, 0, i)) for i, (name, latex) in enumerate((("a", "a"), ("b2", "b_{2}"), ("c", r"\dot{c}")))
)
VALUES = {"a": 0.7, "b2": -1.3, "c": 2.9}
KEYS = {symbol_key(mathml(symbol)): VALUES[symbol.text] for symbol in (A, B, C)}
HALF = Number(Fraction(-1, 2))


def call(name: str, *args: Tree) -> Call:
    return Call(name, args)


SUM = Sum((A, B, Number(Fraction(3))))
MANY = Sum(tuple(Product(Number(Fraction(k)), (A, B, C)) for k in range(2, 10)))  # too wide for a fraction with a bar
# every kind of node, with the value that it means
NODES: dict[str, tuple[Tree, float]] = {
    "whole number": (Number(Fraction(-12)), -12.0),
    "fraction": (Number(Fraction(-5, 12)), -5 / 12),
    "decimal": (Number(9.81), 9.81),
    "small number": (Number(-1.25e-9), -1.25e-9),
    "large number": (Number(6.02e23), 6.02e23),
    "symbol": (C, 2.9),
    "sum": (Sum((A, Product(Number(Fraction(-1)), (B,)), HALF)), 0.7 + 1.3 - 0.5),
    "product": (Product(Number(2.5), (A, Power(C, 3), SUM)), 2.5 * 0.7 * 2.9**3 * 2.4),
    "negative powers": (Product(Number(Fraction(-3, 4)), (A, Power(B, -1), Power(SUM, -2))), 0.525 / 1.3 / 2.4**2),
    "long fraction": (Product(Number(Fraction(1)), (MANY, Power(Sum((MANY, A)), -1))), 116.116 / (116.116 - 0.7)),
    "power": (Power(SUM, 3), 2.4**3),
    "power of a power": (Power(Power(A, 2), 3), 0.7**6),
    "power of a number": (Power(Number(Fraction(-2)), 3), -8.0),
    "reciprocal": (Power(C, -2), 2.9**-2),
    "sin": (call("sin", A), math.sin(0.7)),
    "power of cos": (Power(call("cos", Sum((A, C))), 2), math.cos(3.6) ** 2),
    "tan": (call("tan", Product(HALF, (A,))), math.tan(-0.35)),
    "log": (call("log", C), math.log(2.9)),
    "asin": (call("asin", A), math.asin(0.7)),
    "acos": (call("acos", A), math.acos(0.7)),
    "sqrt": (call("sqrt", SUM), math.sqrt(2.4)),
    "exp": (Product(Number(Fraction(2)), (call("exp", Sum((A, B))), A)), 2 * math.exp(-0.6) * 0.7),
    "pow": (call("pow", C, HALF), 2.9**-0.5),
    "pow of a sum": (call("pow", SUM, Sum((A, B))), 2.4**-0.6),
    "atan2": (call("atan2", A, B), math.atan2(0.7, -1.3)),
    "abs": (Power(call("abs", B), 3), 1.3**3),
    "sign": (call("sign", B), -1.0),
    "floor": (call("floor", Product(Number(Fraction(3)), (B,))), -4.0),
    "min": (call("min", A, B), -1.3),
    "max": (call("max", A, Sum((B, C))), 1.6),
    "lt": (call("lt", A, B), 0.0),
    "le": (Product(Number(Fraction(2)), (call("le", B, A), C)), 5.8),
    "eq": (call("eq", A, A), 1.0),
    "where": (call("where", call("lt", B, A), Product(Number(Fraction(-2)), (C,)), A), -5.8),
    "where a number": (Sum((call("where", Sum((A, B)), A, B), C)), 3.6),
}  # fmt: skip
ARRAYS: dict[str, Tree] = {
    "solve": call("solve", Array(((A, B), (B, C))), Array(((A,), (SUM,)))),
    "least_squares": call("least_squares", Array(((A, B, C),)), Array(((A,),))),
    "table": call("table1", A),
    "infinite": Number(-math.inf),
}


@pytest.mark.parametrize("node", NODES)
def test_mathml_means_what_the_tree_means(node: str) -> None:
    tree, value = NODES[node]
    assert computed(mathml(tree), KEYS) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("node", NODES)
def test_narrow_lines_mean_the_same(node: str) -> None:
    """Broken into lines of a few letters, inside of brackets and at the slash of fractions, it is the same formula."""
    tree, value = NODES[node]
    long = Sum((Product(Number(Fraction(2)), (Power(Sum((tree, A, B)), 2), C)), A, Power(Sum((C, B, A)), -1)))
    expected = 2 * (value - 0.6) ** 2 * 2.9 + 0.7 + 1 / 2.3
    row = tree_row(Named("y", "y"), long, Page(room=6.0))
    assert len(row.lines) > 2
    found = computed_rows(mathml_rows([row]), KEYS)
    assert found["mi[y]"] == pytest.approx(expected, rel=1e-12)


# ── whole robots ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["double_pendulum", "chain:3"])
def test_equations_in_mathml_are_those_of_the_model(name: str) -> None:
    """Also where formulas are broken over several lines, and parts have names."""
    robot = choose(name).robot
    rng = np.random.default_rng(5)
    written = equations_of_motion(robot)
    assert any(len(row.lines) > 1 for row in written.rows())
    dynamics = kinemorph.derive(robot, backend="interpreter")
    outputs = [symbol_key(mathml_formula(name)) for name in written.entry_names(written.programs[0])]
    for _ in range(3):
        state = rng.normal(size=(3, robot.nv))
        values = {("q", i): x for i, x in enumerate(state[0])}
        values |= {("v", i): x for i, x in enumerate(state[1])} | {("a", i): x for i, x in enumerate(state[2])}
        values |= {("p", i): parameter.value for i, parameter in enumerate(written.parameters)}
        keys = {symbol_key(mathml_formula(Named(*written.names[place][::-1]))): x for place, x in values.items()}
        found = computed_rows(written.mathml, keys)
        expected = dynamics.inverse_dynamics(*state)
        assert [found[key] for key in outputs] == pytest.approx(expected.tolist(), rel=1e-11, abs=1e-11)


def test_wide_matrices_are_written_entry_by_entry() -> None:
    robot = choose("chain:3").robot
    written = equations_of_motion(robot, "matrices")
    narrow, wide = written.rows(Page(room=30.0)), written.rows(Page(room=1e6))
    assert len(narrow) > len(wide) and all(row.width <= 30.0 for row in narrow)
    text = latex_rows(narrow)
    assert text.count("M_{12}") == 1 and "&= M_{21} = " in text  # equal entries share a formula


# ── typst and LaTeX compile ───────────────────────────────────────────────────────────────────────────────────────────

HOSTILE = ['#read("x")', r"\input{x}", "<script>", "*/", "]]>", '"', "$", "\\", "a_b", "é ü 💥", "//", "{{}", "x" * 300]


def hostile_formulas() -> list[Tree]:
    symbols = [Symbol(name, "no LaTeX #", (0, 0, i)) for i, name in enumerate(HOSTILE)]
    return [Sum((symbol, Power(symbol, 2))) for symbol in symbols]


def test_typst_compiles_every_node_and_runs_no_name(tmp_path: Path) -> None:
    typesetter = pytest.importorskip("typst")
    trees = [*(tree for tree, _ in NODES.values()), *ARRAYS.values(), *hostile_formulas()]
    rows = [tree_row(Named("y_{1}", "y"), tree, Page(room=12.0)) for tree in trees]
    source = "".join(f"$ {typst(tree)} $\n" for tree in trees) + typst_rows(rows)
    robot = equations_of_motion(choose("double_pendulum").robot)
    file = tmp_path / "formulas.typ"
    file.write_text(source + robot.typst + typst_formula(formula(NODES["where"][0], Wording(",", "si", "sinon"))))
    assert typesetter.compile(str(file), format="pdf").startswith(b"%PDF")


@pytest.mark.slow
def test_latex_compiles_every_node(tmp_path: Path) -> None:
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    trees = [*(tree for tree, _ in NODES.values()), *ARRAYS.values()]
    rows = [tree_row(Named("y_{1}", "y"), tree, Page(room=12.0)) for tree in trees]
    names = [kinemorph.codegen.reading.names.latex_name(name) for name in HOSTILE if name.isascii()]
    body = "".join(f"\\[ {text} \\]\n" for text in [*map(latex, trees), *names])
    body += f"\\[ {latex_rows(rows)} \\]"
    preamble = "\\documentclass{article}\\usepackage[utf8]{inputenc}\\usepackage{amsmath}\\begin{document}\n"
    (tmp_path / "formulas.tex").write_text(f"{preamble}{body}\n\\end{{document}}")
    done = subprocess.run(
        ["pdflatex", "-no-shell-escape", "-interaction=nonstopmode", "-halt-on-error", "formulas.tex"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]


# ── names stay text ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", HOSTILE)
def test_names_stay_text(name: str) -> None:
    symbol = Symbol(name, "no LaTeX #", (0, 0, 0))
    element = ElementTree.fromstring(mathml(symbol))
    assert element.tag == "mtext" and element.text == name and len(element) == 0
    assert typst(symbol) == typst_text(name)
    inside = typst(symbol)[1:-1]
    assert re.fullmatch(r'(?:[^"\\]|\\["\\])*', inside)  # no quote ends the string, no backslash begins a command
    assert inside.replace(r"\"", '"').replace(r"\\", "\\") == name


# ── lines ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
def test_estimated_widths_are_those_of_a_typesetter() -> None:
    """Matplotlib's mathtext measures lines of the equations: the estimate is 5 % too small to 40 % too large."""
    rows = equations_of_motion(choose("chain:3").robot).rows()
    lines = [line.mark for row in rows for line in row.lines if width(line.mark) > 5.0]
    ratios = [width(mark) / (line_size(latex_formula(mark))[0] / POINTS) for mark in lines]
    assert len(ratios) > 5 and min(ratios) > 0.95 and max(ratios) < 1.4
    assert all(row.width <= PAGE for row in rows)


def test_a_page_of_latex_breaks_inside_brackets() -> None:
    written = equations_of_motion(choose("chain:3").robot).written[0]
    assert r"\right." not in as_latex(written) and r"\right." in as_latex(written, page=Page(room=20.0))


def test_blocks_are_matrices_in_every_notation() -> None:
    program = blocks_program()
    written = equations(program)
    text, markup = as_typst(written), as_mathml(written)
    assert text.count("mat(") == as_latex(written).count("bmatrix") // 2 == markup.count("<mtable>")
    assert len(meant(program, np.eye(3), np.ones(3))) == len(program.outputs)
    ElementTree.fromstring(markup)


def test_the_language_changes_the_words_and_the_decimal_comma() -> None:
    french = Wording(",", "si", "sinon")
    tree = call("where", call("lt", A, B), Number(9.81), A)
    assert r"9{,}81 & \mathrm{si}\ a < b_{2}" in latex_formula(formula(tree, french))
    assert typst_formula(formula(tree, french)) == 'cases(9","81 & "si" space a < b_2, a & "sinon")'
    assert "<mn>9,81</mn>" in mathml_formula(formula(tree, french))


def test_a_power_of_a_symbol_with_an_exponent_has_brackets() -> None:
    starred = Symbol("m", "m^{*}", (0, 0, 0))
    assert latex(Power(starred, 2)) == r"\left(m^{*}\right)^{2}" and latex(Power(B, 2)) == "b_{2}^{2}"


def test_a_traced_function_in_typst() -> None:
    def function(x: Any) -> Any:
        return [("y", (1,), [x[0] * x[0] * x[1].sin() / 2.0])]

    assert as_typst(equations(traced("one", [("x", 2)], function))) == "$\ny_1 &= frac(1, 2) sin x_2 thin x_1^2\n$\n"
    assert equation_rows(equations(traced("one", [("x", 2)], function)))[0].width < 10.0
