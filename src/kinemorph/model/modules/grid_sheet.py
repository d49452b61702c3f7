"""A grid of cells that can be edited: its tokens, connectors and comments, and the aligned text for them.

`sheet_of` reads the text of a grid and `Sheet.text` writes it; comments after ";" stay in their rows. A sheet is text
with coordinates: it says nothing about the modules that its tokens name, which `grids` reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from kinemorph.errors import ModelError, Problem
from kinemorph.frozen import dataclass
from kinemorph.model.modules.grids import EMPTY, REMARK, Cell, Link, drawing_of


@dataclass(frozen=True)
class Sheet:
    """The content of a grid. Rows are counted downward and columns to the right, from 0.

    `cells`     the tokens of cells that are not empty
    `links`     pairs of neighboring cells with a connector between them
    `beside`    the comment at the end of a row, by row
    `above`     comments on lines of their own, by the row that they stand above
    `indent`    the number of spaces before every line
    """

    cells: Mapping[Cell, str]
    links: frozenset[Link] = frozenset()
    beside: Mapping[int, str] = field(default_factory=dict)
    above: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    indent: int = 0

    @property
    def size(self) -> tuple[int, int]:
        """The number of rows and columns from the first cell to the last one that is not empty."""
        return (
            max((row + 1 for row, _ in self.cells), default=0),
            max((column + 1 for _, column in self.cells), default=0),
        )

    def trimmed(self) -> Sheet:
        """The sheet without empty rows above it and empty columns left of it; cells with negative numbers are moved in.

        Comments beside rows that are gone stand above the row that is next.
        """
        if not self.cells:
            return self
        top, left = min(row for row, _ in self.cells), min(column for _, column in self.cells)
        bottom = max(row for row, _ in self.cells) - top

        def moved(cell: Cell) -> Cell:
            return cell[0] - top, cell[1] - left

        above: dict[int, tuple[str, ...]] = {}
        beside: dict[int, str] = {}
        for row in sorted({*self.above, *self.beside}):
            place = min(max(row - top, 0), bottom + 1)
            above[place] = (*above.get(place, ()), *self.above.get(row, ()))
            if row in self.beside and 0 <= row - top <= bottom:
                beside[row - top] = self.beside[row]
            elif row in self.beside:
                above[place] = (*above[place], self.beside[row])
        cells = {moved(cell): token for cell, token in self.cells.items()}
        links = frozenset((moved(a), moved(b)) for a, b in self.links)
        return Sheet(cells, links, beside, {row: texts for row, texts in above.items() if texts}, self.indent)

    def text(self) -> str:
        """The text of the grid, one line for each row, with all cells aligned."""
        rows, columns = self.size
        wide = max(map(len, self.cells.values()), default=1)
        blank, joint = (" ", " ") if not self.links else ("   ", " - ")
        lines: list[str] = []
        for row in range(max(rows, 1)):
            lines += self.above.get(row, ())
            line = ""
            for column in range(max(columns, 1)):
                linked = ((row, column - 1), (row, column)) in self.links
                line += (joint if linked else blank) * bool(column)
                line += self.cells.get((row, column), EMPTY).ljust(wide)
            lines.append(f"{line}  {self.beside[row]}" if row in self.beside else line.rstrip())
            bars = ["|" if ((row, c), (row + 1, c)) in self.links else " " for c in range(columns)]
            if "|" in bars:
                lines.append("".join(bar.ljust(wide + 3) for bar in bars).rstrip())
        lines += [text for row, texts in sorted(self.above.items()) if row >= max(rows, 1) for text in texts]
        return "".join(f"{' ' * self.indent}{line}\n" for line in lines)


def sheet_of(text: str) -> Sheet:
    """The sheet of a grid's text. Raises ModelError for connectors that do not join two cells."""
    problems: list[Problem] = []
    drawing = drawing_of(text, problems)
    if problems:
        raise ModelError(problems)
    lines = text.expandtabs(4).splitlines()
    row_of = {line: row for row, line in enumerate(drawing.rows)}
    beside: dict[int, str] = {}
    above: dict[int, tuple[str, ...]] = {}
    row = 0
    for number, line in enumerate(lines, start=1):
        mark, remark = line.partition(REMARK)[1:]
        if number in row_of:
            row = row_of[number]
            if mark:
                beside[row] = f"{REMARK}{remark}".rstrip()
            row += 1
        elif mark:
            above[row] = (*above.get(row, ()), f"{REMARK}{remark}".rstrip())
    written = [lines[line - 1] for line in drawing.rows]
    indent = min((len(line) - len(line.lstrip()) for line in written), default=0)
    cells = {cell: token.text for cell, token in drawing.cells.items()}
    return Sheet(cells, frozenset(drawing.links), beside, above, indent)


def links_between(owner: Mapping[Cell, str], docked: Iterable[frozenset[str]]) -> frozenset[Link]:
    """The pairs of neighboring cells of two modules that are docked; `owner` names the module of each cell."""
    pairs = {*docked}
    found = set()
    for row, column in owner:
        for there in ((row, column + 1), (row + 1, column)):
            if there in owner and frozenset((owner[row, column], owner[there])) in pairs:
                found.add(((row, column), there))
    return frozenset(found)
