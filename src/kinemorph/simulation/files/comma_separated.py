"""Comma-separated values: every column of the run, under its name and unit: "q.elbow [rad]".

A run that changes its system is one table; cells are empty where a system does not have the column.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from kinemorph.simulation.files.record_tables import column_list, to_table
from kinemorph.simulation.files.run_record import Record
from kinemorph.simulation.files.text_tables import Header, parsed, table_text
from kinemorph.words import guarded


def encode(record: Record) -> bytes:
    """The bytes of a .csv file."""
    names, header = _header(record.meta)
    return table_text(record.meta, header, to_table(record, names), ",")


def decode(path: Path) -> Record:
    """The record in a .csv file."""
    return parsed(path, ",", _header)


def _header(meta: dict[str, Any]) -> Header:
    columns = column_list(meta)
    header = io.StringIO()
    csv.writer(header, lineterminator="").writerow(guarded(column.title) for column in columns)
    return [column.name for column in columns], header.getvalue()
