"""Comma-separated values: every column of the run, under its name and unit: "q.elbow [rad]"."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from kinemorph.simulation.files.texts import Layout, parsed, table_text, title
from kinemorph.simulation.record_tables import column_list, single_system, to_table
from kinemorph.simulation.records import Record


def encode(record: Record) -> bytes:
    """The bytes of a .csv file."""
    meta = single_system(record.meta, ".csv")
    names, header = _layout(meta)
    return table_text(meta, header, to_table(record, names), ",")


def decode(path: Path) -> Record:
    """What a .csv file holds."""
    return parsed(path, ",", _layout)


def _layout(meta: dict[str, Any]) -> Layout:
    columns = column_list(meta)
    header = io.StringIO()
    csv.writer(header, lineterminator="").writerow(map(title, columns))
    return [column.name for column in columns], header.getvalue()
