"""Compresses arrays of integers.

A row of an array is a channel: one coordinate over time, or one column of a list of points. Neighbors in a channel are
similar, so differences of neighbors are stored, or differences of differences, up to MOST_DIFFERENCES times, whichever
is smallest for the channel. Zigzag coding (0, -1, 1, -2, ... become 0, 1, 2, 3, ...) makes these small numbers
positive. The four bytes of all numbers are stored as four planes, of which the high ones are mostly zero or left out.
Deflate compresses the result.

Numbers have 32 bits and overflow without loss.
"""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

MOST_DIFFERENCES = 4
Reference = list[Any]  # [first byte, channels, numbers per channel, planes, order of differences of each channel]


class Codes:
    """A growing store of compressed arrays; adding one returns the reference by which the page finds it."""

    def __init__(self) -> None:
        self._planes: list[bytes] = []
        self._size = 0
        self._known: dict[bytes, Reference] = {}

    def add(self, numbers: npt.ArrayLike, *, most: int = MOST_DIFFERENCES) -> Reference:
        """Adds 32-bit integers, shape (channels, n), and returns their reference; equal arrays are stored once.

        `most` limits the order of differences.
        """
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
        """Adds single-precision values, shape (channels, n), as their bits, so that NaN stays NaN; see `add`."""
        rows: npt.NDArray[np.float32] = np.atleast_2d(np.asarray(values, dtype=np.float32))
        return self.add(np.ascontiguousarray(rows).view(np.int32))

    def text(self, header: bytes) -> str:
        """The whole store as text: its bytes, compressed as well as possible, in base 64."""
        return base64.b64encode(self.bytes(header, effort=9)).decode("ascii")

    def bytes(self, header: bytes, *, effort: int) -> bytes:
        """The whole store, deflated with an effort from 1 to 9: the length of the header (4 bytes), it, the planes."""
        return zlib.compress(b"".join([len(header).to_bytes(4, "little"), header, *self._planes]), effort)
