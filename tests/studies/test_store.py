"""The store of a study: numbers that stay, results that are recorded once, names of any kind (VALIDATION 12, 13)."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from kinemorph.errors import ChangedError, StorageError, UnsupportedError
from kinemorph.studies.items import Items, items_of, label_column, number_column
from kinemorph.studies.store import journals
from kinemorph.studies.store.layout import folded
from kinemorph.studies.store.store import open_store
from support.studies.stores import assert_equal, outcome, some_items


@pytest.mark.parametrize("place", ["file", "memory"])
def test_items_keep_their_numbers_and_the_first_result(tmp_path: Path, place: str) -> None:
    path = tmp_path / "new folder" / "x.study" if place == "file" else None
    store = open_store(path)
    assert store.declare(some_items()).tolist() == [0, 1, 2, 3]
    store.check_aspects({"model": "m = 1"})
    store.record([outcome([2, 0]), outcome([1, 2], 9.0, causes={1: "It fell."}, runs={1: b"npz"})])
    store.record([outcome([2], value=7.0)])
    store.record([])
    store.write_facts({"name": "study"})
    if path is not None:
        store.close()
        assert sorted(entry.name for entry in path.parent.iterdir()) == ["x.study", "x.study.runs"]
        store = open_store(path)
    assert store.declare(some_items(3, start=3).taken([2, 1, 0, 2])).tolist() == [4, 5, 3, 4]
    assert store.declare(some_items().taken([3, 1, 3])).tolist() == [3, 1, 3]
    assert store.without_result(np.array([5, 0, 3, 5])).tolist() == [5, 3]
    assert store.facts["name"] == "study" and store.aspects == {"model": "m = 1"} and store.notes == ()
    table = store.table()
    assert table.numbers.tolist() == [0, 1, 2, 3, 4, 5] and table.states.tolist() == [1, 2, 1, 0, 0, 0]
    assert table.measure("distance")[[0, 2]].tolist() == [0.5, 2.5] and np.isnan(table.measures[[1, 3]]).all()
    assert list(table.items) == [*some_items(), some_items(6)[5], some_items(6)[4]]
    assert table.key(1) == some_items().keys[1] and table.items.column("mass").unit == "kg"
    assert table.causes == {1: "It fell."} and list(table.runs) == [1]
    assert store.run_bytes(table.runs[1]) == b"npz"
    store.attach_runs({0: b"other"})
    assert store.run_bytes(store.table().runs[0]) == b"other" and store.table().measures[0] == 0.5
    store.close()
    with pytest.raises(StorageError, match="is closed"):
        store.record([outcome([3])])


def test_a_result_needs_an_item(tmp_path: Path) -> None:
    with open_store() as store:
        store.declare(some_items(2))
        with pytest.raises(UnsupportedError, match="item 2 was not declared"):
            store.record([outcome([1, 2])])
        assert store.without_result(np.array([0, 1])).tolist() == [0, 1]
        with pytest.raises(UnsupportedError, match="item 0 has no result yet"):
            store.attach_runs({0: b""})


def test_parts_and_measures_are_added_later(tmp_path: Path) -> None:
    with open_store(tmp_path / "x.study") as store:
        store.declare(items_of([number_column("a", [1.0, 2.0])]))
        store.record([outcome([0], names=("f",))])
        more = items_of([number_column("a", [1.0, 1.0]), label_column("b", [0, -1], ["x"])])
        assert store.declare(more).tolist() == [2, 0]
        store.record([outcome([2], names=("g", "f"))])
        with pytest.raises(UnsupportedError, match="part 'b': it has numbers, but the store of the study has labels"):
            store.declare(items_of([number_column("b", [1.0])]))
        table = store.table()
    with open_store(tmp_path / "x.study", "read") as store:
        assert_equal(store.table(), table)
    assert list(table.items) == [{"a": 1.0}, {"a": 2.0}, {"a": 1.0, "b": "x"}] and table.names == ("f", "g")
    assert table.measures[[0, 2]].tolist()[1] == [3.5, 2.5] and np.isnan(table.measures[0, 1])


NAMES = ("a", "A", "ä", "Ä", "number", "key", "NUMBER", "a b", 'quo"te', "nul\0", "", "select", "rowid", "a (2)", ";--")


def test_names_may_have_any_characters(tmp_path: Path) -> None:
    items = items_of([number_column(name, [k, k + 0.5]) for k, name in enumerate(NAMES)])
    labels = items_of([label_column("gait", [0, 1, 2], ["'; DROP TABLE items; --", "nul\0", "ß"])])
    path = tmp_path / "odd name?#%20.study"
    with open_store(path) as store:
        numbers = store.declare(items)
        store.declare(labels)
        store.record([outcome(numbers, names=NAMES)])
        table = store.table()
    with open_store(path, "read") as store:
        assert_equal(store.table(), table)
    assert list(table.items) == [*items, *labels] and table.names == tuple(sorted(NAMES))
    assert [table.measure(name)[0] for name in NAMES] == [0.5 + k for k in range(len(NAMES))]
    with sqlite3.connect(path) as connection:
        shown = connection.execute('SELECT * FROM "table"')
        assert len({folded(column[0]) for column in shown.description}) == 5 + 2 * len(NAMES) + 1
        assert shown.fetchone()[2] == "done"


def test_hundreds_of_parts_are_kept_and_thousands_refused() -> None:
    def wide(count: int) -> Items:
        return items_of([number_column(f"part{k}", [k, 0.1]) for k in range(count)])

    with open_store() as store:
        store.declare(wide(900))
        with pytest.raises(UnsupportedError, match="it has 3000 parts, but a store has at most 1900"):
            store.declare(wide(3000))
        store.record([outcome([0, 1], names=[f"f{k}" for k in range(1200)])])
        table = store.table()
    assert list(table.items) == list(wide(900)) and table.measures.shape == (2, 1200)


def test_numbers_come_back_as_they_were(tmp_path: Path) -> None:
    values = np.array([0.1, -0.0, 3.0, 1e300, 5e-324, np.inf, -(2.0**60), 1 / 3])
    with open_store(tmp_path / "x.study") as store:
        numbers = store.declare(items_of([number_column("x", values)]))
        store.record([outcome(numbers)._replace(measures=values[:, None])])
        table = store.table()
    assert table.items.column("x").numbers.tobytes() == (values + 0.0).tobytes() == table.measures.tobytes()


def test_what_changed_is_named_and_recomputed_on_request(tmp_path: Path) -> None:
    path = tmp_path / "x.study"
    with open_store(path) as store:
        numbers = store.declare(some_items())
        store.check_aspects({"model": "a\nm = 1\nb", "step": "0.1"})
        store.check_aspects({"model": "a\nm = 1\nb", "step": "0.2"})  # there are no results yet
        store.record([outcome(numbers[:2])])
        store.check_aspects({"step": "0.2", "model": "a\nm = 1\nb"})
        aspects = {"model": "a\nm = 2\nb", "version": "2"}
        with pytest.raises(ChangedError, match=r"model: 'm = 1' -> 'm = 2'; step is no longer there; version is new\."):
            store.check_aspects(aspects)
        assert store.without_result(numbers).tolist() == [2, 3]
        store.check_aspects(aspects, changed="recompute")
        assert store.without_result(numbers).tolist() == [0, 1, 2, 3] and store.aspects == aspects
        store.record([outcome(numbers, value=3.0)])
    with open_store(tmp_path / "x.study.before", "read") as old, open_store(path, "read") as new:
        assert old.table().states.tolist() == [1, 1, 0, 0] and old.aspects["step"] == "0.2"
        assert new.table().measures[:, 0].tolist() == [3.0, 4.0, 5.0, 6.0] and new.aspects == aspects


def test_readers_see_what_is_recorded_and_cannot_write(tmp_path: Path) -> None:
    path = tmp_path / "x.study"
    with open_store(path) as writer:
        writer.declare(some_items())
        with open_store(path, "read") as reader:
            assert reader.table().states.tolist() == [0, 0, 0, 0]
            writer.record([outcome([1])])
            assert reader.table().states.tolist() == [0, 1, 0, 0] and reader.notes == ()
            with pytest.raises(StorageError, match=r"was opened for reading\. Open it with mode='write'"):
                reader.record([outcome([2])])


def test_anyone_can_read_the_file_with_sqlite(tmp_path: Path) -> None:
    path = tmp_path / "x.study"
    with open_store(path) as store:
        store.check_aspects({"model": "m = 1"})
        store.declare(some_items(2))
        store.record([outcome([1], causes={1: "It fell."})])
    with sqlite3.connect(path) as connection:
        rows = connection.execute('SELECT number, "mass (2)", gait, state, cause, distance FROM "table"').fetchall()
        assert rows == [(0, 0.0, None, "waiting", None, None), (1, 0.1, "wave", "failed", "It fell.", None)]
        assert connection.execute("SELECT name, text FROM aspects").fetchall() == [("model", "m = 1")]
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)  # one plain file is left


def test_network_folders_have_a_rollback_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = tmp_path / "mounts"
    place = str(tmp_path / "big disk").replace(" ", "\\040")
    mounts.write_text(f"/dev/sda / ext4 rw 0 0\nserver:/x {place} nfs4 rw 0 0\nx /proc proc rw 0 0\n")
    assert journals.kind_of(tmp_path / "big disk" / "a", mounts) == "nfs4"
    assert journals.kind_of(tmp_path, mounts) == "ext4" and journals.kind_of(tmp_path, tmp_path / "none") == ""
    monkeypatch.setattr(journals, "MOUNTS", mounts)
    with open_store(tmp_path / "big disk" / "x.study") as store, open_store(tmp_path / "x.study") as local:
        for one, kind in ((store, "delete"), (local, "wal")):
            connection = one._file.writable()
            assert connection.execute("PRAGMA journal_mode").fetchone() == (kind,)
            assert connection.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
        store.declare(some_items())
        store.record([outcome([0])])
        with open_store(store.path, "read") as reader:
            assert reader.table().states.tolist() == [1, 0, 0, 0]
