"""Pages of an SQLite file and of its journals, read without SQLite (sqlite.org/fileformat2.html).

A file is a row of pages of one size. Its rows are cells in leaf pages; what does not fit into a page continues in a
chain of overflow pages. The write-ahead log has new versions of pages (frames), a rollback journal has old ones.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kinemorph.studies.store.layout import APPLICATION, PAGE, VERSION

MAGIC = b"SQLite format 3\0"
WAL_HEADER, FRAME_HEADER = 32, 24
WAL_WORDS = {0x377F0682: "<u4", 0x377F0683: ">u4"}  # how the checksums of a log read words, by its first word
NEARLY = 6  # a damaged frame of this log has at least so many of the 8 bytes of its salt
JOURNAL_SECTORS = (512, 4096)  # sizes of the header of a rollback journal


class Files(NamedTuple):
    """The bytes of a store and of its journals; empty where there is none."""

    main: bytes
    log: bytes
    journal: bytes


class PageVersion(NamedTuple):
    """One version of a page: its number from 1, and its bytes."""

    number: int
    data: bytes


def read_files(path: Path, *, main: bool = True) -> Files:
    """The bytes of a store and its journals, or of its journals alone."""
    whole = path.read_bytes() if main else b""
    log, journal = (side.read_bytes() if side.exists() else b"" for side in map(Path, sides(path)))
    return Files(whole, log, journal)


def sides(path: Path) -> tuple[str, str]:
    """The names of the write-ahead log and the rollback journal of a file."""
    return os.fspath(path) + "-wal", os.fspath(path) + "-journal"


# ── the header ────────────────────────────────────────────────────────────────────────────────────────────────────────


def is_our_header(header: bytes) -> bool:
    """Whether the first 100 bytes of a file name it as a store, whatever its version."""
    return header.startswith(MAGIC) and int.from_bytes(header[68:72], "big") == APPLICATION


def version_of(header: bytes) -> int:
    """The version of the layout that the header states."""
    return int.from_bytes(header[60:64], "big")


def is_sound_header(header: bytes) -> bool:
    """Whether the header is one that this version writes. SQLite itself accepts some damaged ones, with odd effects."""
    return (
        len(header) >= 100
        and is_our_header(header)
        and version_of(header) == VERSION
        and int.from_bytes(header[16:18], "big") == PAGE
        and header[18:20] in (b"\1\1", b"\2\2")  # rollback journal or write-ahead log, for writers and readers alike
        and header[20:24] == b"\0\x40\x20\x20"
        and 1 <= int.from_bytes(header[44:48], "big") <= 4
        and int.from_bytes(header[56:60], "big") == 1  # texts are UTF-8
    )


# ── the write-ahead log ───────────────────────────────────────────────────────────────────────────────────────────────


def is_sound_log(log: bytes) -> bool:
    """Whether SQLite will read all of a write-ahead log that was written.

    It stops at the first frame that does not pass its checksum. That is right for frames of an older log, which have
    another salt; but a complete frame with the salt of this log was written, and is damaged, or one before it is.
    """
    if len(log) < WAL_HEADER:
        return True
    kind = WAL_WORDS.get(int.from_bytes(log[:4], "big"))
    if kind is None:
        return False
    start = _checksums(np.frombuffer(log[:24], kind).reshape(1, -1))[0]
    state = (int(start[0]), int(start[1]))
    if state != _pair(log, 24):
        return False
    salt, size = log[16:24], FRAME_HEADER + PAGE
    count = (len(log) - WAL_HEADER) // size
    frames = np.frombuffer(log, np.uint8, count * size, WAL_HEADER).reshape(count, size)
    words = np.concatenate([frames[:, :8], frames[:, FRAME_HEADER:]], axis=1).view(kind)
    sums, power = _checksums(words), _power(words.shape[1] // 2)
    alike = (frames[:, 8:16] == np.frombuffer(salt, np.uint8)).sum(axis=1)  # equal bytes of salts: 8, or few by chance
    for k in range(count):
        state = tuple(
            (int(power[row][0]) * state[0] + int(power[row][1]) * state[1] + int(sums[k, row])) % 2**32
            for row in range(2)
        )  # type: ignore[assignment]
        if alike[k] < 8 or state != _pair(log, WAL_HEADER + k * size + 16):
            return not (alike[k:] >= NEARLY).any()
    return True


def _pair(data: bytes, start: int) -> tuple[int, int]:
    return int.from_bytes(data[start : start + 4], "big"), int.from_bytes(data[start + 4 : start + 8], "big")


def _checksums(words: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint64]:
    """The checksums of rows of words that start at (0, 0), shape (n, 2).

    For each pair of words: a += first + b; b += second + a. This is linear: the sum of all words with weights.
    """
    pairs = words.shape[1] // 2
    weights = np.zeros((words.shape[1], 2), dtype=np.uint64)
    a, b, mask = (1, 1), (0, 1), 2**32 - 1  # what the first and the second word of the last pair add to both sums
    for k in reversed(range(pairs)):
        weights[2 * k], weights[2 * k + 1] = a, b
        a, b = (((x + y) & mask, (x + 2 * y) & mask) for x, y in (a, b))
    total = np.empty((len(words), 2), dtype=np.uint64)
    for start in range(0, len(words), 1000):
        block = words[start : start + 1000].astype(np.uint64)
        for k in range(2):
            total[start : start + 1000, k] = (block * weights[:, k] & np.uint64(mask)).sum(axis=1) & np.uint64(mask)
    return total


def _power(pairs: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """How the sums after some pairs of words depend on those before them: [[1, 1], [1, 2]] to that power."""
    a, b = (1, 0), (0, 1)
    for _ in range(pairs):
        a, b = (((x + y) % 2**32, (x + 2 * y) % 2**32) for x, y in (a, b))
    return (a[0], b[0]), (a[1], b[1])


# ── pages ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def page_versions(files: Files) -> Iterator[PageVersion]:
    """All versions of all pages, old ones of a rollback journal first, then the file, then the frames of its log."""
    size = PAGE + 8
    for sector in JOURNAL_SECTORS:
        for start in range(sector, len(files.journal) - size + 1, size):
            number = int.from_bytes(files.journal[start : start + 4], "big")
            yield PageVersion(number, files.journal[start + 4 : start + 4 + PAGE])
    for start in range(0, len(files.main), PAGE):
        yield PageVersion(start // PAGE + 1, files.main[start : start + PAGE].ljust(PAGE, b"\0"))
    yield from _frames(files.log)


def newest_pages(files: Files) -> list[dict[int, bytes]]:
    """Pages by number, in which to look for overflow pages: those of the file with its log, and of the file alone."""
    size = PAGE
    main = {k // size + 1: files.main[k : k + size].ljust(size, b"\0") for k in range(0, len(files.main), size)}
    if not files.log:
        return [main]
    starts = range(WAL_HEADER, len(files.log) - FRAME_HEADER - PAGE + 1, FRAME_HEADER + PAGE)
    frequent = Counter(files.log[start + 8 : start + 16] for start in starts).most_common(1)
    salts = dict.fromkeys([files.log[16:24], *(salt for salt, _ in frequent)])  # that of the header may be damaged
    return [*({**main, **{page.number: page.data for page in _frames(files.log, salt)}} for salt in salts), main]


def _frames(log: bytes, salt: bytes = b"") -> Iterator[PageVersion]:
    for start in range(WAL_HEADER, len(log) - FRAME_HEADER - PAGE + 1, FRAME_HEADER + PAGE):
        data = start + FRAME_HEADER
        if not salt or log[start + 8 : start + 16] == salt:
            yield PageVersion(int.from_bytes(log[start : start + 4], "big"), log[data : data + PAGE])
