r"""Marks: the parts of a printed formula, as data without a notation. LaTeX, typst and MathML are written from them.

    Word     q, \tau, sin, "arm"          Scripts    base with an index, an exponent, or both
    Digits   9.81                         Fraction   one formula above another
    Sign     + - = < ,                    Root       a square root
    Space    of a given width             Fence      a formula in brackets
    Times    a product without a sign     Apply      a function with its argument
    Accent   a dot, a bar, a hat          Matrix     formulas in rows, in square brackets
    Row      marks side by side           Cases      a choice between two formulas
    Named    the symbol of a quantity: its LaTeX and its plain name

Marks are frozen and hashable. Where a mark has another mark inside, this is a Row if there are several.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

Style = Literal["italic", "upright", "bold", "calligraphic", "function", "text", "constant"]


@dataclass(frozen=True)
class Word:
    """A letter, or several letters that are one name.

    `style` is "italic" for letters of variables; "upright", "bold" and "calligraphic" change their shape; "function"
    is the name of a function such as sin, "text" is text with its spaces, and "constant" is the number e.
    """

    text: str
    style: Style = "italic"


@dataclass(frozen=True)
class Digits:
    """A number without a sign, as digits with a decimal point or comma."""

    text: str


@dataclass(frozen=True)
class Sign:
    """An operator, relation or punctuation mark, one Unicode character; `prefix` for a sign in front of a formula."""

    text: str
    prefix: bool = False


@dataclass(frozen=True)
class Space:
    """An empty space with a width in em."""

    width: float


@dataclass(frozen=True)
class Times:
    """The place between two factors of a product, which has no sign; `thin` separates them by a thin space."""

    thin: bool = False


@dataclass(frozen=True)
class Row:
    """Marks side by side."""

    parts: tuple[Mark, ...]


@dataclass(frozen=True)
class Scripts:
    """A base with an index `below`, an exponent `above`, or both."""

    base: Mark
    below: Mark | None = None
    above: Mark | None = None


@dataclass(frozen=True)
class Accent:
    """An accent on a formula; `kind` is one of `alphabet.ACCENTS`."""

    kind: str
    body: Mark


@dataclass(frozen=True)
class Fraction:
    """A fraction with a bar."""

    above: Mark
    below: Mark


@dataclass(frozen=True)
class Root:
    """A square root."""

    body: Mark


@dataclass(frozen=True)
class Fence:
    """A formula between brackets that grow with it. An empty bracket is one whose partner is on another line."""

    opening: str
    body: Mark
    closing: str


@dataclass(frozen=True)
class Apply:
    """A function, and its argument: a Fence, or a symbol without brackets."""

    function: Mark
    argument: Mark


@dataclass(frozen=True)
class Matrix:
    """Formulas in rows, in square brackets."""

    rows: tuple[tuple[Mark, ...], ...]


@dataclass(frozen=True)
class Cases:
    """`chosen` if `condition` holds, else `otherwise`; `words` are the words for "if" and "otherwise"."""

    condition: Mark
    chosen: Mark
    otherwise: Mark
    words: tuple[str, str]


@dataclass(frozen=True)
class Named:
    """The symbol of a quantity: its LaTeX, and its plain name, which is shown where the LaTeX cannot be read."""

    latex: str
    text: str


Mark = (
    Word
    | Digits
    | Sign
    | Space
    | Times
    | Row
    | Scripts
    | Accent
    | Fraction
    | Root
    | Fence
    | Apply
    | Matrix
    | Cases
    | Named
)


def row(*parts: Mark) -> Mark:
    """The marks side by side, flat; a single mark is returned as it is."""
    flat = tuple(flattened(parts))
    return flat[0] if len(flat) == 1 else Row(flat)


def flattened(parts: Iterable[Mark]) -> Iterator[Mark]:
    """The marks in order, with the contents of rows in place of rows."""
    for part in parts:
        if isinstance(part, Row):
            yield from flattened(part.parts)
        else:
            yield part


def raised(base: Mark, exponent: Mark) -> Scripts:
    """The base with an exponent; an index that it has already stays below the exponent."""
    if isinstance(base, Scripts) and base.above is None:
        return Scripts(base.base, base.below, exponent)
    return Scripts(base, above=exponent)


# ── widths ────────────────────────────────────────────────────────────────────────────────────────────────────────────

SCRIPT = 0.72  # size of an index over that of its base
RELATIONS = frozenset("=<>≤≥≠≈→")


@lru_cache(maxsize=65536)
def width(mark: Mark) -> float:
    """The width of a formula in em, estimated from average widths of letters in fonts for mathematics."""
    if isinstance(mark, Word):
        return _word_width(mark)
    if isinstance(mark, Digits):
        return 0.5 * len(mark.text)
    if isinstance(mark, Sign):
        return _sign_width(mark)
    if isinstance(mark, (Space, Times)):
        return mark.width if isinstance(mark, Space) else 0.17 * mark.thin
    if isinstance(mark, Row):
        return sum(map(width, mark.parts))
    if isinstance(mark, Scripts):
        scripts = [width(script) for script in (mark.below, mark.above) if script is not None]
        return width(mark.base) + SCRIPT * max(scripts) + 0.06
    if isinstance(mark, Accent):
        return max(width(mark.body), 0.5)
    if isinstance(mark, Fraction):
        return max(width(mark.above), width(mark.below)) + 0.24
    if isinstance(mark, Root):
        return width(mark.body) + 0.9
    if isinstance(mark, Fence):
        return width(mark.body) + (0.6 if is_tall(mark.body) else 0.4) * (bool(mark.opening) + bool(mark.closing))
    if isinstance(mark, Apply):
        return width(mark.function) + width(mark.argument) + (0.0 if isinstance(mark.argument, Fence) else 0.17)
    if isinstance(mark, Matrix):
        columns = list(zip(*mark.rows, strict=True))
        return sum(max(map(width, column)) + 1.0 for column in columns) + 0.2
    if isinstance(mark, Cases):
        words = 0.5 * max(len(mark.words[0]) + 1 + 2 * width(mark.condition), len(mark.words[1]))
        return max(width(mark.chosen), width(mark.otherwise)) + words + 1.9
    return width(_read(mark))


def is_tall(mark: Mark) -> bool:
    """Whether a formula is higher than one line, so that brackets around it are large."""
    if isinstance(mark, (Fraction, Matrix, Cases)):
        return True
    if isinstance(mark, Row):
        return any(map(is_tall, mark.parts))
    if isinstance(mark, (Fence, Root, Accent)):
        return is_tall(mark.body)
    if isinstance(mark, Apply):
        return is_tall(mark.argument)
    return isinstance(mark, Scripts) and is_tall(mark.base)


def _word_width(word: Word) -> float:
    size = 0.6 if word.style in ("bold", "calligraphic") else 0.53
    wide = sum(0.25 for letter in word.text if letter.isupper() or letter in "mw")
    return size * len(word.text) + wide


def _sign_width(sign: Sign) -> float:
    if sign.text in ",;.!:|()[]/'′":
        return 0.45
    if sign.text in RELATIONS:
        return 1.34
    return 0.78 if sign.prefix else 1.22


def _read(mark: Named) -> Mark:
    from kinemorph.vocabulary.typography.symbol_reader import symbol_marks

    return symbol_marks(mark.latex, mark.text)
