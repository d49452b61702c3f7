r"""Equations in MathML, as browsers show them (MathML Core), written from the marks of printed formulas.

`mathml(tree)` is one formula, as elements without a `math` element around them. `to_mathml(program)` is a whole
program as one `math` element with a table, aligned at the equals signs. Products and applied functions contain the
invisible signs of Unicode for them (U+2062, U+2061), which programs that speak or compute formulas read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from xml.sax.saxutils import escape

from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.reading.equation_rows import EquationRow, Page, equation_rows
from kinemorph.codegen.reading.equations import LIMIT, Equations, equations
from kinemorph.codegen.reading.expression_tree import Tree
from kinemorph.codegen.reading.names import Symbols
from kinemorph.codegen.reading.printed_formula import formula
from kinemorph.vocabulary.typography.alphabet import ACCENTS
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

XMLNS = 'xmlns="http://www.w3.org/1998/Math/MathML"'
TIMES, APPLY = "<mo>&#x2062;</mo>", "<mo>&#x2061;</mo>"
MINUS = "−"
# Unicode's bold and calligraphic letters, because MathML Core has no attribute for these shapes
BOLD = {"A": 0x1D400, "a": 0x1D41A, "0": 0x1D7CE, "Α": 0x1D6A8, "α": 0x1D6C2}
SCRIPT = {"A": 0x1D49C, "a": 0x1D4B6}
SCRIPT_HOLES = dict(zip("BEFHILMRego", "ℬℰℱℋℐℒℳℛℯℊℴ", strict=True))
# Chromium aligns cells by style, with a value of its own for the right; Firefox and Safari by the attribute
LEFT = 'columnalign="left" style="text-align:left"'
NAME = 'columnalign="right" style="text-align:right;text-align:-webkit-right;padding-right:0"'
EQUALS = '<mtd style="padding-left:0.28em;padding-right:0.28em"><mo>=</mo></mtd>'
FORMULA = 'columnalign="left" style="text-align:left;padding-left:0"'
THIN = '<mspace width="0.17em"/>'


def to_mathml(
    program: Program,
    symbols: Symbols | None = None,
    *,
    limit: int = LIMIT,
    parameters: Collection[str] = ("p",),
) -> str:
    """All equations of a program as one `math` element; the arguments are those of `to_latex`."""
    return as_mathml(equations(program, symbols, limit=limit, parameters=parameters), symbols)


def as_mathml(written: Equations, symbols: Symbols | None = None, *, page: Page | None = None) -> str:
    """The result of `equations` as one `math` element, with lines that fit the `page`."""
    return mathml_rows(equation_rows(written, symbols, page or Page()))


def mathml_rows(rows: Iterable[EquationRow]) -> str:
    """Rows of equations as one `math` element: a table with the names, the equals signs and the formulas."""
    lines = []
    for row in rows:
        front = f"<mtd {NAME}>{mathml_formula(row.name)}</mtd>{EQUALS}"
        for line in row.lines:
            indent = f'<mspace width="{line.indent}em"/>' if line.indent else ""
            front = "<mtd></mtd><mtd></mtd>" if line.indent else front
            number = f"<mtd><mtext>({_text(row.number)})</mtext></mtd>" if row.number and not line.indent else ""
            lines.append(f"<mtr>{front}<mtd {FORMULA}><mrow>{indent}{_inner(line.mark)}</mrow></mtd>{number}</mtr>\n")
    return f'<math {XMLNS} display="block"><mtable displaystyle="true">\n{"".join(lines)}</mtable></math>\n'


def mathml(tree: Tree) -> str:
    """A tree as elements of MathML, without a `math` element around them."""
    return mathml_formula(formula(tree))


# ── marks ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def mathml_formula(mark: Mark) -> str:
    """A printed formula as one element of MathML."""
    if isinstance(mark, Row):
        return f"<mrow>{_inner(mark)}</mrow>"
    if isinstance(mark, Named):
        return mathml_formula(symbol_marks(mark.latex, mark.text))
    if isinstance(mark, Word):
        return _word(mark)
    if isinstance(mark, Digits):
        return f"<mn>{mark.text}</mn>"
    if isinstance(mark, Sign):
        return _sign(mark)
    if isinstance(mark, Times):
        return TIMES + THIN * mark.thin
    if isinstance(mark, Space):
        return f'<mspace width="{mark.width}em"/>'
    if isinstance(mark, Scripts):
        return _scripts(mark)
    if isinstance(mark, Accent):
        accent = f'<mo stretchy="false">{ACCENTS[mark.kind][0]}</mo>'
        return f'<mover accent="true">{mathml_formula(mark.body)}{accent}</mover>'
    if isinstance(mark, Fraction):
        return f"<mfrac>{mathml_formula(mark.above)}{mathml_formula(mark.below)}</mfrac>"
    if isinstance(mark, Root):
        return f"<msqrt>{_inner(mark.body)}</msqrt>"
    if isinstance(mark, Fence):
        opening, closing = _bracket(mark.opening, "prefix"), _bracket(mark.closing, "postfix")
        return f"<mrow>{opening}{mathml_formula(mark.body)}{closing}</mrow>"
    if isinstance(mark, Apply):
        space = "" if isinstance(mark.argument, Fence) else THIN
        return f"<mrow>{mathml_formula(mark.function)}{APPLY}{space}{mathml_formula(mark.argument)}</mrow>"
    if isinstance(mark, Matrix):
        rows = ("".join(f"<mtd>{mathml_formula(cell)}</mtd>" for cell in cells) for cells in mark.rows)
        return _fenced("[", "".join(f"<mtr>{cells}</mtr>" for cells in rows), "]")
    return _cases(mark)


def _inner(mark: Mark) -> str:
    """The elements of a formula without a row around them; a function has a thin space before it."""
    if not isinstance(mark, Row):
        return mathml_formula(mark)
    elements = []
    for i, part in enumerate(mark.parts):
        if i == 0 and isinstance(part, Sign) and not part.prefix:  # a continued line
            elements.append(_sign(part, ' form="infix"'))
            continue
        elements.append(THIN if isinstance(part, Apply) and i and mark.parts[i - 1] == Times() else "")
        elements.append(mathml_formula(part))
    return "".join(elements)


def _sign(sign: Sign, form: str = "") -> str:
    """A sign as an element; `form` is an attribute where the form does not follow from the place in a row."""
    if sign.text in "()[]|/":
        return f'<mo stretchy="false">{sign.text}</mo>'
    form = form or (' form="prefix"' if sign.prefix and sign.text in "+-" else "")
    return f"<mo{form}>{MINUS if sign.text == '-' else escape(sign.text)}</mo>"


def _bracket(text: str, form: str) -> str:
    """A bracket that grows with what is between it and its partner; nothing for one that is not shown."""
    return f'<mo form="{form}" stretchy="true" lspace="0" rspace="0">{text}</mo>' if text else ""


def _fenced(opening: str, rows: str, closing: str) -> str:
    """The rows of a table in brackets."""
    return f"<mrow>{_bracket(opening, 'prefix')}<mtable>{rows}</mtable>{_bracket(closing, 'postfix')}</mrow>"


def _word(word: Word) -> str:
    if word.style == "text":
        return f"<mtext>{_text(word.text)}</mtext>"
    if word.style == "bold":
        return f"<mi>{escape(''.join(map(_bold, word.text)))}</mi>"
    if word.style == "calligraphic":
        return f"<mi>{escape(''.join(map(_calligraphic, word.text)))}</mi>"
    # a single letter is italic unless this is said
    shape = ' mathvariant="normal"' if len(word.text) == 1 and word.style != "italic" else ""
    return f"<mi{shape}>{_text(word.text)}</mi>"


def _text(text: str) -> str:
    """Text as content of an element: no character is markup, and none is one that XML does not allow."""
    return escape("".join(letter if letter.isprintable() else " " for letter in text))


def _bold(letter: str) -> str:
    return _shifted(letter, BOLD)


def _calligraphic(letter: str) -> str:
    return SCRIPT_HOLES.get(letter) or _shifted(letter, SCRIPT)


def _shifted(letter: str, starts: dict[str, int]) -> str:
    """The letter in another of Unicode's alphabets; `starts` maps the first letter of a range to that alphabet."""
    for first, start in starts.items():
        length = 10 if first == "0" else 25 if first in "Αα" else 26
        if 0 <= ord(letter) - ord(first) < length:
            return chr(start + ord(letter) - ord(first))
    return letter


def _scripts(mark: Scripts) -> str:
    base = mark.base
    if isinstance(base, Named):
        base = symbol_marks(base.latex, base.text)
        if isinstance(base, Scripts) and base.above is None and mark.below is None:
            return _scripts(Scripts(base.base, base.below, mark.above))
    kind = {(True, False): "msub", (False, True): "msup"}.get((mark.below is not None, mark.above is not None))
    scripts = "".join(mathml_formula(script) for script in (mark.below, mark.above) if script is not None)
    name = kind or "msubsup"
    return f"<{name}>{mathml_formula(base)}{scripts}</{name}>"


def _cases(mark: Cases) -> str:
    condition, chosen, otherwise = map(mathml_formula, (mark.condition, mark.chosen, mark.otherwise))
    first, last = (f"<mtext>{_text(word)}</mtext>" for word in mark.words)
    space = '<mspace width="0.3em"/>'
    rows = f"<mtr><mtd {LEFT}>{chosen}</mtd><mtd {LEFT}><mrow>{first}{space}{condition}</mrow></mtd></mtr>"
    return _fenced("{", f"{rows}<mtr><mtd {LEFT}>{otherwise}</mtd><mtd {LEFT}>{last}</mtd></mtr>", "")
