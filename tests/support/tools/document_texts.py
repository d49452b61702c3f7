"""All texts of a report that are not code, formulas or names: what a reader of its language has to understand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from kinemorph.display.faces.document import (
    Block,
    Document,
    Facts,
    Figure,
    Formula,
    Grid,
    Heading,
    Link,
    Listing,
    Paragraph,
    Table,
)
from kinemorph.display.reports.subject import Subject

LETTERS = re.compile(r"[^\W\d_⁰¹²³⁴⁵⁶⁷⁸⁹]{2,}")  # words of two letters or more


def words_in(text: str) -> set[str]:
    """The words of a text, in small letters."""
    return {word.lower() for word in LETTERS.findall(text)}


def texts_of(document: Document) -> Iterator[tuple[str, str]]:
    """(section, text) of all texts of a document, those inside of plots included."""
    yield from (("title", text) for text in (document.subtitle, document.author, document.date))
    for section in document.sections:
        yield section.key, section.title
        for block in section.blocks:
            yield from ((section.key, text) for text in block_texts(block))
        yield from ((section.key, one.description) for one in section.attachments)


def block_texts(block: Block) -> Iterator[str]:
    """The texts of one block."""
    if isinstance(block, Paragraph):
        yield from (piece.text if isinstance(piece, Link) else piece for piece in block.pieces
                    if isinstance(piece, (str, Link)))  # fmt: skip
    elif isinstance(block, Heading):
        yield block.text
    elif isinstance(block, Facts):
        yield from (str(text) for row in block.rows for text in row)
    elif isinstance(block, Figure):
        yield block.caption
        if not isinstance(block.picture, bytes):
            yield from plot_texts(block.picture)
    elif isinstance(block, Formula):
        yield block.name
    elif isinstance(block, Listing):
        yield block.caption
    elif isinstance(block, Table):
        yield from grid_texts(block.grid, block.code)
    else:
        yield block.sentence
        yield from grid_texts(block.grid)


def grid_texts(grid: Grid, code: Any = ()) -> Iterator[str]:
    """The texts of a table, without its columns of code."""
    yield from (grid.title, grid.note, *grid.columns, *(name for name, _ in grid.groups))
    for row in grid.rows:
        yield from (cell for name, cell in zip(grid.columns, row, strict=True) if name not in code)


def plot_texts(figure: Any) -> Iterator[str]:
    """The texts in a Matplotlib figure; formulas between dollar signs are left out."""
    from matplotlib.text import Text

    for one in figure.findobj(Text):
        if one.get_visible():
            yield re.sub(r"\$[^$]*\$", "", one.get_text())


def names_in(subject: Subject) -> set[str]:
    """All words that the model and its runs bring along: names, units and other texts of their fields."""
    found: set[str] = set()
    _collect(subject.model, found, set())
    for name, run in subject.runs.items():
        found |= {name, run.name, run.statistics.method, *run.columns, *(event.label for event in run.events)}
        found |= {column.unit for column in run.columns.values()}
    return {word for text in found for word in words_in(text)}


def _collect(value: Any, found: set[str], seen: set[int]) -> None:
    """Collects every text in a tree of records, and the names of the kinds of elements."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, str):
        found.add(value)
    elif isinstance(value, dict):
        for one in (*value.keys(), *value.values()):
            _collect(one, found, seen)
    elif isinstance(value, (tuple, list, frozenset, set)):
        for one in value:
            _collect(one, found, seen)
    elif is_dataclass(value) and not isinstance(value, type):
        found.add(type(value).__name__)
        for field in fields(value):
            _collect(getattr(value, field.name), found, seen)
