"""The journal of a document: a file to which every edit is appended, and from which all of them are restored.

A record is a line: a checksum, a space, and JSON. The checksum covers the checksum of the line before too, so that a
line that is altered, lost or moved is noticed. `append` returns when the records are on the disk (fsync). A process
that is killed while it writes leaves an incomplete last line, which is cut off when the journal is read again. A
journal that is damaged elsewhere is cut at the first wrong line, and what follows is kept in a file beside it.

The acts of records, by their key "act":

    start       the whole text of the document when the journal was begun ("text")
    edit        a command was applied; "command" tells which, "splice" is the difference of the texts
    outside     another program changed the file; "splice" is the difference
    undo, redo  the last edit was taken back, or done again
    saved       the file has the text that all records before give; this record is not forced to the disk

Every act except "saved" counts one revision and has the checksum of the whole text after it ("sum").
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeAlias

from kinemorph.durable_files import settle_folder, storage_error
from kinemorph.errors import StorageError

Record: TypeAlias = dict[str, Any]

DIGITS = 16  # of a checksum in a record
SEED = "kinemorph journal 1"  # in place of the checksum before the first record


def text_sum(text: str) -> str:
    """The checksum of a text, 16 hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:DIGITS]


def _line_sum(before: str, content: bytes) -> str:
    """The checksum of a record whose JSON is `content`, after a record with the checksum `before`."""
    return hashlib.sha256(before.encode() + content).hexdigest()[:DIGITS]


class Contents(NamedTuple):
    """The records of a journal file that are whole, its size up to their end [bytes], and the checksum of the last."""

    records: list[Record]
    size: int
    last: str
    rest: bytes  # what follows the last whole record: empty, or an incomplete or damaged part


def read_journal(path: Path) -> Contents:
    """Reads a journal as far as it is whole; a missing file is an empty journal. Raises StorageError if unreadable."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        data = b""
    except OSError as error:
        raise StorageError(
            f"the journal '{path}' cannot be read: {error.strerror}. Check its permissions, or move it away."
        ) from None
    records: list[Record] = []
    size, last = 0, SEED
    while (end := data.find(b"\n", size)) >= 0:
        line = data[size:end]
        given, content = line[:DIGITS], line[DIGITS + 1 :]
        expected = _line_sum(last, content)
        if given != expected.encode():
            break
        records.append(json.loads(content))
        size, last = end + 1, expected
    return Contents(records, size, last, data[size:])


class Journal:
    """The journal file of one document. It is opened for writing, and locked, when the first record is appended."""

    def __init__(self, path: Path) -> None:
        self.path = path
        found = read_journal(path)
        self.records = found.records  # those on the disk when the journal was opened
        self._size, self._last, self._rest = found.size, found.last, found.rest
        self._file: BinaryIO | None = None
        self.damaged = b"\n" in found.rest  # more than an incomplete last line

    @property
    def damaged_path(self) -> Path:
        """The file that keeps what follows the first wrong line of a damaged journal."""
        return self.path.with_name(f"{self.path.name}.damaged")

    def append(self, records: list[Record], *, settled: bool = True) -> None:
        """Appends records and returns when they are on the disk; without `settled`, when the system has them.

        Raises StorageError, and keeps the journal as it was, if they cannot be written, or if another process has the
        journal open for writing.
        """
        last, data = self._last, b""
        for record in records:
            content = json.dumps(record, separators=(",", ":")).encode()
            last = _line_sum(last, content)
            data += last.encode() + b" " + content + b"\n"
        file = self._opened()
        try:
            file.seek(self._size)
            written = 0
            while written < len(data):
                written += file.write(data[written:]) or 0
            if settled:
                os.fsync(file.fileno())
        except OSError as error:
            with contextlib.suppress(OSError):  # reading cuts an incomplete record off as well
                file.truncate(self._size)
            raise storage_error(self.path, error) from None
        self._size, self._last = self._size + len(data), last

    def close(self) -> None:
        """Closes the file, so that another process can write to the journal."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _opened(self) -> BinaryIO:
        """The file, opened for writing and locked, without an incomplete last record."""
        if self._file is not None:
            return self._file
        file: BinaryIO | None = None
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
            file = os.fdopen(handle, "r+b", buffering=0)
            if not _lock(handle) or os.fstat(handle).st_size != self._size + len(self._rest):
                raise StorageError(
                    f"'{self.path.stem}' is being edited by another studio, whose journal is '{self.path}'. Close it "
                    "there, and open the document again."
                )
            if self.damaged:
                with open(self.damaged_path, "ab") as kept:
                    kept.write(self._rest)
            file.truncate(self._size)
            self._rest = b""
            settle_folder(self.path.parent)
            settle_folder(self.path.parent.parent)
            settle_folder(self.path.parent.parent.parent)
        except OSError as error:
            if file is not None:
                file.close()
            raise error if isinstance(error, StorageError) else storage_error(self.path, error) from None
        self._file = file
        return file


def _lock(handle: int) -> bool:
    """Locks an open file for this process; False if another one holds the lock. Windows has no such lock."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
