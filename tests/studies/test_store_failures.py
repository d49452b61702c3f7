"""What can happen to a store: full disks, other writers, kills, damage. A sentence, and nothing lost that was good."""

from __future__ import annotations

import os
import random
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest

from kinemorph.errors import StorageError, StorageWarning
from kinemorph.studies.store import journals, pages, swaps
from kinemorph.studies.store.locks import is_held
from kinemorph.studies.store.store import Store, open_store
from kinemorph.studies.store.table import Table
from support.studies.stores import (
    assert_equal,
    assert_part,
    complete,
    filled_store,
    outcome,
    some_items,
)

ROOT = Path(__file__).parents[2]


# ── the disk and other programs ───────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def files_up_to(size: int) -> Iterator[None]:
    """No file of this process can become larger [bytes]."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def check_full_disk(store: Store, numbers: np.ndarray) -> None:
    """The last results could not be recorded: those before are there, and now they can be recorded."""
    assert store.without_result(numbers).tolist() == numbers[100:].tolist()
    with open_store(store.path, "read") as reader:
        assert reader.table().states.sum() == 100
    store.record([outcome(numbers[100:])])
    assert (store.table().states == 1).all() and store.notes == ()


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_a_full_disk_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, journal: str) -> None:
    if journal == "delete":
        monkeypatch.setattr(journals, "MOUNTS", tmp_path / "unknown")
    with open_store(tmp_path / "x.study") as store:
        numbers = store.declare(some_items(3000))
        store.record([outcome(numbers[:100])])
        connection = store._file.writable()
        used = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {used + 2}")
        with pytest.raises(StorageError, match=r"x\.study' cannot be written: the disk is full\. What was recorded"):
            store.record([outcome(numbers[100:])])
        connection.execute("PRAGMA max_page_count = 1000000")
        check_full_disk(store, numbers)


def test_a_write_that_fails_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.study"
    with open_store(path) as store:
        numbers = store.declare(some_items(3000))
        store.record([outcome(numbers[:100])])
        with (
            files_up_to(os.path.getsize(f"{path}-wal") + 9000),
            pytest.raises(StorageError, match=r"cannot be written: the disk (reports an error, or it )?is full"),
        ):
            store.record([outcome(numbers[100:])])
        check_full_disk(store, numbers)
        with files_up_to(100), pytest.raises(StorageError, match=r"cannot be written: files of this size are not"):
            store.attach_runs({0: b"x" * 1000})
        assert store.table().runs == {}
    with files_up_to(2000), pytest.raises(StorageError, match=r"y\.study' cannot be written: the disk"):
        open_store(tmp_path / "y.study")
    assert not (tmp_path / "y.study").exists() and not (tmp_path / "y.study.lock").exists()


@contextmanager
def another_user(folder: Path) -> Iterator[None]:
    """Permissions count, for the superuser too."""
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)


def test_read_only_files_and_folders() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path, crashed = folder / "x.study", folder / "crashed.study"
        with filled_store(path, 50) as store:
            expected = store.table()
            for ending in ("", "-wal"):  # as a writer leaves them that is killed
                shutil.copy(f"{path}{ending}", f"{crashed}{ending}")
        for file in (path, crashed, Path(f"{crashed}-wal")):
            file.chmod(0o444)
        folder.chmod(0o777)
        with another_user(folder), pytest.raises(StorageError, match="the file or its folder is read-only"):
            open_store(path)
        folder.chmod(0o555)
        with another_user(folder):
            for file in (path, folder / "new.study"):
                with pytest.raises(StorageError, match="cannot be written: the folder cannot be written to"):
                    open_store(file)
            for file in (path, crashed):
                with open_store(file, "read") as store:
                    assert_equal(store.table(), expected)
        path.chmod(0o000)
        with another_user(folder), pytest.raises(StorageError, match="it cannot be read: Permission denied"):
            open_store(path, "read")
        folder.chmod(0o755)


HOLDER = """
import fcntl, sys
file = open(sys.argv[1], "w")
fcntl.lockf(file, fcntl.LOCK_EX)
file.write("process 4711 on elsewhere")
file.flush()
print("locked", flush=True)
sys.stdin.read()
"""


def test_there_is_one_writer(tmp_path: Path) -> None:
    path = tmp_path / "x.study"
    with open_store(path) as store:
        store.declare(some_items())
        with pytest.raises(StorageError, match=f"cannot be written: process {os.getpid()} on .* writes to it"):
            open_store(tmp_path / "." / "x.study")
        store.record([outcome([0])])
    command = [sys.executable, "-S", "-E", "-c", HOLDER, f"{path}.lock"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None and other.stdout.readline() == "locked\n"
        with pytest.raises(StorageError, match=r"process 4711 on elsewhere writes to it\. Wait until it has ended"):
            open_store(path)
        with open_store(path, "read") as reader:
            assert reader.table().states.tolist() == [1, 0, 0, 0] and is_held(path)
        other.kill()
        other.wait()
    assert not is_held(path)
    with open_store(path) as store:  # the lock died with its process
        assert is_held(path)
        assert store.without_result(np.arange(4)).tolist() == [1, 2, 3]


def test_a_clock_that_is_set_back_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.study"
    with filled_store(path, 30) as store:
        expected = store.table()
        store.write_facts({"created": "2999-01-01"})
    os.utime(path, (4e9, 4e9))
    with open_store(path) as store:
        assert complete(store, 30) == 0 and store.notes == ()
        assert_equal(store.table(), expected)


def test_an_interrupt_right_behind_a_commit_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_store(tmp_path / "x.study") as store:
        numbers = store.declare(some_items())
        with monkeypatch.context() as patch:
            patch.setattr(type(store._known), "add", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                store.declare(some_items(6))
        assert store.declare(some_items(8)).tolist() == list(range(8))
        store.record([outcome(numbers)])
        assert store.table().states.tolist() == [1, 1, 1, 1, 0, 0, 0, 0]


@pytest.mark.parametrize("times", [5, pytest.param(200, marks=pytest.mark.slow)])
def test_killed_writers_lose_nothing_that_was_reported(tmp_path: Path, times: int) -> None:
    command = [sys.executable, ROOT / "tests" / "support" / "studies" / "killed_writers.py", tmp_path, str(times), "1"]
    paths = os.pathsep.join([str(Path(pages.__file__).parents[3]), str(ROOT / "tests")])
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert times < 100 or done.stdout.count("ing'") == 3, done.stdout


# ── damage ────────────────────────────────────────────────────────────────────────────────────────────────────────────


class Sound:
    """A store as it is after it was closed, or as a writer leaves it that is killed; and what it has."""

    def __init__(self, folder: Path, is_closed: bool, count: int) -> None:
        self.count = count
        path = folder / "sound.study"
        with filled_store(path, count) as store:
            self.table: Table = store.table()
            if not is_closed:
                self.files = {ending: Path(f"{path}{ending}").read_bytes() for ending in ("", "-wal")}
        if is_closed:
            self.files = {"": path.read_bytes()}

    def check(self, folder: Path, ending: str, data: bytes) -> tuple[int, bool]:
        """Opens, reads and continues a store with another file; how many results are lost, and whether it was said."""
        path = folder / "x.study"
        for name, content in {**self.files, ending: data}.items():
            Path(f"{path}{name}").write_bytes(content)
        with open_store(path, "read") as reader:
            read = reader.table()
        with open_store(path) as store:
            found = assert_part(store.table(), self.table)
            assert_equal(read, store.table())
            assert complete(store, self.count) == len(self.table) - found
            assert_equal(store.table(), self.table)
            is_said = bool(store.notes)
        assert is_said == (folder / "x.study.damaged").exists()
        if is_said:
            assert (folder / "x.study.damaged").read_bytes() == {**self.files, ending: data}[""]
        with open_store(path, "read") as reader:
            assert_equal(reader.table(), self.table)
            assert reader.notes == ()
        shutil.rmtree(folder)
        return len(self.table) - found, is_said


def flipped(data: bytes, place: int, bit: int) -> bytes:
    damaged = bytearray(data)
    damaged[place] ^= 1 << bit
    return bytes(damaged)


MANY = pytest.mark.slow


@pytest.mark.filterwarnings("ignore::kinemorph.errors.StorageWarning")
@pytest.mark.parametrize(
    ("ending", "count", "times"),
    [("", 60, 7), ("-wal", 60, 3), pytest.param("", 700, 400, marks=MANY), pytest.param("-wal", 300, 300, marks=MANY)],
)
def test_a_flipped_bit_costs_no_more_than_its_row(tmp_path: Path, ending: str, count: int, times: int) -> None:
    random.seed(count)
    sound = Sound(tmp_path, not ending, count)
    data = sound.files[ending]
    # every byte of the header of SQLite's file, and places anywhere
    places = [*range(0, 100, 1 if times > 100 else 18), *(random.randrange(len(data)) for _ in range(times))]
    losses = []
    for place in places:
        (tmp_path / "one").mkdir()
        lost, is_said = sound.check(tmp_path / "one", ending, flipped(data, place, random.randrange(8)))
        assert is_said or not lost
        losses.append(lost)
    assert max(losses) <= 1, losses


@pytest.mark.filterwarnings("ignore::kinemorph.errors.StorageWarning")
@pytest.mark.parametrize(
    ("ending", "times"), [("", 3), ("-wal", 2), *(pytest.param(end, 200, marks=MANY) for end in ("", "-wal"))]
)
def test_a_store_that_is_cut_short_keeps_what_is_left(tmp_path: Path, ending: str, times: int) -> None:
    random.seed(times)
    sound = Sound(tmp_path, not ending, 60)
    data = sound.files[ending]
    for place in [1, 50, len(data) - 1, *(random.randrange(1, len(data)) for _ in range(times))]:
        (tmp_path / "one").mkdir()
        try:
            lost, _ = sound.check(tmp_path / "one", ending, data[:place])
        except StorageError as error:  # so little is left that it could be anything
            assert "it is not a store of a study" in str(error) and place < 100 and not ending
            shutil.rmtree(tmp_path / "one")
        else:
            assert lost or place > len(data) / 2 or ending


def test_what_is_saved_is_said(tmp_path: Path) -> None:
    sound = Sound(tmp_path, True, 40)
    path = tmp_path / "y.study"
    data = sound.files[""]
    place = data.index(np.float64(7.5).byteswap().tobytes())  # a measure of item 7
    path.write_bytes(flipped(data, place + 7, 0))
    sentence = r"y\.study' is damaged: 39 results and 40 items were saved, and what is missing has to be computed again"
    with pytest.warns(StorageWarning, match=sentence), open_store(path, "read") as store:
        assert len(store.notes) == 1
    with pytest.warns(StorageWarning, match=sentence + r"\. The file as it was is kept as '.*y\.study\.damaged'"):
        store = open_store(path)
    assert store.without_result(np.arange(40)).tolist() == [7]
    store.close()


def test_damage_while_a_store_is_open(tmp_path: Path) -> None:
    """A page of the file changes under a writer and a reader, which notice it when they read."""
    path = tmp_path / "x.study"
    filled_store(path, 40).close()
    data = path.read_bytes()
    place = data.index(np.float64(7.5).byteswap().tobytes())
    store, reader = open_store(path), open_store(path, "read")
    for one in (store, reader):
        one._file.connection.execute("PRAGMA cache_size = 0")
        one._file.connection.execute("PRAGMA shrink_memory")
    with open(path, "r+b") as file:
        file.seek(place + 7)
        file.write(b"\xff")
    reader._file._read = None
    with pytest.raises(StorageError, match=r"rows that were recorded are damaged\. Open it again"):
        store.table()
    with pytest.warns(StorageWarning, match="39 results and 40 items were saved"):
        assert reader.table().states[7] == 0
    reader.close()
    store.close()
    with pytest.warns(StorageWarning, match="39 results and 40 items were saved"):
        store = open_store(path)
    del store  # one that was forgotten is closed
    open_store(path).close()


def test_a_swap_that_is_interrupted_at_any_step_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sound = Sound(tmp_path, False, 40)
    damaged = flipped(sound.files["-wal"], len(sound.files["-wal"]) // 2, 3)
    real = {name: getattr(os, name) for name in ("link", "replace", "unlink")}
    for step in range(1, 12):
        folder = tmp_path / str(step)
        folder.mkdir()
        path, calls = folder / "x.study", 0
        path.write_bytes(sound.files[""])
        Path(f"{path}-wal").write_bytes(damaged)

        def stopping(name: str, *given: object, step: int = step) -> None:
            nonlocal calls
            calls += 1
            if calls == step:
                raise KeyboardInterrupt  # as if the process ended here
            real[name](*given)

        with monkeypatch.context() as patch, pytest.warns(StorageWarning):
            for name in real:
                patch.setattr(swaps.os, name, lambda *given, name=name: stopping(name, *given))
            with suppress(KeyboardInterrupt):
                open_store(path).close()
            patch.undo()
            with open_store(path, "read") as store:
                first = assert_part(store.table(), sound.table)
            with open_store(path) as store:
                assert assert_part(store.table(), sound.table) == first >= 39
                complete(store, 40)
                assert_equal(store.table(), sound.table)
    assert calls < step  # the last round was not interrupted


# ── other files ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("mode", ["read", "write"])
def test_files_that_are_no_stores_get_a_sentence(tmp_path: Path, mode: str) -> None:
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "text").write_text("mass = 1\n" * 3000)
    (tmp_path / "bytes").write_bytes(random.Random(1).randbytes(20_000))
    (tmp_path / "folder").mkdir()
    (tmp_path / "cut").write_bytes(b"SQLite format 3\0")
    with sqlite3.connect(tmp_path / "other") as connection:
        connection.execute("CREATE TABLE study(name, value)")
        connection.execute("INSERT INTO study VALUES ('a', 'b')")
    sentences = {
        "empty": "it is empty, not a store of a study. Delete it",
        "text": "it is not a store of a study. Choose another file.",
        "bytes": "it is not a store of a study",
        "cut": "it is not a store of a study",
        "other": "it is not a store of a study",
        "folder": "it is a folder, not a store of a study. Name a file in it.",
        "a\0b": "null",
        "text/x": "" if mode == "read" else "a file has the name of its folder",
        **({"none": "there is no such file"} if mode == "read" else {}),
    }
    before = {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    for name, sentence in sentences.items():
        with pytest.raises(StorageError) as caught:
            open_store(tmp_path / name, mode)  # type: ignore[arg-type]
        assert sentence in str(caught.value) and "\n" not in str(caught.value), name
    assert {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before


@pytest.mark.parametrize(
    ("version", "sentence"), [(0, r"layout has version 0, .* knows version 1\. Open it"), (7, r"version 7, .* Update")]
)
def test_stores_of_other_versions_are_refused_and_left_alone(tmp_path: Path, version: int, sentence: str) -> None:
    path = tmp_path / "x.study"
    open_store(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
        connection.execute("UPDATE study SET value = ? WHERE name = 'schema'", (str(version),))
    connection.close()
    before = path.read_bytes()
    for mode in ("read", "write"):
        with pytest.raises(StorageError, match=sentence):
            open_store(path, mode)  # type: ignore[arg-type]
    assert path.read_bytes() == before


def test_kept_runs_that_are_missing_or_damaged_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "x.study"
    with open_store(path) as store:
        numbers = store.declare(some_items())
        store.record([outcome(numbers, runs={0: b"zero", 1: b"one", 2: b"zero"})])
        runs = store.table().runs
        assert runs[0] == runs[2] and len(os.listdir(f"{path}.runs")) == 2
        Path(f"{path}.runs", runs[0]).write_bytes(b"zerO")
        Path(f"{path}.runs", runs[1]).unlink()
        with pytest.raises(StorageError, match=rf"{runs[0]}': this kept run is damaged\. Delete the file"):
            store.run_bytes(runs[0])
        with pytest.raises(StorageError, match="this kept run is missing"):
            store.run_bytes(runs[1])
        store.attach_runs({0: b"zero"})
        assert store.run_bytes(runs[0]) == b"zero"
