r"""Equations in the notation of typst (0.13 or later), written from the marks of printed formulas.

`typst(tree)` is one formula, for use between dollar signs. `as_typst(equations(program))` is a whole program as one
block equation with its dollar signs, aligned at the equals signs. Names of several letters are strings in quotes, so
that no name can be a variable or a function of typst.
"""

from __future__ import annotations

from collections.abc import Iterable

from kinemorph.codegen.reading.equation_rows import EquationRow, Page, equation_rows
from kinemorph.codegen.reading.equations import Equations
from kinemorph.codegen.reading.expression_tree import Tree
from kinemorph.codegen.reading.names import Symbols
from kinemorph.codegen.reading.printed_formula import formula
from kinemorph.vocabulary.typography.alphabet import ACCENTS, GREEK
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

LETTERS = dict(GREEK.values())
SHAPES = {"upright": "upright({})", "bold": "upright(bold({}))", "calligraphic": "cal({})", "constant": "upright({})"}
SIGNS = {",": "comma", ";": "semi", ":": "colon", **{character: f"\\{character}" for character in "()[]|{}/"}}
PAIRS = {"()": "({})", "[]": "[{}]", "||": "abs({})", "⌊⌋": "floor({})"}  # brackets that grow by themselves
SPACES = {0.0: "", 0.17: "thin", 0.22: "med", 0.25: "space", 0.28: "thick", 1.0: "quad", 2.0: "wide"}


def as_typst(written: Equations, symbols: Symbols | None = None) -> str:
    """The result of `equations` as one block equation of typst, with lines that fit a page."""
    return typst_rows(equation_rows(written, symbols, Page()))


def typst_rows(rows: Iterable[EquationRow]) -> str:
    """Rows of equations as one block equation, aligned at their equals signs."""
    lines = []
    for row in rows:
        front = f"{typst_formula(row.name)} &= "
        for line in row.lines:
            front = "&" + "quad " * line.indent if line.indent else front
            lines.append(front + (_continued(line.mark) if line.indent else typst_formula(line.mark)))
        lines[-1] += f" && {typst_text(f'({row.number})')}" if row.number else ""
    body = " \\\n".join(lines)
    return f"$\n{body}\n$\n"


def typst(tree: Tree) -> str:
    """A tree as a formula of typst, without dollar signs."""
    return typst_formula(formula(tree))


def typst_text(text: str) -> str:
    """Text as a string of typst, in quotes: whatever it contains, it is shown and not run."""
    shown = "".join(letter if letter.isprintable() else " " for letter in text)
    escaped = shown.replace("\\", r"\\").replace('"', r"\"")
    return f'"{escaped}"'


# ── marks ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def typst_formula(mark: Mark) -> str:
    """A printed formula in typst. Marks are separated by spaces, which typst does not show."""
    if isinstance(mark, Row):
        return " ".join(filter(None, map(typst_formula, mark.parts)))
    if isinstance(mark, Named):
        return typst_formula(symbol_marks(mark.latex, mark.text))
    if isinstance(mark, Word):
        return _word(mark)
    if isinstance(mark, Digits):
        return mark.text.replace(",", '","')  # a comma in quotes has no space after it
    if isinstance(mark, Sign):
        return SIGNS.get(mark.text, mark.text)
    if isinstance(mark, Times):
        return "thin" if mark.thin else ""
    if isinstance(mark, Space):
        return SPACES[mark.width]
    if isinstance(mark, Scripts):
        return _scripts(mark)
    if isinstance(mark, Accent):
        return f"{ACCENTS[mark.kind][1]}({typst_formula(mark.body)})"
    if isinstance(mark, Fraction):
        return f"frac({typst_formula(mark.above)}, {typst_formula(mark.below)})"
    if isinstance(mark, Root):
        return f"sqrt({typst_formula(mark.body)})"
    if isinstance(mark, Fence):
        return _fence(mark)
    if isinstance(mark, Apply):
        return f"{_function(mark.function)} {typst_formula(mark.argument)}"
    if isinstance(mark, Matrix):
        body = "; ".join(", ".join(map(typst_formula, cells)) for cells in mark.rows)
        return f'mat(delim: "[", {body})'
    return _cases(mark)


def _continued(mark: Mark) -> str:
    """A formula that continues one before it: with an empty text first, a plus or minus at its start is an operator."""
    first = mark.parts[0] if isinstance(mark, Row) and mark.parts else mark
    return ('"" ' if isinstance(first, Sign) and not first.prefix else "") + typst_formula(mark)


def _word(word: Word) -> str:
    if word.style == "function":
        return word.text
    if word.style == "text" or (len(word.text) > 1 and word.style in ("italic", "upright")):
        return typst_text(word.text)
    letter = LETTERS.get(word.text, word.text if len(word.text) == 1 and word.text.isalpha() else typst_text(word.text))
    return SHAPES.get(word.style, "{}").format(letter)


def _scripts(mark: Scripts) -> str:
    base = mark.base
    if isinstance(base, Named):
        base = symbol_marks(base.latex, base.text)
        if isinstance(base, Scripts) and base.above is None and mark.below is None:
            return _scripts(Scripts(base.base, base.below, mark.above))
    text = typst_formula(base) if not isinstance(base, Row) or base.parts else '""'
    scripts = [(sign, typst_formula(script)) for sign, script in (("b", mark.below), ("t", mark.above)) if script]
    if isinstance(base, (Row, Scripts)):  # a group without brackets
        return f"attach({text}, {', '.join(f'{place}: {script}' for place, script in scripts)})"
    return text + "".join(f"{'_' if place == 'b' else '^'}{_grouped(script)}" for place, script in scripts)


def _grouped(script: str) -> str:
    """An index or exponent; the brackets around a longer one are not shown."""
    return script if script.isalnum() and (len(script) == 1 or script.isdigit()) else f"({script})"


def _function(mark: Mark) -> str:
    """The name of a function, which is an operator of typst so that its argument is close to it."""
    upright = isinstance(mark, Word) and mark.style == "upright"
    return f"op({typst_formula(mark)})" if upright else typst_formula(mark)


def _fence(mark: Fence) -> str:
    body = typst_formula(mark.body) if mark.opening else _continued(mark.body)
    if mark.opening + mark.closing in PAIRS and mark.opening:
        return PAIRS[mark.opening + mark.closing].format(body)
    opening, closing = (SIGNS.get(text, text) for text in (mark.opening, mark.closing))
    return f"lr({' '.join(filter(None, (opening, body, closing)))})"


def _cases(mark: Cases) -> str:
    condition, chosen, otherwise = map(typst_formula, (mark.condition, mark.chosen, mark.otherwise))
    first, last = (typst_text(word) for word in mark.words)
    return f"cases({chosen} & {first} space {condition}, {otherwise} & {last})"
