"""The cache on disk: a program is compiled once on a computer, not once in every process. What else takes long is kept
there, too: hulls of meshes, and what MuJoCo makes of its files.

A file is named after a digest of everything that its content was made from (see `backends.llvm.engine`), and holds

    format | sha256 of the file's name and the code | code

so that a file that was truncated, altered or renamed is not used, and is written again. Files are written under another
name and then renamed, so that a file is always complete, however many processes write. Code that is read here is
executed: the folder and its files must belong to the user, and others must not be able to write to them, or they are
not used. If the folder cannot be used, one warning is given and programs are compiled; results are the same.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import shutil
import stat
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from contextvars import ContextVar
from pathlib import Path

from kinemorph.errors import CacheWarning
from kinemorph.frozen import dataclass

VARIABLE = "KINEMORPH_CACHE"
OFF = ("off", "0")
FORMAT = b"kinemorph machine code, format 1\n"
CODE, OUTLINE = ".code", ".outline"  # suffixes: code, outline of a program
EXECUTABLE = ".executable"  # a program of its own, compiled from C
NUMBERS, PART = ".numbers", ".part"  # numbers that code refers to, and other data; file that is being written
TEXT = ".text"  # what better code is compiled from
NAMES = re.compile(rf"[0-9a-f]{{64}}({CODE}|{OUTLINE}|{NUMBERS}|{TEXT}|{EXECUTABLE}|\.\w+{PART})")
LIMIT = 512 << 20  # [byte] largest total size; above it, the least recently used files are removed
KEPT = 0.75  # the share of the limit that remains after that
LOOK = LIMIT // 16  # [byte] that a process writes between two checks of the total size
STALE = 3600.0  # [s] after which a part file counts as abandoned, and the time of last use is updated
READING = sum(getattr(os, name, 0) for name in ("O_RDONLY", "O_BINARY", "O_NOFOLLOW", "O_NONBLOCK"))

_off: ContextVar[bool] = ContextVar("off", default=False)
_warned: set[Path] = set()
_written: dict[Path, int] = {}  # [byte] written since the last check of the total size


def cache_folder() -> Path | None:
    """The folder that KINEMORPH_CACHE names, else the user's cache folder on this platform; None if there is none."""
    chosen = os.environ.get(VARIABLE, "")
    if chosen.lower() in OFF:
        return None
    if chosen:
        return Path(os.path.expanduser(chosen)).absolute()
    home = Path(os.path.expanduser("~"))  # stays "~" if the home folder is not known
    if sys.platform == "win32":
        base, inner = Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local")), "kinemorph/cache"
    elif sys.platform == "darwin":
        base, inner = home / "Library" / "Caches", "kinemorph"
    else:
        named = Path(os.environ.get("XDG_CACHE_HOME", ""))
        base, inner = named if named.is_absolute() else home / ".cache", "kinemorph"
    return base / inner if base.is_absolute() else None


def code_cache() -> CodeCache | None:
    """The cache to use; None if it is switched off or there is no folder for it."""
    folder = None if _off.get() else cache_folder()
    return None if folder is None else CodeCache(folder)


def kept_data(made_from: Iterable[bytes], make: Callable[[], bytes | None]) -> bytes | None:
    """The data that `make` returns, or those of an earlier call, perhaps of another process, with the same input.

    `made_from` is all that determines the data, the sources of what makes them included. None is not kept.
    """
    cache = code_cache()
    if cache is None:
        return make()
    digest = hashlib.sha256()
    for part in made_from:
        digest.update(len(part).to_bytes(8, "little") + part)
    name = digest.hexdigest()
    found = cache.read(name, NUMBERS)
    if found is None:
        found = make()
        if found is not None:
            cache.write(name, found, NUMBERS)
    return found


@contextlib.contextmanager
def switched_off() -> Iterator[None]:
    """A context in which the cache is neither read nor written: every program that is built is compiled."""
    token = _off.set(True)
    try:
        yield
    finally:
        _off.reset(token)


def package_folder() -> Path:
    """The folder of this package, found by the package's name and not by the location of this file."""
    return Path(str(sys.modules[__name__.partition(".")[0]].__file__)).parent


def source_lines(package: Path, without: Collection[str]) -> Iterator[bytes]:
    """Name, size and content of each source file of a package, as bytes to hash; the subfolders `without` are left out.

    Subfolders are excluded by name and never listed, so that moved files and new subfolders count automatically.
    Outdated code would silently give wrong numbers; compiling once too often only costs a second.
    """
    for folder, rooms, files in os.walk(package):
        rooms[:] = sorted(room for room in rooms if folder != str(package) or room not in without)
        for name in sorted(file for file in files if file.endswith(".py")):
            path = os.path.join(folder, name)
            with open(path, "rb", buffering=0) as file:
                content = file.read()
            yield f"{os.path.relpath(path, package)} {len(content)}\n".encode() + content


@dataclass(frozen=True)
class CodeCache:
    """A folder of compiled code. Safe for many threads and processes at once."""

    folder: Path

    def read(self, digest: str, ending: str = CODE) -> bytes | None:
        """The code, outline or numbers stored under a digest; None if there is none, or none that can be trusted."""
        path = self.folder / (digest + ending)
        try:
            _check(os.stat(self.folder))
            with _opened(path) as handle:
                facts = os.fstat(handle)
                if not stat.S_ISREG(facts.st_mode):
                    return None
                _check(facts)
                with open(handle, "rb", closefd=False) as file:
                    content = file.read()
        except PermissionError as error:
            self._warn(error)
            return None
        except OSError:  # usually there is no such file
            return None
        start = len(FORMAT) + 32
        code = content[start:]
        if content[:start] != _head(digest, code):
            return None
        if time.time() - facts.st_mtime > STALE:
            with contextlib.suppress(OSError):
                os.utime(path)  # records the time of last use, which file systems do not do
        return code

    def write(self, digest: str, code: bytes, ending: str = CODE) -> None:
        """Stores code, an outline or numbers under a digest; an existing file is replaced."""
        try:
            self._prepare()
            with self.part(digest) as part:
                part.write_bytes(_head(digest, code) + code)
                path = self.folder / (digest + ending)
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                os.replace(part, path)
        except OSError as error:
            if self.read(digest, ending) is None:  # else another process has just stored it and has the file open
                self._warn(error)
            return
        total = _written.get(self.folder, LOOK) + len(code)  # always checked at the first write
        _written[self.folder] = total if total < LOOK else 0
        if total >= LOOK:
            self.prune()

    def remove(self, digest: str, ending: str) -> None:
        """Removes what is stored under a digest, if it is there."""
        _remove(self.folder / (digest + ending))

    @contextlib.contextmanager
    def claimed(self, digest: str, longest: float) -> Iterator[bool]:
        """A context whose value is whether this process may make what belongs under a digest, as no other one does.

        A claim that is older than `longest` [s] is that of a process that was killed.
        """
        path = self.folder / f"{digest}.claim{PART}"
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > longest:
                _remove(path)
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except OSError:
            yield False
            return
        try:
            yield True
        finally:
            _remove(path)

    def prune(self, limit: int = LIMIT) -> None:
        """Removes files that killed processes left; then, above `limit` bytes, the least recently used files."""
        files = self._files()
        for path, facts in files:
            if path.suffix == PART and time.time() - facts.st_mtime > STALE:
                _remove(path)
        code = sorted(((p, f) for p, f in files if p.suffix != PART), key=lambda entry: entry[1].st_mtime)
        total = sum(facts.st_size for _, facts in code)
        surplus = total - KEPT * limit if total > limit else 0
        for path, facts in code:
            if surplus <= 0:
                break
            _remove(path)
            surplus -= facts.st_size

    def clear(self) -> tuple[int, int]:
        """Removes every file of the cache and nothing else; returns the number of programs and their size [byte]."""
        gone = [(path, facts) for path, facts in self._files() if _remove(path)]
        return sum(path.suffix not in (OUTLINE, NUMBERS, TEXT) for path, _ in gone), sum(
            facts.st_size for _, facts in gone
        )

    def size(self) -> tuple[int, int]:
        """(number of stored programs, size of all files [byte])."""
        files = self._files()
        return sum(path.suffix == CODE for path, _ in files), sum(facts.st_size for _, facts in files)

    def problem(self) -> str | None:
        """Why the folder cannot be used, found by writing a test file; None if it can be used."""
        try:
            self._prepare()
            with self.part("0" * 64) as part:
                part.write_bytes(FORMAT)
        except OSError as error:
            return _reason(error)
        return None

    def _prepare(self) -> None:
        """Creates the folder, readable only by the user; OSError if it cannot be created or trusted."""
        if not self.folder.is_dir():
            if self.folder.exists():
                raise NotADirectoryError(errno.ENOTDIR, "it is a file, not a folder")
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            self.folder.mkdir(mode=0o700, exist_ok=True)
        _check(os.stat(self.folder))

    @contextlib.contextmanager
    def part(self, digest: str) -> Iterator[Path]:
        """A context with the path of a new file that only the user can read; it is removed at the end if it exists."""
        handle, name = tempfile.mkstemp(prefix=f"{digest}.", suffix=PART, dir=self.folder)
        os.close(handle)
        try:
            yield Path(name)
        finally:
            with contextlib.suppress(OSError):
                os.unlink(name)

    def _files(self) -> list[tuple[Path, os.stat_result]]:
        """The files of the cache in the folder (other files may be there too), each with its status."""
        found = []
        with contextlib.suppress(OSError), os.scandir(self.folder) as entries:
            for entry in entries:
                if NAMES.fullmatch(entry.name):
                    with contextlib.suppress(OSError):  # another process has just removed it
                        found.append((Path(entry.path), entry.stat(follow_symlinks=False)))
        return found

    def _warn(self, error: OSError) -> None:
        """Warns that the folder cannot be used, once per folder and process."""
        if self.folder not in _warned:
            _warned.add(self.folder)
            warnings.warn(
                f"compiled code is not stored on disk: folder '{self.folder}' cannot be used ({_reason(error)}). "
                "Results are the same, but each process compiles again. Set the environment variable "
                f"{VARIABLE} to a folder of your own, or to 'off'.",
                CacheWarning,
                stacklevel=2,
            )


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[int]:
    """A context with a file handle for reading; opening neither follows a symbolic link nor waits for a pipe."""
    handle = os.open(path, READING)
    try:
        yield handle
    finally:
        os.close(handle)


def _head(digest: str, code: bytes) -> bytes:
    """The bytes in a file before the code: the format, and a checksum of the file's name and the code."""
    return FORMAT + hashlib.sha256(digest.encode() + code).digest()


def _check(facts: os.stat_result) -> None:
    """Raises PermissionError for the status of a file or folder that another user could have written."""
    if sys.platform == "win32":  # the folder is in the user's profile, which others cannot write to
        return
    if facts.st_uid != os.geteuid():
        raise PermissionError(
            errno.EPERM, f"the folder or file belongs to user {facts.st_uid}, not to user {os.geteuid()}"
        )
    if facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError(errno.EPERM, "other users can write to the folder or file; run chmod go-w on it")


def _reason(error: OSError) -> str:
    """The text of an error of the operating system, without its number."""
    return error.strerror or str(error)


def _remove(path: Path) -> bool:
    """Removes a file; returns whether it was there and has been removed."""
    try:
        path.unlink()
    except OSError:
        return False
    return True
