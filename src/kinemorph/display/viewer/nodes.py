"""What the browser draws: bodies with their parts, marks, traces, names, the ground.

A figure is a node at its offset, its bodies are nodes under it, and parts hang under their bodies. What is hidden at
first is made when it is first shown. A moment is sent as one change.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.display.looks.quaternions import rotated
from kinemorph.display.scenes.figures import CENTER_COLOR, NODE, owner_of
from kinemorph.display.scenes.pose_interpolation import Glide
from kinemorph.display.scenes.scene import (
    LAYERS,
    LOADS,
    WORLD_OWNER,
    Color,
    Figure,
    Flags,
    Layer,
    Mark,
    Part,
    Scene,
    Surface,
    Trace,
)
from kinemorph.display.scenes.spans import Spans
from kinemorph.display.scenes.surfaces import look_surface
from kinemorph.model.parameter import evaluate_all

GAMMA = 2.2  # of a screen
MOST_POINTS = 600  # of a trace
THICKNESS = 3.0  # of a trace [pixels]
TOTAL = 2.2  # the ball of the total center of mass, against those of bodies


def screen(color: Color) -> tuple[int, int, int]:
    """A color for a mesh, as on a screen, from 0 to 255."""
    r, g, b = (round(255.0 * min(max(x, 0.0), 1.0)) for x in color[:3])
    return r, g, b


def light(color: Color) -> tuple[int, int, int]:
    """A color for a line, or for one of many copies of a mesh, as amounts of light from 0 to 255."""
    r, g, b = (round(255.0 * min(max(x, 0.0), 1.0) ** GAMMA) for x in color[:3])
    return r, g, b


class Sender:
    """Sends poses of many bodies quickly.

    Setting the pose of a node goes through checks that take 40 microseconds each, and leaves a change of less than 1e-5
    out; a frame of 50 bodies would take 4 ms. The messages themselves take a tenth of that. Where a version of the
    server has them no longer, poses are set node by node.
    """

    def __init__(self, api: Any, nodes: Sequence[Any]) -> None:
        self._nodes = nodes
        self._names = [node.name for node in nodes]
        try:
            from viser._messages import SetOrientationMessage, SetPositionMessage

            self._position: Any = SetPositionMessage
            self._orientation: Any = SetOrientationMessage
            self._queue: Any = api._queue_scene_message
        except (ImportError, AttributeError):
            self._queue = None

    def send(self, positions: Array, quaternions: Array) -> None:
        """Sends positions (n, 3) [m] and unit quaternions (n, 4) of all nodes."""
        if self._queue is None:
            for node, p, turn in zip(self._nodes, positions, quaternions, strict=True):
                node.position, node.wxyz = p, turn
            return
        for name, p, turn in zip(self._names, positions.tolist(), quaternions.tolist(), strict=True):
            self._queue(self._position(name, tuple(p)))
            self._queue(self._orientation(name, tuple(turn)))


class Way:
    """One trace of a figure: the path of a point up to the present time.

    A line has the same number of segments all the time; segments of the future lie at the present point. The path of a
    posed robot is what its point has passed since the trace was added.
    """

    def __init__(self, api: Any, name: str, figure: Figure, trace: Trace, shown: bool) -> None:
        self.trace = trace
        self._point = np.array(trace.at.point)
        self._run = len(figure.positions) > 1
        count = len(figure.positions)
        self._frames = np.unique(np.linspace(0, count - 1, min(count, MOST_POINTS)).astype(int))
        way = self._at(figure.positions, figure.quaternions)
        self._way = way[self._frames] if self._run else np.zeros((0, 3))
        color = np.array(light(trace.color), dtype=np.uint8)
        points = self._segments(way[0], 0)
        colors = np.broadcast_to(color, points.shape)
        self._node = api.add_line_segments(
            name, points, colors, thickness=THICKNESS, thickness_units="screen", visible=shown
        )

    def show(self, on: bool) -> None:
        """Shows or hides the trace."""
        self._node.visible = on

    def remove(self) -> None:
        """Removes the trace from the page."""
        self._node.remove()

    def move(self, positions: Array, quaternions: Array, frame: int, part: float) -> None:
        """Draws the path up to a time, the bodies at positions (n_b, 3) [m] and quaternions (n_b, 4)."""
        now = self._at(positions[None], quaternions[None])[0]
        passed = int(np.searchsorted(self._frames, frame, side="right"))
        if not self._run:
            if len(self._way) and np.allclose(self._way[-1], now, rtol=0.0, atol=1e-9):
                return
            self._way = np.concatenate([self._way, now[None]])[-MOST_POINTS:]
            passed = len(self._way)
        self._node.points = self._segments(now, passed)

    def _segments(self, now: Array, passed: int) -> Array:
        """Segments (n, 2, 3): the path so far, then nothing at the present point."""
        points = np.tile(now, (len(self._frames) + 1 if self._run else MOST_POINTS + 1, 1))
        points[:passed] = self._way[:passed]
        segments: Array = np.stack([points[:-1], points[1:]], axis=1).astype(np.float32)
        return segments

    def _at(self, positions: Array, quaternions: Array) -> Array:
        """The point (n, 3) [m] at n times."""
        owner = self.trace.at.owner
        if owner == WORLD_OWNER:
            return np.tile(self._point, (len(positions), 1))
        return rotated(quaternions[:, owner], np.broadcast_to(self._point, (len(positions), 3))) + positions[:, owner]


class Actor:
    """A figure on the page."""

    def __init__(self, server: Any, figure: Figure, name: str) -> None:
        self.figure, self.glide = figure, Glide(figure)
        self._server, self._root = server, f"/{_path(name)}"
        self._api = server.scene
        self._api.add_frame(self._root, show_axes=False, position=tuple(figure.offset))
        self._bodies = [self._api.add_frame(f"{self._root}/{_path(body)}", show_axes=False) for body in figure.bodies]
        self._sender = Sender(self._api, self._bodies)
        self._groups: dict[Layer, list[Any]] = {}
        self._labels: dict[str, list[Any]] = {}
        self._marks = [
            _Bundle(self._api, self._root, number, *bundle) for number, bundle in enumerate(_bundles(figure))
        ]
        self._total: Any = None
        self._shown: set[Layer] = set()
        self._passing: list[tuple[Layer, Any, Flags]] = []  # what is there at some times only
        self.ways: list[Way] = []
        for trace in figure.traces:
            self.add_trace(trace)
        # as they were sent
        self.positions, self.quaternions = figure.positions[0].copy(), figure.quaternions[0].copy()
        self._moment = (0, 0.0)

    # ── what is shown ─────────────────────────────────────────────────────────────────────────────────────────────

    def show(self, layer: Layer, on: bool) -> None:
        """Shows or hides a layer."""
        (self._shown.add if on else self._shown.discard)(layer)
        if on and layer not in self._groups:
            self._groups[layer] = list(self._made(layer))
        for handle in self._groups.get(layer, ()):
            handle.visible = on
        for bundle in self._marks:
            if bundle.layer == layer:
                bundle.show(on)
        if layer == "traces":
            for way in self.ways:
                way.show(on)
        if on:
            self.refresh()

    def label(self, kind: str, on: bool) -> None:
        """Shows or hides the names of bodies, frames or joints."""
        if on and kind not in self._labels:
            self._labels[kind] = list(self._named(kind))
        for handle in self._labels.get(kind, ()):
            handle.visible = on

    def add_trace(self, trace: Trace) -> None:
        """Draws the path of one more point; a path that is drawn already stays as it is."""
        if all(way.trace.name != trace.name for way in self.ways):
            name = f"{self._root}/trace {_path(trace.name)}"
            self.ways.append(Way(self._api, name, self.figure, trace, "traces" in self._shown))

    def clear_traces(self) -> None:
        """Removes all traces."""
        for way in self.ways:
            way.remove()
        self.ways = []

    # ── where it is ───────────────────────────────────────────────────────────────────────────────────────────────

    def move(self, positions: Array, quaternions: Array, frame: int = 0, part: float = 0.0) -> None:
        """Sends the poses of all bodies, (n_b, 3) [m] and (n_b, 4), at a share `part` from a frame to the next."""
        self.positions, self.quaternions = positions, quaternions
        self._moment = (frame, part)
        self._sender.send(positions, quaternions)
        self.refresh()

    def refresh(self) -> None:
        """Sends what follows from the poses, as far as it is shown."""
        frame, part = self._moment
        for layer, handle, shown in self._passing:
            there = layer in self._shown and bool(shown[frame])
            if handle.visible != there:
                handle.visible = there
        for bundle in self._marks:
            if bundle.layer in self._shown:
                bundle.move(self.positions, self.quaternions, frame, part)
        if "centers" in self._shown and self._total is not None:
            self._total.position = self.center_of_mass
        for way in self.ways:
            way.move(self.positions, self.quaternions, frame, part)

    @property
    def center_of_mass(self) -> Array:
        """The center of mass of all bodies, (3,) [m], without the offset."""
        figure = self.figure
        centers = rotated(self.quaternions, figure.centers) + self.positions
        mass = figure.masses.sum()
        center: Array = figure.masses @ centers / mass if mass > 0.0 else centers.mean(axis=0)
        return center

    # ── making nodes ──────────────────────────────────────────────────────────────────────────────────────────────

    def _made(self, layer: Layer) -> Iterator[Any]:
        """The meshes of a layer: parts of one body and one color are one."""
        chosen = [part for part in self.figure.parts if part.layer == layer and len(part.surface.faces)]
        for number, part in enumerate(merged(chosen)):
            handle = self._mesh(f"{self._parent(part.owner)}/{layer} {number}", part)
            if part.shown is not None:
                self._passing.append((layer, handle, part.shown))
            yield handle
        if layer == "centers" and len(self.figure.bodies) > 1 and self.figure.masses.sum() > 0.0:
            ball = look_surface("ball")
            radius = TOTAL * NODE * self.figure.size
            part = Part("center of mass", WORLD_OWNER, ball, CENTER_COLOR, "centers")
            self._total = self._mesh(f"{self._root}/center of mass", part, scale=radius)
            yield self._total

    def _mesh(self, name: str, part: Part, scale: float = 1.0) -> Any:
        return add_mesh(self._api, name, part, scale=scale)

    def _named(self, kind: str) -> Iterator[Any]:
        robot, figure = self.figure.robot, self.figure
        if kind == "bodies":
            places = [(body, number, tuple(figure.centers[number])) for number, body in enumerate(figure.bodies)]
        elif kind == "frames":
            places = [(f.name, owner_of(robot, f.body), evaluate_all(f.placement).p) for f in robot.frames]
        else:
            robots = figure.robots or (robot,)
            joints = {(j.name, j.child): j for one in robots for j in (*one.joints, *one.loops)}.values()
            places = [(j.name, owner_of(robot, j.child), evaluate_all(j.child_placement).p) for j in joints]
        for name, owner, point in places:
            at = tuple(float(x) for x in point)
            yield self._api.add_label(f"{self._parent(owner)}/name of {kind} {_path(name)}", name, position=at)

    def _parent(self, owner: int) -> str:
        return self._root if owner == WORLD_OWNER else str(self._bodies[owner].name)


class _Bundle:
    """Marks of one look and layer: one node of many copies."""

    def __init__(self, api: Any, root: str, number: int, layer: Layer, marks: Sequence[Mark]) -> None:
        self.layer = layer
        self._spans = Spans(marks)
        surface = look_surface(marks[0].look)
        count = len(marks)
        self._node = api.add_batched_meshes_simple(
            f"{root}/{layer} {marks[0].look} {number}",
            surface.points,
            surface.faces,
            np.tile([1.0, 0.0, 0.0, 0.0], (count, 1)),
            np.zeros((count, 3)),
            batched_scales=np.full((count, 3), 1e-9),
            batched_colors=np.array([light(mark.color) for mark in marks], dtype=np.uint8),
            opacity=None if marks[0].color[3] >= 1.0 else marks[0].color[3],
            lod="off",
            side="double" if marks[0].look == "spring" else "front",
            cast_shadow=layer not in LOADS,
            receive_shadow=False,
            visible=False,
        )

    def show(self, on: bool) -> None:
        self._node.visible = on

    def move(self, positions: Array, quaternions: Array, frame: int, part: float) -> None:
        placed = self._spans.placed(positions, quaternions, frame, part)
        self._node.batched_positions = placed.positions
        self._node.batched_wxyzs = placed.quaternions
        self._node.batched_scales = np.maximum(placed.scales, 1e-9)  # a scale of zero has no inverse


def _bundles(figure: Figure) -> Iterator[tuple[Layer, list[Mark]]]:
    def kind(mark: Mark) -> tuple[str, str, float]:
        return mark.layer, mark.look, mark.color[3]

    for _, marks in groupby(sorted(figure.marks, key=kind), key=kind):
        together = list(marks)
        yield together[0].layer, together


# ── meshes ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def merged(parts: Sequence[Part]) -> list[Part]:
    """Surfaces in which parts of one owner and color that are shown at the same times are merged."""
    together: dict[tuple[int, Color, bytes | None], list[Part]] = {}
    for part in parts:
        when = None if part.shown is None else part.shown.tobytes()
        together.setdefault((part.owner, part.color, when), []).append(part)
    return [
        Part(some[0].name, owner, _joined([part.surface for part in some]), color, some[0].layer, some[0].shown)
        for (owner, color, _), some in together.items()
    ]


def _joined(surfaces: Sequence[Surface]) -> Surface:
    starts = np.cumsum([0, *(len(surface.points) for surface in surfaces[:-1])])
    faces = [surface.faces + start for surface, start in zip(surfaces, starts, strict=True)]
    return Surface(
        np.concatenate([surface.points for surface in surfaces]),
        np.concatenate([surface.normals for surface in surfaces]),
        np.concatenate(faces).astype(np.int32),
    )


def add_mesh(api: Any, name: str, part: Part, *, scale: float = 1.0, receive: bool = True) -> Any:
    """A part as a node of that name."""
    clear = part.color[3] < 1.0
    solid = part.layer == "shapes" and not clear
    return api.add_mesh_simple(
        name,
        part.surface.points,
        part.surface.faces,
        color=screen(part.color),
        opacity=part.color[3] if clear else None,
        side="front" if clear else "double",  # meshes out of files may have faces that look inward
        scale=scale,
        cast_shadow=solid,
        receive_shadow=solid and receive,
    )


def _path(name: str) -> str:
    """A name that is one step of a path."""
    return name.replace("/", "|") or "-"


def actors_of(server: Any, scene: Scene) -> list[Actor]:
    """All figures of a scene on the page, with the layers that are shown at first."""
    actors = [Actor(server, figure, figure.name) for figure in scene.figures]
    for actor in actors:
        for layer in scene.layers:
            if LAYERS[layer].shown:
                actor.show(layer, True)
    return actors
