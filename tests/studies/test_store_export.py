"""Studies as tables for other programs: the same bytes for the same study, and numbers that are read back exactly."""

from __future__ import annotations

import csv
import io
import resource
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from kinemorph.errors import MissingExtraError, UnsupportedError
from kinemorph.studies.items import items_of, label_column, number_column
from kinemorph.studies.store.export import fields, to_dataframe, write_export
from kinemorph.studies.store.store import open_store
from kinemorph.studies.store.table import Table
from support.studies.stores import outcome, some_items


def a_table(order: list[int]) -> Table:
    with open_store() as store:
        items = items_of(
            [
                number_column("mass", [0.1, 1e300, 1 / 3, np.nan], "kg"),
                number_column("state", [1.0, 2.0, 3.0, 4.0]),
                label_column("gait", [0, 1, -1, 2], ['say "a, b"', "two\nlines", "wave é"]),
            ]
        )
        store.declare(items)
        for number in order:
            store.record([outcome([number], 0.1, ("mass", "work"), causes={2: "It fell."}, runs={0: b"run"})])
        return store.table()


def test_texts_that_spreadsheets_would_compute_are_guarded(tmp_path: Path) -> None:
    """Finding R11: names and labels with an apostrophe in front; numbers stay numbers."""
    with open_store() as store:
        store.declare(items_of([label_column("@gait", [0], ["=1+1"]), number_column("x", [-1.5])]))
        path = write_export(store.table(), tmp_path / "x.csv")
    header, row = csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline=""))
    assert header[2:4] == ["'@gait", "x"] and row[2:4] == ["'=1+1", "-1.5"]


def test_csv_has_the_same_bytes_in_any_order(tmp_path: Path) -> None:
    one, other = (write_export(a_table(order), tmp_path / "x.csv").read_bytes() for order in ([0, 1, 2], [2, 1, 0]))
    assert one == other
    table = a_table([0, 1, 2])
    header, *rows = csv.reader(io.StringIO(one.decode(), newline=""))
    parts = ["gait", "mass", "state (part)"]
    assert header == ["number", "key", *parts, "mass (measure)", "work", "state", "cause", "run"]
    assert rows[0] == ["0", table.key(0).hex(), 'say "a, b"', "0.1", "1.0", "0.1", "1.1", "done", "", table.runs[0]]
    assert rows[2][2:] == ["", repr(1 / 3), "3.0", "", "", "failed", "It fell.", ""] and rows[3][7] == "waiting"
    assert [float(row[3]) for row in rows[:3]] == [0.1, 1e300, 1 / 3] and rows[1][2] == "two\nlines"
    assert one.count(b"\r\n") == 5 and one.endswith(b"\r\n")  # RFC 4180


def test_a_dataframe_has_all_columns_with_units() -> None:
    frame = to_dataframe(a_table([0, 1, 2]))
    assert list(frame.columns) == [field.name for field in fields(a_table([0]))]
    assert frame["mass"].tolist()[:2] == [0.1, 1e300] and frame["gait"].isna().tolist() == [False, False, True, False]
    assert frame["state"].tolist() == ["done", "done", "failed", "waiting"] and frame.attrs["units"]["mass"] == "kg"
    assert frame["cause"][2] == "It fell." and frame["number"].dtype == np.int64


def test_parquet_needs_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"'pyarrow' is not installed. Run: pip install 'kinemorph\[parquet\]'"):
        write_export(a_table([0]), tmp_path / "x.parquet")
    with pytest.raises(UnsupportedError, match=r"a study is written as \.csv or \.parquet, not '\.xls'"):
        write_export(a_table([0]), tmp_path / "x.xls")


def test_parquet_has_all_columns_with_units(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = a_table([0, 1, 2])
    path = write_export(table, tmp_path / "x.parquet")
    read = parquet.read_table(path)
    assert read.column_names == [field.name for field in fields(table)]
    assert (
        read["mass"].to_pylist() == [0.1, 1e300, 1 / 3, None] and read.schema.field("mass").metadata[b"unit"] == b"kg"
    )
    assert read["gait"].to_pylist() == ['say "a, b"', "two\nlines", None, "wave é"]
    assert read["mass (measure)"].to_pylist() == [0.1, 1.1, None, None]
    assert read["state"].to_pylist() == ["done", "done", "failed", "waiting"]
    assert read["key"].to_pylist() == [table.key(k).hex() for k in range(4)]
    assert path.read_bytes() == write_export(a_table([2, 0, 1]), tmp_path / "y.parquet").read_bytes()


@pytest.mark.slow
def test_a_million_items_take_little_time_and_memory(tmp_path: Path) -> None:
    """Declared, recorded and read in less than 15 µs of CPU time an item, and with less than 1 GB."""
    count = 1_000_000
    items = some_items(count)
    memory, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    with open_store(tmp_path / "x.study") as store:
        numbers = store.declare(items)
        for first in range(0, count, 20_000):
            store.record([outcome(numbers[first : first + 20_000], names=("distance", "work"))])
        assert len(store.table()) == count
    seconds = (time.process_time() - start) / count
    growth = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory) * 1024
    assert seconds < 15e-6 and growth < 6e8, (seconds, growth)
