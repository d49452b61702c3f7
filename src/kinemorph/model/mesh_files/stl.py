"""STL files, binary or as text."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FACET = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attributes", "<u2")])  # of a binary file


def read(data: bytes) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """The corner points, shape (3 m, 3), and triangles, shape (m, 3), of an STL file with this content."""
    count = int.from_bytes(data[80:84], "little")
    if count and len(data) >= 84 + FACET.itemsize * count:
        corners = np.frombuffer(data, FACET, count, offset=84)["corners"].reshape(-1, 3).astype(float)
    else:
        lines = (line.lower().split() for line in data.splitlines())
        corners = np.array([words[1:4] for words in lines if words[:1] == [b"vertex"]], dtype=float).reshape(-1, 3)
        if not len(corners):
            raise ValueError(f"it has {len(data)} bytes, where its header announces {count} triangles")
    return corners, np.arange(len(corners), dtype=np.int64).reshape(-1, 3)
