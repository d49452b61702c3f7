"""Formulas of a report in the notation of each format: rows of equations, and expression trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from kinemorph.codegen.backends.text.latex import latex_formula, latex_rows
from kinemorph.codegen.backends.text.mathml import mathml_formula, mathml_rows
from kinemorph.codegen.backends.text.typst import typst_formula, typst_rows
from kinemorph.codegen.reading.equation_rows import EquationRow
from kinemorph.codegen.reading.expression_tree import Tree
from kinemorph.codegen.reading.printed_formula import Wording, formula
from kinemorph.display.reports.languages.words import Words
from kinemorph.vocabulary.typography.marks import Mark

Notation = Literal["typst", "latex", "mathml"]
FORMULAS: dict[str, Callable[[Mark], str]] = {
    "typst": typst_formula,
    "latex": latex_formula,
    "mathml": mathml_formula,
}
ROWS: dict[str, Callable[[Sequence[EquationRow]], str]] = {
    "typst": typst_rows,
    "latex": lambda rows: latex_rows(rows, "align*"),
    "mathml": mathml_rows,
}
INLINE = {"typst": "${}$", "latex": "${}$", "mathml": "<math>{}</math>"}
DISPLAY = {"typst": "$ {} $", "latex": "\\[\n{}\n\\]", "mathml": '<math display="block">{}</math>'}


def wording(words: Words) -> Wording:
    """How formulas are written in the language of a report: the decimal sign, and the words of a choice."""
    return Wording(words.language.decimal, words("if", context="formula"), words("otherwise", context="formula"))


def display(content: Sequence[EquationRow] | Tree, notation: Notation, words: Words) -> str:
    """A formula on lines of its own, with the signs around it: rows of equations, or an expression tree."""
    if isinstance(content, Sequence):
        return ROWS[notation](content).strip()
    return DISPLAY[notation].replace("{}", FORMULAS[notation](formula(content, wording(words))))


def inline(tree: Tree, notation: Notation, words: Words) -> str:
    """A formula within a paragraph, with the signs around it."""
    return INLINE[notation].replace("{}", FORMULAS[notation](formula(tree, wording(words))))
