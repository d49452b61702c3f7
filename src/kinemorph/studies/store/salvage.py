"""Saves what is good in a damaged store: rows are read from its pages directly, and used where they pass their checks.

Each fact is in the file at least twice: texts in `study` and `spare`, the number of an item in its row, in the index of
keys and in the check of its result. Values of an item are there once, and so are those of a result; what of them is
damaged is found by its check, and computed again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from kinemorph.studies.items import Indices
from kinemorph.studies.store.cells import Cell, cells
from kinemorph.studies.store.checks import Checks, Results, aspects_digest, result_checks
from kinemorph.studies.store.contents import Contents
from kinemorph.studies.store.layout import Layout, Place, passes, read_layout
from kinemorph.studies.store.pages import Files, is_our_header, newest_pages, page_versions
from kinemorph.studies.store.rows import (
    Row,
    items_from,
    joined_table,
    results_from,
    sound_items,
)
from kinemorph.studies.store.table import KEY, Keys


class _Found(NamedTuple):
    """Candidates of rows, in the order in which they were found: newer versions later."""

    texts: dict[str, dict[str, None]]  # name: values
    items: dict[Row, None]
    results: dict[Row, None]
    numbers: dict[bytes, set[int]]  # key: numbers


def salvaged(files: Files) -> Contents | None:
    """The good rows of a store, or None where nothing in these files belongs to a store."""
    found = _found(files)
    if not found.texts and not is_our_header(files.main[:100]):
        return None
    texts = {name: list(values)[-1] for name, values in found.texts.items()}
    for name in ("parts", "measures"):  # these lists only become longer
        texts[name] = max(found.texts.get(name, {"[]": None}), key=lambda text: len(json.loads(text)))
    layout = read_layout(texts)
    rows = [row for row in (_fitted(row, layout.parts, 2) for row in found.items) if row is not None]
    numbers, keys, items = items_from(layout, rows)
    sound = np.flatnonzero(sound_items(keys, items))
    numbers, keys, items = numbers[sound], keys[sound], items.taken(sound)

    layers = _layers(layout, found.results)
    passing: dict[int, tuple[int, int]] = {}  # row of an item: layer and row of its result
    for text in found.texts.get("aspects", {"{}": None}):  # those of an older page may be outdated
        passed = _passing(aspects_digest(json.loads(text)), numbers, keys, layers)
        if len(passed) >= len(passing):
            texts["aspects"], passing = text, passed
    chosen = _chosen(numbers, keys, set(passing), found.numbers)
    good = _gathered(layout, layers, [passing[row] for row in chosen if row in passing])
    return Contents(texts, joined_table(layout, numbers[chosen], keys[chosen], items.taken(chosen), good))


def _layers(layout: Layout, rows: Iterable[Row]) -> list[tuple[Results, Checks]]:
    """Candidates of results, with each number once in a layer: a damaged page may be there beside its older version."""
    layers: list[dict[int, Row]] = []
    for row in rows:
        fitted = _fitted(row, layout.measures, 5)
        if fitted is not None:
            layer = next((layer for layer in layers if row[0] not in layer), None)
            if layer is None:
                layers.append(layer := {})
            layer[row[0]] = fitted
    return [results_from(layout, layer.values()) for layer in layers]


def _passing(
    digest: bytes, numbers: Indices, keys: Keys, layers: Sequence[tuple[Results, Checks]]
) -> dict[int, tuple[int, int]]:
    """The layer and row of a result that passes its check, by the row of its item."""
    passing: dict[int, tuple[int, int]] = {}
    for layer, (results, checks) in enumerate(layers):
        items, rows = _pairs(numbers, results.numbers)
        passed = result_checks(digest, keys[items], _taken(results, rows)) == checks[rows]
        passing |= {item: (layer, row) for item, row in zip(items[passed].tolist(), rows[passed].tolist(), strict=True)}
    return passing


def _gathered(layout: Layout, layers: Sequence[tuple[Results, Checks]], places: Sequence[tuple[int, int]]) -> Results:
    """Results at these layers and rows."""
    pieces = [
        _taken(results, np.array([row for place, row in places if place == layer], dtype=np.int64))
        for layer, (results, _) in enumerate(layers)
    ]
    empty = results_from(layout, [])[0]
    numbers, states, measures = (np.concatenate([empty[k], *(piece[k] for piece in pieces)]) for k in (0, 1, 3))
    causes = {number: text for piece in pieces for number, text in piece.causes.items()}
    runs = {number: text for piece in pieces for number, text in piece.runs.items()}
    return Results(numbers, states, layout.names, measures, causes, runs)


def _pairs(items: Indices, results: Indices) -> tuple[Indices, Indices]:
    """All pairs of an item and a result with the same number, as rows of both."""
    order = np.argsort(items, kind="stable")
    first, last = (np.searchsorted(items[order], results, side) for side in ("left", "right"))
    count = last - first
    within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    return order[np.repeat(first, count) + within], np.repeat(np.arange(len(results)), count)


def _chosen(numbers: Indices, keys: Keys, confirmed: set[int], index: dict[bytes, set[int]]) -> list[int]:
    """The rows of items whose numbers can be believed, each number and each key once, in the order of numbers.

    A number is confirmed by a result that passes its check, or by the index of keys. Where both say nothing, a number
    is believed that is not far above the count of items.
    """
    votes: list[tuple[int, int]] = []
    for row, (number, key) in enumerate(zip(numbers.tolist(), keys.tolist(), strict=True)):
        known = index.get(key)
        if row in confirmed:
            votes.append((0, row))
        elif known is not None and number in known:
            votes.append((1, row))
        elif known is None and number < 2 * len(numbers) + 1000:
            votes.append((2, row))
    used: set[int | bytes] = set()
    chosen: dict[int, int] = {}
    for _, row in sorted(votes):
        number, key = int(numbers[row]), keys[row].tobytes()
        if number not in used and key not in used:
            used |= {number, key}
            chosen[number] = row
    return [chosen[number] for number in sorted(chosen)]


def _taken(results: Results, rows: Indices) -> Results:
    """Some of the results."""
    numbers = results.numbers[rows]
    kept = set(numbers.tolist())
    causes, runs = ({number: text for number, text in texts.items() if number in kept} for texts in results[4:6])
    return Results(numbers, results.states[rows], results.names, results.measures[rows], causes, runs)


def _found(files: Files) -> _Found:
    """All rows in all versions of all pages that could be rows of a store."""
    found = _Found({}, {}, {}, {})
    others = newest_pages(files)
    seen: set[tuple[int, bytes]] = set()
    for number, page in page_versions(files):
        if (number, page) in seen:
            continue
        seen.add((number, page))
        for cell in cells(number, page, others):
            _sort(cell, found)
    return found


def _sort(cell: Cell, found: _Found) -> None:
    number, values = cell
    if len(values) == 3 and passes(values):
        found.texts.setdefault(values[0], {})[values[1]] = None
    elif len(values) == 2 and isinstance(values[0], bytes) and isinstance(values[1], int):
        found.numbers.setdefault(values[0], set()).add(values[1])
    elif len(values) >= 2 and values[0] is None and isinstance(values[1], bytes) and number >= 0:
        found.items[(number, *values[1:])] = None
    elif len(values) >= 5 and values[0] is None and isinstance(values[1], int) and number >= 0:
        found.results[(number, *values[1:])] = None


def _fitted(row: Row, places: tuple[Place, ...], fixed: int) -> Row | None:
    """A row with a value for each column, or None where its values cannot be those of a good row."""
    if not fixed <= len(row) <= fixed + len(places):
        return None
    if fixed == 2:
        is_row = len(row[1]) == KEY.itemsize
    else:
        is_row = row[1] in (1, 2) and isinstance(row[4], int) and all(isinstance(row[k], str | None) for k in (2, 3))
    values = [*row[fixed:], *[None] * (fixed + len(places) - len(row))]  # columns that were added later are empty
    fits = all(
        value is None or isinstance(value, str if place.labels else float | int)
        for place, value in zip(places, values, strict=True)
    )
    return (*row[:fixed], *values) if is_row and fits else None
