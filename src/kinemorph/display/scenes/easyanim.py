"""Scenes as files of EasyDyn's viewer EasyAnim: .vol (geometry), .van (frames) and .vmo (modes).

    x.vol   a title; the number of nodes, and a line `name x y z` for each; the number of edges, and a line
            `name node node color` for each; the number of sides, and a line `name count node ... color` for each
    x.van   for every frame the positions x y z [m] of all nodes, in their order
    x.vmo   for every mode its pole: real and imaginary part [1/s], frequency [Hz], share of critical damping; then the
            positions of all nodes for its real part, then for its imaginary part: the viewer shows
            p = p0 + (p_re - p0) cos + (p_im - p0) sin, scaled to a visible size

A .van file has every node at every time, so that a round shape of 300 corners costs as much as 40 boxes. Frames
therefore show boxes around the shapes, as EasyDyn's own programs do, unless `meshes` asks for all corners.

Names are words of at most 39 letters, colors are numbers from 0 to 15. This is how EasyAnim 1.3 (O. Verlinden, 2003)
reads these files; later versions know names of colors too (`prop`), whose order of values differs from version to
version, so that none are written here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.display.looks.quaternions import rotated
from kinemorph.display.scenes.scene import WORLD_OWNER, Figure, Mark, Part, Scene, Surface
from kinemorph.display.scenes.spans import Spans
from kinemorph.display.scenes.surfaces import look_surface
from kinemorph.errors import KinemorphError, UnsupportedError

# red, green and blue of the 16 colors of EasyAnim, by number
PALETTE = np.array(
    [
        *((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (0.0, 1.0, 1.0), (1.0, 0.0, 0.0), (1.0, 0.0, 1.0)),
        *((0.5, 0.2, 0.0), (0.8, 0.8, 0.8), (0.25, 0.25, 0.25), (0.0, 0.5, 1.0), (0.0, 1.0, 0.5), (0.5, 1.0, 1.0)),
        *((1.0, 0.5, 0.5), (1.0, 0.5, 1.0), (1.0, 1.0, 0.0), (1.0, 1.0, 1.0)),
    ]
)
SHOWN = ("shapes", "elements")  # layers that are written
EDGE_COLOR = 8  # dark gray
CREASE = np.cos(np.radians(25.0))  # an edge is drawn where sides meet at a larger angle
LONGEST_TITLE = 150  # letters
MOST_POSITIONS = 20_000_000  # of nodes in all frames: more would be a file of about 600 MB
Whole = npt.NDArray[np.intp]


# corners and sides of a box
CORNERS = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
QUADS = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
BOX = np.array([side for a, b, c, d in QUADS for side in ((a, b, c), (a, c, d))])


def box_of(surface: Surface, turned: bool = True) -> Surface:
    """A box around a surface; a surface with no more corners than a box is returned unchanged.

    The edges are along the axes of the body or, where that box is smaller and `turned` allows it, along the principal
    axes of the corners: a slanted rod gets a slanted box.
    """
    points = np.unique(surface.points, axis=0)
    if len(points) <= len(CORNERS):
        return surface
    frames = [np.eye(3)]
    if turned:
        frames.append(np.linalg.eigh(np.cov(points.T))[1])
    boxes = [((points @ R).min(axis=0), np.ptp(points @ R, axis=0), R) for R in frames]
    low, size, R = min(boxes, key=lambda box: float(np.prod(box[1])) * (1.0 if box[2] is frames[0] else 1.01))
    if np.linalg.det(R) < 0.0:  # a reflection would turn the sides inside out
        low, size, R = np.append(-(low + size)[:1], low[1:]), size, R * (-1.0, 1.0, 1.0)
    return replace(surface, points=(low + CORNERS * size) @ R.T, faces=BOX)


@dataclass(frozen=True, eq=False)
class Solid:
    """A triangle mesh without doubled points: points (n, 3) [m], sides (m, 3) and edges (k, 2) of point numbers."""

    points: Array
    sides: Whole
    edges: Whole
    color: int


def solid_of(surface: Surface, color: Sequence[float]) -> Solid:
    """A surface with one point where several corners meet, and with its sharp edges."""
    size = float(np.abs(surface.points).max(initial=0.0)) or 1.0
    grid = np.round(surface.points / (1e-9 * size)).astype(np.int64)
    _, first, number = np.unique(grid, axis=0, return_index=True, return_inverse=True)
    points, sides = surface.points[first], number.reshape(-1)[surface.faces]
    sides = sides[(sides[:, 0] != sides[:, 1]) & (sides[:, 1] != sides[:, 2]) & (sides[:, 2] != sides[:, 0])]
    across = np.cross(points[sides[:, 1]] - points[sides[:, 0]], points[sides[:, 2]] - points[sides[:, 0]])
    normals = across / np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-300)
    beside: dict[tuple[int, int], list[int]] = {}
    for k, side in enumerate(sides.tolist()):
        for a, b in zip(side, (*side[1:], side[0]), strict=True):
            beside.setdefault((min(a, b), max(a, b)), []).append(k)
    sharp = [ends for ends, some in beside.items() if len(some) != 2 or normals[some[0]] @ normals[some[1]] < CREASE]
    nearest = int(np.argmin(((PALETTE - np.asarray(color[:3])) ** 2).sum(axis=1)))
    return Solid(points, sides, np.array(sharp, dtype=np.intp).reshape(-1, 2), nearest)


class Geometry:
    """The nodes, edges and sides of a scene, and where the nodes are at each of its times."""

    def __init__(self, scene: Scene, meshes: bool = True) -> None:
        """The solids in the order of their nodes: grounds, then for each figure its parts and its marks.

        Parts and marks are boxes unless `meshes` asks for all corners of their shapes.
        """
        self.scene = scene
        self.grounds = [solid_of(part.surface, part.color) for part in scene.grounds]
        self.figures = [_Moving(figure, meshes) for figure in scene.figures]
        self.solids = [*self.grounds, *(solid for one in self.figures for solid in one.solids)]
        self.count = sum(len(solid.points) for solid in self.solids)
        self.title = " ".join(scene.title.split()).encode("ascii", "replace").decode()[:LONGEST_TITLE] or "scene"

    @property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """The two nodes of every edge, counted from 0."""
        return tuple((a, b) for start, solid in self._begun() for a, b in (solid.edges + start).tolist())

    @property
    def sides(self) -> tuple[tuple[int, int, int, int], ...]:
        """The three nodes of every side, counted from 0, and its color."""
        found = ((solid.color, row) for start, solid in self._begun() for row in (solid.sides + start).tolist())
        return tuple((a, b, c, color) for color, (a, b, c) in found)

    def _begun(self) -> Iterator[tuple[int, Solid]]:
        """Every solid, with the number of the nodes before it."""
        starts = np.cumsum([0, *(len(solid.points) for solid in self.solids)]).tolist()
        return zip(starts, self.solids, strict=False)

    def positions(self, frame: int) -> Array:
        """The positions (count, 3) [m] of all nodes at a time of the scene, by its index."""
        found = [solid.points for solid in self.grounds]
        found += [points for one in self.figures for points in one.positions(frame)]
        return np.concatenate(found) if found else np.zeros((0, 3))

    def lines(self, positions: Array) -> Iterator[str]:
        """The lines of the .vol file, with the nodes at these positions (count, 3) [m]."""
        yield self.title
        yield f"{self.count}"
        yield from (f"n{k} {_written(row)}" for k, row in enumerate(positions, 1))
        edges, sides = self.edges, self.sides
        yield f"{len(edges)}"
        yield from (f"e{k} n{a + 1} n{b + 1} {EDGE_COLOR}" for k, (a, b) in enumerate(edges, 1))
        yield f"{len(sides)}"
        yield from (f"s{k} 3 n{a + 1} n{b + 1} n{c + 1} {color}" for k, (a, b, c, color) in enumerate(sides, 1))


class _Moving:
    """The solids of one figure: its parts, which move with their bodies, and its marks, which stretch."""

    def __init__(self, figure: Figure, meshes: bool) -> None:
        self.figure = figure
        self.parts: list[Part] = [part for part in figure.parts if part.layer in SHOWN]
        self.marks: list[Mark] = [mark for mark in figure.marks if mark.layer in SHOWN]
        self.spans = Spans(self.marks)
        drawn = [(part.surface, part.color, True) for part in self.parts]
        drawn += [(look_surface(mark.look), mark.color, False) for mark in self.marks]  # which stretch along their axes
        self.solids = [solid_of(one if meshes else box_of(one, free), color) for one, color, free in drawn]

    def positions(self, frame: int) -> Iterator[Array]:
        """The positions of the nodes of each solid at a time; what is not shown then is at one point."""
        figure = self.figure
        places, turns = figure.positions[frame], figure.quaternions[frame]
        for part, solid in zip(self.parts, self.solids, strict=False):
            size = 1.0 if part.shown is None or part.shown[frame] else 0.0
            if part.owner == WORLD_OWNER:
                yield size * solid.points + figure.offset
            else:
                yield rotated(turns[part.owner], size * solid.points) + places[part.owner] + figure.offset
        placed = self.spans.placed(places, turns, frame)
        for k, solid in enumerate(self.solids[len(self.parts) :]):
            yield rotated(placed.quaternions[k], solid.points * placed.scales[k]) + placed.positions[k] + figure.offset


def write_vol(scene: Scene, path: Path | str, frame: int = 0) -> Path:
    """Writes a scene at one of its times, by its index, as a .vol file, and returns its path."""
    geometry = checked_geometry(scene, 1)
    path = Path(path).with_suffix(".vol")
    _write(path, geometry.lines(geometry.positions(frame)))
    return path


def write_van(scene: Scene, path: Path | str, *, meshes: bool = False) -> Path:
    """Writes a scene as a .vol file and all its times as a .van file beside it, whose path is returned.

    Shapes are boxes; with `meshes` they have all their corners, and the file grows by their number.
    """
    geometry = checked_geometry(scene, len(scene.times), meshes)
    path = Path(path).with_suffix(".van")
    _write(path.with_suffix(".vol"), geometry.lines(geometry.positions(0)))
    _write(path, (_written(row) for k in range(len(scene.times)) for row in geometry.positions(k)))
    return path


def write_vmo(scene: Scene, poles: Sequence[complex], path: Path | str) -> Path:
    """Writes mode shapes as a .vmo file, with the geometry at rest as a .vol file beside it; returns its path.

    The first time of the scene is the state of rest; the next ones are those of each mode, at the phases 0 and 90
    degrees of its oscillation. `poles` [1/s] are those of the modes.
    """
    geometry = checked_geometry(scene, len(scene.times))
    path = Path(path).with_suffix(".vmo")
    _write(path.with_suffix(".vol"), geometry.lines(geometry.positions(0)))
    _write(path, _modes(geometry, poles))
    return path


def _modes(geometry: Geometry, poles: Sequence[complex]) -> Iterator[str]:
    for k, pole in enumerate(poles):
        size = abs(pole)
        damping = -pole.real / size if size else 0.0
        yield f"{pole.real:.9g} {pole.imag:.9g} {abs(pole.imag) / (2.0 * np.pi):.9g} {damping:.9g}"
        for frame in (1 + 2 * k, 2 + 2 * k):
            yield from map(_written, geometry.positions(frame))


def checked_geometry(scene: Scene, frames: int, meshes: bool = True) -> Geometry:
    """The geometry of a scene. Raises UnsupportedError if it has nothing to show, or files would be too long."""
    geometry = Geometry(scene, meshes)
    if not geometry.count:
        raise UnsupportedError(f"'{scene.title}' has no shapes, and EasyAnim shows shapes only. Give bodies shapes.")
    if frames * geometry.count > MOST_POSITIONS:
        raise UnsupportedError(
            f"'{scene.title}' has {geometry.count:,} nodes at {frames:,} times, more than {MOST_POSITIONS:,} positions."
            " Lower fps, or give bodies simpler shapes"
            + (", or leave meshes out: boxes have 8 nodes each." if meshes else ".")
        )
    return geometry


def _written(row: Array) -> str:
    x, y, z = row.tolist()
    return f"{x:.7g} {y:.7g} {z:.7g}"


def _write(path: Path, lines: Iterator[str]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="ascii", newline="\n") as file:
            file.writelines(f"{line}\n" for line in lines)
    except OSError as error:
        reason = error.strerror or error
        raise KinemorphError(f"cannot write '{path}': {reason}. Choose another folder or file name.") from error
