"""Formulas in the notation of each format: expression trees, and rows of equations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

from kinemorph.codegen.backends.text.latex import latex_formula, latex_rows
from kinemorph.codegen.backends.text.mathml import XMLNS, mathml_formula, mathml_rows
from kinemorph.codegen.backends.text.typst import typst_formula, typst_rows
from kinemorph.codegen.reading.equation_rows import EquationRow, Page
from kinemorph.codegen.reading.expression_tree import Tree
from kinemorph.codegen.reading.printed_formula import Wording, formula
from kinemorph.display.faces.languages.words import Words
from kinemorph.vocabulary.typography.marks import Mark

NotationName = Literal["typst", "latex", "mathml"]


class Notation(NamedTuple):
    """How a notation writes a formula, rows of equations, and what is around a formula in a text and on its own."""

    formula: Callable[[Mark], str]
    rows: Callable[[Sequence[EquationRow]], str]
    inline: str
    display: str


NOTATIONS: dict[str, Notation] = {
    "typst": Notation(typst_formula, typst_rows, "${}$", "$ {} $"),
    "latex": Notation(latex_formula, lambda rows: latex_rows(rows, "align*"), "${}$", "\\[\n{}\n\\]"),
    "mathml": Notation(
        mathml_formula, mathml_rows, f"<math {XMLNS}>{{}}</math>", f'<math {XMLNS} display="block">{{}}</math>'
    ),
}


def wording(words: Words) -> Wording:
    """The sign of decimals and the words in formulas, in the language of a report."""
    told = (words(text, context="formula") for text in ("if", "otherwise", "all others"))
    return Wording(words.language.decimal, *told)


def page(words: Words) -> Page:
    """How rows of equations are set on a page of a report."""
    return Page(wording=wording(words))


def display(content: Any, notation: NotationName, words: Words) -> str:
    """The source of formulas on lines of their own.

    `content` is a tree, rows of equations as `equation_rows` returns them, or an object with a method `rows` that
    returns such rows for a `Page`, such as `WrittenEquations`.
    """
    form = NOTATIONS[notation]
    if hasattr(content, "rows"):
        content = content.rows(page(words))
    if isinstance(content, Sequence):
        return form.rows(list(content)).strip()
    return form.display.format(form.formula(formula(content, wording(words))))


def inline(tree: Tree, notation: NotationName, words: Words) -> str:
    """The source of a formula within a text."""
    form = NOTATIONS[notation]
    return form.inline.format(form.formula(formula(tree, wording(words))))
