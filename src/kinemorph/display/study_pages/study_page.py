"""`write_study_page`: a study as one HTML page that works offline: pictures, and a table of items, the best ones first.

Monte Carlo estimates and sensitivities have a table of their own, and the pictures that belong to them.

A click on the name of a column sorts the table. Items whose runs were kept have links to replays, which are pages of
their own in a folder beside the page. Nothing is loaded from elsewhere: a policy in the page forbids it, and permits no
other script than the one that sorts. All names are escaped.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kinemorph.display.canvas import raised, small_png_of
from kinemorph.display.charts.studies.plot_study import KINDS, OWN, is_found, plotted, usual_kind
from kinemorph.display.charts.studies.plotted_items import PlottedItems
from kinemorph.display.html import SENTENCE, number
from kinemorph.display.replays.replay import html_path, replay
from kinemorph.display.stage.bundle import display_file, trimmed
from kinemorph.durable_files import write_whole
from kinemorph.errors import KinemorphError
from kinemorph.studies.items import Indices
from kinemorph.studies.statistics.monte_carlo import MonteCarlo
from kinemorph.studies.statistics.sensitivity import Sensitivity
from kinemorph.studies.sweeps.study import Study
from kinemorph.words import counted, listed

MOST_ROWS = 5000  # items in the table
MOST_REPLAYS = 20
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; script-src"


class Replays(NamedTuple):
    """The replays of kept runs: links by the number of their item, and sentences about those that were not made."""

    links: dict[int, str]
    notes: list[str]


Subject = Study | MonteCarlo | Sensitivity


def write_study_page(
    subject: Subject,
    path: Path | str,
    *,
    measure: str | None = None,
    largest: bool = False,
    rows: int = MOST_ROWS,
    replays: int = MOST_REPLAYS,
) -> Path:
    """Writes a study as an HTML page and returns its path.

    `measure`    the measure by which items are sorted, by default the first one
    `largest`    whether the best items have the largest measure, or the smallest
    `rows`       how many items the table has at most: the best, then failed ones
    `replays`    of how many items, the best ones whose runs were kept, replays are written, in the folder NAME.replays
    """
    study = subject if isinstance(subject, Study) else subject.study
    target = html_path(path)
    shown = plotted(study)
    order = _best_first(shown, measure, largest)
    made = _replays(study, shown, order, target, replays)
    script = trimmed(display_file("study_pages/page/page.js"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    kept = order[:rows]
    filled = {
        "policy": escape(f"{POLICY} 'sha256-{digest}'"),
        "title": escape(study.name or "study"),
        "style": trimmed(display_file("study_pages/page/page.css")),
        "facts": escape(_facts(shown)),
        "notes": "".join(f'<p class="note">{escape(note[:SENTENCE])}</p>' for note in (*_notes(subject), *made.notes)),
        "pictures": "".join(_pictures(subject, shown, measure, largest)),
        "results": _results(subject),
        "rows": escape(_told(shown, measure, largest, len(kept))),
        "heads": "".join(_heads(shown, measure, largest)),
        "items": "\n".join(_row(study, shown, int(k), made) for k in kept),
        "script": script,
    }
    # all placeholders at once, so that the inserted texts are not searched for placeholders
    page = re.sub(r"\{\{(\w+)\}\}", lambda place: filled[place[1]], display_file("study_pages/page/page.html"))
    write_whole(target, page.encode("utf-8", "replace"))
    return target


def _best_first(shown: PlottedItems, measure: str | None, largest: bool) -> Indices:
    """The indices of items with the best first, then failed ones, then those that wait."""
    rank = np.where(shown.done, 0, np.where(shown.failed, 1, 2))
    if not shown.is_measured:
        return np.lexsort((shown.numbers, rank))
    _, values = shown.measure(measure)
    return np.lexsort((shown.numbers, -values if largest else values, rank))


def _replays(study: Study, shown: PlottedItems, order: Indices, target: Path, most: int) -> Replays:
    """Writes replays of kept runs, the best items first."""
    made = Replays({}, [])
    runs = study.table.runs
    folder = target.with_name(f"{target.stem}.replays")
    kept = [item for item in shown.numbers[order].tolist() if item in runs]
    missing: dict[str, list[int]] = {}  # items without a replay by the reason
    for item in kept[:most]:
        path = folder / f"item-{item}.html"
        try:
            one = study.item(item)
            replay(one.run(), path, title=one.title)
            made.links[item] = f"{folder.name}/{path.name}"
        except KinemorphError as error:
            missing.setdefault(str(error), []).append(item)
    for reason, items in missing.items():
        made.notes.append(
            f"There is no replay of {counted(len(items), 'kept run')} (item {listed(items, 5)}): {reason}"
        )
    if len(kept) > most:
        made.notes.append(f"{counted(len(kept), 'run')} were kept; the best {most} have replays.")
    return made


def _facts(shown: PlottedItems) -> str:
    lost, left = int(shown.failed.sum()), int((~shown.done & ~shown.failed).sum())
    facts = [f"{len(shown):,} items", f"{int(shown.done.sum()):,} done", f"{lost:,} failed", f"{left:,} waiting"]
    return " · ".join(facts)


def _told(shown: PlottedItems, measure: str | None, largest: bool, count: int) -> str:
    order = ""
    if shown.is_measured:
        name, _ = shown.measure(measure)
        order = f"Sorted by {name}, {'largest' if largest else 'smallest'} first. "
    cut = f"{count:,} of {len(shown):,} items are shown. " if count < len(shown) else ""
    return f"{order}{cut}A click on the name of a column sorts by it."


def _pictures(subject: Subject, shown: PlottedItems, measure: str | None, largest: bool) -> Sequence[str]:
    """The pictures of the study as HTML; none where there are no results.

    Those of Monte Carlo estimates and sensitivities are their own; of other studies, and of those that have neither
    estimates nor indices yet, they are the usual picture, and the best item so far.
    """
    if not shown.is_measured:
        return ()
    own = {} if isinstance(subject, Study) or not is_found(subject, measure) else OWN[type(subject)]
    figures = [(draw(subject, measure), f"{kind} of the study") for kind, draw in own.items()]
    if not own:
        usual = usual_kind(shown)
        best = {} if usual in ("curve", "histogram") else {"largest": largest}
        figures = [
            (KINDS[usual](shown, measure, **best), f"{usual} of the study"),
            (KINDS["convergence"](shown, measure, largest=largest), "the best item so far"),
        ]
    sources = [(base64.b64encode(small_png_of(figure)).decode(), says) for figure, says in figures]
    return [f'<img src="data:image/png;base64,{source}" alt="{escape(says)}">' for source, says in sources]


# ── estimates and indices ─────────────────────────────────────────────────────────────────────────────────────────────


def _notes(subject: Subject) -> tuple[str, ...]:
    return () if isinstance(subject, Study) else subject.notes


def _results(subject: Subject) -> str:
    """The table of estimates or indices with their intervals, as HTML; empty for other studies."""
    if isinstance(subject, Study):
        return ""
    rows = [[_cell(value) for value in row.values()] for row in subject.rows]
    kinds = [' class="text"' if isinstance(value, str) else "" for value in subject.rows[0].values()]
    heads = "".join(f"<th{kind}>{escape(name)}</th>" for kind, name in zip(kinds, subject.rows[0], strict=True))
    body = "\n".join(f"<tr>{''.join(cells)}</tr>" for cells in rows)
    name = "Estimates" if isinstance(subject, MonteCarlo) else "Indices"
    head = f'<h2>{name}</h2>\n<p class="faint">{escape(subject.heading)}</p>'
    table = f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
    return f'{head}\n<div class="wide">{table}</div>'


def _cell(value: float | str) -> str:
    return f'<td class="text">{escape(value)}</td>' if isinstance(value, str) else _number(value)


# ── table ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _heads(shown: PlottedItems, measure: str | None, largest: bool) -> list[str]:
    order = f' aria-sort="{"descending" if largest else "ascending"}"'
    sorted_by = shown.measure(measure)[0] if shown.is_measured else None
    heads = ["<th>item</th>"]
    heads += [f"<th{order if name == sorted_by else ''}>{escape(name)}</th>" for name in shown.names]
    for column in shown.items.columns:
        unit = f" [{raised(column.unit)}]" if column.unit else ""
        kind = ' class="text"' if column.labels else ""
        heads.append(f"<th{kind}>{escape(column.name + unit)}</th>")
    return [*heads, '<th class="text">state</th>']


def _row(study: Study, shown: PlottedItems, k: int, made: Replays) -> str:
    item = int(shown.numbers[k])
    link = made.links.get(item)
    name = f'<a href="{escape(link)}" title="replay of item {item}">{item} ▶</a>' if link else f"{item}"
    cells = [f'<td data-value="{item}">{name}</td>']
    cells += [_number(float(value)) for value in shown.measures[k]]
    for column in shown.items.columns:
        value = column.value(k)
        if value is None or isinstance(value, str):
            cells.append(f'<td class="text">{escape(value or "")}</td>')
        else:
            cells.append(_number(value))
    cause = study.table.causes.get(item, "")
    if shown.failed[k]:
        cells.append(f'<td class="cause">failed: {escape(cause[:SENTENCE])}</td>')
    else:
        cells.append(f'<td class="text">{"done" if shown.done[k] else "waiting"}</td>')
    return f"<tr>{''.join(cells)}</tr>"


def _number(value: float) -> str:
    return f'<td data-value="{value!r}">{number(value, 6)}</td>' if np.isfinite(value) else "<td></td>"
