"""Rows in the pages of an SQLite file, read without SQLite: also from pages whose own structure is damaged.

These rows are candidates: a page may be damaged, and only rows that pass their checks are used.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kinemorph.studies.store.layout import PAGE

LEAF, INDEX_LEAF = 0x0D, 0x0A
KNOWN_KINDS = (0x00, 0x02, INDEX_LEAF, LEAF)  # 0 begins an overflow page; 5, an inner page, may be a damaged leaf
LONGEST = 100_000_000  # bytes of a row
SIZES = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0, LONGEST, LONGEST)  # of NULL, integers, a number, the integers 0 and 1
Values = tuple[Any, ...]


class Cell(NamedTuple):
    """A row: its number (0 in an index), and its values."""

    number: int
    values: Values


def cells(number: int, page: bytes, others: Sequence[Mapping[int, bytes]]) -> Iterator[Cell]:
    """The rows of one version of a page. `others` are the pages in which long rows may continue."""
    start = 100 if number == 1 else 0
    kind = page[start]
    found, used = [], 0
    if kind in (LEAF, INDEX_LEAF):
        count = int.from_bytes(page[start + 3 : start + 5], "big")
        for k in range(min(count, PAGE // 4)):
            place = int.from_bytes(page[start + 8 + 2 * k : start + 10 + 2 * k], "big")
            cell, size = _cell(page, place, kind, others)
            used += size
            found += cell
            if not cell:
                used = -1 << 30  # a damaged cell: the page never counts as filled, and all of it is searched below
    if kind not in KNOWN_KINDS or (kind == LEAF and not _is_filled(page, start, used)):
        found = [cell for place in _places(page) for cell in _cell(page, place, LEAF, others)[0]]
    yield from found


def _is_filled(page: bytes, start: int, used: int) -> bool:
    """Whether the cells of a leaf page and its free blocks fill it: no cell is missing from its list."""
    content = int.from_bytes(page[start + 5 : start + 7], "big") or 65536
    free, block = page[start + 7], int.from_bytes(page[start + 1 : start + 3], "big")
    for _ in range(PAGE // 4):
        if not 0 < block < PAGE - 3:
            break
        free += int.from_bytes(page[block + 2 : block + 4], "big")
        block = int.from_bytes(page[block : block + 2], "big")
    return content + used + free == PAGE


def _places(page: bytes) -> list[int]:
    """The places of a page at which a row of a store may begin.

    A row is its size, its number, the size of its header, and the kinds of its values. The first kinds are NULL and a
    key (44) in rows of items, NULL and a small integer in those of results, a text in those of `study`.
    """
    data = np.frombuffer(page + bytes(40), np.uint8)
    places = np.arange(PAGE)
    header = places
    for _ in range(2):
        header = _behind(data, header)
    kinds = _behind(data, header)
    first, second = data[kinds], data[kinds + 1]
    is_text = (first >= 128) | ((first >= 13) & (first % 2 == 1))
    is_row = is_text | ((first == 0) & np.isin(second, (44, 1, 8, 9)))
    found: list[int] = places[is_row & (data[places] > 1) & (data[header] > 2)].tolist()
    return found


def _behind(data: npt.NDArray[np.uint8], places: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The places behind the numbers of one to nine bytes that begin at these places."""
    goes_on = np.ones(len(places), dtype=bool)
    for _ in range(9):
        places = np.minimum(places + goes_on, len(data) - 3)
        goes_on = goes_on & (data[places - 1] >= 128)
    return places


def _cell(page: bytes, place: int, kind: int, others: Sequence[Mapping[int, bytes]]) -> tuple[list[Cell], int]:
    """The row at this place, in each version that its overflow pages give, and the bytes that it takes."""
    begin, number = place, 0
    size, place = _varint(page, place)
    if kind == LEAF:
        number, place = _varint(page, place)
    if not 2 <= size <= LONGEST or place >= PAGE:
        return [], 0
    local = _local(size, kind)
    data = page[place : place + local]
    if len(data) < local or (data[0] > min(size, 127) and data[0] < 128):
        return [], 0
    place += local
    if local == size:
        values = _record(data)
        return ([] if values is None else [Cell(_signed(number), values)]), max(place - begin, 4)
    first = int.from_bytes(page[place : place + 4], "big")
    found: list[Cell] = []
    for pages in others:
        whole = data + _overflow(first, size - local, pages)
        values = _record(whole) if len(whole) == size else None
        if values is not None and Cell(_signed(number), values) not in found:
            found.append(Cell(_signed(number), values))
    return found, place + 4 - begin


def _local(size: int, kind: int) -> int:
    """The bytes of a row of this size that are in its own page."""
    most = PAGE - 35 if kind == LEAF else (PAGE - 12) * 64 // 255 - 23
    if size <= most:
        return size
    least = (PAGE - 12) * 32 // 255 - 23
    local = least + (size - least) % (PAGE - 4)  # so that the last overflow page is full
    return local if local <= most else least


def _overflow(number: int, size: int, pages: Mapping[int, bytes]) -> bytes:
    """The bytes of a chain of overflow pages, or fewer where it breaks."""
    pieces = []
    while size > 0 and number in pages:
        page = pages[number]
        pieces.append(page[4 : 4 + min(size, PAGE - 4)])
        size -= len(pieces[-1])
        number = int.from_bytes(page[:4], "big")
    return b"".join(pieces)


def _record(data: bytes) -> Values | None:
    """The values of a row, or None where these bytes are no row."""
    header, place = _varint(data, 0)
    if not place <= header <= len(data):
        return None
    kinds, end = [], header
    while place < header:
        kind, place = _varint(data, place)
        end += _size(kind)
        if end > len(data):
            return None
        kinds.append(kind)
    if place != header or end != len(data):
        return None
    values: list[Any] = []
    for kind in kinds:
        size = _size(kind)
        piece = data[place : place + size]
        if kind >= 12:
            try:
                values.append(piece.decode() if kind % 2 else piece)
            except UnicodeDecodeError:
                return None
        elif kind == 7:
            values.append(struct.unpack(">d", piece)[0])
        elif size:
            values.append(int.from_bytes(piece, "big", signed=True))
        else:
            values.append(None if kind == 0 else kind - 8)
        place += size
    return tuple(values)


def _size(kind: int) -> int:
    """The bytes of a value of this kind; more than any row has where there is no such kind."""
    return (kind - 12) // 2 if kind >= 12 else SIZES[kind] if kind >= 0 else LONGEST


def _varint(data: bytes, place: int) -> tuple[int, int]:
    """A number of one to nine bytes, and the place behind it."""
    value = 0
    for k in range(9):
        if place >= len(data):
            return -1, place
        byte = data[place]
        place += 1
        if k == 8:
            return value << 8 | byte, place
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, place
    return value, place


def _signed(number: int) -> int:
    return number - (1 << 64) if number >= 1 << 63 else number
