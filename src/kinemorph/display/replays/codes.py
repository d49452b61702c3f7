"""Arrays of whole numbers as few bytes.

A row of numbers is a channel: one coordinate over time, one column of a list of points. Along a channel neighbors are
alike, so differences of neighbors are kept, and differences of those, as often as it pays: up to MOST_DIFFERENCES
times, for each channel separately. What remains is small and of both signs; zigzag (0, -1, 1, -2, ... become 0, 1, 2,
3, ...) makes it small and positive, and the four bytes of all numbers are laid down as four planes of which the high
ones are mostly zero, or left out. The deflate that follows finds the rest.

Numbers have 32 bits and wrap, so nothing is lost.
"""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

MOST_DIFFERENCES = 4
Reference = list[Any]  # [first byte, channels, numbers per channel, planes, differences of each channel as digits]


class Codes:
    """Bytes that grow as arrays are added; every addition returns the reference by which the page finds it."""

    def __init__(self) -> None:
        self._planes: list[bytes] = []
        self._size = 0
        self._known: dict[bytes, Reference] = {}

    def add(self, numbers: npt.ArrayLike, *, most: int = MOST_DIFFERENCES) -> Reference:
        """Adds whole numbers of 32 bits, shape (channels, n); an array that is there already is not added again."""
        rows = np.atleast_2d(np.asarray(numbers)).astype(np.int64).astype(np.int32)
        key = repr((rows.shape, most)).encode() + rows.tobytes()
        if key not in self._known:
            self._known[key] = self._added(rows, most)
        return self._known[key]

    def _added(self, rows: npt.NDArray[np.int32], most: int) -> Reference:
        differences = [rows]
        for _ in range(most):
            with np.errstate(over="ignore"):
                differences.append(np.diff(differences[-1], axis=1, prepend=np.int32(0)))
        bits = np.array([np.log2(1.0 + np.abs(each.astype(float))).sum(axis=1) for each in differences])
        orders = np.argmin(bits, axis=0) if rows.shape[1] else np.zeros(len(rows), dtype=int)
        chosen = np.choose(orders[:, None], differences)
        zigzag = ((chosen << 1) ^ (chosen >> 31)).astype("<u4")
        planes = zigzag.reshape(-1, 1).view(np.uint8).T
        count = max((k + 1 for k in range(4) if planes[k].any()), default=0)
        at = self._size
        self._planes += [planes[k].tobytes() for k in range(count)]
        self._size += count * planes.shape[1]
        return [at, *rows.shape, count, "".join(map(str, orders))]

    def add_floats(self, values: npt.ArrayLike) -> Reference:
        """Adds numbers of single precision, shape (channels, n), by their bits: what is not a number stays so."""
        rows: npt.NDArray[np.float32] = np.atleast_2d(np.asarray(values, dtype=np.float32))
        return self.add(np.ascontiguousarray(rows).view(np.int32))

    def text(self, header: bytes) -> str:
        """All of it deflated and as letters and digits: the length of the header (4 bytes), the header, the planes."""
        whole = b"".join([len(header).to_bytes(4, "little"), header, *self._planes])
        return base64.b64encode(zlib.compress(whole, 9)).decode("ascii")
