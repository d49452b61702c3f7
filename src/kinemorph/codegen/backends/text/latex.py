r"""Equations in LaTeX, written from the marks of printed formulas with tables of spellings.

`latex(tree)` is one formula, without an environment; Matplotlib's mathtext accepts it too if it contains no `cases`.
`as_latex(equations(program))` is a whole program as one `aligned` environment, for use in display math: named
subexpressions first, a line for every entry of a vector, matrices as `bmatrix`. With `environment="align*"` it needs
no display math around it and may break across pages.
"""

from __future__ import annotations

from collections.abc import Iterable

from kinemorph.codegen.reading.equation_rows import EquationRow, Page, equation_rows
from kinemorph.codegen.reading.equations import Equations
from kinemorph.codegen.reading.expression_tree import Tree
from kinemorph.codegen.reading.names import Symbols, latex_text
from kinemorph.codegen.reading.printed_formula import formula, matrix
from kinemorph.vocabulary.typography.alphabet import GREEK, SIGNS, SPACES
from kinemorph.vocabulary.typography.marks import (
    Accent,
    Apply,
    Cases,
    Digits,
    Fence,
    Fraction,
    Mark,
    Matrix,
    Named,
    Root,
    Row,
    Scripts,
    Sign,
    Space,
    Times,
    Word,
)
from kinemorph.vocabulary.typography.symbol_reader import symbol_marks

LINE = 150  # characters of source after which a sum is continued on a new line
LETTERS = {character: f"\\{name}" for name, (character, _) in reversed(GREEK.items())}
COMMANDS = {character: f"\\{name}" for name, character in reversed(SIGNS.items())}
BRACKETS = {"": ".", "⌊": r"\lfloor ", "⌋": r"\rfloor", "{": r"\{", "}": r"\}"}
GAPS = {width: f"\\{name}" for name, width in SPACES.items()}


def as_latex(written: Equations, symbols: Symbols | None = None, *, page: Page | None = None) -> str:
    """The result of `equations` in one LaTeX environment, `aligned`.

    By default lines end after a number of characters of source. With a `page`, lines and matrices fit its width.
    """
    source = Page(LINE, lambda mark: len(latex_formula(mark)), splits=False)
    return latex_rows(equation_rows(written, symbols, page or source))


def latex_rows(rows: Iterable[EquationRow], environment: str = "aligned") -> str:
    """Rows of equations in one LaTeX environment, aligned at their equals signs."""
    body = " \\\\\n".join(map(_equation, rows))
    return f"\\begin{{{environment}}}\n{body}\n\\end{{{environment}}}\n"


def _equation(row: EquationRow) -> str:
    """The lines `name &= formula` and those on which the formula is continued."""
    text = f"{latex_formula(row.name)} &= "
    for line in row.lines:
        indent = line.indent * r"\quad "
        text += f" \\\\\n&{indent}{continued(line.mark)}" if line.indent else latex_formula(line.mark)
    text += f" && ({latex_text(row.number)})" if row.number else ""
    return text


def bmatrix(entries: list[Tree], columns: int) -> str:
    """A `bmatrix` of entries, row by row."""
    return latex_formula(matrix(entries, columns))


def latex(tree: Tree) -> str:
    """A tree as a LaTeX formula, without an environment."""
    return latex_formula(formula(tree))


# ── marks ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def latex_formula(mark: Mark) -> str:
    """A printed formula in LaTeX."""
    if isinstance(mark, Row):
        return "".join(map(latex_formula, mark.parts))
    if isinstance(mark, Named):
        # the LaTeX of a symbol is kept as it is, but for letters that LaTeX does not have
        return mark.latex if mark.latex.isascii() else latex_formula(symbol_marks(mark.latex, mark.text))
    if isinstance(mark, Word):
        return _word(mark)
    if isinstance(mark, Digits):
        return mark.text.replace(",", "{,}")
    if isinstance(mark, Sign):
        return _sign(mark)
    if isinstance(mark, Times):
        return r" \, " if mark.thin else " "
    if isinstance(mark, Space):
        return f"{GAPS[mark.width]} "
    if isinstance(mark, Scripts):
        below = "" if mark.below is None else f"_{{{latex_formula(mark.below)}}}"
        above = "" if mark.above is None else f"^{{{latex_formula(mark.above)}}}"
        group = isinstance(mark.base, (Row, Scripts))
        base = latex_formula(mark.base)
        return f"{{{base}}}{below}{above}" if group else f"{base}{below}{above}"
    if isinstance(mark, Accent):
        return rf"\{mark.kind}{{{latex_formula(mark.body)}}}"
    if isinstance(mark, Fraction):
        return rf"\frac{{{latex_formula(mark.above)}}}{{{latex_formula(mark.below)}}}"
    if isinstance(mark, Root):
        return rf"\sqrt{{{latex_formula(mark.body)}}}"
    if isinstance(mark, Fence):
        opening, closing = (BRACKETS.get(text, text) for text in (mark.opening, mark.closing))
        space = " " if mark.closing == "⌋" else ""
        body = latex_formula(mark.body) if mark.opening else continued(mark.body)
        return rf"\left{opening}{body}{space}\right{closing}"
    if isinstance(mark, Apply):
        space = "" if isinstance(mark.argument, Fence) else " "
        return f"{latex_formula(mark.function)}{space}{latex_formula(mark.argument)}"
    if isinstance(mark, Matrix):
        body = " \\\\\n".join(" & ".join(map(latex_formula, cells)) for cells in mark.rows)
        return f"\\begin{{bmatrix}}\n{body}\n\\end{{bmatrix}}"
    return _cases(mark)


def continued(mark: Mark) -> str:
    """A formula that continues one before it: after an empty group, a plus or minus at its start is an operator."""
    text = latex_formula(mark)
    return "{}" + text if text.startswith(" ") else text


def _word(word: Word) -> str:
    if word.style == "text":
        return rf"\text{{{latex_text(word.text)}}}"
    if word.style == "function":
        return rf"\{word.text}"
    if word.style == "constant" or (word.style == "italic" and word.text.isascii()):
        return word.text
    letter = LETTERS.get(word.text)
    if letter is None and not word.text.isascii():
        return rf"\text{{{latex_text(word.text)}}}"
    if word.style == "italic":
        return str(letter)
    shape = {"upright": "mathrm", "bold": "mathbf" if letter is None else "boldsymbol"}.get(word.style, "mathcal")
    return rf"\{shape}{{{letter or latex_text(word.text)}}}"


def _sign(sign: Sign) -> str:
    text = COMMANDS.get(sign.text, sign.text)
    if sign.prefix:
        return f"{text} " if text.startswith("\\") else text
    return f"{text} " if sign.text == "," else f" {text} "


def _cases(mark: Cases) -> str:
    condition, chosen, otherwise = map(latex_formula, (mark.condition, mark.chosen, mark.otherwise))
    if_word, else_word = (rf"\mathrm{{{latex_text(word)}}}" for word in mark.words)
    return rf"\begin{{cases}} {chosen} & {if_word}\ {condition} \\ {otherwise} & {else_word} \end{{cases}}"
