"""Pieces of the cards that notebooks show: HTML text with its style inside, readable on light and dark pages.

There is no script, no style sheet, and nothing is loaded: where a notebook drops a border or a color, no fact is lost.
Text has the color of the page with some opacity, or one of a few colors that are readable on white and on black. All
text of users is passed through `escaped`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import pairwise

import numpy as np

from kinemorph.algebra.arrays import Array

MOST_ROWS = 12  # rows of a table
MOST_LETTERS = 56  # characters of a cell; a longer text is cut and shown whole in a tooltip
SHORT = 44  # characters of a cell that is not broken into lines
SENTENCE = 600  # characters of a message
TONES = {"good": "#2e9e5b", "bad": "#e5484d", "doubt": "#c98a00", "line": "#3f8fd6"}

FONT = "font-family:system-ui,-apple-system,'Segoe UI',sans-serif;font-size:13px;line-height:1.45"
FRAME = "border:1px solid rgba(128,128,128,.35);border-radius:8px;padding:10px 14px;max-width:980px;overflow-x:auto"
FAINT = "opacity:.68"
RULE = "border-bottom:1px solid rgba(128,128,128,.3)"
CELL = "text-align:left;vertical-align:top;padding:1px 10px 1px 0;background:none;border:none"
TABLE = "border-collapse:collapse;border:none;margin:0;font-size:12px"
TILE = "border-radius:6px;background:#fff;max-width:100%;height:auto"

SPARK = (150.0, 26.0)  # width and height of a sparkline [px]
SPARK_PARTS = 75  # intervals of its width; each shows its lowest and highest value


def escaped(text: object, most: int = MOST_LETTERS) -> str:
    """A text escaped for HTML, cut to `most` characters; a tooltip then shows up to SENTENCE characters of it."""
    words = str(text)
    if len(words) <= most:
        return escape(words)
    return f'<span title="{escape(words[:SENTENCE])}">{escape(words[: most - 1])}…</span>'


def card(kind: str, name: str, facts: Iterable[str], parts: Iterable[str], *, picture: str = "") -> str:
    """The HTML of a card: the `kind` of object and its name, a line of `facts`, then `parts` beside a picture.

    `facts` are plain texts; `parts` and `picture` are HTML.
    """
    head = f'<span style="{FAINT}">{escape(kind)}</span> <b style="font-size:15px">{escaped(name)}</b>'
    line = f'<div style="{FAINT};margin-bottom:6px">{" · ".join(escaped(text, SENTENCE) for text in facts)}</div>'
    body = "".join(part for part in parts if part)
    if picture:
        # a wide table scrolls beside the picture instead of moving below it
        beside = f'<div style="flex:1 1 360px;min-width:0;overflow-x:auto">{body}</div>'
        side = f'<div style="flex:0 0 auto">{picture}</div>'
        body = f'<div style="display:flex;flex-wrap:wrap;gap:18px">{side}{beside}</div>'
    return f'<div class="kinemorph-card" style="{FONT};{FRAME}"><div>{head}</div>{line}{body}</div>'


def picture_of(source: str, width: int, says: str) -> str:
    """The HTML of a picture `width` [px] wide from a data URI; `says` is its alternative text."""
    return f'<img src="{source}" width="{width}" alt="{escape(says)}" style="{TILE}"/>'


def table(
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    count: int | None = None,
    folded: bool = False,
    below: str = "",
) -> str:
    """The HTML of a table: its first MOST_ROWS rows, and how many more there are. Cells are HTML, not plain text.

    `count`    the number of all rows, where `rows` has only the first of them
    `folded`   shows only the title until it is clicked
    `below`    HTML below the table, such as a note
    """
    if not rows:
        return ""
    total = len(rows) if count is None else count
    head = "".join(f'<th style="{CELL};{RULE};{FAINT};font-weight:500">{escape(name)}</th>' for name in columns)
    cells = [[f'<td style="{CELL}{_wrapping(cell)}">{cell}</td>' for cell in row] for row in rows[:MOST_ROWS]]
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in cells)
    hidden = total - min(len(rows), MOST_ROWS)
    if hidden > 0:
        body += f'<tr><td colspan="{len(columns)}" style="{CELL};{FAINT}">... and {hidden:,} more</td></tr>'
    inside = f'<table style="{TABLE}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    return section(title, inside + below, folded=folded, count=None if below else total)


def _wrapping(cell: str) -> str:
    """The CSS that keeps a short cell on one line; a long cell may be broken into lines."""
    return ";max-width:34em" if len(cell) > SHORT else ";white-space:nowrap"


def section(title: str, inside: str, *, folded: bool = False, count: int | None = None) -> str:
    """The HTML of a part of a card with its title; where `folded`, a click opens it (no script is needed).

    `count`, a number of rows, is written after a folded title.
    """
    if not folded:
        top = f'<div style="font-weight:600;font-size:12px">{escape(title)}</div>' if title else ""
        return f'<div style="margin-top:6px">{top}{inside}</div>'
    many = "" if count is None else f' <span style="{FAINT}">({count:,})</span>'
    top = f'<summary style="font-weight:600;font-size:12px;cursor:pointer">{escape(title)}{many}</summary>'
    return f'<details style="margin-top:6px">{top}{inside}</details>'


def listed(title: str, items: Sequence[str], *, most: int = 8) -> str:
    """The HTML of a line `title  a, b, c, ... and 4 more` of plain texts; empty where there are no items."""
    if not items:
        return ""
    more = f" ... and {len(items) - most:,} more" if len(items) > most else ""
    words = ", ".join(escaped(item) for item in items[:most])
    inside = f'<span style="font-weight:600">{escape(title)}</span> {words}{more}'
    return f'<div style="margin-top:6px;font-size:12px">{inside}</div>'


def note(text: str, tone: str | None = None) -> str:
    """The HTML of a sentence; with a tone, one of TONES, it has that color and a bar beside it."""
    if tone is None:
        return f'<div style="{FAINT};margin-top:6px;font-size:12px">{escaped(text, SENTENCE)}</div>'
    bar = f"border-left:3px solid {TONES[tone]};padding-left:8px;margin:6px 0;color:{TONES[tone]}"
    return f'<div style="{bar}">{escaped(text, SENTENCE)}</div>'


def mark(text: str, tone: str) -> str:
    """The HTML of a word in the color of its tone, one of TONES."""
    return f'<span style="color:{TONES[tone]};font-weight:600">{escaped(text)}</span>'


def number(value: float, digits: int = 4) -> str:
    """The text of a number with `digits` significant digits and the typographic minus sign."""
    return f"{value + 0.0:.{digits}g}".replace("-", "\N{MINUS SIGN}")


def duration(seconds: float) -> str:
    """A time with its unit: "1.97 s", "12.3 ms"."""
    return f"{number(seconds, 3)} s" if seconds >= 1.0 else f"{number(1e3 * seconds, 3)} ms"


# ── small curves ──────────────────────────────────────────────────────────────────────────────────────────────────────


def sparkline(t: Array, values: Array, marks: Sequence[float] = ()) -> str:
    """A small curve of values (n,) over times (n,) [s] as SVG; `marks` are times with a thin vertical line.

    Each interval of the width shows its lowest and its highest value, so no peak is lost with many samples.
    """
    (width, height), pad = SPARK, 2.0
    timed = np.isfinite(t)
    t, values = t[timed], values[timed]
    known = np.isfinite(values)
    if not known.any():
        return ""
    first, span = float(t[0]), float(t[-1] - t[0]) or 1.0
    gaps = np.cumsum(~known)[known]  # equal numbers for values without a gap between them
    t, values = t[known], values[known]
    low, rise = float(values.min()), float(np.ptp(values))
    x = pad + (width - 2.0 * pad) * (t - first) / span
    # a constant value is a line through the middle
    y = height - pad - (height - 2.0 * pad) * ((values - low) / rise if rise > 0.0 else 0.5 + 0.0 * values)
    kept = np.array(_peaks(values))
    pieces = np.split(kept, np.flatnonzero(np.diff(gaps[kept])) + 1)
    curves = [" ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x[one], y[one], strict=True)) for one in pieces]
    places = sorted({round(pad + (width - 2.0 * pad) * (at - first) / span, 1) for at in marks})
    upright = "".join(f"M{at:g} 0V{height:g}" for at in places)
    lines = f'<path d="{upright}" stroke="currentColor" stroke-opacity=".35" stroke-width=".7"/>' if upright else ""
    style = f'fill="none" stroke="{TONES["line"]}" stroke-width="1.3"'
    curve = "".join(f'<polyline points="{points}" {style}/>' for points in curves)
    size = f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"'
    return f'<svg {size} style="vertical-align:middle" aria-hidden="true">{lines}{curve}</svg>'


def _peaks(values: Array) -> list[int]:
    """The sorted indices of the lowest and highest value in each of SPARK_PARTS intervals, and the first and last."""
    if len(values) <= 2 * SPARK_PARTS:
        return list(range(len(values)))
    bounds = np.linspace(0, len(values), SPARK_PARTS + 1).astype(int)
    kept = {0, len(values) - 1}
    for start, end in pairwise(bounds.tolist()):
        kept |= {start + int(np.argmin(values[start:end])), start + int(np.argmax(values[start:end]))}
    return sorted(kept)
