"""The table of `kinemorph verify --report`: the rows of a report that no longer hold."""

from __future__ import annotations

from kinemorph.display.faces.grid import Data, Parts, grid_of
from kinemorph.words import counted


def report_tables(data: Data) -> Parts:
    """The rows that changed, notes, and a line that counts; from the data of `ReportCheck.as_dict`."""
    parts: Parts = []
    if data["changes"]:
        parts.append(grid_of("rows that no longer hold", data["changes"], {"row": "{row}", "what changed": "{what}"}))
    parts += [f"note: {note}" for note in data["notes"]]
    if data["failed"]:
        parts.append(f"note: {counted(len(data['failed']), 'row')} had failed when the report was written")
    verdict = f"{len(data['changes'])} rows do not hold" if data["changes"] else "all rows hold"
    return [*parts, f"{data['file']}: {verdict}, of {counted(data['rows'], 'row')}"]
