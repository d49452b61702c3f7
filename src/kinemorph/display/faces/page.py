"""A sheet as objects that a page draws: `studio/page/sheet.js` has one function for each kind."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinemorph import sheet as sheets
from kinemorph.display.faces.blocks import MOST, written
from kinemorph.display.faces.document import Facts, Paragraph, Table
from kinemorph.display.faces.languages.words import Words


def page_of(sheet: sheets.Sheet) -> list[dict[str, Any]]:
    """The parts of a sheet, as JSON can represent them; what it comes to is first.

    Pictures of robots and plots are left out, as the page has a stage and plots of its own.
    """
    words, shown = Words(), []
    for part in sheet.parts:
        if isinstance(part, sheets.Points):
            values = np.asarray(part.values, dtype=complex)
            places = np.column_stack([values.real, values.imag]).tolist()
            shown.append({"kind": "points", "values": places, "marked": list(part.marked)})
        elif isinstance(part, sheets.Verdict):
            shown[:0] = [_object(block) for block in written(part, words)]
        elif not isinstance(part, (sheets.Pose, sheets.Plot)):
            most = (
                None if isinstance(part, sheets.Table) and part.marked else MOST
            )  # the page counts rows from the first
            shown += [_object(block) for block in written(part, words, most)]
    return shown


def _object(block: Any) -> dict[str, Any]:
    if isinstance(block, Facts):
        return {"kind": "facts", "rows": [list(row) for row in block.rows]}
    if isinstance(block, Paragraph):
        return {"kind": "text", "tone": block.tone, "text": "".join(map(str, block.pieces))}
    assert isinstance(block, Table)
    grid = block.grid
    table = {"title": grid.title, "columns": grid.columns, "rows": grid.rows, "marked": grid.marked, "note": grid.note}
    return {"kind": "table", **table, "colored": block.colored, "right": [name in grid.right for name in grid.columns]}
