"""A sheet in one language: each of its parts as blocks of a document, with all numbers and texts written out."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from kinemorph import sheet as sheets
from kinemorph.display.canvas import in_language
from kinemorph.display.faces.document import Block, Code, Facts, Figure, Grid, Paragraph, Table
from kinemorph.display.faces.languages.sentences import sentence, translated
from kinemorph.display.faces.languages.words import Words

MOST = 60  # rows of a table
POSE_SIZE = 5.0  # longer side of the picture of a robot [inch]
PLACE = re.compile(r"\{\w+\}")  # of a value in a sentence
TEXTS = ("name", "code", "unit", "word", "sentence")


def blocks(sheet: sheets.Sheet, words: Words, *, most: int | None = MOST) -> list[Block]:
    """The parts of a sheet as blocks, in order; of tables at most `most` rows, all with None."""
    return [block for part in sheet.parts for block in written(part, words, most)]


def written(part: sheets.Part, words: Words, most: int | None = MOST) -> list[Block]:
    """A part of a sheet as blocks; none for one that is for programs only, or has nothing to show."""
    return WRITERS[type(part)](part, words, most)


def text(words: Words, told: sheets.Text) -> str:
    """A text of a sheet in the language of `words`."""
    if not isinstance(told, sheets.Said):
        if told in (words.language.table or ()):  # as a whole, with its numbers
            return words(told)
        return translated(words, told) or sentence(words, told)
    values: dict[str, Any] = {
        name: text(words, one) if isinstance(one, sheets.Said) else one for name, one in told.values.items()
    }
    if not any(map(str.isalpha, PLACE.sub("", told.text))):
        return words.filled(told.text, **values)  # names and numbers alone
    if told.many:
        return words.counted(values.pop("n"), told.text, told.many, **values)
    return words(told.text, **values)


def value(words: Words, one: sheets.Field, given: Any) -> str:
    """A value as its field writes it; "" for None where the field has no word for it. Vectors are in parentheses."""
    form = one.form
    if isinstance(given, sheets.Said):
        return text(words, given)
    if hasattr(given, "tolist"):  # an array or a number of NumPy
        given = given.tolist()
    if isinstance(given, (list, tuple)):
        shown = [value(words, one, each) for each in given]
        vector = bool(given) and isinstance(given[0], (int, float))
        return f"({words.separated(shown)})" if vector else words.listed(shown) if shown else ""
    if isinstance(form, Mapping):
        return words(form[given])
    if given is None:
        return ""
    if form in TEXTS:
        if form == "unit":
            return words.unit(given)
        return str(given) if form in ("name", "code") or not given else text(words, given)
    if isinstance(given, complex):
        imaginary = f" {'-' if given.imag < 0.0 else '+'} {words.number(abs(given.imag), form)}i"
        return words.number(given.real, form) + (imaginary if given.imag else "")
    if isinstance(given, int):
        return words(("no", "yes")[given]) if isinstance(given, bool) else words.integer(given)
    return words.number(given, form) if isinstance(given, float) else str(given)


def head(words: Words, one: sheets.Field) -> str:
    """What people read above a column, with its unit."""
    named = text(words, one.head) if one.head else ""
    return f"{named} [{words.unit(one.unit)}]" if one.unit else named


def _facts(part: sheets.Facts, words: Words, most: int | None) -> list[Block]:
    rows = [
        (text(words, one.head), value(words, one, given), words.unit(one.unit)) for one, given in part.rows if one.head
    ]
    told = tuple((name, f"{shown} {unit}".rstrip()) for name, shown, unit in rows if shown)
    return [Facts(told)] if told else []


def _table(part: sheets.Table, words: Words, most: int | None) -> list[Block]:
    order = [*part.marked, *(k for k in range(len(part.rows)) if k not in set(part.marked))]
    chosen = sorted(order[:most])
    told = [k for k, one in enumerate(part.columns) if one.head or not one.key]  # the others are for programs
    cells = [[value(words, part.columns[k], part.rows[row][k]) for k in told] for row in chosen]
    kept = [n for n in range(len(told)) if any(row[n] for row in cells)]  # those that are empty are left out
    columns, rows = [part.columns[told[n]] for n in kept], [[row[n] for n in kept] for row in cells]
    heads = tuple(head(words, one) for one in columns)
    right = tuple(
        name
        for name, one in zip(heads, columns, strict=True)
        if not isinstance(one.form, Mapping) and one.form not in TEXTS
    )
    hidden = len(part.rows) - len(chosen)
    more = words.counted(hidden, "{n} more row is not listed.", "{n} more rows are not listed.") if hidden else ""
    note = " ".join(filter(None, (text(words, part.note) if part.note else "", more)))
    title = text(words, part.title) if part.title else ""
    marked = tuple(k for k, row in enumerate(chosen) if row in part.marked)
    named = int(bool(columns) and columns[0].form in TEXTS)
    grid = Grid(title, heads, rows, right, heads=named, note=note, marked=marked)
    code = tuple(name for name, one in zip(heads, columns, strict=True) if one.form == "code")
    return [Table(grid, any(one.form == "word" for one in columns), code)] if rows else []


def _note(part: sheets.Note, words: Words, most: int | None) -> list[Block]:
    return [_paragraph(part.text, words, part.tone)] if part.text else []


def _verdict(part: sheets.Verdict, words: Words, most: int | None) -> list[Block]:
    return [_paragraph(part.text, words, "success" if part.holds else "warning")]


def _paragraph(told: sheets.Text, words: Words, tone: sheets.Tone) -> Paragraph:
    """A text as a paragraph; a message without a translation is quoted."""
    if isinstance(told, str) and translated(words, told) is None:
        return Paragraph((words("The program says: "), Code(told)), tone)
    return Paragraph(text(words, told), tone)


def _pose(part: sheets.Pose, words: Words, most: int | None) -> list[Block]:
    from kinemorph.display.faces.thumbnails import posed
    from kinemorph.display.painting.draw import draw

    model, rows = posed(part.model, part.q)
    with in_language(words):
        picture = draw(model, rows[-1], ghosts=list(rows[:-1]), masses=False, title="", size=POSE_SIZE)
    return [Figure(picture, text(words, part.caption), 0.6)]


def _points(part: sheets.Points, words: Words, most: int | None) -> list[Block]:
    from kinemorph.display.charts.plot_poles import plot_points

    with in_language(words):
        picture = plot_points(part)
    return [Figure(picture, text(words, part.caption), 0.85)]


def _plot(part: sheets.Plot, words: Words, most: int | None) -> list[Block]:
    with in_language(words):
        picture = part.result.plot()
    return [Figure(picture, text(words, part.caption))]


WRITERS: dict[Any, Callable[[Any, Words, int | None], list[Block]]] = {
    sheets.Facts: _facts,
    sheets.Table: _table,
    sheets.Note: _note,
    sheets.Verdict: _verdict,
    sheets.Pose: _pose,
    sheets.Points: _points,
    sheets.Plot: _plot,
    sheets.Curves: lambda part, words, most: written(part.instead, words, most),
}
