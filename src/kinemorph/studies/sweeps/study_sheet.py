"""What a study has to show: how many items have results, what was varied and measured, the best items, and failures."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from kinemorph.sheet import Facts, Field, Form, Note, Part, Plot, Sheet, Table, hidden, said
from kinemorph.studies.items import Column
from kinemorph.studies.sweeps.study import Study, StudyItem

BEST = 5  # items that are listed
MOST_CAUSES = 5  # that a terminal lists
CAUSE = 300  # characters of a cause in a table
COUNTS = (Field("items", "items"), Field("done", "done"), Field("failed", "failed"), Field("waiting", "waiting"))
KEPT = (Field("kept runs", "kept runs"), Field("lost runs", "kept runs without their file"))
PART, UNIT, CHOICES = Field("", "part", form="name"), Field("", "unit", form="name"), Field("", "choices", form="name")
ENDS = (Field("", "smallest", form=6), Field("", "largest", form=6))
MEASURES = (
    *(Field("name", "measure", form="name"), Field("smallest", "smallest", form=6)),
    *(Field("mean", "mean", form=6), Field("largest", "largest", form=6), UNIT),
)
CAUSES = (Field("cause", ""), Field("items", "items"), Field("", "first item"), Field("", "cause", form="name"))


def study_sheet(study: Study) -> Sheet:
    """The status of a study, its best items, and its usual picture."""
    parts = [*status_parts(study), hidden(found=""), hidden(results=[]), hidden(notes=[])]
    if study.measures and study.status.done:
        best = study.best(study.measures[0], BEST)
        title = said("smallest {measure}", measure=study.measures[0])
        parts += [items_table(title, best), Plot(study, "The usual picture of the study.")]
    return Sheet("Study", study.name, parts)


def status_parts(study: Study) -> list[Part]:
    """How many items are done, failed and waiting, what was varied and measured, and why items failed."""
    table, status = study.table, study.status
    counts = zip(COUNTS, (status.items, status.done, status.failed, status.waiting), strict=True)
    runs = zip(KEPT, (len(table.runs), len(study.store.lost_runs(table))), strict=True)
    kept = [(one if count else one._replace(head=""), count) for one, count in runs]
    ended = study.tally is not None and study.tally.is_interrupted
    columns = MEASURES if table.units else MEASURES[:-1]
    extents = [(name, *_extent(study[name]), table.units.get(name, ""))[: len(columns)] for name in table.names]
    return [
        Note("The study was interrupted." if ended else "", "warning"),
        Facts([*counts, *kept]),
        *(hidden(parts=[_part(column) for column in table.items.columns]), _varied(table.items.columns)),
        *(Table("measures", columns, extents, "Measured"), _causes(table.causes)),
    ]


def _part(column: Column) -> dict[str, Any]:
    """What a part was varied over: its labels, or its smallest and largest number."""
    if column.labels:
        return {"name": column.name, "labels": list(column.labels)}
    known = column.numbers[column.applies]
    ends = (float(known.min()), float(known.max())) if len(known) else (None, None)
    return {"name": column.name, "unit": column.unit, "lower": ends[0], "upper": ends[1]}


def _varied(columns: Sequence[Column]) -> Table:
    """What was varied, as a table; without the columns that no part has."""
    parts = [_part(column) | {"labels": ", ".join(column.labels) or None} for column in columns]
    keys = {"name": PART, "labels": CHOICES, "lower": ENDS[0], "upper": ENDS[1], "unit": UNIT}
    used = {key: one for key, one in keys.items() if any(part.get(key) not in (None, "") for part in parts)}
    return Table("", tuple(used.values()), [[part.get(key) for key in used] for part in parts], "Varied")


def _extent(values: Any) -> tuple[float | None, ...]:
    """The smallest value, the mean and the largest value of a measure, from its values (n,)."""
    known = values[np.isfinite(values)]
    return (float(known.min()), float(known.mean()), float(known.max())) if len(known) else (None,) * 3


def _causes(causes: Any) -> Table:
    """Why items failed, most frequent causes first."""
    items: dict[str, list[int]] = {}
    for number, cause in causes.items():
        items.setdefault(cause, []).append(int(number))
    rows = [(why, len(own), min(own), textwrap.shorten(why, CAUSE)) for why, own in items.items()]
    return Table("causes", CAUSES, sorted(rows, key=lambda row: -row[1]), "Why items failed", most=MOST_CAUSES)


# ── items ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def item_data(item: StudyItem) -> dict[str, Any]:
    """An item as data: its number, key, values and measures, and why it failed where it did."""
    measures = {name: value if math.isfinite(value) else None for name, value in item.measures.items()}
    row: dict[str, Any] = {"item": item.number, "key": item.key, "values": dict(item.values), "measures": measures}
    return {**row, "cause": item.cause} if item.cause else row


def items_table(title: Any, items: Sequence[StudyItem]) -> Table:
    """Items as a table: their numbers, measures and values, and why they failed."""
    measures = list(dict.fromkeys(name for item in items for name in item.measures))
    study = items[0].study if items else None
    units = study.table.units if study else {}
    used = {name for item in items for name in item.values}
    parts = [part for part in study.items.columns if part.name in used] if study else []
    failed = any(item.cause for item in items)
    columns = [
        Field("", "item"),
        *(_column(name, units.get(name, "")) for name in measures),
        *(_column(part.name, part.unit, "name" if part.labels else 6) for part in parts),
        *([Field("", "cause", form="name")] if failed else []),
    ]
    rows = [
        (
            item.number,
            *(item.measures.get(name) for name in measures),
            *(item.values.get(part.name) for part in parts),
            *([textwrap.shorten(item.cause, CAUSE)] if failed else []),
        )
        for item in items
    ]
    return Table("", columns, rows, title)


def _column(name: str, unit: str, form: Form = 6) -> Field:
    return Field("", said("{name}", name=name), unit, form)
