"""Small stores of studies for tests: items of several kinds, and outcomes that depend on their numbers alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.studies.items import Items, items_of, label_column, number_column
from kinemorph.studies.outcomes import Outcome, State
from kinemorph.studies.store.store import Store, open_store
from kinemorph.studies.store.table import Table

ASPECTS = {"model": "mass = 1\n" + "body\n" * 1200, "measure distance": "q.x"}  # too long for one page


def some_items(count: int = 4, start: int = 0) -> Items:
    """Items with a number, a label, and a part that does not apply to all of them."""
    index = np.arange(start, start + count)
    return items_of(
        [
            number_column("mass", index * 0.1, "kg"),
            number_column("Mass", np.where(index % 3, index, np.nan)),
            label_column("gait", index % 4 - 1, ["wave", "tripod", "x" * 200]),
        ]
    )


def outcome(
    numbers: Any,
    value: float = 0.5,
    names: Sequence[str] = ("distance",),
    causes: Mapping[int, str] | None = None,
    runs: Mapping[int, bytes] | None = None,
) -> Outcome:
    """Results `value` + number; items with a cause have failed."""
    numbers = np.asarray(numbers, dtype=np.int64)
    has_failed = np.isin(numbers, list(causes or {}))
    measures = np.where(has_failed[:, None], np.nan, value + numbers[:, None] + np.arange(len(names)))
    states = np.where(has_failed, int(State.FAILED), int(State.DONE)).astype(np.int8)
    return Outcome(numbers, tuple(names), measures, states, causes or {}, runs or {}, 0.1)


def natural_outcome(numbers: Any) -> Outcome:
    """The results of items by their numbers: one in 13 fails, some of them with a long cause."""
    causes = {int(number): "It fell. " * (1 + 700 * int(number % 2)) for number in numbers if number % 13 == 5}
    return outcome(numbers, names=("distance", "work"), causes=causes)


def filled_store(path: Path | None, count: int, at_a_time: int = 40) -> Store:
    """An open store with results of all items, recorded in several transactions."""
    store = open_store(path)
    store.check_aspects(ASPECTS)
    complete(store, count, at_a_time)
    return store


def complete(store: Store, count: int, at_a_time: int = 40) -> int:
    """Computes what is missing, as a study that is continued does; returns how many items that were."""
    numbers = store.declare(some_items(count))
    store.check_aspects(ASPECTS)
    waiting = store.without_result(numbers)
    for start in range(0, len(waiting), at_a_time):
        store.record([natural_outcome(waiting[start : start + at_a_time])])
    return len(waiting)


def assert_equal(table: Table, expected: Table) -> None:
    """Both tables are the same, to the last bit."""
    assert table.numbers.tolist() == expected.numbers.tolist()
    assert table.keys.tobytes() == expected.keys.tobytes() and list(table.items) == list(expected.items)
    assert table.names == expected.names and table.measures.tobytes() == expected.measures.tobytes()
    assert table.states.tolist() == expected.states.tolist()
    assert table.causes == expected.causes and table.runs == expected.runs


def assert_part(table: Table, expected: Table) -> int:
    """All that a table has is in the other one, too, to the last bit; returns how many results it has."""
    rows = expected.rows(table.numbers)
    assert (expected.numbers[rows] == table.numbers).all() and (expected.keys[rows] == table.keys).all()
    assert list(table.items) == list(expected.items.taken(rows))
    has_result = table.states != 0
    assert (table.states == expected.states[rows])[has_result].all()
    if has_result.any():
        assert table.names == expected.names
        assert np.array_equal(table.measures[has_result], expected.measures[rows][has_result], equal_nan=True)
    found = table.numbers[has_result].tolist()
    assert table.causes == {number: expected.causes[number] for number in found if number in expected.causes}
    return len(found)
