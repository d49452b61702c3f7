r"""The closed reader of a parameter's symbol: what LaTeX it knows, and that it knows nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kinemorph import Parameter
from kinemorph.codegen.backends.text.latex import latex_formula
from kinemorph.codegen.backends.text.mathml import mathml_formula
from kinemorph.codegen.backends.text.typst import typst_formula
from kinemorph.errors import ModelError
from kinemorph.formats.loading import examine
from kinemorph.vocabulary.typography.symbol_reader import SymbolError, read_symbol, symbol_problem

# LaTeX, and the same symbol in typst and MathML
KNOWN: dict[str, tuple[str, str]] = {
    r"\theta_1": ("theta_1", "<msub><mi>θ</mi><mn>1</mn></msub>"),
    r"m_{\text{arm}}": ('m_("arm")', "<msub><mi>m</mi><mtext>arm</mtext></msub>"),
    r"\dot{x}": ("dot(x)", '<mover accent="true"><mi>x</mi><mo stretchy="false">˙</mo></mover>'),
    r"\ddot q": ("dot.double(q)", '<mover accent="true"><mi>q</mi><mo stretchy="false">¨</mo></mover>'),
    r"\bar{L}": ("macron(L)", '<mover accent="true"><mi>L</mi><mo stretchy="false">¯</mo></mover>'),
    r"F_{\max}^{*}": ("F_(max)^(∗)", "<msubsup><mi>F</mi><mi>max</mi><mo>∗</mo></msubsup>"),
    r"\mathbf{M}": ("upright(bold(M))", "<mi>𝐌</mi>"),
    r"\mathcal{L}": ("cal(L)", "<mi>ℒ</mi>"),
    r"\mathrm{ad}": ('"ad"', "<mi>ad</mi>"),
    r"\varphi": ("phi", "<mi>φ</mi>"),
    r"{M_x}_{12}": ("attach(M_x, b: 12)", "<msub><msub><mi>M</mi><mi>x</mi></msub><mn>12</mn></msub>"),
    "m_\\mathrm{c}": ("m_(upright(c))", '<msub><mi>m</mi><mi mathvariant="normal">c</mi></msub>'),
    "x'": ("x^(′)", "<msup><mi>x</mi><mo>′</mo></msup>"),
    r"\frac{L}{2}": ("frac(L, 2)", "<mfrac><mi>L</mi><mn>2</mn></mfrac>"),
    r"a\_b": ('a upright("_") b', '<mrow><mi>a</mi><mi mathvariant="normal">_</mi><mi>b</mi></mrow>'),
}
UNKNOWN = {
    r"\input{x}": r"\\input",
    r"\write18{ls}": r"\\write",
    r"\def\a{b}": r"\\def",
    r"\text{\input{x}}": r"\\input",
    "{a": "never closed",
    "a}": "never opened",
    "a_1_2": "two indices",
    "a^": "nothing after",
    "#read(1)": "'#'",
    "$x$": r"'\$'",
    "x%": "'%'",
    "💥": "character",
    r"\begin{x}": r"\\begin",
    r"\\": "command",
    r"\left(a": "never closed",
    "{" * 40 + "a" + "}" * 40: "braces within",
    "a" * 201: "201 characters",
    "  ": "empty",
    r"\dot": "without",
}  # fmt: skip


@pytest.mark.parametrize("latex", KNOWN)
def test_known_symbols_in_typst_and_mathml(latex: str) -> None:
    typst, mathml = KNOWN[latex]
    marks = read_symbol(latex)
    assert typst_formula(marks) == typst and mathml_formula(marks) == mathml
    assert read_symbol(latex_formula(marks)) == marks  # written as LaTeX and read again, it is the same symbol


@pytest.mark.parametrize("latex", UNKNOWN)
def test_everything_else_is_refused_with_a_sentence(latex: str) -> None:
    with pytest.raises(SymbolError, match=UNKNOWN[latex]):
        read_symbol(latex)
    with pytest.raises(ModelError, match=r"parameter 'mass': the symbol .*expected one symbol in LaTeX.*leave it out"):
        Parameter("mass", 1.0, "kg", latex)


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet=st.sampled_from("ab1_^{}'\\ #$%&~\"<()\u00e9") | st.characters(), max_size=20))
def test_any_text_is_read_or_refused(latex: str) -> None:
    """A symbol that is read is written with LaTeX that can be read again, and without code in typst."""
    if not symbol_problem(latex):
        marks = read_symbol(latex)
        assert not symbol_problem(latex_formula(marks))
        assert "#" not in typst_formula(marks).replace('"#"', "") and "$" not in typst_formula(marks).replace('"$"', "")


def test_a_model_file_loads_although_a_symbol_cannot_be_printed(tmp_path: Path) -> None:
    file = tmp_path / "four_bar.toml"
    text = (Path(__file__).parents[2] / "data/models/four_bar.toml").read_text()
    file.write_text(text.replace('"m_{1}"', r"'\input{x}'"))
    loaded = examine(file)
    (finding,) = loaded.findings
    assert finding.rule == "symbol"
    assert finding.severity == "warning" and r"\input" in finding.problem and "'m1'" in finding.element
    assert loaded.system is not None
    parameters = {parameter.name: parameter for parameter in loaded.system.robot.parameters}
    assert parameters["m1"].symbol == "" and parameters["m1"].value == 0.5 and parameters["m2"].symbol == "m_{2}"
