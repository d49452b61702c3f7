"""The file of a store: made, opened, checked and read.

Stores whose layout has another version are refused: they are neither read nor repaired.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import tempfile
import warnings
from pathlib import Path
from typing import Literal

from kinemorph.errors import StorageError, StorageWarning, users_level
from kinemorph.studies.store.contents import Contents, empty_contents, read_contents, without_results, write_contents
from kinemorph.studies.store.failures import is_trouble, name_of, problem, store_error
from kinemorph.studies.store.journals import journal_of
from kinemorph.studies.store.known_items import KnownItems
from kinemorph.studies.store.layout import VERSION, passes
from kinemorph.studies.store.locks import WriterLock, is_held
from kinemorph.studies.store.pages import (
    Files,
    is_our_header,
    is_sound_header,
    is_sound_log,
    read_files,
    sides,
    version_of,
)
from kinemorph.studies.store.rows import DamagedError
from kinemorph.studies.store.salvage import salvaged
from kinemorph.studies.store.swaps import finish_swap, pending_file, swapped, write_file
from kinemorph.words import counted

Mode = Literal["write", "read"]
PATIENCE = 60.0  # [s] that a process waits while another one uses the file
CACHE = 64_000  # [KiB] of pages in memory
CHECKPOINT = 4_000  # pages of the write-ahead log, after which they go to the file


class StoreFile:
    """An open store: its connection, and the lock of its writer. `path` is None in memory.

    `saved` are the contents that were saved from a damaged file that was opened for reading; it has no connection.
    """

    def __init__(self, path: Path | None, mode: Mode) -> None:
        self.path, self.mode, self.process = path, mode, os.getpid()
        self.notes: list[str] = []
        self.lock: WriterLock | None = None
        self.connection: sqlite3.Connection | None = None
        self.saved: Contents | None = None
        self._read: tuple[int, Contents] | None = None  # what a reader has read, and SQLite's version of these data
        self._copy: tempfile.TemporaryDirectory[str] | None = None

    # ── opening ───────────────────────────────────────────────────────────────────────────────────────────────────

    def open(self) -> Contents:
        """Opens the file, makes it where there is none, repairs it where that is necessary, and reads all of it."""
        if self.path is None:
            self.connection = connected(":memory:")
            write_contents(self.connection, empty_contents())
            return read_contents(self.connection)
        if self.mode == "write":
            self._lock_and_make()
        elif not self.path.exists():
            raise problem(self.path, "there is no such file", "Check the path.")
        self._check_path()
        _refuse_other_versions(self._source())
        journals = read_files(self._source(), main=False)
        try:
            return self._opened(journals)
        except (DamagedError, sqlite3.Error) as error:
            if isinstance(error, sqlite3.Error) and is_trouble(error):
                raise store_error(self.path, error, "opened") from None
        return self._salvaged(journals)

    def _lock_and_make(self) -> None:
        """Locks the store, and makes an empty one where there is none."""
        assert self.path is not None
        with contextlib.suppress(OSError):  # the lock says why the folder cannot be used
            self.path.parent.mkdir(parents=True, exist_ok=True)
        self.lock = WriterLock(self.path)
        kept = finish_swap(self.path)
        if kept is not None:
            self._note(f"'{self.path}' was being repaired when that was interrupted. The old file is kept as '{kept}'.")
        if not self.path.exists():
            write_file(self.path, empty_contents())

    def _source(self) -> Path:
        """The file to read: the new one where a swap has been interrupted."""
        assert self.path is not None
        return pending_file(self.path) or self.path

    def _check_path(self) -> None:
        """Raises StorageError where the path is not that of a file, or where the file is empty."""
        assert self.path is not None
        if not self.path.is_file():
            raise problem(self.path, "it is a folder, not a store of a study", "Name a file in it.")
        try:
            with open(self.path, "rb") as file:
                is_empty = not file.read(1)
        except OSError as error:
            raise problem(self.path, f"it cannot be read: {error.strerror}", "Check its permissions.") from None
        if is_empty and not any(map(os.path.exists, sides(self.path))):
            raise problem(self.path, "it is empty, not a store of a study", "Delete it, or choose another name.")

    def _opened(self, journals: Files) -> Contents:
        """Connects to a file that is sound, and reads it. Raises DamagedError or an error of SQLite where it is not.

        Nothing is written before everything has been checked, so that a damaged file is kept as it was found.
        """
        source = self._source()
        with open(source, "rb") as file:
            header = file.read(100)
        is_changing = self.mode == "read" and is_held(source)  # the end of its log may be half written
        if not is_sound_header(header) or not (is_changing or is_sound_log(journals.log)):
            raise DamagedError
        try:
            contents = self._checked(reading_address(source))
        except sqlite3.Error as error:
            if name_of(error) not in ("SQLITE_READONLY", "SQLITE_CANTOPEN"):
                raise
            self._disconnect()
            contents = self._checked(self._repairing_address(source))
        if self.mode == "write":
            self._disconnect()
            self.connection = connected(writing_address(source))
            self.connection.execute(f"PRAGMA journal_mode = {journal_of(source.parent)}")
        return contents

    def _checked(self, address: str) -> Contents:
        """Connects to a file, and reads it with all checks."""
        self.connection = connected(address)
        if self.connection.execute("PRAGMA integrity_check(1)").fetchall() != [("ok",)]:
            raise DamagedError
        return read_contents(self.connection) if self.mode == "write" else self._read_once(self.connection)

    def _read_once(self, connection: sqlite3.Connection) -> Contents:
        """Everything in the file; it is read again only after another process has written to it."""
        version = connection.execute("PRAGMA data_version").fetchone()[0]
        if self._read is None or self._read[0] != version:
            self._read = (version, read_contents(connection))
        return self._read[1]

    def _repairing_address(self, source: Path) -> str:
        """An address under which SQLite may undo what a killed writer has begun: a reader does that in a copy."""
        if self.mode == "write":
            return writing_address(source)
        self._copy = tempfile.TemporaryDirectory()
        for name in (os.fspath(source), *sides(source)):
            if os.path.exists(name):
                shutil.copyfile(name, Path(self._copy.name, os.path.basename(name)))
        return writing_address(Path(self._copy.name, source.name))

    # ── repairs ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _salvaged(self, journals: Files) -> Contents:
        """Saves what is good in a damaged file."""
        assert self.path is not None
        self._disconnect()
        contents = salvaged(journals._replace(main=self._source().read_bytes()))
        if contents is None:
            raise problem(self.path, "it is not a store of a study", "Choose another file.")
        table = contents.table
        done, count = int((table.states != 0).sum()), len(table)
        return self._replaced(
            contents,
            "damaged",
            f"is damaged: {counted(done, 'result')} and {counted(count, 'item')} were saved, and what is missing has "
            "to be computed again",
        )

    def _replaced(self, contents: Contents, kind: str, what: str) -> Contents:
        """Writes contents to a new file in place of the old one, which is kept; a reader has them in memory."""
        assert self.path is not None
        if self.mode == "read":
            self.saved = contents
            self._note(f"'{self.path}' {what}.")
            return contents
        kept = swapped(self.path, contents, kind)
        self._note(f"'{self.path}' {what}. The file as it was is kept as '{kept}'.")
        return self._opened(Files(b"", b"", b""))

    def _note(self, sentence: str) -> None:
        self.notes.append(sentence)
        warnings.warn(sentence, StorageWarning, stacklevel=users_level())

    def forget_results(self) -> Contents:
        """Leaves the items without results; the file as it was is kept beside it."""
        self.writable()
        contents = without_results(self.contents(None))
        self._disconnect()
        if self.path is None:
            self.connection = connected(":memory:")
            write_contents(self.connection, contents)
            return read_contents(self.connection)
        swapped(self.path, contents, "before")
        return self._opened(Files(b"", b"", b""))

    # ── an open store ─────────────────────────────────────────────────────────────────────────────────────────────

    def writable(self) -> sqlite3.Connection:
        """The connection for writing. Raises StorageError where the store was opened for reading, or is closed."""
        if self.mode == "read":
            raise StorageError(f"'{self.path}' was opened for reading. Open it with mode='write'.")
        if self.connection is None:
            raise StorageError(f"'{self.path or 'store'}' is closed. Open it again.")
        if self.process != os.getpid():
            where = self.path or "store"
            raise StorageError(f"'{where}' was opened by another process, of which this is a copy. Open it again.")
        return self.connection

    def contents(self, known: KnownItems | None) -> Contents:
        """Everything that the file has. `known` are the items whose values were compared with their keys before."""
        if self.saved is not None:
            return self.saved
        if self.connection is None:
            raise StorageError(f"'{self.path or 'store'}' is closed. Open it again.")
        try:
            if self.mode == "write":
                return read_contents(self.connection, known)
            return self._read_once(self.connection)
        except (DamagedError, sqlite3.Error) as error:
            if isinstance(error, sqlite3.Error) and is_trouble(error):
                raise store_error(self.path, error, "read") from None
        if self.mode == "read":
            return self._salvaged(read_files(self._source(), main=False))
        where, remedy = self.path or Path("store"), "Open it again: what is good in it will be saved."
        raise problem(where, "rows that were recorded are damaged", remedy)

    def close(self) -> None:
        """Closes the file, and lets others write to it. One plain file is left, unless a reader has it open."""
        if self.process != os.getpid():
            return  # a forked process has a copy of this object, and no lock
        if self.connection is not None and self.lock is not None:
            with contextlib.suppress(sqlite3.Error):
                self.connection.execute("PRAGMA busy_timeout = 0")
                self.connection.execute("PRAGMA journal_mode = DELETE")
        self._disconnect()
        if self.lock is not None:
            self.lock.release()
            self.lock = None

    def _disconnect(self) -> None:
        if self.connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self.connection.close()
            self.connection, self._read = None, None
        if self._copy is not None:
            self._copy.cleanup()
            self._copy = None


def opened_file(path: Path | None, mode: Mode) -> tuple[StoreFile, Contents]:
    """Opens the file of a store, and reads all of it. Nothing stays open or locked where that fails."""
    try:
        file = StoreFile(None if path is None else Path(os.path.realpath(path)), mode)
    except ValueError as error:  # the name has a zero byte
        raise problem(Path(repr(path)), str(error), "Choose another name.") from None
    try:
        return file, file.open()
    except OSError as error:
        file.close()
        if isinstance(error, StorageError):
            raise
        raise problem(Path(str(path)), f"it cannot be opened: {error.strerror}", "Check its permissions.") from None
    except BaseException:
        file.close()
        raise


def reading_address(path: Path) -> str:
    """The address by which SQLite opens a file for reading. In a read-only folder it cannot have files beside it."""
    is_alone = not os.access(path.parent, os.W_OK) and not any(map(os.path.exists, sides(path)))
    return f"{path.as_uri()}?mode=ro{'&immutable=1' if is_alone else ''}"


def writing_address(path: Path) -> str:
    """The address by which SQLite opens a file for writing."""
    return f"{path.as_uri()}?mode=rw"


def connected(address: str) -> sqlite3.Connection:
    """A connection to a file or to memory. Each commit waits until the disk has it."""
    connection = sqlite3.connect(
        address, uri=True, isolation_level=None, timeout=PATIENCE, check_same_thread=False, cached_statements=16
    )
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(f"PRAGMA cache_size = -{CACHE}")
    connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT}")
    return connection


# ── other versions ────────────────────────────────────────────────────────────────────────────────────────────────────


def _refuse_other_versions(path: Path) -> None:
    """Raises StorageError for a store of another version, which is not one whose header alone is damaged."""
    with open(path, "rb") as file:
        header = file.read(100)
    version = version_of(header)
    if not is_our_header(header) or version == VERSION or _states_this_version(path):
        return
    what = f"its layout has version {version}, but this Kinemorph knows version {VERSION}"
    remedy = "Update Kinemorph: pip install --upgrade kinemorph"
    raise problem(path, what, remedy if version > VERSION else "Open it with the version of Kinemorph that wrote it.")


def _states_this_version(path: Path) -> bool:
    """Whether a row of the file, which is not damaged, says that the layout has this version."""
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, isolation_level=None)
    try:
        rows = connection.execute("SELECT * FROM study WHERE name = 'schema'").fetchall()
    except sqlite3.Error:
        return False
    finally:
        connection.close()
    return any(passes(row) and row[1] == str(VERSION) for row in rows)
