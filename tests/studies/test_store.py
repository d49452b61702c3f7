"""The store of a study: numbers that stay, results that are recorded once, and names of any kind (VALIDATION 12, 13)."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from kinemorph.errors import ChangedError, StorageError, UnsupportedError
from kinemorph.studies.items import Items, items_of, label_column, number_column
from kinemorph.studies.outcomes import Outcome, State
from kinemorph.studies.store.store import open_store


def some_items(count: int = 4, start: int = 0) -> Items:
    mass = np.arange(start, start + count) * 0.1
    return items_of([number_column("mass", mass, "kg"), label_column("gait", np.arange(count) % 2, ["wave", "tripod"])])


def outcome(numbers, value=0.5, names=("distance",), causes=None, runs=None) -> Outcome:
    numbers = np.asarray(numbers)
    causes = causes or {}
    states = [State.FAILED if number in causes else State.DONE for number in numbers.tolist()]
    measures = np.array([[np.nan if number in causes else value + number] * len(names) for number in numbers.tolist()])
    return Outcome(numbers, names, measures, np.array(states, dtype=np.int8), causes, runs or {}, 0.1)


def test_items_keep_their_numbers_and_results(tmp_path: Path) -> None:
    path = tmp_path / "x.study"
    with open_store(path) as store:
        numbers = store.declare(some_items())
        assert numbers.tolist() == [0, 1, 2, 3]
        store.check_aspects({"model": "m = 1"})
        store.record([outcome([2, 0]), outcome([1], causes={1: "It fell."}, runs={1: b"npz"})])
        store.record([outcome([2], value=7.0)])  # the first result stays
        store.write_facts({"name": "study"})
    with open_store(path) as store:
        more = some_items(2, start=3).taken([1, 0])
        assert store.declare(items_of([*more.columns])).tolist() == [4, 5]
        assert store.declare(some_items().taken([3, 1, 3])).tolist() == [3, 1, 3]
        assert store.without_result(np.array([5, 0, 3, 5])).tolist() == [5, 3]
        assert store.facts["name"] == "study" and store.aspects == {"model": "m = 1"}
        table = store.table()
    assert table.numbers.tolist() == [0, 1, 2, 3, 4, 5] and table.states.tolist() == [1, 2, 1, 0, 0, 0]
    assert table.measure("distance")[[0, 2]].tolist() == [0.5, 2.5] and np.isnan(table.measures[[1, 3]]).all()
    assert list(table.items.taken(slice(4))) == list(some_items()) and table.key(1) == some_items().keys[1]
    assert table.causes == {1: "It fell."} and list(table.runs) == [1] and table.items.column("mass").unit == "kg"
    with open_store(path, "read") as store:
        assert store.run_bytes(table.runs[1]) == b"npz"
