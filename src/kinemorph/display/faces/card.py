"""A sheet as the HTML card of a notebook."""

from __future__ import annotations

import numpy as np

from kinemorph import sheet as sheets
from kinemorph.display.faces.blocks import head, text, value, written
from kinemorph.display.faces.document import Block, Facts, Paragraph, Table
from kinemorph.display.faces.grid import VERDICTS
from kinemorph.display.faces.languages.words import Words
from kinemorph.display.faces.thumbnails import picture_of_pose, plot_picture
from kinemorph.display.html import MOST_ROWS, card, escaped, mark, note, picture_of, sparkline, table

SHORT = 5  # rows of a table that is always open
TONES = {"note": None, "text": None, "warning": "bad", "success": "good"}
COLORS = {"green": "good", "yellow": "doubt", "bold red": "bad"}


def card_of_sheet(sheet: sheets.Sheet, *more: str, picture: str = "") -> str:
    """The card of a sheet: facts in a line, what it comes to, then the rest beside the picture of a robot.

    `more` is HTML of parts that follow, `picture` that of another picture.
    """
    words, facts, parts = Words(), [], []
    for part in sheet.parts:
        if isinstance(part, sheets.Pose):
            drawn = picture_of_pose(part.model, part.q)
        elif isinstance(part, sheets.Plot):
            drawn = plot_picture(part.result)
        if isinstance(part, (sheets.Pose, sheets.Plot)):
            picture = picture_of(drawn.source, drawn.width, text(words, part.caption)) if drawn.source else ""
            parts += [note(drawn.note)] if drawn.note else []
        elif isinstance(part, sheets.Curves):
            parts.append(_curves(part, words))
        elif not isinstance(part, sheets.Points):
            for block in written(part, words, MOST_ROWS):
                if isinstance(block, Facts):
                    facts += [f"{what} {shown}" for what, shown in block.rows]
                elif isinstance(part, sheets.Verdict):
                    parts.insert(0, _html(block))
                else:
                    parts.append(_html(block, folded=any("<table" in one for one in parts)))
    return card(sheet.kind, sheet.name, facts, [*parts, *more], picture=picture)


def _html(block: Block, folded: bool = False) -> str:
    """A paragraph or a table as HTML; where it is `folded`, a long table has to be opened by a click."""
    if isinstance(block, Paragraph):
        return note("".join(map(str, block.pieces)), TONES[block.tone])
    assert isinstance(block, Table)
    grid = block.grid
    rows = [[_cell(cell, k in grid.marked and not n) for n, cell in enumerate(row)] for k, row in enumerate(grid.rows)]
    below = note(grid.note) if grid.note else ""
    return table(grid.title, grid.columns, rows, folded=folded and len(rows) > SHORT, below=below)


def _curves(part: sheets.Curves, words: Words) -> str:
    """A table of small curves as HTML; without those that have no value anywhere."""
    rows = []
    for one, given in part.lines:
        known = given[np.isfinite(given)]
        if len(known):
            low, high, last = (value(words, one, float(end)) for end in (known.min(), known.max(), known[-1]))
            row = [escaped(head(words, one), 32), sparkline(part.x, given, part.marks), f"{low} to {high}", last]
            rows.append(row)
    return table("", (text(words, part.head), "over time", "range", "at the end"), rows)


def _cell(cell: str, marked: bool) -> str:
    """A cell as HTML; words of a verdict, and the first cell of a row that stands out, are colored."""
    tone = COLORS.get(VERDICTS.get(cell.partition(":")[0], ""), "bad" if marked else "")
    return mark(cell, tone) if tone else escaped(cell, 140)
