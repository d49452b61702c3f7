"""Files that are complete or not there, whatever happens while they are written: a crash, a full disk, a kill.

A file is written under a temporary name in the same folder, forced to the disk (fsync) and then renamed. Other programs
see the old file or the new one, never a part of it. All files that Kinemorph replaces are written in this way.
"""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from kinemorph.errors import Problem, StorageError

_ANOTHER = "Choose another folder."
CAUSES = {
    errno.ENOSPC: ("the disk is full", "Make room, or choose another folder."),
    errno.EDQUOT: ("your disk quota is used up", "Make room, or choose another folder."),
    errno.EFBIG: ("files of this size are not allowed here", "Write a smaller file, or choose another folder."),
    errno.EACCES: ("the folder cannot be written to", _ANOTHER),
    errno.EPERM: ("the folder cannot be written to", _ANOTHER),
    errno.EROFS: ("the folder is read-only", _ANOTHER),
    errno.ENOENT: ("the folder cannot be made", _ANOTHER),
    errno.EEXIST: ("a file has the name of its folder", _ANOTHER),
    errno.ENOTDIR: ("a file has the name of its folder", _ANOTHER),
    errno.EISDIR: ("it is a folder", "Name a file in it."),
    errno.ENAMETOOLONG: ("its name is too long", "Choose a shorter name."),
}  # for each error number of the operating system: the cause and the remedy
LONGEST = 40  # characters of a file name that its temporary name repeats


def write_whole(path: Path | str, data: bytes | str) -> Path:
    """Writes a file in one step and returns its path. A text is encoded in UTF-8; a missing folder is made.

    Raises StorageError where the file cannot be written; then an older file of that name is unchanged.
    """
    content = data.encode() if isinstance(data, str) else data
    with replacing(path, size=len(content)) as part:
        part.write_bytes(content)
    return Path(path)


@contextlib.contextmanager
def replacing(path: Path | str, *, size: int = 0) -> Iterator[Path]:
    """A context with the temporary path to write to. At its end that file is forced to the disk and renamed to `path`.

    After an exception nothing is left behind, and an older file is unchanged. The temporary name has the ending of
    `path`. The new file has the permissions of the one that it replaces; a link is followed. `size` [bytes] is named in
    the message where the file cannot be written. Raises StorageError for errors of the operating system.
    """
    part: Path | None = None
    try:
        target = Path(os.path.realpath(path))
    except ValueError as error:  # the name has a zero byte
        raise storage_error(path, error) from None
    try:
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, "is a folder")
        target.parent.mkdir(parents=True, exist_ok=True)
        part = _temporary(target)
        yield part
        os.chmod(part, _mode(target))
        _settle(part, os.O_RDWR)
        os.replace(part, target)
        settle_folder(target.parent)
    except StorageError:
        raise
    except OSError as error:
        raise storage_error(path, error, size) from None
    finally:
        if part is not None:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)


def _temporary(target: Path) -> Path:
    """A new, empty file in the folder of `target`, with its ending."""
    handle, name = tempfile.mkstemp(
        prefix=f".{target.stem[:LONGEST]}.", suffix=f".part{target.suffix[:LONGEST]}", dir=target.parent
    )
    os.close(handle)
    return Path(name)


def _mode(path: Path) -> int:
    """The permission bits to give a file: those of the file that it replaces, or the default ones."""
    with contextlib.suppress(OSError):
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _settle(path: Path, way: int) -> None:
    """Forces a file or a folder, opened in the given way, to the disk (fsync)."""
    handle = os.open(path, way | getattr(os, "O_CLOEXEC", 0))
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def settle_folder(folder: Path) -> None:
    """Forces the folder's list of files to the disk (fsync), if the operating system can open folders."""
    with contextlib.suppress(OSError):
        _settle(folder, os.O_RDONLY)


def storage_error(path: Path | str, error: Exception, size: int = 0) -> StorageError:
    """The StorageError for a file that cannot be written; its argument is a `Problem` with the cause and the remedy.

    `size` is the size of the file [bytes].
    """
    text = getattr(error, "strerror", None) or str(error)
    cause, remedy = CAUSES.get(getattr(error, "errno", None) or 0, (text, _ANOTHER))
    need = f" ({size / 1e6:.3g} MB)" if size > 100_000 else ""
    return StorageError(Problem("", "", f"'{path}'{need} cannot be written: {cause}", remedy, rule="file"))
