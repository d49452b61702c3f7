"""Long formulas on several lines: where a formula may be broken, and how its pieces fill lines of a given width.

A formula is broken before a plus or minus, outside all brackets where possible, else inside one. A bracket whose
partner is on another line has an invisible partner on its own. A long fraction is written with a slash so that it can
be broken too. What cannot be broken, such as a root or a matrix, stays whole, even where it is wider than a line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from kinemorph.vocabulary.typography.marks import (
    Apply,
    Fence,
    Fraction,
    Mark,
    Row,
    Scripts,
    Sign,
    flattened,
    row,
    width,
)

LEAST_FILL = 0.3  # a line is broken outside all brackets if it is filled to at least this fraction
LONG_FRACTION = 16.0  # a fraction that is wider [em] is written with a slash


class Opening(NamedTuple):
    """An opening bracket in a list of parts; `function` is what the bracket is the argument of, if anything."""

    text: str
    function: Mark | None = None


class Closing(NamedTuple):
    """A closing bracket in a list of parts, with the index and exponent of the whole bracket."""

    text: str
    below: Mark | None = None
    above: Mark | None = None


Part = Mark | Opening | Closing


class Piece(NamedTuple):
    """A part of a formula that is not broken, and the number of brackets that are open at its start."""

    parts: tuple[Part, ...]
    depth: int


class Line(NamedTuple):
    """One line of a formula; `indent` is 0 for the first line, 1 for others, 2 for others that start in a bracket."""

    mark: Mark
    indent: int


def broken(
    formula: Mark,
    room: float,
    *,
    measure: Callable[[Mark], float] = width,
    first: float = 0.0,
    step: float = 1.0,
    inside: bool = True,
) -> list[Line]:
    """A formula as lines that are not wider than `room` where possible.

    `measure` gives the width of a formula, by default in em; `first` is what stands before the first line, and `step`
    is the width of an indent, both in the same unit. Without `inside`, only sums outside of brackets and fractions
    are broken.
    """
    return fill(pieces(slashed(formula) if inside else formula, inside=inside), room, measure, first, step)


def fill(
    waiting: Sequence[Piece], room: float, measure: Callable[[Mark], float], first: float, step: float
) -> list[Line]:
    """Pieces on lines of a width `room`; the arguments are those of `broken`."""
    lines: list[Line] = []
    indent = 0
    while waiting:
        count = _fitting(waiting, room - (indent * step if indent else first), measure)
        lines.append(Line(joined(waiting[:count]), indent))
        waiting = waiting[count:]
        indent = 2 if waiting and waiting[0].depth else 1
    return lines


def _fitting(waiting: Sequence[Piece], room: float, measure: Callable[[Mark], float]) -> int:
    """The number of pieces for the next line of a width `room`.

    A line that is not the last ends where the fewest brackets are open, if it is filled to LEAST_FILL there.
    """
    widths = [0.0]
    for piece in waiting:  # an estimate: with brackets, a line is a little longer or shorter than the sum of its pieces
        widths.append(widths[-1] + measure(joined([piece])))
        if widths[-1] > room:
            break
    most = max(len(widths) - (2 if widths[-1] > room else 1), 1)
    while most > 1 and measure(joined(waiting[:most])) > room:
        most -= 1
    if most == len(waiting):
        return most
    ends = [count for count in range(1, most + 1) if widths[count] > LEAST_FILL * room] or [most]
    return min(ends, key=lambda count: (waiting[count].depth, -count))


# ── pieces ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def pieces(formula: Mark, *, inside: bool = True) -> list[Piece]:
    """A formula as pieces, split before every plus and minus outside fractions, roots and exponents.

    Without `inside`, it is split only outside of brackets.
    """
    found: list[Piece] = []
    parts: list[Part] = []
    start = depth = 0
    for part in _opened(formula) if inside else flattened([formula]):
        if isinstance(part, Sign) and part.text in "+-" and not part.prefix and parts:
            found.append(Piece(tuple(parts), start))
            parts, start = [], depth
        parts.append(part)
        depth += isinstance(part, Opening) - isinstance(part, Closing)
    return [*found, Piece(tuple(parts), start)]


def _opened(formula: Mark) -> Iterator[Part]:
    """The parts of a formula from left to right, with the contents of brackets between their two brackets."""
    for mark in flattened([formula]):
        fence, function, below, above = mark, None, None, None
        if isinstance(mark, Apply):
            fence, function = mark.argument, mark.function
        elif isinstance(mark, Scripts):
            fence, below, above = mark.base, mark.below, mark.above
        if isinstance(fence, Fence):
            yield Opening(fence.opening, function)
            yield from _opened(fence.body)
            yield Closing(fence.closing, below, above)
        else:
            yield mark


def joined(line: Sequence[Piece]) -> Mark:
    """The pieces as one formula; a bracket whose partner is missing gets an invisible one."""
    levels: list[tuple[Opening, list[Mark]]] = [(Opening(""), [])]
    for part in (part for piece in line for part in piece.parts):
        if isinstance(part, Opening):
            levels.append((part, []))
        elif not isinstance(part, Closing):
            levels[-1][1].append(part)
        elif len(levels) > 1:
            opening, body = levels.pop()
            levels[-1][1].append(_fenced(opening, body, part))
        else:
            levels = [(Opening(""), [_fenced(Opening(""), levels[0][1], part)])]
    while len(levels) > 1:
        opening, body = levels.pop()
        levels[-1][1].append(_fenced(opening, body, Closing("")))
    return row(*levels[0][1])


def _fenced(opening: Opening, body: list[Mark], closing: Closing) -> Mark:
    """The formula in brackets as it was before its brackets were taken apart."""
    fence: Mark = Fence(opening.text, row(*body), closing.text)
    if closing.below is not None or closing.above is not None:
        fence = Scripts(fence, closing.below, closing.above)
    return fence if opening.function is None else Apply(opening.function, fence)


# ── fractions ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def slashed(mark: Mark, longest: float = LONG_FRACTION) -> Mark:
    """The formula with fractions that are wider than `longest` [em] written as (numerator) / (denominator)."""
    if isinstance(mark, Row):
        return row(*(slashed(part, longest) for part in mark.parts))
    if isinstance(mark, Fence):
        return Fence(mark.opening, slashed(mark.body, longest), mark.closing)
    if isinstance(mark, Apply):
        return Apply(mark.function, slashed(mark.argument, longest))
    if isinstance(mark, Scripts):
        return Scripts(slashed(mark.base, longest), mark.below, mark.above)
    if not isinstance(mark, Fraction) or max(width(mark.above), width(mark.below)) <= longest:
        return mark
    above, below = slashed(mark.above, longest), slashed(mark.below, longest)
    if len(pieces(above, inside=False)) > 1:
        above = Fence("(", above, ")")
    return row(above, Sign("/", prefix=True), Fence("(", below, ")") if isinstance(below, Row) else below)
