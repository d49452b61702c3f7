"""Notebook cards of studies, Monte Carlo estimates and sensitivities: their usual picture, and a table."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from kinemorph.display.canvas import small_png_of
from kinemorph.display.charts.studies.plot_study import plot_study, plotted
from kinemorph.display.faces.thumbnails import Picture
from kinemorph.display.html import MOST_ROWS, card, escaped, mark, note, number, picture_of, table
from kinemorph.display.notebooks.model_cards import counted, pictured
from kinemorph.errors import KinemorphError
from kinemorph.studies.statistics.monte_carlo import MonteCarlo
from kinemorph.studies.statistics.sensitivity import Sensitivity
from kinemorph.studies.sweeps.study import Study

SHOWN = 5  # best items on a card
WIDTH = 430  # of a picture as shown [px]
MOST_PARTS = 6  # parts that a row of an item shows


def study_card(study: Study) -> str:
    """The card of a study: how many items are done and failed, its usual picture, and its best items."""
    shown = plotted(study)
    lost, left = int(shown.failed.sum()), int((~shown.done & ~shown.failed).sum())
    facts = [counted(len(shown), "item"), f"{int(shown.done.sum()):,} done"]
    facts += [f"{lost:,} failed"] if lost else []
    facts += [f"{left:,} waiting"] if left else []
    ended = study.tally is not None and study.tally.is_interrupted
    parts = [f"<div>{mark('interrupted', 'doubt')}</div>"] if ended else []
    picture, why = _picture(study) if shown.is_measured else ("", "")
    if shown.is_measured:
        name, values = shown.measure()
        order = np.argsort(values, kind="stable")[:SHOWN]
        columns = shown.items.columns[:MOST_PARTS]
        rows = [
            [
                f"{shown.numbers[k]:,}",
                *(number(float(one)) for one in shown.measures[k]),
                *(_value(column.value(int(k))) for column in columns),
            ]
            for k in order
        ]
        heads = ("item", *shown.names, *(column.name for column in columns))
        parts.append(table(f"smallest {name}", heads, rows, count=len(rows)))
        hidden = len(shown.items.columns) - len(columns)
        parts.append(note(f"{counted(hidden, 'further part')} not shown.") if hidden > 0 else "")
    for item, cause in list(study.table.causes.items())[:1]:
        parts.append(note(f"Item {item} failed: {cause}", "bad"))
    return card("Study", study.name, facts, [*parts, why], picture=picture)


def monte_carlo_card(found: MonteCarlo) -> str:
    """The card of Monte Carlo estimates: a row for each measure, and the distribution of the first one."""
    rows = [
        [
            escaped(row["measure"]),
            row["estimate of"],
            number(row["value"]),
            f"{number(row['low'])} to {number(row['high'])}",
            f"{row['items']:,}",
        ]
        for row in found.rows
    ]
    percent = f"{100.0 * found.confidence:g} %"
    picture, why = _picture(found)
    heads = ("measure", "estimate of", "value", f"{percent} interval", "items")
    stated = found.errors and not found.reached
    parts = [note("The stated error was not reached.", "doubt")] if stated else []
    parts += [table("", heads, rows), *(note(text) for text in found.notes), why]
    return card("Monte Carlo study of", found.study.name, [counted(found.count, "item")], parts, picture=picture)


def sensitivity_card(found: Sensitivity) -> str:
    """The card of sensitivities: a row for each part with its indices of the first measure, most important first."""
    measure = found.measures[0]
    indices = {name: one for name, one in found[measure].items() if one.value.ndim == 1}
    last = indices["mu_star" if found.method == "morris" else "total"]
    order = np.argsort(-np.nan_to_num(last.value, nan=-np.inf), kind="stable")
    rows = [
        [
            escaped(found.parts[k]),
            *(
                f"{number(one.value[k], 3)} ({number(one.low[k], 3)} to {number(one.high[k], 3)})"
                for one in indices.values()
            ),
        ]
        for k in order[:MOST_ROWS]
    ]
    picture, why = _picture(found)
    heads = ("part", *(name.replace("_star", "*") for name in indices))
    parts = [table(f"indices of {measure}", heads, rows, count=len(order)), *(note(text) for text in found.notes), why]
    facts = [found.method, counted(found.count, "point"), f"{100.0 * found.confidence:g} % intervals"]
    return card("Sensitivity of", found.study.name, facts, parts, picture=picture)


def _value(value: Any) -> str:
    return "" if value is None else escaped(value, 24) if isinstance(value, str) else number(value)


def _picture(subject: Study | MonteCarlo | Sensitivity) -> tuple[str, str]:
    """(the HTML of the usual picture, the HTML of a note where there is none)."""
    try:
        source = base64.b64encode(small_png_of(plot_study(subject))).decode()
    except KinemorphError as error:
        return pictured(Picture(note=f"No picture: {error}"), "")
    return picture_of(f"data:image/png;base64,{source}", WIDTH, "the usual picture of this study"), ""
