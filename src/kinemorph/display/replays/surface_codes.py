"""Encodes surfaces, each distinct one once: 16-bit corners, normals in octahedral coordinates, faces as differences.

Many parts are the same surface stretched, rotated and moved: balls, rods, the equal legs of a walker. A surface with
the same faces as another, and corners that are an affine map of the other's, is stored as the twelve numbers of that
map. For pages that get one scene after another, surfaces have keys that depend only on their content.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.display.replays.codes import Codes, Reference
from kinemorph.display.replays.joint_rows import short
from kinemorph.display.scenes.scene import Surface

STEPS = 65534  # steps of a 16-bit coordinate; even, so that symmetric surfaces stay symmetric
OCTAHEDRON = 511  # steps of a normal along an edge of the octahedron, a sixth of a degree each
SAME = 1e-6  # largest difference of equal corners, as a fraction of the surface's size
SAME_NORMAL = 1e-4  # largest difference of equal normals
COMPARED = 12  # largest number of surfaces with the same faces to which a new one is compared


class SurfaceCodes:
    """The distinct surfaces of a scene; `rows` are their data in the header: encoded arrays or affine maps."""

    def __init__(self, codes: Codes) -> None:
        self.rows: list[dict[str, Any]] = []
        self._codes = codes
        self._maps: list[Array] = []
        self._by_identity: dict[int, tuple[int, Surface]] = {}  # keeps the surface, so that its id stays unique
        self._by_content: dict[str, int] = {}
        self._by_faces: dict[bytes, list[tuple[int, Surface]]] = {}

    def number(self, surface: Surface) -> int:
        """The index of a surface in `rows`, to which it is added if it is new."""
        found = self._by_identity.get(id(surface))
        if found is None:
            found = self._by_identity[id(surface)] = (self._find(surface), surface)
        return found[0]

    def _find(self, surface: Surface) -> int:
        if surface.base is not None and surface.image is not None:
            return self._image(self.number(surface.base), surface.image)
        key = content_key(surface)
        return self._added(key, lambda: self._row(surface, len(self.rows), key))

    def maps(self) -> Reference:
        """Adds all affine maps, row-major (12, n), to the codes; call it after the last surface."""
        return self._codes.add_floats(np.array(self._maps, dtype=np.float32).reshape(-1, 12).T)

    def forgotten(self) -> list[str]:
        """Keys of surfaces that the page may forget; none where surfaces have no keys."""
        return []

    def _image(self, base: int, image: Array) -> int:
        content = f"{base} {np.ascontiguousarray(image, dtype=np.float32).tobytes().hex()}"
        return self._added(content, lambda: self._image_row(base, image))

    def _image_row(self, base: int, image: Array) -> dict[str, Any]:
        """The row of an affine image (3, 4): the number of the surface, and the number of its map."""
        self._maps.append(image.ravel())
        return {"of": base, "map": len(self._maps) - 1}

    def _added(self, content: str, row: Callable[[], dict[str, Any]]) -> int:
        """The index of the row with this content, to be made by `row` if there is none."""
        if content not in self._by_content:
            self._by_content[content] = len(self.rows)
            self.rows.append(row())
        return self._by_content[content]

    def _row(self, surface: Surface, number: int, key: str) -> dict[str, Any]:
        alike = self._by_faces.setdefault(surface.faces.tobytes(), [])
        for other, base in alike[:COMPARED]:
            image = affine_image(base, surface)
            if image is not None:
                return self._image_row(other, image)
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


class KeyedSurfaceCodes(SurfaceCodes):
    """Surfaces with their content keys; of those whose key is in `known`, nothing but the key is stored."""

    def __init__(self, codes: Codes, known: set[str], most: int | None = None) -> None:
        super().__init__(codes)
        self._known, self._most = known, most

    def forgotten(self) -> list[str]:
        """Keys that the scene does not use, if more than `most` are known; they are not known any longer."""
        if self._most is None or len(self._known) <= self._most:
            return []
        unused = self._known.difference(row.get("key") for row in self.rows)
        self._known -= unused
        return sorted(unused)

    def _row(self, surface: Surface, number: int, key: str) -> dict[str, Any]:
        if key in self._known:
            return {"key": key}
        self._known.add(key)
        return {"key": key, **self._coded(surface)}


_KEYS: WeakKeyDictionary[Surface, str] = WeakKeyDictionary()


def content_key(surface: Surface) -> str:
    """A text that depends only on the corners, normals and faces of a surface, up to rounding."""
    key = _KEYS.get(surface)
    if key is None:
        scale = float(np.abs(surface.points).max(initial=0.0)) or 1.0
        content = blake2b(surface.faces.tobytes() + repr((surface.points.shape, short(scale))).encode(), digest_size=12)
        content.update(np.round(surface.points / (1e-7 * scale)).astype(np.int64).tobytes())
        content.update(np.round(surface.normals * 1e4).astype(np.int64).tobytes())
        key = _KEYS[surface] = content.hexdigest()
    return key


def affine_image(base: Surface, surface: Surface) -> Array | None:
    """The affine map (3, 4) from the corners of `base` to those of `surface`, which have the same faces.

    None where no affine map fits both corners and normals.
    """
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
    """Unit vectors (n, 3) in octahedral coordinates, as integers (n, 2).

    A vector is projected on an octahedron, whose lower half is folded outward into the plane: Meyer, Suessmuth,
    Sussner, Stamminger and Greiner (2010).
    """
    on = normals / np.abs(normals).sum(axis=1, keepdims=True)
    signs = np.where(on[:, :2] < 0.0, -1.0, 1.0)
    folded = np.where(on[:, 2:] < 0.0, (1.0 - np.abs(on[:, 1::-1])) * signs, on[:, :2])
    steps: npt.NDArray[np.int64] = np.round(folded * OCTAHEDRON).astype(np.int64)
    return steps


def _rows_of_differences(faces: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """Faces as three channels (3, m): the index of the first corner, and the differences of the other two to it."""
    wide = faces.astype(np.int64)
    return np.stack([wide[:, 0], wide[:, 1] - wide[:, 0], wide[:, 2] - wide[:, 0]])
