"""OBJ files of Wavefront: points and faces; groups, materials, curves and texture coordinates do not matter."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt


def read(data: bytes) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """The corner points, shape (n, 3), and triangles, shape (m, 3), of an OBJ file with this content.

    A face with more corners is divided into triangles about its first corner.
    """
    points: list[list[bytes]] = []
    triangles: list[tuple[int, int, int]] = []
    for line in data.replace(b"\\\r\n", b" ").replace(b"\\\n", b" ").splitlines():
        word, *rest = line.partition(b"#")[0].split() or [b""]
        if word == b"v":
            points.append(rest[:3])
        elif word == b"f":
            numbers = [int(corner.partition(b"/")[0]) for corner in rest]  # from 1, or from -1 backward
            if 0 in numbers:
                raise ValueError("a face names point 0; the first point is 1")
            first, *others = [k - 1 if k > 0 else len(points) + k for k in numbers]
            triangles += [(first, a, b) for a, b in pairwise(others)]
    return np.array(points, dtype=float).reshape(-1, 3), np.array(triangles, dtype=np.int64).reshape(-1, 3)
