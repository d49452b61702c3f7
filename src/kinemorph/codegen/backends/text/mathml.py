r"""Equations in MathML, as browsers show them (MathML Core), written from the marks of printed formulas.

`mathml(tree)` is one formula, as elements without a `math` element around them. `as_mathml(equations(program))` is a
whole program as one `math` element with a table, aligned at the equals signs. Products and applied functions contain
the invisible signs of Unicode for them (U+2062, U+2061), which programs that speak or compute formulas read.
"""

from __future__ import annotations

from collections.abc import Iterable

from kinemorph.codegen.backends.text.mathml_elements import Element, all_written, element
from kinemorph.codegen.reading.equation_rows import EquationRow, Page, equation_rows
from kinemorph.codegen.reading.equations import Equations
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
TIMES, APPLY = element("mo", "\u2062"), element("mo", "\u2061")
MINUS = "−"
# Unicode's bold and calligraphic letters, because MathML Core has no attribute for these shapes
BOLD = {"A": 0x1D400, "a": 0x1D41A, "0": 0x1D7CE, "Α": 0x1D6A8, "α": 0x1D6C2}
SCRIPT = {"A": 0x1D49C, "a": 0x1D4B6}
SCRIPT_HOLES = dict(zip("BEFHILMRego", "ℬℰℱℋℐℒℳℛℯℊℴ", strict=True))
EQUALS = element("mtd", element("mo", "="), look="equals")
THIN = element("mspace", width="0.17em")
Elements = tuple[Element, ...]


def as_mathml(written: Equations, symbols: Symbols | None = None) -> str:
    """The result of `equations` as one `math` element, with lines that fit a page."""
    return mathml_rows(equation_rows(written, symbols, Page()))


def mathml_rows(rows: Iterable[EquationRow]) -> str:
    """Rows of equations as one `math` element: a table with the names, the equals signs and the formulas."""
    lines = [f"{all_written([line])}\n" for row in rows for line in row_elements(row)]
    return f'<math {XMLNS} display="block"><mtable displaystyle="true">\n{"".join(lines)}</mtable></math>\n'


def row_elements(row: EquationRow) -> Elements:
    """The rows of the table that an equation fills, one `mtr` element for each line of its formula."""
    found = []
    front: Elements = (element("mtd", *mathml_elements(row.name), look="name"), EQUALS)
    for line in row.lines:
        indent: Elements = (element("mspace", width=f"{line.indent}em"),) if line.indent else ()
        front = (element("mtd"), element("mtd")) if line.indent else front
        number: Elements = ()
        if row.number and not line.indent:
            number = (element("mtd", element("mtext", f"({_text(row.number)})")),)
        formula = element("mtd", element("mrow", *indent, *_inner(line.mark)), look="formula")
        found.append(element("mtr", *front, formula, *number))
    return tuple(found)


def mathml(tree: Tree) -> str:
    """A tree as elements of MathML, without a `math` element around them."""
    return mathml_formula(formula(tree))


# ── marks ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def mathml_formula(mark: Mark) -> str:
    """A printed formula as one element of MathML."""
    return all_written(mathml_elements(mark))


def mathml_elements(mark: Mark) -> Elements:
    """A printed formula as an element of MathML; the place between two factors may be two elements."""
    if isinstance(mark, Times):
        return (TIMES, THIN) if mark.thin else (TIMES,)
    return (_element(mark),)


def _element(mark: Mark) -> Element:
    """A printed formula, which is not the place between two factors, as one element."""
    if isinstance(mark, Row):
        return element("mrow", *_inner(mark))
    if isinstance(mark, Named):
        return _element(symbol_marks(mark.latex, mark.text))._replace(symbol=mark.text)
    if isinstance(mark, Word):
        return _word(mark)
    if isinstance(mark, Digits):
        return element("mn", mark.text)
    if isinstance(mark, Sign):
        return _sign(mark)
    if isinstance(mark, Space):
        return element("mspace", width=f"{mark.width}em")
    if isinstance(mark, Scripts):
        return _scripts(mark)
    if isinstance(mark, Accent):
        accent = element("mo", ACCENTS[mark.kind][0], stretchy="false")
        return element("mover", *mathml_elements(mark.body), accent, accent="true")
    if isinstance(mark, Fraction):
        return element("mfrac", *mathml_elements(mark.above), *mathml_elements(mark.below))
    if isinstance(mark, Root):
        return element("msqrt", *_inner(mark.body))
    if isinstance(mark, Fence):
        opening, closing = _bracket(mark.opening, "prefix"), _bracket(mark.closing, "postfix")
        return element("mrow", *opening, *mathml_elements(mark.body), *closing)
    if isinstance(mark, Apply):
        space = () if isinstance(mark.argument, Fence) else (THIN,)
        return element("mrow", *mathml_elements(mark.function), APPLY, *space, *mathml_elements(mark.argument))
    if isinstance(mark, Matrix):
        cells = [[element("mtd", *mathml_elements(cell)) for cell in row] for row in mark.rows]
        return _fenced("[", [element("mtr", *row) for row in cells], "]")
    assert isinstance(mark, Cases)
    return _cases(mark)


def _inner(mark: Mark) -> Elements:
    """The elements of a formula without a row around them; a function has a thin space before it."""
    if not isinstance(mark, Row):
        return mathml_elements(mark)
    elements: list[Element] = []
    for i, part in enumerate(mark.parts):
        if i == 0 and isinstance(part, Sign) and not part.prefix:  # a continued line
            elements.append(_sign(part, "infix"))
            continue
        if isinstance(part, Apply) and i and mark.parts[i - 1] == Times():
            elements.append(THIN)
        elements += mathml_elements(part)
    return tuple(elements)


def _sign(sign: Sign, form: str = "") -> Element:
    """A sign as an element; `form` is an attribute where the form does not follow from the place in a row."""
    if sign.text in "()[]|/":
        return element("mo", sign.text, stretchy="false")
    form = form or ("prefix" if sign.prefix and sign.text in "+-" else "")
    return element("mo", MINUS if sign.text == "-" else sign.text, **({"form": form} if form else {}))


def _bracket(text: str, form: str) -> Elements:
    """A bracket that grows with what is between it and its partner; nothing for one that is not shown."""
    return (element("mo", text, form=form, stretchy="true", lspace="0", rspace="0"),) if text else ()


def _fenced(opening: str, rows: Iterable[Element], closing: str) -> Element:
    """The rows of a table in brackets."""
    return element("mrow", *_bracket(opening, "prefix"), element("mtable", *rows), *_bracket(closing, "postfix"))


def _word(word: Word) -> Element:
    if word.style == "text":
        return element("mtext", _text(word.text))
    if word.style == "bold":
        return element("mi", "".join(map(_bold, word.text)))
    if word.style == "calligraphic":
        return element("mi", "".join(map(_calligraphic, word.text)))
    # a single letter is italic unless this is said
    upright = len(word.text) == 1 and word.style != "italic"
    return element("mi", _text(word.text), **({"mathvariant": "normal"} if upright else {}))


def _text(text: str) -> str:
    """Text as content of an element: characters that XML does not allow, or that are invisible, become spaces."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


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


def _scripts(mark: Scripts) -> Element:
    base, symbol = mark.base, ""
    if isinstance(base, Named):
        symbol = base.text
        base = symbol_marks(base.latex, base.text)
        if isinstance(base, Scripts) and base.above is None and mark.below is None:
            return _scripts(Scripts(base.base, base.below, mark.above))._replace(symbol=symbol)
    kind = {(True, False): "msub", (False, True): "msup"}.get((mark.below is not None, mark.above is not None))
    scripts = [part for script in (mark.below, mark.above) if script is not None for part in mathml_elements(script)]
    return element(kind or "msubsup", *mathml_elements(base), *scripts)._replace(symbol=symbol)


def _cases(mark: Cases) -> Element:
    first, last = (element("mtext", _text(word)) for word in mark.words)
    condition = element("mrow", first, element("mspace", width="0.3em"), *mathml_elements(mark.condition))
    pairs = [(mathml_elements(mark.chosen), condition), (mathml_elements(mark.otherwise), last)]
    rows = [element("mtr", element("mtd", *a, look="left"), element("mtd", b, look="left")) for a, b in pairs]
    return _fenced("{", rows, "")
