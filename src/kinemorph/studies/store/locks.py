"""One writer at a time: a lock of the operating system on a small file beside the store.

The operating system frees the lock when its process ends, however it ends. The file says which process holds it.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from pathlib import Path

from kinemorph.durable_files import storage_error
from kinemorph.errors import Problem, StorageError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]
    import msvcrt
FAR = 1 << 30  # Windows locks a byte far behind the text, which stays readable
_held: dict[str, int] = {}  # real path: process. A process can lock a file twice, and a forked one holds no locks


class WriterLock:
    """The right to write to a store, from its making until `release` or the end of the process.

    Raises StorageError where another process, or another open store of this one, holds it.
    """

    def __init__(self, store: Path) -> None:
        self.path = store.with_name(store.name + ".lock")
        self._name = os.path.realpath(self.path)
        if _held.get(self._name) == os.getpid():
            raise _taken(store, _description())
        while True:
            try:
                self._handle = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o666)
            except OSError as error:
                raise storage_error(store, error) from None
            try:
                _lock_soon(self._handle)
                if self._is_there():
                    break
            except OSError:
                holder = os.read(self._handle, 200).decode(errors="replace").strip()
                os.close(self._handle)
                raise _taken(store, holder) from None
            os.close(self._handle)  # another process has removed this file when it released its lock
        with contextlib.suppress(OSError):  # on a full disk the lock holds all the same
            os.ftruncate(self._handle, 0)
            os.write(self._handle, _description().encode())
        _held[self._name] = os.getpid()

    def _is_there(self) -> bool:
        """Whether the locked file is still the one that others find under its name."""
        try:
            return os.path.samestat(os.fstat(self._handle), os.stat(self.path))
        except OSError:
            return False

    def release(self) -> None:
        """Lets others write."""
        if _held.get(self._name) != os.getpid():
            return
        del _held[self._name]
        with contextlib.suppress(OSError):
            self.path.unlink()  # while it is locked: others that opened it find that it is gone, and open a new one
        os.close(self._handle)


def is_held(store: Path) -> bool:
    """Whether a process writes to this store."""
    path = store.with_name(store.name + ".lock")
    if _held.get(os.path.realpath(path)) == os.getpid():
        return True  # to open and close the file would end this lock
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    except OSError:
        return False
    try:
        if fcntl is not None:
            fcntl.lockf(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return fcntl is None


def _lock_soon(handle: int) -> None:
    """Locks a file, also where another process looks just now whether it is locked."""
    for _ in range(4):
        try:
            return _lock(handle)
        except OSError:
            time.sleep(0.01)
    _lock(handle)


def _lock(handle: int) -> None:
    if fcntl is not None:
        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    else:
        os.lseek(handle, FAR, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        os.lseek(handle, 0, os.SEEK_SET)


def _description() -> str:
    return f"process {os.getpid()} on {socket.gethostname()}"


def _taken(store: Path, holder: str) -> StorageError:
    holder = holder or "another process"
    what = f"'{store}' cannot be written: {holder} writes to it"
    remedy = "Wait until it has ended, or end it; reading is possible meanwhile."
    return StorageError(Problem("", "", what, remedy, rule="file"))
