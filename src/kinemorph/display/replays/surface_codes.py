"""Each distinct surface once: corners in 16 bits, normals as points of an octahedron, faces as differences.

Parts are often one surface stretched, turned and moved: balls, rods, the like legs of a walker. Surfaces with the same
faces whose corners are affine images of another's are kept as that image, twelve numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.display.replays.codes import Codes
from kinemorph.display.replays.joint_rows import short
from kinemorph.display.scenes.scene import Surface

STEPS = 65534  # of 16 bits; even, so that what is symmetric stays so
OCTAHEDRON = 511  # steps of a normal along an edge: a sixth of a degree
SAME = 1e-6  # corners off by this part of a surface's size are in place
SAME_NORMAL = 1e-4
COMPARED = 12  # surfaces with the same faces that a new one is held against


class SurfaceCodes:
    """The distinct surfaces of a scene. `rows` are for the header: codes with their box, or images of others."""

    def __init__(self, codes: Codes) -> None:
        self.rows: list[dict[str, Any]] = []
        self._codes = codes
        self._by_identity: dict[int, tuple[int, Surface]] = {}  # a surface is kept, so its id stays its own
        self._by_content: dict[bytes, int] = {}
        self._by_faces: dict[bytes, list[tuple[int, Surface]]] = {}

    def number(self, surface: Surface) -> int:
        """The number of a surface among the rows, which it joins where it is new."""
        found = self._by_identity.get(id(surface))
        if found is None:
            found = self._by_identity[id(surface)] = (self._find(surface), surface)
        return found[0]

    def _find(self, surface: Surface) -> int:
        scale = float(np.abs(surface.points).max(initial=0.0)) or 1.0
        content = surface.faces.tobytes() + repr(short(scale)).encode()
        content += np.round(surface.points / (1e-7 * scale)).astype(np.int64).tobytes()
        content += np.round(surface.normals * 1e4).astype(np.int64).tobytes()
        if content not in self._by_content:
            self._by_content[content] = len(self.rows)
            self.rows.append(self._row(surface, len(self.rows)))
        return self._by_content[content]

    def _row(self, surface: Surface, number: int) -> dict[str, Any]:
        alike = self._by_faces.setdefault(surface.faces.tobytes(), [])
        for other, base in alike[:COMPARED]:
            image = affine_image(base, surface)
            if image is not None:
                return {"of": other, "map": [short(x) for x in image.ravel()]}
        alike.append((number, surface))
        return self._coded(surface)

    def _coded(self, surface: Surface) -> dict[str, Any]:
        low = surface.points.min(axis=0) if len(surface.points) else np.zeros(3)
        span = (surface.points.max(axis=0) if len(surface.points) else np.zeros(3)) - low
        steps = np.where(span > 0.0, span / STEPS, 1.0)
        return {
            "low": [short(x) for x in low],
            "step": [short(x) for x in steps],
            "points": self._codes.add(np.round((surface.points - low) / steps).T, most=1),
            "normals": self._codes.add(octahedral(surface.normals).T, most=1),
            "faces": self._codes.add(_rows_of_differences(surface.faces), most=1),
        }


def affine_image(base: Surface, surface: Surface) -> Array | None:
    """The map (3, 4) that carries the corners of `base` to those of `surface`, or None; both have the same faces."""
    if base.points.shape != surface.points.shape or len(base.points) < 4:
        return None
    size = float(np.ptp(surface.points, axis=0).max())
    from_, to = np.column_stack([base.points, np.ones(len(base.points))]), surface.points
    image, *_ = np.linalg.lstsq(from_, to, rcond=None)
    turn = image[:3].T
    if np.abs(from_ @ image - to).max() > SAME * size or abs(np.linalg.det(turn)) < 1e-12 * np.abs(turn).max() ** 3:
        return None
    normals = base.normals @ np.linalg.inv(turn) * np.sign(np.linalg.det(turn))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    found: Array = np.asarray(image.T, dtype=np.float64)
    return found if np.abs(normals - surface.normals).max() < SAME_NORMAL else None


def octahedral(normals: Array) -> npt.NDArray[np.int64]:
    """Unit vectors (n, 3) as whole numbers (n, 2): put on an octahedron, whose lower half is folded outward.

    Meyer, Suessmuth, Sussner, Stamminger and Greiner (2010).
    """
    on = normals / np.abs(normals).sum(axis=1, keepdims=True)
    signs = np.where(on[:, :2] < 0.0, -1.0, 1.0)
    folded = np.where(on[:, 2:] < 0.0, (1.0 - np.abs(on[:, 1::-1])) * signs, on[:, :2])
    steps: npt.NDArray[np.int64] = np.round(folded * OCTAHEDRON).astype(np.int64)
    return steps


def _rows_of_differences(faces: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """Three channels: the first corners, and how far the others are from them."""
    wide = faces.astype(np.int64)
    return np.stack([wide[:, 0], wide[:, 1] - wide[:, 0], wide[:, 2] - wide[:, 0]])
