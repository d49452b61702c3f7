"""Comma-separated values: every column of the run, under its name and unit: "q.elbow [rad]"."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from kinemorph.simulation.files.texts import parsed, table_text
from kinemorph.simulation.record_tables import column_list, single_system, to_table
from kinemorph.simulation.records import Record


def encode(record: Record) -> bytes:
    """The bytes of a .csv file."""
    meta = single_system(record.meta, ".csv")
    columns = column_list(meta)
    header = io.StringIO()
    titles = [f"{column.name} [{column.unit}]" if column.unit else column.name for column in columns]
    csv.writer(header, lineterminator="").writerow(titles)
    return table_text(meta, header.getvalue(), to_table(record, [column.name for column in columns]), ",")


def decode(path: Path) -> Record:
    """What a .csv file holds."""
    return parsed(path, ",", _names)


def _names(meta: dict[str, Any]) -> list[str]:
    return [column.name for column in column_list(meta)]
