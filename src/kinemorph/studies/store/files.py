"""The file of a store: made, opened, read and replaced."""

from __future__ import annotations

import contextlib
import datetime
import sqlite3
from pathlib import Path
from typing import Literal

import numpy as np

from kinemorph.durable_files import replacing
from kinemorph.errors import StorageError
from kinemorph.studies.items import Items
from kinemorph.studies.store.contents import Contents, read_contents, write_contents
from kinemorph.studies.store.failures import problem, store_error
from kinemorph.studies.store.journals import journal_of
from kinemorph.studies.store.known_items import KnownItems
from kinemorph.studies.store.layout import PAGE, Layout
from kinemorph.studies.store.locks import WriterLock
from kinemorph.studies.store.rows import DamagedError
from kinemorph.studies.store.table import KEY, Table

Mode = Literal["write", "read"]
PATIENCE = 60.0  # [s] that a process waits while another one uses the file
CACHE = 64_000  # [KiB] of pages in memory
CHECKPOINT = 4_000  # pages of the write-ahead log, after which they go to the file


class StoreFile:
    """An open store: its connection, and the lock of its writer. `path` is None in memory."""

    def __init__(self, path: Path | None, mode: Mode) -> None:
        self.path, self.mode = path, mode
        self.notes: list[str] = []
        self.lock: WriterLock | None = None
        self.connection: sqlite3.Connection | None = None

    def writable(self) -> sqlite3.Connection:
        """The connection for writing. Raises StorageError where the store was opened for reading, or is closed."""
        if self.connection is None:
            raise StorageError(f"'{self.path or 'store'}' is closed. Open it again.")
        if self.mode == "read":
            raise StorageError(f"'{self.path}' was opened for reading. Open it with mode='write'.")
        return self.connection

    def contents(self, known: KnownItems) -> Contents:
        """Everything that the file has."""
        if self.connection is None:
            raise StorageError(f"'{self.path or 'store'}' is closed. Open it again.")
        try:
            return read_contents(self.connection, known if self.mode == "write" else None)
        except sqlite3.Error as error:
            raise store_error(self.path, error, "read") from None

    def without_results(self) -> Contents:
        """Forgets all results; the file as it was is kept beside it."""
        raise NotImplementedError

    def close(self) -> None:
        """Closes the file, and lets others write to it."""
        if self.connection is not None:
            with contextlib.suppress(sqlite3.Error):
                if self.mode == "write" and self.path is not None:
                    self.connection.execute("PRAGMA journal_mode = DELETE")  # one plain file is left
            self.connection.close()
            self.connection = None
        if self.lock is not None:
            self.lock.release()
            self.lock = None


def opened_file(path: Path | None, mode: Mode) -> tuple[StoreFile, Contents]:
    """Opens the file of a store, and reads all of it."""
    file = StoreFile(path, mode)
    if path is None:
        file.connection = _connected(":memory:")
        contents = empty_contents()
        write_contents(file.connection, contents)
        return file, contents
    try:
        if mode == "write":
            file.lock = WriterLock(path)
            if not path.exists():
                write_file(path, empty_contents())
        elif not path.exists():
            raise problem(path, "there is no such file", "Check the path.")
        file.connection = _connected(_address(path, mode))
        if mode == "write":
            file.connection.execute(f"PRAGMA journal_mode = {journal_of(path.parent)}")
        return file, read_contents(file.connection)
    except (sqlite3.Error, DamagedError) as error:
        file.close()
        raise store_error(path, sqlite3.DatabaseError(str(error)), "opened") from None
    except BaseException:
        file.close()
        raise


def write_file(path: Path, contents: Contents) -> None:
    """Writes a new store: other programs see it whole or not at all."""
    with replacing(path) as part:
        connection = sqlite3.connect(part, isolation_level=None)
        try:
            connection.execute(f"PRAGMA page_size = {PAGE}")
            connection.execute("PRAGMA synchronous = OFF")  # it is forced to the disk before it gets its name
            connection.execute("PRAGMA journal_mode = MEMORY")
            write_contents(connection, contents)
        except sqlite3.Error as error:
            raise store_error(path, error) from None
        finally:
            connection.close()


def empty_contents() -> Contents:
    """What a new store has."""
    now = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
    texts = {"aspects": "{}", "parts": "[]", "measures": "[]", "created": now.isoformat()}
    numbers = np.empty(0, dtype=np.int64)
    states = np.empty(0, dtype=np.int8)
    return Contents(
        texts, Table(numbers, np.empty(0, dtype=KEY), Items((), 0), Layout().names, np.empty((0, 0)), states, {}, {})
    )


def _address(path: Path, mode: Mode) -> str:
    return f"{path.absolute().as_uri()}?mode={'rw' if mode == 'write' else 'ro'}"


def _connected(address: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        address, uri=True, isolation_level=None, timeout=PATIENCE, check_same_thread=False, cached_statements=16
    )
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(f"PRAGMA cache_size = -{CACHE}")
    connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT}")
    return connection
