"""Pieces of the cards that notebooks show: HTML text with its style inside, readable on light and dark pages.

No script, no style sheet, nothing from outside: what a front end leaves out (a border, a color) costs looks and no
facts. Colors are those of the page, thinned by opacity, and a few that stand out on white and on black. Whatever comes
from a user goes through `escaped`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import pairwise

import numpy as np

from kinemorph.algebra.arrays import Array

MOST_ROWS = 12  # of a table
MOST_LETTERS = 56  # of a cell; what is longer shows its end when it is pointed at
SHORT = 44  # letters of a cell that is not broken into lines
SENTENCE = 600  # letters of a message
TONES = {"good": "#2e9e5b", "bad": "#e5484d", "doubt": "#c98a00", "line": "#3f8fd6"}

FONT = "font-family:system-ui,-apple-system,'Segoe UI',sans-serif;font-size:13px;line-height:1.45"
FRAME = "border:1px solid rgba(128,128,128,.35);border-radius:8px;padding:10px 14px;max-width:980px;overflow-x:auto"
FAINT = "opacity:.68"
RULE = "border-bottom:1px solid rgba(128,128,128,.3)"
CELL = "text-align:left;vertical-align:top;padding:1px 10px 1px 0;background:none;border:none;max-width:34em"
TABLE = "border-collapse:collapse;border:none;margin:0;font-size:12px"
TILE = "border-radius:6px;background:#fff;max-width:100%;height:auto"

SPARK = (150.0, 26.0)  # width and height of a sparkline [px]
SPARK_PARTS = 75  # of its width, each with its lowest and highest value


def escaped(text: object, most: int = MOST_LETTERS) -> str:
    """A text for HTML, cut where it is too long; the whole of it (up to a sentence) shows when it is pointed at."""
    words = str(text)
    if len(words) <= most:
        return escape(words)
    return f'<span title="{escape(words[:SENTENCE])}">{escape(words[: most - 1])}…</span>'


def card(kind: str, name: str, figures: Iterable[str], parts: Iterable[str], *, picture: str = "") -> str:
    """A card: what it is and its name, a line of `figures` (plain texts), then `parts` (HTML) beside a picture."""
    head = f'<span style="{FAINT}">{escape(kind)}</span> <b style="font-size:15px">{escaped(name)}</b>'
    line = f'<div style="{FAINT};margin-bottom:6px">{" · ".join(escaped(text, SENTENCE) for text in figures)}</div>'
    body = "".join(part for part in parts if part)
    if picture:
        # a wide table scrolls beside the picture rather than going below it
        beside = f'<div style="flex:1 1 360px;min-width:0;overflow-x:auto">{body}</div>'
        side = f'<div style="flex:0 0 auto">{picture}</div>'
        body = f'<div style="display:flex;flex-wrap:wrap;gap:18px">{side}{beside}</div>'
    return f'<div class="kinemorph-card" style="{FONT};{FRAME}"><div>{head}</div>{line}{body}</div>'


def picture_of(source: str, width: int, says: str) -> str:
    """A picture from a data URI."""
    return f'<img src="{source}" width="{width}" alt="{escape(says)}" style="{TILE}"/>'


def table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], *, count: int | None = None, folded: bool = False
) -> str:
    """A table of texts that are HTML already; the first MOST_ROWS, and how many more there are.

    `count`    of all rows, where not all of them were made
    `folded`   only the title shows until it is clicked
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
    return section(title, inside, folded=folded, count=total)


def _wrapping(cell: str) -> str:
    """Short cells stay in a line, so that a row is one where there is room to scroll."""
    return "" if len(cell) > SHORT else ";white-space:nowrap"


def section(title: str, inside: str, *, folded: bool = False, count: int | None = None) -> str:
    """A part of a card below its title; folded, it opens by a click and needs no script for that."""
    if not folded:
        top = f'<div style="font-weight:600;font-size:12px">{escape(title)}</div>' if title else ""
        return f'<div style="margin-top:6px">{top}{inside}</div>'
    many = "" if count is None else f' <span style="{FAINT}">({count:,})</span>'
    top = f'<summary style="font-weight:600;font-size:12px;cursor:pointer">{escape(title)}{many}</summary>'
    return f'<details style="margin-top:6px">{top}{inside}</details>'


def listed(title: str, items: Sequence[str], *, most: int = 8) -> str:
    """A line `title  a, b, c, ... and 4 more` of plain texts; nothing where there are none."""
    if not items:
        return ""
    more = f" ... and {len(items) - most:,} more" if len(items) > most else ""
    words = ", ".join(escaped(item) for item in items[:most])
    inside = f'<span style="font-weight:600">{escape(title)}</span> {words}{more}'
    return f'<div style="margin-top:6px;font-size:12px">{inside}</div>'


def note(text: str, tone: str | None = None) -> str:
    """A sentence; with a tone, a bar of its color beside it."""
    if tone is None:
        return f'<div style="{FAINT};margin-top:6px;font-size:12px">{escaped(text, SENTENCE)}</div>'
    bar = f"border-left:3px solid {TONES[tone]};padding-left:8px;margin:6px 0;color:{TONES[tone]}"
    return f'<div style="{bar}">{escaped(text, SENTENCE)}</div>'


def mark(text: str, tone: str) -> str:
    """A word in the color of its tone."""
    return f'<span style="color:{TONES[tone]};font-weight:600">{escaped(text)}</span>'


def number(value: float, digits: int = 4) -> str:
    """A number as it stands in a cell, with a true minus sign."""
    return f"{value + 0.0:.{digits}g}".replace("-", "\N{MINUS SIGN}")


# ── small curves ──────────────────────────────────────────────────────────────────────────────────────────────────────


def sparkline(t: Array, values: Array, marks: Sequence[float] = ()) -> str:
    """A curve of values (n,) over times (n,) as SVG; `marks` are times with a thin upright line.

    Each part of the width shows its lowest and its highest value, so no peak is lost however many samples there are.
    """
    (width, height), pad = SPARK, 2.0
    timed = np.isfinite(t)
    t, values = t[timed], values[timed]
    known = np.isfinite(values)
    if not known.any():
        return ""
    first, span = float(t[0]), float(t[-1] - t[0]) or 1.0
    gaps = np.cumsum(~known)[known]  # the same number as long as values follow each other
    t, values = t[known], values[known]
    low, rise = float(values.min()), float(np.ptp(values))
    x = pad + (width - 2.0 * pad) * (t - first) / span
    # what does not change runs through the middle
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
    """Places of the lowest and highest value in each part, in order, with the first and the last of all."""
    if len(values) <= 2 * SPARK_PARTS:
        return list(range(len(values)))
    bounds = np.linspace(0, len(values), SPARK_PARTS + 1).astype(int)
    kept = {0, len(values) - 1}
    for start, end in pairwise(bounds.tolist()):
        kept |= {start + int(np.argmin(values[start:end])), start + int(np.argmax(values[start:end]))}
    return sorted(kept)
