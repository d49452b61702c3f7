"""Studies as plain data and as tables: their status, the best items, and the failed ones."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Iterable
from typing import Any

from kinemorph.algebra.arrays import Array
from kinemorph.display.faces.grid import Data, Facts, Grid, Parts
from kinemorph.studies.items import Column
from kinemorph.studies.statistics.monte_carlo import MonteCarlo
from kinemorph.studies.statistics.sensitivity import Sensitivity
from kinemorph.studies.sweeps.study import Study, StudyItem
from kinemorph.words import counted, listed

WIDTH = 100  # characters per line of a wrapped sentence
CAUSE = 300  # characters of a cause in a table
MOST_CAUSES = 5


def status_summary(study: Study) -> Data:
    """The status of a study as data: how many items are done, failed and waiting, what was varied and measured."""
    table, status = study.table, study.status
    causes = Counter(table.causes.values()).most_common(MOST_CAUSES)
    return {
        "name": study.name,
        "items": status.items,
        "done": status.done,
        "failed": status.failed,
        "waiting": status.waiting,
        "parts": [_part(column) for column in table.items.columns],
        "measures": [_measure(name, table.measure(name)) for name in table.names],
        "kept runs": len(table.runs),
        "lost runs": len(study.store.lost_runs(table)),
        "causes": [{"cause": cause, "items": count} for cause, count in causes],
    }


def _part(column: Column) -> Data:
    """What a part was varied over: its labels, or its smallest and largest number."""
    if column.labels:
        return {"name": column.name, "labels": list(column.labels)}
    known = column.numbers[column.applies]
    ends = (float(known.min()), float(known.max())) if len(known) else (None, None)
    return {"name": column.name, "unit": column.unit, "lower": ends[0], "upper": ends[1]}


def _measure(name: str, values: Array) -> Data:
    """The smallest and largest value and the mean of a measure, from its values (n,)."""
    known = values[values == values]
    if not len(known):
        return {"name": name, "smallest": None, "mean": None, "largest": None}
    return {"name": name, "smallest": float(known.min()), "mean": float(known.mean()), "largest": float(known.max())}


def status_tables(data: Data) -> Parts:
    """The tables of the status of a study."""
    kept = f", {counted(data['kept runs'], 'run')} kept" if data["kept runs"] else ""
    kept += f" ({data['lost runs']:,} of them without their file)" if data["lost runs"] else ""
    counts = f"{data['items']:,}: {data['done']:,} done, {data['failed']:,} failed, {data['waiting']:,} waiting{kept}"
    parts: Parts = [Facts([("study", data["name"]), ("items", counts)])]
    rows = [[row["name"], _over(row)] for row in data["parts"]]
    parts.append(Grid("varied", ("part", "values"), rows))
    named = ("smallest", "mean", "largest")
    rows = [[row["name"], *(_text(row[name]) for name in named)] for row in data["measures"]]
    parts.append(Grid("measured", ("measure", *named), rows, named))
    results = data.get("results") or []
    if results:
        heads = tuple(results[0])
        right = [name for name in heads if not isinstance(results[0][name], str)]
        parts.append(Grid(data["found"], heads, [[_text(value) for value in row.values()] for row in results], right))
    parts += [textwrap.fill(note, WIDTH) for note in data.get("notes") or []]
    if data["causes"]:
        causes = [[f"{row['items']:,}", textwrap.shorten(row["cause"], CAUSE)] for row in data["causes"]]
        parts.append(Grid("why items failed", ("items", "cause"), causes, ("items",)))
    return parts


def found_summary(found: Study | MonteCarlo | Sensitivity) -> Data:
    """The status of a study as data, with its estimates or indices under `results`, and notes about them."""
    if isinstance(found, Study):
        return {**status_summary(found), "found": "", "results": [], "notes": []}
    results = [{name: _finite(value) for name, value in row.items()} for row in found.rows]
    return {**status_summary(found.study), "found": found.heading, "results": results, "notes": list(found.notes)}


def _finite(value: Any) -> Any:
    """The value itself; None for numbers that JSON does not have."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _over(row: Data) -> str:
    if "labels" in row:
        return listed(row["labels"])
    return f"{_text(row['lower'])} to {_text(row['upper'])} {row['unit']}".rstrip()


def items_summary(items: Iterable[StudyItem]) -> list[Data]:
    """Some items of a study as data: values, measures, and the cause of a failure."""
    return [_item(item) for item in items]


def _item(item: StudyItem) -> Data:
    measures = {name: value if math.isfinite(value) else None for name, value in item.measures.items()}
    row: Data = {"item": item.number, "key": item.key, "values": dict(item.values), "measures": measures}
    return {**row, "cause": item.cause} if item.cause else row


def items_tables(title: str, rows: list[Data]) -> Parts:
    """A table of items: their numbers, measures and values, and causes where they failed."""
    if not rows:
        return [f"{title}: none"]
    measures = list(dict.fromkeys(name for row in rows for name in row["measures"])) if "cause" not in rows[0] else []
    parts = list(dict.fromkeys(name for row in rows for name in row["values"]))
    cause_head = ["cause"] if any("cause" in row for row in rows) else []
    cells = [
        [
            f"{row['item']:,}",
            *(_text(row["measures"].get(name)) for name in measures),
            *(_text(row["values"].get(name)) for name in parts),
            *(textwrap.shorten(row.get("cause", ""), CAUSE) for _ in cause_head),
        ]
        for row in rows
    ]
    numbers = [name for name in parts if not any(isinstance(row["values"].get(name), str) for row in rows)]
    return [Grid(title, ("item", *measures, *parts, *cause_head), cells, ("item", *measures, *numbers))]


def _text(value: Any) -> str:
    """A number with six digits, a label as it is, and a dash for nothing."""
    return "–" if value is None else value if isinstance(value, str) else f"{value:.6g}"
