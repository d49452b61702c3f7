"""Mesh files: COLLADA, STL and OBJ, each read by a function from the bytes of a file to points and triangles.

COLLADA, .dae: the triangles of the scene, in meters; controllers, curves and materials do not matter. STL is binary or
text. OBJ of Wavefront: points and faces; groups, materials, curves and texture coordinates do not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

Points = npt.NDArray[np.float64]
Faces = npt.NDArray[np.int64]

DEEPEST = 100  # nodes within nodes
MOST = 10_000  # geometries in a scene: nodes may name others several times
UNREAD = ("tristrips", "ph")  # strips, and polygons with holes
FACET = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attributes", "<u2")])  # of a binary file


def read_collada(data: bytes) -> tuple[Points, Faces]:
    """The corner points [m], shape (n, 3), and triangles, shape (m, 3), of a COLLADA file with this content."""
    from lxml import etree

    root = etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True))
    if not str(root.tag).endswith("COLLADA"):
        raise ValueError(f"its root is <{root.tag}>, expected <COLLADA>")
    if root.getroottree().docinfo.doctype:
        raise ValueError("it has a document type declaration (<!DOCTYPE ...>); delete it in the file")
    known = {element.get("id"): element for element in root.iter("{*}*") if element.get("id")}
    unread = [tag for tag in UNREAD if root.find(f".//{{*}}{tag}") is not None]
    if unread:
        raise ValueError(f"it has <{unread[0]}>, expected triangles or polygons without holes")
    unit = root.find("{*}asset/{*}unit")
    meter = np.diag([*(3 * [1.0 if unit is None else float(unit.get("meter", 1.0))]), 1.0])
    scene = root.find("{*}scene/{*}instance_visual_scene")
    tops = root.iterfind("{*}library_visual_scenes/{*}visual_scene") if scene is None else [_named(known, scene)]
    placed = list(islice((one for top in tops for one in _instances(top, meter, known)), MOST + 1))
    if len(placed) > MOST:
        raise ValueError(f"its scene has more than {MOST} geometries")
    points, faces, count = [np.zeros((0, 3))], [np.zeros((0, 3), dtype=np.int64)], 0
    for geometry, T in placed:
        for corners, triangles in _triangles(geometry, known):
            points.append(corners @ T[:3, :3].T + T[:3, 3])
            faces.append(triangles + count)
            count += len(corners)
    return np.concatenate(points), np.concatenate(faces)


def _named(known: dict[str, Any], element: Any, key: str = "url") -> Any:
    """The element that an attribute of another one refers to, as "#id"."""
    return known[element.get(key).lstrip("#")]


def _instances(node: Any, T: Points, known: dict[str, Any], depth: int = 0) -> Iterator[tuple[Any, Points]]:
    """(geometry, its transformation (4, 4) to the world) for all geometries in a node and in the nodes below it."""
    if depth > DEEPEST:
        raise ValueError(f"its nodes are nested more than {DEEPEST} times")
    for child in node.iterchildren("{*}*"):
        kind = child.tag.rpartition("}")[2]
        if kind in STEPS:
            T = T @ STEPS[kind](np.array((child.text or "").split(), dtype=float))
        elif kind == "instance_geometry":
            yield _named(known, child), T
        elif kind in ("node", "instance_node"):
            yield from _instances(child if kind == "node" else _named(known, child), T, known, depth + 1)


def _affine(linear: Points, shift: Points) -> Points:
    made = np.eye(4)
    made[:3, :3], made[:3, 3] = linear, shift
    return made


def _turn(values: Points) -> Points:
    """The rotation about an axis (3,) by an angle [deg], by Rodrigues' formula."""
    x, y, z = values[:3] / np.linalg.norm(values[:3])
    cross, angle = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]), np.radians(values[3])
    return _affine(np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross, np.zeros(3))


STEPS: dict[str, Callable[[Points], Points]] = {
    "matrix": lambda values: values.reshape(4, 4),
    "translate": lambda values: _affine(np.eye(3), values),
    "rotate": _turn,
    "scale": lambda values: _affine(np.diag(values), np.zeros(3)),
}


def _triangles(geometry: Any, known: dict[str, Any]) -> Iterator[tuple[Points, Faces]]:
    """The corner points and triangles of each part of a geometry; polygons are divided about their first corner."""
    for part in geometry.iterfind("{*}mesh/{*}*"):
        inputs = part.findall("{*}input[@offset]")
        vertex = next((one for one in inputs if one.get("semantic") == "VERTEX"), None)
        if vertex is None:
            continue
        position = _named(known, vertex, "source").find("{*}input[@semantic='POSITION']")
        source = _named(known, position, "source")
        accessor = source.find("{*}technique_common/{*}accessor")
        stride, first = int(accessor.get("stride", 1)), int(accessor.get("offset", 0))
        numbers = np.array(source.find("{*}float_array").text.split(), dtype=float)[first:]
        corners = numbers[: len(numbers) // stride * stride].reshape(-1, stride)[:, :3]
        width = 1 + max(int(one.get("offset")) for one in inputs)
        lists = [np.array((one.text or "").split(), dtype=np.int64) for one in part.iterfind("{*}p")]
        used = [one.reshape(-1, width)[:, int(vertex.get("offset"))] for one in lists]
        counts = part.findtext("{*}vcount")
        if counts is not None:
            used = np.split(used[0], np.cumsum(np.array(counts.split(), dtype=np.int64))[:-1]) if used else []
        if part.tag.endswith("triangles"):
            yield corners, np.concatenate([np.zeros(0, dtype=np.int64), *used]).reshape(-1, 3)
        elif part.tag.endswith(("polylist", "polygons", "trifans")):
            fans = [(one[0], a, b) for one in used for a, b in pairwise(one[1:])]
            yield corners, np.array(fans, dtype=np.int64).reshape(-1, 3)


# ── STL and OBJ ───────────────────────────────────────────────────────────────────────────────────────────────────────


def read_stl(data: bytes) -> tuple[Points, Faces]:
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


def read_obj(data: bytes) -> tuple[Points, Faces]:
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
