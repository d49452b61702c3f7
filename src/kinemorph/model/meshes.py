"""Surfaces from mesh files, read when they are drawn: STL, OBJ and DAE here, PLY, OFF and GLB by trimesh.

Files are cached, and read again when they change. Materials and textures that a file refers to are not opened. The size
of a file and its number of faces are limited.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.disk_cache import kept_data
from kinemorph.errors import MissingExtraError, ModelError
from kinemorph.model import hulls
from kinemorph.model.hulls import hull_points
from kinemorph.model.mesh_files import read_collada, read_obj, read_stl
from kinemorph.model.shapes import Mesh, MeshFile

FILE_SIZE = 128_000_000  # bytes
FACES = 2_000_000
STAY = 0.02  # weight of the distance from the mean of the merged corners, relative to the distances from planes

Points = npt.NDArray[np.float64]
Faces = npt.NDArray[np.int64]


def surface(mesh_file: MeshFile, *, faces: int | None = None) -> Mesh:
    """The surface of a mesh file in meters, with the scale, placement and color of `mesh_file`.

    With `faces`, the surface is simplified to at most that many triangles, for pictures. Raises ModelError with the
    reason if the file cannot be read, MissingExtraError if it takes trimesh and that is not installed.
    """
    vertices, triangles = _arrays(mesh_file, faces)
    return Mesh(
        tuple(map(tuple, vertices.tolist())),
        tuple(map(tuple, triangles.tolist())),
        mesh_file.source,
        mesh_file.placement,
        mesh_file.color,
        mesh_file.surface,
    )


def vertices(mesh_file: MeshFile) -> Points:
    """The corner points of a mesh file [m], shape (n, 3), with its scale; raises what `surface` raises."""
    return _arrays(mesh_file, None)[0]


def file_state(mesh_file: MeshFile) -> tuple[int, int]:
    """When a mesh file has changed [ns], and its size [bytes]; zeros where there is no such file."""
    try:
        state = os.stat(mesh_file.path)
    except OSError:
        return 0, 0
    return state.st_mtime_ns, state.st_size


def hull_of_file(mesh_file: MeshFile, tolerance: float | None = None) -> Points:
    """The points of `hulls.hull_points` of a mesh file [m], shape (n, 3). They are kept on disk: a file is read once.

    Raises what `surface` raises.
    """
    try:
        content = Path(mesh_file.path).read_bytes()
    except OSError:  # `vertices` says why
        content = None
    if content is None or len(content) > FILE_SIZE:
        return hull_points(vertices(mesh_file), tolerance)

    def made() -> bytes:
        corners, _ = _parsed(Path(mesh_file.path), content)  # and not what was read from a file of this name before
        return hull_points(corners * np.array(mesh_file.scale), tolerance).tobytes()

    sources = [Path(__file__).read_bytes(), Path(hulls.__file__).read_bytes(), _version().encode()]
    numbers = repr((Path(mesh_file.path).suffix, mesh_file.scale, tolerance)).encode()
    return np.frombuffer(kept_data([*sources, numbers, content], made) or b"").reshape(-1, 3)


def _version() -> str:
    """The version of trimesh; empty where it is not installed."""
    try:
        return version("trimesh")
    except PackageNotFoundError:
        return ""


def _arrays(mesh_file: MeshFile, faces: int | None) -> tuple[Points, Faces]:
    """The corner points [m] and triangles of a mesh file, in its own axes."""
    if not mesh_file.path:
        raise ModelError(f"mesh '{mesh_file.source}': the file was not found. Put it where the model names it.")
    try:
        state = os.stat(mesh_file.path)
    except OSError as error:
        raise ModelError(
            f"mesh '{mesh_file.source}': the file cannot be read: {error.strerror}. Check its permissions."
        ) from None
    vertices, triangles = _coarse(mesh_file.path, state.st_mtime_ns, state.st_size, faces)
    return vertices * np.array(mesh_file.scale), triangles


@lru_cache(maxsize=256)
def _coarse(path: str, changed: int, size: int, faces: int | None) -> tuple[Points, Faces]:
    vertices, triangles = _read(path, changed, size)
    return (vertices, triangles) if faces is None else coarsened(vertices, triangles, faces)


@lru_cache(maxsize=16)
def _read(path: str, changed: int, size: int) -> tuple[Points, Faces]:
    """The corner points, shape (n, 3), and triangles, shape (m, 3), of a file.

    `changed` is the time of its last change [ns] and `size` its size [bytes]: a changed file is not found in the cache.
    """
    name = Path(path).name
    if size > FILE_SIZE:
        raise ModelError(f"mesh '{name}': the file has {size} bytes, expected at most {FILE_SIZE}. Simplify it.")
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise ModelError(f"mesh '{name}': the file cannot be read: {error.strerror}. Check its permissions.") from None
    return _parsed(Path(path), data)


def _parsed(path: Path, data: bytes) -> tuple[Points, Faces]:
    """The corner points, shape (n, 3), and triangles, shape (m, 3), of a file with this content."""
    name, ending = path.name, path.suffix.lower().lstrip(".")
    read = READERS.get(ending)
    if read is None:
        expected = ", ".join(READERS)
        raise ModelError(f"mesh '{name}': the ending is '.{ending}', expected one of {expected}. Convert the file.")
    try:
        vertices, triangles = read(data)
    except MissingExtraError:
        raise
    except Exception as error:  # parsers raise errors of any type for a broken file
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        what = f"the file cannot be read as {ending.upper()}: {reason}"
        raise ModelError(f"mesh '{name}': {what}. Export it again.") from None
    if not len(triangles) or not np.isfinite(vertices).all():
        raise ModelError(f"mesh '{name}': the file has no triangles, or points that are not finite. Export it again.")
    if len(triangles) > FACES:
        raise ModelError(f"mesh '{name}': the file has {len(triangles)} faces, expected at most {FACES}. Simplify it.")
    if triangles.min() < 0 or triangles.max() >= len(vertices):
        raise ModelError(f"mesh '{name}': a face names a point that the file does not have. Export it again.")
    return vertices, triangles


def _by_trimesh(ending: str) -> Callable[[bytes], tuple[Points, Faces]]:
    """A function that reads files of a format with trimesh, whose import takes half a second."""

    def read(data: bytes) -> tuple[Points, Faces]:
        trimesh = _trimesh()
        whole = trimesh.load_scene(BytesIO(data), file_type=ending, process=False, skip_materials=True).to_mesh()
        return np.asarray(whole.vertices, dtype=float), np.asarray(whole.faces, dtype=np.int64)

    return read


READERS: dict[str, Callable[[bytes], tuple[Points, Faces]]] = {
    "stl": read_stl,
    "dae": read_collada,
    "obj": read_obj,
    **{ending: _by_trimesh(ending) for ending in ("ply", "off", "glb")},
}


def _trimesh() -> Any:
    try:
        import trimesh
    except ImportError:
        raise MissingExtraError("trimesh", "view") from None
    logging.getLogger("trimesh").setLevel(logging.CRITICAL)  # our error says what trimesh would print
    return trimesh


def coarsened(vertices: Points, triangles: Faces, faces: int) -> tuple[Points, Faces]:
    """A simplified surface of at most `faces` triangles, by vertex clustering (Rossignac & Borrel 1993).

    All corners in one cell of a grid are merged, and triangles that lose a corner are removed. The grid is made coarser
    until few enough triangles are left. Merged corners move to where the planes of their triangles meet (Lindstrom
    2000), so that edges stay sharp.
    """
    low, extent = vertices.min(axis=0), float(np.ptp(vertices, axis=0).max())
    cells = 2 * int(faces**0.5) + 2
    while len(triangles) > faces and extent > 0.0:
        x, y, z = np.floor((vertices - low) * (cells / extent)).astype(np.int64).T
        _, cluster = np.unique((x * (cells + 1) + y) * (cells + 1) + z, return_inverse=True)
        joined = cluster[triangles]
        kept = joined[(np.diff(np.sort(joined, axis=1), axis=1) > 0).all(axis=1)]  # three different corners
        a, b, c = np.sort(kept, axis=1).T
        count = int(cluster.max()) + 1
        _, once = np.unique((a * count + b) * count + c, return_index=True)
        if len(once) <= faces or cells <= 4:
            corners = _meeting_points(vertices, triangles, cluster, count, extent / cells)
            return corners, kept[np.sort(once)][:faces]
        cells = max(4, min(cells - 1, int(cells * max(0.6, 1.02 * (faces / len(once)) ** 0.5))))
    return vertices, triangles[:faces]


def _meeting_points(vertices: Points, triangles: Faces, cluster: Faces, count: int, edge: float) -> Points:
    """For each cluster of corners, the point where the planes of its triangles meet, shape (count, 3) [m].

    In directions that the planes do not determine, as in a flat region, the point stays at the mean of the corners. It
    is never farther from that mean than the edge length `edge` [m] of a cell. The point x with the least sum of squared
    distances from the planes n x = d, weighted by the triangle areas w, solves  (sum w n n^T) x = sum w d n  (Garland &
    Heckbert 1997). `cluster` holds the cluster of each corner.
    """
    sums = np.stack([np.bincount(cluster, column, count) for column in vertices.T], axis=1)
    middle = sums / np.bincount(cluster, minlength=count)[:, None]
    p, q, r = (vertices[triangles[:, k]] for k in range(3))
    across = np.cross(q - p, r - p)
    area = np.linalg.norm(across, axis=1, keepdims=True)
    n = across / np.where(area > 0.0, area, 1.0)
    A, b = np.zeros((count, 3, 3)), np.zeros((count, 3))
    for k in range(3):
        at = cluster[triangles[:, k]]
        d = np.einsum("ij,ij->i", n, p - middle[at])  # relative to the mean, for less rounding error
        for i in range(3):
            weighted = area[:, 0] * n[:, i]
            b[:, i] += np.bincount(at, weighted * d, count)
            for j in range(i, 3):
                A[:, i, j] += np.bincount(at, weighted * n[:, j], count)
    A += np.swapaxes(np.triu(A, 1), 1, 2)
    weight = np.maximum(np.trace(A, axis1=1, axis2=2), 1e-300)
    A += (STAY * weight)[:, None, None] * np.eye(3)
    step = np.linalg.solve(A / weight[:, None, None], (b / weight[:, None])[..., None])[..., 0]
    length = np.linalg.norm(step, axis=1, keepdims=True)
    moved: Points = middle + step * np.minimum(1.0, 0.9 * edge / np.maximum(length, 1e-300))
    return moved
