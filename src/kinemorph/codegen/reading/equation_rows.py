"""Equations as rows of a printed page: a name, and the lines of its formula.

LaTeX, typst and MathML are written from these rows. A matrix that is wider than the page is written entry by entry.
Entries of a vector or such a matrix that are equal share one formula; many that are zero are "all others".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from kinemorph.codegen.reading.equations import Equations
from kinemorph.codegen.reading.expression_tree import ZERO, Tree
from kinemorph.codegen.reading.line_breaks import Line, Piece, broken, fill, pieces, slashed
from kinemorph.codegen.reading.names import Symbols, entry_name, port_name
from kinemorph.codegen.reading.printed_formula import ENGLISH, Wording, formula, matrix
from kinemorph.vocabulary.typography.marks import Digits, Mark, Named, Sign, Word, width

PAGE = 40.0  # em; the width of a page of A4 with letters of 11 points is about 41
MOST_ZEROS = 4  # entries that are zero and named; the names of more would fill pages
EQUALS = 1.34  # em; the width of an equals sign with its spaces


class EquationRow(NamedTuple):
    """An equation: its name, the lines of the formula that it equals, and a number if it has one."""

    name: Mark
    lines: tuple[Line, ...]
    number: str = ""

    @property
    def width(self) -> float:
        """The width of the widest line, with the name [em]."""
        return width(self.name) + EQUALS + max(width(line.mark) + line.indent for line in self.lines)


@dataclass(frozen=True)
class Page:
    """How equations are set.

    `room` is the width of a line, in units of `measure`; `splits` says whether long brackets, fractions and matrices
    are split, and `wording` has what depends on the language.
    """

    room: float = PAGE
    measure: Callable[[Mark], float] = width
    splits: bool = True
    wording: Wording = ENGLISH


def equation_rows(written: Equations, symbols: Symbols | None = None, page: Page = Page()) -> list[EquationRow]:  # noqa: B008
    """The rows of the named subexpressions, then of the outputs: one for each entry of a vector, one for a matrix."""
    symbols = symbols or {}
    rows = [tree_row(Named(symbol.latex, symbol.text), tree, page) for symbol, tree in written.definitions]
    trees = iter(written.trees)
    for port in written.program.outputs:
        entries = [next(trees) for _ in range(port.size)]
        names = [Named(*entry_name(port, index, symbols)[::-1]) for index in range(port.size)]
        if len(port.shape) == 2:
            rows += matrix_rows(Named(*port_name(port, symbols)[::-1]), names, entries, port.shape[1], page)
        elif page.splits:
            rows += entry_rows(names, entries, page)
        else:
            rows += [tree_row(name, tree, page) for name, tree in zip(names, entries, strict=True)]
    return rows


def tree_row(name: Mark, tree: Tree, page: Page = Page()) -> EquationRow:  # noqa: B008
    """The row `name = tree`, with the formula on several lines where it is too long for one."""
    first = width(name) + EQUALS if page.splits else 0.0
    lines = broken(
        formula(tree, page.wording), page.room, measure=page.measure, first=first, step=2.0, inside=page.splits
    )
    return EquationRow(name, tuple(lines))


def matrix_rows(
    name: Mark,
    names: list[Named],
    entries: list[Tree],
    columns: int,
    page: Page = Page(),  # noqa: B008
) -> list[EquationRow]:
    """The row `name = matrix`; a matrix that is too wide has one row for each different entry instead.

    `names` are those of the entries, row by row.
    """
    whole = EquationRow(name, (Line(matrix(entries, columns, page.wording), 0),))
    if not page.splits or whole.width <= page.room:
        return [whole]
    return entry_rows(names, entries, page)


def entry_rows(names: list[Named], entries: list[Tree], page: Page = Page()) -> list[EquationRow]:  # noqa: B008
    """One row for each different entry; entries that are equal share it. Many zeros are named "all others"."""
    places: dict[Tree, list[Named]] = {}
    for entry, place in zip(entries, names, strict=True):
        places.setdefault(entry, []).append(place)
    rest = []
    if MOST_ZEROS < len(places.get(ZERO, ())) < len(entries):
        del places[ZERO]
        rest = [EquationRow(Word(page.wording.others, "text"), (Line(Digits("0"), 0),))]
    return [*(_shared_row(found, tree, page) for tree, found in places.items()), *rest]


def _shared_row(names: list[Named], tree: Tree, page: Page) -> EquationRow:
    """The row of entries that are equal: M_12 = M_21 = tree."""
    chain = [Piece((*((Sign("="),) if i else ()), name), 0) for i, name in enumerate(names[1:])]
    parts = pieces(slashed(formula(tree, page.wording)))
    if chain:
        parts[0] = Piece((Sign("="), *parts[0].parts), 0)
    lines = fill([*chain, *parts], page.room, page.measure, width(names[0]) + EQUALS, 2.0)
    return EquationRow(names[0], tuple(lines))
